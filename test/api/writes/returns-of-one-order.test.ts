import { expect } from 'chai'
import { describeApi, type ApiStore } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { created, did } from './back-office.js'
import { gathered } from './hold.js'
import { rowIn, send, sendTo } from './send.js'
import { count, select } from './stored.js'

/** What Ada bought, which is also the most that can come back. */
const BOUGHT = 5
const LINES = [
  { productId: 1, quantity: 2 },
  { productId: 1, quantity: BOUGHT - 2 },
  { productId: 1, variantId: 2, quantity: 1 }
]

async function delivered(store: ApiStore): Promise<number> {
  const { id } = rowIn(await created(store, { account: 'ada', resource: 'orders', body: { lines: LINES } }))
  const actor = { account: 'admin', path: `/orders/${String(id)}` }
  await did(store, actor, { name: 'pay' })
  await did(store, actor, { name: 'ship', body: { trackingCode: 'T' } })
  await did(store, actor, { name: 'deliver' })
  return Number(id)
}

describeApi(
  'returns of one order',
  (store) => {
    let orderId: number
    beforeEach(async () => {
      orderId = await delivered(store)
    })

    const bodyOf = (quantity: number, more: object = {}): object => ({
      orderId,
      reason: 'Broken',
      lines: [{ productId: 1, quantity, ...more }]
    })
    const ask = (quantity: number, more?: object): Promise<Answer> =>
      send(store, 'ada POST /returns', { body: bodyOf(quantity, more) })
    const returned = async (quantity: number, more?: object) => {
      const answer = await created(store, { account: 'ada', resource: 'returns', body: bodyOf(quantity, more) })
      return { account: 'admin', path: `/returns/${String(rowIn(answer)['id'])}` }
    }
    const tooMany = async (quantity: number, most: number): Promise<void> => {
      const rows = await count(store, 'returns')
      const { detail } = store.problem(await ask(quantity), {
        status: 400,
        code: 'body.invalid',
        violations: [{ code: 'body.invalid', pointer: '/lines/0/quantity' }]
      })
      expect(detail).to.include(`lines/0/quantity must be at most ${most}: `)
      expect(await count(store, 'returns')).to.equal(rows)
    }

    it('are together no more than it holds', async () => {
      await returned(2)
      await tooMany(4, 3)
      await returned(2)
      await tooMany(2, 1)
      await returned(1)
      await tooMany(1, 0)
      // Variants are counted for themselves, and so are other orders.
      await returned(1, { variantId: 2 })
      orderId = await delivered(store)
      await returned(BOUGHT)
    })

    it('count in every state but rejected', async () => {
      const actor = await returned(BOUGHT)
      for (const name of ['approve', 'receive', 'refund']) {
        await tooMany(1, 0)
        await did(store, actor, { name })
      }
      await tooMany(1, 0)
    })

    it('leave the order what was rejected or deleted', async () => {
      const actor = await returned(BOUGHT)
      await did(store, actor, { name: 'reject', body: { reason: 'Worn' } })
      const { path } = await returned(BOUGHT)
      await tooMany(1, 0)
      expect((await send(store, `ada DELETE ${path}`)).status).to.equal(204)
      await returned(BOUGHT)
    })

    it('are together no more than it holds when they are made at the same moment', async () => {
      const token = await store.stack.token('ada@example.com')
      const target = '/returns'
      const rows = `SELECT id FROM orders WHERE id = ${orderId} FOR UPDATE`
      const answers = await gathered(store, rows, () =>
        Promise.all(
          Array.from({ length: 8 }, () => sendTo(store.url, { method: 'POST', target, token }, { body: bodyOf(2) }))
        )
      )
      expect(answers.map(({ status }) => status)).to.have.members([201, 201, ...Array<number>(6).fill(400)])
      const [held] = await select(
        store,
        'SELECT SUM(quantity) AS n FROM return_lines WHERE return_id IN (SELECT id FROM returns WHERE order_id = ?)',
        [orderId]
      )
      expect(Number(held?.['n'])).to.equal(4)
    })
  },
  { on: 'mysql' }
)
