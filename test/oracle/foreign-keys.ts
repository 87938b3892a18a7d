import type { TestDatabase } from './test-database.js'

/** A column of another table. */
export interface ReferredColumn {
  readonly table: string
  /** undefined: that of its key. */
  readonly column: string | undefined
}

/** Column to the column whose values it holds, as the database itself enforces it. */
export async function foreignKeys(database: TestDatabase, table: string): Promise<ReadonlyMap<string, ReferredColumn>> {
  const rows =
    database.kind === 'sqlite'
      ? await database.run(
          'SELECT "from" AS name, "table" AS target, "to" AS referred FROM pragma_foreign_key_list(?)',
          [table]
        )
      : await database.run(
          'SELECT COLUMN_NAME AS name, REFERENCED_TABLE_NAME AS target, REFERENCED_COLUMN_NAME AS referred ' +
            'FROM information_schema.KEY_COLUMN_USAGE ' +
            'WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND REFERENCED_TABLE_NAME IS NOT NULL',
          [table]
        )
  return new Map(
    rows.map(({ name, target, referred }) => [
      String(name),
      { table: String(target), column: referred === null ? undefined : String(referred) }
    ])
  )
}
