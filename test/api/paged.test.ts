import { expect } from 'chai'
import { insertRows, TABLES } from '../harness/insert-rows.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { describeApi } from './api-store.js'
import { PRODUCTS, productItem } from './fixture.js'
import { ids, json, type Answer } from './http-call.js'

const SAME = 1000
const STRIDE = 37

describeApi(
  'GET /{resource}/paged',
  (store) => {
    const page = (query: string) => store.call(`/products/paged?${query}`)
    const pagination = (answer: Answer): unknown => JSON.parse(String(answer.headers['x-pagination']))

    it('answers the first ten rows by id with all that the headers promise', async () => {
      const answer = await store.call('/products/paged')
      expect(answer.status).to.equal(200)
      expect(json(answer)).to.deep.equal(PRODUCTS.slice(0, 10).map((row) => productItem(Number(row['id']))))
      expect(pagination(answer)).to.deep.equal({
        totalCount: 12,
        pageSize: 10,
        currentPage: 1,
        totalPages: 2,
        hasPrevious: false,
        hasNext: true
      })
      expect(answer.headers).to.include({
        'x-total-count': '12',
        'cache-control': 'no-store',
        'api-supported-versions': '1.0'
      })
      expect(links(answer)).to.deep.equal({ first: '1', next: '2', last: '2' })
      expect(answer.headers).not.to.have.any.keys('etag', 'x-row-limit', 'x-truncated')
    })

    interface PageCase {
      readonly query: string
      readonly items: readonly number[]
      readonly meta: Readonly<Record<string, unknown>>
      readonly rel: Readonly<Record<string, string>>
    }
    const CASES: readonly PageCase[] = [
      {
        query: 'pageNumber=2&pageSize=5',
        items: [6, 7, 8, 9, 10],
        meta: { totalCount: 12, pageSize: 5, currentPage: 2, totalPages: 3, hasPrevious: true, hasNext: true },
        rel: { first: '1', prev: '1', next: '3', last: '3' }
      },
      {
        query: 'page=3&pageSize=5',
        items: [11, 12],
        meta: { totalCount: 12, pageSize: 5, currentPage: 3, totalPages: 3, hasPrevious: true, hasNext: false },
        rel: { first: '1', prev: '2', last: '3' }
      },
      {
        query: 'pageSize=12',
        items: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
        meta: { totalCount: 12, pageSize: 12, currentPage: 1, totalPages: 1, hasPrevious: false, hasNext: false },
        rel: { first: '1', last: '1' }
      },
      {
        query: 'pageNumber=9&pageSize=5',
        items: [],
        meta: { totalCount: 12, pageSize: 5, currentPage: 9, totalPages: 3, hasPrevious: true, hasNext: false },
        rel: { first: '1', prev: '3', last: '3' }
      },
      {
        query: 'pageSize=1000',
        items: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
        meta: { totalCount: 12, pageSize: 500, currentPage: 1, totalPages: 1, hasPrevious: false, hasNext: false },
        rel: { first: '1', last: '1' }
      },
      {
        query: 'filters[id].operator=gt&filters[id].value=99',
        items: [],
        meta: { totalCount: 0, pageSize: 10, currentPage: 1, totalPages: 0, hasPrevious: false, hasNext: false },
        rel: { first: '1' }
      }
    ]
    for (const { query, items, meta, rel } of CASES) {
      it(`pages by ${query}`, async () => {
        const answer = await page(query)
        expect(ids(answer)).to.deep.equal(items)
        expect(pagination(answer)).to.deep.equal(meta)
        expect(answer.headers['x-total-count']).to.equal(String(meta['totalCount']))
        expect(links(answer)).to.deep.equal(rel)
      })
    }

    for (const number of ['9223372036854775807', '9'.repeat(60)]) {
      it(`answers an empty page with true totals for page ${number.slice(0, 20)}`, async () => {
        const answer = await page(`pageNumber=${number}&pageSize=5`)
        expect(answer.status, answer.text).to.equal(200)
        expect(ids(answer)).to.deep.equal([])
        expect(String(answer.headers['x-pagination'])).to.include(number)
        expect(answer.headers['x-total-count']).to.equal('12')
        expect(links(answer)).to.deep.equal({ first: '1', prev: '3', last: '3' })
      })
    }

    it('keeps the other parameters in its links', async () => {
      const query = 'filters[name].operator=contains&filters[name].value=a%26b%20%25&fields=id,name&sortColumn=name'
      const answer = await page(`${query}&pageSize=3`)
      const first = /<([^>]+)>; ?rel="?first/.exec(String(answer.headers['link']))?.[1] ?? ''
      const parameters = new URL(first).searchParams
      expect(Object.fromEntries(parameters)).to.deep.include({
        'filters[name].operator': 'contains',
        'filters[name].value': 'a&b %',
        fields: 'id,name',
        sortColumn: 'name',
        pageSize: '3'
      })
    })

    it('skips the count with includeTotal=false', async () => {
      const answer = await page('includeTotal=false&pageSize=5')
      expect(ids(answer)).to.deep.equal([1, 2, 3, 4, 5])
      expect(pagination(answer)).to.deep.equal({ pageSize: 5, currentPage: 1, hasPrevious: false, hasNext: true })
      expect(answer.headers).not.to.have.any.keys('x-total-count')
      expect(links(answer)).to.deep.equal({ first: '1', next: '2' })
      const end = await page('includeTotal=false&pageSize=5&pageNumber=3')
      expect(pagination(end)).to.deep.equal({ pageSize: 5, currentPage: 3, hasPrevious: true, hasNext: false })
    })

    for (const query of ['', '&sortColumn=price', '&filters[name].operator=contains&filters[name].value=']) {
      it(`counts up to totalLimit and says where there are more rows${query}`, async () => {
        const shown = async (parameters: string) => {
          const answer = await page(`pageSize=5&${parameters}${query}`)
          return [pagination(answer), answer.headers['x-total-count'], links(answer)]
        }
        const counted = { pageSize: 5, currentPage: 2, hasPrevious: true, hasNext: true }
        const cut = { ...counted, totalCount: 11, totalIsLowerBound: true }
        const rel = { first: '1', prev: '1', next: '3' }
        expect(await shown('pageNumber=2&totalLimit=11')).to.deep.equal([cut, '11', rel])
        for (const limit of [12, 13, 1_000_000]) {
          const whole = [{ ...counted, totalCount: 12, totalPages: 3 }, '12', { ...rel, last: '3' }]
          expect(await shown(`pageNumber=2&totalLimit=${limit}`)).to.deep.equal(whole)
        }
        const end = { pageSize: 5, currentPage: 3, hasPrevious: true, hasNext: false }
        const atEnd = { ...end, totalCount: 1, totalIsLowerBound: true }
        expect(await shown('pageNumber=3&totalLimit=1')).to.deep.equal([atEnd, '1', { first: '1', prev: '2' }])
        expect(await shown('pageNumber=3&totalLimit=1&includeTotal=false')).to.deep.equal([
          end,
          undefined,
          { first: '1', prev: '2' }
        ])
      })
    }

    it('counts up to totalLimit beside a cursor too', async () => {
      const first = await page('pageSize=5&totalLimit=3')
      const next = await page(`pageSize=5&totalLimit=3&after=${String(first.headers['x-next-cursor'])}`)
      expect(ids(next)).to.deep.equal([6, 7, 8, 9, 10])
      const { totalCount, totalIsLowerBound, hasNext } = pagination(next) as Readonly<Record<string, unknown>>
      expect({ totalCount, totalIsLowerBound, hasNext }).to.deep.equal({
        totalCount: 3,
        totalIsLowerBound: true,
        hasNext: true
      })
    })

    const SORTS: readonly (readonly [string, readonly number[]])[] = [
      ['sortColumn=price', [2, 9, 6, 7, 8, 3, 4, 12, 1, 11, 10, 5]],
      ['sortColumn=PRICE&sortDirection=DESCENDING', [5, 10, 11, 1, 12, 4, 3, 8, 7, 6, 9, 2]],
      ['sortColumn=barcode&sortDirection=asc', [2, 6, 8, 9, 10, 12, 3, 11, 5, 7, 1, 4]],
      ['sortColumn=barcode&sortDirection=Desc', [4, 1, 7, 5, 11, 3, 12, 10, 9, 8, 6, 2]],
      ['sortColumn=weightGrams&sortDirection=ascending', [2, 6, 7, 9, 10, 11, 12, 3, 4, 8, 1, 5]],
      ['sortColumn=releasedAt', [2, 7, 8, 9, 10, 11, 12, 5, 4, 1, 3, 6]],
      ['sortColumn=isActive', [8, 10, 1, 2, 3, 4, 5, 6, 7, 9, 11, 12]],
      ['sortColumn=externalId&sortDirection=desc', [4, 3, 1, 5, 12, 11, 10, 9, 8, 7, 6, 2]],
      ['sortColumn=id&sortDirection=desc', [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]],
      ['sortDirection=desc', [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]]
    ]
    for (const [query, order] of SORTS) {
      it(`orders by ${query}, nulls first ascending and last descending, ids of ties in the same direction`, async () => {
        expect(ids(await page(`${query}&pageSize=20`))).to.deep.equal(order)
      })
    }

    it('orders text without letter case and with trailing spaces counted', async () => {
      const answer = await page(
        'sortColumn=name&filters[name].operator=starts%20with&filters[name].value=hammer&pageSize=20'
      )
      expect(ids(answer)).to.deep.equal([1, 2, 10])
    })

    it('orders by the name of the parent, a column of another row', async () => {
      const up = await store.call('/categories/paged?sortColumn=parentName')
      expect(ids(up)).to.deep.equal([1, 4, 5, 2, 3])
      const down = await store.call('/categories/paged?sortColumn=parentName&sortDirection=desc')
      expect(ids(down)).to.deep.equal([3, 2, 5, 4, 1])
    })

    describe(`over ${SAME} rows with one sort value`, () => {
      before(() =>
        withTestDatabase(store.databaseUrl, (database) =>
          insertRows(
            database,
            TABLES.products,
            Array.from({ length: SAME }, (_, n) => ({
              id: 5000 + ((n * 7) % SAME),
              name: 'Same',
              sku: `SAME-${n}`,
              categoryId: 1,
              price: '7.77',
              isActive: true
            }))
          )
        )
      )
      after(() =>
        withTestDatabase(store.databaseUrl, (database) => database.run('DELETE FROM products WHERE id >= 5000'))
      )

      for (const direction of ['asc', 'desc']) {
        it(`walks pages of ${STRIDE} ${direction} and meets each id once`, async () => {
          const seen: unknown[] = []
          let target: string | undefined =
            `/products/paged?filters[name].operator=eq&filters[name].value=same&sortColumn=price` +
            `&sortDirection=${direction}&pageSize=${STRIDE}&fields=id`
          while (target !== undefined) {
            const answer: Answer = await store.call(target)
            seen.push(...ids(answer))
            const next = /<([^>]+)>; ?rel="?next"?/.exec(String(answer.headers['link']))?.[1]
            target = next === undefined ? undefined : new URL(next).pathname + new URL(next).search
          }
          const ascending = Array.from({ length: SAME }, (_, n) => 5000 + n)
          expect(seen).to.deep.equal(direction === 'asc' ? ascending : ascending.toReversed())
        })
      }
    })

    /** rel → page number of its target. */
    function links(answer: Answer): Record<string, string | null> {
      const found = String(answer.headers['link']).matchAll(/<([^>]+)>; ?rel="?(\w+)"?/g)
      return Object.fromEntries(
        [...found].map(([, target = '', rel = '']) => {
          const url = new URL(target)
          expect(`${url.origin}${url.pathname}`).to.equal(`${store.url}/products/paged`)
          return [rel, url.searchParams.get('pageNumber') ?? url.searchParams.get('page')]
        })
      )
    }
  },
  { also: ['document'] }
)

describeApi(
  'GET /{resource}/paged under MAX_PAGE_SIZE=7',
  (store) => {
    it('clamps the size and counts pages by it', async () => {
      const answer = await store.call('/products/paged?pageSize=8')
      expect(ids(answer)).to.deep.equal([1, 2, 3, 4, 5, 6, 7])
      expect(JSON.parse(String(answer.headers['x-pagination']))).to.include({ pageSize: 7, totalPages: 2 })
    })
  },
  { on: 'sqlite', env: () => ({ MAX_PAGE_SIZE: '7' }) }
)
