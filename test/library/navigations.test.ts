import { expect } from 'chai'
import { filter, ids, json } from '../api/http-call.js'
import { describeLibrary, type LibraryStore } from './describe-library.js'

const LIBRARIAN = { role: 'Librarian', sub: 'x' }
const VERSION = Buffer.alloc(8, 1)

type Row = Readonly<Record<string, unknown>>

async function fillPlays({ sql }: LibraryStore): Promise<void> {
  const insert = async (
    table: string,
    columns: string,
    rows: readonly (readonly (string | number | null)[])[]
  ): Promise<void> => {
    const marks = columns.split(',').map(() => '?')
    const text = `INSERT INTO ${table} (${columns}, row_version) VALUES (${marks.join(', ')}, ?)`
    for (const row of rows) await sql.run(text, [...row, VERSION])
  }
  await insert('person', 'id, name, is_public', [
    [1, 'Ada', 1],
    [2, 'Bo', 0],
    [3, 'Cy', 1],
    [4, 'Di', 1]
  ])
  await insert('play', 'id, title, play_id, person_id, translator_id', [
    [1, 'Dawn', null, 1, null],
    [2, 'Noon', 1, 1, 2],
    [3, 'Dusk', 2, 2, 3],
    [4, 'Night', 3, 3, null]
  ])
}

/** References that the names of tables and of one another could be mistaken for (the entity files are in plays.ts). */
describeLibrary('references', (store) => {
  before(() => fillPlays(store))

  const FROM =
    'play t LEFT JOIN play p ON p.id = t.play_id LEFT JOIN play f ON f.id = p.play_id ' +
    'JOIN person w ON w.id = t.person_id LEFT JOIN person x ON x.id = t.translator_id'
  const idsBy = async (where: string, order = 't.id'): Promise<number[]> =>
    (await store.sql.run(`SELECT t.id AS id FROM ${FROM} WHERE ${where} ORDER BY ${order}`)).map(({ id }) => Number(id))
  const read = (query: string) => store.as(LIBRARIAN, `/plays/paged?${query}`)

  it('may have the name of their own table, and lead back to it more than once', async () => {
    const stored = await store.sql.run(
      `SELECT t.id, p.title AS play, f.title AS first, w.name AS person, x.name AS translator FROM ${FROM} ORDER BY t.id`
    )
    const shown = json(await read('')) as Row[]
    expect(
      shown.map(({ id, playTitle, firstTitle, personName, translatorName }) => ({
        id,
        play: playTitle,
        first: firstTitle,
        person: personName,
        translator: translatorName
      }))
    ).to.deep.equal(stored.map((row) => ({ ...row, id: Number(row['id']) })))
  })

  for (const [property, value, where] of [
    ['playTitle', 'Dawn', "p.title = 'Dawn'"],
    ['firstTitle', 'Dawn', "f.title = 'Dawn'"],
    ['personName', 'Ada', "w.name = 'Ada'"],
    ['translatorName', 'Bo', "x.name = 'Bo'"]
  ] as const) {
    it(`are filtered by: ${property}`, async () => {
      const expected = await idsBy(where)
      expect(expected).to.not.be.empty
      const answer = await read(filter(property, 'equals', value))
      expect(ids(answer)).to.deep.equal(expected)
      expect(answer.headers['x-total-count']).to.equal(String(expected.length))
    })
  }

  for (const [property, order] of [
    ['playTitle', 'p.title'],
    ['firstTitle', 'f.title'],
    ['personName', 'w.name'],
    ['translatorName', 'x.name']
  ] as const) {
    it(`are sorted by in pages, after cursors and in exports: ${property}`, async () => {
      const expected = await idsBy('1 = 1', `${order} DESC, t.id`)
      const sort = `sortColumn=${property}&sortDirection=desc`
      expect(ids(await read(sort))).to.deep.equal(expected)
      const first = await read(`${sort}&pageSize=2`)
      const after = await read(`${sort}&pageSize=2&after=${String(first.headers['x-next-cursor'])}`)
      expect([...ids(first), ...ids(after)]).to.deep.equal(expected)
      const csv = (await store.as(LIBRARIAN, `/plays/export?${sort}&bom=false&fields=id`)).text
      expect(csv.trim().split('\r\n').slice(1).map(Number)).to.deep.equal(expected)
    })
  }

  it('of one row to one table show each its own row, as far as the caller may read it', async () => {
    const included = async (claims: Parameters<typeof store.as>[0]): Promise<unknown[]> =>
      (json(await store.as(claims, '/plays?includeFKs=true')) as Row[]).map(({ play, person, translator }) =>
        [play, person, translator].map((one) => (one as Row | null)?.['id'] ?? null)
      )
    const stored = await store.sql.run('SELECT play_id, person_id, translator_id FROM play ORDER BY id')
    const all = stored.map((row) =>
      ['play_id', 'person_id', 'translator_id'].map((name) => (row[name] === null ? null : Number(row[name])))
    )
    expect(await included(LIBRARIAN)).to.deep.equal(all)
    // Person 2 is not public.
    expect(await included(undefined)).to.deep.equal(
      all.map(([play, person, translator]) => [
        play,
        person === 2 ? null : person,
        translator === 2 ? null : translator
      ])
    )
  })

  it('are in scope of guarded writes and deletes', async () => {
    const path = '/plays/4'
    const tag = String((await store.as(undefined, path)).headers['etag'])
    const send = (method: string, headers: object, body?: object) =>
      store.as(LIBRARIAN, path, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
    const put = await send('PUT', { 'if-match': tag }, { title: 'Night', playId: 2, personId: 3, translatorId: 4 })
    expect([put.status, (json(put) as Row)['playTitle'], (json(put) as Row)['firstTitle']]).to.deep.equal([
      200,
      'Noon',
      'Dawn'
    ])
    expect((await send('DELETE', {})).status).to.equal(204)
  })
})
