import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { checkers } from '../../campaign/checkers/all.js'
import { countOf } from '../../campaign/report/faults.js'
import { readVerdict, type Tried } from '../../campaign/report/verdict.js'

const MAIN = fileURLToPath(new URL('../../campaign/main.js', import.meta.url))

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** `npm run campaign -- …` without the build. */
async function campaign(...args: readonly string[]): Promise<Ended> {
  try {
    const said = await promisify(execFile)(process.execPath, ['--enable-source-maps', MAIN, ...args])
    return { code: 0, ...said }
  } catch (error) {
    return error as Ended
  }
}

// In the soak: every fault on MariaDB and SQLite (every-fault.test.ts), every planted fault (plants.test.ts), and runs that are
// replayed and interrupted (replay.test.ts).
describe('the campaign at its shortest', () => {
  let out: string
  before(async () => {
    out = await mkdtemp(join(tmpdir(), 'campaign-'))
  })
  after(() => rm(out, { recursive: true, force: true }))

  const verdict = async (): Promise<Tried> => {
    const report = await readVerdict(join(out, 'sqlite'))
    if (report === undefined || 'notTried' in report) throw new Error('There is no verdict of a run')
    return report
  }

  it('breaks what it is told to, and every promise is kept', async () => {
    // What clients feel shortest, so that the run is over soonest.
    const faults = ['SIGKILL of gateway-0', 'RST to the client, clients to gateway-0']
    const system = ['--topology', 'sqlite', '--gateways', '1', '--services', '1', '--seed', '7', '--out', out]
    const times = ['--seconds', '0', '--pace', '50', '--pairs', '0', '--each-fault']
    const { code, stdout, stderr } = await campaign(...system, ...times, ...faults.flatMap((one) => ['--fault', one]))
    expect(stderr).to.match(/^Seed 7$/m)
    const report = await verdict()
    const { outcome, kinds } = report
    expect(outcome.findings).to.deep.equal([])
    expect(outcome.verdicts.map(({ promise }) => promise)).to.deep.equal(checkers().map(({ promise }) => promise))
    expect(outcome.verdicts.flatMap(({ violations }) => violations)).to.deep.equal([])
    expect(kinds).to.deep.equal(['SIGKILL', 'RST to the client'])
    expect(kinds.filter((kind) => countOf(report, kind).times === 0)).to.deep.equal([])
    // A promise that so short a run has not tried is no promise that was kept.
    const isTried = outcome.verdicts.every(({ tried }) => tried > 0)
    expect([code, report.isKept]).to.deep.equal([isTried ? 0 : 1, isTried])
    expect(stdout.includes(`sqlite, ${report.database}: everything was kept.\n`)).to.equal(isTried)
  })

  it('judges a history again without a database', async () => {
    const before = await verdict()
    await campaign('--check', join(out, 'sqlite'))
    expect(await verdict()).to.deep.equal(before)
  })

  it('finds an answer that the contract does not know, and says which request it was', async () => {
    const history = join(out, 'sqlite/history.jsonl')
    const text = await readFile(history, 'utf8')
    const [line = ''] = text.split('\n').filter((one) => one.includes('"status":201'))
    await writeFile(history, text.replace(line, line.replace('"status":201', '"status":218')))
    const { code, stdout } = await campaign('--check', join(out, 'sqlite'))
    expect(code).to.equal(1)
    const { id } = (JSON.parse(line) as { readonly exchange: { readonly id: string } }).exchange
    const { outcome } = await verdict()
    const broken = outcome.verdicts.find(({ title }) => title === 'Answers that are allowed')
    expect(JSON.stringify(broken?.violations)).to.include(id)
    expect(stdout).to.match(/^ +BROKEN Answers that are allowed/m)
  })
})
