import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { type Answer, call, filter, json } from '../api/http-call.js'
import { eachDatabase } from '../harness/database.js'
import { outputRoot } from '../harness/package-root.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'
import { type FreshDatabase, freshDatabase } from '../stack/databases.js'
import { type Stack, startStack } from '../stack/stack.js'
import { type PlainRow, type Summed, type TotalsQuery, totalsOf } from './totals/totals-oracle.js'

const seed = Number(process.env['TEST_SEED'] ?? Date.now()) % 2 ** 31
const RUNS = process.env['TEST_VARIANTS'] === 'all' ? 400 : 60
const ROWS = 240

const COLUMNS: Readonly<Record<string, Summed>> = {
  amount: { scale: 4, type: 'decimal' },
  share: { scale: 0, type: 'decimal' },
  units: { scale: 0, type: 'long' },
  serial: { scale: 0, type: 'long' },
  pieces: { scale: 0, type: 'int' }
}
const DIMENSIONS = [
  'ownerId',
  'place',
  'kind',
  'share',
  'bookedOn',
  'takenAt.year',
  'takenAt.month',
  'takenAt.day',
  'bookedOn.month',
  'pieces'
] as const
const SUMMED = Object.keys(COLUMNS)
const COMPARED = ['amount', 'units', 'serial', 'takenAt', 'bookedOn', 'pieces'] as const
const MEASURES = [
  'count',
  ...SUMMED.flatMap((name) => [`sum.${name}`, `average.${name}`]),
  ...COMPARED.flatMap((name) => [`min.${name}`, `max.${name}`]),
  ...['place', 'kind', 'amount', 'takenAt', 'pieces'].map((name) => `distinct.${name}`)
]

const optional = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(of, { freq: 4 })
/** Few values, and the least and greatest, whose sums no 64 bits hold. */
const near = (least: bigint, most: bigint): fc.Arbitrary<bigint> =>
  fc.oneof(fc.bigInt({ min: -5n > least ? -5n : least, max: 5n }), fc.constantFrom(least, most, most - 1n))
const decimalOf = (unscaled: bigint): string => {
  const magnitude = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(5, '0')
  return `${unscaled < 0n ? '-' : ''}${magnitude.slice(0, -4)}.${magnitude.slice(-4)}`
}
const moment = fc
  .integer({ min: Date.parse('2025-12-30T00:00:00Z'), max: Date.parse('2026-02-02T00:00:00Z') })
  .map((at) => new Date(at).toISOString())

const randomRow = fc.record({
  ownerId: fc.constantFrom('1', '2', '3'),
  place: optional(fc.constantFrom('north', 'North', 'NORTH', 'south', 'x y', 'Hornorth')),
  kind: fc.constantFrom('a', 'b', 'c'),
  takenAt: optional(moment),
  bookedOn: optional(moment.map((at) => at.slice(0, 10))),
  amount: optional(near(-(10n ** 18n) + 1n, 10n ** 18n - 1n).map(decimalOf)),
  share: fc.integer({ min: -3, max: 3 }).map(String),
  units: optional(near(-(2n ** 63n), 2n ** 63n - 1n).map(String)),
  serial: near(0n, 2n ** 64n - 1n).map(String),
  pieces: optional(fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constantFrom(2 ** 31 - 1, -(2 ** 31))))
})

const randomQuery = fc
  .record({
    by: fc.uniqueArray(fc.constantFrom(...DIMENSIONS), { maxLength: 4 }),
    measures: fc.uniqueArray(fc.constantFrom(...MEASURES), { minLength: 1, maxLength: 10 })
  })
  .chain(({ by, measures }) =>
    fc.record({
      by: fc.constant(by),
      measures: fc.constant(measures),
      sort: fc.uniqueArray(fc.record({ name: fc.constantFrom(...by, ...measures), descending: fc.boolean() }), {
        maxLength: 3,
        selector: ({ name }) => name
      })
    })
  )

const isPlain = (name: string): boolean => !name.endsWith('pieces')

eachDatabase((kind) => {
  describe(`totals of random rows on ${kind}, seed ${seed}`, () => {
    const rows: readonly PlainRow[] = (
      fc.sample(fc.array(randomRow, { minLength: ROWS, maxLength: ROWS }), { seed, numRuns: 1 })[0] ?? []
    ).map((row, n) => ({ id: `t${n}`, ...row }))
    let database: FreshDatabase
    let stack: Stack
    let sql: TestDatabase

    const totals = (claims: object, query: string): Promise<Answer> =>
      call(stack.url, `/takings/totals?${query}`, { token: stack.token({ sub: 'x', ...claims }) })
    const spelled = ({ by, measures, sort }: TotalsQuery): string =>
      [
        ...(by.length === 0 ? [] : [`by=${by.join()}`]),
        `measures=${measures.join()}`,
        ...(sort.length === 0
          ? []
          : [
              `sortColumn=${sort.map(({ name }) => name).join()}`,
              `sortDirection=${sort.map(({ descending }) => (descending ? 'desc' : 'asc')).join()}`
            ])
      ].join('&')

    before(async () => {
      database = await freshDatabase(kind)
      stack = await startStack({
        app: join(outputRoot, 'test/library/totals'),
        database,
        env: { OWNER_BYPASS_ROLE: 'Admin', OWNER_CLAIM_TYPE: 'owner' }
      })
      sql = await openTestDatabase(database.url)
      for (const row of rows) {
        const { amount, serial, takenAt } = row
        // SQLite holds decimals in units of their last digit, and unsigned integers as 20 digits.
        const stored =
          kind === 'sqlite'
            ? {
                amount: amount === null ? null : BigInt(String(amount).replace('.', '')),
                share: BigInt(String(row['share'])),
                units: row['units'] === null ? null : BigInt(String(row['units'])),
                serial: String(serial).padStart(20, '0')
              }
            : { takenAt: takenAt === null ? null : String(takenAt).replace('T', ' ').replace('Z', '') }
        const all = Object.entries({ ...row, ...stored, rowVersion: Buffer.alloc(8, 1) })
        await sql.run(
          `INSERT INTO takings (${all.map(([name]) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)).join()}) VALUES (${all.map(() => '?').join()})`,
          all.map(([, value]) => value as string | number | bigint | Buffer | null)
        )
      }
    })
    after(async () => {
      await sql.close()
      await stack.stop()
      await database.dispose()
    })

    it('Groups, sums and averages are those of whole numbers of any size, within the rows of the caller.', async () => {
      await fc.assert(
        fc.asyncProperty(randomQuery, fc.constantFrom(1, 2, 'all'), async (query, owner) => {
          const claims = owner === 'all' ? { role: 'Admin' } : { role: 'Counter', owner }
          const answer = await totals(claims, spelled(query))
          expect(answer.status, `${spelled(query)} ${answer.text}`).to.equal(200)
          const own = rows.filter((row) => owner === 'all' || row['ownerId'] === String(owner))
          expect(json(answer), spelled(query)).to.deep.equal(totalsOf(own, query, COLUMNS).slice(0, 1000))
        }),
        { seed, numRuns: RUNS }
      )
    })

    it('Filters, groups of filters and search narrow the rows that are added up.', async () => {
      const query = { by: ['kind'], measures: ['count', 'sum.units'], sort: [] }
      const asked = [
        filter('share', 'gte', '0'),
        filter('kind', 'eq', 'a').replaceAll('filters', 'anyOf[1].filters'),
        filter('kind', 'eq', 'b').replaceAll('filters', 'anyOf[1].filters'),
        'search=nort'
      ]
      const kept = rows.filter(
        ({ share, kind: of, place }) =>
          Number(share) >= 0 &&
          (of === 'a' || of === 'b') &&
          (kind === 'sqlite' ? /nort/i : /^nort/i).test(String(place))
      )
      const answer = await totals({ role: 'Admin' }, [spelled(query), ...asked].join('&'))
      expect(json(answer)).to.deep.equal(totalsOf(kept, query, COLUMNS))
    })

    it('Names over a column that the caller may not read are unknown, and left out where none are named.', async () => {
      const answer = await totals({ role: 'Nobody', owner: 1 }, 'by=pieces,kind&measures=sum.pieces,count')
      const problem = json(answer) as { code: string; errors: { parameter: string; detail: string }[] }
      expect([answer.status, problem.code]).to.deep.equal([400, 'totals.invalid'])
      expect(problem.errors.map(({ parameter }) => parameter)).to.deep.equal(['by', 'measures'])
      expect(answer.text.replaceAll('\\"pieces\\"', '').replaceAll('\\"sum.pieces\\"', '')).not.to.include('pieces')
      const whole = json(await totals({ role: 'Nobody', owner: 1 }, '')) as object[]
      expect(whole.map(Object.keys)).to.deep.equal([MEASURES.filter(isPlain)].map((names) => inOrder(names)))
      const seen = json(await totals({ role: 'Counter', owner: 1 }, '')) as object[]
      expect(seen.map(Object.keys)).to.deep.equal([inOrder(MEASURES)])
    })
  })
})

const KINDS = ['count', 'sum', 'average', 'min', 'max', 'distinct']

/** In the order of the entity file. */
function inOrder(names: readonly string[]): string[] {
  return KINDS.flatMap((kind) => names.filter((name) => name === kind || name.startsWith(`${kind}.`)))
}
