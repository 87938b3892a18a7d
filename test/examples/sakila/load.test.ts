import { expect } from 'chai'
import {
  type DatabaseKind,
  eachDatabase,
  type FreshDatabase,
  type RawRow,
  type TestDatabase,
  withTestDatabase
} from 'uniform-rest/testing'
import { sakilaRows, type SqlValue } from '../../../examples/sakila/rows.js'
import { isSoak } from '../../harness/in-soak.js'
import { freshSakila, loadSakila } from './sakila-database.js'

/** Views with a column that orders their rows. */
const VIEWS = [
  ['customer_list', 'ID'],
  ['film_list', 'FID'],
  ['staff_list', 'ID'],
  ['sales_by_store', 'store'],
  ['sales_by_film_category', 'category'],
  ['actor_info', 'actor_id']
] as const

/** The columns that hold bytes; they are read in hex. */
const BYTES = ['location', 'picture']

const views = new Map<string, readonly RawRow[]>()

eachDatabase((kind) => {
  describe(`the database of the second example on ${kind}`, () => {
    let database: FreshDatabase
    before(async () => {
      database = await freshSakila(kind)
    })
    after(() => database?.dispose())

    it('holds the rows that the generator makes', async () => {
      await withTestDatabase(database.url, async (sql) => {
        for (const { table, columns, rows } of sakilaRows('small')) {
          const names = columns.map((name) =>
            BYTES.includes(name) ? `CASE WHEN ${name} IS NOT NULL THEN HEX(${name}) END AS ${name}` : name
          )
          const stored = await sql.run(`SELECT ${names.join(', ')} FROM ${table} ORDER BY 1, 2`)
          const expected = rows.map((row) => row.map((value) => storedValue(kind, value)))
          expect(stored.map(Object.values).map(normal).toSorted(), table).to.deep.equal(expected.map(normal).toSorted())
        }
      })
    })

    it('has views of the same rows on every kind of database', async () => {
      await withTestDatabase(database.url, async (sql) => {
        for (const [view, key] of VIEWS) {
          const rows = (await sql.run(`SELECT * FROM ${view} ORDER BY ${key}`)).map((row) => normalRow(row, kind))
          expect(rows, view).to.not.be.empty
          const others = views.get(view)
          views.set(view, rows)
          if (others !== undefined) expect(byText(rows), view).to.deep.equal(byText(others))
        }
      })
    })

    it('has foreign keys that hold, and triggers that keep film_text, the dates and last_update', async () => {
      await withTestDatabase(database.url, async (sql) => {
        expect(await orphans(sql)).to.deep.equal([])
        await sql.run(
          "INSERT INTO film (title, language_id, special_features) VALUES ('NEW ARRIVAL', 1, 'Trailers,Commentaries')"
        )
        await sql.run("UPDATE film SET title = 'OLD ARRIVAL' WHERE title = 'NEW ARRIVAL'")
        const texts =
          "SELECT f.rating, t.title FROM film f JOIN film_text t ON t.film_id = f.film_id WHERE f.title LIKE '% ARRIVAL'"
        expect(await sql.run(texts)).to.deep.equal([{ rating: 'G', title: 'OLD ARRIVAL' }])
        await sql.run("DELETE FROM film WHERE title = 'OLD ARRIVAL'")
        expect(await sql.run("SELECT title FROM film_text WHERE title LIKE '% ARRIVAL'")).to.deep.equal([])
        await sql.run("UPDATE actor SET first_name = 'ADA' WHERE actor_id = 1")
        const [actor] = await sql.run("SELECT last_update > '2010-01-01' AS is_new FROM actor WHERE actor_id = 1")
        expect(Number(actor?.['is_new'])).to.equal(1)
        await sql.run(
          "INSERT INTO rental (rental_date, inventory_id, customer_id, staff_id) VALUES ('2005-01-01', 1, 1, 1)"
        )
        const [rental] = await sql.run("SELECT MAX(rental_date) > '2010-01-01' AS is_new FROM rental")
        expect(Number(rental?.['is_new'])).to.equal(1)
      })
    })

    it('is not made a second time', async () => {
      const failed = await loadSakila(database.url, 'small').then(
        () => 'made',
        (error: unknown) => String(error)
      )
      expect(failed).to.match(/table '?actor'? already exists/i)
    })

    // Other tests have the smaller sizes, which the same code makes.
    if (isSoak)
      it('has a full size too', async () => {
        const full = await freshSakila(kind, 'full')
        try {
          await withTestDatabase(full.url, async (sql) => {
            const counts = await Promise.all(
              ['film', 'actor', 'customer', 'rental'].map(async (table) => {
                const [row] = await sql.run(`SELECT COUNT(*) AS n FROM ${table}`)
                return Number(row?.['n'])
              })
            )
            expect(counts).to.deep.equal([1000, 200, 600, 16_000])
            const [titles] = await sql.run('SELECT COUNT(DISTINCT title) AS n FROM film')
            expect(Number(titles?.['n'])).to.equal(1000)
            expect(await orphans(sql)).to.deep.equal([])
          })
        } finally {
          await full.dispose()
        }
      })
  })
})

const REFERENCES = [
  'address.city_id city',
  'city.country_id country',
  'customer.address_id address',
  'customer.store_id store',
  'film.language_id language',
  'film.original_language_id language.language_id',
  'film_actor.actor_id actor',
  'film_actor.film_id film',
  'film_category.film_id film',
  'film_category.category_id category',
  'inventory.film_id film',
  'inventory.store_id store',
  'payment.rental_id rental',
  'payment.customer_id customer',
  'payment.staff_id staff',
  'rental.inventory_id inventory',
  'rental.customer_id customer',
  'rental.staff_id staff',
  'rental_event.rental_id rental',
  'staff.store_id store',
  'staff.address_id address',
  'store.manager_staff_id staff.staff_id',
  'store.address_id address',
  'store_day.store_id store',
  'voucher.customer_id customer'
]

/** Rows that refer to none, for every foreign key: MySQL does not look at rows that come while its checks are off. */
async function orphans(sql: TestDatabase): Promise<string[]> {
  const found: string[] = []
  for (const reference of REFERENCES) {
    const [from = '', to = ''] = reference.split(' ')
    const [table = '', column = ''] = from.split('.')
    const [target = '', key = column] = to.split('.')
    const rows = await sql.run(
      `SELECT 1 AS one FROM ${table} f LEFT JOIN ${target} t ON t.${key} = f.${column} WHERE f.${column} IS NOT NULL AND t.${key} IS NULL`
    )
    if (rows.length > 0) found.push(reference)
  }
  return found
}

/** A value of the generator as mysql.sql and sqlite.sql say that their columns hold it. */
function storedValue(kind: DatabaseKind, value: SqlValue): RawRow[string] {
  if (value === null || typeof value !== 'object') return value
  if (Buffer.isBuffer(value)) return value.toString('hex').toUpperCase()
  if ('cents' in value) return kind === 'sqlite' ? value.cents : value.cents / 100
  if (kind === 'mysql') return value.moment
  const [second = '', fraction = '000'] = value.moment.split('.')
  return `${second.replace(' ', 'T')}.${fraction}Z`
}

/** A row as text, whatever its driver made of numbers. */
function normal(values: readonly RawRow[string][]): string {
  return JSON.stringify(values.map(normalValue))
}

/** The columns of views that hold amounts. */
const AMOUNTS = ['price', 'total_sales']

function normalRow(row: RawRow, kind: DatabaseKind): RawRow {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      normalValue(kind === 'sqlite' && AMOUNTS.includes(name) ? Number(value) / 100 : value)
    ])
  )
}

/** Rows in one order: that of the databases differs in letter case and accents. */
function byText(rows: readonly RawRow[]): string[] {
  return rows.map((row) => JSON.stringify(row)).toSorted()
}

function normalValue(value: RawRow[string] | undefined): string | null {
  if (value === null || value === undefined) return null
  const text = String(value)
  // MySQL puts blanks into JSON.
  if (text.startsWith('{')) return JSON.stringify(JSON.parse(text))
  return /^-?\d+\.\d+$/.test(text) ? String(Number(text)) : text
}
