import { expect } from 'chai'
import { everyone, permission } from '../../data-service/entity/access.js'
import { defineEntity } from '../../data-service/entity/define-entity.js'
import type { Entity } from '../../data-service/entity/entity.js'
import {
  bool,
  column,
  dateTime,
  decimal,
  filledByDatabase,
  generated,
  int,
  long,
  oneOf,
  optional,
  readOnly,
  text
} from '../../data-service/entity/fields/words.js'
import { type Finding, summarized } from '../../schema/check/check-columns.js'
import { checkSchema, schemaReport, type SchemaReport } from '../../schema/check/check-schema.js'
import { entities } from '../harness/own-tables.js'
import { eachDatabase } from '../harness/database.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'
import { type FreshStores, freshStores } from './fresh-stores.js'

const unmigrated = defineEntity({
  name: 'gift-cards',
  description: 'Has no table.',
  fields: { id: readOnly(int()), code: text(64) },
  label: 'code',
  filterable: ['code'],
  sortable: ['code'],
  access: { read: everyone }
})

const saying = (findings: SchemaReport['mistakes']): string[] => findings.map(({ text: said }) => said)

eachDatabase((kind) => {
  describe(`schema check on ${kind}`, () => {
    let stores: FreshStores
    before(async () => {
      stores = await freshStores(kind)
      await stores.migrate()
    })
    after(() => stores.dispose())

    const drop = (index: string, table: string): Promise<unknown> =>
      stores.primary.query(kind === 'sqlite' ? `DROP INDEX ${index}` : `DROP INDEX ${index} ON ${table}`)

    const message = async (store: 'primary' | 'second'): Promise<string> => {
      try {
        await checkSchema(stores.databases[store], { store, setting: 'DATABASE_URL' }, [...entities, unmigrated])
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
      return 'no mistakes'
    }

    it('names columns as the database does, and the tables at the ends of paths', async () => {
      const renamed = defineEntity({
        name: 'nicknames',
        table: 'products',
        description: 'Columns of other names.',
        fields: { id: readOnly(int()), nick: column('nick_name', text(20)), categoryId: int() },
        label: 'nick',
        filterable: [],
        sortable: ['nick', 'slug'],
        references: { category: { to: 'categories', via: 'categoryId' } },
        joined: { slug: { through: ['category', 'parent'], property: 'slug', field: optional(text(64)) } },
        access: { read: everyone }
      })
      const database = stores.databases.primary
      const found = await checkSchema(database, { store: 'primary', setting: 'DATABASE_URL' }, [
        ...entities,
        renamed
      ]).then(
        () => '',
        (error: unknown) => String(error)
      )
      expect(found.split('\n')).to.include(
        '- nicknames: the table products has no column nick_name for `nick`; a new migration must add it.'
      )
      const { warnings } = await schemaReport(database, 'primary', [...entities, renamed])
      expect(saying(warnings), 'categories.slug has its indexes').to.deep.equal([])
    })

    it('names every mistake at once', async () => {
      await drop('products_name', 'products')
      await drop('products_price', 'products')
      await drop('categories_name', 'categories')
      await stores.primary.query('ALTER TABLE customers DROP COLUMN risk_note')
      await stores.primary.query('DROP TABLE order_lines')
      expect((await message('primary')).split('\n').toSorted()).to.deep.equal([
        '- customers: the table customers has no column risk_note for `riskNote`; a new migration must add it.',
        '- gift-cards: there is no table gift_cards; a new migration must create it, or `table` names another.',
        '- orders.lines: there is no table order_lines; a new migration must create it, or `table` names another.',
        '3 mistakes in the tables of DATABASE_URL.',
        'Tables of your own migrations are mended in a new one, which `uniform-rest migrate create <name>` writes: one that ' +
          'ran is not run again. For tables that others made, change the entity file as the lines say, or have them altered: ' +
          '`uniform-rest check --sql` prints the statements. On a throw-away database delete DATA_DIR instead.'
      ])
    })

    it('warns once of the missing indexes of a column, with the statements that make them', async () => {
      const { warnings } = await schemaReport(stores.databases.primary, 'primary', entities)
      const missing = warnings.filter(({ text: said }) => said.includes('has no index'))
      const sorts = ': each such read sorts all rows that the filters leave'
      const lacks = 'Other programs could not write the table any more, since only the service has the order of texts'
      const words = (table: string, index: string): string =>
        kind === 'sqlite'
          ? `. addIndexes("${table}", (t) => [${index}]) in a migration makes what serves it. ${lacks}`
          : ''
      expect(saying(missing).toSorted()).to.deep.equal([
        `categories: the sortable name has no index (categories.name, id)${sorts}${words('categories', 't.sorted("name")')}`,
        `products: the sortable name has no index (products.name, id)${sorts}${words('products', 't.sorted("name")')}`,
        `products: the sortable price has no index (products.price, id)${sorts}`
      ])
      const statements = missing.map((one) => one.statements.length)
      expect(statements).to.have.members(kind === 'sqlite' ? [0, 0, 1] : [1, 1, 1])
      for (const one of missing) for (const statement of one.statements) await stores.primary.query(statement)
      const after = await schemaReport(stores.databases.primary, 'primary', entities)
      expect(after.warnings.filter(({ text: said }) => said.includes('has no index'))).to.have.length(
        kind === 'sqlite' ? 2 : 0
      )
    })

    it('makes a mistake of a missing index where the entity insists', async () => {
      // On SQLite no statement has made it again.
      if (kind === 'mysql') await drop('products_name', 'products')
      const insisting = entities.map((one): Entity => (one.name === 'products' ? { ...one, indexes: 'required' } : one))
      const { mistakes } = await schemaReport(stores.databases.primary, 'primary', insisting)
      expect(saying(mistakes)).to.include(
        kind === 'sqlite'
          ? 'products: the sortable name has no index (products.name, id); a new migration must add it. ' +
              'addIndexes("products", (t) => [t.sorted("name")]) in a migration makes what serves it. Other ' +
              'programs could not write the table any more, since only the service has the order of texts'
          : 'products: the sortable name has no index (products.name, id); a new migration must add it'
      )
    })

    it('prints statements that run, whatever the names, and none for what no index can hold', async () => {
      const [table, place] = ['a'.repeat(40), 'p'.repeat(40)]
      const long = defineEntity({
        name: 'long-names',
        table,
        rowVersion: 'none',
        description: 'Long names.',
        fields: { id: readOnly(int()), [place]: int(), essay: text(2000) },
        label: 'id',
        filterable: [],
        sortable: ['essay', place],
        access: { read: everyone }
      } as never)
      const id = kind === 'sqlite' ? 'INTEGER PRIMARY KEY' : 'INT NOT NULL PRIMARY KEY AUTO_INCREMENT'
      const essay = kind === 'sqlite' ? 'TEXT' : 'TEXT CHARACTER SET utf8mb4'
      await stores.primary.query(`CREATE TABLE ${table} (id ${id}, ${place} INTEGER NOT NULL, essay ${essay} NOT NULL)`)
      const report = () => schemaReport(stores.databases.primary, 'primary', [long])
      const { warnings } = await report()
      const [ofEssay, ofPlace] = warnings.filter(({ text: said }) => said.includes('has no index'))
      expect(ofEssay?.statements).to.deep.equal([])
      expect(ofEssay?.text).to.match(
        kind === 'sqlite' ? /addIndexes\("a+"/ : /No index takes the whole of text: it sorts/
      )
      expect(ofPlace?.statements).to.have.length(1)
      for (const statement of ofPlace?.statements ?? []) await stores.primary.query(statement)
      const after = await report()
      expect(saying(after.warnings).filter((said) => said.includes('has no index'))).to.deep.equal([ofEssay?.text])
      await stores.primary.query(`DROP TABLE ${table}`)
    })

    it('looks at each store by itself', async () => {
      expect(await message('second')).to.equal('no mistakes')
      await stores.second.query(
        kind === 'sqlite'
          ? 'DROP INDEX product_reviews_product_id'
          : 'DROP INDEX product_reviews_product_id ON product_reviews'
      )
      const { warnings } = await schemaReport(stores.databases.second, 'second', entities)
      expect(saying(warnings).join()).to.match(/products\.reviews: no index leads with product_reviews\.product_id/)
    })
  })
})

/** Tables as others make them, by kind of database. */
const LEGACY = {
  mysql: [
    'CREATE TABLE `films` (`id` INT NOT NULL AUTO_INCREMENT PRIMARY KEY, `title` VARCHAR(10) COLLATE utf8mb4_general_ci, ' +
      "`length` SMALLINT UNSIGNED NOT NULL, `rate` DECIMAL(4,3) NOT NULL, `rating` ENUM('G','PG') NOT NULL, " +
      '`views` BIGINT NOT NULL, `seen_at` DATETIME NOT NULL, `is_new` VARCHAR(3) NOT NULL, `total` INT AS (`length` * 2), ' +
      '`code` INT NOT NULL, `version` INT NOT NULL, `stamp` TIMESTAMP NOT NULL, `bytes` VARBINARY(20)) ENGINE=InnoDB',
    'CREATE TABLE `keyless` (`id` INT NOT NULL, `name` VARCHAR(5) NOT NULL) ENGINE=InnoDB',
    'CREATE VIEW `film_list` AS SELECT `id`, `title` FROM `films`'
  ],
  sqlite: [
    'CREATE TABLE `films` (`id` INTEGER PRIMARY KEY AUTOINCREMENT, `title` VARCHAR(10), `length` INTEGER NOT NULL, ' +
      '`rate` DECIMAL(4,3) NOT NULL, `rating` TEXT NOT NULL, `views` INTEGER NOT NULL, `seen_at` DATETIME NOT NULL, ' +
      '`is_new` TEXT NOT NULL, `total` INT AS (`length` * 2), `code` INT NOT NULL, `version` INT NOT NULL, ' +
      '`stamp` TIMESTAMP NOT NULL, `bytes` TEXT)',
    'CREATE TABLE `keyless` (`id` INT NOT NULL, `name` VARCHAR(5) NOT NULL)',
    'CREATE VIEW `film_list` AS SELECT `id`, `title` FROM `films`'
  ]
}

const films = (rowVersionColumn: string): Entity =>
  defineEntity({
    name: 'films',
    description: 'Films.',
    rowVersionColumn,
    fields: {
      id: readOnly(int()),
      title: text(50),
      length: int(),
      rate: decimal(4, 2),
      rating: oneOf(['G']),
      views: int(),
      seenAt: dateTime(),
      isNew: bool(),
      bytes: optional(text(20)),
      total: optional(int()),
      stamp: filledByDatabase(optional(dateTime()))
    },
    label: 'length',
    filterable: ['title'],
    sortable: ['length'],
    access: { read: everyone, write: permission('x:y') },
    writes: ['create', 'update']
  })

eachDatabase((kind) => {
  describe(`the check of tables that others made on ${kind}`, () => {
    let stores: FreshStores
    let sql: TestDatabase
    before(async () => {
      stores = await freshStores(kind)
      sql = await openTestDatabase(stores.urls.DATABASE_URL)
      for (const statement of LEGACY[kind]) await sql.run(statement)
    })
    after(async () => {
      await sql.close()
      await stores.dispose()
    })
    const report = (...of: readonly Entity[]) => schemaReport(stores.databases.primary, 'primary', of)

    it('says of each column that does not hold its field what to say, and what to alter', async () => {
      const { mistakes } = await report(films('version'))
      const said = saying(mistakes).join('\n')
      const both = [
        'films: films.title may be NULL, and `title` never is: rows would be missing from pages. Say optional(…), or make the column NOT NULL',
        'films: films.total is computed by the database, and nobody else can set it. Say generated(…) of `total`',
        'films: films.stamp is NOT NULL, and `stamp` is optional(…): a null could not be stored. Leave out that word',
        'films: films.code is NOT NULL without a default, and no field names it: a create would fail. Name it in a field, or leave out `create`'
      ]
      const own = {
        mysql: [
          'films: films.title is varchar(10), and texts of more than 10 characters may have no room in it. Say text(10, 0) of `title`, or widen the column',
          'films: films.length is smallint(5) unsigned, and it has no room for numbers below 0 and above 65535. Say unsigned(smallInt()) of `length`, or widen the column',
          'films: films.rate is decimal(4,3), and its numbers have 3 digits after the point. Say decimal(4, 3) of `rate`',
          "films: films.rating is enum('G','PG'), and it may hold \"PG\" too. Say oneOf(['G', 'PG']) of `rating`",
          'films: films.views is bigint(20), and its numbers go from -9223372036854775808 to 9223372036854775807. Say long() of `views`',
          'films: films.seen_at is datetime, and it rounds to whole seconds. Say dateTime({ precision: 0 }) of `seenAt`, or widen the column',
          'films: films.bytes is varbinary(20), and texts of more than 5 characters may have no room in it. Say longText(20) of `bytes`',
          'films: films.is_new is varchar(3), and it holds no flag or number. Say text(3, 0) of `isNew`'
        ],
        sqlite: [
          'films: films.rate is DECIMAL(4,3), and a column declared DECIMAL(4,3) does not keep such values as they are. Say double() of `rate`, or make a view that converts it',
          'films: films.is_new is TEXT, and a column declared TEXT does not keep such values as they are. Say text(…) of `isNew`, or make a view that converts it'
        ]
      }[kind].map((one) => one.replace(/\. Say (decimal|oneOf|long|int)(\(.*)$/, '. Say $1$2'))
      for (const one of [...both, ...own]) expect(said).to.include(one)
      if (kind === 'mysql') {
        const [title] = mistakes.filter(({ text: one }) => one.includes('widen') && one.includes('films.title'))
        expect(title?.statements).to.deep.equal([
          'ALTER TABLE `films` MODIFY COLUMN `title` varchar(50) COLLATE utf8mb4_general_ci NULL'
        ])
      }
    })

    it('takes no counter and no timestamp for a row version, and prints the ALTER that adds one', async () => {
      for (const name of ['version', 'stamp']) {
        const { mistakes } = await report(films(name))
        const [found] = mistakes.filter(
          ({ text: one }) => one.startsWith(`films: films.${name} is`) && one.includes('8 bytes')
        )
        expect(found?.text).to.include('a counter or a timestamp that exists could repeat, and a stale tag would pass')
        expect(found?.statements[0]).to.match(
          /^ALTER TABLE `films` ADD COLUMN `row_version` (BINARY\(8\)|BLOB) NOT NULL DEFAULT/
        )
        expect(found?.text).to.include(found?.statements[0])
      }
    })

    it('names a table without a key, a view that is written, and texts that are compared otherwise', async () => {
      const named = (name: string, table: string, more: object): Entity =>
        defineEntity({
          name,
          table,
          description: '',
          rowVersion: 'none',
          fields: { id: readOnly(int()), title: column(table === 'keyless' ? 'name' : 'title', optional(text(10))) },
          label: 'id',
          filterable: [],
          sortable: [],
          access: { read: everyone, write: permission('x:y') },
          ...more
        })
      const keyless = await report(named('keyless', 'keyless', {}))
      expect(saying(keyless.mistakes), 'a table without a key is read as a view is').to.deep.equal([])
      expect(saying(keyless.warnings)).to.include(
        'keyless: nothing keeps two rows of keyless from the same id: a read that would leave one of two such rows out is 500'
      )
      const deleted = await report(named('keyless', 'keyless', { writes: ['delete'] }))
      expect(saying(deleted.mistakes)).to.include(
        'keyless: nothing keeps two rows of keyless from the same id. Make (id) its primary key, by which rows are found and locked'
      )
      const written = await report(named('film-list', 'film_list', { writes: ['delete'] }))
      expect(saying(written.mistakes)).to.include(
        'film-list: film_list is a view, which is only read. Leave out its writes and actions'
      )
      const read = await report(named('film-list', 'film_list', { sortable: ['title'], filterable: ['title'] }))
      expect(saying(read.mistakes), 'a view is read without a key, a version and indexes').to.deep.equal([])
      const { warnings } = await report(films('row_version'))
      const collations = saying(warnings).filter((one) => one.includes('compares'))
      expect(collations).to.deep.equal(
        kind === 'sqlite'
          ? []
          : [
              'films: films compares title by utf8mb4_general_ci: accents do not count, spaces at the end do not count. Filters, sorts and unique values follow that'
            ]
      )
    })

    it('knows that the trigger of the row version fills no other column', async () => {
      const code = 'films: films.code is NOT NULL without a default, and no field names it'
      const isSaid = async (): Promise<boolean> =>
        saying((await report(films('row_version'))).mistakes).some((one) => one.startsWith(code))
      const { mistakes, triggers } = await report(films('row_version'))
      const added = mistakes.find(({ text: one }) => one.includes('has no column row_version'))
      for (const one of [...(added?.statements ?? []), ...(triggers[0]?.statements ?? [])]) await sql.run(one)
      expect(saying((await report(films('row_version'))).triggers)[0]).to.include('other programs advance the version')
      expect(await isSaid(), 'with the triggers of the row version').to.equal(true)
      await sql.run(
        kind === 'sqlite'
          ? 'CREATE TRIGGER other BEFORE INSERT ON films BEGIN SELECT 1; END'
          : 'CREATE TRIGGER other BEFORE INSERT ON films FOR EACH ROW SET NEW.code = 1'
      )
      expect(await isSaid(), 'with a trigger that may fill the column').to.equal(false)
    })

    it('has nothing against an entity file that says what there is', async () => {
      const fitting = defineEntity({
        name: 'films',
        description: 'Films, read only.',
        rowVersion: 'none',
        fields: {
          id: readOnly(int()),
          title: optional(text(50)),
          views: long(),
          total: generated(optional(int())),
          code: column('code', int())
        },
        label: 'id',
        filterable: [],
        sortable: ['id'],
        access: { read: everyone }
      })
      const { mistakes, warnings, triggers } = await report(fitting)
      expect({ mistakes, warnings, triggers }).to.deep.equal({ mistakes: [], warnings: [], triggers: [] })
    })
  })
})

describe('what the check says of many tables', () => {
  const finding = (table: string, what: string): Finding => ({
    text: `${table}: ${what}`,
    statements: [`ALTER ${table}`],
    alike: { what, one: table }
  })
  const other: Finding = { text: 'something else', statements: [] }

  it('is told once where it is the same, with all tables and statements, and in the place of the first', () => {
    const many = ['a', 'b', 'c', 'd'].map((table) => finding(table, 'accents do not count'))
    const few = ['a', 'b', 'c'].map((table) => finding(table, 'there is no index'))
    const [first, ...others] = many
    if (first === undefined) throw new Error('unreachable')
    expect(summarized([first, other, ...few, ...others])).to.deep.equal([
      { text: 'accents do not count: a; b; c; d', statements: ['ALTER a', 'ALTER b', 'ALTER c', 'ALTER d'] },
      other,
      ...few
    ])
  })
})
