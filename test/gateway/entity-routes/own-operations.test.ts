import { expect } from 'chai'
import { OperationPaths } from '../../../gateway/data/operation-paths.js'
import { operation, property } from '../fake-data-client.js'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'

describe('the paths of operations', () => {
  const paths = new OperationPaths([
    operation('by-id', 'GET', '/reports/{id}'),
    operation('latest', 'GET', '/reports/latest'),
    operation('close', 'PUT', '/reports/{id}'),
    operation('deep', 'GET', '/reports/{id}/of/{name}'),
    operation('deep-all', 'GET', '/reports/all/of/{name}'),
    operation('other', 'POST', '/closings')
  ])
  const at = (path: string): unknown[] => paths.at(path).map(({ operation: { name }, path: found }) => [name, found])

  it('are told apart by their fixed segments first', () => {
    expect(at('/reports/latest')).to.deep.equal([['latest', {}]])
    expect(at('/reports/7')).to.deep.equal([
      ['by-id', { id: '7' }],
      ['close', { id: '7' }]
    ])
    expect(at('/reports/7/of/a')).to.deep.equal([['deep', { id: '7', name: 'a' }]])
    expect(at('/reports/all/of/a')).to.deep.equal([['deep-all', { name: 'a' }]])
    expect(at('/closings')).to.deep.equal([['other', {}]])
  })

  it('are decoded once, segment by segment', () => {
    expect(at('/reports/a%2Fb%2525')).to.deep.equal([
      ['by-id', { id: 'a/b%25' }],
      ['close', { id: 'a/b%25' }]
    ])
    expect(at('/%72eports/l%61test')).to.deep.equal([['latest', {}]])
  })

  for (const path of [
    '/reports',
    '/reports/',
    '/reports/7/',
    '//reports/7',
    '/reports/%zz',
    '/constructor',
    '/',
    '/closings/1'
  ]) {
    it(`have nothing at ${path}`, () => {
      expect(at(path)).to.deep.equal([])
    })
  }
})

describe('routes of operations', () => {
  const OPERATIONS = [
    operation('sum', 'GET', '/reports/{id}', { queryParameters: [property('since', 'dateTime')] }),
    operation('close', 'PUT', '/reports/{id}')
  ]

  let gateway: GatewayFixture
  before(async () => {
    gateway = await startGateway()
  })
  after(() => gateway.close())

  it('are there once the catalogue has them, and send reads as reads and writes as writes', async () => {
    expect((await gateway.app.inject('/reports/7')).statusCode).to.equal(404)
    gateway.data.catalogue = { ...gateway.data.catalogue, digest: '2', operations: OPERATIONS }
    gateway.data.connect()
    await new Promise(setImmediate)
    const read = await gateway.app.inject({ url: '/reports/7?SINCE=a&since=b&x=1' })
    expect([read.statusCode, read.body, read.headers['x-ignored-parameters']]).to.deep.equal([200, '{"n":1}', 'x'])
    const write = await gateway.app.inject({
      method: 'PUT',
      url: '/reports/7',
      headers: { 'content-type': 'application/json', 'idempotency-key': '"k"' },
      payload: '{"a":1}'
    })
    expect(write.statusCode).to.equal(200)
    const calls = gateway.data.calls.filter(({ rpc }) => rpc.endsWith('call'))
    expect(calls.map(({ rpc }) => rpc)).to.deep.equal(['read call', 'write call'])
    expect(calls[0]?.request).to.deep.include({ operation: 'sum', path: { id: '7' }, query: { since: 'a,b' } })
    expect(calls[1]?.request).to.deep.include({ operation: 'close', idempotencyKey: 'k', strict: false })
  })
})
