import { expect } from 'chai'
import { type Answer, filter, ids, json } from '../api/http-call.js'
import { StatementLog } from '../api/statement-log.js'
import { describeLibrary, type LibraryStore } from './describe-library.js'

const LIBRARIAN = { role: 'Librarian', sub: 'x' }
/** May read what librarians may, and castings by themselves. */
const ADMIN = { role: 'Admin', sub: 'y' }
const VERSION = Buffer.alloc(8, 1)

type Row = Readonly<Record<string, unknown>>

type Rows = readonly (readonly (string | number | null)[])[]

async function insert({ sql }: LibraryStore, table: string, columns: string, rows: Rows): Promise<void> {
  const versioned = table !== 'prop'
  const named = versioned ? `${columns}, row_version` : columns
  const text = `INSERT INTO ${table} (${named}) VALUES (${named
    .split(',')
    .map(() => '?')
    .join(', ')})`
  for (const row of rows) await sql.run(text, versioned ? [...row, VERSION] : row)
}

async function fillPlays(store: LibraryStore): Promise<void> {
  await insert(store, 'person', 'id, name, is_public', [
    [1, 'Ada', 1],
    [2, 'Bo', 0],
    [3, 'Cy', 1],
    [4, 'Di', 1]
  ])
  await insert(store, 'play', 'id, title, play_id, person_id, translator_id', [
    [1, 'Dawn', null, 1, null],
    [2, 'Noon', 1, 1, 2],
    [3, 'Dusk', 2, 2, 3],
    [4, 'Night', 3, 3, null]
  ])
}

describeLibrary('navigations by', (store, kind) => {
  before(() => fillPlays(store))

  /** Children of children, and rows that are a resource and children at once. */
  describe('children', () => {
    before(async () => {
      await insert(store, 'act', 'id, play_id, title', [
        [1, 1, 'I'],
        [2, 1, 'II'],
        [3, 2, 'I'],
        [4, 3, 'I']
      ])
      await insert(store, 'scene', 'act_id, number, place, secret, cost', [
        [1, 1, 'Hall', 'hush', '10'],
        [1, 2, 'Yard', 'hush', '20'],
        [3, 1, 'Ship', 'hush', '30'],
        [3, 10, 'Sea', 'hush', '40'],
        [3, 2, 'Shore', 'hush', '50']
      ])
      await insert(store, 'prop', 'id, act_id, scene_number, name', [
        [1, 1, 2, 'Chair'],
        [2, 3, 10, 'Oar'],
        [3, 3, 10, 'Net']
      ])
      await insert(store, 'casting', 'play_id, person_id, part', [
        [1, 2, 'King'],
        [1, 1, 'Queen'],
        [2, 3, 'Fool']
      ])
      await insert(store, 'rehearsal', 'id, play_id, hall', [
        [1, 1, 'A'],
        [2, 1, 'B'],
        [3, 3, 'A']
      ])
      await insert(store, 'guest', 'id, rehearsal_id, name', [
        [1, 2, 'Eve'],
        [2, 1, 'Fay'],
        [3, 2, 'Gus']
      ])
    })

    const send = (method: string, target: string, body?: unknown, headers: object = {}): Promise<Answer> =>
      store.as(LIBRARIAN, target, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
    const etagOf = async (path: string): Promise<string> => String((await store.as(ADMIN, path)).headers['etag'])

    /** By SQL of our own. */
    const nested = async (plays: readonly number[], maySeeCosts: boolean): Promise<object[]> => {
      const version = VERSION.toString('base64')
      const [acts, scenes, props] = [
        await store.sql.run('SELECT id, play_id, title FROM act ORDER BY id'),
        await store.sql.run('SELECT act_id, number, place, cost FROM scene ORDER BY act_id, number'),
        await store.sql.run('SELECT id, act_id, scene_number, name FROM prop ORDER BY id')
      ]
      return plays.map((play) =>
        acts
          .filter((act) => Number(act['play_id']) === play)
          .map((act) => ({
            id: Number(act['id']),
            title: act['title'],
            rowVersion: version,
            scenes: scenes
              .filter((scene) => Number(scene['act_id']) === Number(act['id']))
              .map((scene) => ({
                id: `${Number(scene['act_id'])},${Number(scene['number'])}`,
                actId: Number(scene['act_id']),
                number: Number(scene['number']),
                place: scene['place'],
                ...(maySeeCosts ? { cost: scene['cost'] } : {}),
                rowVersion: version,
                props: props
                  .filter(
                    (prop) =>
                      Number(prop['act_id']) === Number(scene['act_id']) &&
                      Number(prop['scene_number']) === Number(scene['number'])
                  )
                  .map((prop) => ({ id: Number(prop['id']), name: prop['name'] }))
              }))
          }))
      )
    }

    it('show their own children, by every read, without hidden columns and those of other permissions', async () => {
      for (const [claims, maySeeCosts] of [
        [LIBRARIAN, true],
        [undefined, false]
      ] as const) {
        const expected = await nested([1, 2, 3, 4], maySeeCosts)
        for (const target of ['/plays?includeChildren=true', '/plays/paged?includeChildren=true&fields=acts']) {
          const rows = json(await store.as(claims, target)) as Row[]
          expect(
            rows.map((row) => row['acts']),
            target
          ).to.deep.equal(expected)
        }
        const one = json(await store.as(claims, '/plays/2?includeChildren=true')) as Row
        expect(one['acts']).to.deep.equal((await nested([2], maySeeCosts))[0])
      }
      expect(json(await store.as(LIBRARIAN, '/plays/2'))).to.not.have.property('acts')
    })

    if (kind !== 'sqlite') {
      it('take one statement for each collection, however many rows a page has', async () => {
        const log = await StatementLog.open(store.databaseUrl)
        try {
          const read = async (size: number): Promise<string[]> => {
            const target = `/plays/paged?includeChildren=true&includeTotal=false&pageSize=${size}`
            const lines = await log.during(() => store.as(undefined, target))
            return lines.filter(({ command }) => command === 'Execute').map(({ text }) => text)
          }
          await read(1)
          const [few, many] = [await read(1), await read(4)]
          // The plays, acts, scenes, props, castings, rehearsals and their guests, and three of four rows by links: anonymous callers read
          // no castings.
          expect([few.length, many.length]).to.deep.equal([10, 10])
        } finally {
          await log.close()
        }
      })
    }

    it('of children are in no body: what would write them is rejected by its place', async () => {
      const body = { title: 'New', personId: 1, acts: [{ title: 'I' }, { title: 'II', scenes: [{ number: 1 }] }] }
      const problem = json(await send('POST', '/plays', body)) as { code: string; detail: string }
      expect([problem.code, problem.detail]).to.deep.equal([
        'body.invalid',
        'scenes are children of acts, which no body of a request can hold.'
      ])
      expect(await store.sql.run("SELECT id FROM play WHERE title = 'New'")).to.deep.equal([])
    })

    it('that are rows of a resource are read through their root by its readers, and else by the rules of the resource', async () => {
      const stored = await store.sql.run('SELECT play_id, person_id, part FROM casting ORDER BY play_id, person_id')
      const rows = stored.map((row) => ({
        id: `${Number(row['play_id'])},${Number(row['person_id'])}`,
        playId: Number(row['play_id']),
        personId: Number(row['person_id']),
        part: row['part'],
        rowVersion: VERSION.toString('base64')
      }))
      const plays = json(await store.as(undefined, '/plays?includeChildren=true')) as Row[]
      expect(plays.map((play) => play['castings'])).to.deep.equal(
        [1, 2, 3, 4].map((play) => rows.filter(({ playId }) => playId === play))
      )
      expect((await store.as(undefined, '/castings')).status).to.equal(401)
      expect((await store.as(LIBRARIAN, '/castings/1,1')).status).to.equal(403)
      expect(json(await store.as(ADMIN, '/castings'))).to.deep.equal(rows)
      expect(json(await store.as(ADMIN, '/castings/1,2'))).to.deep.equal(rows[1])
    })

    it('that are rows of a resource are written by it, created with a new root, and keep the root from being deleted', async () => {
      const body = { title: 'Noise', personId: 1, castings: [{ personId: 4, part: 'Ghost' }], acts: [{ title: 'I' }] }
      const created = await send('POST', '/plays', body)
      expect(created.status, created.text).to.equal(201)
      const { id } = json(created) as { id: number }
      const path = `/castings/${id},4`
      expect((json(await store.as(ADMIN, path)) as Row)['part']).to.equal('Ghost')

      const rootTag = await etagOf(`/plays/${id}`)
      const changed = await send('PUT', path, { part: 'Witch' }, { 'if-match': await etagOf(path) })
      expect(changed.status, changed.text).to.equal(200)
      expect(await etagOf(`/plays/${id}`)).to.equal(rootTag)
      const read = json(await store.as(undefined, `/plays/${id}?includeChildren=true`)) as { castings: Row[] }
      expect(read.castings.map(({ part }) => part)).to.deep.equal(['Witch'])

      expect((await send('DELETE', `/plays/${id}`)).status).to.equal(409)
      expect((await send('DELETE', path)).status).to.equal(204)
      expect((await send('DELETE', `/plays/${id}`)).status).to.equal(204)
      expect(await store.sql.run('SELECT id FROM act WHERE play_id = ?', [id])).to.deep.equal([])
    })

    it('that are rows of a resource have the children of that resource', async () => {
      const names = (rows: unknown): unknown[][] =>
        (rows as { guests: Row[] }[]).map(({ guests }) => guests.map(({ name }) => name))
      const play = json(await store.as(undefined, '/plays/1?includeChildren=true')) as Row
      expect(names(play['rehearsals'])).to.deep.equal([['Fay'], ['Eve', 'Gus']])
      expect(names(json(await store.as(LIBRARIAN, '/rehearsals?includeChildren=true')))).to.deep.equal([
        ['Fay'],
        ['Eve', 'Gus'],
        []
      ])
    })

    it('that are rows of a resource without writes are written by the root that says so', async () => {
      const tag = await etagOf('/plays/1')
      const moved = await send('PUT', '/plays/1/move-rehearsals', { hall: 'C' }, { 'if-match': tag })
      expect(moved.status, moved.text).to.equal(200)
      expect(moved.headers['etag']).to.not.equal(tag)
      const rehearsals = json(await store.as(LIBRARIAN, '/rehearsals')) as Row[]
      expect(rehearsals.map(({ id, playId, hall }) => [id, playId, hall])).to.deep.equal([
        [1, 1, 'C'],
        [2, 1, 'C'],
        [3, 3, 'A']
      ])
      expect((await store.as(undefined, '/rehearsals')).status).to.equal(401)
      expect((await send('DELETE', '/rehearsals/3')).status).to.equal(405)
    })

    it('are described with their own children, and the id of each composite key', async () => {
      const document = json(await store.as(undefined, '/openapi.json')) as {
        components: { schemas: Record<string, { required: string[]; properties: Record<string, Row> }> }
      }
      const { schemas } = document.components
      const reference = (name: string): object => ({ $ref: `#/components/schemas/${name}` })
      expect(schemas['plays.acts']?.properties['scenes']?.['items']).to.deep.equal(reference('plays.acts.scenes'))
      expect(schemas['plays.acts.scenes']?.required).to.deep.equal([
        'id',
        'actId',
        'number',
        'place',
        'rowVersion',
        'props'
      ])
      expect(schemas['plays.acts.scenes']?.properties['id']).to.have.property('type', 'string')
      expect(schemas['plays.acts.scenes.props']?.required).to.deep.equal(['id', 'name'])
      expect(schemas['plays.castings']?.required.slice(0, 2)).to.deep.equal(['id', 'playId'])
      expect(schemas['shelves.checks']?.properties['id']).to.have.property('type', 'string')
    })
  })

  /** Rows of one resource by the rows of a link entity. */
  describe('many-to-many', () => {
    before(async () => {
      await insert(store, 'mention', 'id, play_id, person_id', [
        [1, 1, 4],
        [2, 1, 1],
        [3, 1, 4],
        [4, 1, 2],
        [5, 2, null],
        [6, 2, 3],
        [7, 3, 3],
        [8, 3, 1]
      ])
      await insert(store, 'influence', 'earlier_id, later_id', [
        [1, 3],
        [1, 4],
        [2, 4],
        [4, 2]
      ])
    })

    type Claims = Parameters<typeof store.as>[0]
    const included = async (claims: Claims, target: string, name: string): Promise<unknown[][]> =>
      (json(await store.as(claims, target)) as Row[]).map((row) => (row[name] as Row[]).map(({ id }) => id))

    it('shows the rows that links lead to, each once, in their order', async () => {
      const linked = async (columns: string, from: string, order: string): Promise<unknown[][]> => {
        const rows = await store.sql.run(`SELECT DISTINCT ${columns} FROM ${from} ORDER BY ${order}`)
        return [1, 2, 3, 4].map((id) => rows.filter((row) => Number(row['f']) === id).map((row) => Number(row['t'])))
      }
      const mentioned = await linked(
        'm.play_id AS f, p.id AS t, p.name',
        'mention m JOIN person p ON p.id = m.person_id',
        'm.play_id, p.name, p.id'
      )
      const earlier = await linked('later_id AS f, earlier_id AS t', 'influence', 'later_id, earlier_id')
      const later = await linked(
        'i.earlier_id AS f, p.id AS t, p.title',
        'influence i JOIN play p ON p.id = i.later_id',
        'i.earlier_id, p.title'
      )
      expect(mentioned[0]).to.have.length(3)
      for (const target of ['/plays?includeChildren=true', '/plays/paged?includeChildren=true&pageSize=4']) {
        expect(await included(LIBRARIAN, target, 'mentioned')).to.deep.equal(mentioned)
        expect(await included(LIBRARIAN, target, 'influencedBy')).to.deep.equal(earlier)
        expect(await included(LIBRARIAN, target, 'hasInfluenced')).to.deep.equal(later)
      }
      expect(
        await included(LIBRARIAN, '/plays/paged?includeChildren=true&fields=mentioned&pageSize=1', 'mentioned')
      ).to.deep.equal(mentioned.slice(0, 1))
      const one = json(await store.as(LIBRARIAN, '/plays/4?includeChildren=true')) as { influencedBy: Row[] }
      // What is shown is the row as its own resource shows it, without navigations.
      expect(one.influencedBy[1]).to.deep.equal(json(await store.as(LIBRARIAN, '/plays/2')))
      expect(json(await store.as(LIBRARIAN, '/plays/4'))).to.not.have.property('influencedBy')
    })

    it('shows neither links nor rows that the caller could not read by their id', async () => {
      // Person 2 is not public, and the mentions of person 3 are not.
      expect(await included(undefined, '/plays?includeChildren=true', 'mentioned')).to.deep.equal([[1, 4], [], [1], []])
      // Castings take a permission that librarians do not have.
      expect(await included(LIBRARIAN, '/plays?includeChildren=true', 'cast')).to.deep.equal([[], [], [], []])
      expect(await included(ADMIN, '/plays?includeChildren=true', 'cast')).to.deep.equal([[1, 2], [3], [], []])
      expect(await included(ADMIN, '/persons?includeChildren=true', 'plays')).to.deep.equal([[1], [1], [2], []])
      expect(await included(undefined, '/persons?includeChildren=true', 'plays')).to.deep.equal([[], [], []])
    })

    it('is written through the link entity', async () => {
      const tag = String((await store.as(ADMIN, '/plays/3')).headers['etag'])
      const options = { headers: { 'content-type': 'application/json' } }
      const body = JSON.stringify({ playId: 3, personId: 4, part: 'Ghost' })
      const created = await store.as(ADMIN, '/castings', { ...options, method: 'POST', body })
      expect(created.headers['location']).to.match(/\/castings\/3,4$/)
      expect((await included(ADMIN, '/plays?includeChildren=true', 'cast'))[2]).to.deep.equal([4])
      expect(String((await store.as(ADMIN, '/plays/3')).headers['etag'])).to.equal(tag)
      expect((await store.as(ADMIN, '/castings/3,4', { method: 'DELETE' })).status).to.equal(204)
      expect((await included(ADMIN, '/plays?includeChildren=true', 'cast'))[2]).to.deep.equal([])
    })

    it('needs includeChildren to be named, is in no export, and is described', async () => {
      const fields = json(await store.as(LIBRARIAN, '/plays?fields=id,cast')) as { code: string; detail: string }
      expect([fields.code, fields.detail]).to.deep.equal([
        'fields.invalid',
        '"cast" needs includeChildren=true or include=cast.'
      ])
      const cells = json(await store.as(LIBRARIAN, '/plays/export?fields=cast')) as { code: string }
      expect(cells.code).to.equal('fields.invalid')
      expect((await store.as(LIBRARIAN, '/plays/export?bom=false')).text.split('\r\n')[0]).to.not.contain('cast')
      const document = json(await store.as(undefined, '/openapi.json')) as {
        components: { schemas: { plays: { properties: Record<string, Row> } } }
      }
      expect(document.components.schemas.plays.properties['cast']).to.deep.include({
        type: 'array',
        items: { $ref: '#/components/schemas/persons' }
      })
    })
  })

  /** References that the names of tables and of one another could be mistaken for (the entity files are in plays.ts). */
  // One of them deletes a play.
  describe('references', () => {
    const FROM =
      'play t LEFT JOIN play p ON p.id = t.play_id LEFT JOIN play f ON f.id = p.play_id ' +
      'JOIN person w ON w.id = t.person_id LEFT JOIN person x ON x.id = t.translator_id'
    const idsBy = async (where: string, order = 't.id'): Promise<number[]> =>
      (await store.sql.run(`SELECT t.id AS id FROM ${FROM} WHERE ${where} ORDER BY ${order}`)).map(({ id }) =>
        Number(id)
      )
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
        const expected = await idsBy('1 = 1', `${order} DESC, t.id DESC`)
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
})
