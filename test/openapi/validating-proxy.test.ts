import { expect } from 'chai'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { FreshDatabase } from '../harness/database.js'
import { storeDatabase } from '../harness/store-database.js'
import { JudgedDocument } from '../harness/judged-document.js'
import { inside, type Json } from '../harness/openapi-document.js'
import { startStack, type Stack } from '../harness/stack.js'
import { freePort } from '../runner/free-port.js'
import { type Answer, call } from '../stack/http-call.js'
import { OpenApiTools } from './tools.js'

interface Exchange {
  readonly method?: string
  readonly target: string
  /** Beside the token of the administrator; undefined takes that away. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: unknown
}

/** What Prism adds to an answer in the header `sl-violations`. */
interface Violation {
  readonly location: readonly string[]
  readonly message: string
}

const FILTER = 'filters%5Bname%5D.operator'

/** Requests that the document accepts. */
const GOOD: readonly Exchange[] = [
  { target: '/products/paged?pageSize=2&sortColumn=Name,price&sortDirection=DESC&fields=id,%20NAME' },
  { target: `/products/paged?${FILTER}=startsWith&${FILTER.replace('operator', 'value')}=a&includeTotal=false` },
  { target: '/products/paged?search=lamp&page=2&includeFKs=true&includeChildren=true' },
  { target: '/products/export?fields=id,name&bom=false&search=lamp' },
  { target: '/products/lookup?search=lamp' },
  { target: '/products/1?includeChildren=true', headers: { prefer: 'handling=strict', 'api-version': '1' } },
  { target: '/products/999999' },
  { target: '/health' },
  { target: '/.well-known/jwks.json' },
  { target: '/problems/conflict' },
  // Prism takes no token for an operation that needs none.
  { target: '/auth/antiforgery', headers: { authorization: undefined } },
  { method: 'POST', target: '/auth/login', body: { email: 'ada@example.com', password: 'wrong' } },
  { method: 'POST', target: '/auth/session/token', headers: { authorization: undefined } },
  {
    method: 'POST',
    target: '/categories',
    body: { name: 'Proxied', slug: 'proxied' },
    headers: { 'idempotency-key': 'proxied' }
  },
  {
    method: 'POST',
    target: '/categories',
    body: { name: 'Proxied', slug: 'proxied' },
    headers: { 'idempotency-key': 'proxied' }
  },
  {
    method: 'PUT',
    target: '/categories/1',
    body: { name: 'x', slug: 'x' },
    headers: { 'if-match': 'W/"AQIDBAUGBwg="' }
  },
  { method: 'DELETE', target: '/categories/999999' }
]

/** Requests that neither the document nor the service accepts. */
const BAD: readonly Exchange[] = [
  { target: '/products/paged?pageSize=0' },
  { target: '/products/paged?pageNumber=x' },
  { target: '/products/paged?sortColumn=nmae' },
  { target: '/products/paged?sortDirection=down' },
  { target: '/products/paged?includeFKs=yes' },
  { target: '/products/1?fields=nmae' },
  { target: '/products/x' },
  { target: '/products/1', headers: { 'api-version': '2' } },
  { target: '/orders', headers: { authorization: undefined } },
  { target: '/nothing' },
  { method: 'POST', target: '/health' },
  { method: 'POST', target: '/categories', body: { parentId: 'x', name: 'y', slug: 'y' } },
  { method: 'POST', target: '/categories', body: {} },
  { method: 'POST', target: '/categories' },
  { method: 'POST', target: '/categories', body: { name: 'y', slug: 'y' }, headers: { 'idempotency-key': 'a b' } },
  { method: 'POST', target: '/categories', body: { name: 'y', slug: 'y' }, headers: { 'content-type': 'text/plain' } },
  { method: 'PUT', target: '/categories/1', body: { name: 'x', slug: 'x' } },
  { method: 'PUT', target: '/categories/1', body: { name: 'x', slug: 'x' }, headers: { 'if-match': '*' } },
  { method: 'POST', target: '/auth/login', body: { email: 'ada@example.com' } }
]

describe('Prism as a proxy before the gateway, with its document', function () {
  this.timeout(10 * 60_000)
  let database: FreshDatabase
  let stack: Stack
  let folder: string
  let prism: ChildProcess
  let proxy: string
  let authorization: string
  let document: Json
  let judge: JudgedDocument

  before(async () => {
    const tools = await OpenApiTools.installed()
    folder = await tools.workFolder()
    database = await storeDatabase('sqlite', 'sample')
    stack = await startStack({ database, env: { SAMPLE_DATA: 'true' } })
    authorization = `Bearer ${await stack.token('admin@example.com')}`
    const { text } = await call(stack.url, '/openapi.json?exact=true', { headers: { authorization } })
    document = JSON.parse(text) as Json
    judge = new JudgedDocument(document)
    const file = join(folder, 'admin.json')
    writeFileSync(file, text)
    const port = await freePort()
    proxy = `http://127.0.0.1:${port}`
    prism = spawn(
      tools.node,
      [
        tools.path('@stoplight/prism-cli/dist/index.js'),
        'proxy',
        file,
        stack.url,
        '--host=127.0.0.1',
        `--port=${port}`,
        '--cors=false',
        '--verboseLevel=silent'
      ],
      { cwd: folder, stdio: 'ignore' }
    )
    while ((await call(proxy, '/health').catch(() => undefined)) === undefined) {
      if (prism.exitCode !== null) throw new Error(`Prism ended with ${prism.exitCode}.`)
      await delay(200)
    }
  })
  after(async () => {
    if (prism.exitCode === null) {
      const ended = once(prism, 'exit')
      prism.kill()
      await ended
    }
    await stack.stop()
    await database.dispose()
    rmSync(folder, { recursive: true, force: true })
  })

  /** The answer through Prism, what Prism finds wrong with request and response, and whether our own judge accepts the request. */
  async function exchange({ method = 'GET', target, headers: chosen = {}, body }: Exchange): Promise<{
    readonly answer: Answer
    readonly request: readonly string[]
    readonly response: readonly string[]
    readonly judged: readonly string[]
  }> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const typed = text === undefined ? {} : { 'content-type': 'application/json' }
    const all = Object.entries({ authorization, ...typed, ...chosen }).filter(([, value]) => value !== undefined)
    const headers = Object.fromEntries(all) as Readonly<Record<string, string>>
    const length = text === undefined ? {} : { 'content-length': Buffer.byteLength(text) }
    const answer = await call(proxy, target, {
      method,
      headers: { ...headers, ...length },
      ...(text === undefined ? {} : { body: text })
    })
    const found = JSON.parse(String(answer.headers['sl-violations'] ?? '[]')) as readonly Violation[]
    const of = (side: string): string[] =>
      found
        .filter(({ location }) => location[0] === side)
        .map(({ location, message }) => `${location.join('.')}: ${message}`)
    return {
      answer,
      request: of('request'),
      response: of('response'),
      judged: judge.refusals({ method, target, headers, body: text })
    }
  }

  it('finds no violation in a read of any kind', async () => {
    const paths = Object.entries(document['paths'] as Readonly<Record<string, Json>>)
    const plain = paths.filter(([path, { get }]) => {
      const required = inside(document, 'paths', path, 'get', 'parameters') as readonly Json[] | undefined
      return get !== undefined && !path.includes('{') && required?.every((one) => one['required'] !== true) === true
    })
    // Each compiles schemas anew, so of the kinds that all resources have, only some resources are read.
    const targets = plain
      .map(([path]) => path)
      .filter(
        (path) => !path.startsWith('/auth/') && (!/\/(?:paged|export|lookup)$/.test(path) || path.startsWith('/or'))
      )
    expect(targets).to.have.length.greaterThan(20)
    for (const target of targets) {
      const { answer, request, response, judged } = await exchange({ target })
      expect([answer.status, request, response, judged], target).to.deep.equal([200, [], [], []])
    }
  })

  for (const one of GOOD) {
    it(`accepts ${one.method ?? 'GET'} ${one.target} and its answer`, async () => {
      const { request, response, judged } = await exchange(one)
      expect([request, response, judged]).to.deep.equal([[], [], []])
    })
  }

  for (const one of BAD) {
    it(`does not accept ${one.method ?? 'GET'} ${one.target}, nor does the service`, async () => {
      const { answer, request, response, judged } = await exchange(one)
      expect(answer.status).to.be.within(400, 499)
      expect(request).to.not.deep.equal([])
      expect(judged).to.not.deep.equal([])
      expect(response).to.deep.equal([])
    })
  }
})
