import { expect } from 'chai'
import { withTestDatabase } from '../oracle/test-database.js'
import { describeApi } from './api-store.js'
import { json } from './http-call.js'

/** An operation of the store, against SQL of our own that adds up in this process. */
describeApi(
  'GET /reports/stock',
  (store) => {
    it('answers what lies in each warehouse, and what it is worth', async () => {
      const expected = await withTestDatabase(store.databaseUrl, async (database) => {
        const scale = database.kind === 'sqlite' ? 1 : 100
        const warehouses = await database.run('SELECT id, name FROM warehouses ORDER BY id')
        const items = await database.run(
          'SELECT s.warehouse_id, s.on_hand, s.reserved, p.price FROM stock_items s JOIN products p ON p.id = s.product_id'
        )
        return warehouses.flatMap(({ id, name }) => {
          const held = items.filter((item) => item['warehouse_id'] === id)
          const sum = (of: (item: (typeof held)[number]) => number): number =>
            held.reduce((total, item) => total + of(item), 0)
          if (held.length === 0) return []
          const cents = sum((item) => Number(item['on_hand']) * Math.round(Number(item['price']) * scale))
          return [
            {
              warehouseId: id,
              name,
              products: held.length,
              onHand: String(sum((item) => Number(item['on_hand']))),
              reserved: String(sum((item) => Number(item['reserved']))),
              value: (cents / 100).toFixed(2)
            }
          ]
        })
      })
      expect(expected).to.not.be.empty
      const report = async (query = ''): Promise<unknown> => {
        const answer = await store.as('admin', `/reports/stock${query}`)
        expect(answer.status, answer.text).to.equal(200)
        return json(answer)
      }
      expect(await report()).to.deep.equal({ warehouses: expected })
      const [first] = expected
      expect(await report(`?warehouseId=${String(first?.warehouseId).toUpperCase()}`)).to.deep.equal({
        warehouses: [first]
      })
      const most = Math.max(...expected.map(({ onHand }) => Number(onHand)))
      expect(await report(`?least=${most}`)).to.deep.equal({
        warehouses: expected.filter(({ onHand }) => Number(onHand) >= most)
      })
      expect(await report('?warehouseId=00000000-0000-4000-8000-000000000000')).to.deep.equal({ warehouses: [] })
    })

    it('is for those who manage warehouses', async () => {
      store.problem(await store.call('/reports/stock'), { status: 401, code: 'auth.required' })
      store.problem(await store.as('ada', '/reports/stock'), { status: 403, code: 'capability.denied' })
      store.problem(await store.as('admin', '/reports/stock?warehouseId=x&least=few'), {
        status: 400,
        code: 'filter.value.invalid',
        violations: ['warehouseId', 'least'].map((parameter) => ({ code: 'filter.value.invalid', parameter }))
      })
    })
  },
  { also: ['unary'], rows: 'sample' }
)
