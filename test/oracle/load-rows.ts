import type { OracleResource } from './resource.js'
import { withTestDatabase } from './test-database.js'
import { wireValue, type WireValue } from './wire-value.js'

export type OracleRow = Readonly<Record<string, WireValue>>

/** Every row of a resource as its wire values, in order of id. */
export async function loadRows(url: string, resource: OracleResource): Promise<OracleRow[]> {
  const columns = resource.properties.map(({ name, sql }) => `${sql} AS ${name}`).join(', ')
  const rows = await withTestDatabase(url, (database) =>
    database.run(`SELECT ${columns} FROM ${resource.from} ORDER BY t.id`)
  )
  return rows.map((row) =>
    Object.fromEntries(
      resource.properties.map((property) => [property.name, wireValue(property, row[property.name] ?? null)])
    )
  )
}
