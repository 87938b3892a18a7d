import { expect } from 'chai'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Exchange, type Injury, readHistory } from '../../campaign/history.js'
import { readVerdict, type Tried } from '../../campaign/report/verdict.js'

const MAIN = fileURLToPath(new URL('../../campaign/main.js', import.meta.url))
const run = promisify(execFile)
const SEED = '200'

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** `npm run campaign -- …` without the build. */
async function campaign(...args: readonly string[]): Promise<Ended> {
  try {
    const said = await run(process.execPath, ['--enable-source-maps', MAIN, ...args], { maxBuffer: 2 ** 26 })
    return { code: 0, ...said }
  } catch (error) {
    return error as Ended
  }
}

async function verdictOf(folder: string): Promise<Tried> {
  const report = await readVerdict(folder)
  if (report === undefined || 'notTried' in report) throw new Error(`There is no verdict in ${folder}`)
  return report
}

/** What a run did: the faults in the order in which they began, and what each client sent, one after another. */
async function deedsOf(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const injuries: Injury[] = []
  const exchanges: Exchange[] = []
  for await (const line of readHistory(join(folder, 'history.jsonl'))) {
    if ('injury' in line) injuries.push(line.injury)
    else if ('exchange' in line) exchanges.push(line.exchange)
  }
  const deeds = new Map([['faults', injuries.toSorted((a, b) => a.from - b.from).map(({ fault }) => fault)]])
  for (const { client, account, request } of exchanges.toSorted((a, b) => a.sentAt - b.sentAt)) {
    const { method, target, headers, body = '' } = request
    const text = [account, method, target, headers['idempotency-key'], body].join(' ')
    const sent = deeds.get(client) ?? []
    // The same request once more is a matter of what broke.
    if (sent.at(-1) !== text) deeds.set(client, [...sent, text])
  }
  return deeds
}

describe('a campaign that is replayed or interrupted', () => {
  let out: string
  before(async () => {
    out = await mkdtemp(join(tmpdir(), 'commands-'))
  })
  after(() => rm(out, { recursive: true, force: true }))

  it('--plant is a campaign that fails by the checker of the fault, and --replay runs its plan again', async () => {
    const first = join(out, 'first')
    // The rows that are made before anything breaks suffice to find it, however slow the machine is.
    const planted = ['--topology', 'sqlite', '--plant', 'create-without-entry', '--seconds', '2', '--seed', SEED]
    const { code } = await campaign(...planted, '--pace', '200', '--services', '1', '--fault', 'slow', '--out', first)
    expect(code).to.equal(1)
    const before = await verdictOf(join(first, 'sqlite'))
    const broken = before.outcome.verdicts.filter(({ violations }) => violations.length > 0)
    expect(broken.map(({ title }) => title)).to.include('Created once')

    const second = join(out, 'second')
    const again = await campaign('--replay', join(first, 'sqlite'), '--out', second)
    expect(again.code).to.equal(1)
    expect((await verdictOf(join(second, 'sqlite'))).options).to.deep.equal(before.options)
    const [once, twice] = [await deedsOf(join(first, 'sqlite')), await deedsOf(join(second, 'sqlite'))]
    for (const who of ['faults', 'creates-0', 'creates-1', 'creates-2']) {
      const [one, other] = [once.get(who) ?? [], twice.get(who) ?? []]
      // How far a run comes depends on the machine.
      const both = Math.min(one.length, other.length)
      expect(both, who).to.be.greaterThan(0)
      expect(other.slice(0, both), who).to.deep.equal(one.slice(0, both))
    }
  })

  it('writes a folder alone, and ended by Ctrl-C leaves the history and nothing else', async () => {
    const [to, temporary] = [join(out, 'interrupted'), join(out, 'temporary')]
    const folder = join(to, 'sqlite')
    await mkdir(folder, { recursive: true })
    await mkdir(temporary)
    await writeFile(join(folder, 'verdict.json'), '{}')
    await writeFile(join(folder, 'running.pid'), 'of nobody')
    const args = ['--topology', 'sqlite', '--seconds', '250', '--fault', 'none', '--out', to]
    const child = spawn(process.execPath, [MAIN, ...args], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'ignore', 'pipe']
    })
    let said = ''
    child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString('utf8')))
    const ended = once(child, 'close')
    try {
      const length = (): Promise<number> =>
        stat(join(folder, 'history.jsonl')).then(
          ({ size }) => size,
          () => 0
        )
      while (child.exitCode === null && (await length()) === 0) await delay(50)
      expect(child.exitCode, said).to.equal(null)
      const second = await campaign('--topology', 'sqlite', '--out', to)
      expect(second.stderr).to.include(`Another campaign, process ${child.pid}, writes ${folder}. Wait for its end,`)
      expect(second.code).to.equal(1)
      expect(await readdir(temporary)).to.have.length.above(1)
    } finally {
      child.kill('SIGINT')
    }
    expect(await ended).to.deep.equal([1, null])
    expect(said).to.include('Interrupted: what was started is ended, and its folders are removed …\n')
    expect(said).to.include('The campaign was interrupted by SIGINT, and gives no verdict. Its history is kept.')
    expect(await readdir(temporary)).to.deep.equal([])
    expect(await readdir(folder)).to.deep.equal(['history.jsonl'])
    const checked = await campaign('--check', folder)
    expect(checked.stderr).to.include(`There is no verdict of a run in ${folder}. The history of a run that was interr`)
  })
})
