import type { Entity } from '../../data-service/entity/entity.js'
import { entities } from '../../examples/store/entities/index.js'
import type { TestDatabase } from '../oracle/test-database.js'
import type { WireValue } from '../oracle/wire-value.js'
import { type StoredRow, tableRows } from './table-rows.js'

/** Every row with its joined properties, looked up by hand in the rows of the tables that they come from. */
export async function propertyRows(database: TestDatabase, entity: Entity): Promise<StoredRow[]> {
  const rows = await tableRows(database, entity)
  const joins = await Promise.all(
    entity.joined.map(async ({ name, through, further, property }) => {
      // From the last step to the first: what a row of each resource on the way shows.
      const targets = [entityNamed(through.to)]
      const keys: string[] = []
      for (const step of further) {
        const reference = targets.at(-1)?.references.find((one) => one.name === step)
        if (reference === undefined) throw new Error(`no ${step}`)
        keys.push(reference.via.name)
        targets.push(entityNamed(reference.to))
      }
      let found = new Map<WireValue, WireValue>()
      for (const [at, target] of targets.toReversed().entries()) {
        const key = keys.toReversed()[at - 1]
        const valueOf = (row: StoredRow): WireValue =>
          key === undefined ? (row[property] ?? null) : (found.get(row[key] ?? null) ?? null)
        found = new Map((await tableRows(database, target)).map((row) => [row['id'] ?? null, valueOf(row)]))
      }
      return { name, via: through.via.name, found }
    })
  )
  return rows.map((row) => ({
    ...row,
    ...Object.fromEntries(joins.map(({ name, via, found }) => [name, found.get(row[via] ?? null) ?? null]))
  }))
}

function entityNamed(name: string): Entity {
  const found = entities.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no ${name}`)
  return found
}
