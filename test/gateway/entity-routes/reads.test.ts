import { expect } from 'chai'
import { action, described, products, record } from '../fake-data-client.js'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'

// Only what the full stack (test/api) cannot show: no entity there has a key that is text, nothing there shows the trace
// that a data service is told, and its catalogue never changes.
describe('reads', () => {
  let gateway: GatewayFixture
  beforeEach(async () => {
    gateway = await startGateway()
  })
  afterEach(() => gateway.close())

  const IDS: readonly (readonly [path: string, id: string])[] = [
    ['/products/a%2Fb', 'a/b'],
    ['/products/a%252Fb', 'a%2Fb'],
    ['/products/%20', ' '],
    ['/products/%00', '\0'],
    ['/products/a+b', 'a+b'],
    ['/products/PAGED', 'PAGED']
  ]
  for (const [path, id] of IDS) {
    it('send the bytes of a row as they came, short and long ones, and their length to HEAD', async () => {
      for (const length of [1, 2000, 20_000]) {
        // Characters of two, three and four bytes, and escapes that a JSON parser would write in another way.
        const text = `{"id":1,"name":"${'é€😀\\u00e9\\/'.repeat(length)}"}`
        gateway.data.answerGet = () => ({ record: record(text, 'AQIDBAUGBwg=') })
        const got = await gateway.app.inject('/products/1')
        expect(got.rawPayload.equals(Buffer.from(text)), `${length}`).to.equal(true)
        expect(got.headers['content-length']).to.equal(String(Buffer.byteLength(text)))
        const head = await gateway.app.inject({ method: 'HEAD', url: '/products/1' })
        expect([head.body, head.headers['content-length']]).to.deep.equal(['', got.headers['content-length']])
      }
    })

    it(`hands on the id of ${path} decoded once`, async () => {
      await gateway.app.inject(path)
      expect(gateway.data.calls.at(-1)?.request).to.deep.include({ id })
    })
  }

  it('passes the array of the data service on as it is, and joins records where there is none', async () => {
    expect((await gateway.app.inject('/products')).body).to.equal('[{"id":1},{"id":2}]')
    expect((await gateway.app.inject('/products/paged')).body).to.equal('[{"id":11}]')
    for (const { request } of gateway.data.calls) expect(request).to.deep.include({ asArray: true })
    const answered = { records: [], rowLimit: 1000, truncated: false, continuationPageSize: 500 }
    gateway.data.answerList = () => ({ ...answered, json: Buffer.from('[ 1,2]') })
    expect((await gateway.app.inject('/products')).body).to.equal('[ 1,2]')
    gateway.data.answerList = () => ({ ...answered, json: Buffer.alloc(0) })
    expect((await gateway.app.inject('/products')).body).to.equal('[]')
  })

  it('forwards the trace of the caller with a span of its own', async () => {
    const answer = await gateway.app.inject({
      url: '/products/1',
      headers: { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' }
    })
    const traceparent = gateway.data.calls[0]?.call.traceparent
    expect(traceparent)
      .to.match(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/)
      .and.not.include('00f067aa0ba902b7')
    expect(answer.headers['traceparent']).to.equal(traceparent)
  })

  it('picks up a changed catalogue when the data service comes back', async () => {
    const rename = { method: 'PUT', url: '/products/1/rename-again' } as const
    expect((await gateway.app.inject('/stock-items')).statusCode).to.equal(404)
    expect((await gateway.app.inject(rename)).statusCode).to.equal(404)
    gateway.data.catalogue = {
      ...described(
        [
          products({ name: 'stock-items', operations: ['list'], actions: [] }),
          products({ operations: ['get'], actions: [action('rename-again')] })
        ],
        { digest: '2' }
      )
    }
    gateway.data.connect()
    await new Promise(setImmediate)
    expect((await gateway.app.inject('/stock-items')).statusCode).to.equal(200)
    expect((await gateway.app.inject('/stock-items/paged')).json()).to.include({ code: 'route.not-found' })
    expect((await gateway.app.inject(rename)).statusCode).to.equal(200)
    expect((await gateway.app.inject('/products')).json()).to.include({ code: 'route.not-found' })
    expect((await gateway.app.inject({ method: 'PUT', url: '/products/1/rename' })).json()).to.include({
      code: 'route.not-found'
    })
    const { paths } = (await gateway.app.inject('/openapi.json')).json<{ paths: object }>()
    expect(Object.keys(paths).filter((path) => /^\/(?:products|stock-items)/.test(path))).to.have.members([
      '/stock-items',
      '/products/{id}',
      '/products/{id}/rename-again'
    ])
  })
})
