import { expect } from 'chai'
import { DATABASE_KINDS } from '../stack/databases.js'
import { loadRows } from '../oracle/load-rows.js'
import { answer as oracle } from '../oracle/read-oracle.js'
import { categories, customers, orders, products } from '../harness/store-resources.js'
import { ApiStore } from './api-store.js'
import { parseCsv } from '../stack/csv.js'
import { ids, json } from './http-call.js'

const COUNTS = { products: 2000, categories: 40, customers: 200, orders: 1500 }
const TEXTS = new Set([
  'name',
  'sku',
  'slug',
  'parentName',
  'email',
  'phone',
  'number',
  'status',
  'trackingCode',
  'description'
])

describe('the sample store', () => {
  const stores = DATABASE_KINDS.map((kind) => new ApiStore(kind))
  before(async () => {
    for (const store of stores) await store.start({ rows: 'sample' })
  })
  after(async () => {
    for (const store of stores) await store.stop()
  })

  it('is found by a part of a label that is a word, letter case aside', async () => {
    for (const store of stores) {
      const named = async (search: string): Promise<unknown> => {
        const answer = await store.as('admin', `/purchase-orders/lookup?search=${search}`)
        expect(answer.status, answer.text).to.equal(200)
        return [...new Set((json(answer) as { items: { name: string }[] }).items.map(({ name }) => name))]
      }
      expect(await named('CE')).to.deep.equal(['cancelled', 'received'])
      expect(await named('lost')).to.deep.equal([])
    }
  })

  for (const [resource, count] of Object.entries(COUNTS)) {
    it(`has ${count} ${resource}, the same bytes on every database`, async () => {
      const texts: string[] = []
      for (const [at, store] of stores.entries()) {
        const answer = await store.as('admin', `/${resource}/export`)
        expect(answer.status, `store ${at}`).to.equal(200)
        expect(parseCsv(answer.text.slice(1)), `store ${at}`).to.have.length(count + 1)
        texts.push(answer.text)
      }
      expect(new Set(texts).size).to.equal(1)
    })
  }

  for (const resource of [products, categories, customers, orders]) {
    it(`sorts ${resource.name} by every sortable property as the oracle does`, async () => {
      for (const store of stores) {
        const rows = await loadRows(store.databaseUrl, resource)
        for (const { name } of resource.properties) {
          // Texts hold letters beyond ASCII, which the embedded database orders its own way.
          if (TEXTS.has(name)) continue
          for (const sortDirection of ['asc', 'desc']) {
            const query = { filters: [], sortColumn: name, sortDirection, pageSize: 50, pageNumber: 3 }
            const expected = oracle(resource, rows, query)
            const shown = await store.as(
              'admin',
              `/${resource.name}/paged?sortColumn=${name}&sortDirection=${sortDirection}&pageSize=50&pageNumber=3`
            )
            expect(ids(shown), `${name} ${sortDirection}`).to.deep.equal(
              expected.rejected ?? expected.items.map((row) => row['id'])
            )
          }
        }
      }
    })
  }

  it('holds the awkward names that ordinary use has to meet', async () => {
    for (const store of stores) {
      for (const fragment of ['%', '_', ',', '"', '\n']) {
        const answer = await store.call(`/products/lookup?search=${encodeURIComponent(fragment)}`)
        expect(answer.text, JSON.stringify(fragment)).not.to.equal('{"items":[]}')
      }
      for (const start of ['=', '-']) {
        const answer = await store.call(
          `/products/paged?filters[name].operator=startsWith&filters[name].value=${encodeURIComponent(start)}`
        )
        expect(ids(answer), start).not.to.be.empty
      }
    }
  })

  it('gives products 0 to 6 variants and 0 to 20 reviews', async () => {
    for (const [at, store] of stores.entries()) {
      const answer = await store.call('/products/paged?pageSize=500&includeChildren=true&fields=variants,reviews')
      // The shape is what includes.test.ts checks.
      const items = JSON.parse(answer.text) as { variants: unknown[]; reviews: unknown[] }[]
      expect(Math.max(...items.map(({ variants }) => variants.length)), `store ${at}`).to.be.within(1, 6)
      expect(Math.max(...items.map(({ reviews }) => reviews.length)), `store ${at}`).to.be.within(1, 20)
      expect(
        items.some(({ reviews }) => reviews.length === 0),
        `store ${at}`
      ).to.equal(true)
    }
  })
})
