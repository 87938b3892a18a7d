import { expect } from 'chai'
import { insertRows, TABLES } from '../harness/insert-rows.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { describeApi } from './api-store.js'
import { json, type Answer } from './http-call.js'

interface LookupBody {
  readonly items: readonly { readonly id: number; readonly name: string }[]
}

/** The shape is checked in full by the first test. */
const names = (answer: Answer): unknown[] => (json(answer) as LookupBody).items.map(({ id }) => id)

describeApi(
  'GET /{resource}/lookup',
  (store) => {
    it('answers id and name pairs by name, then id', async () => {
      const answer = await store.call('/categories/lookup')
      expect(answer.status).to.equal(200)
      expect(json(answer)).to.deep.equal({
        items: [
          ...(store.kind === 'sqlite' ? [] : [{ id: 4, name: 'Éclairs & Co' }]),
          { id: 2, name: 'Hand Tools' },
          { id: 5, name: 'hand tools ' },
          { id: 3, name: 'Power Tools' },
          { id: 1, name: 'Tools' },
          // The embedded database orders letters beyond ASCII its own way.
          ...(store.kind === 'sqlite' ? [{ id: 4, name: 'Éclairs & Co' }] : [])
        ]
      })
      expect(answer.headers).to.include({ 'cache-control': 'no-store', 'api-supported-versions': '1.0' })
      expect(answer.headers).not.to.have.property('x-truncated')
    })

    it('searches within names, plain characters, letter case aside', async () => {
      expect(names(await store.call('/products/lookup?search=HAMMER'))).to.deep.equal([1, 2, 10])
      expect(names(await store.call('/products/lookup?search=%25'))).to.deep.equal([3])
      expect(names(await store.call('/products/lookup?search=_'))).to.deep.equal([4])
      expect(names(await store.call('/products/lookup?search=\\'))).to.deep.equal([5])
      expect(names(await store.call('/products/lookup?search=nothing'))).to.deep.equal([])
      expect(names(await store.call('/products/lookup?search='))).to.have.length(12)
    })

    it('shows only the own rows of a scoped resource, and gates who can have none', async () => {
      expect(names(await store.as('ada', '/orders/lookup'))).to.deep.equal([1, 3])
      expect(names(await store.as('admin', '/orders/lookup'))).to.deep.equal([1, 2, 3, 4, 5])
      store.problem(await store.as('nobody', '/orders/lookup'), { status: 403, code: 'ownership.denied' })
    })

    it('stops at 1000 and says so', async () => {
      await withTestDatabase(store.databaseUrl, (database) =>
        insertRows(
          database,
          TABLES.categories,
          Array.from({ length: 1200 }, (_, n) => ({ id: 100 + n, name: `m${1000 + n}`, parentId: null, slug: `m${n}` }))
        )
      )
      const answer = await store.call('/categories/lookup?search=m')
      expect(names(answer)).to.deep.equal(Array.from({ length: 1000 }, (_, n) => 100 + n))
      expect(answer.headers).to.include({ 'x-truncated': 'true' })
    })
  },
  { also: ['unary'] }
)
