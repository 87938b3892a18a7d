import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { productItem, rowOf, PRODUCTS, versionOf } from './fixture.js'
import { json } from './http-call.js'

describeApi(
  'GET /{resource}/{id}',
  (store) => {
    for (const row of PRODUCTS) {
      const id = Number(row['id'])
      it(`answers product ${id} as a bare object with its weak ETag`, async () => {
        const answer = await store.call(`/products/${id}`)
        expect(answer.status).to.equal(200)
        expect(json(answer)).to.deep.equal(productItem(id))
        expect(answer.headers.etag).to.equal(`W/"${versionOf(row)}"`)
        expect(answer.headers).to.include({ 'cache-control': 'no-store', 'api-supported-versions': '1.0' })
      })
    }

    for (const [fields, tagged] of [
      ['id,name', false],
      ['rowVersion', true],
      ['name,ROWVERSION', true],
      ['', true]
    ] as const) {
      it(`${tagged ? 'sends' : 'leaves out'} the ETag with fields=${fields}`, async () => {
        const answer = await store.call(`/products/1?fields=${fields}`)
        expect(answer.status).to.equal(200)
        expect(answer.headers.etag).to.equal(tagged ? `W/"${versionOf(rowOf(PRODUCTS, 1))}"` : undefined)
      })
    }

    for (const id of ['abc', '1.0', '1e1', '+1', '0x1', '%20', '1%20', '2147483648', '-2147483649', '9'.repeat(200)]) {
      it(`rejects the malformed id ${id.slice(0, 20)}`, async () => {
        store.problem(await store.call(`/products/${id}`), { status: 400, code: 'id.invalid' })
      })
    }

    for (const id of ['13', '0', '-1', '2147483647']) {
      it(`answers 404 for the absent id ${id}`, async () => {
        store.problem(await store.call(`/products/${id}`), { status: 404, code: 'not-found' })
      })
    }

    it('never answers 304', async () => {
      const { headers } = await store.call('/products/1')
      const again = await store.call('/products/1', {
        headers: { 'if-none-match': String(headers.etag), 'if-modified-since': new Date().toUTCString() }
      })
      expect(again.status).to.equal(200)
      expect(json(again)).to.deep.equal(productItem(1))
    })

    it('reports a bad id and a bad field in one answer', async () => {
      store.problem(await store.call('/products/abc?fields=nope&includeFKs=maybe'), {
        status: 400,
        code: 'id.invalid',
        violations: [
          { code: 'id.invalid', parameter: 'id' },
          { code: 'fields.invalid', parameter: 'fields' },
          { code: 'include.invalid', parameter: 'includeFKs' }
        ]
      })
    })
  },
  { also: ['unary'] }
)
