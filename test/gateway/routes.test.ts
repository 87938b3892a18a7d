import { METHODS } from 'node:http'
import { expect } from 'chai'
import type { InjectOptions } from 'fastify'
import { DomainError } from '../../shared/errors.js'
import { products } from './fake-data-client.js'
import { type GatewayFixture, startGateway } from './gateway-fixture.js'

describe('routes', () => {
  let gateway: GatewayFixture
  before(async () => {
    gateway = await startGateway({}, [
      products(),
      products({ name: 'readings', operations: ['list', 'get'], actions: [] }),
      products({ name: 'inbox', operations: ['create', 'delete'], actions: [] })
    ])
  })
  after(() => gateway.close())

  const ALLOWED: readonly (readonly [url: string, allow: string])[] = [
    ['/products', 'GET, HEAD, POST'],
    ['/products/paged', 'GET, HEAD'],
    ['/products/export', 'GET'],
    ['/products/lookup', 'GET, HEAD'],
    ['/products/1', 'GET, HEAD, PUT, PATCH, DELETE'],
    ['/products/1/publish', 'PUT'],
    ['/readings', 'GET, HEAD'],
    ['/readings/1', 'GET, HEAD'],
    ['/inbox', 'POST'],
    ['/inbox/1', 'DELETE'],
    ['/health', 'GET, HEAD'],
    ['/health/live', 'GET, HEAD'],
    ['/health/ready', 'GET, HEAD'],
    ['/openapi.json', 'GET, HEAD'],
    ['/docs', 'GET, HEAD'],
    ['/docs/resources/products', 'GET, HEAD'],
    ['/docs/products', 'GET, HEAD'],
    ['/docs/search', 'GET, HEAD'],
    ['/docs/try', 'GET, HEAD'],
    ['/docs/try/0/try-out.js', 'GET, HEAD'],
    ['/problems', 'GET, HEAD'],
    ['/problems/conflict', 'GET, HEAD']
  ]
  for (const [url, allow] of ALLOWED) {
    it(`${url} takes ${allow} and no other method`, async () => {
      const taken = [...allow.split(', '), 'OPTIONS', 'CONNECT']
      const others = METHODS.filter((method) => !taken.includes(method))
      for (const method of others) {
        // The injector's types know fewer methods than the parser.
        const answer = await gateway.app.inject({ method: method as NonNullable<InjectOptions['method']>, url })
        expect(answer.statusCode, method).to.equal(405)
        expect(answer.headers.allow, method).to.equal(`${allow}, OPTIONS`)
        if (method !== 'HEAD') expect(answer.json(), method).to.include({ code: 'method.not-allowed' })
      }
    })
  }

  for (const url of [
    '/',
    '/nope',
    '/nope/1',
    '/products/',
    '/products/1/',
    '/products/1/2/3',
    '/products/1/nope',
    '/products/1/Publish',
    '/products/1/publish/',
    '/readings/1/publish',
    '/nope/1/publish',
    '/inbox/paged',
    '/Products',
    '//',
    '/health/',
    '/problems/nope',
    '/problems/'
  ]) {
    it(`${url} is answered 404 route.not-found`, async () => {
      for (const method of ['GET', 'POST', 'DELETE'] as const) {
        if (method !== 'GET' && url.startsWith('/problems/')) continue
        const answer = await gateway.app.inject({ method, url, payload: method === 'POST' ? '{' : '' })
        expect(answer.statusCode, method).to.equal(404)
        expect(answer.headers['content-type'], method).to.equal('application/problem+json')
        expect(answer.json(), method).to.include({ code: 'route.not-found', instance: url })
      }
    })
  }

  it('rejects in the order of the contract', async () => {
    const long = `?x=${'a'.repeat(64 * 1024)}`
    const large = '{'.repeat(1024 * 1024 + 1)
    const text = { 'content-type': 'text/plain', 'api-version': '9', 'idempotency-key': 'a b' }
    const json = { ...text, 'content-type': 'application/json' }
    const many = { ...text, 'x-many': 'a'.repeat(64 * 1024) }
    const ORDER: readonly (readonly [code: string, sent: InjectOptions])[] = [
      ['route.not-found', { method: 'POST', url: `/nope${long}`, payload: large, headers: text }],
      ['method.not-allowed', { method: 'PATCH', url: `/products${long}`, payload: large, headers: text }],
      ['uri.too-long', { method: 'POST', url: `/products${long}`, payload: large, headers: text }],
      ['headers.too-large', { method: 'POST', url: '/products', payload: large, headers: many }],
      ['body.too-large', { method: 'POST', url: '/products', payload: large, headers: text }],
      ['media-type.unsupported', { method: 'POST', url: '/products', payload: '{', headers: text }],
      ['body.malformed', { method: 'POST', url: '/products', payload: '{', headers: json }],
      ['version.unsupported', { method: 'POST', url: '/products', payload: '{}', headers: json }],
      [
        'idempotency.key.invalid',
        { method: 'POST', url: '/products', payload: '{}', headers: { ...json, 'api-version': '1' } }
      ]
    ]
    for (const [code, sent] of ORDER) expect((await gateway.app.inject(sent)).json(), code).to.include({ code })
    expect(gateway.data.calls).to.be.empty
  })

  it('takes a body of 1 MiB and rejects a byte more, on a read as well', async () => {
    const put = (length: number) =>
      gateway.app.inject({
        method: 'PUT',
        url: '/products/1/publish',
        payload: `{"x":"${'a'.repeat(length - 8)}"}`,
        headers: { 'content-type': 'application/json' }
      })
    expect((await put(1024 * 1024)).statusCode).to.equal(200)
    expect((await put(1024 * 1024 + 1)).json()).to.include({ status: 413, code: 'body.too-large' })
    const get = await gateway.app.inject({ url: '/products', headers: { 'content-length': '1048577' } })
    expect(get.json()).to.include({ status: 413, code: 'body.too-large' })
  })

  it('answers bad percent-encoding of path and query', async () => {
    for (const url of ['/products/%', '/products/%zz', '/products/%ff', '/products?x=%', '/products/paged?%ff=1']) {
      const answer = await gateway.app.inject(url)
      expect(answer.json(), url).to.include({ status: 400, code: 'request.malformed', instance: url.split('?')[0] })
      expect(answer.headers, url).to.include({ 'x-content-type-options': 'nosniff' })
      expect(answer.json(), url).to.include({ requestId: answer.headers['x-request-id'] })
    }
  })

  it('serves a page for each problem type', async () => {
    const answer = await gateway.app.inject('/problems/filter.too-many')
    expect(answer.headers['content-type']).to.equal('text/html; charset=utf-8')
    expect(answer.body).to.include('<code>filter.too-many</code>')
  })

  it('of the root list the resources for people', async () => {
    expect((await gateway.app.inject('/docs')).body)
      .to.include('/products')
      .and.include('What the store sells.')
  })

  it('is ready only with a data service that can serve, and alive without', async () => {
    for (const url of ['/health', '/health/ready', '/health/live']) {
      const well = await gateway.app.inject(url)
      expect([well.statusCode, well.json()], url).to.deep.equal([200, { status: 'ok' }])
      expect((await gateway.app.inject({ method: 'HEAD', url })).statusCode, url).to.equal(200)
      gateway.data.reachable = false
      const answer = await gateway.app.inject(url)
      const head = await gateway.app.inject({ method: 'HEAD', url })
      gateway.data.reachable = true
      if (url === '/health/live') expect(answer.statusCode, url).to.equal(200)
      else {
        expect(answer.json(), url).to.include({ status: 503, code: 'upstream.unavailable', instance: url })
        expect([head.statusCode, head.headers['retry-after'], head.body], url).to.deep.equal([503, '1', ''])
      }
      expect(answer.headers['cache-control'], url).to.equal('no-store')
    }
  })
})

describe('failures', () => {
  let gateway: GatewayFixture
  beforeEach(async () => {
    gateway = await startGateway()
  })
  afterEach(() => gateway.close())

  const failing = (error: Error) => {
    gateway.data.answerGet = () => {
      throw error
    }
    return gateway.app.inject('/products/1?secret=1')
  }

  it('that nobody foresaw are opaque outside and whole in the log', async () => {
    const answer = await failing(new TypeError('SELECT secret FROM hidden_table'))
    expect(answer.statusCode).to.equal(500)
    const problem = answer.json<{ requestId: string }>()
    expect(problem).to.have.all.keys('type', 'title', 'status', 'detail', 'instance', 'code', 'requestId')
    expect(answer.body).to.not.match(/SELECT|TypeError|hidden/)
    const line = gateway.lines.find(({ msg }) => msg === 'unforeseen failure')
    expect(line).to.include({ requestId: problem.requestId, level: 'error' })
    expect(JSON.stringify(line)).to.include('hidden_table').and.include('stack')
  })

  it('that carry an HTTP status by chance are opaque too', async () => {
    const answer = await failing(Object.assign(new Error('driver text'), { statusCode: 404, code: 'ER_X' }))
    expect(answer.json()).to.include({ status: 500, code: 'internal' })
  })

  it('of configuration tell nothing', async () => {
    const answer = await failing(new DomainError('configuration', 'OWNER_BYPASS_ROLE is not set.'))
    expect(answer.json()).to.include({ status: 500, code: 'configuration' })
    expect(answer.body).to.not.include('OWNER_BYPASS_ROLE')
  })

  it('of authentication say how to authenticate', async () => {
    const header = async (error: Error): Promise<unknown> => (await failing(error)).headers['www-authenticate']
    expect(await header(new DomainError('auth.required', 'x'))).to.equal('Bearer')
    expect(await header(new DomainError('auth.invalid-token', 'x'))).to.equal('Bearer error="invalid_token"')
  })

  it('that pass say when to come back', async () => {
    const answer = await failing(new DomainError('upstream.unavailable', 'x', { retryAfter: 2.2 }))
    expect(answer.statusCode).to.equal(503)
    expect(answer.headers['retry-after']).to.equal('3')
  })

  it('name the path and not the query, in the answer and in the log', async () => {
    const answer = await failing(new DomainError('not-found', 'x'))
    expect(answer.json()).to.include({ instance: '/products/1' })
    expect(JSON.stringify(gateway.lines)).to.not.include('secret')
  })
})

describe('under a public base URL', () => {
  let gateway: GatewayFixture
  before(async () => {
    gateway = await startGateway({ PUBLIC_BASE_URL: 'https://shop.example/api/', TRUSTED_PROXIES: '127.0.0.0/8' })
  })
  after(() => gateway.close())

  it('its path prefixes every route', async () => {
    for (const path of ['/products', '/health', '/docs', '/openapi.json', '/problems/conflict']) {
      expect((await gateway.app.inject(`/api${path}`)).statusCode, path).to.equal(200)
      expect((await gateway.app.inject(path)).statusCode, path).to.equal(404)
    }
  })

  it('every link begins with it, whatever a proxy says', async () => {
    const headers = { 'x-forwarded-host': 'other.example', 'x-forwarded-proto': 'http', host: 'evil.example' }
    const page = await gateway.app.inject({ url: '/api/products/paged', headers })
    expect(page.headers.link).to.match(/^<https:\/\/shop\.example\/api\/products\/paged\?pageNumber=1>/)
    const missing = await gateway.app.inject({ url: '/products', headers })
    expect(missing.json()).to.include({ type: 'https://shop.example/api/problems/route.not-found' })
  })
})

describe('X-Forwarded-*', () => {
  const linkWith = async (environment: Record<string, string>): Promise<unknown> => {
    const gateway = await startGateway(environment)
    try {
      const headers = { 'x-forwarded-host': 'shop.example', 'x-forwarded-proto': 'https', host: 'evil.example' }
      return (await gateway.app.inject({ url: '/products/paged', headers })).headers.link
    } finally {
      await gateway.close()
    }
  }

  it('are believed from a trusted proxy', async () => {
    expect(await linkWith({ TRUSTED_PROXIES: '127.0.0.1' })).to.match(/^<https:\/\/shop\.example\/products/)
  })

  it('are nobody else’s to send, and Host never counts', async () => {
    expect(await linkWith({ TRUSTED_PROXIES: '10.0.0.0/8' })).to.match(/^<http:\/\/127\.0\.0\.1:0\/products/)
    expect(await linkWith({})).to.match(/^<http:\/\/127\.0\.0\.1:0\/products/)
  })
})
