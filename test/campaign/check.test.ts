import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { checkers } from '../../campaign/checkers/all.js'
import { type Exchange, HistoryFile } from '../../campaign/history.js'
import { KeptRows, readVerdict, type Tried, writeVerdict } from '../../campaign/report/verdict.js'
import { judge, type Judgement } from '../../campaign/run.js'

const MAIN = fileURLToPath(new URL('../../campaign/main.js', import.meta.url))

const RUN: Tried = {
  topology: 'sqlite',
  database: 'SQLite of a test',
  versions: {},
  began: '2026-01-31T08:00:00.000Z',
  options: {
    seconds: 1,
    seed: 7,
    pace: 50,
    pairs: 0,
    eachFault: false,
    gateways: 1,
    services: 1,
    faults: []
  },
  kinds: ['SIGKILL'],
  leftOut: [],
  outcome: {
    exchanges: 0,
    lost: 0,
    injuries: {},
    verdicts: [],
    recovery: [],
    findings: [],
    unforeseen: {},
    memory: {}
  },
  isKept: false
}

const readOf = (status: number): Exchange => ({
  id: 'readers-0-7',
  client: 'readers-0',
  workload: 'readers',
  gateway: 0,
  request: { method: 'GET', target: '/speakers', headers: { 'x-request-id': 'readers-0-7' } },
  sentAt: 1,
  endedAt: 2,
  answer: {
    status,
    headers: {
      'x-request-id': 'readers-0-7',
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'api-supported-versions': '1.0',
      'x-row-limit': '1000'
    },
    body: '[]'
  }
})

// In the soak the history is that of a run with faults (campaign.test.ts).
describe('a history of the campaign', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'history-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  /** Writes what a run leaves whose clients have got this answer, in a database without rows. */
  async function runWith(answered: Exchange): Promise<Judgement> {
    const history = new HistoryFile(join(folder, 'history.jsonl'))
    await history.add({ exchange: answered })
    await history.add({ injury: { fault: 'SIGKILL of gateway-0', from: 3, until: 4, hits: 1 } })
    await history.end()
    const kept = new KeptRows(() => Promise.resolve([]))
    const judged = await judge(history.path, checkers(), kept.rows)
    await kept.write(folder)
    await writeVerdict(folder, RUN)
    return judged
  }

  it('breaks no promise for any checker if the contract knows all its answers', async () => {
    const { exchanges, injuries, verdicts } = await runWith(readOf(200))
    expect([exchanges, injuries]).to.deep.equal([1, { 'SIGKILL of gateway-0': { times: 1, hits: 1 } }])
    expect(verdicts.map(({ promise }) => promise)).to.deep.equal(checkers().map(({ promise }) => promise))
    expect(verdicts.flatMap(({ violations }) => violations)).to.deep.equal([])
    expect(verdicts.find(({ title }) => title === 'Answers that are allowed')?.tried).to.equal(1)
  })

  it('is checked again without a database, and the report names an answer that the contract does not know', async () => {
    const before = await runWith(readOf(218))
    const { code, stdout } = await promisify(execFile)(process.execPath, [MAIN, '--check', folder]).then(
      (said) => ({ code: 0, ...said }),
      (error: unknown) => error as { readonly code: number; readonly stdout: string }
    )
    expect(code, stdout).to.equal(1)
    expect(stdout).to.match(/^ +BROKEN Answers that are allowed/m)
    const report = await readVerdict(folder)
    if (report === undefined || 'notTried' in report) throw new Error('There is no verdict')
    expect(report.outcome.verdicts).to.deep.equal(before.verdicts)
    const broken = report.outcome.verdicts.find(({ title }) => title === 'Answers that are allowed')
    expect(JSON.stringify(broken?.violations)).to.include('readers-0-7')
  })
})
