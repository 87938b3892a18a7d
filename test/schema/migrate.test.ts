import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import pino from 'pino'
import { QueryTypes } from 'sequelize'
import { readOnly, text } from '../../data-service/entity/fields/words.js'
import { checkSchema } from '../../schema/check/check-schema.js'
import { ownTableNames, RECORD } from '../../data-service/sql/engines/own-tables.js'
import { engineMigrations } from '../../schema/migrations/engine-tables.js'
import { migrateDatabase } from '../../schema/migrations/migrate.js'
import { entities, OWN } from '../harness/own-tables.js'
import { primaryMigrations } from '../harness/primary-migrations.js'
import { secondMigrations } from '../../examples/store/schema/reviews.js'
import { eachDatabase } from '../harness/database.js'
import { isSoak } from '../harness/in-soak.js'
import { outputRoot } from '../harness/package-root.js'
import { startProcess } from '../stack/service-process.js'
import { type FreshStores, freshStores } from './fresh-stores.js'

/** The migrations that version 0.1.0 had run on the primary database, in its order. */
const OF_0_1_0: readonly string[] = [
  '001-categories',
  '002-products',
  '003-customers',
  '004-orders',
  '005-idempotency-keys',
  '006-audit-entries',
  '007-accounts',
  '008-sessions',
  '010-coupons',
  '011-returns',
  '012-invoices',
  '013-suppliers',
  '014-purchase-orders',
  '015-warehouses',
  '016-stock-items',
  '020-venues',
  '021-events',
  '022-speakers',
  '023-tickets',
  '024-bookmarks',
  '025-subscriptions',
  '026-shopping-carts',
  '030-audit-request-id',
  '033-look-up-guards',
  '034-family-refs'
]

const VERSION = "X'0102030405060708'"

async function rejection(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  }
  return 'none'
}

eachDatabase((kind) => {
  describe(`migrations on ${kind}`, () => {
    let stores: FreshStores
    const run = (sql: string): Promise<unknown> => stores.primary.query(sql)
    const select = (sql: string): Promise<object[]> => stores.primary.query(sql, { type: QueryTypes.SELECT })
    const addCategory = (name: string): Promise<unknown> =>
      run(`INSERT INTO categories (name, slug, row_version) VALUES ('${name}', '${name}', ${VERSION})`)
    const catalogue = async (): Promise<object[]> =>
      kind === 'sqlite'
        ? await select('SELECT name, sql FROM sqlite_master ORDER BY name')
        : [
            ...(await select(
              `SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, COLLATION_NAME FROM information_schema.COLUMNS
              WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1, 2`
            )),
            ...(await select(
              `SELECT TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, COLLATION FROM information_schema.STATISTICS
              WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1, 2, 3`
            ))
          ]

    before(async () => {
      stores = await freshStores(kind)
      await stores.migrate()
    })
    after(() => stores.dispose())

    it('make the tables that the entities need', async () => {
      expect(
        await rejection(checkSchema(stores.databases.primary, { store: 'primary', setting: 'DATABASE_URL' }, entities)),
        'primary'
      ).to.equal('none')
      expect(
        await rejection(
          checkSchema(stores.databases.second, { store: 'second', setting: 'REVIEWS_DATABASE_URL' }, entities)
        ),
        'second'
      ).to.equal('none')
    })

    it('change nothing the second time', async () => {
      const first = await catalogue()
      await stores.migrate()
      expect(await catalogue()).to.deep.equal(first)
      expect(await select('SELECT name FROM ur_schema_migrations ORDER BY name')).to.deep.equal(
        primaryMigrations.map(({ name }) => ({ name })).toSorted((a, b) => (a.name < b.name ? -1 : 1))
      )
    })

    it('run again from their start after they were cut off', async () => {
      const first = await catalogue()
      for (const [name, last] of [
        ['004-orders', 'order_lines'],
        ['011-returns', 'return_lines']
      ]) {
        // As a process that ends in the middle leaves it: begun, and not run.
        await run(`UPDATE ur_schema_migrations SET name = '>${name}' WHERE name = '${name}'`)
        await run(`DROP TABLE ${last}`)
      }
      // Later migrations add a column to one of these tables, and drop indexes of them.
      await run("DELETE FROM ur_schema_migrations WHERE name IN ('042-unit-costs', '057-one-index')")
      await stores.migrate()
      expect(await catalogue()).to.have.deep.members(first)
    })

    it('add a column to a table that has rows, and again after they were cut off', async () => {
      const first = await catalogue()
      await run('DELETE FROM ur_audit_entries')
      // The database as the version before the column left it.
      await run(`DROP INDEX ur_audit_entries_request_id${kind === 'sqlite' ? '' : ' ON ur_audit_entries'}`)
      await run('ALTER TABLE ur_audit_entries DROP COLUMN request_id')
      await run(
        `INSERT INTO ur_audit_entries (at, subject, resource, row_id, action, row_version)
        VALUES ('2026-01-31 08:00:00.000', 's', 'r', '1', 'create', ${VERSION})`
      )
      await run("DELETE FROM ur_schema_migrations WHERE name = '030-audit-request-id'")
      expect(
        await rejection(checkSchema(stores.databases.primary, { store: 'primary', setting: 'DATABASE_URL' }, entities))
      ).to.include(
        'audit-entries: the table ur_audit_entries has no column request_id for `requestId`; a new migration must add it'
      )
      for (const _ of ['the first time', 'cut off before it was recorded']) {
        await stores.migrate()
        await run("DELETE FROM ur_schema_migrations WHERE name = '030-audit-request-id'")
      }
      await stores.migrate()
      const normal = (rows: object[]): string[] =>
        rows.map((row) => JSON.stringify(row).replaceAll(/\s|NULL/g, '')).toSorted()
      if (kind !== 'sqlite') expect(normal(await catalogue())).to.deep.equal(normal(first))
      await checkSchema(stores.databases.primary, { store: 'primary', setting: 'DATABASE_URL' }, entities)
      expect(await select('SELECT action, request_id FROM ur_audit_entries')).to.deep.equal([
        { action: 'create', request_id: null }
      ])
    })

    it('keep strings unique whatever the letter case, but not without accents or trailing spaces', async () => {
      await addCategory('Case')
      expect(await rejection(addCategory('cASE'))).to.match(/UniqueConstraint/)
      await addCategory('Casé')
      expect(await rejection(addCategory('CASÉ'))).to.match(/UniqueConstraint/)
      await addCategory('case ')
    })

    it('never give an id twice', async () => {
      await addCategory('first')
      const [first] = await select('SELECT MAX(id) AS id FROM categories')
      await run("DELETE FROM categories WHERE name = 'first'")
      await addCategory('after it')
      const [next] = await select('SELECT MAX(id) AS id FROM categories')
      expect(next).to.not.deep.equal(first)
    })

    it('reject a row without a version', async () => {
      const insert = "INSERT INTO categories (name, slug, row_version) VALUES ('none', 'none', NULL)"
      expect(await rejection(run(insert))).to.not.equal('none')
    })

    it('delete children with their root and refuse to delete what is referred to', async () => {
      await addCategory('parent')
      await run(
        `INSERT INTO products (name, sku, category_id, price, is_active, row_version)
        SELECT 'p', 'p', id, 100, 1, ${VERSION} FROM categories WHERE name = 'parent'`
      )
      await run(
        `INSERT INTO product_variants (product_id, name, sku, price, stock, row_version)
        SELECT id, 'v', 'v', 100, 1, ${VERSION} FROM products`
      )
      const rejected = await rejection(run("DELETE FROM categories WHERE name = 'parent'"))
      expect(rejected).to.match(/foreign key/i)
      await run('DELETE FROM products')
      expect(await select('SELECT id FROM product_variants')).to.deep.equal([])
    })
  })

  describe(`a database of version 0.1.0 on ${kind}`, () => {
    it('is taken over as it is: what has run is not run again', async () => {
      const stores = await freshStores(kind)
      try {
        const byName = new Map(primaryMigrations.map((migration) => [migration.name, migration]))
        const before = OF_0_1_0.map((name) => byName.get(name)).filter((migration) => migration !== undefined)
        expect(before).to.have.length(OF_0_1_0.length)
        const lines: string[] = []
        const log = pino({}, { write: (line) => lines.push(line) })
        await migrateDatabase(stores.databases.primary, before, { own: OWN, log })
        expect(lines.filter((line) => line.includes('Migrated'))).to.have.length(OF_0_1_0.length)
        lines.length = 0
        await migrateDatabase(stores.databases.primary, primaryMigrations, { own: OWN, log })
        const later = primaryMigrations.map(({ name }) => name).filter((name) => !OF_0_1_0.includes(name))
        expect(lines.map((line) => /"migration":"([^"]+)"/.exec(line)?.[1])).to.deep.equal(later)
      } finally {
        await stores.dispose()
      }
    })
  })

  describe(`statuses on ${kind}`, () => {
    it('become words where every row has one, in columns that the version before takes for texts', async () => {
      const stores = await freshStores(kind)
      const { primary } = stores.databases
      const run = (sql: string): Promise<unknown> => stores.primary.query(sql)
      const status = async (): Promise<unknown> =>
        stores.primary.query('SELECT status FROM events', { type: QueryTypes.SELECT })
      const log = pino({ level: 'silent' })
      try {
        const at = primaryMigrations.findIndex(({ name }) => name === '058-statuses-are-words')
        await migrateDatabase(primary, primaryMigrations.slice(0, at), { own: OWN, log })
        await run(
          `INSERT INTO venues (name, city, capacity, is_open, row_version) VALUES ('Hall', 'Ulm', 9, 1, ${VERSION})`
        )
        await run(
          'INSERT INTO events (title, starts_at, ends_at, venue_id, status, row_version) ' +
            `VALUES ('Fair', '2030-01-01', '2030-01-02', 1, 'Draft', ${VERSION})`
        )
        const stopped = await rejection(migrateDatabase(primary, primaryMigrations, { own: OWN, log }))
        expect(stopped).to.include(
          'The row 1 of events has the status "Draft", which is none of draft, scheduled, cancelled.'
        )
        expect(await status()).to.deep.equal([{ status: 'Draft' }])
        await run("UPDATE events SET status = 'draft'")
        await migrateDatabase(primary, primaryMigrations, { own: OWN, log })
        const before = entities.map((entity) => {
          const columns = entity.columns.map((one) =>
            one.name === 'status' && one.field.type === 'enum' ? { ...one, field: readOnly(text(32)) } : one
          )
          return { ...entity, columns }
        })
        expect(before).to.not.deep.equal(entities)
        await checkSchema(primary, { store: 'primary', setting: 'DATABASE_URL' }, before)
        await checkSchema(primary, { store: 'primary', setting: 'DATABASE_URL' }, entities)
        await run("UPDATE events SET status = 'scheduled'")
        expect(await status()).to.deep.equal([{ status: 'scheduled' }])
        if (kind === 'mysql') {
          expect(await rejection(run("UPDATE events SET status = 'postponed'"))).to.match(/constraint/i)
        }
      } finally {
        await stores.dispose()
      }
    })
  })

  describe(`the engine's own tables on ${kind}`, () => {
    it('are those that are known by name, with their prefix', async () => {
      const stores = await freshStores(kind)
      try {
        await migrateDatabase(stores.databases.primary, engineMigrations(OWN), {
          own: OWN,
          log: pino({ enabled: false })
        })
        const rows = await stores.primary.query<{ name: string }>(
          kind === 'sqlite'
            ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
            : 'SELECT TABLE_NAME AS name FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()',
          { type: QueryTypes.SELECT }
        )
        const made = rows.map(({ name }) => name)
        // An engine that knows no clusters has no guards.
        const known = [...ownTableNames(), RECORD].map((name) => `ur_${name}`)
        const own = known.filter((name) => kind !== 'sqlite' || name !== 'ur_look_up_guards')
        expect(made).to.have.members(own)
      } finally {
        await stores.dispose()
      }
    })
  })

  // In `npm test` test/keyed/keyed.test.ts starts two data services at the same moment in an empty database.
  if (isSoak)
    describe(`processes that start at the same moment on ${kind}`, () => {
      it('migrate and load the sample store once between them', async () => {
        const stores = await freshStores(kind)
        const DATA_DIR = await mkdtemp(join(tmpdir(), 'data-'))
        try {
          const started = [1, 2].map(() =>
            startProcess(['sample', '--app', join(outputRoot, 'examples/store')], {
              ...stores.urls,
              DATA_DIR,
              MIGRATE_AT_START: 'true'
            })
          )
          expect(await Promise.all(started.map(({ ended }) => ended))).to.deep.equal([0, 0])
          const migrations = primaryMigrations.length + secondMigrations.length
          const messages = started.flatMap((process) =>
            process.logs().flatMap(({ msg }) => (typeof msg === 'string' ? [msg] : []))
          )
          expect(messages.toSorted()).to.deep.equal([
            'Loaded the sample rows',
            ...Array<string>(migrations).fill('Migrated')
          ])
          const counted = await stores.primary.query<{ count: unknown }>('SELECT COUNT(*) AS count FROM products', {
            type: QueryTypes.SELECT
          })
          expect(counted.map(({ count }) => Number(count))).to.deep.equal([2000])
        } finally {
          await stores.dispose()
          await rm(DATA_DIR, { recursive: true })
        }
      })
    })
})
