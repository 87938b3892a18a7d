import { expect } from 'chai'
import { describeApi, type ApiStore } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { changesNothing, count, select } from './stored.js'
import { etagOf, rowIn, send } from './send.js'

interface Variant {
  readonly id: number
  readonly name: string
  readonly sku: string
  readonly price: string
  readonly stock: number
  readonly rowVersion: string
}

async function variantsOf(store: ApiStore, id: unknown): Promise<Variant[]> {
  // The shape is checked by the tests that read the members.
  return rowIn(await store.call(`/products/${String(id)}?includeChildren=true`))['variants'] as Variant[]
}

describeApi(
  'actions of products',
  (store) => {
    let serial = 0
    let id: number
    let etag: string

    /** Acts on the product with the tag of the last answer, as a client that never reads. */
    const act = (name: string, body?: object, ifMatch = etag): Promise<Answer> =>
      send(store, `clerk PUT /products/${id}/${name}`, { ...(body && { body }), ifMatch })

    /** Holds a 200 against a read: the root's DTO, the new tag. */
    async function done(answer: Answer): Promise<Readonly<Record<string, unknown>>> {
      expect(answer.status, answer.text).to.equal(200)
      const read = await store.as('clerk', `/products/${id}`)
      expect(answer.bytes).to.deep.equal(read.bytes)
      expect(etagOf(answer)).to.equal(etagOf(read)).and.not.equal(etag)
      expect(Object.keys(answer.headers)).to.have.members(Object.keys(read.headers))
      etag = etagOf(answer)
      return rowIn(answer)
    }

    beforeEach(async () => {
      const body = { name: 'Acted on', sku: `ACT-${++serial}`, categoryId: 1, price: '1.00' }
      const created = await send(store, 'clerk POST /products', { body })
      expect(created.status, created.text).to.equal(201)
      id = Number(rowIn(created)['id'])
      etag = etagOf(created)
    })

    it('publish and unpublish, each from the other state alone', async () => {
      const already = await changesNothing(store, () => act('publish'))
      store.problem(already, { status: 422, code: 'state.invalid', says: 'active' })
      expect(await done(await act('unpublish', {}))).to.include({ isActive: false })
      store.problem(await act('unpublish'), { status: 422, code: 'state.invalid', says: 'not active' })
      expect(await done(await act('publish'))).to.include({ isActive: true })
      const audit = await select(store, 'SELECT action FROM ur_audit_entries WHERE row_id = ? ORDER BY id', [
        String(id)
      ])
      expect(audit.map(({ action }) => action).slice(-3)).to.deep.equal(['create', 'unpublish', 'publish'])
    })

    it('change-category', async () => {
      expect(await done(await act('change-category', { categoryId: 3 }))).to.include({ categoryId: 3 })
      // The same again is a write like any other.
      expect(await done(await act('change-category', { categoryId: 3 }))).to.include({ categoryId: 3 })
      for (const body of [
        undefined,
        {},
        { categoryId: null },
        { categoryId: '3' },
        { categoryId: 1.5 },
        { category: 3 }
      ]) {
        store.problem(await act('change-category', body), { status: 400, code: 'body.invalid', says: 'categoryId' })
      }
    })

    it('ignores other members and says so, strict rejects them', async () => {
      const body = { categoryId: 2, id: 9, price: '5.00', rowVersion: 'x' }
      const prefer = { headers: { prefer: 'handling=strict' } }
      const strict = await changesNothing(store, () =>
        send(store, `clerk PUT /products/${id}/change-category`, { body, ifMatch: etag, ...prefer })
      )
      store.problem(strict, {
        status: 400,
        code: 'parameter.unknown',
        violations: ['/id', '/price', '/rowVersion'].map((pointer) => ({ code: 'parameter.unknown', pointer }))
      })
      const answer = await act('change-category', body)
      expect(answer.headers['x-ignored-parameters']).to.equal('body.id,body.price,body.rowVersion')
      expect(rowIn(answer)).to.include({ id, price: '1.00', categoryId: 2 })
    })

    it('add-variant and remove-variant advance the root', async () => {
      const variant = { name: 'Big', sku: `V-${id}`, price: '3.5', stock: 7 }
      await done(await act('add-variant', variant))
      const [added, ...none] = await variantsOf(store, id)
      expect(none).to.be.empty
      expect(added).to.deep.include({ ...variant, price: '3.50' })
      expect(Buffer.from(String(added?.rowVersion), 'base64')).to.have.length(8)
      for (const variantId of [1, 999, added?.id === 1 ? 2 : -1]) {
        const rejected = await changesNothing(store, () => act('remove-variant', { variantId }))
        store.problem(rejected, { status: 400, code: 'body.invalid', says: 'variant' })
      }
      await done(await act('remove-variant', { variantId: added?.id }))
      expect(await count(store, 'product_variants WHERE product_id = ?', [id])).to.equal(0)
      const faulty = await act('add-variant', { name: '', sku: 'x'.repeat(65), price: '-1', stock: -1 })
      store.problem(faulty, {
        status: 400,
        code: 'body.invalid',
        violations: ['/name', '/sku', '/price', '/stock'].map((pointer) => ({ code: 'body.invalid', pointer }))
      })
    })

    it('change-variant-price and adjust-variant-stock need the version of the variant', async () => {
      await done(await act('add-variant', { name: 'One', sku: `A-${id}`, price: '1', stock: 5 }))
      await done(await act('add-variant', { name: 'Two', sku: `B-${id}`, price: '2', stock: 5 }))
      const [one, two] = await variantsOf(store, id)
      if (one === undefined || two === undefined) throw new Error('two were added')
      for (const [name, input] of [
        ['change-variant-price', { price: '9.99' }],
        ['adjust-variant-stock', { delta: 1 }]
      ] as const) {
        for (const variantRowVersion of [
          undefined,
          null,
          '',
          'x',
          7,
          'AQ',
          '____',
          [one.rowVersion],
          `"${one.rowVersion}"`
        ]) {
          const rejected = await changesNothing(store, () =>
            act(name, { variantId: one.id, ...input, variantRowVersion })
          )
          store.problem(rejected, { status: 400, code: 'body.invalid', says: 'variantRowVersion' })
        }
        for (const variantRowVersion of ['AAAAAAAAAAA=', two.rowVersion, 'AA==']) {
          const stale = await changesNothing(store, () => act(name, { variantId: one.id, ...input, variantRowVersion }))
          store.problem(stale, { status: 412, code: 'conflict', says: 'A data conflict occurred.' })
        }
        for (const variantId of [999_999, 3]) {
          const rejected = await act(name, { variantId, ...input, variantRowVersion: one.rowVersion })
          store.problem(rejected, { status: 400, code: 'body.invalid', says: 'variantId' })
        }
      }
      const priced = { variantId: one.id, price: '9.99', variantRowVersion: one.rowVersion }
      await done(await act('change-variant-price', priced))
      const [after, other] = await variantsOf(store, id)
      expect(after).to.deep.equal({ ...one, price: '9.99', rowVersion: after?.rowVersion })
      expect(after?.rowVersion).not.to.equal(one.rowVersion)
      expect(other).to.deep.equal(two)
      // The header slot is the root's: its tag is fresh here, the child's version is not.
      store.problem(await act('change-variant-price', priced), { status: 412, code: 'conflict' })
      const beyond = { variantId: one.id, delta: 2_147_483_643, variantRowVersion: after?.rowVersion }
      store.problem(await changesNothing(store, () => act('adjust-variant-stock', beyond)), {
        status: 400,
        code: 'body.invalid',
        says: 'at most 2147483647'
      })
      const stock = { variantId: one.id, delta: -5, variantRowVersion: after?.rowVersion }
      await done(await act('adjust-variant-stock', stock))
      const [empty] = await variantsOf(store, id)
      expect(empty).to.include({ stock: 0, price: '9.99' })
      const tooMany = await changesNothing(store, () =>
        act('adjust-variant-stock', { variantId: one.id, delta: -1, variantRowVersion: empty?.rowVersion })
      )
      store.problem(tooMany, { status: 422, code: 'state.invalid', says: '0' })
    })

    it('an action on children makes the root stale for others', async () => {
      const known = etag
      await done(await act('add-variant', { name: 'One', sku: `C-${id}`, price: '1', stock: 5 }))
      const late = await act('change-category', { categoryId: 2 }, known)
      store.problem(late, { status: 412, code: 'conflict' })
    })
  },
  { on: 'mysql' }
)

describeApi(
  'actions of categories',
  (store) => {
    it('move, to any parent but one below', async () => {
      const tag = async (id: number): Promise<string> => etagOf(await store.call(`/categories/${id}`))
      const move = async (id: number, body: object): Promise<Answer> =>
        send(store, `clerk PUT /categories/${id}/move`, { body, ifMatch: await tag(id) })
      const moved = await move(3, { parentId: 4 })
      expect(moved.status, moved.text).to.equal(200)
      expect(moved.bytes).to.deep.equal((await store.call('/categories/3')).bytes)
      expect(rowIn(moved)).to.include({ id: 3, parentId: 4, parentName: 'Éclairs & Co' })
      const next = await send(store, 'clerk PUT /categories/3/move', {
        body: { parentId: null },
        ifMatch: etagOf(moved)
      })
      expect(rowIn(next)).to.include({ parentId: null, parentName: null })
      for (const [id, parentId] of [
        [1, 1],
        [1, 2],
        [1, 5],
        [2, 5]
      ] as const) {
        const rejected = await changesNothing(store, () => move(id, { parentId }))
        store.problem(rejected, { status: 422, code: 'state.invalid' })
      }
      for (const body of [{}, { parentId: '1' }, { parent: 1 }]) {
        store.problem(await move(3, body), { status: 400, code: 'body.invalid', says: 'parentId' })
      }
      const absent = await changesNothing(store, () => move(3, { parentId: 999 }))
      store.problem(absent, { status: 412, code: 'conflict' })
    })
  },
  { on: 'mysql' }
)
