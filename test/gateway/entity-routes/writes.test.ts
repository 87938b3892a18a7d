import { expect } from 'chai'
import { created } from '../fake-data-client.js'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'

// Only what the full stack (test/api/writes) cannot show.
describe('writes', () => {
  let gateway: GatewayFixture
  beforeEach(async () => {
    gateway = await startGateway()
  })
  afterEach(() => gateway.close())

  it('a Location that no header can hold is a bad answer of the data service', async () => {
    gateway.data.answerCreate = () => created({ location: 'http://a\r\nX-Evil: y/products/7' })
    const headers = { 'content-type': 'application/json' }
    const broken = await gateway.app.inject({ method: 'POST', url: '/products', payload: '{}', headers })
    expect([broken.statusCode, broken.headers['content-type']]).to.deep.equal([502, 'application/problem+json'])
  })

  it('tell the data service If-Match: * from none, both of which it rejects alike', async () => {
    for (const [headers, kind] of [
      [{}, 'PRECONDITION_KIND_UNSPECIFIED'],
      [{ 'if-match': ' ' }, 'PRECONDITION_KIND_UNSPECIFIED'],
      [{ 'if-match': '*' }, 'PRECONDITION_KIND_ANY']
    ] as const) {
      await gateway.app.inject({ method: 'PUT', url: '/products/1/publish', headers })
      expect(gateway.data.calls.at(-1)?.request, kind).to.deep.include({ precondition: { kind, versions: [] } })
    }
  })
})
