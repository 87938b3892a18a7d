import { METHODS } from 'node:http'
import { expect } from 'chai'
import type { InjectOptions } from 'fastify'
import { DomainError } from '../../../shared/errors.js'
import { customRead, products, property } from '../fake-data-client.js'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'

const IDS = customRead('session-ids', {
  ownerFiltered: true,
  parameters: [property('from', 'int', { nullable: true })]
})

describe('reads of a resource’s own', () => {
  let gateway: GatewayFixture
  beforeEach(async () => {
    gateway = await startGateway({}, [
      products({ name: 'bookmarks', ownerParameter: 'userId', ownerFiltered: ['list'], reads: [IDS] }),
      products({ name: 'inbox', operations: ['create'], actions: [], reads: [customRead('unread')] }),
      products()
    ])
  })
  afterEach(() => gateway.close())

  it('are an array of items with the headers of entity routes', async () => {
    const answer = await gateway.app.inject('/bookmarks/session-ids?userId=1&FROM=2&fields=id')
    expect([answer.statusCode, answer.body]).to.deep.equal([200, '[3,17]'])
    expect(answer.headers).to.include({
      'content-type': 'application/json; charset=utf-8',
      'content-length': '6',
      'api-supported-versions': '1.0',
      'cache-control': 'no-store',
      'x-row-limit': '1000',
      'x-ignored-parameters': 'fields'
    })
    expect(answer.headers).to.not.have.any.keys('etag', 'link', 'x-truncated')
    expect(answer.headers['x-request-id']).to.match(/^[0-9a-f-]{36}$/)
    expect(gateway.data.calls.map(({ rpc, request }) => [rpc, request])).to.deep.equal([
      [
        'read',
        {
          resource: 'bookmarks',
          name: 'session-ids',
          parameters: { from: '2' },
          ownerParameter: '1',
          unplaced: { parameters: [] }
        }
      ]
    ])
  })

  it('say when items were left out', async () => {
    gateway.data.answerRead = () => ({ json: Buffer.from('[1]'), rowLimit: 1000, truncated: true })
    expect((await gateway.app.inject('/bookmarks/session-ids')).headers).to.include({ 'x-truncated': 'true' })
  })

  it('take no part of a row’s query and hand on nothing that did not come', async () => {
    await gateway.app.inject('/bookmarks/session-ids')
    expect(gateway.data.calls[0]?.request).to.deep.equal({
      resource: 'bookmarks',
      name: 'session-ids',
      parameters: {},
      unplaced: { parameters: [] }
    })
  })

  it('reject the unknown under strict handling', async () => {
    const headers = { prefer: 'handling=strict' }
    const answer = await gateway.app.inject({ url: '/bookmarks/session-ids?x=1&userId=1', headers })
    expect(answer.headers).to.include({ 'preference-applied': 'handling=strict' })
    expect(answer.headers).to.not.have.property('x-ignored-parameters')
    expect(gateway.data.calls[0]?.request).to.deep.include({ ownerParameter: '1', unplaced: { parameters: ['x'] } })
  })

  it('look at the version and forward the caller', async () => {
    const rejected = await gateway.app.inject({ url: '/bookmarks/session-ids', headers: { 'api-version': '2' } })
    expect(rejected.json()).to.include({ code: 'version.unsupported' })
    expect(gateway.data.calls).to.be.empty
    const headers = { authorization: 'Bearer abc', 'x-request-id': 'mine' }
    await gateway.app.inject({ url: '/bookmarks/session-ids', headers })
    expect(gateway.data.calls[0]?.call).to.include({ authorization: 'Bearer abc', requestId: 'mine' })
  })

  it('pass on what the data service rejects', async () => {
    gateway.data.answerRead = () => {
      throw new DomainError('ownership.denied', 'Not yours.')
    }
    const answer = await gateway.app.inject('/bookmarks/session-ids?userId=2')
    expect(answer.json()).to.include({ status: 403, code: 'ownership.denied', instance: '/bookmarks/session-ids' })
  })

  it('answer HEAD without the body', async () => {
    const answer = await gateway.app.inject({ method: 'HEAD', url: '/bookmarks/session-ids?userId=1' })
    expect([answer.statusCode, answer.body]).to.deep.equal([200, ''])
    expect(answer.headers).to.include({ 'x-row-limit': '1000', 'content-length': '6' })
  })

  for (const url of ['/bookmarks/session-ids', '/inbox/unread']) {
    it(`${url} takes no other method`, async () => {
      for (const method of METHODS.filter((one) => !['CONNECT', 'GET', 'HEAD'].includes(one))) {
        // The injector's types know fewer methods than the parser.
        const answer = await gateway.app.inject({ method: method as NonNullable<InjectOptions['method']>, url })
        expect([answer.statusCode, answer.headers.allow], method).to.deep.equal([405, 'GET, HEAD'])
      }
      expect(gateway.data.calls).to.be.empty
    })
  }

  it('are rows’ ids on any other resource and in any other letter case', async () => {
    for (const url of ['/products/session-ids', '/bookmarks/Session-Ids', '/bookmarks/session-ids%20']) {
      expect((await gateway.app.inject(url)).statusCode, url).to.equal(200)
      expect(gateway.data.calls.at(-1), url).to.include({ rpc: 'get' })
    }
    expect((await gateway.app.inject('/inbox/session-ids')).json()).to.include({ code: 'route.not-found' })
    expect((await gateway.app.inject('/bookmarks/session%2Dids')).body).to.equal('[3,17]')
  })
})
