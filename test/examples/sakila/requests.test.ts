import { expect } from 'chai'
import {
  type DatabaseKind,
  eachDatabase,
  filter,
  type FreshDatabase,
  type RawRow,
  type Stack,
  type StackAnswer,
  type StackRequest,
  startStack,
  withTestDatabase
} from 'uniform-rest/testing'
import { freshSakila, loadSakila, SAKILA_APP } from './sakila-database.js'

/** Expressions that give a column in the form of the wire, since the two databases store moments and amounts differently. */
interface Forms {
  readonly moment: (column: string) => string
  readonly amount: (column: string) => string
}

const FORMS: Record<DatabaseKind, Forms> = {
  mysql: {
    moment: (column) => `DATE_FORMAT(${column}, '%Y-%m-%dT%H:%i:%s.000Z')`,
    amount: (column) => `CAST(${column} AS CHAR)`
  },
  sqlite: {
    moment: (column) => column,
    amount: (column) => `PRINTF('%d.%02d', ${column} / 100, ${column} % 100)`
  }
}

eachDatabase((kind) => {
  describe(`the second example on ${kind}`, () => {
    const { moment, amount } = FORMS[kind]
    let database: FreshDatabase
    let stack: Stack
    let token = ''
    before(async () => {
      database = await freshSakila(kind)
      await loadSakila(database.url, 'row-versions')
      stack = await startStack({ app: SAKILA_APP, database, amongTables: true })
      token = stack.token({ sub: 'mike', role: 'Admin' })
    })
    after(async () => {
      await stack?.stop()
      await database?.dispose()
    })

    const call = (target: string, request: StackRequest = {}): Promise<StackAnswer> =>
      stack.call(target, { token, ...request })
    const sql = (statement: string): Promise<RawRow[]> => withTestDatabase(database.url, (one) => one.run(statement))
    const ids = async (target: string): Promise<string[]> => {
      const answer = await call(target)
      expect(answer.status, answer.text).to.equal(200)
      return (answer.body as readonly { readonly id: unknown }[]).map(({ id }) => String(id))
    }
    const idsBySql = async (statement: string): Promise<string[]> => (await sql(statement)).map(({ id }) => String(id))

    const FILM = `SELECT film_id AS id, title, description, release_year, language_id, original_language_id,
      rental_duration, ${amount('rental_rate')} AS rental_rate, length, ${amount('replacement_cost')} AS replacement_cost,
      rating, special_features, ${moment('last_update')} AS last_update, HEX(row_version) AS row_version FROM film`

    it('shows a film whole: year, amounts, enumeration, set, the time that the database keeps', async () => {
      for (const id of [1, 2, 3, 30]) {
        const [row] = await sql(`${FILM} WHERE film_id = ${id}`)
        expect((await call(`/films/${id}`)).body, `film ${id}`).to.deep.equal(filmOf(row))
      }
      const first = await call('/films/1')
      expect(first.body).to.include({ releaseYear: 1901 })
      expect((await call('/films/3')).body).to.deep.include({ specialFeatures: [] })
    })

    it('filters by the words of an enumeration, by years, and by words of a set', async () => {
      const paged = '/films/paged?pageSize=100&'
      expect(await ids(`${paged}${filter('rating', 'in', 'PG-13,NC-17')}`)).to.deep.equal(
        await idsBySql("SELECT film_id AS id FROM film WHERE rating IN ('PG-13', 'NC-17') ORDER BY 1")
      )
      expect(await ids(`${paged}${filter('rating', 'not equals', 'G')}`)).to.deep.equal(
        await idsBySql("SELECT film_id AS id FROM film WHERE rating <> 'G' OR rating IS NULL ORDER BY 1")
      )
      expect(await ids(`${paged}${filter('releaseYear', 'between', '1901,1970')}`)).to.deep.equal(
        await idsBySql('SELECT film_id AS id FROM film WHERE release_year BETWEEN 1901 AND 1970 ORDER BY 1')
      )
      expect(await ids(`${paged}${filter('specialFeatures', 'contains', 'Deleted Scenes')}`)).to.deep.equal(
        await idsBySql("SELECT film_id AS id FROM film WHERE special_features LIKE '%Deleted Scenes%' ORDER BY 1")
      )
      expect(await ids(`${paged}${filter('specialFeatures', 'is empty', '')}`)).to.deep.equal(
        await idsBySql(
          "SELECT film_id AS id FROM film WHERE special_features IS NULL OR special_features = '' ORDER BY 1"
        )
      )
      const unknown = await call(`${paged}${filter('rating', 'equals', 'X')}`)
      expect([unknown.status, (unknown.body as { code: string }).code]).to.deep.equal([400, 'filter.value.invalid'])
    })

    it('changes a film once for each version, and shows the time that the database then wrote', async () => {
      const before = await call('/films/7')
      const { id: _id, lastUpdate: _kept, rowVersion: _version, ...members } = before.body as Record<string, unknown>
      const body = { ...members, rentalRate: '1.49', rating: 'NC-17', specialFeatures: ['Commentaries', 'Trailers'] }
      const changed = await call('/films/7', { method: 'PUT', ifMatch: before.headers.etag, body })
      expect(changed.status, changed.text).to.equal(200)
      const [row] = await sql(`${FILM} WHERE film_id = 7`)
      expect(changed.body).to.deep.equal(filmOf(row))
      expect(changed.body).to.deep.include({ rentalRate: '1.49', specialFeatures: ['Trailers', 'Commentaries'] })
      expect((changed.body as { lastUpdate: string }).lastUpdate > '2020').to.equal(true)
      const stale = await call('/films/7', { method: 'PUT', ifMatch: before.headers.etag, body })
      expect([stale.status, (stale.body as { code: string }).code]).to.deep.equal([412, 'conflict'])
      const texts = await sql(
        'SELECT f.title AS film, t.title AS copy FROM film f JOIN film_text t ON t.film_id = f.film_id WHERE f.film_id = 7'
      )
      expect(texts[0]?.['copy']).to.equal(texts[0]?.['film'])
    })

    it('finds the rows of composite keys', async () => {
      const [role] = await sql(
        `SELECT actor_id, film_id, ${moment('last_update')} AS last_update, HEX(row_version) AS row_version
         FROM film_actor WHERE film_id = 23 ORDER BY actor_id LIMIT 1`
      )
      const actorId = Number(role?.['actor_id'])
      const found = await call(`/film-actors/${actorId},23`)
      expect(found.body).to.deep.equal({
        id: `${actorId},23`,
        actorId,
        filmId: 23,
        lastUpdate: role?.['last_update'],
        rowVersion: versionOf(role)
      })
      expect((await call('/film-actors/23')).status).to.equal(400)
      expect((await call(`/film-actors/${actorId},60`)).status).to.equal(404)
      const [free] = await sql(
        'SELECT MIN(a.actor_id) AS id FROM actor a WHERE a.actor_id NOT IN (SELECT actor_id FROM film_actor WHERE film_id = 23)'
      )
      const created = await call('/film-actors', { body: { actorId: Number(free?.['id']), filmId: 23 } })
      expect(created.status, created.text).to.equal(201)
      expect(new URL(String(created.headers.location)).pathname).to.equal(`/film-actors/${String(free?.['id'])},23`)
      expect((await call(`/film-actors/${String(free?.['id'])},23`, { method: 'DELETE' })).status).to.equal(204)
    })

    it('finds vouchers by their code, whatever characters it has', async () => {
      const vouchers = await sql(
        `SELECT code, customer_id, ${amount('amount')} AS amount, valid_from, valid_until, is_redeemed,
         ${moment('last_update')} AS last_update, HEX(row_version) AS row_version FROM voucher`
      )
      for (const row of vouchers) {
        const answer = await call(`/vouchers/${encodeURIComponent(String(row['code']))}`)
        expect(answer.body, String(row['code'])).to.deep.equal({
          id: row['code'],
          customerId: numberOf(row['customer_id']),
          amount: row['amount'],
          validFrom: row['valid_from'],
          validUntil: row['valid_until'],
          isRedeemed: Number(row['is_redeemed']) === 1,
          lastUpdate: row['last_update'],
          rowVersion: versionOf(row)
        })
      }
      const body = { id: 'NEW/1,2%', amount: '12.50', validFrom: '2026-02-28' }
      const created = await call('/vouchers', { body })
      expect(created.status, created.text).to.equal(201)
      const again = await call(new URL(String(created.headers.location)).pathname)
      expect(again.body).to.deep.include({ id: 'NEW/1,2%', amount: '12.50', customerId: null, isRedeemed: false })
    })

    it('keeps every digit of a key of 64 bits', async () => {
      const [event] = await sql('SELECT MIN(rental_event_id) AS id FROM rental_event')
      expect(String(event?.['id'])).to.equal('9007199254740993')
      const found = await call('/rental-events/9007199254740993')
      expect((found.body as { id: unknown }).id).to.equal('9007199254740993')
      const created = await call('/rental-events', {
        body: {
          rentalId: 5,
          kind: 'damaged',
          happenedAt: '2026-01-31T08:00:00.123456Z',
          detail: { note: 'ü', boxes: [1.0] }
        }
      })
      expect(created.status, created.text).to.equal(201)
      const [stored] = await sql(`SELECT MAX(rental_event_id) AS id FROM rental_event`)
      expect(created.body).to.deep.include({
        id: String(stored?.['id']),
        kind: 'damaged',
        happenedAt: '2026-01-31T08:00:00.123456Z',
        detail: { note: 'ü', boxes: [1] }
      })
      expect(await ids(`/rental-events/paged?${filter('id', 'greater than', '9007199254741191')}`)).to.deep.equal(
        await idsBySql(
          'SELECT rental_event_id AS id FROM rental_event WHERE rental_event_id > 9007199254741191 ORDER BY 1'
        )
      )
      if (kind === 'sqlite') return
      await sql(
        "INSERT INTO rental_event (rental_event_id, rental_id, kind, happened_at) VALUES (18446744073709551614, 1, 'reserved', '2026-01-01')"
      )
      const greatest = await call('/rental-events/18446744073709551614')
      expect(greatest.body).to.deep.include({ id: '18446744073709551614', happenedAt: '2026-01-01T00:00:00.000000Z' })
    })

    it('finds a store on a day by a key that holds a date', async () => {
      const days = await sql(
        `SELECT store_id, business_date, opened_at, closed_at, ${amount('cash')} AS cash, remarks,
         HEX(row_version) AS row_version FROM store_day ORDER BY store_id, business_date`
      )
      const dtos = days.map((row) => ({
        id: `${String(row['store_id'])},${String(row['business_date'])}`,
        storeId: Number(row['store_id']),
        businessDate: row['business_date'],
        openedAt: row['opened_at'],
        closedAt: row['closed_at'],
        cash: row['cash'],
        remarks: row['remarks'],
        rowVersion: versionOf(row)
      }))
      expect(dtos.length).to.be.above(3)
      for (const day of dtos.slice(0, 4)) expect((await call(`/store-days/${day.id}`)).body).to.deep.equal(day)
      const walked: unknown[] = []
      for (let cursor = ''; ;) {
        const page = await call(`/store-days/paged?pageSize=3${cursor}`)
        walked.push(...(page.body as unknown[]))
        const next = page.headers['x-next-cursor']
        if (next === undefined) break
        cursor = `&after=${String(next)}`
      }
      expect(walked, 'by cursors').to.deep.equal(dtos)
      const since = dtos[2]?.businessDate
      expect(
        await ids(`/store-days/paged?pageSize=100&${filter('businessDate', 'is on or after', String(since))}`)
      ).to.deep.equal(dtos.filter(({ businessDate }) => String(businessDate) >= String(since)).map(({ id }) => id))
      for (const malformed of ['1', '1,2005-5-24', '1,2005-02-30', '1,2005-05-24T00:00:00Z', '2005-05-24,1']) {
        expect((await call(`/store-days/${malformed}`)).status, malformed).to.equal(400)
      }
      expect((await call('/store-days/1,1999-12-31')).status).to.equal(404)
      const body = { storeId: 2, businessDate: '2024-02-29', openedAt: '07:00:00', cash: '12.50' }
      const created = await call('/store-days', { body })
      expect(created.status, created.text).to.equal(201)
      expect(new URL(String(created.headers.location)).pathname).to.equal('/store-days/2,2024-02-29')
      const again = await call('/store-days', { body })
      expect(again.status).to.equal(409)
      const closed = { openedAt: '07:00:00', closedAt: '20:15:00', cash: '99.90', remarks: 'leap day' }
      const ifMatch = created.headers.etag
      expect((await call('/store-days/2,2024-02-29', { method: 'PUT', ifMatch, body: closed })).status).to.equal(200)
      const [stored] = await sql(
        `SELECT closed_at, ${amount('cash')} AS cash, remarks FROM store_day WHERE store_id = 2 AND business_date = '2024-02-29'`
      )
      expect(stored).to.deep.equal({ closed_at: '20:15:00', cash: '99.90', remarks: 'leap day' })
      expect((await call('/store-days/2,2024-02-29', { method: 'DELETE' })).status).to.equal(204)
    })

    it('serves views read-only', async () => {
      const customers = await sql(
        'SELECT ID, name, address, `zip code` AS zip_code, phone, city, country, notes, SID FROM customer_list ORDER BY ID'
      )
      expect((await call('/customer-list')).body).to.deep.equal(
        customers.map((row) => ({
          id: Number(row['ID']),
          name: row['name'],
          address: row['address'],
          zipCode: row['zip_code'],
          phone: row['phone'],
          city: row['city'],
          country: row['country'],
          notes: row['notes'],
          storeId: Number(row['SID'])
        }))
      )
      const sales = await sql(`SELECT store, manager, ${amount('total_sales')} AS total_sales FROM sales_by_store`)
      for (const row of sales) {
        const answer = await call(`/sales-by-store/${encodeURIComponent(String(row['store']))}`)
        expect(answer.body).to.deep.equal({ id: row['store'], manager: row['manager'], totalSales: row['total_sales'] })
      }
      // `notes` is an expression of two literals.
      for (const [operator, operand, condition] of [
        ['equals', 'ACTIVE', "notes = 'active'"],
        ['not contains', 'act', "notes = ''"]
      ] as const) {
        expect(await ids(`/customer-list/paged?pageSize=500&${filter('notes', operator, operand)}`)).to.deep.equal(
          await idsBySql(`SELECT ID AS id FROM customer_list WHERE ${condition} ORDER BY ID`)
        )
      }
      const [most] = await sql(`SELECT store, ${amount('MAX(total_sales)')} AS total FROM sales_by_store`)
      expect(
        (await ids(`/sales-by-store/paged?${filter('totalSales', 'gte', String(most?.['total']))}`)).length
      ).to.equal(1)
      const none = await call('/customer-list', { body: {} })
      expect(none.status).to.equal(405)
    })

    it('shows what a film refers to, and who plays in it', async () => {
      const answer = await call('/films/5?includeFKs=true')
      expect(answer.status, answer.text).to.equal(200)
      expect((answer.body as { readonly language: unknown }).language).to.deep.include({ name: 'English' })
      const roles = await call(`/film-actors/paged?includeFKs=true&pageSize=100&${filter('filmId', 'equals', '5')}`)
      const actors = await sql(
        'SELECT fa.actor_id, a.last_name FROM film_actor fa JOIN actor a ON a.actor_id = fa.actor_id WHERE fa.film_id = 5 ORDER BY 1'
      )
      expect(
        (roles.body as readonly { readonly id: string; readonly actor: { readonly lastName: string } }[]).map(
          ({ id, actor }) => [id, actor.lastName]
        )
      ).to.deep.equal(actors.map((row) => [`${String(row['actor_id'])},5`, row['last_name']]))
    })

    it('shows the actors and the categories of a film, the films of an actor, and the rentals of a customer', async () => {
      const film = await call('/films/5?includeChildren=true&fields=actors,categories')
      expect(film.status, film.text).to.equal(200)
      const { actors, categories } = film.body as Readonly<Record<string, readonly { id: number; lastName: string }[]>>
      const ofFilm = await sql(
        'SELECT a.actor_id, a.last_name FROM film_actor fa JOIN actor a ON a.actor_id = fa.actor_id ' +
          'WHERE fa.film_id = 5 ORDER BY a.last_name, a.first_name, a.actor_id'
      )
      expect(ofFilm).to.not.be.empty
      expect(actors?.map(({ id, lastName }) => [id, lastName])).to.deep.equal(
        ofFilm.map((row) => [Number(row['actor_id']), row['last_name']])
      )
      const ids = async (text: string): Promise<number[]> => (await sql(text)).map((row) => Number(row['id']))
      expect(categories?.map(({ id }) => id)).to.deep.equal(
        await ids('SELECT category_id AS id FROM film_category WHERE film_id = 5 ORDER BY category_id')
      )
      const actor = await call(`/actors/${actors?.[0]?.id}?includeChildren=true`)
      expect((actor.body as { films: readonly { id: number }[] }).films.map(({ id }) => id)).to.have.members(
        await ids(`SELECT film_id AS id FROM film_actor WHERE actor_id = ${actors?.[0]?.id}`)
      )
      const customer = await call('/customers/1?includeChildren=true')
      expect((customer.body as { rentals: readonly { id: number }[] }).rentals.map(({ id }) => id)).to.deep.equal(
        await ids('SELECT rental_id AS id FROM rental WHERE customer_id = 1 ORDER BY rental_id')
      )
    })

    it('shows no password, no place, and a picture in base64', async () => {
      const [row] = await sql('SELECT HEX(picture) AS picture FROM staff WHERE staff_id = 1')
      const picture = Buffer.from(String(row?.['picture']), 'hex').toString('base64')
      const staff = (await call('/staff/1')).body as Record<string, unknown>
      expect(staff['picture']).to.equal(picture)
      expect(staff).to.not.have.property('password')
      expect((await call('/addresses/1')).body).to.not.have.property('location')
    })

    it('answers a create with the date that the trigger set', async () => {
      const created = await call('/rentals', { body: { inventoryId: 3, customerId: 4, staffId: 1 } })
      expect(created.status, created.text).to.equal(201)
      const { id, rentalDate } = created.body as { readonly id: number; readonly rentalDate: string }
      const [row] = await sql(`SELECT ${moment('rental_date')} AS rental_date FROM rental WHERE rental_id = ${id}`)
      expect(rentalDate).to.equal(row?.['rental_date'])
      expect(rentalDate > '2020').to.equal(true)
    })
  })
})

function filmOf(row: RawRow | undefined): unknown {
  const features = row?.['special_features']
  return {
    id: Number(row?.['id']),
    title: row?.['title'],
    description: row?.['description'],
    releaseYear: numberOf(row?.['release_year']),
    languageId: Number(row?.['language_id']),
    originalLanguageId: numberOf(row?.['original_language_id']),
    rentalDuration: Number(row?.['rental_duration']),
    rentalRate: row?.['rental_rate'],
    length: numberOf(row?.['length']),
    replacementCost: row?.['replacement_cost'],
    rating: row?.['rating'],
    specialFeatures:
      features === null
        ? null
        : String(features)
            .split(',')
            .filter((word) => word !== ''),
    lastUpdate: row?.['last_update'],
    rowVersion: versionOf(row)
  }
}

function numberOf(value: RawRow[string] | undefined): number | null {
  return value === null || value === undefined ? null : Number(value)
}

/** Selected in hex, on the wire in base64. */
function versionOf(row: RawRow | undefined): string {
  return Buffer.from(String(row?.['row_version']), 'hex').toString('base64')
}
