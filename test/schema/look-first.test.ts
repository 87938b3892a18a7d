import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { defineEntity } from '../../data-service/entity/define-entity.js'
import { everyone } from '../../data-service/entity/access.js'
import { int, readOnly, text } from '../../data-service/entity/fields/words.js'
import { connect } from '../../data-service/sql/connect.js'
import type { Database } from '../../data-service/sql/engines/engine.js'
import type { OwnNames } from '../../data-service/sql/engines/own-tables.js'
import { addColumns, addIndexes, createTable, renameTable, sql } from '../../schema/migrations/builders.js'
import { engineMigrations } from '../../schema/migrations/engine-tables.js'
import { schemaOf } from '../../schema/kinds/kinds.js'
import { findOwnTables, ownTableMistakes, withOwnTables } from '../../schema/migrations/find-own-tables.js'
import { type Allowed, NOTHING_NAMED, readRecord } from '../../schema/migrations/look-first.js'
import { migrateDatabase } from '../../schema/migrations/migrate.js'
import { type Migration, schemaAfter } from '../../schema/migrations/migration.js'
import { createLogger } from '../../shared/logger.js'
import { bytesOf, dumpOf, partOf } from '../harness/dump.js'
import { eachDatabase } from '../harness/database.js'
import { OWN, UNPREFIXED } from '../harness/own-tables.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { type FreshDatabase, freshDatabase } from '../stack/databases.js'

const log = createLogger({ name: 'test', level: 'silent' })
const SETTING: OwnNames = { schema: undefined, prefix: 'ur_' }

const customers = createTable('customers', (t) => ({
  columns: [t.int('id').autoIncrement(), t.varchar('name', 40)]
}))
const baseline: Migration = { name: '001-shop', baseline: true, steps: [customers] }
const notes = createTable('notes', (t) => ({ columns: [t.int('id').autoIncrement(), t.int('customer_id')] }))
const referring = createTable('notes', (t) => ({
  columns: [t.int('id').autoIncrement(), t.int('customer_id')],
  foreignKeys: [{ column: 'customer_id', references: 'customers.id', onDelete: 'cascade' }]
}))

/** The records of other tools, which all call their table the same. */
const OTHER_TOOLS: Readonly<Record<string, readonly string[]>> = {
  Rails: [
    'CREATE TABLE schema_migrations (version VARCHAR(100) NOT NULL PRIMARY KEY)',
    "INSERT INTO schema_migrations VALUES ('20260101000000')"
  ],
  'golang-migrate': [
    'CREATE TABLE schema_migrations (version BIGINT NOT NULL PRIMARY KEY, dirty BOOLEAN NOT NULL)',
    'INSERT INTO schema_migrations VALUES (7, 0)'
  ],
  'a tool with names': [
    'CREATE TABLE schema_migrations (name VARCHAR(100) NOT NULL PRIMARY KEY)',
    "INSERT INTO schema_migrations VALUES ('001_create_accounts.sql')"
  ],
  'a tool with names, and no row yet': ['CREATE TABLE schema_migrations (name VARCHAR(100) NOT NULL PRIMARY KEY)']
}

eachDatabase((kind) => {
  describe(`migrations in a database that belongs to somebody, on ${kind}`, () => {
    let fresh: FreshDatabase
    let database: Database
    let name = ''
    beforeEach(async () => {
      fresh = await freshDatabase(kind)
      database = connect(fresh.url)
      name = database.name
    })
    afterEach(async () => {
      await database.sequelize.close()
      await fresh.dispose()
    })

    const byHand = (...statements: readonly string[]): Promise<void> =>
      withTestDatabase(fresh.url, async ({ run }) => {
        for (const one of statements) await run(one)
      })
    const shop = (): Promise<void> =>
      byHand(
        `CREATE TABLE customers (id ${kind === 'sqlite' ? 'INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT' : 'INT NOT NULL AUTO_INCREMENT PRIMARY KEY'}, name VARCHAR(40) NOT NULL)`,
        "INSERT INTO customers (name) VALUES ('Ada')",
        'CREATE VIEW names AS SELECT name FROM customers'
      )
    const run = async (own: readonly Migration[], allowed: Allowed = NOTHING_NAMED, setting = SETTING) => {
      const tables = await findOwnTables(database, setting, own)
      return migrateDatabase(database, [...engineMigrations(tables), ...own], { own: tables, log, allowed })
    }
    /** The message of a run that must stop and change nothing. */
    const stopped = async (own: readonly Migration[], allowed?: Allowed, setting?: OwnNames): Promise<string> => {
      const before = await bytesOf(fresh.url)
      const error: unknown = await run(own, allowed, setting).then(
        () => undefined,
        (reason: unknown) => reason
      )
      expect(await bytesOf(fresh.url), 'nothing is changed').to.equal(before)
      if (!(error instanceof Error)) throw new Error('It did not stop')
      expect(error.name, error.stack ?? '').to.equal('StartError')
      return error.message
    }
    const among = (): Allowed => ({ among: [name], mayAlter: [] })

    it('begin in an empty one without a word', async () => {
      expect(await run([{ name: '001-notes', steps: [notes] }])).to.have.length(engineMigrations(OWN).length + 1)
    })

    it('stop before the first table among tables of others, and go on once the database is named', async () => {
      await shop()
      const before = await dumpOf(fresh.url)
      const message = await stopped([])
      expect(message).to.include(`the database ${name} holds 2 tables of others (customers, names)`)
      expect(message).to.include('ur_accounts').and.include(`uniform-rest migrate --among-tables-of ${name}`)
      expect(await stopped([], { among: ['another'], mayAlter: ['customers'] })).to.include('--among-tables-of')
      await run([], among())
      expect(partOf(await dumpOf(fresh.url), before)).to.deep.equal(before)
      // The record is ours from then on: later tables take no word.
      await run([{ name: '001-notes', steps: [notes] }])
    })

    it('run a baseline in an empty database, and record it where its tables stand', async () => {
      await shop()
      const before = await dumpOf(fresh.url)
      await run([baseline], among())
      expect(partOf(await dumpOf(fresh.url), before)).to.deep.equal(before)
      const { applied, takenOver } = await readRecord(database, OWN)
      expect([applied.has('001-shop'), takenOver.has('001-shop')]).to.deep.equal([true, true])
      const other = await freshDatabase(kind)
      const empty = connect(other.url)
      try {
        await migrateDatabase(empty, [baseline], { own: OWN, log })
        expect(await dumpOf(other.url)).to.have.property('customers')
        expect((await readRecord(empty, OWN)).takenOver.size).to.equal(0)
        await migrateDatabase(
          empty,
          [baseline, { name: '002', steps: [addIndexes('customers', (t) => [t.index('name')])] }],
          {
            own: OWN,
            log
          }
        )
      } finally {
        await empty.sequelize.close()
        await other.dispose()
      }
    })

    it('stop where a baseline describes more than stands there', async () => {
      await shop()
      expect(await stopped([{ ...baseline, steps: [customers, notes] }], among())).to.match(
        /baseline 001-shop describes tables that are there, and notes, which is not/
      )
      const wider = createTable('customers', (t) => ({
        columns: [t.int('id').autoIncrement(), t.varchar('name', 40), t.int('age').nullable()]
      }))
      expect(await stopped([{ ...baseline, steps: [wider] }], among())).to.match(
        /customers with age, .* no such column/
      )
    })

    it('alter a table of a baseline once it is named, at each run anew', async () => {
      await shop()
      await run([baseline], among())
      const wider = (column: string): Migration => ({
        name: `002-${column}`,
        steps: [addColumns('customers', (t) => ({ columns: [t.int(column).nullable()] }))]
      })
      const message = await stopped([baseline, wider('age')])
      expect(message).to.include('002-age alters the table customers, which no migration made')
      expect(message).to.include('uniform-rest migrate --may-alter customers')
      await run([baseline, wider('age')], { among: [], mayAlter: ['customers'] })
      expect(await stopped([baseline, wider('age'), wider('size')])).to.include('--may-alter customers')
    })

    it('refer to a table of others once it is named', async () => {
      await shop()
      const own = [baseline, { name: '002-notes', steps: [referring] }]
      const message = await stopped(own, among())
      expect(message).to.include('002-notes makes the foreign key notes_customer_id_fk to the table customers')
      expect(message).to.include('uniform-rest migrate --may-alter customers')
      await run(own, { among: [name], mayAlter: ['customers'] })
    })

    it('make no table that stands there, nor one where a view stands', async () => {
      await shop()
      const own = { name: '001-shop', steps: [customers] }
      expect(await stopped([own], among())).to.match(/makes the table customers, which stands there already.*baseline/)
      const view = {
        name: '001-names',
        steps: [createTable('names', (t) => ({ columns: [t.int('id').primaryKey()] }))]
      }
      const message = await stopped([view], { among: [name], mayAlter: ['names'] })
      expect(message).to.include('a view of this name stands there').and.not.include('say it by name')
      const renamed = { name: '001-notes', steps: [notes, renameTable('notes', 'customers')] }
      expect(await stopped([renamed], among())).to.include('gives a table the name customers, which another has')
      const before = await dumpOf(fresh.url)
      await run([own], { among: [name], mayAlter: ['customers'] })
      expect(partOf(await dumpOf(fresh.url), before)).to.deep.equal(before)
    })

    for (const statement of [
      'ALTER TABLE customers ADD COLUMN age INT',
      'CREATE INDEX by_name ON `customers` (name)',
      'DROP TABLE IF EXISTS customers',
      'CREATE TABLE IF NOT EXISTS customers (id INT)',
      'CREATE TABLE visits (customer_id INT REFERENCES customers (id))'
    ]) {
      it(`stop before the statement ${statement}`, async () => {
        await shop()
        const own = { name: '001-own', steps: [sql({ sqlite: statement, mysql: statement })] }
        expect(await stopped([own], among())).to.include('no migration made the table customers')
      })
    }

    for (const [of, make] of [
      ['table', 'CREATE TABLE ur_accounts (id INT)'],
      ['view', 'CREATE VIEW ur_accounts AS SELECT name FROM customers']
    ] as const) {
      it(`stop where a ${of} has the name of one of the engine's, and go on with another prefix`, async () => {
        await shop()
        await byHand(make)
        const message = await stopped([], among())
        expect(message).to.match(/007-accounts makes the table ur_accounts of the engine, and (a view|another table)/)
        expect(message).to.include('ENGINE_TABLE_PREFIX, such as rest_').and.not.include('say it by name')
        const before = await dumpOf(fresh.url)
        await run([], among(), { schema: undefined, prefix: 'rest_' })
        const after = await dumpOf(fresh.url)
        expect(partOf(after, before)).to.deep.equal(before)
        expect(Object.keys(after)).to.include('rest_accounts').and.not.include('ur_outbox')
      })
    }

    it('stop where the record of the prefix is of another shape', async () => {
      await byHand('CREATE TABLE ur_schema_migrations (version INT)')
      expect(await stopped([])).to.match(/a table ur_schema_migrations stands there.*ENGINE_TABLE_PREFIX=rest_/s)
    })

    for (const [tool, statements] of Object.entries(OTHER_TOOLS)) {
      it(`leave the record of ${tool} alone, and tables with names of the engine's`, async () => {
        await byHand(
          ...statements,
          'CREATE TABLE accounts (id INT)',
          'CREATE TABLE outbox (id INT)',
          'CREATE TABLE sessions (id INT)'
        )
        const before = await dumpOf(fresh.url)
        await run([baseline], among())
        const after = await dumpOf(fresh.url)
        expect(partOf(after, before)).to.deep.equal(before)
        expect(Object.keys(after)).to.include.members(['ur_accounts', 'ur_outbox', 'customers'])
        expect(await findOwnTables(database, SETTING, [baseline])).to.include({ prefix: 'ur_' })
      })
    }

    it('stop where another application has its tables of the engine, and make their own beside them under another prefix', async () => {
      const first = { name: '001-notes', steps: [notes] }
      const second = {
        name: '001-shop',
        steps: [createTable('orders', (t) => ({ columns: [t.int('id').primaryKey()] }))]
      }
      await run([first])
      const before = await dumpOf(fresh.url)
      const message = await stopped([second], among())
      expect(message).to.include(
        'ur_schema_migrations is the record of another application: it names 001-notes, and no migration'
      )
      expect(message).to.include('ENGINE_TABLE_PREFIX=rest_')
      const other = { schema: undefined, prefix: 'rest_' }
      await run([second], among(), other)
      const after = await dumpOf(fresh.url)
      expect(partOf(after, before)).to.deep.equal(before)
      expect(Object.keys(after)).to.include.members(['ur_accounts', 'rest_accounts', 'notes', 'orders'])
      // Later and earlier versions of either go on.
      const later = { name: '002-more', steps: [addIndexes('notes', (t) => [t.index('id desc')])] }
      expect(await run([first, later])).to.deep.equal(['002-more'])
      expect(await run([first])).to.deep.equal([])
      expect(await run([second], undefined, other)).to.deep.equal([])
      expect(await run([])).to.deep.equal([])
    })

    it('leave the tables of another application of an earlier version alone, whatever these are called', async () => {
      const first = { name: '001-notes', steps: [notes] }
      await migrateDatabase(database, [...engineMigrations(UNPREFIXED), first], { own: UNPREFIXED, log })
      const before = await dumpOf(fresh.url)
      const second = {
        name: '001-shop',
        steps: [createTable('orders', (t) => ({ columns: [t.int('id').primaryKey()] }))]
      }
      expect(await stopped([second])).to.include('--among-tables-of')
      await run([second], among())
      const after = await dumpOf(fresh.url)
      expect(partOf(after, before)).to.deep.equal(before)
      expect(Object.keys(after)).to.include.members(['accounts', 'ur_accounts', 'orders'])
      expect(await run([first])).to.deep.equal([])
    })

    it('keep the names of a database that an earlier version made, whatever the setting says', async () => {
      await migrateDatabase(database, engineMigrations(UNPREFIXED), { own: UNPREFIXED, log })
      for (const prefix of ['ur_', 'rest_']) {
        expect(await findOwnTables(database, { schema: undefined, prefix }, [])).to.include({ prefix: '' })
      }
      expect(await run([{ name: '001-notes', steps: [notes] }])).to.deep.equal(['001-notes'])
      expect(Object.keys(await dumpOf(fresh.url)).filter((table) => table.startsWith('ur_'))).to.deep.equal([])
      const entity = (table: string) =>
        defineEntity({
          name: 'people',
          table,
          description: 'Of a test.',
          fields: { id: readOnly(int()), name: text(9) },
          label: 'name',
          filterable: [],
          sortable: [],
          access: { read: everyone }
        })
      expect(ownTableMistakes([entity('accounts')], UNPREFIXED)).to.have.length(1)
      expect(ownTableMistakes([entity('accounts')], OWN)).to.deep.equal([])
      expect(ownTableMistakes([entity('ur_accounts')], OWN)).to.have.length(1)
    })

    it('stop where tables of an earlier version are gone or are not ours, and where there are two records', async () => {
      await migrateDatabase(database, engineMigrations(UNPREFIXED), { own: UNPREFIXED, log })
      await byHand('DROP TABLE outbox', 'CREATE TABLE outbox (id INT)')
      expect(await stopped([])).to.match(/054-outbox has run, and outbox has no column event_id/)
      await byHand('DROP TABLE outbox')
      expect(await stopped([])).to.match(/there is no table outbox.*Restore/)
      const other = await freshDatabase(kind)
      const both = connect(other.url)
      try {
        for (const own of [UNPREFIXED, OWN]) {
          await migrateDatabase(both, engineMigrations(own), {
            own,
            log,
            allowed: { among: [both.name], mayAlter: [] }
          })
        }
        const error = await findOwnTables(both, SETTING, []).catch(String)
        expect(error).to.include('there are two records of migrations, schema_migrations of an earlier version and ur_')
      } finally {
        await both.sequelize.close()
        await other.dispose()
      }
    })

    if (kind === 'mysql') {
      it('stop before the first statement where the account lacks a right that any of them takes', async () => {
        const rights = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'CREATE', 'ALTER', 'DROP', 'INDEX', 'REFERENCES']
        const user = `lacking_${randomBytes(4).toString('hex')}`
        const url = Object.assign(new URL(fresh.url), { username: user, password: 'lacking' })
        await byHand(`CREATE USER '${user}'@'%' IDENTIFIED BY 'lacking'`)
        const limited = connect(url.href)
        try {
          for (const [statement, needed] of [
            ['CREATE TABLE a (id INT)', ['CREATE']],
            ['CREATE TABLE a (id INT, FOREIGN KEY (id) REFERENCES b (id))', ['CREATE', 'REFERENCES']],
            ['DROP TABLE a', ['DROP']],
            ['ALTER TABLE a ADD b INT', ['ALTER', 'CREATE', 'INSERT']],
            ['ALTER TABLE a RENAME TO b', ['ALTER', 'CREATE', 'INSERT', 'DROP']],
            ['ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES c (id)', ['ALTER', 'CREATE', 'INSERT', 'REFERENCES']]
          ] as const) {
            const lacked: string[] = []
            for (const right of rights) {
              await byHand(
                `GRANT ${rights.join()} ON \`${name}\`.* TO '${user}'@'%'`,
                `REVOKE ${right} ON \`${name}\`.* FROM '${user}'@'%'`
              )
              if ((await schemaOf(limited).missingRights([statement], OWN)) !== undefined) lacked.push(right)
            }
            expect(lacked, statement).to.have.members(needed)
          }
        } finally {
          await limited.sequelize.close()
          await byHand(`DROP USER '${user}'@'%'`)
        }
      })
    }

    it('take what an interrupted run left for theirs, and nothing else', async () => {
      const broken: Migration = { name: '001-notes', steps: [notes, sql({ sqlite: 'NO', mysql: 'NO' })] }
      expect(await run([broken]).catch(() => 'broken')).to.equal('broken')
      expect(await run([{ name: '001-notes', steps: [notes] }])).to.include('001-notes')
    })

    it('run a baseline to its end that was interrupted in an empty database, and do not record it for its tables', async () => {
      const broken: Migration = { ...baseline, steps: [customers, sql({ sqlite: 'NO', mysql: 'NO' })] }
      expect(await run([broken]).catch(() => 'broken')).to.equal('broken')
      expect(await run([{ ...baseline, steps: [customers, notes] }])).to.include('001-shop')
      expect(await dumpOf(fresh.url)).to.include.all.keys('customers', 'notes')
      expect((await readRecord(database, OWN)).takenOver.size).to.equal(0)
    })
  })
})

describe('the table audit_entries of an entity', () => {
  const entity = defineEntity({
    name: 'audit-entries',
    description: 'Of a test.',
    fields: { id: readOnly(int()), name: text(9) },
    label: 'name',
    filterable: [],
    sortable: [],
    access: { read: everyone }
  })
  const tables = (...migrations: readonly Migration[]) =>
    withOwnTables({ entities: [entity], migrations }, OWN).map(({ table }) => table)

  it("is the engine's, whatever prefix it has, unless a migration of the application makes one", () => {
    expect(tables(baseline)).to.deep.equal(['ur_audit_entries'])
    const own = createTable('audit_entries', (t) => ({ columns: [t.int('id').autoIncrement(), t.varchar('name', 9)] }))
    const made = { name: '002-entries', baseline: true, steps: [own] }
    expect(tables(baseline, made)).to.deep.equal(['audit_entries'])
    const schema = schemaAfter([
      ...engineMigrations(OWN),
      made,
      { name: '003', steps: [addIndexes('audit_entries', (t) => [t.index('name')])] }
    ])
    expect(schema.get('audit_entries')?.indexes).to.have.length(1)
  })

  it('is known to migrations of the application by the name without a prefix', () => {
    const more = { name: '001', steps: [addIndexes('audit_entries', (t) => [t.index('resource', 'at desc')])] }
    const indexes = schemaAfter([...engineMigrations(OWN), more]).get('ur_audit_entries')?.indexes ?? []
    expect(indexes.map(({ name }) => name)).to.include('audit_entries_resource_at_desc')
  })
})

describe('migrations with the tables of the engine in another database of the server', () => {
  it('need no word for it, and one for tables among those of others', async () => {
    const [rows, engine] = [await freshDatabase('mysql'), await freshDatabase('mysql')]
    const database = connect(rows.url)
    const schema = connect(engine.url).name
    try {
      await withTestDatabase(rows.url, ({ run }) => run('CREATE TABLE customers (id INT, name VARCHAR(40))'))
      const before = await dumpOf(rows.url)
      const own = await findOwnTables(database, { schema, prefix: 'ur_' }, [baseline])
      const all = [...engineMigrations(own), baseline]
      expect(await migrateDatabase(database, all, { own, log })).to.have.length(engineMigrations(own).length + 1)
      expect(await dumpOf(rows.url)).to.deep.equal(before)
      expect(Object.keys(await dumpOf(engine.url)))
        .to.include('ur_audit_entries')
        .and.have.length(12)
      expect(await migrateDatabase(database, all, { own, log })).to.deep.equal([])
      const more = [...all, { name: '002-notes', steps: [notes] }]
      const error = await migrateDatabase(database, more, { own, log }).catch(String)
      expect(error).to.include(`--among-tables-of ${database.name}`)
      expect(await dumpOf(rows.url)).to.deep.equal(before)
      await migrateDatabase(database, more, { own, log, allowed: { among: [database.name], mayAlter: [] } })
    } finally {
      await database.sequelize.close()
      await rows.dispose()
      await engine.dispose()
    }
  })
})
