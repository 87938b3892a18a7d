import { expect } from 'chai'
import { insertRows, TABLES } from '../harness/insert-rows.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { describeApi } from './api-store.js'
import { CATEGORIES, PRODUCTS, categoryItem, productItem } from './fixture.js'
import { ids, json } from './http-call.js'

const MANY = 1500

describeApi(
  'GET /{resource}',
  (store) => {
    it('answers every row by id, as a bare array of full items', async () => {
      const answer = await store.call('/products')
      expect(answer.status).to.equal(200)
      expect(answer.headers['content-type']).to.match(/^application\/json(; charset=utf-8)?$/)
      expect(json(answer)).to.deep.equal(PRODUCTS.map((row) => productItem(Number(row['id']))))
    })

    it('says its row limit and, with nothing left out, neither X-Truncated nor Link', async () => {
      const { headers } = await store.call('/products')
      expect(headers).to.include({
        'x-row-limit': '1000',
        'cache-control': 'no-store',
        'api-supported-versions': '1.0'
      })
      expect(headers).not.to.have.any.keys('x-truncated', 'link', 'x-pagination', 'etag')
    })

    it('shows the joined property of a nested path', async () => {
      const answer = await store.call('/categories')
      expect(json(answer)).to.deep.equal(CATEGORIES.map((row) => categoryItem(Number(row['id']))))
    })

    it('ignores and names what belongs to the paged route', async () => {
      const answer = await store.call('/products?pageSize=2&sortColumn=name&fields=id')
      expect(ids(answer)).to.deep.equal(PRODUCTS.map((row) => row['id']))
      expect(String(answer.headers['x-ignored-parameters']).split(/,\s*/)).to.have.members(['pageSize', 'sortColumn'])
    })

    describe('with more rows than the ceiling', () => {
      before(() =>
        withTestDatabase(store.databaseUrl, (database) =>
          insertRows(
            database,
            TABLES.categories,
            Array.from({ length: MANY }, (_, n) => ({ id: 100 + n, name: `c${n}`, parentId: null, slug: `s${n}` }))
          )
        )
      )
      after(() =>
        withTestDatabase(store.databaseUrl, (database) => database.run('DELETE FROM categories WHERE id >= 100'))
      )

      it('cuts at 1000 rows, says so and links to the page that starts at row 1001', async () => {
        const answer = await store.call('/categories?fields=id&sortColumn=name&filters[id].value=1')
        const expected = [1, 2, 3, 4, 5, ...Array.from({ length: 995 }, (_, n) => 100 + n)]
        expect(ids(answer)).to.deep.equal(expected)
        expect(answer.headers).to.include({ 'x-row-limit': '1000', 'x-truncated': 'true' })
        const [, target = ''] = /^<([^>]+)>; ?rel="?next"?$/.exec(String(answer.headers['link'])) ?? []
        const url = new URL(target)
        expect(`${url.origin}${url.pathname}`).to.equal(`${store.url}/categories/paged`)
        // The paged route would sort and filter by what the list ignores, so the link does not repeat it.
        expect(Object.fromEntries(url.searchParams)).to.deep.equal({ fields: 'id', pageSize: '500', pageNumber: '3' })
        const next = await store.call(url.pathname + url.search)
        expect(ids(next)[0]).to.equal(1095)
      })
    })
  },
  { also: ['unary'] }
)
