import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { GrpcCaller, isFailure, type Method } from '../../stack/grpc-caller.js'

const TAG = 'W/"AAAAAAAAAAA="'
const FOREIGN = 2
const ABSENT = 9

/** Another's order, and one that there is not, must not be told apart (source.md, orders). */
const REQUESTS: readonly (readonly [method: string, path: string, body?: string])[] = [
  ['GET', '/orders/ID'],
  ['HEAD', '/orders/ID'],
  ['GET', '/orders/ID?fields=id,customerId&includeFKs=true&includeChildren=true'],
  ['PUT', '/orders/ID/pay', '{}'],
  ['PUT', '/orders/ID/cancel', '{"reason":"x"}'],
  ['DELETE', '/orders/ID']
]
const RPCS: readonly (readonly [method: Method, request: object])[] = [
  ['Get', {}],
  ['Act', { action: 'pay', precondition: { kind: 'PRECONDITION_KIND_TAGS', versions: [Buffer.alloc(8)] } }],
  ['Delete', {}],
  ['Delete', { precondition: { kind: 'PRECONDITION_KIND_ANY' } }]
]

describeApi('another owner’s row', (store) => {
  for (const [method, path, body] of REQUESTS) {
    it(`answers ${method} ${path} as if it did not exist, to the byte`, async () => {
      const ask = (id: number) =>
        store.as('ada', path.replace('ID', String(id)), {
          method,
          headers: { 'x-request-id': 'same', 'if-match': TAG, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body })
        })
      const [foreign, absent] = [await ask(FOREIGN), await ask(ABSENT)]
      if (method !== 'HEAD') store.problem(foreign, { status: 404, code: 'not-found' })
      expect(foreign.status).to.equal(404)
      expect(foreign.text.replace(`/orders/${FOREIGN}`, `/orders/${ABSENT}`)).to.equal(absent.text)
      const { date: _foreign, ...foreignHeaders } = foreign.headers
      const { date: _absent, ...absentHeaders } = absent.headers
      expect(foreignHeaders).to.deep.equal(absentHeaders)
    })
  }

  it('answers over gRPC as if it did not exist', async () => {
    const rpc = new GrpcCaller(store.stack.dataAddress)
    try {
      const token = await store.stack.token('ada@example.com')
      for (const [method, request] of RPCS) {
        const [foreign, absent] = await Promise.all(
          [FOREIGN, ABSENT].map((id) =>
            rpc.unary(method, { resource: 'orders', id: String(id), ...request }, { token })
          )
        )
        expect(foreign && isFailure(foreign) && foreign.details.reason, method).to.equal('not-found')
        expect(foreign, method).to.deep.equal(absent)
      }
    } finally {
      rpc.close()
    }
  })

  it('is still there after all of these requests', async () => {
    expect((await store.as('ben', `/orders/${FOREIGN}`)).status).to.equal(200)
  })
})
