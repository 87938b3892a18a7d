import {
  decimal,
  defineOperation,
  described,
  example,
  guid,
  int,
  list,
  long,
  optional,
  permission,
  text
} from 'uniform-rest'

/** Over two tables, which no uniform read adds up: what lies in the warehouses, and what it is worth. */
const stockReport = defineOperation({
  name: 'stock-report',
  route: 'GET /reports/stock',
  description: 'What each warehouse holds, and what it is worth at the prices of today.',
  access: permission('warehouses:manage'),
  query: {
    warehouseId: described('Only this warehouse.', example(optional(guid()), '00000000-0000-4000-8000-000000000001')),
    least: described('Only warehouses that hold at least so many pieces.', optional(long()))
  },
  answer: {
    warehouses: list({
      warehouseId: example(guid(), '00000000-0000-4000-8000-000000000001'),
      name: example(text(200), 'Ring Road'),
      products: described('How many products it holds.', example(int(), 12)),
      onHand: described('How many pieces it holds.', example(long(), '350')),
      reserved: example(long(), '25'),
      value: example(decimal(14, 2), '6965.00')
    })
  },
  async handle({ query: { warehouseId, least }, select }) {
    return {
      warehouses: await select(
        `SELECT w.id, w.name, COUNT(*), SUM(s.on_hand), SUM(s.reserved), SUM(s.on_hand * p.price)
         FROM warehouses w JOIN stock_items s ON s.warehouse_id = w.id JOIN products p ON p.id = s.product_id
         WHERE ($warehouseId IS NULL OR w.id = $warehouseId)
         GROUP BY w.id, w.name HAVING SUM(s.on_hand) >= $least ORDER BY w.id LIMIT 1000`,
        { warehouseId: [guid(), warehouseId], least: BigInt(least ?? 0) },
        {
          warehouseId: guid(),
          name: text(200),
          products: int(),
          onHand: long(),
          reserved: long(),
          value: decimal(14, 2)
        }
      )
    }
  }
})

export const operations = [stockReport]
