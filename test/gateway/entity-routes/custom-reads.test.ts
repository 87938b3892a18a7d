import { METHODS } from 'node:http'
import { expect } from 'chai'
import type { InjectOptions } from 'fastify'
import { customRead, products, property } from '../fake-data-client.js'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'

const IDS = customRead('session-ids', { parameters: [property('from', 'int', { nullable: true })] })

// Only what no entity of the store has: parameters of a custom read, and a custom read of a resource without rows.
describe('reads of a resource’s own', () => {
  let gateway: GatewayFixture
  beforeEach(async () => {
    gateway = await startGateway({}, [
      products({ name: 'bookmarks', reads: [IDS] }),
      products({ name: 'inbox', operations: ['create'], actions: [], reads: [customRead('unread')] })
    ])
  })
  afterEach(() => gateway.close())

  it('hand on their own parameters, and nothing that did not come', async () => {
    const answer = await gateway.app.inject('/bookmarks/session-ids?FROM=2&fields=id')
    expect([answer.statusCode, answer.body]).to.deep.equal([200, '[3,17]'])
    expect(answer.headers).to.include({ 'x-ignored-parameters': 'fields' })
    await gateway.app.inject('/bookmarks/session-ids')
    const read = { resource: 'bookmarks', name: 'session-ids', unplaced: { parameters: [] } }
    expect(gateway.data.calls.map(({ request }) => request)).to.deep.equal([
      { ...read, parameters: { from: '2' } },
      { ...read, parameters: {} }
    ])
  })

  it('take no other method where their resource has no rows to read', async () => {
    for (const method of METHODS.filter((one) => !['CONNECT', 'GET', 'HEAD', 'OPTIONS'].includes(one))) {
      // The injector's types know fewer methods than the parser.
      const sent = { method: method as NonNullable<InjectOptions['method']>, url: '/inbox/unread' }
      const answer = await gateway.app.inject(sent)
      expect([answer.statusCode, answer.headers.allow], method).to.deep.equal([405, 'GET, HEAD, OPTIONS'])
    }
    expect(gateway.data.calls).to.be.empty
    expect((await gateway.app.inject('/inbox/unread')).statusCode).to.equal(200)
    expect((await gateway.app.inject('/inbox/session-ids')).json()).to.include({ code: 'route.not-found' })
  })
})
