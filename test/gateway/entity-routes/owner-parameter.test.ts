import { expect } from 'chai'
import type { InjectOptions } from 'fastify'
import { action, customRead, described, products, record } from '../fake-data-client.js'
import { startGateway, type GatewayFixture } from '../gateway-fixture.js'

const ALL = ['list', 'paged', 'export', 'lookup', 'get', 'create', 'update', 'delete', 'act']

/** Operations that no entity of the store has both with and without its owner filter; test/api/ownership has the others. */
const REQUESTS: readonly (readonly [operation: string, method: NonNullable<InjectOptions['method']>, path: string])[] =
  [
    ['update', 'PUT', '/5'],
    ['read', 'GET', '/session-ids']
  ]

describe('the owner parameter', () => {
  let gateway: GatewayFixture
  before(async () => {
    const reads = [customRead('session-ids', { ownerFiltered: true })]
    gateway = await startGateway({}, [
      products({ name: 'everywhere', ownerParameter: 'userId', ownerFiltered: ALL, reads }),
      products({ name: 'nowhere', ownerParameter: 'userId', ownerFiltered: [], reads: [customRead('session-ids')] }),
      ...ALL.map((operation) => products({ name: operation, ownerParameter: 'userId', ownerFiltered: [operation] }))
    ])
  })
  after(() => gateway.close())

  const send = async (method: NonNullable<InjectOptions['method']>, url: string, headers: object = {}) => {
    const writes = method === 'POST' || method === 'PUT'
    const answer = await gateway.app.inject({
      method,
      url,
      headers: { ...(writes ? { 'content-type': 'application/json' } : {}), ...headers },
      ...(writes ? { payload: '{}' } : {})
    })
    expect(answer.statusCode, `${method} ${url}`).to.be.within(200, 204)
    return { ignored: answer.headers['x-ignored-parameters'], request: gateway.data.calls.at(-1)?.request }
  }

  for (const [operation, method, path] of REQUESTS) {
    it(`is handed on by ${method} ${path || '/'} where its filter stands`, async () => {
      const { ignored, request } = await send(method, `/everywhere${path}?x=1&USERid=7&userId=8`)
      expect(request).to.deep.include({ ownerParameter: '7,8', unplaced: { parameters: [] } })
      expect(ignored).to.equal('x')
    })

    it(`is unknown to ${method} ${path || '/'} where its filter does not`, async () => {
      const others = ['nowhere', ...ALL.filter((one) => one !== operation && operation !== 'read')]
      for (const resource of others) {
        const { ignored, request } = await send(method, `/${resource}${path}?userId=7`)
        expect(request, resource).to.not.have.property('ownerParameter')
        expect(ignored, resource).to.equal('userId')
      }
      const strict = await send(method, `/nowhere${path}?userId=7`, { prefer: 'handling=strict' })
      expect(strict.request).to.deep.include({ unplaced: { parameters: ['userId'] } })
    })

    it(`that did not come is not made up by ${method} ${path || '/'}`, async () => {
      const { ignored, request } = await send(method, `/everywhere${path}`)
      expect(request).to.not.have.property('ownerParameter')
      expect(ignored).to.equal(undefined)
    })
  }

  it('is no fault under strict handling', async () => {
    const { request } = await send('GET', '/everywhere/paged?userId=', { prefer: 'handling=strict' })
    expect(request).to.deep.include({ ownerParameter: '', unplaced: { parameters: [] } })
  })

  it('stays in the links of pages and of a cut list', async () => {
    gateway.data.answerList = () => ({
      records: [record('{}')],
      rowLimit: 1000,
      truncated: true,
      continuationPageSize: 500,
      json: Buffer.alloc(0)
    })
    const list = await gateway.app.inject('/everywhere?x=1&userId=7')
    expect(list.headers.link).to.equal(
      '<http://127.0.0.1:0/everywhere/paged?userId=7&pageSize=500&pageNumber=3>; rel="next"'
    )
    const page = await gateway.app.inject('/everywhere/paged?userId=7')
    expect(page.headers.link).to.include('/everywhere/paged?userId=7&pageNumber=1>; rel="first"')
    const other = await gateway.app.inject('/nowhere?userId=7')
    expect(other.headers.link).to.not.include('userId')
  })

  it('may have any name', async () => {
    gateway.data.catalogue = {
      ...described([], { digest: '2' }),
      resources: [products({ ownerParameter: 'id', ownerFiltered: ['list'], actions: [action('publish')] })]
    }
    gateway.data.connect()
    await new Promise(setImmediate)
    expect((await send('GET', '/products?id=042')).request).to.deep.include({ ownerParameter: '042' })
    expect((await send('GET', '/products/1?id=042')).ignored).to.equal('id')
  })
})
