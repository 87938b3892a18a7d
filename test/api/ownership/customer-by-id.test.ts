import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { describeApi, type ApiStore } from '../api-store.js'
import { customerItem } from '../fixture.js'
import { GrpcCaller, isFailure } from '../../stack/grpc-caller.js'
import { json } from '../http-call.js'

/** By-id reads of customers: the id of the route is the owner (source.md, endpoints with ownership guards). */
const VERDICTS: readonly (readonly [account: string, id: string, verdict: 200 | 404 | 'id.invalid' | 'denied'])[] = [
  ['ada', '1', 200],
  ['ada', '001', 200],
  ['ada', '2', 'denied'],
  ['ada', '-1', 'denied'],
  ['ada', '1abc', 'denied'],
  ['ada', '1.0', 'denied'],
  ['ada', '1e0', 'denied'],
  ['ada', '0x1', 'denied'],
  ['ada', '+1', 'denied'],
  ['ada', ' 1', 'denied'],
  ['ada', '1,1', 'denied'],
  ['ada', 'abc', 'denied'],
  ['ada', '18446744073709551617', 'denied'],
  ['ada', '999', 'denied'],
  ['ben', '2', 200],
  ['ben', '1', 'denied'],
  ['clerk', '1', 'denied'],
  ['nobody', '1', 'denied'],
  ['nobody', 'abc', 'denied'],
  ['admin', '1', 200],
  ['admin', '2', 200],
  ['admin', '999', 404],
  ['admin', 'abc', 'id.invalid']
]
const STATUS = { 'id.invalid': 400, denied: 403, 404: 404 } as const
const CODE = { 'id.invalid': 'id.invalid', denied: 'ownership.denied', 404: 'not-found' } as const
const RPC_STATUS = { 'id.invalid': status.INVALID_ARGUMENT, denied: status.PERMISSION_DENIED, 404: status.NOT_FOUND }

function own(store: ApiStore): void {
  let rpc: GrpcCaller
  before(() => {
    rpc = new GrpcCaller(store.stack.dataAddress)
  })
  after(() => rpc.close())

  for (const [account, id, verdict] of VERDICTS) {
    it(`answers ${account} asking for ${JSON.stringify(id)} with ${verdict}, over both transports`, async () => {
      const answer = await store.as(account, `/customers/${encodeURIComponent(id)}`)
      const token = await store.stack.token(`${account}@example.com`)
      const called = await rpc.unary('Get', { resource: 'customers', id }, { token })
      if (verdict === 200) {
        // The credit limit is for those who write invoices.
        const creditLimit = account === 'admin' ? { creditLimit: null } : {}
        expect(json(answer)).to.deep.equal({ ...customerItem(Number(id)), ...creditLimit })
        expect(called).to.have.nested.property('record.json').that.deep.equals(answer.bytes)
        return
      }
      store.problem(answer, { status: STATUS[verdict], code: CODE[verdict] })
      if (!isFailure(called)) throw new Error(`gRPC answered ${account}`)
      expect([called.status, called.details.reason]).to.deep.equal([RPC_STATUS[verdict], CODE[verdict]])
    })
  }

  it('lets no query replace the id of the route', async () => {
    for (const target of [
      '/customers/abc?id=1',
      '/customers/2?id=1',
      '/customers/1abc?id=1',
      '/customers/2?customerId=1'
    ]) {
      store.problem(await store.as('ada', target), { status: 403, code: 'ownership.denied' })
    }
    const answer = await store.as('ada', '/customers/1?id=2')
    expect(json(answer)).to.deep.equal(customerItem(1))
    expect(answer.headers['x-ignored-parameters']).to.equal('id')
  })

  it('is asked for a token first, then for an owner, and for the query last', async () => {
    store.problem(await store.call('/customers/abc?fields=zz'), { status: 401, code: 'auth.required' })
    store.problem(await store.as('nobody', '/customers/1?fields=zz'), { status: 403, code: 'ownership.denied' })
    store.problem(await store.as('ada', '/customers/2?fields=zz'), { status: 403, code: 'ownership.denied' })
    store.problem(await store.as('ada', '/customers/1?fields=zz'), { status: 400, code: 'fields.invalid' })
  })
}

describeApi('the owner of a customer', own, { on: 'sqlite' })
