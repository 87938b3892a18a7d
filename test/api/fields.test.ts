import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { productItem, PRODUCTS, rowOf, versionOf } from './fixture.js'
import { json } from './http-call.js'

const hammer = productItem(1)
const pick = (...names: string[]): [string, unknown][] => names.map((name) => [name, hammer[name]])

describeApi(
  'fields',
  (store) => {
    const CASES: readonly (readonly [fields: string, entries: readonly [string, unknown][]])[] = [
      ['name', pick('name')],
      ['price,name,id', pick('price', 'name', 'id')],
      ['%20NAME%20,%20,Price,name,', pick('name', 'price')],
      ['rowVersion', [['rowVersion', versionOf(rowOf(PRODUCTS, 1))]]],
      [
        'barcode,weightGrams,isActive,releasedAt,externalId,description',
        pick('barcode', 'weightGrams', 'isActive', 'releasedAt', 'externalId', 'description')
      ],
      ['categoryId,sku', pick('categoryId', 'sku')]
    ]
    for (const [fields, entries] of CASES) {
      for (const [route, wrap] of [
        ['/products', false],
        ['/products/paged', false],
        ['/products/1', true]
      ] as const) {
        it(`trims ${route} to ${fields}, in the order asked, with nothing added`, async () => {
          const answer = await store.call(`${route}?fields=${fields}`)
          expect(answer.status, answer.text).to.equal(200)
          const body: unknown = json(answer)
          const item: unknown = wrap ? body : Array.isArray(body) ? body[0] : undefined
          expect(Object.entries(item ?? {})).to.deep.equal(entries)
        })
      }
    }

    for (const fields of ['', '%20', ',', '%20,%20']) {
      it(`takes ${JSON.stringify(fields)} as all`, async () => {
        expect(json(await store.call(`/products/1?fields=${fields}`))).to.deep.equal(productItem(1))
      })
    }

    it('names a navigation whose include flag is on', async () => {
      const answer = await store.call('/products/1?fields=variants,id,category&includeChildren=true&includeFKs=true')
      const body = json(answer)
      expect(Object.keys(body ?? {})).to.deep.equal(['variants', 'id', 'category'])
    })

    it('takes several fields parameters as one list', async () => {
      const answer = await store.call('/products/1?fields=id&fields=name')
      expect(json(answer)).to.deep.equal(Object.fromEntries(pick('id', 'name')))
    })

    const BAD: readonly (readonly [fields: string, query: string, named: readonly string[]])[] = [
      ['nope', '', ['nope']],
      ['displayName', '', ['displayName']],
      ['name,nope,worse,displayName', '', ['nope', 'worse', 'displayName']],
      ['variants', '', ['variants']],
      ['category', '&includeChildren=true', ['category']],
      ['variants.name', '&includeChildren=true', ['variants.name']],
      ['__proto__', '', ['__proto__']],
      ['constructor', '', ['constructor']]
    ]
    for (const [fields, query, named] of BAD) {
      it(`rejects ${fields}, naming every fault at once`, async () => {
        for (const route of ['/products', '/products/paged', '/products/1']) {
          const answer = await store.call(`${route}?fields=${fields}${query}`)
          const problem = store.problem(answer, { status: 400, code: 'fields.invalid' })
          const words = [problem.detail, ...(problem.errors ?? []).map((one) => one.detail)].join('\n')
          for (const name of named) expect(words, `${route}, ${name}`).to.include(name)
        }
      })
    }

    it('rejects the joined read-only property', async () => {
      const answer = await store.call('/categories?fields=parentName')
      expect(store.problem(answer, { status: 400, code: 'fields.invalid' }).detail).to.include('parentName')
    })

    it('still trims past the 512 field sets that the projection cache keeps', async () => {
      const names = PRODUCTS.length === 0 ? [] : Object.keys(rowOf(PRODUCTS, 1)).slice(0, 10)
      for (let set = 1; set <= 600; set++) {
        const chosen = names.filter((_, bit) => (set & (1 << bit)) !== 0)
        const answer = await store.call(`/products/1?fields=${chosen.join(',')}`)
        expect(Object.entries(json(answer) ?? {}), `set ${set}`).to.deep.equal(pick(...chosen))
      }
    })
  },
  { on: 'sqlite' }
)
