import { expect } from 'chai'
import { type Answer, json } from '../api/http-call.js'
import { StatementLog } from '../api/statement-log.js'
import { describeLibrary, LIBRARIAN } from './describe-library.js'

type Claims = Readonly<Record<string, unknown>>
type Row = Readonly<Record<string, unknown>>

/** May read castings by themselves, and which jury a verdict is of. */
const ADMIN: Claims = { role: 'Admin', sub: 'y' }
const VERSION = Buffer.alloc(8, 1)

/** contract.md section 4, `include=<names>`: links, children of children, rows of resources and ceilings. The entity files are plays.ts and contests.ts. */
describeLibrary('navigations by name', (store, kind) => {
  const insert = async (table: string, columns: string, rows: readonly (readonly unknown[])[]): Promise<void> => {
    const named = `${columns}, row_version`
    const tuple = `(${named.replaceAll(/\w+/g, '?')})`
    for (let from = 0; from < rows.length; from += 500) {
      const batch = rows.slice(from, from + 500)
      const values = batch.flatMap((row) => [...row, VERSION]) as Parameters<typeof store.sql.run>[1]
      await store.sql.run(`INSERT INTO ${table} (${named}) VALUES ${batch.map(() => tuple).join(', ')}`, values)
    }
  }
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1)

  before(async () => {
    // Person 2 is not public.
    await insert(
      'person',
      'id, name, is_public',
      numbers(1003).map((id) => [id, `P${id}`, id === 2 ? 0 : 1])
    )
    await insert('play', 'id, title, play_id, person_id, translator_id', [
      [1, 'Dawn', null, 1, null],
      [2, 'Noon', 1, 1, 2],
      [3, 'Dusk', 2, 2, 3],
      [4, 'Night', 3, 3, null]
    ])
    await insert('act', 'id, play_id, title', [
      [1, 1, 'I'],
      [2, 1, 'II'],
      [3, 2, 'I']
    ])
    await insert('scene', 'act_id, number, place, secret, cost', [
      [1, 1, 'Hall', 'hush', '10'],
      [3, 1, 'Ship', 'hush', '30']
    ])
    await insert('casting', 'play_id, person_id, part', [
      [1, 2, 'King'],
      [1, 1, 'Queen'],
      [2, 3, 'Fool']
    ])
    await insert('influence', 'earlier_id, later_id', [
      [1, 3],
      [1, 4],
      [2, 4],
      [4, 2]
    ])
    await insert(
      'mention',
      'id, play_id, person_id',
      numbers(1003).map((id) => [id, 1, id])
    )
    await insert(
      'play',
      'id, title, play_id, person_id, translator_id',
      numbers(21).map((n) => [100 + n, 'More', 1, 1, null])
    )
  })

  const read = async (claims: Claims | undefined, target: string): Promise<Row[]> => {
    const answer = await store.as(claims, target)
    expect(answer.status, answer.text).to.equal(200)
    return json(answer) as Row[]
  }
  const few = 'filters[id].operator=lt&filters[id].value=5&sortColumn=id'
  const idsOf = (rows: unknown): unknown[] => (rows as Row[]).map(({ id }) => id)
  const idOf = (row: unknown): unknown => (row as Row | null)?.['id'] ?? null

  it('reach references of rows by links, and links of rows that are referred to', async () => {
    const rows = await read(LIBRARIAN, `/plays/paged?${few}&include=influencedBy.person,play.hasInfluenced`)
    const earlier = await store.sql.run(
      'SELECT i.later_id AS f, p.id AS t, p.person_id AS w FROM influence i JOIN play p ON p.id = i.earlier_id ORDER BY 1, 2'
    )
    const later = await store.sql.run(
      'SELECT i.earlier_id AS f, p.id AS t FROM influence i JOIN play p ON p.id = i.later_id ORDER BY 1, p.title'
    )
    const plays = await store.sql.run('SELECT id, play_id FROM play WHERE id < 5 ORDER BY id')
    expect(
      rows.map(({ influencedBy, play }) => [
        (influencedBy as Row[]).map(({ id, person }) => [id, idOf(person)]),
        play && idsOf((play as Row)['hasInfluenced'])
      ])
    ).to.deep.equal(
      plays.map(({ id, play_id: before }) => [
        earlier.filter(({ f }) => Number(f) === Number(id)).map(({ t, w }) => [Number(t), Number(w)]),
        before === null ? null : later.filter(({ f }) => Number(f) === Number(before)).map(({ t }) => Number(t))
      ])
    )
  })

  it('show of rows within others no row that the caller could not read by its id', async () => {
    const target = `/plays/paged?${few}&include=play.person,play.cast,castings.person,influencedBy.person`
    const shown = async (claims: Claims | undefined) =>
      (await read(claims, target)).map(({ play, castings, influencedBy }) => ({
        person: idOf((play as Row | null)?.['person'] ?? null),
        cast: play && idsOf((play as Row)['cast']),
        castings: (castings as Row[]).map(({ person }) => idOf(person)),
        influencedBy: (influencedBy as Row[]).map(({ person }) => idOf(person))
      }))
    // Castings take a permission that librarians do not have, which children of a play do not.
    expect(await shown(ADMIN)).to.deep.equal([
      { person: null, cast: null, castings: [1, 2], influencedBy: [] },
      { person: 1, cast: [1, 2], castings: [3], influencedBy: [3] },
      { person: 1, cast: [3], castings: [], influencedBy: [1] },
      { person: 2, cast: [], castings: [], influencedBy: [1, 1] }
    ])
    expect((await shown(LIBRARIAN)).map(({ cast }) => cast)).to.deep.equal([null, [], [], []])
    expect(await shown(undefined)).to.deep.equal([
      { person: null, cast: null, castings: [1, null], influencedBy: [] },
      { person: 1, cast: [], castings: [3], influencedBy: [3] },
      { person: 1, cast: [], castings: [], influencedBy: [1] },
      { person: null, cast: [], castings: [], influencedBy: [1, 1] }
    ])
    expect((await store.as(undefined, target)).text).to.not.include('"isPublic":false')
  })

  it('show each of several callers who read at one moment only its own rows within rows', async () => {
    // Both see the same columns, and only one of them castings, which link play 1 to its cast.
    const answers = await Promise.all(
      numbers(40).map((n) => store.as(n % 2 === 0 ? LIBRARIAN : ADMIN, '/plays/2?include=play.cast'))
    )
    const shown = answers.map((answer) => (json(answer) as { play: Row }).play['cast'])
    expect(shown.map(idsOf)).to.deep.equal(numbers(40).map((n) => (n % 2 === 0 ? [] : [1, 2])))
  })

  it('children of children come with these, whether or not they are named', async () => {
    const whole = json(await store.as(undefined, '/plays/1?includeChildren=true&fields=acts')) as Row
    for (const include of ['acts', 'acts.scenes', 'acts,acts.scenes']) {
      expect(json(await store.as(undefined, `/plays/1?include=${include}&fields=acts`)), include).to.deep.equal(whole)
    }
    const [within] = (json(await store.as(undefined, '/plays/2?include=play.acts')) as { play: { acts: Row[] } }).play
      .acts
    expect(within).to.deep.equal((whole['acts'] as Row[])[0])
    expect(JSON.stringify(within))
      .to.include('Hall')
      .and.not.match(/hush|"cost"/)
  })

  it('answer a name that takes a permission as one that there is not', async () => {
    const told = async (claims: Claims | undefined, name: string): Promise<string> => {
      const answer = await store.as(claims, `/contests?include=juries.${name}`)
      expect(answer.status).to.equal(400)
      return answer.text.replaceAll(/"requestId":"[^"]*"/g, '').replaceAll(name, '')
    }
    for (const claims of [undefined, LIBRARIAN]) {
      expect(await told(claims, 'verdicts')).to.equal(await told(claims, 'nothings'))
      expect(await told(claims, 'nothings')).to.not.include('erdicts')
    }
    expect(await told(ADMIN, 'nothings')).to.include('erdicts')
    expect((await store.as(ADMIN, '/contests?include=juries.verdicts')).status).to.equal(200)
  })

  it('tells nobody what is within rows of which the caller sees none', async () => {
    // A librarian reads no castings.
    for (const name of ['person', 'nothing']) {
      const answer = await store.as(undefined, `/castings?include=play.${name}`)
      expect(answer.status).to.equal(401)
    }
    const target = '/plays/paged?include=castings.play'
    expect((await store.as(undefined, target)).status).to.equal(200)
  })

  const pagesOf = (from: number, to: number): Promise<Answer> =>
    store.as(
      LIBRARIAN,
      `/plays/paged?filters[id].operator=between&filters[id].value=${from},${to}&pageSize=50&include=play.mentioned`
    )

  it('a collection within a reference has its first 1,000 rows, and is named behind the reference', async () => {
    const answer = await pagesOf(101, 102)
    expect([answer.status, answer.headers['x-truncated-includes']]).to.deep.equal([200, 'play.mentioned'])
    for (const { play } of json(answer) as { play: { mentioned: Row[] } }[]) {
      expect(play.mentioned).to.have.length(1000)
    }
    const linked = await store.as(LIBRARIAN, '/plays/3?include=influencedBy.mentioned')
    expect(linked.headers['x-truncated-includes']).to.equal('influencedBy.mentioned')
  })

  it('rows that several others lead to count each time that the answer shows what they include', async () => {
    expect((await pagesOf(101, 119)).status).to.equal(200)
    const answer = await pagesOf(101, 121)
    const { code, errors } = json(answer) as { code: string; errors: { parameter: string }[] }
    expect([answer.status, code, errors[0]?.parameter]).to.deep.equal([400, 'include.too-many', 'include'])
  })

  if (kind !== 'sqlite') {
    it('take one statement for each navigation, however many rows a page has', async () => {
      const log = await StatementLog.open(store.databaseUrl)
      try {
        const count = async (size: number): Promise<number> => {
          const names = 'play.person,influencedBy.person,influencedBy.acts,castings.person'
          const target = `/plays/paged?${few}&include=${names}&includeTotal=false&pageSize=${size}`
          const lines = await log.during(() => store.as(LIBRARIAN, target))
          return lines.filter(({ command }) => command === 'Execute').length
        }
        await count(3)
        // Plays, play, its person, plays by links, their persons, acts, scenes and props, castings and their persons.
        expect([await count(3), await count(4)]).to.deep.equal([10, 10])
      } finally {
        await log.close()
      }
    })
  }
})
