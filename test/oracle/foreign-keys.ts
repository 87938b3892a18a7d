import type { TestDatabase } from './test-database.js'

/** Column to the table whose id it holds, as the database itself enforces it. */
export async function foreignKeys(database: TestDatabase, table: string): Promise<ReadonlyMap<string, string>> {
  const rows =
    database.kind === 'sqlite'
      ? await database.run('SELECT "from" AS name, "table" AS target FROM pragma_foreign_key_list(?)', [table])
      : await database.run(
          'SELECT COLUMN_NAME AS name, REFERENCED_TABLE_NAME AS target FROM information_schema.KEY_COLUMN_USAGE ' +
            'WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND REFERENCED_TABLE_NAME IS NOT NULL',
          [table]
        )
  return new Map(rows.map(({ name, target }) => [String(name), String(target)]))
}
