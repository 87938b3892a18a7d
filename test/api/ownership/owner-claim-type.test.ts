import { expect } from 'chai'
import { GrpcCaller, isFailure } from '../../stack/grpc-caller.js'
import { describeApi } from '../api-store.js'
import { json } from '../http-call.js'
import { sendTo } from '../writes/send.js'
import { changesNothing } from '../writes/stored.js'
import { oddTokens } from './claims.js'

const tokens = await oddTokens()
after(() => tokens.dispose())

const ORDER = { lines: [{ productId: 1, quantity: 1 }] }

describeApi(
  'OWNER_CLAIM_TYPE=sub',
  (store) => {
    /** Of a customer whose subject is this, and whose claim of the default name says another one. */
    const tokenOf = async (sub: string): Promise<string> =>
      tokens.change(await store.stack.token('ada@example.com'), { sub, customer_id: '2' })

    it('takes the subject for the owner of rows', async () => {
      const token = await tokenOf('1')
      const orders = json(await store.call('/orders', { token })) as readonly { readonly customerId: number }[]
      expect(new Set(orders.map(({ customerId }) => customerId))).to.deep.equal(new Set([1]))
      expect((await store.call('/customers/1', { token })).status).to.equal(200)
      store.problem(await store.call('/customers/2', { token }), { status: 403, code: 'ownership.denied' })
    })

    it('makes the subject the owner of new rows', async () => {
      const request = { method: 'POST', target: '/orders', token: await tokenOf('1') }
      const made = await sendTo(store.url, request, { body: ORDER })
      expect(made.status, made.text).to.equal(201)
      expect(json(made)).to.include({ customerId: 1 })
      const denied = await changesNothing(store, () =>
        sendTo(store.url, request, { body: { ...ORDER, customerId: 2 } })
      )
      store.problem(denied, { status: 403, code: 'ownership.denied' })
    })

    it('takes a subject that is no integer for none', async () => {
      for (const target of ['/orders', '/customers/1', '/customers/2']) {
        for (const sub of ['abc', '1.5']) {
          const token = await tokenOf(sub)
          store.problem(await store.call(target, { token }), { status: 403, code: 'ownership.denied' })
        }
      }
    })

    it('does so over gRPC too', async () => {
      const rpc = new GrpcCaller(store.stack.dataAddress)
      try {
        const token = await tokenOf('1')
        const get = (id: string, by: string) => rpc.unary('Get', { resource: 'customers', id }, { token: by })
        expect(isFailure(await get('1', token))).to.equal(false)
        for (const denied of [await get('2', token), await get('1', await tokenOf('abc'))]) {
          expect(isFailure(denied) && denied.details.reason).to.equal('ownership.denied')
        }
      } finally {
        rpc.close()
      }
    })
  },
  { env: () => ({ JWT_PRIVATE_KEY_FILE: tokens.keyFile, OWNER_CLAIM_TYPE: 'sub' }) }
)
