import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { packageRoot } from '../harness/package-root.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { packagesFor, testFiles, tierOf } from '../tiers.js'

/** Runs `npm test` for sample test files, with temporary files in a folder of its own. */
class Run {
  readonly #folder: string
  readonly #child: ChildProcess
  readonly #closed: Promise<unknown>
  #printed = ''

  private constructor(folder: string, filters: readonly string[]) {
    this.#folder = folder
    const samples = filters.map((filter) => `test/runner/samples/${filter}`)
    this.#child = spawn(process.execPath, ['tools/test.mjs', ...samples], {
      cwd: packageRoot,
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'pipe']
    })
    this.#closed = once(this.#child, 'close')
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#printed += text))
    }
  }

  static async start(...filters: string[]): Promise<Run> {
    return new Run(await mkdtemp(join(tmpdir(), 'run-')), filters)
  }

  async printed(text: string): Promise<void> {
    while (!this.#printed.includes(text)) {
      if (this.#child.exitCode !== null) throw new Error(`The run ended without ${text}:\n${this.#printed}`)
      await once(this.#child.stdout ?? process.stdout, 'data')
    }
  }

  interrupt(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** What it printed, and what is left of it at the moment that it ends. */
  async end(): Promise<{ code: number | null; text: string; files: string[]; processes: string[] }> {
    await this.#closed
    const [files, processes] = [await readdir(this.#folder), await processesOf(this.#folder)]
    await rm(this.#folder, { recursive: true })
    return { code: this.#child.exitCode, text: this.#printed, files, processes }
  }
}

/** The command lines of processes that know the folder, by an argument or a variable. */
async function processesOf(folder: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '')
  const found = await Promise.all(
    ids.map(async (id) => {
      const command = await read(`/proc/${id}/cmdline`)
      return `${command}${await read(`/proc/${id}/environ`)}`.includes(folder) ? [command] : []
    })
  )
  return found.flat()
}

describe('npm test', () => {
  describe('of files with failing tests', () => {
    let text: string
    let code: number | null

    before(async () => {
      const run = await Run.start('failing-tests', 'failing-properties', 'without-tests', 'ending-process', 'flaky.ts')
      const end = await run.end()
      ;({ text, code } = end)
      expect(end.files, 'temporary files left').to.deep.equal([])
      expect(end.processes, 'processes left').to.deep.equal([])
    })

    it('exits with 1 and prints the totals last', () => {
      expect(code).to.equal(1)
      // Of failing-tests 1 and 6, of failing-properties 0 and 3, of the others 0 and 1, 1 and 1, 0 and 1.
      expect(text.trimEnd().split('\n').at(-1)).to.equal('2 passed, 12 failed')
    })

    it('prints a line for each file when it ends, with what its tests printed below', () => {
      expect(text).to.match(
        /✘ \d\/5 +\d+\.\d s +\d+\.\d s CPU +7 tests {2}test\/runner\/samples\/failing-tests\.ts {2}6 failed\n/
      )
      expect(text).to.match(/failing-tests\.ts {2}6 failed\n {6}printed by a test\n/)
    })

    it('prints a line for each failure at once, and all failures whole after the last file', () => {
      const [course = '', failures = ''] = text.split('\nFailures\n')
      const line = '✘ test/runner/samples/failing-tests.ts: tests that fail › compares two objects\n'
      expect(course).to.contain(line)
      expect(course).to.not.contain('"name"')
      expect(failures).to.match(/-\s+"name": "cup"\n\s+\+\s+"name": "mug"\n/)
    })

    it('prints the files that took longest', () => {
      expect(text).to.match(
        /\nSlowest test files\n( +\d+\.\d s( +\d+\.\d s CPU)? {2}test\/runner\/samples\/[a-z-]+\.ts\n){5}/
      )
    })

    it('prints how much of the processors the files and the database server took', () => {
      expect(text).to.match(/\nAll of them took \d+\.\d s CPU\n/)
    })

    it('shows the sources in stacks, of the test and of the product', () => {
      expect(text).to.match(/Error: the clock is broken\n +at test\/runner\/samples\/failing-tests\.ts:19:\d+\n/)
      expect(text).to.match(/at readSessionCookie \(shared\/session-cookie\/read-session-cookie\.ts:\d+:\d+\)\n/)
    })

    it('shows the cause of an error', () => {
      expect(text).to.match(/Error: the file is no JSON\n( +at .*\n)+ +Caused by: SyntaxError: /)
    })

    it('counts skipped tests, hooks, rejections that nobody handles, and files without tests as failures', () => {
      expect(text).to.contain('Pending test forbidden')
      expect(text).to.contain('Error: the hook failed')
      expect(text).to.contain('nobody handles this')
      expect(text).to.contain('The file holds no test.')
    })

    it('says of a process that ended which file it ran and what it printed last', () => {
      expect(text).to.match(
        /ending-process\.ts\n +the process ended with SIGKILL while the file ran\n\nthe last words\n/
      )
    })

    it('shows of a property the counterexample, the seed, and the assertion with its difference and place', () => {
      const first = /by an assertion\n\n([^]*?)\n\n\d+\)/.exec(text)?.[1]
      expect(first).to.contain('{ seed: 7, path: "').and.contain('Counterexample: [501]')
      expect(first).to.contain('expected { number: 501, double: 1002 } to deeply equal { number: 501, double: 1000 }')
      expect(first).to.match(/-\s+"double": 1002\n\s+\+\s+"double": 1000\n/)
      expect(first).to.match(/at test\/runner\/samples\/failing-properties\.ts:11:\d+\n/)
      const second = /by an assertion after a while\n\n([^]*?)\n\n\d+\)/.exec(text)?.[1]
      expect(second).to.contain('Counterexample: ["a"]')
      expect(second).to.contain("the replaced text: expected 'b' to equal 'a'")
      expect(second).to.match(/at test\/runner\/samples\/failing-properties\.ts:21:\d+\n/)
    })

    it('says of a flaky file that the run is red, where it may not be flaky', () => {
      expect(text).to.contain(
        'flaky: test/runner/samples/flaky.ts failed among others and passed alone: the run is red'
      )
    })
  })

  it('leaves the run green where a file that may be flaky passes alone, with both outputs and the seed, and removes the databases that its tests made from a server that TEST_MYSQL_URL names', async () => {
    const { code, text } = await (await Run.start('may-be-flaky', 'leaves-a-database')).end()
    expect(code, text).to.equal(0)
    expect(text).to.contain(
      'flaky: test/runner/samples/may-be-flaky.ts failed among others and passed alone: the run stays green'
    )
    expect(text).to.match(/docs\/testing\.md#flaky-tests, TEST_SEED=\d+/)
    expect(text).to.contain('it is alone')
    expect(text).to.contain('What its tests printed among others:\nprinted among others\n')
    expect(text).to.contain('What its tests printed alone:\nprinted alone\n')
    expect(text.trimEnd().split('\n').at(-1)).to.equal('2 passed, 0 failed')
    const made = /made (test_\w+)/.exec(text)?.[1] ?? ''
    expect(made).to.not.equal('')
    const server = `${process.env['TEST_MYSQL_URL']}/information_schema`
    const left = await withTestDatabase(server, (database) =>
      database.run(`SELECT schema_name FROM schemata WHERE schema_name = '${made}'`)
    )
    expect(left).to.deep.equal([])
  })

  describe('of tiers', () => {
    it('Each test file has one tier, and the tiers quick and full hold all files but those of soak and compose.', () => {
      const all = testFiles(['quick', 'full', 'soak', 'compose'])
      expect(new Set(all).size).to.equal(all.length)
      for (const file of testFiles(['quick'])) expect(tierOf(file), file).to.equal('quick')
      for (const file of testFiles(['compose'])) expect(tierOf(file), file).to.equal('compose')
      const soak = testFiles(['soak']).filter((file) => tierOf(file) === 'soak')
      expect(testFiles(['quick', 'full']).length + soak.length + testFiles(['compose']).length).to.equal(all.length)
      expect(testFiles(['soak']), 'a file that is longer there').to.include('test/library/every-entity.test.ts')
      expect(tierOf('test/fitness/links.test.ts')).to.equal('quick')
      expect(tierOf('test/fitness/explained-reads.test.ts'), 'the longest entry decides').to.equal('full')
      expect(tierOf('test/of/no/entry.test.ts')).to.equal('full')
    })

    it('A run installs what its own files need, and quick needs nothing.', () => {
      const given = process.env['TEST_MYSQL_URL']
      delete process.env['TEST_MYSQL_URL']
      try {
        expect(packagesFor(testFiles(['quick']))).to.deep.equal([])
        expect(packagesFor(['test/api/paged.test.ts'])).to.deep.equal(['mariadb-server'])
        expect(packagesFor(testFiles(['quick', 'full']))).to.include.members([
          'mariadb-server',
          'chromium-headless-shell',
          'jq'
        ])
        expect(packagesFor(testFiles(['compose']))).to.deep.equal(['docker.io', 'docker-compose', 'mmdebstrap'])
      } finally {
        if (given !== undefined) process.env['TEST_MYSQL_URL'] = given
      }
    })

    it('A part of a path finds files of any tier, and a part of no path is a failure.', () => {
      expect(testFiles(['full'], ['test/compose/c'])).to.deep.equal(['test/compose/containers.test.ts'])
      expect(testFiles(['full'], ['./test/api/paged.test.js'])).to.deep.equal(['test/api/paged.test.ts'])
      expect(() => testFiles(['full'], ['no/such/file'])).to.throw("No test file's path holds no/such/file.")
    })
  })

  it('after Ctrl-C prints the failures until then, says that it was interrupted, and leaves nothing', async () => {
    const run = await Run.start('unfinished-test')
    await run.printed('a test that is interrupted › fails\n')
    run.interrupt('SIGINT')
    const { code, text, files, processes } = await run.end()
    expect(code, text).to.equal(1)
    expect(text).to.contain('Interrupted when 0 of 1 test files had ended.\n')
    expect(text).to.match(/unfinished: test\/runner\/samples\/unfinished-test\.ts, .* 1 passed, 1 failed until then\n/)
    expect(text).to.contain('seen before the interruption\n')
    expect(text.trimEnd().split('\n').at(-1)).to.equal('1 passed, 1 failed, interrupted')
    expect(files, 'temporary files left').to.deep.equal([])
    expect(processes, 'processes left').to.deep.equal([])
  })
})

describe('what tests start', () => {
  it('A private MariaDB shares no folder, socket or port with another one, and ends with the process that started it, also after SIGKILL.', async () => {
    const sample = fileURLToPath(new URL('samples/private-server.js', import.meta.url))
    const child = spawn(process.execPath, [sample], { stdio: ['ignore', 'pipe', 'inherit'] })
    // That of this run is one too, unless somebody else started it.
    const running = process.env['TEST_MYSQL_URL'] ?? ''
    try {
      const [printed] = (await once(child.stdout, 'data')) as [Buffer]
      const places = await Promise.all(
        [printed.toString('utf8').trim(), running].map((url) =>
          withTestDatabase(`${url}/mysql`, (database) =>
            database.run('SELECT @@datadir, @@tmpdir, @@socket, @@pid_file, @@log_error, @@port')
          )
        )
      )
      const [one = [], other = []] = places.map(([row = {}]) => Object.values(row).map(String))
      expect(one).to.have.length(6)
      for (const [index, place] of one.entries()) {
        expect(place, `${place}, index ${index}`).to.not.equal(other[index])
        if (place.includes('/')) expect(place.startsWith(tmpdir()), `${place} is in ${tmpdir()}`).to.equal(true)
      }
      const folder = dirname(one[0] ?? '')
      const counted = async (): Promise<number> =>
        (await processesOf(folder)).filter((command) => command.includes('--datadir')).length
      expect(await counted()).to.equal(1)
      child.kill('SIGKILL')
      await once(child, 'exit')
      while ((await counted()) > 0) await pause(20)
      await rm(folder, { recursive: true })
    } finally {
      child.kill('SIGKILL')
    }
  })
})
