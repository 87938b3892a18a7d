import { expect } from 'chai'
import { DomainError, type ErrorCode } from '../../../shared/errors.js'
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

  it('a rejected dry run has rolled back, and one whose answer was lost does not say so', async () => {
    const headers = { 'content-type': 'application/json', prefer: 'handling=strict, tx=rollback' }
    const appliedAfter = async (code: ErrorCode): Promise<unknown> => {
      gateway.data.answerCreate = () => Promise.reject(new DomainError(code, 'No.'))
      const answer = await gateway.app.inject({ method: 'POST', url: '/products', payload: '{}', headers })
      return [answer.statusCode, answer.headers['preference-applied']]
    }
    expect(await appliedAfter('conflict')).to.deep.equal([409, 'handling=strict, tx=rollback'])
    expect(await appliedAfter('upstream.unavailable')).to.deep.equal([503, 'handling=strict'])
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
