import type { Entity } from '../../data-service/entity/entity.js'
import type { Database } from '../../data-service/sql/engines/engine.js'
import { schemaOf } from '../kinds/kinds.js'
import { type LiveSchema, mayShareKeys } from '../model/live-schema.js'
import type { Finding } from './check-columns.js'

/**
 * What the rows say of keys that no index keeps apart. Reads these tables and views as a whole, which no start waits for: a read
 * that two rows of one key would make wrong notices it by itself.
 */
export async function sharedKeyFindings(
  database: Database,
  live: LiveSchema,
  entities: readonly Entity[]
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const entity of entities) {
    const table = live.tables.get(entity.table)
    if (!mayShareKeys(table, entity) || table.broken !== undefined) continue
    const columns = entity.key.map(({ column }) => column)
    if (!columns.every((name) => table.columns.some((one) => one.name === name))) continue
    const { nulls, duplicates } = await schemaOf(database).countKey(table.name, columns)
    const listed = columns.join(', ')
    const facts = [
      ...(duplicates > 0 ? [`${duplicates} of its values of ${listed} are those of several rows`] : []),
      ...(nulls > 0 ? [`${listed} is null in ${nulls} of its rows`] : [])
    ]
    if (facts.length === 0) continue
    const text =
      `${entity.name}: ${facts.join(', and ')}, so that reads which would leave a row of ${table.name} out are 500: ` +
      "name a key that tells the rows apart, or say key: 'none'"
    findings.push({ text, statements: [] })
  }
  return findings
}
