import type { Entity } from '../../data-service/entity/entity.js'
import { entities } from '../../examples/store/entities/index.js'
import type { TestDatabase } from '../oracle/test-database.js'
import { type StoredRow, tableRows } from './table-rows.js'

/** Every row with its joined properties, looked up by hand in the rows of the tables that they come from. */
export async function propertyRows(database: TestDatabase, entity: Entity): Promise<StoredRow[]> {
  const rows = await tableRows(database, entity)
  const joins = await Promise.all(
    entity.joined.map(async ({ name, through, property }) => {
      const target = entities.find((one) => one.name === through.to)
      if (target === undefined) throw new Error(`no ${through.to}`)
      const found = new Map((await tableRows(database, target)).map((row) => [row['id'], row[property] ?? null]))
      return { name, via: through.via.name, found }
    })
  )
  return rows.map((row) => ({
    ...row,
    ...Object.fromEntries(joins.map(({ name, via, found }) => [name, found.get(row[via] ?? null) ?? null]))
  }))
}
