import { expect } from 'chai'
import { insertRows, TABLES, type NewRow } from '../harness/insert-rows.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { describeApi } from './api-store.js'
import { categoryItem, childItem, customerItem, LINES, orderItem, productItem, REVIEWS, VARIANTS } from './fixture.js'
import { ids, json } from './http-call.js'
import { StatementLog, statements } from './statement-log.js'

interface Parent {
  readonly id: number
  readonly variants: readonly unknown[]
  readonly reviews: readonly unknown[]
}

describeApi(
  'includes',
  (store) => {
    it('loads children of both stores, in order of id', async () => {
      const answer = await store.call('/products/1?includeChildren=true')
      expect(json(answer)).to.deep.equal({
        ...productItem(1),
        variants: [childItem(VARIANTS, 1, 'productId'), childItem(VARIANTS, 2, 'productId')],
        reviews: [childItem(REVIEWS, 1, 'productId')]
      })
      const cotton = await store.call('/products/3?includeChildren=true')
      expect(json(cotton)).to.deep.equal({
        ...productItem(3),
        variants: [childItem(VARIANTS, 3, 'productId')],
        reviews: [childItem(REVIEWS, 2, 'productId'), childItem(REVIEWS, 3, 'productId')]
      })
      const none = await store.call('/products/2?includeChildren=true')
      expect(json(none)).to.deep.equal({ ...productItem(2), variants: [], reviews: [] })
    })

    it('loads references with what their own resource shows', async () => {
      const body = json(await store.call('/products/1?includeFKs=true'))
      expect(Object.keys(body ?? {}))
        .to.include('category')
        .and.not.include.members(['variants', 'reviews'])
      const { rowVersion: _version, parentName: _joined, ...category } = categoryItem(2)
      expect(body).to.deep.include({ id: 1 }).and.have.property('category').that.deep.includes(category)
    })

    it('shows a null reference as null', async () => {
      expect(json(await store.call('/categories/1?includeFKs=true'))).to.have.property('parent', null)
      expect(json(await store.call('/categories/2?includeFKs=true')))
        .to.have.property('parent')
        .that.deep.includes({ id: 1, name: 'Tools', slug: 'tools' })
    })

    it('works on list and paged alike', async () => {
      for (const route of ['/products?', '/products/paged?pageSize=50&']) {
        const body = json(await store.call(`${route}includeChildren=true&includeFKs=true&fields=id,variants,category`))
        expect(body, route).to.be.an('array').with.length(12)
        const variants = [1, 2].map((id) => childItem(VARIANTS, id, 'productId'))
        expect(body, route).to.have.nested.property('[0].variants').that.deep.equals(variants)
        expect(body, route).to.have.nested.property('[1].variants').that.deep.equals([])
        expect(body, route).to.have.nested.property('[1].category.name', 'Hand Tools')
      }
    })

    for (const value of ['TRUE', 'yes', '1', '', 'true%20', 'true&includeChildren=true']) {
      it(`rejects includeChildren=${value}`, async () => {
        for (const route of ['/products', '/products/paged', '/products/1']) {
          store.problem(await store.call(`${route}?includeChildren=${value}`), {
            status: 400,
            code: 'include.invalid',
            violations: [{ code: 'include.invalid', parameter: 'includeChildren' }]
          })
        }
      })
    }

    it('shows an order its lines and its customer only to whom each belongs', async () => {
      const mine = json(await store.as('ada', '/orders/1?includeChildren=true&includeFKs=true'))
      expect(mine).to.deep.include({ ...orderItem(1), lines: [childItem(LINES, 1, 'orderId')] })
      const text = JSON.stringify(mine)
      expect(text).not.to.include('secret-alpha').and.not.include('riskNote')
      const all = json(await store.as('admin', '/orders/paged?includeFKs=true&sortColumn=id'))
      const names = Array.isArray(all) ? all.map((one: { customer?: { name?: unknown } }) => one.customer?.name) : []
      expect(names).to.deep.equal([1, 2, 1, 3, 2].map((id) => customerItem(id)['name']))
    })
  },
  { also: ['cuts'] }
)

// Not with cuts: a read that is sent again has its statements twice.
describeApi('includes over parents with 0, 1 and 20 children', (store) => {
  const counts = (id: number): number => (id % 3 === 0 ? 0 : id % 3 === 1 ? 1 : 20)
  const parents = Array.from({ length: 200 }, (_, n) => 1001 + n)
  const children = (make: (id: number, n: number) => NewRow): NewRow[] =>
    parents.flatMap((id) => Array.from({ length: counts(id) }, (_, n) => make(id, n)))

  before(async () => {
    await withTestDatabase(store.databaseUrl, async (database) => {
      const row = (id: number): NewRow => ({
        id,
        name: 'P',
        sku: `P-${id}`,
        categoryId: 2,
        price: '1.00',
        isActive: true
      })
      await insertRows(database, TABLES.products, parents.map(row))
      await insertRows(
        database,
        TABLES.variants,
        children((productId, n) => ({
          id: productId * 100 + n,
          productId,
          name: 'V',
          sku: `V-${productId}-${n}`,
          price: '1.00',
          stock: n
        }))
      )
    })
    await withTestDatabase(store.database.reviewsUrl, (database) =>
      insertRows(
        database,
        TABLES.reviews,
        children((productId, n) => ({
          id: productId * 100 + n,
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

  const target = (size: number): string =>
    `/products/paged?filters[id].operator=gt&filters[id].value=1000&includeChildren=true&includeFKs=true&pageSize=${size}`

  it('cuts pages by parents, keeps totals and gives each parent all of its children', async () => {
    const answer = await store.call(target(10))
    expect(ids(answer)).to.deep.equal(parents.slice(0, 10))
    expect(answer.headers['x-total-count']).to.equal('200')
    // The shape is what is being checked.
    for (const { id, variants, reviews } of json(answer) as Parent[]) {
      const expected = Array.from({ length: counts(id) }, (_, n) => id * 100 + n)
      expect(
        (variants as { id: number }[]).map((one) => one.id),
        `id ${id}`
      ).to.deep.equal(expected)
      expect(
        (reviews as { id: number }[]).map((one) => one.id),
        `id ${id}`
      ).to.deep.equal(expected)
    }
  })

  if (store.kind === 'mysql') {
    it('takes the same number of statements for any page size', async () => {
      const [main, second] = [
        await StatementLog.open(store.databaseUrl),
        new URL(store.database.reviewsUrl).pathname.slice(1)
      ]
      try {
        const counted: number[][] = []
        // A page that reaches the end may know its total without counting, so none here does.
        for (const size of [1, 10, 100, 199]) {
          await store.call(target(size))
          const executed = (database?: string): Promise<number> =>
            main
              .during(() => store.call(target(size)), database)
              .then((lines) => statements(lines).filter(({ command }) => command !== 'Prepare').length)
          counted.push([await executed(), await executed(second)])
        }
        const [first = []] = counted
        for (const [at, one] of counted.entries()) expect(one, `request ${at}`).to.deep.equal(first)
        expect(first[0]).to.be.within(3, 5)
        expect(first[1]).to.equal(1)
      } finally {
        await main.close()
      }
    })
  }
})
