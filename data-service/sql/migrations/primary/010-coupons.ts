import { bool, dateTime, int, optional, text, unique } from '../../../entity/field.js'
import { createTables } from '../create-tables.js'
import type { Migration } from '../migration.js'
import { table } from '../table.js'

export const createCoupons: Migration = {
  name: '010-coupons',
  up: createTables(
    table('coupons', {
      columns: {
        id: int(),
        code: unique(text(64)),
        percent: int(),
        startsAt: dateTime(),
        endsAt: optional(dateTime()),
        isActive: bool()
      },
      sorted: ['code', 'percent', 'startsAt', 'endsAt', 'isActive']
    })
  )
}
