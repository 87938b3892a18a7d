import { expect } from 'chai'
import { AnswerTooLarge } from '../../../data-service/sql/engines/answer-bytes.js'
import { type Cancellation, CancellationSource, countFor } from '../../../shared/transport/cancellation.js'
import { DomainError } from '../../../shared/errors.js'
import type { GetPlan, RowScope } from '../../../data-service/plan/model/plans.js'
import type { LoadedRow } from '../../../data-service/plan/model/stores.js'
import { GatheredReads, type SamePlans } from '../../../data-service/sql/entity-rows/gathered-reads.js'
import { eachDatabase } from '../../harness/database.js'
import { insertRows, TABLES } from '../../harness/insert-rows.js'
import { connect } from '../../../data-service/sql/connect.js'
import { entity, freshReadStore, type FreshReadStore, never } from './fresh-read-store.js'
import { allRows } from '../../../data-service/plan/model/plans.js'
import { condition, everything, getPlan, path, projection, reference, valuesOfRow } from './plan-by-hand.js'

const products = entity('products')
const categories = entity('categories')
const ids = projection(products, ['id'])
const { dialect } = connect('mysql://127.0.0.1/none')

const row = (value: unknown): LoadedRow => ({
  values: [String(value)],
  references: new Map(),
  manyToMany: new Map(),
  children: new Map(),
  truncated: []
})
const valueOf = (found: LoadedRow | undefined): unknown => found?.values[0]
const one = (id: number, over: Parameters<typeof getPlan>[2] = {}): GetPlan =>
  getPlan(products, id, { projection: ids, ...over })
const scopedTo = (name: string, value: string | number): RowScope => ({
  kind: 'rows-where',
  conditions: [condition(path(products, name), 'equals', value)]
})

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** The statements that were sent, each answered when the test says so. */
class Database {
  readonly statements: {
    readonly plans: SamePlans
    readonly signal: Cancellation
    answer(): void
    fail(error: unknown): void
  }[] = []
  /** The callers who would wait for reads of their own. */
  readonly full = new Set<Cancellation>()
  readonly reads = new GatheredReads(
    (plans, signal) =>
      new Promise((resolve, reject) => {
        const answer = (): void => resolve(plans.map(({ key: [id] }) => (Number(id) < 0 ? undefined : row(id))))
        this.statements.push({ plans, signal, answer, fail: reject })
        signal.addEventListener('abort', { handleEvent: () => reject(signal.reason) })
      }),
    dialect,
    (cancellation) => this.full.has(cancellation)
  )

  get keys(): unknown[] {
    return this.statements.map(({ plans }) => plans.map(({ key: [id] }) => id))
  }

  /** Sends what waits, and answers it. */
  async answerAll(): Promise<void> {
    for (let sent = -1; sent !== this.statements.length;) {
      sent = this.statements.length
      for (const statement of this.statements) statement.answer()
      // The answer, what follows it, and the next statement each take a turn.
      for (let turns = 0; turns < 5; turns++) await tick()
    }
  }
}

describe('gathered reads', () => {
  it('of one tick are one statement, and each gets its own row', async () => {
    const database = new Database()
    const reading = [3, 1, -2, 3].map((id) => database.reads.get(one(id), never))
    await database.answerAll()
    expect((await Promise.all(reading)).map(valueOf)).to.deep.equal(['3', '1', undefined, '3'])
    expect(database.keys).to.deep.equal([[3, 1, -2, 3]])
  })

  it('never join a statement that has been sent, and become one statement while two are under way', async () => {
    const database = new Database()
    const reading: Promise<unknown>[] = []
    for (let id = 1; id <= 6; id++) {
      reading.push(database.reads.get(one(id), never))
      await tick()
    }
    expect(database.keys).to.deep.equal([[1], [2]])
    database.statements[0]?.answer()
    while (database.statements.length < 3) await tick()
    expect(database.keys).to.deep.equal([[1], [2], [3, 4, 5, 6]])
    await database.answerAll()
    await Promise.all(reading)
  })

  it('of callers who would wait for their own are statements aside, for which those of others do not wait', async () => {
    const database = new Database()
    const full = new AbortController().signal
    database.full.add(full)
    const reading: Promise<unknown>[] = []
    for (const id of [1, 2, 3]) {
      reading.push(database.reads.get(one(id), full))
      await tick()
    }
    expect(database.keys).to.deep.equal([[1], [2]])
    reading.push(database.reads.get(one(4), never), database.reads.get(one(5), full))
    const ending = new AbortController()
    database.full.add(ending.signal)
    const given = database.reads.get(one(6), ending.signal).catch((error: unknown) => String(error))
    await tick()
    expect(database.keys).to.deep.equal([[1], [2], [4]])
    ending.abort('given up')
    expect(await given).to.equal('given up')
    await database.answerAll()
    await Promise.all(reading)
    expect(database.keys).to.deep.equal([[1], [2], [4], [3, 5]])
  })

  it('are no more than 128 of a statement', async () => {
    const database = new Database()
    const reading = Array.from({ length: 300 }, (_, id) => database.reads.get(one(id), never))
    await database.answerAll()
    expect((await Promise.all(reading)).map(valueOf)).to.deep.equal(reading.map((_read, id) => String(id)))
    expect(database.statements.map(({ plans }) => plans.length)).to.deep.equal([128, 128, 44])
  })

  it('of several owners are one statement, and a row that two of them want is read for each in its own scope', async () => {
    const database = new Database()
    const wanted = [
      [1, 'ada'],
      [2, 'ben'],
      [1, 'ben'],
      [3, 'ada'],
      [1, 'ada'],
      [1, 'cyd']
    ] as const
    const reading = wanted.map(([id, owner]) => database.reads.get(one(id, { scope: scopedTo('name', owner) }), never))
    await database.answerAll()
    await Promise.all(reading)
    const sent = database.statements.map(({ plans }) =>
      plans.map(({ key: [id], scope }) => [id, scope.kind === 'rows-where' && scope.conditions])
    )
    const want = (at: readonly number[]): unknown[] =>
      at.map((index) => {
        const [id, owner] = wanted[index] ?? [0, '']
        return [id, [condition(path(products, 'name'), 'equals', owner)]]
      })
    expect(sent).to.deep.equal([want([0, 1, 3, 4]), want([2]), want([5])])
  })

  it('are fewer of a statement where their scopes have many operands', async () => {
    const names = Array.from({ length: 60 }, (_, at) => `P${at}`)
    const scope: RowScope = {
      kind: 'rows-where',
      conditions: [condition(path(products, 'name'), 'in', ...names)]
    }
    const database = new Database()
    const reading = [1, 2, 3, 4, 5].map((id) => database.reads.get(one(id, { scope }), never))
    await database.answerAll()
    await Promise.all(reading)
    expect(database.keys).to.deep.equal([[1, 2], [3, 4], [5]])
  })

  it('are told apart by columns, navigations, and the values of their scopes', async () => {
    const database = new Database()
    const category = reference(products, 'category')
    const ofCategories = (scope: RowScope | null): Partial<GetPlan> => ({
      references: [{ reference: category, target: categories, projection: projection(categories, ['id']), scope }]
    })
    // What a navigation is made of does not matter here, only whether it is the same one.
    const navigation = {} as unknown as GetPlan['manyToMany'][number]['navigation']
    const linked = (scope: RowScope | null, of = navigation): Partial<GetPlan> => ({
      manyToMany: [{ navigation: of, projection: ids, scope }]
    })
    const open: RowScope = { kind: 'rows-where', conditions: [condition(path(categories, 'name'), 'equals', 'a')] }
    const different = [
      one(1),
      one(1, { projection: projection(products, ['id', 'name']) }),
      one(1, { scope: scopedTo('categoryId', 1) }),
      one(1, { scope: scopedTo('categoryId', 2) }),
      one(1, { scope: scopedTo('name', '1') }),
      one(1, { scope: scopedTo('name', '","1') }),
      one(1, { scope: scopedTo('sku', '1') }),
      one(1, ofCategories(allRows)),
      one(1, ofCategories(null)),
      one(1, ofCategories(open)),
      one(1, linked(allRows)),
      one(1, linked(null)),
      one(1, linked(scopedTo('name', 'a'))),
      one(1, linked(scopedTo('name', 'b'))),
      one(1, linked(allRows, { ...navigation }))
    ]
    const same = different.map((plan) => ({ ...plan, key: [2] }) as unknown as GetPlan)
    const reading = [...different, ...same].map((plan) => database.reads.get(plan, never))
    await database.answerAll()
    await Promise.all(reading)
    expect(database.keys).to.deep.equal(different.map(() => [1, 2]))
  })

  it('of keys that have several texts are alone', async () => {
    const database = new Database()
    const roles = { ...products, key: [{ ...products.key[0], field: { ...products.key[0].field, type: 'string' } }] }
    const plan = { ...one(1), entity: roles } as unknown as GetPlan
    const reading = [database.reads.get(plan, never), database.reads.get(plan, never)]
    await database.answerAll()
    await Promise.all(reading)
    expect(database.keys).to.deep.equal([[1], [1]])
  })

  it('end for one caller that goes away, and the statement when all have', async () => {
    const database = new Database()
    const callers = [1, 2, 3].map(() => new AbortController())
    const reasons = callers.map((_caller, at) => new Error(String(at)))
    const outcomes = callers.map(({ signal }, at) =>
      database.reads.get(one(at), signal).catch((error: unknown) => error)
    )
    const unsent = new AbortController()
    const left = database.reads.get(one(9), unsent.signal).catch((error: unknown) => error)
    unsent.abort('before it was sent')
    expect(await left).to.equal('before it was sent')
    await tick()
    expect(database.keys).to.deep.equal([[0, 1, 2]])
    const [statement] = database.statements
    callers[0]?.abort(reasons[0])
    expect(await outcomes[0]).to.equal(reasons[0])
    callers[2]?.abort(reasons[2])
    expect(statement?.signal.aborted).to.equal(false)
    callers[1]?.abort(reasons[1])
    expect(statement?.signal.aborted).to.equal(true)
    expect(await Promise.all(outcomes)).to.deep.equal(reasons)
    expect(await database.reads.get(one(1), unsent.signal).catch((error: unknown) => error)).to.equal(
      unsent.signal.reason
    )
    expect(database.statements).to.have.length(1)
  })

  it('that are too large together are read again one after another for each caller, not for a caller who has gone, and no other caller waits', async () => {
    const database = new Database()
    const callers = ['a', 'b'].map((shareKey) => {
      const source = new CancellationSource()
      countFor(source, { shareKey })
      return source
    })
    const [first = never, second = never] = callers
    const gone = new AbortController()
    const reading = [1, 2, 3].map((id) => database.reads.get(one(id), first))
    reading.push(database.reads.get(one(4), second))
    const left = database.reads.get(one(5), gone.signal).catch((error: unknown) => String(error))
    await tick()
    database.statements[0]?.fail(new AnswerTooLarge(1))
    gone.abort('gone')
    await tick()
    const others = [6, 7].map((id) => database.reads.get(one(id), never))
    while (database.statements.length < 4) await tick()
    expect(database.keys.slice(1)).to.deep.equal([[1], [4], [6, 7]])
    await database.answerAll()
    expect((await Promise.all([...reading, ...others])).map(valueOf)).to.deep.equal(['1', '2', '3', '4', '6', '7'])
    expect(await left).to.equal('gone')
    expect(database.keys.slice(4)).to.deep.equal([[2], [3]])
  })

  it('fail with the database, and for a row that cannot be read alone', async () => {
    const database = new Database()
    const away = new DomainError('upstream.unavailable', 'The database cannot be reached.')
    const failing = [1, 2].map((id) => database.reads.get(one(id), never).catch((error: unknown) => error))
    await tick()
    database.statements[0]?.fail(away)
    expect(await Promise.all(failing)).to.deep.equal([away, away])
    expect(database.statements).to.have.length(1)

    const broken = new TypeError('price of the row with the id 2 is none of its type')
    const reading = [1, 2, 3].map((id) => database.reads.get(one(id), never).catch((error: unknown) => error))
    await tick()
    database.statements[1]?.fail(broken)
    while (database.statements.length < 5) await tick()
    for (const { plans, answer, fail } of database.statements.slice(2)) {
      if (plans[0].key[0] === 2) fail(broken)
      else answer()
    }
    const [first, second, third] = await Promise.all(reading)
    expect(second).to.equal(broken)
    expect([first, third].map((found) => valueOf(found as LoadedRow))).to.deep.equal(['1', '3'])
  })
})

eachDatabase((kind) => {
  describe(`gathered reads on ${kind}`, () => {
    let fresh: FreshReadStore
    before(async () => {
      fresh = await freshReadStore(kind)
      await insertRows(fresh.primary, TABLES.categories, [
        { id: 1, name: 'Root', parentId: null, slug: 'root' },
        { id: 2, name: 'Leaf', parentId: 1, slug: 'leaf' }
      ])
      const some = Array.from({ length: 40 }, (_, at) => ({
        id: at + 1,
        name: `P${at}`,
        sku: `S-${at}`,
        categoryId: (at % 2) + 1,
        price: '1.00',
        isActive: true
      }))
      await insertRows(fresh.primary, TABLES.products, some)
      await insertRows(fresh.primary, TABLES.variants, [
        { id: 7, productId: 3, name: 'big', sku: 'A-1-B', price: '1.10', stock: 2 },
        { id: 4, productId: 3, name: 'small', sku: 'A-1-S', price: '1.00', stock: 0 }
      ])
    })
    after(() => fresh.dispose())

    it('give each the row that it gets alone, with what it refers to, and only within its scope', async () => {
      const variants = products.children.find(({ name }) => name === 'variants')
      if (variants === undefined) throw new Error('no variants')
      const navigations: Partial<GetPlan> = {
        references: [
          {
            reference: reference(products, 'category'),
            target: categories,
            projection: projection(categories, ['id', 'name']),
            scope: allRows
          }
        ],
        children: [{ children: variants, nested: [] }]
      }
      const plans = Array.from({ length: 50 }, (_, at) => [
        getPlan(products, at, { projection: everything(products), ...navigations }),
        getPlan(products, at, { projection: ids, scope: scopedTo('categoryId', 1) }),
        getPlan(products, at, { projection: ids, scope: scopedTo('categoryId', 2) })
      ]).flat()
      const together = await Promise.all(plans.map((plan) => fresh.store.get(plan, never)))
      const alone: (LoadedRow | undefined)[] = []
      for (const plan of plans) alone.push(await fresh.store.get(plan, never))
      expect(together.map(valuesOfRow)).to.deep.equal(alone.map(valuesOfRow))
      expect(together.filter((found) => found !== undefined)).to.have.length(80)
      expect(together[9]?.children.get('variants')).to.have.length(2)
    })

    it('give each of several owners the rows of its own scope, whatever the scope is made of', async () => {
      const category = reference(products, 'category')
      const name = { through: category, column: path(categories, 'name').column }
      const isOdd = (owner: number): boolean => owner % 2 === 1
      // Rows with an odd id are of category 1, called Root, and the others of category 2, called Leaf.
      const scopes: readonly ((owner: number) => RowScope)[] = [
        (owner) => scopedTo('categoryId', isOdd(owner) ? 1 : 2),
        (owner) => ({
          kind: 'rows-where',
          conditions: [condition(name, 'equals', isOdd(owner) ? 'Root' : 'Leaf')]
        }),
        (owner) => ({
          kind: 'rows-where',
          conditions: [
            {
              anyOf: [
                condition(path(products, 'sku'), 'equals', `S-none-${owner}`),
                {
                  allOf: [
                    condition(path(products, 'categoryId'), 'in', isOdd(owner) ? 1 : 2, 9),
                    condition(path(products, 'isActive'), 'equals', true)
                  ]
                }
              ]
            }
          ]
        })
      ]
      for (const scopeOf of scopes) {
        const wants = Array.from({ length: 90 }, (_, at) => ({ id: (at % 45) + 1, owner: Math.floor(at / 7) }))
        const found = await Promise.all(
          wants.map(({ id, owner }) =>
            fresh.store.get(getPlan(products, id, { projection: ids, scope: scopeOf(owner) }), never)
          )
        )
        expect(found.map(valueOf)).to.deep.equal(
          wants.map(({ id, owner }) => (id <= 40 && isOdd(id) === isOdd(owner) ? id : undefined))
        )
      }
    })
  })
})
