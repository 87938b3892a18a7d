import { expect } from 'chai'
import { filter, ids, json } from '../api/http-call.js'
import { StatementLog } from '../api/statement-log.js'
import { describeLibrary, type LibraryStore } from './describe-library.js'

const LIBRARIAN = { role: 'Librarian', sub: 'x' }
const BODY = { 'content-type': 'application/json' }
const BRANCHES = ['a', 'b', 'c', 'd'].map((one) => `${one.repeat(8)}-0000-4000-8000-000000000000`)

async function fillRooms({ sql }: LibraryStore): Promise<void> {
  const insert = async (into: string, rows: readonly (readonly (string | number | null)[])[]): Promise<void> => {
    for (const row of rows) {
      await sql.run(`INSERT INTO ${into.replace(')', ', row_version)')} VALUES (${row.map(() => '?').join(', ')}, ?)`, [
        ...row,
        Buffer.alloc(8, 1)
      ])
    }
  }
  await insert('legacy_regions (region_no, region_title, height_m)', [
    [1, 'North', 900],
    [2, 'South', null],
    [3, 'East', 20]
  ])
  await insert('legacy_cities (id, city_name, region_ref)', [
    [1, 'Arn', 1],
    [2, 'Bex', 2],
    [3, 'Cul', null],
    [4, 'Dorn', 3]
  ])
  await insert('legacy_branches (branch_key, branch_title, city_ref)', [
    [BRANCHES[0] ?? '', 'Main', 1],
    [BRANCHES[1] ?? '', 'Harbour', 2],
    [BRANCHES[2] ?? '', 'Mill', null],
    [BRANCHES[3] ?? '', 'Abbey', 3]
  ])
  await insert(
    'legacy_rooms (room_no, room_number, branch_ref, n_seats)',
    Array.from({ length: 25 }, (_, n) => [n + 1, `R${n}`, n % 5 === 4 ? null : (BRANCHES[n % 5] ?? null), (n % 3) + 1])
  )
  await insert('legacy_desks (desk_no, room_ref, desk_label)', [
    [1, 1, 'window'],
    [2, 1, 'door'],
    [3, 2, 'wall']
  ])
}

/** The rooms with all that their paths lead to, in SQL of our own. */
const FROM =
  'legacy_rooms t LEFT JOIN legacy_branches b ON b.branch_key = t.branch_ref LEFT JOIN legacy_cities c ON ' +
  'c.id = b.city_ref LEFT JOIN legacy_regions r ON r.region_no = c.region_ref'

const SORTS: readonly (readonly [property: string, sql: string])[] = [
  ['seats', 't.n_seats'],
  ['branchName', 'b.branch_title'],
  ['cityName', 'c.city_name'],
  ['regionTitle', 'r.region_title'],
  ['regionAltitude', 'r.height_m']
]

const FILTERS: readonly (readonly [property: string, operator: string, value: string, where: string])[] = [
  ['seats', 'gte', '2', 't.n_seats >= 2'],
  ['number', 'in', 'R1,R7', "t.room_number IN ('R1', 'R7')"],
  ['branchId', 'is empty', '', 't.branch_ref IS NULL'],
  ['branchName', 'starts with', 'm', "b.branch_title IN ('Main', 'Mill')"],
  ['cityName', 'equals', 'Bex', "c.city_name = 'Bex'"],
  ['cityName', 'is empty', '', 'c.city_name IS NULL'],
  ['regionTitle', 'contains', 'o', "r.region_title IN ('North', 'South')"],
  ['regionTitle', 'not equals', 'North', "(r.region_title <> 'North' OR r.region_title IS NULL)"],
  ['regionAltitude', 'gt', '100', 'r.height_m > 100'],
  ['regionAltitude', 'is not empty', '', 'r.height_m IS NOT NULL']
]

/** source.md, reads, rule 5 and the filterable map: a DTO name stands for any column, or for a path. */
describeLibrary(
  'DTO names apart from columns',
  (store, kind) => {
    before(() => fillRooms(store))

    const idsBy = async (where: string, order = 't.room_no'): Promise<number[]> =>
      (await store.sql.run(`SELECT t.room_no AS id FROM ${FROM} WHERE ${where} ORDER BY ${order}`)).map(({ id }) =>
        Number(id)
      )
    /** Nulls come first ascending and last descending, which is the order of both databases. */
    const read = (query: string) => store.as(undefined, `/rooms/paged?pageSize=500&${query}`)

    it('show each property from its column, and null where a step of a path is null', async () => {
      const stored = await store.sql.run(
        `SELECT t.room_no, t.room_number, t.branch_ref, t.n_seats, b.branch_title, c.city_name, r.region_title, r.height_m FROM ${FROM} ORDER BY t.room_no`
      )
      const shown = json(await store.as(undefined, '/rooms')) as Record<string, unknown>[]
      expect(shown.map(({ rowVersion: _version, ...room }) => room)).to.deep.equal(
        stored.map((row) => ({
          id: Number(row['room_no']),
          number: row['room_number'],
          branchId: row['branch_ref'],
          seats: Number(row['n_seats']),
          isBooked: null,
          colour: null,
          branchName: row['branch_title'],
          cityName: row['city_name'],
          regionTitle: row['region_title'],
          regionAltitude: row['height_m'] === null ? null : Number(row['height_m'])
        }))
      )
    })

    for (const [property, operator, value, where] of FILTERS) {
      it(`filter by ${property} ${operator} ${value}`, async () => {
        const answer = await read(filter(property, operator, value))
        const expected = await idsBy(where)
        expect(expected).to.not.be.empty
        expect(ids(answer)).to.deep.equal(expected)
        expect(answer.headers['x-total-count']).to.equal(String(expected.length))
      })
    }

    for (const [property, column] of SORTS) {
      for (const direction of ['asc', 'desc'] as const) {
        it(`sort pages and exports by ${property} ${direction}`, async () => {
          const expected = await idsBy('1 = 1', `${column} ${direction}, t.room_no ${direction}`)
          const sort = `sortColumn=${property}&sortDirection=${direction}`
          expect(ids(await read(sort))).to.deep.equal(expected)
          expect(ids(await store.as(undefined, `/rooms/paged?pageSize=7&pageNumber=2&${sort}`))).to.deep.equal(
            expected.slice(7, 14)
          )
          const walked: unknown[] = []
          for (let after = ''; walked.length < 100;) {
            const page = await store.as(undefined, `/rooms/paged?includeTotal=false&pageSize=4&${sort}${after}`)
            walked.push(...ids(page))
            const next = page.headers['x-next-cursor']
            if (typeof next !== 'string') break
            after = `&after=${encodeURIComponent(next)}`
          }
          expect(walked, 'by cursors').to.deep.equal(expected)
          const csv = await store.as(undefined, `/rooms/export?bom=false&fields=id&${sort}`)
          expect(csv.text.split('\r\n').slice(1, -1).map(Number)).to.deep.equal(expected)
          const narrowed = await read(`${sort}&${filter('cityName', 'is not empty', '')}&fields=id,number`)
          expect(ids(narrowed)).to.deep.equal(
            await idsBy('c.city_name IS NOT NULL', `${column} ${direction}, t.room_no ${direction}`)
          )
        })
      }
    }

    it('are the only names that requests know', async () => {
      for (const name of ['n_seats', 'nSeats', 'room_no', 'branch.city.name', 'regionNo']) {
        expect((await read(filter(name, 'equals', '1'))).text, name).to.include('filter.property.unknown')
        expect((await read(`sortColumn=${name}`)).text, name).to.include('sort.property.unknown')
        expect((await read(`fields=${name}`)).text, name).to.include('fields.invalid')
      }
    })

    it('hold for by-id reads, references and children', async () => {
      const room = json(await store.as(undefined, '/rooms/1?includeFKs=true&includeChildren=true')) as {
        branch: object
        desks: Record<string, unknown>[]
      }
      expect(room.branch).to.include({ id: BRANCHES[0], name: 'Main', cityId: 1 })
      expect(room.desks.map(({ id, label }) => [id, label])).to.deep.equal([
        [1, 'window'],
        [2, 'door']
      ])
      expect(room.desks[0]).to.have.all.keys('id', 'label', 'rowVersion')
      expect((await store.as(undefined, '/rooms/999')).status).to.equal(404)
      expect(json(await store.as(undefined, `/branches/${BRANCHES[1] ?? ''}?fields=name`))).to.deep.equal({
        name: 'Harbour'
      })
      const { items } = json(await store.as(undefined, '/rooms/lookup?search=R24')) as { items: object[] }
      expect(items).to.deep.equal([{ id: 25, name: 'R24' }])
    })

    it('hold for creates, PUT, actions and DELETE', async () => {
      const branch = await store.as(LIBRARIAN, '/branches', {
        method: 'POST',
        headers: BODY,
        body: JSON.stringify({ name: 'New', cityId: 4 })
      })
      const { id: branchId } = json(branch) as { id: string }
      const made = await store.as(LIBRARIAN, '/rooms', {
        method: 'POST',
        headers: BODY,
        body: JSON.stringify({
          number: 'N1',
          branchId,
          seats: 4,
          colour: 'red',
          desks: [{ label: 'a' }, { label: 'b' }]
        })
      })
      expect(made.status, made.text).to.equal(201)
      const room = json(made) as { id: number }
      expect(room).to.include({ number: 'N1', branchName: 'New', cityName: 'Dorn', regionTitle: 'East' })
      const put = await store.as(LIBRARIAN, `/rooms/${room.id}`, {
        method: 'PUT',
        headers: { ...BODY, 'if-match': made.headers.etag },
        body: JSON.stringify({ number: 'N2', seats: 5 })
      })
      expect(put.status, put.text).to.equal(200)
      const [desk] = await store.sql.run('SELECT desk_no FROM legacy_desks WHERE room_ref = ? ORDER BY desk_no', [
        room.id
      ])
      const booked = await store.as(LIBRARIAN, `/rooms/${room.id}/book`, {
        method: 'PUT',
        headers: { ...BODY, 'if-match': put.headers.etag },
        body: JSON.stringify({ by: 'Ann', deskId: Number(desk?.['desk_no']) })
      })
      expect(booked.status, booked.text).to.equal(200)
      const [row] = await store.sql.run('SELECT * FROM legacy_rooms WHERE room_no = ?', [room.id])
      expect([row?.['room_number'], Number(row?.['n_seats']), row?.['branch_ref'], row?.['taken_by']]).to.deep.equal([
        'N2',
        5,
        null,
        'Ann'
      ])
      const desks = await store.sql.run('SELECT desk_label FROM legacy_desks WHERE room_ref = ? ORDER BY desk_no', [
        room.id
      ])
      expect(desks.map((one) => one['desk_label'])).to.deep.equal(['Ann', 'b'])
      const twice = await store.as(LIBRARIAN, '/rooms', {
        method: 'POST',
        headers: BODY,
        body: JSON.stringify({ number: 'n2', seats: 1 })
      })
      expect(twice.status, 'unique in its own column').to.equal(409)
      expect((await store.as(LIBRARIAN, `/branches/${BRANCHES[0] ?? ''}`, { method: 'DELETE' })).status).to.equal(409)
      const gone = await store.as(LIBRARIAN, `/rooms/${room.id}`, {
        method: 'DELETE',
        headers: { 'if-match': booked.headers.etag }
      })
      expect(gone.status, gone.text).to.equal(204)
      expect(await store.sql.run('SELECT desk_no FROM legacy_desks WHERE room_ref = ?', [room.id])).to.deep.equal([])
    })

    if (kind !== 'sqlite') {
      it('take one statement a page, which joins each step once', async () => {
        const log = await StatementLog.open(store.databaseUrl)
        try {
          const lines = await log.during(async () => {
            for (const title of ['North', 'South', 'East']) {
              const query = `includeTotal=false&sortColumn=regionAltitude&${filter('regionTitle', 'equals', title)}`
              expect((await read(`${query}&${filter('cityName', 'is not empty', '')}`)).status).to.equal(200)
            }
          })
          const prepared = lines.filter(({ command }) => command === 'Prepare').map(({ text }) => text)
          expect(new Set(prepared).size).to.equal(1)
          expect(lines.filter(({ command }) => command === 'Execute')).to.have.length(3)
          expect(prepared[0]?.match(/LEFT OUTER JOIN/g)).to.have.length(3)
        } finally {
          await log.close()
        }
      })
    }
  },
  { on: 'sqlite' }
)
