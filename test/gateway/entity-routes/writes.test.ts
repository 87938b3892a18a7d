import { expect } from 'chai'
import type { InjectOptions } from 'fastify'
import { DomainError } from '../../../shared/errors.js'
import { created, products } from '../fake-data-client.js'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'

const JSON_HEADERS = { 'content-type': 'application/json' }
const VERSION = Buffer.from('AQIDBAUGBwg=', 'base64')
const NO_PRECONDITION = { kind: 'PRECONDITION_KIND_UNSPECIFIED', versions: [] }
const TAGS = { kind: 'PRECONDITION_KIND_TAGS', versions: [VERSION] }

describe('writes', () => {
  let gateway: GatewayFixture
  beforeEach(async () => {
    gateway = await startGateway()
  })
  afterEach(() => gateway.close())

  const send = (
    method: 'POST' | 'PUT' | 'DELETE',
    url: string,
    more: Omit<InjectOptions, 'headers'> & { headers?: Record<string, string> } = {}
  ) =>
    gateway.app.inject({ method, url, payload: '{"name":"a"}', ...more, headers: { ...JSON_HEADERS, ...more.headers } })
  const lastRequest = (): unknown => gateway.data.calls.at(-1)?.request

  it('a create answers 201 with the row, where it is and its version', async () => {
    const answer = await send('POST', '/products')
    expect(answer.statusCode).to.equal(201)
    expect(answer.body).to.equal('{"id":7}')
    expect(answer.headers).to.include({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store',
      'api-supported-versions': '1.0',
      location: 'http://127.0.0.1:0/products/7',
      etag: 'W/"AQIDBAUGBwg="'
    })
    expect(answer.headers).to.not.have.any.keys('idempotent-replayed', 'x-ignored-parameters')
    expect(lastRequest()).to.deep.equal({
      resource: 'products',
      body: Buffer.from('{"name":"a"}'),
      strict: false,
      linkBase: 'http://127.0.0.1:0',
      unplaced: { parameters: [] }
    })
  })

  it('Location is what the data service kept with the answer, wherever the request came in', async () => {
    gateway.data.answerCreate = () => created({ replayed: true, location: 'https://first.example/api/products/a%2Fb' })
    expect((await send('POST', '/products')).headers['location']).to.equal('https://first.example/api/products/a%2Fb')
    gateway.data.answerCreate = () => created({ replayed: true, location: '/products/7' })
    expect((await send('POST', '/products')).headers['location']).to.equal('http://127.0.0.1:0/products/7')
    gateway.data.answerCreate = () => created({ location: 'http://a\r\nX-Evil: y/products/7' })
    const broken = await send('POST', '/products')
    expect([broken.statusCode, broken.headers['content-type']]).to.deep.equal([502, 'application/problem+json'])
  })

  it('a body is handed on to the byte', async () => {
    const body = Buffer.from(' {"price": 1.10, "price":1e2,\r\n "é":9007199254740993,"__proto__":{"x":1}} ')
    await send('POST', '/products', { payload: body })
    expect(lastRequest()).to.have.deep.property('body', body)
    await send('PUT', '/products/1', { payload: body })
    expect(lastRequest()).to.have.deep.property('body', body)
    await send('PUT', '/products/1/rename', { payload: body })
    expect(lastRequest()).to.have.deep.property('body', body)
  })

  it('a replay is the first answer and says so', async () => {
    const first = await send('POST', '/products', { headers: { 'idempotency-key': '"a\\"b"' } })
    expect(lastRequest()).to.deep.include({ idempotencyKey: 'a"b' })
    gateway.data.answerCreate = () => created({ replayed: true, location: String(first.headers['location']) })
    const again = await send('POST', '/products', { headers: { 'idempotency-key': 'a"b' } })
    expect(again.headers['idempotent-replayed']).to.equal('true')
    expect(again.statusCode).to.equal(first.statusCode)
    expect(again.rawPayload).to.deep.equal(first.rawPayload)
    for (const name of ['location', 'etag']) expect(again.headers[name], name).to.equal(first.headers[name])
  })

  it('an update hands on what it was conditioned on and answers the new version', async () => {
    const answer = await send('PUT', '/products/a%2Fb', {
      headers: { 'if-match': 'W/"AQIDBAUGBwg="', 'idempotency-key': 'k' }
    })
    expect(answer.statusCode).to.equal(200)
    expect(answer.headers).to.include({ etag: 'W/"AQIDBAUGBwg="' }).and.not.have.property('location')
    expect(lastRequest()).to.deep.equal({
      resource: 'products',
      id: 'a/b',
      body: Buffer.from('{"name":"a"}'),
      precondition: TAGS,
      idempotencyKey: 'k',
      strict: false,
      unplaced: { parameters: [] }
    })
  })

  const PRECONDITIONS: readonly (readonly [header: string | undefined, kind: string])[] = [
    [undefined, 'PRECONDITION_KIND_UNSPECIFIED'],
    [' ', 'PRECONDITION_KIND_UNSPECIFIED'],
    ['*', 'PRECONDITION_KIND_ANY'],
    ['nonsense', 'PRECONDITION_KIND_MALFORMED'],
    ['"AQIDBAUGBwg=", *', 'PRECONDITION_KIND_MALFORMED']
  ]
  for (const [header, kind] of PRECONDITIONS) {
    it(`If-Match ${header} is left to the data service as ${kind}`, async () => {
      const headers: Record<string, string> = header === undefined ? {} : { 'if-match': header }
      for (const [method, url] of [
        ['PUT', '/products/1'],
        ['PUT', '/products/1/publish'],
        ['DELETE', '/products/1']
      ] as const) {
        await send(method, url, { headers })
        expect(lastRequest(), url).to.deep.include({ precondition: { kind, versions: [] } })
      }
    })
  }

  it('a delete answers nothing, and looks neither at a body nor at a key', async () => {
    const answer = await send('DELETE', '/products/1?x=1', {
      payload: 'not JSON',
      headers: { 'content-type': 'text/plain', 'if-match': '"AQIDBAUGBwg="', 'idempotency-key': 'a b' }
    })
    expect(answer.statusCode).to.equal(204)
    expect(answer.body).to.equal('')
    expect(answer.headers).to.include({ 'x-ignored-parameters': 'x' }).and.not.have.any.keys('content-type', 'etag')
    expect(lastRequest()).to.deep.equal({
      resource: 'products',
      id: '1',
      precondition: TAGS,
      unplaced: { parameters: [] }
    })
    const bare = await gateway.app.inject({ method: 'DELETE', url: '/products/1' })
    expect(bare.statusCode).to.equal(204)
    expect(lastRequest()).to.deep.include({ precondition: NO_PRECONDITION })
  })

  it('an action runs by its name, with a body or without one', async () => {
    const answer = await send('PUT', '/products/1/rename', { headers: { 'if-match': '"AQIDBAUGBwg="' } })
    expect(answer.statusCode).to.equal(200)
    expect(answer.headers).to.include({ etag: 'W/"AQIDBAUGBwg="' })
    expect(lastRequest()).to.deep.equal({
      resource: 'products',
      id: '1',
      action: 'rename',
      body: Buffer.from('{"name":"a"}'),
      precondition: TAGS,
      strict: false,
      unplaced: { parameters: [] }
    })
    const bare = await gateway.app.inject({ method: 'PUT', url: '/products/1/publish' })
    expect(bare.statusCode).to.equal(200)
    expect(lastRequest()).to.deep.include({ action: 'publish', body: Buffer.alloc(0) })
    for (const payload of [' ', '{']) {
      const malformed = await send('PUT', '/products/1/publish', { payload })
      expect(malformed.json(), payload).to.include({ status: 400, code: 'body.malformed' })
    }
  })

  it('a create or an update without a body is malformed, whatever its type', async () => {
    for (const [method, url] of [
      ['POST', '/products'],
      ['PUT', '/products/1']
    ] as const) {
      for (const [at, headers] of [{}, JSON_HEADERS].entries()) {
        const answer = await gateway.app.inject({ method, url, headers })
        expect(answer.json(), `${method}, ${url}, headers ${at}`).to.include({ status: 400, code: 'body.malformed' })
      }
    }
    expect(gateway.data.calls).to.be.empty
  })

  it('what is ignored of query and body is named together', async () => {
    gateway.data.answerCreate = () => created({ ignoredMembers: ['rowVersion', 'lines/0/unitPrice'] })
    const answer = await send('POST', '/products?fields=id&x=1')
    expect(answer.headers['x-ignored-parameters']).to.equal('fields,x,body.rowVersion,body.lines%2F0%2FunitPrice')
  })

  it('under strict handling nothing is ignored', async () => {
    for (const [method, url] of [
      ['POST', '/products?x=1'],
      ['PUT', '/products/1?x=1'],
      ['PUT', '/products/1/publish?x=1']
    ] as const) {
      const answer = await send(method, url, { headers: { prefer: 'handling=strict' } })
      expect(answer.headers, `${method}, ${url}`).to.include({ 'preference-applied': 'handling=strict' })
      expect(answer.headers, `${method}, ${url}`).to.not.have.property('x-ignored-parameters')
      expect(lastRequest(), `${method}, ${url}`).to.deep.include({ strict: true, unplaced: { parameters: ['x'] } })
    }
    await send('DELETE', '/products/1?x=1', { headers: { prefer: 'handling=strict' } })
    expect(lastRequest()).to.deep.include({ unplaced: { parameters: ['x'] } })
  })

  const REFUSALS: readonly (readonly [error: DomainError, status: number, retryAfter?: string])[] = [
    [new DomainError('conflict', 'A data conflict occurred.', { guarded: true }), 412],
    [new DomainError('conflict', 'A data conflict occurred.'), 409],
    [new DomainError('idempotency.in-flight', 'x', { retryAfter: 1, guarded: true }), 409, '1'],
    [new DomainError('idempotency.key.reused', 'x'), 422],
    [new DomainError('state.invalid', 'x', { guarded: true }), 422],
    [new DomainError('precondition.required', 'x'), 428],
    [new DomainError('precondition.malformed', 'x'), 400],
    [new DomainError('capability.denied', 'x'), 403],
    [new DomainError('upstream.unavailable', 'x'), 503, '1']
  ]
  for (const [error, status, retryAfter] of REFUSALS) {
    it(`${error.code}${error.guarded ? ', guarded,' : ''} is ${status}`, async () => {
      gateway.data.answerAct = () => {
        throw error
      }
      const answer = await send('PUT', '/products/1/publish')
      expect(answer.json()).to.include({ status, code: error.code, detail: error.message })
      expect(answer.headers['retry-after']).to.equal(retryAfter)
      expect(answer.headers).to.not.have.property('etag')
      expect(gateway.data.calls).to.have.lengthOf(1)
    })
  }

  it('an action that appears in the catalogue is served', async () => {
    expect((await send('PUT', '/products/1/rename-again')).json()).to.include({ code: 'route.not-found' })
    gateway.data.catalogue = {
      digest: '2',
      resources: [products({ actions: [{ name: 'rename-again', description: '', input: [], childPrecondition: '' }] })]
    }
    gateway.data.connect()
    await new Promise(setImmediate)
    expect((await send('PUT', '/products/1/rename-again')).statusCode).to.equal(200)
    expect((await send('PUT', '/products/1/rename')).json()).to.include({ code: 'route.not-found' })
  })
})
