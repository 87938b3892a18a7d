import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { insertRows, TABLES, type NewRow } from '../harness/insert-rows.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { GrpcCaller, isFailure, type Method } from '../stack/grpc-caller.js'
import { isSoak } from '../harness/in-soak.js'
import { describeApi } from './api-store.js'
import { type Answer, json } from './http-call.js'

interface Parent {
  readonly id: number
  readonly variants: readonly { readonly id: number }[]
  readonly reviews?: readonly { readonly id: number }[]
}

/** Products with 1,003 variants. */
const FULL = Array.from({ length: 21 }, (_, n) => 2001 + n)
/** A product with exactly 1,000 variants, and one with three. */
const [EXACT, FEW] = [2031, 2032]
const VARIANTS = new Map([...FULL.map((id) => [id, 1003] as const), [EXACT, 1000], [FEW, 3]])
const REVIEWS = new Map([
  [2001, 1003],
  [FEW, 5]
])

/** The ids of children, ascending. */
function childIds(productId: number, count: number): number[] {
  return Array.from({ length: count }, (_, n) => productId * 10_000 + n)
}

describeApi(
  'ceilings of included collections',
  (store) => {
    let rpc: GrpcCaller
    before(async () => {
      rpc = new GrpcCaller(store.stack.dataAddress)
      const children = (
        counts: ReadonlyMap<number, number>,
        make: (id: number, productId: number) => NewRow
      ): NewRow[] =>
        [...counts].flatMap(([productId, count]) => childIds(productId, count).map((id) => make(id, productId)))
      const product = (id: number): NewRow => ({
        id,
        name: 'P',
        sku: `P-${id}`,
        categoryId: 2,
        price: '1.00',
        isActive: true
      })
      await withTestDatabase(store.databaseUrl, async (database) => {
        await insertRows(database, TABLES.products, [...VARIANTS.keys()].map(product))
        const variants = children(VARIANTS, (id, productId) => ({
          id,
          productId,
          name: 'V',
          sku: `V-${id}`,
          price: '1.00',
          stock: 0
        }))
        // What is inserted first is not the first by key.
        await insertRows(database, TABLES.variants, variants.toReversed())
      })
      await withTestDatabase(store.database.reviewsUrl, (database) =>
        insertRows(
          database,
          TABLES.reviews,
          children(REVIEWS, (id, productId) => ({
            id,
            productId,
            rating: 3,
            title: 'R',
            body: null,
            authorName: 'A',
            createdAt: '2026-01-01T00:00:00.000Z'
          }))
        )
      )
    })
    after(() => rpc.close())

    const cut = (answer: Answer): unknown => answer.headers['x-truncated-includes']
    const page = (from: number, to: number, more: string): Promise<Answer> => {
      const filters = `filters[id].operator=between&filters[id].value=${from},${to}`
      return store.call(`/products/paged?${filters}&includeChildren=true&pageSize=100&${more}`)
    }
    const expectChildren = ({ id, variants, reviews }: Parent): void => {
      const shown = (rows: Parent['variants'] | undefined): number[] | undefined => rows?.map((one) => one.id)
      expect(shown(variants), `variants of ${id}`).to.deep.equal(childIds(id, VARIANTS.get(id) ?? 0).slice(0, 1000))
      if (reviews !== undefined) {
        expect(shown(reviews), `reviews of ${id}`).to.deep.equal(childIds(id, REVIEWS.get(id) ?? 0).slice(0, 1000))
      }
    }
    const tooMany = (answer: Answer, parameter = 'includeChildren'): void => {
      const violations = [{ code: 'include.too-many', parameter }]
      const problem = store.problem(answer, { status: 400, code: 'include.too-many', violations })
      expect(problem.detail).to.match(/20000 rows.*smaller page/)
    }

    it('a product shows the first 1,000 of 1,003 variants and reviews by key, and names both collections', async () => {
      const answer = await store.call('/products/2001?includeChildren=true')
      expect([answer.status, cut(answer)]).to.deep.equal([200, 'reviews, variants'])
      expectChildren(json(answer) as Parent)
      const variants = await store.call('/products/2001?includeChildren=true&fields=id,variants')
      expect(cut(variants)).to.equal('variants')
    })

    it('a product with exactly 1,000 variants shows all of them, and names no collection', async () => {
      const answer = await store.call(`/products/${EXACT}?includeChildren=true`)
      expectChildren(json(answer) as Parent)
      expect([answer.status, cut(answer)]).to.deep.equal([200, undefined])
    })

    it('a page of 20 products with 1,003 variants each shows the first 1,000 of each, which are 20,000', async () => {
      const answer = await page(2001, 2020, 'fields=id,variants')
      expect([answer.status, cut(answer)]).to.deep.equal([200, 'variants'])
      const rows = json(answer) as Parent[]
      expect(rows.map(({ id }) => id)).to.deep.equal(FULL.slice(0, 20))
      rows.forEach(expectChildren)
    })

    it('a page names no collection where no product of it has more than 1,000 variants', async () => {
      const answer = await page(EXACT, FEW, '')
      expect([answer.status, cut(answer)]).to.deep.equal([200, undefined])
      ;(json(answer) as Parent[]).forEach(expectChildren)
    })

    it('a page and a list that would include more than 20,000 rows are 400 include.too-many', async () => {
      tooMany(await page(2001, 2021, 'fields=id,variants'))
      tooMany(await store.call('/products?includeChildren=true&fields=id,variants'))
    })

    it('rows of all collections and references of an answer count together', async () => {
      // Beside 20,000 variants there is one category, or 1,000 reviews.
      tooMany(await page(2001, 2020, 'includeFKs=true&fields=id,variants,category'))
      tooMany(await page(2001, 2020, 'fields=id,variants,reviews'))
    })

    it('products that are read by id at one moment each name their own collections alone', async () => {
      const wanted = [2001, FEW, EXACT, 2002, 1]
      const answers = await Promise.all(wanted.map((id) => store.call(`/products/${id}?includeChildren=true`)))
      expect(answers.map((answer) => [answer.status, cut(answer)])).to.deep.equal([
        [200, 'reviews, variants'],
        [200, undefined],
        [200, undefined],
        [200, 'variants'],
        [200, undefined]
      ])
      answers.slice(0, 4).forEach((answer) => expectChildren(json(answer) as Parent))
    })

    // These two read some hundred thousand rows: each on one database, and on both in the soak.
    if (isSoak || store.kind === 'sqlite')
      it('products that are read by id at one moment are answered although together they have more than 20,000 rows', async () => {
        const answers = await Promise.all(FULL.map((id) => store.call(`/products/${id}?includeChildren=true`)))
        expect(answers.map(({ status: code }) => code)).to.deep.equal(FULL.map(() => 200))
        answers.forEach((answer) => expectChildren(json(answer) as Parent))
      })

    it('answers of gRPC name the collections in a field of their own, and reject as HTTP does', async () => {
      const shape = { includeChildren: 'true', fields: 'id,variants' }
      const of = (from: number, to: number): object => ({
        filters: [{ property: 'id', operator: 'between', value: `${from},${to}` }]
      })
      const truncated = async (method: Method, request: object): Promise<unknown> => {
        const answer = await rpc.unary(method, { resource: 'products', shape, ...request })
        return 'truncatedIncludes' in answer ? answer.truncatedIncludes : answer
      }
      expect(await truncated('Get', { id: '2001' })).to.deep.equal(['variants'])
      expect(await truncated('Get', { id: String(EXACT) })).to.deep.equal([])
      expect(await truncated('Page', { selection: of(2001, 2002) })).to.deep.equal(['variants'])
      expect(await truncated('Page', { selection: of(EXACT, FEW) })).to.deep.equal([])
      const failed = await rpc.unary('List', { resource: 'products', shape })
      expect(isFailure(failed) && [failed.status, failed.details.reason]).to.deep.equal([
        status.INVALID_ARGUMENT,
        'include.too-many'
      ])
    })

    if (isSoak || store.kind === 'mysql')
      it('no statement reads more than 1,000 rows of each product, one row that tells of more, and 20,001 rows in all', async () => {
        const readRows = async (work: () => Promise<Answer>, table: string): Promise<unknown[]> => {
          const id = String((await work()).headers['x-request-id'])
          // The lines of its statements come before that of the call.
          await store.stack.dataService.logged(({ msg, requestId }) => msg === 'call' && requestId === id)
          return store.stack.dataService
            .logs()
            .filter(({ msg, requestId, sql }) => msg === 'sql' && requestId === id && String(sql).includes(table))
            .map(({ rows }) => rows)
        }
        const one = (): Promise<Answer> => store.call('/products/2001?includeChildren=true')
        expect(await readRows(one, 'product_variants')).to.deep.equal([1001])
        expect(await readRows(one, 'product_reviews')).to.deep.equal([1001])
        // Only those with 1,000 rows may have more.
        const three = (): Promise<Answer> => page(2021, FEW, 'fields=id,variants')
        expect(await readRows(three, 'product_variants')).to.deep.equal([2003, 1])
        const many = (): Promise<Answer> => page(2001, 2021, 'fields=id,variants')
        expect(await readRows(many, 'product_variants')).to.deep.equal([20_001])
        const full = (): Promise<Answer> => page(2001, 2020, 'fields=id,variants,reviews')
        expect(await readRows(full, 'product_reviews')).to.deep.equal([1])
      })
  },
  { env: () => ({ LOG_SQL: 'true' }) }
)
