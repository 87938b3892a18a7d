import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { GrpcCaller, isFailure } from '../../stack/grpc-caller.js'
import { ids } from '../http-call.js'
import { describeLogged, statements } from '../statement-log.js'
import { sendTo } from '../writes/send.js'
import { changesNothing } from '../writes/stored.js'
import { oddTokens } from './claims.js'

const tokens = await oddTokens()
after(() => tokens.dispose())

/** Anything but an integer counts as missing (contract.md section 6). */
const NONE: readonly unknown[] = ['', 'abc', 1.5, [7], { a: 1 }, null, undefined, ' 1', '1.0', '+1', true, [1], 2 ** 53]
/** What the service does on its own account touches none of these. */
const OWNED_TABLES = /\b(orders|customers|bookmarks|shopping_carts)\b/
const OWNED = [
  '/orders',
  '/orders/paged',
  '/orders/export',
  '/orders/lookup',
  '/orders/1',
  '/orders/paged?includeFKs=true&filters[customerId].operator=eq&filters[customerId].value=1',
  '/customers/1',
  '/bookmarks?userId=1',
  '/bookmarks/session-ids?userId=1',
  '/shopping-carts',
  '/shopping-carts?customerId=1'
]

describeApi(
  'odd owner claims',
  (store) => {
    const tokenOf = async (claim: unknown): Promise<string> =>
      tokens.change(await store.stack.token('ada@example.com'), { customer_id: claim })

    for (const claim of NONE) {
      it(`as ${JSON.stringify(claim)} are rejected, and never an empty answer`, async () => {
        const token = await tokenOf(claim)
        for (const target of OWNED) {
          store.problem(await store.call(target, { token }), { status: 403, code: 'ownership.denied' })
        }
      })
    }

    it('beyond 32 bits see no row of an owner column of 32 bits, and make none', async () => {
      const token = await tokenOf('1099511627776')
      expect(ids(await store.call('/orders', { token }))).to.deep.equal([])
      const rejected = await changesNothing(store, () =>
        sendTo(
          store.url,
          { method: 'POST', target: '/orders', token },
          { body: { lines: [{ productId: 1, quantity: 1 }] } }
        )
      )
      store.problem(rejected, { status: 403, code: 'ownership.denied' })
    })

    it('leave what needs no owner as it is', async () => {
      for (const claim of NONE) {
        const answer = await store.call('/products', { token: await tokenOf(claim) })
        expect(ids(answer), JSON.stringify(claim)).to.have.length(12)
      }
    })

    it('are rejected over gRPC too', async () => {
      const rpc = new GrpcCaller(store.stack.dataAddress)
      try {
        for (const claim of NONE) {
          const token = await tokenOf(claim)
          for (const call of [
            rpc.unary('List', { resource: 'orders' }, { token }),
            rpc.unary('Lookup', { resource: 'orders' }, { token }),
            rpc.unary('Get', { resource: 'customers', id: '1' }, { token }),
            rpc.unary('Read', { resource: 'bookmarks', name: 'session-ids', ownerParameter: '1' }, { token }),
            rpc.export({ resource: 'orders', idleTimeoutMs: 5000 }, { token })
          ]) {
            const answer = await call
            expect(isFailure(answer) && answer.details.reason, JSON.stringify(claim)).to.equal('ownership.denied')
          }
        }
      } finally {
        rpc.close()
      }
    })
  },
  { on: 'sqlite', env: () => ({ JWT_PRIVATE_KEY_FILE: tokens.keyFile }) }
)

describeLogged(
  'rejections of owners in the log of MariaDB',
  (store, during) => {
    const texts = async (work: () => Promise<unknown>): Promise<string[]> => {
      return statements(await during(work))
        .map(({ text }) => text)
        .filter((text) => OWNED_TABLES.test(text))
    }

    it('are made before any statement', async () => {
      const good = await store.stack.token('ada@example.com')
      const sent = await texts(async () => {
        for (const claim of NONE) {
          const token = tokens.change(good, { customer_id: claim })
          for (const target of OWNED) expect((await store.call(target, { token })).status, target).to.equal(403)
        }
        for (const target of ['/customers/2', '/customers/abc?id=1', '/bookmarks', '/shopping-carts?customerId=2']) {
          expect((await store.call(target, { token: good })).status, target).to.equal(403)
        }
      })
      expect(sent).to.deep.equal([])
    })

    it('are told from reads that go through', async () => {
      const token = await store.stack.token('ada@example.com')
      expect(await texts(() => store.call('/customers/1', { token }))).not.to.deep.equal([])
    })
  },
  { env: () => ({ JWT_PRIVATE_KEY_FILE: tokens.keyFile }) }
)
