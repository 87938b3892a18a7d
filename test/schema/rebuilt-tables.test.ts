import { expect } from 'chai'
import { createLogger } from '../../shared/logger.js'
import { openDatabase } from '../../data-service/sql/connect.js'
import { alterColumn, createTable, sql } from '../../schema/migrations/builders.js'
import { migrateDatabase } from '../../schema/migrations/migrate.js'
import type { Step } from '../../schema/migrations/migration.js'
import { OWN } from '../harness/own-tables.js'
import { openTestDatabase } from '../oracle/test-database.js'
import { freshDatabase } from '../stack/databases.js'

const log = createLogger({ name: 'test', level: 'silent' })
const ALTERED = alterColumn('notes', (t) => t.varchar('body', 20).nullable())

/** docs/migrations.md: SQLite makes a table anew for what its ALTER TABLE cannot do. */
describe('Tables that SQLite makes anew', () => {
  /** What is wrong with the last step after the table got a column by `statement`; what its row has then. */
  async function afterwards(
    statement: string | readonly string[],
    leaves: readonly Step[] = []
  ): Promise<readonly unknown[]> {
    const fresh = await freshDatabase('sqlite')
    const database = await openDatabase(fresh.url, 4)
    const rows = await openTestDatabase(fresh.url)
    try {
      const made = createTable('notes', (t) => ({ columns: [t.int('id').autoIncrement(), t.varchar('body', 20)] }))
      const first = [
        { name: '001-notes', steps: [made] },
        { name: '002-more', steps: [sql({ sqlite: statement, mysql: [] }, leaves)] }
      ]
      await migrateDatabase(database, first, { own: OWN, log })
      await rows.run("INSERT INTO notes (body) VALUES ('a')")
      const all = [...first, { name: '003-optional', steps: [ALTERED] }]
      const failure = await migrateDatabase(database, all, { own: OWN, log }).then(
        () => 'none',
        (error: unknown) => String(error)
      )
      return [failure, await rows.run('SELECT * FROM notes')]
    } finally {
      await rows.close()
      await database.sequelize.close()
      await fresh.dispose()
    }
  }

  it('A column that no migration describes stays, and the migration stops with its name.', async () => {
    const [failure, rows] = await afterwards("ALTER TABLE notes ADD COLUMN origin TEXT NOT NULL DEFAULT 'x'")
    expect(failure).to.include('the column origin, which no migration describes')
    expect(rows).to.deep.equal([{ id: 1n, body: 'a', origin: 'x' }])
  })

  it('So does one that the database computes, whatever migrations say of it.', async () => {
    const leaves = [{ kind: 'addColumns', table: 'notes', columns: [], indexes: [], foreignKeys: [] } as const]
    const [failure] = await afterwards('ALTER TABLE notes ADD COLUMN twice TEXT AS (body || body)', leaves)
    expect(failure).to.include('the column twice')
  })

  it('A column that migrations describe is taken along.', async () => {
    const column = {
      name: 'origin',
      type: { kind: 'varchar', length: 9 },
      nullable: false,
      key: 'none',
      defaultTo: 'x'
    } as const
    const leaves = [{ kind: 'addColumns', table: 'notes', columns: [column], indexes: [], foreignKeys: [] } as const]
    expect(await afterwards("ALTER TABLE notes ADD COLUMN origin TEXT NOT NULL DEFAULT 'x'", leaves)).to.deep.equal([
      'none',
      [{ id: 1n, body: 'a', origin: 'x' }]
    ])
  })

  it('A default that is an expression would become a value, so the migration stops.', async () => {
    const column = {
      name: 'made',
      type: { kind: 'varchar', length: 30 },
      nullable: false,
      key: 'none',
      defaultTo: ''
    } as const
    const leaves = [{ kind: 'addColumns', table: 'notes', columns: [column], indexes: [], foreignKeys: [] } as const]
    const statement = [
      'ALTER TABLE notes RENAME TO notes_before',
      "CREATE TABLE notes (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL, made TEXT NOT NULL DEFAULT (date('now')))",
      'DROP TABLE notes_before'
    ]
    const [failure] = await afterwards(statement, leaves)
    expect(failure).to.include('the default of made, which the database computes')
  })
})
