import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { ids, json } from './http-call.js'
import { parametersOf } from '../harness/openapi-document.js'

describeApi('search', (store) => {
  const paged = async (query: string): Promise<unknown[]> => ids(await store.call(`/products/paged?${query}`))

  /** Words that each must be in name, sku or description. */
  const CASES: readonly (readonly [text: string, found: readonly number[]])[] = [
    ['hammer', [1, 2, 10]],
    ['HAMMER hm-001', [1]],
    ['hm hammer', [1, 2]],
    ['drill hd', [10]],
    ['  hammer \t a  ', [1, 2, 10]],
    ['100%', [3]],
    ['100_', [4]],
    ['%', [3]],
    ['back\\slash', [5]],
    ['résumé', [5]],
    ['resume', [7]],
    ['nothing of this', []],
    ['hammer nothing', []]
  ]
  for (const [text, found] of CASES) {
    it(`keeps rows with every word of ${JSON.stringify(text)}, on paged, list and export`, async () => {
      const query = `search=${encodeURIComponent(text)}`
      const answer = await store.call(`/products/paged?${query}&pageSize=100`)
      expect(ids(answer)).to.deep.equal(found)
      expect(answer.headers['x-total-count']).to.equal(String(found.length))
      expect(ids(await store.call(`/products?${query}`))).to.deep.equal(found)
      const file = await store.call(`/products/export?${query}&fields=id&bom=false`)
      expect(file.text.trim().split('\r\n').slice(1)).to.deep.equal(found.map(String))
    })
  }

  it('of blanks alone is no condition', async () => {
    for (const text of ['', '%20', '%20%09%0A']) expect(await paged(`search=${text}&pageSize=100`)).to.have.length(12)
  })

  it('joins filters, sort and scope', async () => {
    const filter = 'filters[price].operator=gt&filters[price].value=1'
    expect(await paged(`search=hammer&${filter}&sortColumn=price&sortDirection=desc`)).to.deep.equal([10, 1])
    expect(ids(await store.as('ada', '/orders/paged?search=O-0'))).to.deep.equal([1, 3])
    expect(ids(await store.as('ada', '/orders?search=t-1'))).to.deep.equal([3])
    expect(ids(await store.as('ben', '/orders?search=t-1'))).to.deep.equal([])
  })

  it('takes eight words and 4096 characters', async () => {
    expect(await paged(`search=${'a+'.repeat(8)}`)).to.be.an('array')
    for (const text of ['a+'.repeat(9), 'a'.repeat(4097)]) {
      for (const route of ['/products', '/products/paged', '/products/export']) {
        const violations = [{ code: 'filter.too-many', parameter: 'search' }]
        store.problem(await store.call(`${route}?search=${text}`), { status: 400, code: 'filter.too-many', violations })
      }
    }
    const answer = await store.call('/products/paged?search=a%00b')
    store.problem(answer, { status: 400, code: 'filter.value.invalid' })
  })

  it('is an ignored parameter where the entity declares nothing searchable', async () => {
    const [clerk, admin] = ['clerk', 'admin']
    for (const [account, route] of [
      [clerk, '/stock-items'],
      [admin, '/purchase-orders/paged'],
      [clerk, '/stock-items/export']
    ] as const) {
      const answer = await store.as(account, `${route}?search=x`)
      expect(answer.status, answer.text).to.equal(200)
      expect(answer.headers['x-ignored-parameters']).to.equal('search')
      const strict = await store.as(account, `${route}?search=x`, { headers: { prefer: 'handling=strict' } })
      store.problem(strict, { status: 400, code: 'parameter.unknown' })
    }
    const document = json(await store.call('/openapi.json'))
    const takes = (path: string): boolean => parametersOf(document, path, 'get').has('search')
    expect(takes('/products/paged')).to.equal(true)
    expect(takes('/products')).to.equal(true)
    expect(takes('/products/export')).to.equal(true)
  })
})
