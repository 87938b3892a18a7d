import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { hold } from './hold.js'
import { send } from './send.js'
import { select } from './stored.js'

const PRODUCT = 'SELECT id FROM products WHERE id = 1 FOR UPDATE'

describeApi('shares of writes', (store) => {
  const order = (productId: number): object => ({ lines: [{ productId, quantity: 1 }] })
  const batch = { body: Array.from({ length: 15 }, () => order(1)) }

  it("a caller's writes that do not end hold up no other caller, and those beyond its share are rejected", async () => {
    const held = await hold(store, PRODUCT)
    let isOver = false
    const writes = Promise.all([
      ...Array.from({ length: 20 }, () => send(store, 'ada POST /orders/batch', batch)),
      ...Array.from({ length: 12 }, () => send(store, 'ada POST /orders', { body: order(1) }))
    ]).finally(() => (isOver = true))
    try {
      expect((await store.as('ben', '/products/1')).status).to.equal(200)
      if (store.kind === 'mysql') {
        const waitingForLocks = async (): Promise<number> => {
          const [row] = await select(
            store,
            `SELECT COUNT(*) AS n FROM information_schema.innodb_trx t JOIN information_schema.processlist p
             ON p.id = t.trx_mysql_thread_id WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE()`
          )
          return Number(row?.['n'])
        }
        // InnoDB answers from a cache that it renews only where the last look is more than 100 ms ago.
        while (!isOver && (await waitingForLocks()) === 0) await new Promise((resolve) => setTimeout(resolve, 150))
        const written = await send(store, 'ben POST /orders', { body: order(2) })
        expect(written.status, written.text).to.equal(201)
        expect((await store.as('ben', '/products/1')).status).to.equal(200)
      }
    } finally {
      await held.release()
    }
    const refused = (await writes).filter(({ text }) => text.includes('Too many writes are under way'))
    expect(refused).to.not.be.empty
    for (const answer of refused) {
      store.problem(answer, { status: 503, code: 'upstream.unavailable' })
      expect(answer.headers['retry-after']).to.equal('1')
    }
  })
})
