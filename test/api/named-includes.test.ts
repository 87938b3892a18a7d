import { expect } from 'chai'
import { insertRows, TABLES } from '../harness/insert-rows.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { describeApi } from './api-store.js'
import { childItem, LINES, orderItem, PRODUCTS, productItem, REVIEWS, VARIANTS } from './fixture.js'
import { ids, json } from './http-call.js'
import { StatementLog, statements } from './statement-log.js'

type Row = Readonly<Record<string, unknown>>

// contract.md section 4, `include=<names>`.
describeApi(
  'navigations by name',
  (store) => {
    const invalid = async (account: string | undefined, target: string): Promise<string> => {
      const answer = account === undefined ? await store.call(target) : await store.as(account, target)
      const violations = [{ code: 'include.invalid', parameter: 'include' }] as const
      return store.problem(answer, { status: 400, code: 'include.invalid', violations }).detail
    }
    const category = async (id: number): Promise<unknown> => json(await store.call(`/categories/${id}`))

    it('include=category shows the category alone, as includeFKs does, on each read', async () => {
      const one = { ...productItem(1), category: await category(2) }
      expect(json(await store.call('/products/1?include=category'))).to.deep.equal(one)
      for (const target of ['/products?', '/products/paged?pageSize=50&']) {
        const rows = json(await store.call(`${target}include=category`)) as Row[]
        expect(rows[0], target).to.deep.equal(one)
        expect(rows, target).to.deep.equal(json(await store.call(`${target}includeFKs=true`)))
      }
    })

    it('rows that a unique property names take it as rows by id do', async () => {
      const byId = await store.call('/products/1?include=category.parent')
      expect((await store.call('/products/by/sku/HM-001?include=category.parent')).text).to.equal(byId.text)
      expect(await invalid(undefined, '/products/by/sku/HM-001?include=nothing')).to.include('"nothing"')
    })

    it('include=variants leaves the second store alone, and include=reviews reads it', async () => {
      const variants = [childItem(VARIANTS, 1, 'productId'), childItem(VARIANTS, 2, 'productId')]
      expect(json(await store.call('/products/1?include=variants'))).to.deep.equal({ ...productItem(1), variants })
      const reviews = [childItem(REVIEWS, 2, 'productId'), childItem(REVIEWS, 3, 'productId')]
      expect(json(await store.call('/products/3?include=reviews'))).to.deep.equal({ ...productItem(3), reviews })
    })

    it('a name behind a dot is a navigation of the rows that the first one leads to', async () => {
      const parent = { ...((await category(3)) as Row), parent: await category(1) }
      const rows = json(await store.call('/products/paged?include=category.parent&fields=id,category')) as Row[]
      expect(rows.find(({ id }) => id === 3)).to.deep.equal({ id: 3, category: parent })
      // Category 1 has none.
      const top = { ...((await category(1)) as Row), parent: null }
      expect(rows.find(({ id }) => id === 6)).to.deep.equal({ id: 6, category: top })
    })

    it('include=lines.product shows a reference of children, which no flag does', async () => {
      const lines = [{ ...childItem(LINES, 1, 'orderId'), product: productItem(1) }]
      const named = json(await store.as('ada', '/orders/1?include=lines.product'))
      expect(named).to.deep.equal({ ...orderItem(1), lines })
      const flagged = json(await store.as('ada', '/orders/1?includeChildren=true')) as Row
      expect(flagged['lines']).to.deep.equal([childItem(LINES, 1, 'orderId')])
      const all = json(await store.as('admin', '/orders/paged?include=lines.product&fields=id,lines')) as {
        lines: { productId: number; product: Row }[]
      }[]
      for (const { lines: some } of all) for (const line of some) expect(line.product['id']).to.equal(line.productId)
    })

    it('takes names in any letter case, with white space around them, and joins several parameters', async () => {
      const expected = json(await store.call('/products/1?include=category,variants'))
      for (const query of ['include=CATEGORY,%20Variants%20', 'include=variants&Include=category']) {
        expect(json(await store.call(`/products/1?${query}`)), query).to.deep.equal(expected)
      }
    })

    it('loads what the flags ask for as well', async () => {
      const union = json(await store.call('/products/1?includeFKs=true&include=variants,category.parent')) as Row
      expect(Object.keys(union)).to.include.members(['category', 'variants']).and.not.include('reviews')
      expect(union['category']).to.have.nested.property('parent.id', 1)
      const all = await store.call('/products/1?includeFKs=true&includeChildren=true')
      expect((await store.call('/products/1?includeChildren=true&include=category')).text).to.equal(all.text)
      expect((await store.call('/products/1?includeChildren=true&include=reviews')).text).to.equal(
        (await store.call('/products/1?includeChildren=true')).text
      )
    })

    it('fields may name a navigation that include names, and none that is not included', async () => {
      const answer = await store.call('/products/1?include=category,variants&fields=variants,id')
      const variants = [childItem(VARIANTS, 1, 'productId'), childItem(VARIANTS, 2, 'productId')]
      expect(json(answer)).to.deep.equal({ variants, id: 1 })
      const problem = store.problem(await store.call('/products/1?include=variants&fields=category'), {
        status: 400,
        code: 'fields.invalid',
        violations: [{ code: 'fields.invalid', parameter: 'fields' }]
      })
      expect(problem.detail).to.equal('"category" needs includeFKs=true or include=category.')
    })

    for (const [names, detail] of [
      ['colour', '"colour" is not a navigation. There are: category, variants, reviews.'],
      ['name', '"name" is not a navigation. There are: category, variants, reviews.'],
      ['', '"" is not a navigation. There are: category, variants, reviews.'],
      ['variants,', '"" is not a navigation. There are: category, variants, reviews.'],
      ['category.', '"category." is not a navigation. There are: category.parent.'],
      ['category.variants', '"category.variants" is not a navigation. There are: category.parent.'],
      ['variants.product', '"variants.product" is not a navigation. There is none.'],
      ['category.parent.parent', '"category.parent.parent" has more than two levels.'],
      ['category,Category', '"Category" is named twice.'],
      [Array.from({ length: 11 }, () => 'category').join(), 'include takes at most 10 names.']
    ] as const) {
      it(`rejects include=${names}`, async () => {
        for (const target of ['/products', '/products/paged', '/products/1']) {
          expect(await invalid(undefined, `${target}?include=${names}`), target).to.include(detail)
        }
      })
    }

    it('names all wrong names at once', async () => {
      const answer = await store.call('/products?include=one,category,two')
      const { errors } = json(answer) as { errors: { detail: string }[] }
      expect(errors.map(({ detail }) => detail.split(' ')[0])).to.deep.equal(['"one"', '"two"'])
    })

    it('links to other pages keep it, and so do cursors', async () => {
      const first = await store.call('/products/paged?include=category.parent&pageSize=5')
      const next = /<([^>]*)>; rel="next"/.exec(String(first.headers['link']))?.[1] ?? ''
      expect(new URL(next).searchParams.get('include')).to.equal('category.parent')
      const cursor = String(first.headers['x-next-cursor'])
      const after = await store.call(`/products/paged?include=category.parent&pageSize=5&after=${cursor}`)
      expect(ids(after)).to.deep.equal(PRODUCTS.slice(5, 10).map(({ id }) => id))
      const pages = json(after) as Row[]
      for (const row of pages) expect(row['category']).to.have.property('parent')
      expect(String(after.headers['link'])).to.include('include=category.parent')
    })

    it('exports do not know it: they ignore it and say so, and reject it where the caller asks for that', async () => {
      const lenient = await store.call('/products/export?include=category')
      expect([lenient.status, lenient.headers['x-ignored-parameters']]).to.deep.equal([200, 'include'])
      const strict = await store.call('/products/export?include=category', { headers: { prefer: 'handling=strict' } })
      store.problem(strict, {
        status: 400,
        code: 'parameter.unknown',
        violations: [{ code: 'parameter.unknown', parameter: 'include' }]
      })
      const known = await store.call('/products?include=category', { headers: { prefer: 'handling=strict' } })
      expect([known.status, known.headers['x-ignored-parameters']]).to.deep.equal([200, undefined])
    })

    it('shows of rows within rows what their caller could read by id, and nothing else', async () => {
      const customers = async (account: string): Promise<unknown[]> =>
        (json(await store.as(account, '/orders/paged?include=customer.addresses&sortColumn=id')) as Row[]).map(
          ({ customer }) => customer && (customer as { addresses: Row[] }).addresses.map(({ id }) => id)
        )
      expect(await customers('ada')).to.deep.equal([[1], [1]])
      expect(await customers('admin')).to.deep.equal([[1], [2], [1], [], [2]])
      const text = (await store.as('ada', '/orders?include=customer.addresses,lines.product')).text
      expect(text).to.not.match(/riskNote|secret-alpha|costPrice|creditLimit/)
      const clerk = json(await store.as('admin', '/orders/1?include=lines.product')) as { lines: { product: Row }[] }
      expect(clerk.lines[0]?.product).to.have.property('costPrice')
    })

    it('answers gRPC as HTTP', async () => {
      const rpc = new GrpcCaller(store.stack.dataAddress)
      try {
        for (const include of ['category.parent,reviews', 'Variants']) {
          const http = await store.call(`/products/3?include=${include}`)
          const answer = await rpc.unary('Get', { resource: 'products', id: '3', shape: { include } })
          expect(String((answer as { record: { json: Buffer } }).record.json)).to.equal(http.text)
        }
        const failed = await rpc.unary('List', { resource: 'products', shape: { include: 'nothing' } })
        expect(isFailure(failed) && failed.details.reason).to.equal('include.invalid')
      } finally {
        rpc.close()
      }
    })

    it('reads by id at one moment get each what they ask for', async () => {
      const queries = [
        'include=category',
        'include=category.parent',
        'include=variants',
        'include=variants,category',
        ''
      ]
      const alone = [] as string[]
      for (const query of queries) alone.push((await store.call(`/products/3?${query}`)).text)
      expect(new Set(alone).size).to.equal(queries.length)
      const together = await Promise.all(
        Array.from({ length: 40 }, (_, n) => store.call(`/products/3?${queries[n % queries.length] ?? ''}`))
      )
      together.forEach(({ text }, n) => expect(text).to.equal(alone[n % queries.length]))
    })
  },
  { also: ['document'] }
)

describeApi('collections of the second store within references', (store) => {
  before(() =>
    withTestDatabase(store.databaseUrl, async (database) => {
      const [warehouse, version] = ['00000000-0000-4000-8000-000000000001', Buffer.alloc(8, 1)]
      const places = 'INSERT INTO warehouses (id, name, city, is_open, row_version) VALUES (?, ?, ?, ?, ?)'
      await database.run(places, [warehouse, 'North', 'X', 1, version])
      const items =
        'INSERT INTO stock_items (id, warehouse_id, product_id, on_hand, reserved, row_version) VALUES (?, ?, ?, 1, 0, ?)'
      for (const [at, product] of [1, 3, 2].entries()) {
        await database.run(items, [at + 1, warehouse, product, version])
      }
    })
  )

  it('are loaded for the products of stock items', async () => {
    const rows = json(await store.as('admin', '/stock-items?include=product.reviews')) as {
      product: { id: number; reviews: Row[] }
    }[]
    expect(rows.map(({ product }) => [product.id, product.reviews.map(({ id }) => id)])).to.deep.equal([
      [1, [1]],
      [3, [2, 3]],
      [2, []]
    ])
  })

  it('count their bytes each time that the answer shows them', async () => {
    // 4.4 MB of reviews of one product, which two stock items name.
    const review = { productId: 2, rating: 5, title: 'x', body: '\u{1f600}'.repeat(1100), authorName: 'x' }
    await withTestDatabase(store.database.reviewsUrl, (database) =>
      insertRows(
        database,
        TABLES.reviews,
        Array.from({ length: 1000 }, (_, at) => ({ ...review, id: 1001 + at, createdAt: '2026-01-01T00:00:00.000Z' }))
      )
    )
    const target = '/stock-items/paged?include=product.reviews&fields=id,product'
    expect((await store.as('admin', target)).status).to.equal(200)
    const other = '00000000-0000-4000-8000-000000000002'
    await withTestDatabase(store.databaseUrl, async (database) => {
      const version = Buffer.alloc(8, 1)
      const places = 'INSERT INTO warehouses (id, name, city, is_open, row_version) VALUES (?, ?, ?, ?, ?)'
      await database.run(places, [other, 'South', 'Y', 1, version])
      const items =
        'INSERT INTO stock_items (id, warehouse_id, product_id, on_hand, reserved, row_version) VALUES (4, ?, 2, 1, 0, ?)'
      await database.run(items, [other, version])
    })
    const answer = await store.as('admin', target)
    const { code, errors } = json(answer) as { code: string; errors: { parameter: string }[] }
    expect([answer.status, code, errors[0]?.parameter]).to.deep.equal([400, 'include.too-many', 'include'])
  })
})

// Not with cuts: a read that is sent again has its statements twice.
describeApi('statements of navigations by name', (store) => {
  if (store.kind === 'mysql') {
    it('are one for each navigation, however many rows a page has', async () => {
      const log = await StatementLog.open(store.databaseUrl)
      try {
        const count = async (account: string, target: string): Promise<number> => {
          await store.as(account, target)
          const lines = await log.during(() => store.as(account, target))
          return statements(lines).filter(({ command }) => command !== 'Prepare').length
        }
        const pages = (path: string) => [1, 2, 4].map((size) => `${path}&includeTotal=false&pageSize=${size}`)
        for (const [path, expected] of [
          ['/products/paged?include=category.parent,variants', 4],
          ['/orders/paged?include=lines.product,customer.addresses', 5]
        ] as const) {
          for (const target of pages(path)) expect(await count('admin', target), target).to.equal(expected)
        }
      } finally {
        await log.close()
      }
    })
  }
})
