import { expect } from 'chai'
import { connect } from '../../data-service/sql/connect.js'
import type { Database } from '../../data-service/sql/engines/engine.js'
import type { LiveColumn, LiveTable } from '../../schema/model/live-schema.js'
import { mysqlCatalogue } from '../../schema/kinds/mysql/mysql-catalogue.js'
import { eachDatabase, type FreshDatabase, freshDatabase } from '../harness/database.js'
import { schemaOf } from '../../schema/kinds/kinds.js'

const STATEMENTS = {
  mysql: [
    "CREATE TABLE people (id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, `Full Name` VARCHAR(40) NOT NULL DEFAULT 'it''s', " +
      'manager INT UNSIGNED, FOREIGN KEY fk_manager (manager) REFERENCES people (id) ON DELETE SET NULL, ' +
      "UNIQUE KEY by_name (`Full Name`)) COMMENT 'Who works here' CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    "CREATE TABLE odd (b SMALLINT, a BIGINT(20) UNSIGNED ZEROFILL, kind ENUM('it''s', 'a,b', '', 'c\\\\d'), " +
      "roles SET('r', 'w') DEFAULT 'r,w', price DECIMAL(10,2) UNSIGNED DEFAULT 1.5, doc JSON, flag BIT(1) DEFAULT b'1', " +
      'at DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6), born DATE DEFAULT (CURRENT_DATE), ' +
      "state VARCHAR(9) COMMENT 'its state' CHECK (state IN ('new', 'o''ld')), twice INT AS (b * 2) VIRTUAL, " +
      'thrice INT AS (b * 3) STORED, note TEXT DEFAULT NULL, person INT UNSIGNED, lead_person INT UNSIGNED, ' +
      'PRIMARY KEY (a, b), KEY by_note (note(10), b DESC), FULLTEXT KEY words (state), ' +
      'CONSTRAINT fk_a FOREIGN KEY (person) REFERENCES people (id) ON DELETE CASCADE, ' +
      'CONSTRAINT fk_b FOREIGN KEY (lead_person) REFERENCES people (id) ON UPDATE CASCADE)',
    'CREATE VIEW names AS SELECT id, `Full Name` FROM people',
    'CREATE TRIGGER shout BEFORE UPDATE ON people FOR EACH ROW SET NEW.`Full Name` = UPPER(NEW.`Full Name`)'
  ],
  sqlite: [
    "CREATE TABLE people (id INTEGER PRIMARY KEY, \"Full Name\" VARCHAR(40) COLLATE nocase NOT NULL DEFAULT 'it''s', " +
      'manager INT REFERENCES People ON DELETE SET NULL, UNIQUE ("Full Name"))',
    'CREATE TABLE odd (b SMALLINT, a BIGINT /* , ( */, price DECIMAL(10,2) DEFAULT 1.5, flag BOOLEAN DEFAULT TRUE, ' +
      "at TEXT DEFAULT CURRENT_TIMESTAMP, state TEXT CONSTRAINT known CHECK ((state IN ('new', 'o''ld'))), " +
      'twice INT AS (b * 2), thrice INT GENERATED ALWAYS AS (b * 3) STORED, note TEXT DEFAULT NULL, "check" ANY, ' +
      'person INT REFERENCES people (id) ON DELETE CASCADE, PRIMARY KEY (a, b)) WITHOUT ROWID',
    'CREATE INDEX by_note ON odd (LOWER("note"), b DESC) WHERE b > 0',
    'CREATE TABLE counted (a INT, b INT, id INTEGER PRIMARY KEY DESC, FOREIGN KEY (a, b) REFERENCES odd) STRICT',
    'CREATE VIEW names AS SELECT id, "Full Name" FROM people',
    'CREATE VIEW gone AS SELECT * FROM nowhere',
    'CREATE TRIGGER shout AFTER UPDATE ON people BEGIN SELECT 1; END',
    'CREATE VIRTUAL TABLE texts USING fts5(body)'
  ]
}

const column = (table: LiveTable | undefined, name: string): LiveColumn | undefined =>
  table?.columns.find((one) => one.name === name)

eachDatabase((kind) => {
  describe(`the live schema of ${kind}`, () => {
    let fresh: FreshDatabase
    let database: Database
    let tables: ReadonlyMap<string, LiveTable>
    before(async () => {
      fresh = await freshDatabase(kind)
      database = connect(fresh.url)
      for (const statement of STATEMENTS[kind]) await database.sequelize.query(statement)
      tables = (await schemaOf(database).describe()).tables
    })
    after(async () => {
      await database.sequelize.close()
      await fresh.dispose()
    })

    it('has tables and views, and neither virtual tables nor those of the system', () => {
      const kinds = Array.from(tables.values(), (table) => `${table.name} ${table.kind}`)
      const expected = ['names view', 'odd table', 'people table']
      expect(kinds).to.deep.equal(kind === 'mysql' ? expected : ['counted table', 'gone view', ...expected])
    })

    it('has keys, indexes and triggers', () => {
      const [people, odd] = [tables.get('people'), tables.get('odd')]
      expect(people?.primaryKey).to.deep.equal(['id'])
      expect(odd?.primaryKey).to.deep.equal(['a', 'b'])
      expect(people?.indexes.filter(({ unique }) => unique).map(({ keys }) => keys[0]?.column)).to.deep.equal([
        'Full Name'
      ])
      expect(people?.triggers.map(({ name, event }) => `${name} ${event}`)).to.deep.equal(['shout update'])
      expect(people?.triggers[0]?.timing).to.equal(kind === 'mysql' ? 'before' : 'after')
      expect(people?.triggers[0]?.body).to.match(kind === 'mysql' ? /^SET NEW\./i : /^BEGIN SELECT 1; END$/)
      const note = odd?.indexes.find(({ name }) => name === 'by_note')
      expect(note?.keys.map((key) => [key.column, key.descending, key.prefix])).to.deep.equal(
        kind === 'mysql'
          ? [
              ['note', false, 10],
              ['b', true, undefined]
            ]
          : [
              ['note', false, undefined],
              ['b', true, undefined]
            ]
      )
      expect([note?.partial, note?.keys[0]?.expression]).to.deep.equal(
        kind === 'mysql' ? [false, undefined] : [true, 'LOWER("note")']
      )
      if (kind === 'mysql') expect(odd?.indexes.find(({ name }) => name === 'words')?.sorted).to.equal(false)
    })

    it('has foreign keys with their actions, also to the table itself', () => {
      const keysOf = (table: string): string[] =>
        (tables.get(table)?.foreignKeys ?? []).map(
          (key) =>
            `${key.columns.join('+')} to ${key.table}.${key.referencedColumns.join('+')} ${key.onDelete}/${key.onUpdate}`
        )
      const none = kind === 'mysql' ? 'restrict' : 'no action'
      expect(keysOf('people')).to.deep.equal([`manager to people.id set null/${none}`])
      expect(keysOf('odd')).to.deep.equal(
        kind === 'mysql'
          ? ['person to people.id cascade/restrict', 'lead_person to people.id restrict/cascade']
          : ['person to people.id cascade/no action']
      )
      if (kind === 'sqlite') expect(keysOf('counted')).to.deep.equal(['a+b to odd.a+b no action/no action'])
    })

    it('has columns with their types, defaults and expressions', () => {
      const [people, odd] = [tables.get('people'), tables.get('odd')]
      const name = column(people, 'Full Name')
      expect([name?.nullable, name?.type.base, name?.type.length]).to.deep.equal([false, 'varchar', 40])
      expect(name?.default).to.deep.equal({ kind: 'literal', value: "it's" })
      expect(name?.collation).to.equal(kind === 'mysql' ? 'utf8mb4_bin' : 'NOCASE')
      expect([column(people, 'id')?.autoIncrement, column(people, 'manager')?.autoIncrement]).to.deep.equal([
        true,
        false
      ])
      const price = column(odd, 'price')
      expect([price?.type.base, price?.type.precision, price?.type.scale]).to.deep.equal(['decimal', 10, 2])
      expect(Number(price?.default?.kind === 'literal' ? price.default.value : undefined)).to.equal(1.5)
      expect(column(odd, 'flag')?.default).to.deep.equal({ kind: 'literal', value: '1' })
      expect(column(odd, 'at')?.default?.kind).to.equal('expression')
      expect(column(odd, 'note')?.default).to.equal(undefined)
      expect(column(odd, 'state')?.checkedWords).to.deep.equal(['new', "o'ld"])
      expect(column(odd, 'twice')?.generated?.kind).to.equal('virtual')
      expect(column(odd, 'thrice')?.generated).to.deep.equal({
        kind: 'stored',
        expression: kind === 'mysql' ? '`b` * 3' : 'b * 3'
      })
    })

    it('has what its own kind of database says', () => {
      const [people, odd] = [tables.get('people'), tables.get('odd')]
      if (kind === 'mysql') {
        expect(people?.comment).to.equal('Who works here')
        expect(column(odd, 'state')?.comment).to.equal('its state')
        expect(column(odd, 'kind')?.type.words).to.deep.equal(["it's", 'a,b', '', 'c\\d'])
        expect(column(odd, 'roles')?.type.words).to.deep.equal(['r', 'w'])
        expect(column(odd, 'doc')?.type.base).to.equal('json')
        expect(column(odd, 'a')?.type).to.include({ base: 'bigint', unsigned: true })
        expect(column(odd, 'price')?.type.unsigned).to.equal(true)
        expect(column(odd, 'at')?.type.precision).to.equal(6)
        expect(column(odd, 'at')?.onUpdate?.toLowerCase()).to.equal('current_timestamp(6)')
        expect(column(odd, 'born')?.default?.kind).to.equal('expression')
      } else {
        expect(odd?.storage).to.deep.equal({ strict: false, withoutRowid: true })
        expect(tables.get('counted')?.storage).to.deep.equal({ strict: true, withoutRowid: false })
        expect(column(tables.get('counted'), 'id')?.autoIncrement, 'PRIMARY KEY DESC is no rowid').to.equal(false)
        expect(odd?.columns.map((one) => one.type.affinity)).to.deep.equal([
          'integer',
          'integer',
          'numeric',
          'numeric',
          'text',
          'text',
          'integer',
          'integer',
          'text',
          'blob',
          'integer'
        ])
        expect(column(odd, 'b')?.nullable, 'a key of a table without rowid is never null').to.equal(false)
        expect(tables.get('gone')?.broken).to.include('nowhere')
        expect(tables.get('names')?.columns.map((one) => one.nativeType)).to.deep.equal(['INTEGER', 'VARCHAR(40)'])
      }
    })

    it('takes as many statements for many tables as for few', async () => {
      let statements = 0
      const { sequelize } = database
      sequelize.addHook('beforeQuery', () => void statements++)
      await schemaOf(database).describe()
      const few = statements
      for (let at = 0; at < 30; at++) await sequelize.query(`CREATE TABLE more_${at} (id INT PRIMARY KEY)`)
      statements = 0
      const { tables: all } = await schemaOf(database).describe()
      expect(all.size).to.be.greaterThan(30)
      expect(few).to.be.greaterThan(3)
      expect(statements).to.equal(few)
    })
  })
})

/** No MySQL server is at hand in these tests: the rows are as its manual and a server of 8.0 show them. */
describe('the catalogue of MySQL 8', () => {
  const nothing = {
    COLLATION_NAME: null,
    COLUMN_COMMENT: '',
    GENERATION_EXPRESSION: '',
    IS_NULLABLE: 'YES',
    TABLE_NAME: 't'
  }
  const rows: Readonly<Record<string, readonly object[]>> = {
    TABLES: [{ TABLE_NAME: 't', TABLE_TYPE: 'BASE TABLE', TABLE_COMMENT: '' }],
    COLUMNS: [
      { ...nothing, COLUMN_NAME: 'state', COLUMN_TYPE: 'varchar(9)', COLUMN_DEFAULT: 'new', EXTRA: '' },
      { ...nothing, COLUMN_NAME: 'word', COLUMN_TYPE: 'varchar(9)', COLUMN_DEFAULT: 'uuid()', EXTRA: '' },
      {
        ...nothing,
        COLUMN_NAME: 'guid',
        COLUMN_TYPE: 'char(36)',
        COLUMN_DEFAULT: 'uuid()',
        EXTRA: 'DEFAULT_GENERATED'
      },
      {
        ...nothing,
        COLUMN_NAME: 'at',
        COLUMN_TYPE: 'timestamp',
        COLUMN_DEFAULT: 'CURRENT_TIMESTAMP',
        EXTRA: 'DEFAULT_GENERATED on update CURRENT_TIMESTAMP'
      },
      {
        ...nothing,
        COLUMN_NAME: 'shown',
        COLUMN_TYPE: 'varchar(20)',
        COLUMN_DEFAULT: null,
        EXTRA: 'VIRTUAL GENERATED',
        GENERATION_EXPRESSION: "concat(`state`,_utf8mb4\\'!\\')"
      },
      { ...nothing, COLUMN_NAME: 'doc', COLUMN_TYPE: 'json', COLUMN_DEFAULT: null, EXTRA: '' }
    ],
    STATISTICS: [
      {
        TABLE_NAME: 't',
        INDEX_NAME: 'low',
        NON_UNIQUE: 1,
        COLUMN_NAME: null,
        COLLATION: 'A',
        SUB_PART: null,
        INDEX_TYPE: 'BTREE',
        EXPRESSION: 'lower(`state`)'
      }
    ],
    CHECK_CONSTRAINTS: [{ TABLE_NAME: 't', CHECK_CLAUSE: "(`state` in (_utf8mb4\\'new\\',_utf8mb4\\'o\\\\\\'ld\\'))" }]
  }

  it('is read as that of MariaDB is', async () => {
    const select = <Row extends object>(statement: string): Promise<Row[]> => {
      const [, view = ''] = /information_schema\.(\w+)/.exec(statement) ?? []
      return Promise.resolve((rows[view] ?? []) as Row[])
    }
    const { server, tables } = await mysqlCatalogue(select, 'mysql')
    const table = tables.get('t')
    expect(server).to.equal('mysql')
    expect(table?.columns.map((one) => one.default)).to.deep.equal([
      { kind: 'literal', value: 'new' },
      { kind: 'literal', value: 'uuid()' },
      { kind: 'expression', text: 'uuid()' },
      { kind: 'expression', text: 'CURRENT_TIMESTAMP' },
      undefined,
      undefined
    ])
    expect(column(table, 'at')?.onUpdate).to.equal('CURRENT_TIMESTAMP')
    expect(column(table, 'shown')?.generated?.expression).to.equal("concat(`state`,_utf8mb4'!')")
    expect(column(table, 'doc')?.type.base).to.equal('json')
    expect(column(table, 'state')?.checkedWords).to.deep.equal(['new', "o'ld"])
    expect(table?.indexes[0]?.keys[0]).to.include({ column: undefined, expression: 'lower(`state`)' })
  })
})
