import { expect } from 'chai'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Checker } from '../../campaign/checkers/checker.js'
import { isKept } from '../../campaign/report/verdict.js'
import { type Outcome, run } from '../../campaign/run.js'
import type { Site } from '../../campaign/site.js'
import { PAGE } from '../../campaign/visitors.js'
import type { Workload } from '../../campaign/workload/workload.js'
import { closeLocally, listenLocally } from '../harness/local-server.js'

/** What a gateway that has recovered answers. */
const ANSWERS: Readonly<Record<string, readonly [status: number, body: string]>> = {
  'GET /health/ready': [200, '{}'],
  'GET /speakers/paged?pageSize=1': [200, '[]'],
  'POST /speakers': [201, '{"id":1}'],
  'GET /auth/antiforgery': [200, '{"token":"mask"}'],
  'POST /cart': [200, PAGE],
  'GET /': [200, PAGE]
}

describe('a run of the campaign', () => {
  let folder: string
  let server: Server
  let url: string
  /** Told of each request, before its answer. */
  let asked: (what: string) => void
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'run-'))
    asked = () => undefined
    server = createServer((request, response) => {
      const what = `${request.method} ${request.url}`
      asked(what)
      request.resume()
      const [status, body] = ANSWERS[what] ?? [404, '{}']
      response.writeHead(status).end(body)
    })
    url = `http://127.0.0.1:${await listenLocally(server)}`
  })
  afterEach(async () => {
    await closeLocally(server)
    await rm(folder, { recursive: true, force: true })
  })

  /** Without faults and processes, over the server of the test. */
  const runOf = (
    workloads: readonly Workload[],
    checkers: readonly Checker[],
    interrupted: AbortSignal
  ): Promise<Outcome> => {
    const site: Site = {
      urls: [url],
      gateways: [],
      services: [],
      links: [],
      vaultLinks: [],
      token: () => Promise.resolve('token'),
      stop: () => Promise.resolve()
    }
    const none = { faults: [], rows: () => Promise.resolve([]), progress: () => undefined }
    return run({ seed: 7, seconds: 0.1, lastQuiet: 0, site, workloads, checkers, folder, interrupted, ...none })
  }

  /** Reads twice in each step. Each client begins one step at least, however slow the machine is. */
  const readers: Workload = {
    name: 'readers',
    clients: 1,
    prepare: () => Promise.resolve(),
    async step(client) {
      for (let n = 0; n < 2; n++) await client.send({ target: '/speakers/paged?pageSize=1' })
      await delay(5)
    }
  }

  it('says which client could not go on, and why, while the others do', async () => {
    let steps = 0
    const mistaken: Workload = {
      ...readers,
      name: 'mistaken',
      async step(client) {
        await readers.step(client)
        steps++
        throw new Error('This workload is mistaken')
      }
    }
    const others: Workload = {
      ...readers,
      async step(client) {
        while (steps === 0) await delay(5)
        await readers.step(client)
      }
    }
    const outcome = await runOf([mistaken, others], [], new AbortController().signal)
    expect(outcome.findings).to.have.length(1)
    expect(outcome.findings[0]).to.match(/^mistaken-0 could not go on: Error: This workload is mistaken\n +at /)
    expect(steps).to.equal(1)
    expect(isKept(outcome)).to.equal(false)
    const lines = (await readFile(join(folder, 'history.jsonl'), 'utf8')).split('\n')
    const last = lines.findLastIndex((line) => line.includes('"mistaken-0"'))
    expect(lines.slice(last).filter((line) => line.includes('"readers-0"'))).to.have.length.above(1)
  })

  it('that is interrupted while everything recovers ends with the reason, and judges nothing', async () => {
    const interrupting = new AbortController()
    const reason = new Error('Somebody has pressed Ctrl-C')
    asked = (what) => {
      if (what === 'GET /health/ready') interrupting.abort(reason)
    }
    let judged = 0
    const checker: Checker = {
      title: 'Anything',
      promise: 'Nothing is judged.',
      contract: '4. Reads',
      how: 'not at all',
      see: () => undefined,
      judge: () => Promise.resolve({ tried: ++judged, of: 'verdicts', violations: [] })
    }
    const error: unknown = await runOf([readers], [checker], interrupting.signal).catch((thrown: unknown) => thrown)
    expect(error).to.equal(reason)
    expect(judged).to.equal(0)
    // The history is whole as far as it goes.
    const lines = (await readFile(join(folder, 'history.jsonl'), 'utf8')).trimEnd().split('\n')
    expect(
      lines.filter((line) => line.includes('"readers-0"')).map((line) => JSON.parse(line) as object)
    ).to.have.length.above(1)
  })
})
