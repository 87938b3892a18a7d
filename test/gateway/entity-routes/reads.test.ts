import { expect } from 'chai'
import { DomainError } from '../../../shared/errors.js'
import { products, record } from '../fake-data-client.js'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'

describe('reads', () => {
  let gateway: GatewayFixture
  beforeEach(async () => {
    gateway = await startGateway()
  })
  afterEach(() => gateway.close())

  const lastRequest = (): unknown => gateway.data.calls.at(-1)?.request

  it('every answer carries the headers of entity routes', async () => {
    for (const url of ['/products', '/products/paged', '/products/lookup', '/products/1', '/products/export']) {
      const { headers, statusCode } = await gateway.app.inject(url)
      expect(statusCode, url).to.equal(200)
      expect(headers, url).to.include({
        'api-supported-versions': '1.0',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff'
      })
      expect(headers['x-request-id'], url).to.match(/^[0-9a-f-]{36}$/)
    }
  })

  it('a list joins the bytes of its rows', async () => {
    const answer = await gateway.app.inject('/products?fields=id&includeFKs=true&x=1')
    expect(answer.body).to.equal('[{"id":1},{"id":2}]')
    expect(answer.headers).to.include({
      'content-type': 'application/json; charset=utf-8',
      'content-length': '19',
      'x-row-limit': '1000',
      'x-ignored-parameters': 'x'
    })
    expect(answer.headers).to.not.have.any.keys('x-truncated', 'link', 'etag')
    expect(lastRequest()).to.deep.equal({
      resource: 'products',
      shape: { fields: 'id', includeFks: 'true' },
      unplaced: { parameters: [] }
    })
  })

  it('an empty list is an empty array', async () => {
    gateway.data.answerList = () => ({ records: [], rowLimit: 1000, truncated: false, continuationPageSize: 500 })
    expect((await gateway.app.inject('/products')).body).to.equal('[]')
  })

  it('a truncated list says how to go on', async () => {
    gateway.data.answerList = () => ({
      records: [record('{}')],
      rowLimit: 1000,
      truncated: true,
      continuationPageSize: 250
    })
    const { headers } = await gateway.app.inject('/products?fields=id&sortColumn=price&filters[a].value=1')
    expect(headers).to.include({
      'x-truncated': 'true',
      link: '<http://127.0.0.1:0/products/paged?fields=id&pageSize=250&pageNumber=5>; rel="next"'
    })
  })

  it('of a page carry X-Pagination and Link', async () => {
    const answer = await gateway.app.inject(
      '/products/paged?page=2&sortColumn=name&sortDirection=desc&filters[name].operator=eq&filters[name].value='
    )
    expect(answer.body).to.equal('[{"id":11}]')
    expect(answer.headers['x-total-count']).to.equal('25')
    expect(JSON.parse(String(answer.headers['x-pagination']))).to.deep.equal({
      totalCount: 25,
      pageSize: 10,
      currentPage: 2,
      totalPages: 3,
      hasPrevious: true,
      hasNext: true
    })
    expect(String(answer.headers.link).match(/pageNumber=(\d)>; rel="(\w+)"/g)).to.deep.equal([
      'pageNumber=1>; rel="first"',
      'pageNumber=1>; rel="prev"',
      'pageNumber=3>; rel="next"',
      'pageNumber=3>; rel="last"'
    ])
    expect(lastRequest()).to.deep.equal({
      resource: 'products',
      selection: {
        filters: [{ property: 'name', operator: 'eq', value: '' }],
        sortColumn: 'name',
        sortDirection: 'desc'
      },
      shape: {},
      pageNumber: '2',
      unplaced: { parameters: [] }
    })
  })

  it('a lookup is passed through', async () => {
    gateway.data.answerLookup = () => ({ json: Buffer.from('{"items":[{"id":1,"name":"é"}]}'), truncated: true })
    const answer = await gateway.app.inject('/products/lookup?search=%C3%A9')
    expect(answer.body).to.equal('{"items":[{"id":1,"name":"é"}]}')
    expect(answer.headers['x-truncated']).to.equal('true')
    expect(lastRequest()).to.deep.include({ search: 'é' })
  })

  it('a row carries its version as ETag, and none without one', async () => {
    expect((await gateway.app.inject('/products/1')).headers.etag).to.equal('W/"AQIDBAUGBwg="')
    gateway.data.answerGet = () => ({ record: record('{"id":1}') })
    expect((await gateway.app.inject('/products/1?fields=id')).headers).to.not.have.property('etag')
  })

  const IDS: readonly (readonly [path: string, id: string])[] = [
    ['/products/a%2Fb', 'a/b'],
    ['/products/a%252Fb', 'a%2Fb'],
    ['/products/%20', ' '],
    ['/products/%00', '\0'],
    ['/products/a+b', 'a+b'],
    [`/products/${'9'.repeat(5000)}`, '9'.repeat(5000)],
    ['/products/PAGED', 'PAGED']
  ]
  for (const [path, id] of IDS) {
    it(`hands on the id of ${path.slice(0, 30)} decoded once`, async () => {
      await gateway.app.inject(path)
      expect(lastRequest()).to.deep.include({ id })
    })
  }

  it('by HEAD have the headers of a GET and no body', async () => {
    const answer = await gateway.app.inject({ method: 'HEAD', url: '/products/1' })
    expect(answer.statusCode).to.equal(200)
    expect(answer.body).to.equal('')
    expect(answer.headers).to.include({ etag: 'W/"AQIDBAUGBwg="', 'content-length': '8' })
  })

  it('a precondition on a read is never looked at', async () => {
    const headers = { 'if-none-match': 'W/"AQIDBAUGBwg="', 'if-modified-since': new Date().toUTCString() }
    expect((await gateway.app.inject({ url: '/products/1', headers })).statusCode).to.equal(200)
  })

  it('strict handling hands unknown parameters on, and names none in a header', async () => {
    const answer = await gateway.app.inject({
      url: '/products/paged?x=1&filters[a].value=1',
      headers: { prefer: 'handling=strict' }
    })
    expect(answer.headers).to.not.have.property('x-ignored-parameters')
    expect(lastRequest()).to.deep.include({ unplaced: { parameters: ['x', 'filters[a].value'] } })
  })

  it('forwards the token, the request id and the trace', async () => {
    const answer = await gateway.app.inject({
      url: '/products/1',
      headers: {
        authorization: 'Bearer abc',
        cookie: 'app_auth_access=xyz',
        'x-request-id': 'mine',
        traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
      }
    })
    expect(answer.headers['x-request-id']).to.equal('mine')
    const call = gateway.data.calls[0]?.call
    expect(call).to.include({ authorization: 'Bearer abc', requestId: 'mine' })
    expect(call?.traceparent).to.match(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/)
    expect(answer.headers['traceparent']).to.equal(call?.traceparent)
  })

  it('a version that is not served reaches no data service', async () => {
    const answer = await gateway.app.inject({ url: '/products', headers: { 'api-version': '2.0' } })
    expect(answer.json()).to.include({ status: 400, code: 'version.unsupported' })
    expect(gateway.data.calls).to.be.empty
  })

  it('a rejection of the data service keeps its code and its faults', async () => {
    const place = (name: string) => ({ in: 'parameter', name }) as const
    gateway.data.answerList = () => {
      throw new DomainError('fields.invalid', 'Two.', {
        violations: [
          { code: 'fields.invalid', detail: 'One.', place: place('fields') },
          { code: 'include.invalid', detail: 'Two.', place: place('includeFKs') }
        ]
      })
    }
    const answer = await gateway.app.inject('/products?fields=x&y=1')
    expect(answer.json()).to.deep.include({
      type: 'http://127.0.0.1:0/problems/fields.invalid',
      status: 400,
      instance: '/products',
      errors: [
        { code: 'fields.invalid', detail: 'One.', parameter: 'fields' },
        { code: 'include.invalid', detail: 'Two.', parameter: 'includeFKs' }
      ]
    })
  })

  it('picks up a changed catalogue when the data service comes back', async () => {
    expect((await gateway.app.inject('/stock-items')).statusCode).to.equal(404)
    gateway.data.catalogue = {
      digest: '2',
      resources: [products({ name: 'stock-items', operations: ['list'], actions: [] })]
    }
    gateway.data.connect()
    await new Promise(setImmediate)
    expect((await gateway.app.inject('/stock-items')).statusCode).to.equal(200)
    expect((await gateway.app.inject('/stock-items/paged')).json()).to.include({ code: 'route.not-found' })
    expect((await gateway.app.inject('/products')).json()).to.include({ code: 'route.not-found' })
    expect((await gateway.app.inject('/openapi.json')).json())
      .to.have.property('paths')
      .that.has.all.keys('/stock-items')
  })
})
