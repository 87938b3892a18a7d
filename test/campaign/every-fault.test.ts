import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { checkers } from '../../campaign/checkers/all.js'
import { countOf } from '../../campaign/report/faults.js'
import { readVerdict, type Tried } from '../../campaign/report/verdict.js'

const MAIN = fileURLToPath(new URL('../../campaign/main.js', import.meta.url))
const run = promisify(execFile)
/** Kinds that hit something only where gateways ask the stand-in for the vault. */
const KEY_VAULT = ['key vault slow', 'key vault cut', 'key vault wrong', 'start without the key vault']

describe('the campaign with every fault that it has', function () {
  this.timeout(600_000)
  let out: string
  before(async () => {
    out = await mkdtemp(join(tmpdir(), 'campaign-'))
  })
  after(() => rm(out, { recursive: true, force: true }))

  /** Rejects, with what it printed, when a promise is broken or something does not recover. */
  const campaign = (...args: readonly string[]): Promise<{ stdout: string; stderr: string }> =>
    run(process.execPath, ['--enable-source-maps', MAIN, ...args], { maxBuffer: 2 ** 26 })

  const verdictOf = async (topology: string): Promise<Tried> => {
    const report = await readVerdict(join(out, topology))
    if (report === undefined || 'notTried' in report) throw new Error(`There is no verdict of ${topology}`)
    return report
  }

  for (const topology of ['mariadb', 'sqlite']) {
    it(`breaks everything that it can on ${topology}, and every promise is tried and kept`, async () => {
      const { stderr, stdout } = await campaign(
        '--topology',
        topology,
        '--seconds',
        '5',
        '--pace',
        '100',
        '--pairs',
        '1',
        '--each-fault',
        '--seed',
        '7',
        '--out',
        out
      )
      expect(stderr).to.match(/^Seed 7$/m)
      const report = await verdictOf(topology)
      const { outcome, kinds } = report
      expect(outcome.findings).to.deep.equal([])
      expect(outcome.verdicts.map(({ promise }) => promise)).to.deep.equal(checkers().map(({ promise }) => promise))
      expect(outcome.verdicts.filter(({ tried, violations }) => tried === 0 || violations.length > 0)).to.deep.equal([])
      expect(kinds).to.include.members([
        'SIGKILL',
        'SIGSTOP',
        'black hole',
        'short reads',
        'cut within the answer to a write',
        ...KEY_VAULT
      ])
      if (topology === 'mariadb')
        expect(kinds).to.include.members(['cut before the answer to COMMIT', 'cut within COMMIT'])
      expect(kinds.filter((kind) => countOf(report, kind).times === 0)).to.deep.equal([])
      expect(KEY_VAULT.some((kind) => countOf(report, kind).hits > 0)).to.equal(true)
      expect(stdout).to.include(`${topology}, ${report.database}: everything was kept.\n`)
    })
  }
})
