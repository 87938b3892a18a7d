import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { packageRoot } from '../harness/package-root.js'
import { freePort } from '../runner/free-port.js'
import { startNpm } from './npm-here.js'
import { comparable, examplesOf } from './readme-examples.js'

// The commands of these pages run one after another, against the same start.
const examples = ['README.md', 'docs/first-calls.md', 'docs/tour.md'].flatMap(examplesOf)
const own = new Set(['npm start', 'npm test'])
const SEPARATOR = '\u0001'

describe('README and tour', () => {
  let store: ChildProcess
  let environment: NodeJS.ProcessEnv
  let printed: string[]
  let log = ''
  const data = mkdtempSync(join(tmpdir(), 'readme-'))

  before(async () => {
    const [http, grpc] = [await freePort(), await freePort()]
    const { PATH, HOME } = process.env
    environment = {
      PATH,
      HOME,
      DATA_DIR: data,
      GATEWAY_PORT: String(http),
      DATA_SERVICE_ADDRESS: `127.0.0.1:${grpc}`
    }
    store = spawn('npm', ['start'], { cwd: packageRoot, env: environment, stdio: ['ignore', 'pipe', 'inherit'] })
    store.stdout?.on('data', (chunk: Buffer) => (log += chunk.toString('utf8')))
    await printedBy(store, 'Ctrl-C ends everything.')
    // One shell for all, so that a variable set by one block is there in the next.
    const script = examples
      .filter(({ command }) => !own.has(command))
      .map(({ command }) => command.replaceAll('http://127.0.0.1:3000', `http://127.0.0.1:${http}`))
      .join(`\nprintf '${SEPARATOR}'\n`)
    const npm = await startNpm(environment, { real: 1 })
    const shell = spawn('bash', ['-c', script], {
      cwd: packageRoot,
      env: { ...environment, PATH: npm.path },
      stdio: ['ignore', 'pipe', 'inherit']
    })
    const chunks: Buffer[] = []
    shell.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    await once(shell, 'close')
    await npm.stop()
    printed = Buffer.concat(chunks).toString('utf8').split(SEPARATOR)
  })

  after(() => rmSync(data, { recursive: true, force: true }))

  it('shows an entity of the store, line by line, in 18 lines', () => {
    const shown = /^```ts\n(.*?)^```$/ms.exec(readFileSync(join(packageRoot, 'README.md'), 'utf8'))?.[1] ?? ''
    const lines = shown.trimEnd().split('\n')
    const file = readFileSync(join(packageRoot, 'examples/store/entities/suppliers.ts'), 'utf8')
    expect(lines).to.have.length(18)
    // The file has actions besides, so that the line before them ends in a comma there.
    const own = file.split('\n').map((line) => (line.startsWith('  writes') ? line.slice(0, -1) : line))
    expect(own.filter((line) => line !== '' && lines.includes(line))).to.deep.equal(lines.filter((line) => line !== ''))
  })

  it('names the two commands that need nothing else', () => {
    expect(examples.map(({ command }) => command)).to.include.members([...own])
  })

  for (const [index, { command, output }] of examples.filter((one) => !own.has(one.command)).entries()) {
    const [title = ''] = command.split('\n')
    it(`prints what it says: ${title}`, () => {
      if (output === undefined) expect(printed[index] ?? 'nothing').to.not.match(/error/i)
      else expect(comparable(printed[index] ?? '')).to.equal(comparable(output))
    })
  }

  it('leaves the line of the data service in the log that the tour shows', async () => {
    const tour = readFileSync(join(packageRoot, 'docs/tour.md'), 'utf8')
    const [, line = 'no line'] = /^\d\d:\d\d:\d\d (data-service info .*)$/m.exec(tour) ?? []
    // The command that caused it has ended, but its line takes its own way through two processes.
    while (!log.includes(line)) await pause(20)
  })

  it('ends cleanly on Ctrl-C', async () => {
    store.kill('SIGINT')
    const [code] = (await once(store, 'close')) as [number | null]
    expect(code).to.equal(0)
  })
})

async function printedBy(child: ChildProcess, text: string): Promise<void> {
  let seen = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      seen += chunk.toString('utf8')
      if (seen.includes(text)) resolve()
    })
    child.once('close', () => reject(new Error(`npm start ended:\n${seen}`)))
  })
}
