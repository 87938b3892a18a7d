import { expect } from 'chai'
import { json } from '../api/http-call.js'
import { describeLibrary } from './describe-library.js'

const LIBRARIAN = { role: 'Librarian', sub: 'x' }
const VERSION = Buffer.alloc(8, 1)

type Row = Readonly<Record<string, unknown>>

/** Ceilings of children of children and of rows by links (test/api/include-ceilings.test.ts has those of children). */
describeLibrary('ceilings of nested and linked collections', (store) => {
  const insert = async (table: string, columns: string, rows: readonly (readonly unknown[])[]): Promise<void> => {
    const named = table === 'prop' ? columns : `${columns}, row_version`
    const tuple = `(${named.replaceAll(/\w+/g, '?')})`
    for (let from = 0; from < rows.length; from += 500) {
      const batch = rows.slice(from, from + 500)
      await store.sql.run(
        `INSERT INTO ${table} (${named}) VALUES ${batch.map(() => tuple).join(', ')}`,
        batch.flatMap((row) => (table === 'prop' ? row : [...row, VERSION])) as Parameters<typeof store.sql.run>[1]
      )
    }
  }
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1)
  /** Of play 1 act 1 has 1,003 scenes; of plays 3 and 4 each act has 1,000, which are 21,000 in all. */
  before(async () => {
    await insert(
      'person',
      'id, name, is_public',
      [...numbers(1003)].map((id) => [id, `P${10_000 - id}`, 1])
    )
    await insert(
      'play',
      'id, title, person_id',
      numbers(4).map((id) => [id, `T${id}`, 1])
    )
    const actsOf = (play: number): number => [2, 1, 10, 11][play - 1] ?? 0
    const acts = numbers(4).flatMap((play) => numbers(actsOf(play)).map((at) => ({ id: play * 100 + at, play })))
    await insert(
      'act',
      'id, play_id, title',
      acts.map(({ id, play }) => [id, play, 'A'])
    )
    const scenes = [
      ...numbers(1003).map((number) => [101, number, 'S', 's', '1']),
      ...numbers(3).map((number) => [201, number, 'S', 's', '1']),
      ...acts
        .filter(({ play }) => play > 2)
        .flatMap(({ id }) => numbers(1000).map((number) => [id, number, 'S', 's', '1']))
    ]
    await insert('scene', 'act_id, number, place, secret, cost', scenes.toReversed())
    await insert(
      'prop',
      'id, act_id, scene_number, name',
      numbers(1003).map((id) => [id, 201, 2, 'Hat'])
    )
    const mentions = [...numbers(1003).map((id) => [id, 1, id]), [2000, 2, 5], [2001, 2, 5]]
    await insert('mention', 'id, play_id, person_id', mentions)
  })

  const plays = async (target: string): Promise<{ readonly rows: readonly Row[]; readonly cut: unknown }> => {
    const answer = await store.as(LIBRARIAN, target)
    expect(answer.status, answer.text.slice(0, 500)).to.equal(200)
    const body = json(answer)
    return {
      rows: Array.isArray(body) ? (body as Row[]) : [body as Row],
      cut: answer.headers['x-truncated-includes']
    }
  }
  const inner = (row: Row | undefined, ...path: (string | number)[]): readonly Row[] =>
    path.reduce<unknown>((at, step) => (at as Record<string | number, unknown>)[step], row) as readonly Row[]

  for (const [how, target] of [
    ['by id', '/plays/1?includeChildren=true&fields=acts'],
    ['in a page', '/plays/paged?includeChildren=true&fields=acts&pageSize=2']
  ] as const) {
    it(`children of children are cut at 1,000 of each, and named after a dot, ${how}`, async () => {
      const { rows, cut } = await plays(target)
      expect(cut).to.equal(how === 'by id' ? 'acts.scenes' : 'acts.scenes, acts.scenes.props')
      const scenes = inner(rows[0], 'acts', 0, 'scenes').map(({ number }) => number)
      expect(scenes).to.deep.equal(numbers(1000))
      expect(inner(rows[0], 'acts', 1, 'scenes')).to.deep.equal([])
    })
  }

  it('the third level is cut too', async () => {
    const { rows, cut } = await plays('/plays/2?includeChildren=true&fields=acts')
    expect(cut).to.equal('acts.scenes.props')
    const scenes = inner(rows[0], 'acts', 0, 'scenes')
    expect(scenes.map(({ props }) => (props as Row[]).length)).to.deep.equal([0, 1000, 0])
  })

  it('rows of all levels count towards the 20,000 of an answer', async () => {
    // 10 acts with 10,000 scenes, then 11 with 11,000.
    expect((await plays('/plays/3?includeChildren=true&fields=acts')).cut).to.equal(undefined)
    const both = await store.as(
      LIBRARIAN,
      '/plays/paged?includeChildren=true&fields=acts&filters[id].operator=gte&filters[id].value=3'
    )
    expect([both.status, (json(both) as Row)['code']]).to.deep.equal([400, 'include.too-many'])
  })

  for (const [how, target] of [
    ['by id', '/plays/1?includeChildren=true&fields=id,mentioned'],
    ['in a page', '/plays/paged?includeChildren=true&fields=id,mentioned&pageSize=2']
  ] as const) {
    it(`rows by links are cut at the first 1,000 of the order of the navigation, ${how}`, async () => {
      const { rows, cut } = await plays(target)
      expect(cut).to.equal('mentioned')
      // By name: P8997, the person with the highest id, comes first.
      const expected = numbers(1003).toReversed().slice(0, 1000)
      expect(inner(rows[0], 'mentioned').map(({ id }) => id)).to.deep.equal(expected)
      if (rows.length > 1) expect(inner(rows[1], 'mentioned').map(({ id }) => id)).to.deep.equal([5])
    })
  }
})
