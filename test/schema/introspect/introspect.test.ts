import { expect } from 'chai'
import { format } from 'oxfmt'
import type { Introspected } from '../../../schema/introspect/record.js'
import { eachDatabase, freshDatabase } from '../../harness/database.js'
import { databaseKinds } from '../../stack/databases.js'
import type { Ran } from '../../harness/command.js'
import type { Stack } from '../../stack/stack.js'
import { IntrospectedApp } from './introspected-app.js'

const VERSION = { mysql: 'BINARY(8) NOT NULL', sqlite: 'BLOB NOT NULL' }
const NUMBERED = { mysql: 'INT NOT NULL AUTO_INCREMENT PRIMARY KEY', sqlite: 'INTEGER NOT NULL PRIMARY KEY' }

/** A schema that makes every decision of names, keys and references. */
function statements(kind: 'mysql' | 'sqlite'): string[] {
  const q = (name: string): string => (kind === 'mysql' ? `\`${name}\`` : `"${name}"`)
  const state = kind === 'mysql' ? "ENUM('new', 'it''s done')" : "TEXT CHECK (state IN ('new', 'it''s done'))"
  return [
    `CREATE TABLE tblPerson (PersonID ${NUMBERED[kind]}, FullName VARCHAR(60) NOT NULL, ${q('Größe in cm')} INT, ` +
      'manager_id INT REFERENCES tblPerson (PersonID), ' +
      (kind === 'mysql' ? 'FOREIGN KEY (manager_id) REFERENCES tblPerson (PersonID), ' : '') +
      `${q('2nd phone')} VARCHAR(20), constructor VARCHAR(10), CONSTRAINT one_name UNIQUE (FullName))`,
    `CREATE TABLE film_category (film_category_id ${NUMBERED[kind]}, name VARCHAR(30) NOT NULL, state ${state} NOT NULL)`,
    `CREATE TABLE ${q('Work Item')} (${q('Item No')} ${NUMBERED[kind]}, title VARCHAR(80) NOT NULL DEFAULT 'none', ` +
      'owner INT NOT NULL, author_id INT NOT NULL, reviewer_id INT, category_id INT, done SMALLINT NOT NULL DEFAULT 0, ' +
      `row_version ${VERSION[kind]}, FOREIGN KEY (owner) REFERENCES tblPerson (PersonID), ` +
      'FOREIGN KEY (author_id) REFERENCES tblPerson (PersonID), FOREIGN KEY (reviewer_id) REFERENCES tblPerson (PersonID), ' +
      'FOREIGN KEY (category_id) REFERENCES film_category (film_category_id))',
    'CREATE TABLE item_person (item_no INT NOT NULL, person_id INT NOT NULL, role VARCHAR(10), ' +
      'PRIMARY KEY (item_no, person_id), ' +
      `FOREIGN KEY (item_no) REFERENCES ${q('Work Item')} (${q('Item No')}) ON DELETE CASCADE, ` +
      'FOREIGN KEY (person_id) REFERENCES tblPerson (PersonID) ON DELETE CASCADE)',
    'CREATE TABLE country (code CHAR(2) NOT NULL PRIMARY KEY, name VARCHAR(50) NOT NULL)',
    'CREATE TABLE only_unique (serial_no VARCHAR(12) NOT NULL, note VARCHAR(20), CONSTRAINT one_serial UNIQUE (serial_no))',
    'CREATE TABLE no_key (a VARCHAR(30) NOT NULL, b VARCHAR(30) NOT NULL)',
    "INSERT INTO no_key VALUES ('x', '1'), ('x', '2'), ('y', '1')",
    'CREATE TABLE knex_migrations (id INT PRIMARY KEY, name VARCHAR(255))',
    `CREATE VIEW open_items AS SELECT ${q('Item No')} AS item_no, title FROM ${q('Work Item')}`,
    `CREATE VIEW people_twice AS SELECT FullName FROM tblPerson UNION ALL SELECT FullName FROM tblPerson`,
    "INSERT INTO tblPerson (FullName, manager_id) VALUES ('Ada', NULL), ('Bob', 1)",
    "INSERT INTO film_category (name, state) VALUES ('Old', 'it''s done')",
    `INSERT INTO ${q('Work Item')} (title, owner, author_id, category_id, row_version) VALUES ('First', 1, 2, 1, x'0000000000000001')`,
    "INSERT INTO item_person (item_no, person_id, role) VALUES (1, 2, 'tester')",
    "INSERT INTO country (code, name) VALUES ('de', 'Germany')",
    "INSERT INTO only_unique (serial_no) VALUES ('A/1')"
  ]
}

eachDatabase((kind) => {
  describe(`uniform-rest introspect on ${kind}`, () => {
    let app: IntrospectedApp
    before(async () => {
      app = await IntrospectedApp.make(kind, statements(kind))
    })
    after(() => app.dispose())

    const file = (name: string): Promise<string> => app.read(`entities/${name}`)

    it('says what is wrong with a key that it is told of, and goes on without it', async () => {
      const wrong: readonly (readonly [string, string])[] = [
        ['people_twice=FullName', '--key people_twice is refused: 2 of its rows share their FullName with another row'],
        ['people_twice=Name', '--key people_twice is refused: it has no column Name'],
        ['nowhere=id', '--key nowhere is refused: the database has no table or view nowhere']
      ]
      for (const [key, words] of wrong) {
        const ran = await app.run('introspect', '--dry-run', '--key', key)
        expect([ran.code, ran.stdout.includes(words)], `${key}: ${ran.stdout}`).to.deep.equal([1, true])
        expect(ran.stdout).to.include('Would write entities/people-twices.ts')
      }
      const unread = await app.run('introspect', '--key', 'people_twice')
      expect([unread.code, unread.stderr.includes('is not written as it must be')]).to.deep.equal([1, true])
      expect([...(await app.files()).keys()]).to.deep.equal([])
    })

    it('says what it would do, and does not', async () => {
      const ran = await app.run('introspect', '--dry-run')
      expect(ran.stdout)
        .to.include('Would write entities/people.ts')
        .and.include('Would write migrations/001-baseline.ts')
      expect([...(await app.files()).keys()]).to.deep.equal([])
    })

    it('prints the lines for a config that a person has written', async () => {
      const file = 'uniform-rest.config.ts'
      const text =
        "import { defineApplication } from 'uniform-rest'\nexport default defineApplication({ entities: [] })\n"
      await app.write(file, text)
      const ran = await app.run('introspect', '--dry-run')
      expect(ran.stdout).to.include('A uniform-rest.config.ts for them').and.include('  entities: introspected,\n')
      expect(ran.stdout).to.not.include('Would write uniform-rest.config.ts')
      expect(await app.read(file)).to.equal(text)
      await app.remove(file)
    })

    let first: Ran
    let config: string
    it('writes a file for each table and view, with a key or without', async () => {
      const ran = await app.run('introspect', '--key', 'open_items=item_no')
      expect([ran.code, ran.stderr]).to.deep.equal([0, ''])
      first = ran
      config = await app.read('uniform-rest.config.ts')
      expect([...(await app.files()).keys()]).to.deep.equal([
        'entities/countries.ts',
        'entities/film-categories.ts',
        'entities/introspected.json',
        'entities/introspected.md',
        'entities/introspected.ts',
        'entities/item-people.ts',
        'entities/no-keys.ts',
        'entities/only-uniques.ts',
        'entities/open-items.ts',
        'entities/people-twices.ts',
        'entities/people.ts',
        'entities/work-items.ts',
        'migrations/001-baseline.ts'
      ])
    })

    it('writes the config where there is none, and says what comes next', () => {
      expect(first.stdout)
        .to.include('Wrote uniform-rest.config.ts')
        .and.include(`\n  npx uniform-rest migrate --among-tables-of ${app.name} `)
      expect(config).to.include("import { introspected, introspectedPermissions } from './entities/introspected.js'")
      expect(config).to.include('entities: introspected').and.include('roles: { Admin: introspectedPermissions }')
    })

    it('names properties, references and keys as people would', async () => {
      const people = await file('people.ts')
      expect(people).to.include("name: 'people'").and.include("table: 'tblPerson'")
      expect(people).to.match(/id: column\('PersonID', readOnly\((?:int|long)\(\)\)\)/)
      expect(people).to.include("fullName: column('FullName', unique(text(60, 0)))")
      expect(people).to.match(/grosseInCm: column\('Größe in cm', optional\((?:int|long)\(\)\)\)/)
      expect(people).to.include("column2ndPhone: column('2nd phone', optional(text(20, 0)))")
      expect(people).to.include("constructorValue: column('constructor', optional(text(10, 0)))")
      expect(people).to.include("manager: { to: 'people', via: 'managerId' }")
      const items = await file('work-items.ts')
      expect(items).to.include("author: { to: 'people', via: 'authorId' }")
      expect(items).to.include("reviewer: { to: 'people', via: 'reviewerId' }")
      expect(items).to.include("ownerPerson: { to: 'people', via: 'owner' }")
      expect(items).to.include("category: { to: 'film-categories', via: 'categoryId' }")
      expect(items).to.include("title: defaultTo(text(80, 0), 'none')")
      const links = await file('item-people.ts')
      expect(links)
        .to.include("key: ['itemNo', 'personId']")
        .and.match(/itemNo: onCreate\((?:int|long)\(\)\)/)
      expect(await file('countries.ts')).to.include("id: column('code', onCreate(text(2, 0)))")
      expect(await file('only-uniques.ts')).to.include("id: column('serial_no', onCreate(text(12, 0)))")
      expect(await file('film-categories.ts')).to.include(`state: oneOf(['new', "it's done"])`)
    })

    it('lets nobody read without a permission, and rows without a version be read alone', async () => {
      for (const [name, text] of await app.files()) {
        if (!/entities\/(?!introspected).*\.ts$/.test(name)) continue
        expect(text, name)
          .to.match(/access: \{ read: permission\('[a-z-]+:read'\)/)
          .and.not.include('everyone')
        const isVersioned = name === 'entities/work-items.ts'
        const isKeyless = ['entities/no-keys.ts', 'entities/people-twices.ts'].includes(name)
        expect([text.includes("rowVersion: 'none'"), text.includes("key: 'none'")], name).to.deep.equal([
          !isVersioned && !isKeyless,
          isKeyless
        ])
        expect(text.includes('writes:'), name).to.equal(isVersioned)
      }
    })

    it('tells what it left out and why, and which rows have no key', async () => {
      const report = await file('introspected.md')
      expect(report).to.include('one: it has no primary key and no unique key that is never null.')
      expect(report).to.include('--key no_key=a,b')
      expect(report).to.match(/one: a view has no key\.\n {2}- No column .* tells its rows apart/)
      expect(report).to.include('**knex_migrations**: it is the record of migrations of another tool')
      expect(report).to.not.include('open_items')
    })

    it('writes what compiles, is formatted, and has no mistakes', async () => {
      expect(await app.compile()).to.equal('')
      const style = {
        printWidth: 120,
        semi: false,
        singleQuote: true,
        trailingComma: 'none'
      } as const
      for (const [name, text] of await app.files()) {
        if (name.endsWith('.ts')) expect((await format(name, text, style)).code, name).to.equal(text)
      }
      const ran = await app.run('check')
      expect([ran.code, ran.stderr]).to.deep.equal([0, ''])
      expect(ran.stdout)
        .to.include('DATABASE_URL: no mistakes in its tables')
        .and.include('001-baseline has not run yet; `uniform-rest migrate` records that its tables are there.')
    })

    it('says what does not fit before the baseline is recorded', async () => {
      await app.sql.query('ALTER TABLE country RENAME COLUMN name TO label')
      const ran = await app.run('check')
      expect([ran.code, ran.stdout.includes('countries: the table country has no column name')]).to.deep.equal([
        1,
        true
      ])
      await app.sql.query('ALTER TABLE country RENAME COLUMN label TO name')
    })

    it('writes what serves every table, on the database as it is', async () => {
      const [, words = ''] = /npx uniform-rest (migrate.*?) {3}/.exec(first.stdout) ?? []
      const migrated = await app.run(...words.split(' '))
      expect(migrated.stderr).to.equal('')
      const stack: Stack = await app.start()
      try {
        const token = stack.token({ sub: 'a', role: 'Admin' })
        const rows = async (resource: string): Promise<unknown> => {
          const answer = await stack.call(`/${resource}`, { token })
          expect(answer.status, `${resource}: ${answer.text}`).to.equal(200)
          return answer.body
        }
        expect((await stack.call('/people', { token: stack.token({ sub: 'b' }) })).status).to.equal(403)
        expect(await rows('countries')).to.deep.equal([{ id: 'de', name: 'Germany' }])
        const [link] = (await rows('item-people')) as Record<string, unknown>[]
        expect(link).to.include({ id: '1,2', role: 'tester' })
        expect((await stack.call('/item-people/1,2', { token })).status).to.equal(200)
        expect(await rows('film-categories')).to.have.length(1)
        expect(await rows('open-items')).to.have.length(1)
        const [item] = (await stack.call('/work-items?includeFKs=true', { token })).body as Record<string, unknown>[]
        expect(item?.['author']).to.include({ fullName: 'Bob' })
        expect(item?.['category']).to.include({ name: 'Old', state: "it's done" })
        const one = await stack.call('/only-uniques/A%2F1', { token })
        expect([one.status, (one.body as { id?: string }).id]).to.deep.equal([200, 'A/1'])
      } finally {
        await stack.stop()
      }
    })

    it('says that nothing has changed, and writes nothing then', async () => {
      const before = await app.files()
      const ran = await app.run('introspect')
      expect([ran.code, ran.stdout]).to.deep.equal([0, 'Nothing has changed in the database since the last run.\n'])
      expect([...(await app.files())]).to.deep.equal([...before])
    })

    it('shows what has changed, writes what is new, and leaves what people wrote byte for byte', async () => {
      const edited = `${await file('work-items.ts')}\n// Ours now.\n`
      await app.write('entities/work-items.ts', edited)
      const q = (name: string): string => (kind === 'mysql' ? `\`${name}\`` : `"${name}"`)
      await app.sql.query(`ALTER TABLE ${q('Work Item')} ADD COLUMN effort SMALLINT`)
      await app.sql.query('CREATE TABLE shelf (id INT NOT NULL PRIMARY KEY, name VARCHAR(10) NOT NULL)')
      await app.sql.query('DROP TABLE only_unique')
      await app.sql.query('ALTER TABLE country RENAME COLUMN name TO title')
      // The statements of the report give a table versions.
      const [, block = ''] = (await file('introspected.md')).split('\ncountry:\n\n```sql\n')
      const statements = (block.split('\n```')[0] ?? '').split(/;$/m).filter((one) => one.trim() !== '')
      expect(statements).to.have.length(3)
      for (const statement of statements) await app.sql.query(statement)
      const before = await app.files()
      const ran = await app.run('introspect')
      expect(ran.stderr).to.equal('')
      expect(ran.stdout).to.include('Wrote entities/shelves.ts')
      expect(ran.stdout).to.match(
        /work-items, of the table Work Item, has to be changed by hand:\n {2}\+ effort: optional\(/
      )
      expect(ran.stdout).to.include('  - name: text(50, 0)\n').and.include('  + title: text(50, 0)\n')
      expect(ran.stdout)
        .to.include("  - rowVersion: 'none' (its rows have a version now)\n")
        .and.include("  ~ access: { read: permission('countries:read'), write: permission('countries:write') }, if ")
        .and.include("  + writes: ['create', 'update', 'delete'], or those of them that requests may do\n")
      expect(ran.stdout).to.include('only-uniques: its table only_unique cannot be served any more')
      const after = await app.files()
      for (const [name, text] of before) {
        if (/entities\/(?!introspected).*\.ts$/.test(name)) expect(after.get(name), name).to.equal(text)
      }
      expect(after.get('entities/introspected.ts'))
        .to.include('shelves')
        .and.include("'countries:write'", 'the role has it before the file asks for it')
        .and.not.include('onlyUniques')
      expect(after.get('migrations/001-baseline.ts')).to.include("createTable('shelf'").and.not.include('only_unique')
      const told = ran.stdout.slice(0, ran.stdout.indexOf('Wrote '))
      expect(told.indexOf('  - name:'), 'what requests fail for comes first').to.be.below(told.indexOf('  + effort:'))
      const again = await app.run('introspect')
      expect(again.stdout).to.equal(told)
      const check = await app.run('introspect', '--check')
      expect([check.code, check.stdout]).to.deep.equal([1, told])
      const state = JSON.parse(await file('introspected.json')) as Introspected
      expect(state.keys).to.deep.equal({ open_items: ['item_no'] })
    })

    it('tells a change until its file has it, also without its record', async () => {
      const record = await file('introspected.json')
      await app.remove('entities/introspected.json')
      const without = await app.run('introspect', '--check')
      expect(without.stdout)
        .to.include('  + effort: ')
        .and.include('  - name\n')
        .and.include('  + title: text(50, 0)\n')
      await app.write('entities/introspected.json', record)
      await app.run('introspect', '--except', 'country.row_version')
      const items = await file('work-items.ts')
      await app.write(
        'entities/work-items.ts',
        items.replace(/fields: \{/, 'fields: { effort: optional(smallInt()),').replace('import {', 'import { smallInt,')
      )
      const countries = await file('countries.ts')
      await app.write(
        'entities/countries.ts',
        countries.replace('name: text(50, 0)', 'title: text(50, 0)').replaceAll("'name'", "'title'")
      )
      await app.remove('entities/only-uniques.ts')
      const made = await app.run('introspect', '--check')
      expect([made.code, made.stdout]).to.deep.equal([0, 'Database and entity files agree.\n'])
    })

    it('asks whether a table that is gone is a new one of the same columns, and follows it', async () => {
      await app.sql.query('ALTER TABLE film_category RENAME TO film_genre')
      const ran = await app.run('introspect')
      expect(ran.stdout)
        .to.include('its table film_category is gone, and film_genre has the same columns')
        .and.include('--renamed film_category=film_genre')
      expect(ran.stdout).to.not.include('Wrote entities/film-genres.ts')
      const told = await app.run('introspect', '--renamed', 'film_category=film_genre')
      const line =
        "film-categories, of the table film_genre, has to be changed by hand:\n  ~ table: 'film_genre' (was 'film_category')\n"
      expect([told.code, told.stdout.includes(line)], told.stdout + told.stderr).to.deep.equal([0, true])
      const check = await app.run('introspect', '--check')
      expect([check.code, check.stdout]).to.deep.equal([1, line])
      const text = await file('film-categories.ts')
      await app.write(
        'entities/film-categories.ts',
        text.replace('description:', "table: 'film_genre',\n  description:")
      )
      const made = await app.run('introspect', '--check')
      expect([made.code, made.stdout]).to.deep.equal([0, 'Database and entity files agree.\n'])
    })

    it('leaves its own list alone once somebody has changed it, and shows what it would be', async () => {
      const list = `${await file('introspected.ts')}// Ours now.\n`
      await app.write('entities/introspected.ts', list)
      await app.sql.query('CREATE TABLE crate (id INT NOT NULL PRIMARY KEY)')
      const ran = await app.run('introspect')
      expect(ran.stdout).to.include('entities/introspected.ts was changed by hand and stays as it is. It would be:')
      expect(ran.stdout).to.include("import { crates } from './crates.js'")
      expect(await file('introspected.ts')).to.equal(list)
    })

    it('leaves out tables alone whose named keys are none any more, until --unkey or --except', async () => {
      await app.run('introspect', '--key', 'no_key=a,b')
      expect(await file('no-keys.ts'), 'nobody has changed it').to.include("key: ['a', 'b']")
      const mistyped = await app.run('introspect', '--key', 'no_key=a,x')
      expect([mistyped.code, mistyped.stdout]).to.deep.equal([1, '--key no_key is refused: it has no column x.\n'])
      expect(await file('no-keys.ts'), 'the key of before').to.include("key: ['a', 'b']")
      await app.sql.query("INSERT INTO no_key VALUES ('x', '1')")
      await app.sql.query('DROP VIEW open_items')
      const ran = await app.run('introspect')
      expect([ran.code, ran.stderr]).to.deep.equal([0, ''])
      expect(ran.stdout)
        .to.include('no_key cannot be served any more: 1 of its rows share their a, b with another row')
        .and.include('open_items cannot be served any more: the database has no table or view open_items')
      const mended = await app.run('introspect', '--unkey', 'no_key', '--except', 'open_items')
      expect([mended.code, mended.stderr]).to.deep.equal([0, ''])
      const { keys, except } = JSON.parse(await file('introspected.json')) as Introspected
      expect([Object.keys(keys), except]).to.deep.equal([['open_items'], ['country.row_version', 'open_items']])
      expect(await file('no-keys.ts'), 'nobody has changed it').to.include("key: 'none'")
      expect((await app.run('introspect')).stdout).to.equal('Nothing has changed in the database since the last run.\n')
    })
  })
})

eachDatabase((kind) => {
  describe(`uniform-rest introspect on tables without foreign keys on ${kind}`, () => {
    let app: IntrospectedApp
    before(async () => {
      const text = 'VARCHAR(20) NOT NULL'
      app = await IntrospectedApp.make(kind, [
        `CREATE TABLE oc_customer (customer_id ${NUMBERED[kind]}, name ${text})`,
        `CREATE TABLE oc_store (store_id ${NUMBERED[kind]}, name ${text})`,
        `CREATE TABLE oc_order (order_id ${NUMBERED[kind]}, customer_id INT NOT NULL, store_id INT NOT NULL, ` +
          `payment_store_id INT, name ${text})`,
        "INSERT INTO oc_customer VALUES (1, 'Ada')",
        "INSERT INTO oc_store VALUES (1, 'Main')",
        "INSERT INTO oc_order VALUES (1, 1, 0, 1, 'First')"
      ])
    })
    after(() => app.dispose())

    it('proposes references by names, types and rows, and takes them where it is told to', async () => {
      const wrong = await app.run('introspect', '--reference', 'oc_order.name=oc_store.store_id')
      expect(wrong.code).to.equal(1)
      expect(wrong.stderr).to.match(
        /^--reference oc_order.name=oc_store.store_id: name is string, and store_id is (?:int|long)\.$/m
      )
      const dry = await app.run('introspect', '--dry-run')
      expect(dry.stdout).to.include('References that no foreign key declares: 2 in entities/introspected.md')
      const options = ['--strip-prefix', 'oc_', '--sortable', 'all', '--reference', 'proposed']
      expect((await app.run('introspect', ...options)).code).to.equal(0)
      const orders = await app.read('entities/orders.ts')
      expect(orders)
        .to.include("table: 'oc_order'")
        .and.include("customer: { to: 'customers', via: 'customerId' }")
        .and.include("paymentStore: { to: 'stores', via: 'paymentStoreId' }")
        .and.include("sortable: ['id', 'customerId', 'storeId', 'paymentStoreId', 'name']")
      expect(orders, 'no store has the id 0').to.not.include("via: 'storeId'")
      expect((await app.run('check')).code).to.equal(0)
    })

    it('holds to what it was told in later runs, and tells of a reference that is named then', async () => {
      expect((await app.run('introspect')).stdout).to.equal('Nothing has changed in the database since the last run.\n')
      await app.sql.query('ALTER TABLE oc_customer RENAME TO away')
      const ran = await app.run('introspect', '--reference', 'oc_order.store_id=oc_store.store_id')
      expect(ran.stdout)
        .to.include('+ the reference store to stores via storeId\n')
        .and.include('- the reference customer to customers via customerId\n')
      await app.sql.query('ALTER TABLE away RENAME TO oc_customer')
      expect((await app.run('introspect', '--check')).code).to.equal(1)
      await app.run('introspect', '--except', 'oc_order.store_id')
      expect((await app.run('introspect', '--check')).code, 'the customer of an order is back').to.equal(0)
    })
  })
})

/** A table with a default in the database in a column of each type that has no literal default in an entity file. */
const FILLED = {
  mysql:
    "CREATE TABLE filled (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, s SET('a','b') NOT NULL DEFAULT 'b', " +
    `t TEXT NOT NULL DEFAULT ('x'), j JSON NOT NULL DEFAULT ('{"a":1}'), v VARBINARY(4) NOT NULL DEFAULT 0x00ff, ` +
    'b BINARY(2) NOT NULL DEFAULT 0x0102, made_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, ' +
    'seen_at TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), row_version BINARY(8) NOT NULL)',
  sqlite:
    "CREATE TABLE filled (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, t TEXT NOT NULL DEFAULT (lower('X')), " +
    "v BLOB NOT NULL DEFAULT x'00ff', made_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, row_version BLOB NOT NULL)"
}

/** Columns that are hidden by their names and that the database fills, by a default or in every row. */
const FILLED_SECRETS = {
  mysql:
    "CREATE TABLE login (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) NOT NULL DEFAULT 'ada', " +
    "password VARCHAR(60) DEFAULT '', passwd VARCHAR(60) NOT NULL DEFAULT (uuid()), " +
    'password_hash VARCHAR(60) AS (sha1(name)) STORED, row_version BINARY(8) NOT NULL)',
  sqlite:
    "CREATE TABLE login (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name VARCHAR(20) NOT NULL DEFAULT 'ada', " +
    "password VARCHAR(60) DEFAULT '', passwd VARCHAR(60) NOT NULL DEFAULT (lower('X')), " +
    'password_hash VARCHAR(60) AS (lower(name)) STORED, row_version BLOB NOT NULL)'
}

eachDatabase((kind) => {
  describe(`the baseline of a table with defaults of ${kind}`, () => {
    it('makes tables in which requests create rows, in an empty database of any kind', async () => {
      const app = await IntrospectedApp.make(kind, [FILLED[kind], FILLED_SECRETS[kind]])
      try {
        await app.run('introspect')
        const logins = await app.read('entities/logins.ts')
        for (const word of ['filledByDatabase(optional(text(60, 0)))', 'filledByDatabase(text(60, 0))', 'generated(']) {
          expect(logins).to.include(`: hidden(${word}`)
        }
        for (const target of databaseKinds()) {
          const empty = await freshDatabase(target)
          const stack = await app.start(empty)
          try {
            const token = stack.token({ sub: 'a', role: 'Admin' })
            for (const path of ['/filleds', '/logins']) {
              const made = await stack.call(path, { token, body: {} })
              expect(made.status, `${path} on ${target}: ${made.text}`).to.equal(201)
            }
          } finally {
            await stack.stop()
            await empty.dispose()
          }
        }
      } finally {
        await app.dispose()
      }
    })
  })
})

describe('uniform-rest introspect in an application without an example', () => {
  it('writes into the config that init made, once', async () => {
    const app = await IntrospectedApp.make('sqlite', ['CREATE TABLE shelf (id INTEGER PRIMARY KEY, name TEXT)'])
    try {
      expect((await app.run('init', 'books.of-ada', '--no-example')).code).to.equal(0)
      await app.write('uniform-rest.config.ts', await app.read('books.of-ada/uniform-rest.config.ts'))
      const ran = await app.run('introspect')
      expect([ran.code, ran.stderr]).to.deep.equal([0, ''])
      expect(ran.stdout).to.include('Wrote uniform-rest.config.ts')
      expect(await app.read('uniform-rest.config.ts')).to.include("DATA_PROTECTION_APPLICATION_NAME: 'books.of-ada'")
      const edited = `${await app.read('uniform-rest.config.ts')}// Ours now.\n`
      await app.write('uniform-rest.config.ts', edited)
      await app.sql.query('CREATE TABLE box (id INTEGER PRIMARY KEY)')
      await app.sql.query('CREATE TABLE jar (id INTEGER PRIMARY KEY)')
      await app.write('entities/jars.ts', 'export const glass = 1\n')
      const second = await app.run('introspect')
      expect(second.stdout).to.include('Wrote entities/boxes.ts').and.include('entities/jars.ts is there already')
      expect(await app.read('entities/introspected.ts'), 'it would not load').to.not.include('jars')
      expect(await app.read('uniform-rest.config.ts')).to.equal(edited)
      expect((await app.run('check')).stdout).to.include('2 entities, no mistakes.')
    } finally {
      await app.dispose()
    }
  })
})

describe('uniform-rest introspect with a config that imports what it has not written yet', () => {
  it('writes it, and leaves nothing behind where it cannot', async () => {
    const app = await IntrospectedApp.make('sqlite', ['CREATE TABLE shelf (id INTEGER PRIMARY KEY, name TEXT)'])
    try {
      await app.writeConfig()
      const dry = await app.run('introspect', '--dry-run')
      expect([dry.code, dry.stderr]).to.deep.equal([0, ''])
      const failed = await app.run('introspect', '--routines')
      expect(failed.stderr).to.include('a database of this kind has no procedures')
      expect((await app.files()).size).to.equal(0)
      const ran = await app.run('introspect')
      expect([ran.code, ran.stderr]).to.deep.equal([0, ''])
      expect(await app.read('entities/introspected.ts')).to.include("import { shelves } from './shelves.js'")
      expect((await app.run('check')).stdout).to.include('1 entity, no mistakes.')
    } finally {
      await app.dispose()
    }
  })
})

describe('uniform-rest introspect without a database', () => {
  it('makes no file, and says what is missing', async () => {
    const app = await IntrospectedApp.make('sqlite', [])
    try {
      const ran = await app.run('introspect')
      expect(ran.code).to.equal(1)
      expect(ran.stderr).to.match(/there is no such database|has no tables/)
      expect([...(await app.files()).keys()]).to.deep.equal([])
    } finally {
      await app.dispose()
    }
  })
})
