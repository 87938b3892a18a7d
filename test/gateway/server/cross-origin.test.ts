import { expect } from 'chai'
import type { InjectOptions } from 'fastify'
import { readGatewayConfig } from '../../../gateway/config.js'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'
import { startRenderer } from '../renderer/renderer-fixture.js'

const APP = 'https://app.example.com'
const CORS = /^access-control-/

describe('scripts of other origins', () => {
  let gateway: GatewayFixture
  before(async () => {
    gateway = await startGateway({ CORS_ORIGINS: `${APP}, http://localhost:5173`, RATE_LIMIT: '40/3600' })
  })
  after(() => gateway.close())

  const ask = async (
    url: string,
    origin: string | undefined,
    method: NonNullable<InjectOptions['method']> = 'GET',
    headers: Readonly<Record<string, string>> = {}
  ): Promise<Awaited<ReturnType<typeof gateway.app.inject>>> =>
    gateway.app.inject({ url, method, headers: { ...(origin === undefined ? {} : { origin }), ...headers } })
  const corsOf = (headers: Readonly<Record<string, unknown>>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => CORS.test(name)))

  for (const origin of [APP, 'http://localhost:5173']) {
    it(`of ${origin} read every header of the contract, never with credentials`, async () => {
      for (const [url, status] of [
        ['/products/1', 200],
        ['/products/paged', 200],
        ['/openapi.json', 200],
        ['/products/paged?pageSize=0', 200],
        ['/nope', 404],
        ['/health', 200]
      ] as const) {
        const { statusCode, headers } = await ask(url, origin)
        expect(statusCode, url).to.equal(status)
        const { 'access-control-expose-headers': exposed, ...others } = corsOf(headers)
        expect(others, url).to.deep.equal({ 'access-control-allow-origin': origin })
        expect(String(exposed).toLowerCase().split(', '), url).to.include.members([
          'conflict-reason',
          'etag',
          'location',
          'link',
          'x-pagination',
          'x-total-count',
          'x-next-cursor',
          'x-previous-cursor',
          'x-row-limit',
          'x-truncated',
          'x-truncated-includes',
          'x-unshown-values',
          'x-export-row-limit',
          'x-ignored-parameters',
          'idempotent-replayed',
          'api-supported-versions',
          'x-request-id',
          'retry-after',
          'www-authenticate',
          'content-disposition',
          'preference-applied',
          'allow',
          'accept-patch',
          'traceparent',
          'ratelimit',
          'ratelimit-policy'
        ])
        expect(String(headers.vary), url).to.include('Origin')
      }
    })
  }

  it('of no other origin read anything', async () => {
    for (const origin of ['https://evil.example', 'https://app.example.com.evil.example', 'null', `${APP}:444`]) {
      const { statusCode, headers } = await ask('/products/1', origin)
      expect([statusCode, corsOf(headers), headers.vary]).to.deep.equal([200, {}, 'Origin'])
      const preflight = await ask('/products/1', origin, 'OPTIONS', { 'access-control-request-method': 'PUT' })
      expect([preflight.statusCode, corsOf(preflight.headers)]).to.deep.equal([204, {}])
    }
    expect(corsOf((await ask('/products/1', undefined)).headers)).to.deep.equal({})
  })

  it('may send what the contract has, after a preflight', async () => {
    const { statusCode, headers, body } = await ask('/products/1', APP, 'OPTIONS', {
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'authorization,if-match'
    })
    expect([statusCode, body, headers.allow]).to.deep.equal([204, '', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'])
    const { 'access-control-expose-headers': exposed, ...others } = corsOf(headers)
    expect(exposed).to.be.a('string')
    // It asks for nothing, so it is not counted either.
    expect(headers).not.to.have.any.keys('ratelimit', 'ratelimit-policy')
    expect(others).to.deep.equal({
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers':
        'Authorization, Content-Type, If-Match, Idempotency-Key, Prefer, api-version, X-Request-Id, traceparent, tracestate, Mcp-Protocol-Version, Mcp-Method, Mcp-Name',
      'access-control-max-age': '7200'
    })
    expect((await ask('/nope', APP, 'OPTIONS', { 'access-control-request-method': 'GET' })).statusCode).to.equal(404)
    expect((await ask('/nope', undefined, 'OPTIONS')).json()).to.include({ code: 'route.not-found' })
    expect((await ask('/products/1', APP, 'OPTIONS')).headers.allow).to.be.a('string')
  })

  it('have no part in the endpoints of cookies', async () => {
    for (const [url, method] of [
      ['/auth/login', 'POST'],
      ['/auth/session/token', 'POST'],
      ['/auth/session-cookie', 'DELETE']
    ] as const) {
      const preflight = await ask(url, APP, 'OPTIONS', { 'access-control-request-method': method })
      expect([url, preflight.statusCode, corsOf(preflight.headers)]).to.deep.equal([url, 403, {}])
      const { statusCode, headers } = await ask(url, APP, method)
      expect([url, statusCode, corsOf(headers)]).to.deep.equal([url, 403, {}])
    }
  })

  it('scripts of an origin of CORS_ORIGINS read no page of the renderer', async () => {
    await using renderer = await startRenderer()
    const pages = await startGateway({ CORS_ORIGINS: APP, RENDERER_URL: renderer.url })
    try {
      const { statusCode, body, headers } = await pages.app.inject({ url: '/cart', headers: { origin: APP } })
      expect([statusCode, body, corsOf(headers)]).to.deep.equal([200, '<p>page</p>', {}])
    } finally {
      await pages.close()
    }
  })

  it('read why they are refused beyond the limit of their address', async () => {
    let last = await ask('/products/1', APP)
    while (last.statusCode === 200) last = await ask('/products/1', APP)
    expect([last.statusCode, last.headers['access-control-allow-origin']]).to.deep.equal([429, APP])
  })

  it('have no part in anything by default', async () => {
    const closed = await startGateway()
    try {
      const { headers } = await closed.app.inject({ url: '/products/1', headers: { origin: APP } })
      expect([corsOf(headers), headers.vary]).to.deep.equal([{}, undefined])
    } finally {
      await closed.close()
    }
  })

  for (const value of [
    '*',
    'app.example.com',
    `${APP}/`,
    `${APP}/x`,
    'https://user@app.example.com',
    'null',
    'file://'
  ]) {
    it(`cannot be those of ${value}`, () => {
      expect(() => readGatewayConfig({ CORS_ORIGINS: value })).to.throw('CORS_ORIGINS must be origins as browsers send')
    })
  }
})

describe('headers of safety', () => {
  it('are on every answer that the gateway gives itself, and pages keep their own policy', async () => {
    const gateway = await startGateway()
    try {
      for (const [url, status] of [
        ['/products/1', 200],
        ['/products/export', 200],
        ['/nope', 404],
        ['/openapi.json', 200]
      ] as const) {
        const { statusCode, headers } = await gateway.app.inject(url)
        expect(statusCode, url).to.equal(status)
        expect(headers, url).to.include({
          'x-content-type-options': 'nosniff',
          'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
          'referrer-policy': 'no-referrer',
          'cross-origin-resource-policy': 'same-origin'
        })
      }
      const page = await gateway.app.inject('/problems')
      expect(page.headers['content-security-policy']).to.match(/^default-src 'none'; style-src 'sha256-/)
    } finally {
      await gateway.close()
    }
  })
})
