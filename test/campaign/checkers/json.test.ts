import { expect } from 'chai'
import { createServer } from 'node:http'
import { checkers } from '../../../campaign/checkers/all.js'
import { AllowedAnswers } from '../../../campaign/checkers/answers/answers.js'
import { AuthAnswers } from '../../../campaign/checkers/callers/auth-answers.js'
import { Client } from '../../../campaign/client.js'
import type { Exchange } from '../../../campaign/history.js'
import { closeLocally, listenLocally } from '../../harness/local-server.js'
import { exchangeOf, violationsOf, type Written } from './written-history.js'

const CLERK = 'clerk@example.com'
const key = { 'idempotency-key': 'k-1' }
/** Answers of 2xx from which checkers read something. */
const READ: readonly Written[] = [
  { workload: 'creates', account: CLERK, call: 'POST /speakers', headers: key, body: { name: 'creates-0.1' } },
  { workload: 'exports', account: CLERK, call: 'POST /speakers/batch', headers: key, body: [{ name: 'exports-0.1' }] },
  { workload: 'counters', account: CLERK, call: 'POST /venues', headers: key, body: {} },
  { workload: 'counters', call: 'GET /venues/7', status: 200 },
  { workload: 'counters', call: 'GET /venues/lookup', status: 200 },
  { workload: 'owners', account: 'ada@example.com', call: 'GET /customers/lookup', status: 200 },
  { workload: 'stock', account: 'ada@example.com', call: 'GET /orders/1', status: 200 },
  { workload: 'stock', account: 'ada@example.com', call: 'POST /shopping-carts', headers: key, body: {} },
  { workload: 'sessions', call: 'POST /auth/login', body: {}, status: 200 }
]

describe('an answer whose body is cut or is none', () => {
  for (const body of ['{"id":7,"name":"a', '[{"id":7', '', 'null', '{"items":null}', '[null,7]', '<p>']) {
    it(`is read by every checker, which throws nothing: ${body}`, async () => {
      for (const checker of checkers()) {
        for (const [n, one] of READ.entries()) checker.see(exchangeOf({ status: 201, ...one, answer: body }, n))
        await checker.judge(() => Promise.resolve([]))
      }
    })
  }

  it('is found where it is no JSON', async () => {
    const cut = READ.map((one): Written => ({ status: 201, ...one, answer: '{"id":7,"name":"a' }))
    const found = await violationsOf(new AllowedAnswers(), cut)
    const ofRows = READ.filter(({ workload }) => workload !== 'sessions')
    expect(found.filter((what) => /has a body that is no JSON: \{"id":7/.test(what))).to.have.length(ofRows.length)
    expect((await violationsOf(new AuthAnswers(), cut)).join()).to.match(/r-9 holds no access token/)
  })
})

describe('a client that insists', () => {
  it('stops at a conflict, and goes on while the first request under its key runs', async () => {
    const answers = ['idempotency.in-flight', 'idempotency.in-flight', 'conflict', 'never']
    const server = createServer((request, response) => {
      request.resume()
      response.writeHead(409, { 'content-type': 'application/problem+json' })
      response.end(JSON.stringify({ code: answers.shift() }))
    })
    const url = `http://127.0.0.1:${await listenLocally(server)}`
    const seen: Exchange[] = []
    const client = new Client('c-0', {
      workload: 'counters',
      site: {
        urls: [url],
        gateways: [],
        services: [],
        links: [],
        vaultLinks: [],
        token: () => Promise.resolve(''),
        stop: () => Promise.resolve()
      },
      history: {
        add(line) {
          if ('exchange' in line) seen.push(line.exchange)
          return Promise.resolve()
        }
      },
      seed: 1,
      now: () => performance.now()
    })
    try {
      const last = await client.insist({ method: 'DELETE', target: '/venues/7' })
      expect(last.answer?.body).to.equal('{"code":"conflict"}')
      expect(seen).to.have.length(3)
    } finally {
      client.end()
      await closeLocally(server)
    }
  })
})
