import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { InjectOptions } from 'fastify'
import { exchange } from '../../harness/http.js'
import { packageRoot } from '../../harness/package-root.js'
import { startRenderer, type FakeRenderer } from '../renderer/renderer-fixture.js'
import { type GatewayFixture, listen, startGateway } from '../gateway-fixture.js'

const APP = 'https://app.example.com'
const SAFETY = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'strict-transport-security': 'max-age=31536000'
}
/** A page of the gateway has a policy that allows its own style. */
const PAGE_POLICY = /^default-src 'none'; style-src 'sha256-[^;]*; .*frame-ancestors 'none'/

describe('a gateway before any route', () => {
  let gateway: GatewayFixture
  before(async () => {
    gateway = await startGateway({ CORS_ORIGINS: APP, RATE_LIMIT: '1000/3600', SERVER_TIMING: 'true' })
  })
  after(() => gateway.close())

  for (const url of ['/a/b/c/d', '/products/7/publish/x', '/', '*', '/products/']) {
    it(`answers OPTIONS ${url} with 404, like every method there`, async () => {
      for (const headers of [{}, { origin: APP, 'access-control-request-method': 'GET' }]) {
        const { statusCode, headers: sent, body } = await gateway.app.inject({ url, method: 'OPTIONS', headers })
        expect([statusCode, sent['content-type']], body).to.deep.equal([404, 'application/problem+json'])
        const { requestId, ...problem } = JSON.parse(body) as Record<string, unknown>
        expect(requestId).to.equal(sent['x-request-id'])
        expect(problem).to.deep.equal({
          type: 'http://127.0.0.1:0/problems/route.not-found',
          title: 'No such route',
          status: 404,
          detail: 'There is nothing at this path; /docs shows what there is.',
          instance: url === '*' ? '/*' : url,
          code: 'route.not-found'
        })
        expect(sent).to.include(SAFETY)
      }
    })
  }

  it('answers OPTIONS outside of its base path with 404', async () => {
    const based = await startGateway({ CORS_ORIGINS: APP, PUBLIC_BASE_URL: 'https://shop.example/api' })
    try {
      for (const url of ['*', '/', '/api', '/health']) {
        const { statusCode, body } = await based.app.inject({ url, method: 'OPTIONS' })
        expect([url, statusCode, (JSON.parse(body) as { code: string }).code]).to.deep.equal([
          url,
          404,
          'route.not-found'
        ])
      }
    } finally {
      await based.close()
    }
  })

  const paths = ['/products/%ff', '/%zz', '/%', '/products/1/%c3%28', '/health/%ff']
  for (const url of paths) {
    it(`rejects the path ${url} with all headers of other answers, and counts it`, async () => {
      for (const method of ['GET', 'OPTIONS', 'PUT'] as const) {
        const { statusCode, headers, body } = await gateway.app.inject({ url, method, headers: { origin: APP } })
        expect([statusCode, headers['content-type']], body).to.deep.equal([400, 'application/problem+json'])
        expect(JSON.parse(body)).to.include({
          code: 'request.malformed',
          detail: 'The path is not percent-encoded UTF-8.',
          instance: url
        })
        expect(headers).to.include(SAFETY)
        expect(headers).to.include({ 'access-control-allow-origin': APP, vary: 'Origin' })
        expect(headers).to.include.keys('ratelimit', 'ratelimit-policy', 'server-timing', 'x-request-id')
      }
    })
  }

  it('lets scripts of other origins read all headers but those that docs/http.md names', async () => {
    const SAFELISTED = ['cache-control', 'content-length', 'content-type']
    const NAMED = [
      'x-content-type-options',
      'content-security-policy',
      'referrer-policy',
      'cross-origin-resource-policy',
      'timing-allow-origin',
      'access-control-allow-origin',
      'access-control-expose-headers',
      'connection',
      'transfer-encoding',
      'date'
    ]
    const hidden = new Set<string>()
    for (const url of ['/products', '/products/1', '/products/paged', '/products/export', '/nope', '/docs']) {
      const { headers } = await gateway.app.inject({ url, headers: { origin: APP } })
      const exposed = String(headers['access-control-expose-headers']).toLowerCase().split(', ')
      for (const name of Object.keys(headers)) if (![...exposed, ...SAFELISTED].includes(name)) hidden.add(name)
    }
    expect([...hidden]).to.have.members(NAMED)
    const page = await readFile(join(packageRoot, 'docs/http.md'), 'utf8')
    const named = (name: string): string => (name.startsWith('access-control-') ? 'access-control-' : name)
    for (const name of NAMED) expect(page.toLowerCase(), name).to.include(`\`${named(name)}\``)
  })

  it('refuses a path that cannot be decoded beyond the limit of its address', async () => {
    const limited = await startGateway({ RATE_LIMIT: '2/3600' })
    try {
      const statuses: number[] = []
      for (let n = 0; n < 3; n++) statuses.push((await limited.app.inject('/products/%ff')).statusCode)
      expect(statuses).to.deep.equal([400, 400, 429])
    } finally {
      await limited.close()
    }
  })

  it('sends the headers of safety with what the parser rejects', async () => {
    const url = await listen(gateway)
    for (const bytes of [
      'hello\r\n\r\n',
      'FOO / HTTP/1.1\r\nHost: x\r\n\r\n',
      'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
      'GET / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n'
    ]) {
      const [head = ''] = (await exchange(url, Buffer.from(bytes))).split('\r\n\r\n')
      const [line, ...fields] = head.split('\r\n')
      expect(line, bytes).to.equal('HTTP/1.1 400 Bad Request')
      for (const [name, value] of Object.entries(SAFETY)) {
        expect(
          fields.filter((field) => field.toLowerCase() === `${name}: ${value}`.toLowerCase()),
          bytes
        ).to.have.length(1)
      }
    }
  })
})

describe('a gateway before a renderer', () => {
  let renderer: FakeRenderer
  let gateway: GatewayFixture
  before(async () => {
    renderer = await startRenderer()
    gateway = await startGateway({
      RENDERER_URL: renderer.url,
      CORS_ORIGINS: APP,
      RATE_LIMIT: '1000/3600',
      SERVER_TIMING: 'true'
    })
  })
  after(async () => {
    await gateway.close()
    await renderer[Symbol.asyncDispose]()
  })
  const ask = async (options: InjectOptions): Promise<Awaited<ReturnType<typeof gateway.app.inject>>> =>
    gateway.app.inject(options)

  it('sends the headers of safety with whatever it answers itself', async () => {
    for (const [request, status, code] of [
      [{ url: '/foo', method: 'POST' }, 403, 'antiforgery.invalid'],
      [{ url: '/foo', method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } }, 403, 'request.cross-site'],
      [{ url: '/foo/..x/y' }, 400, 'request.malformed'],
      [{ url: '/foo/%ff' }, 400, 'request.malformed'],
      [{ url: '/products/%ff', headers: { accept: 'text/html' } }, 400, 'request.malformed'],
      [{ url: '/foo', method: 'TRACE' as 'GET' }, 404, 'route.not-found']
    ] as const) {
      const { statusCode, headers, body } = await ask(request)
      expect([statusCode, (JSON.parse(body) as { code: string }).code], JSON.stringify(request)).to.deep.equal([
        status,
        code
      ])
      expect(headers, JSON.stringify(request)).to.include(SAFETY)
    }
  })

  it('sends them in place of a page that it does not pass on, and with the page of a failure', async () => {
    renderer.answer = (_request, response) =>
      response
        .writeHead(404, { 'content-type': 'text/html', 'content-security-policy': 'script-src *', 'x-theirs': '1' })
        .end('<p>nothing</p>')
    const nothing = await ask({ url: '/foo', headers: { accept: 'application/json' } })
    expect([nothing.statusCode, nothing.headers['x-theirs']]).to.deep.equal([404, undefined])
    expect(nothing.headers).to.include(SAFETY)
    renderer.answer = (_request, response) => response.destroy()
    for (const [accept, policy] of [
      ['application/json', /^default-src 'none'; base-uri 'none'; frame-ancestors 'none'$/],
      ['text/html', PAGE_POLICY]
    ] as const) {
      const { statusCode, headers } = await ask({ url: '/foo', headers: { accept } })
      expect(statusCode, accept).to.equal(502)
      const { 'content-security-policy': sent, ...others } = SAFETY
      expect(headers, accept).to.include(others)
      expect(sent).to.be.a('string')
      expect(headers['content-security-policy'], accept).to.match(policy)
    }
  })

  it('leaves pages the policies that the renderer states, or none, and keeps what is its own', async () => {
    renderer.answer = (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')
    const plain = await ask({ url: '/foo' })
    expect(plain.headers).not.to.have.any.keys(
      'content-security-policy',
      'referrer-policy',
      'cross-origin-resource-policy'
    )
    renderer.answer = (_request, response) =>
      response
        .writeHead(200, {
          'content-type': 'text/html',
          'content-security-policy': "default-src 'self'",
          'referrer-policy': 'origin',
          'strict-transport-security': 'max-age=0',
          'x-content-type-options': 'sniff',
          ratelimit: '"theirs";r=1;t=1',
          'ratelimit-limit': '7',
          'ratelimit-policy': '"theirs";q=1;w=1',
          'access-control-allow-origin': '*'
        })
        .end('<p>')
    const { headers } = await ask({ url: '/foo', headers: { origin: APP } })
    expect(headers).to.include({
      'content-security-policy': "default-src 'self'",
      'referrer-policy': 'origin',
      'strict-transport-security': SAFETY['strict-transport-security'],
      'x-content-type-options': 'nosniff',
      'ratelimit-policy': '"address";q=1000;w=3600',
      'ratelimit-limit': '1000',
      'access-control-allow-origin': '*'
    })
    expect(headers['ratelimit']).to.match(/^"address";r=\d+;t=\d+$/)
    expect(headers).not.to.have.any.keys('timing-allow-origin', 'cross-origin-resource-policy')
    expect(headers).to.include.keys('server-timing')
  })

  it('counts a preflight that the renderer answers', async () => {
    renderer.answer = (_request, response) => response.writeHead(204).end()
    const preflight = { origin: APP, 'access-control-request-method': 'GET' }
    const page = await ask({ url: '/foo', method: 'OPTIONS', headers: preflight })
    expect([page.statusCode, typeof page.headers['ratelimit']]).to.deep.equal([204, 'string'])
  })
})
