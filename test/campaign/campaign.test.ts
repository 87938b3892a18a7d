import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
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
describe('the campaign at its shortest', function () {
  this.timeout(300_000)
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
    const faults = ['SIGKILL of data-service-0', 'cut before the answer to a call that writes']
    const system = ['--topology', 'sqlite', '--gateways', '1', '--services', '1', '--seed', '7', '--out', out]
    const times = ['--seconds', '1', '--pace', '100', '--pairs', '0', '--each-fault']
    const { code, stdout, stderr } = await campaign(...system, ...times, ...faults.flatMap((one) => ['--fault', one]))
    expect(stderr).to.match(/^Seed 7$/m)
    const report = await verdict()
    const { outcome, kinds } = report
    expect(outcome.findings).to.deep.equal([])
    expect(outcome.verdicts.map(({ promise }) => promise)).to.deep.equal(checkers().map(({ promise }) => promise))
    expect(outcome.verdicts.flatMap(({ violations }) => violations)).to.deep.equal([])
    expect(kinds).to.deep.equal(['SIGKILL', 'cut before the answer to a call that writes'])
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

  it('finds a planted fault, and says which checker found it', async () => {
    const { code, stdout, stderr } = await campaign('--plants', '--plant', 'key-without-caller', '--seed', '7')
    expect(stderr).to.equal('Seed 7\n')
    expect(stdout).to.match(/^key-without-caller was found after \d+ requests by CreatedOnce \(/)
    expect(stdout).to.match(/\n1 of 1 planted faults were found by the checker that has to\.\n$/)
    expect(code).to.equal(0)
  })
})
