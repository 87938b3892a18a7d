import { expect } from 'chai'
import { describeApi, type ApiStore } from '../api-store.js'
import { PRODUCTS, rowOf, versionOf } from '../fixture.js'
import { GrpcCaller, isFailure } from '../../stack/grpc-caller.js'
import { json, type Answer } from '../http-call.js'
import { etagOf, rowIn, send, tagOf, type Write } from './send.js'

type Row = Readonly<Record<string, unknown>>

/** What an operator can find out about a write by the id of its request. */
describeApi('the trail of a write', (store) => {
  const writtenUnder = (id: string, line: string, write: Write = {}): Promise<Answer> =>
    send(store, line, { ...write, headers: { ...write.headers, 'x-request-id': id } })
  const entriesOf = async (id: string): Promise<readonly Row[]> => {
    const filter = `filters[requestId].operator=equals&filters[requestId].value=${id}&sortColumn=id`
    const answer = await store.as('admin', `/audit-entries/paged?${filter}`)
    expect(answer.status, answer.text).to.equal(200)
    return json(answer) as Row[]
  }
  const brief = ({ resource, rowId, action, requestId }: Row): unknown[] => [resource, rowId, action, requestId]

  it('is its audit entries, which carry the id of its request', async () => {
    const created = await writtenUnder('trail.create', 'clerk POST /categories', { body: { name: 'T', slug: 't' } })
    expect(created.status, created.text).to.equal(201)
    const id = String(rowIn(created)['id'])
    expect((await entriesOf('trail.create')).map(brief)).to.deep.equal([['categories', id, 'create', 'trail.create']])
    const put = { body: { name: 'T2', slug: 't' }, ifMatch: etagOf(created) }
    const updated = await writtenUnder('trail-update', `clerk PUT /categories/${id}`, put)
    expect(updated.status, updated.text).to.equal(200)
    const moved = await send(store, `clerk PUT /categories/${id}/move`, {
      body: { parentId: 1 },
      ifMatch: etagOf(updated)
    })
    expect(moved.status, moved.text).to.equal(200)
    await writtenUnder('trail_delete', `clerk DELETE /categories/${id}`)
    const ofOwn = String(moved.headers['x-request-id'])
    const expected = [
      ['trail-update', 'update'],
      [ofOwn, 'move'],
      ['trail_delete', 'delete']
    ] as const
    for (const [requestId, action] of expected) {
      expect((await entriesOf(requestId)).map(brief), `${requestId}, ${action}`).to.deep.equal([
        ['categories', id, action, requestId]
      ])
    }
  })

  it('is one id on all entries of one request', async () => {
    const cart = await send(store, 'ben POST /shopping-carts', {
      body: { currency: 'EUR', items: [{ productId: 1, quantity: 1 }] }
    })
    expect(cart.status, cart.text).to.equal(201)
    const cartId = String(rowIn(cart)['id'])
    const bought = await writtenUnder('trail-checkout', `ben PUT /shopping-carts/${cartId}/checkout`, {
      ifMatch: etagOf(cart)
    })
    expect(bought.status, bought.text).to.equal(200)
    const entries = (await entriesOf('trail-checkout')).map(brief)
    expect(entries.map(([resource]) => resource)).to.have.members(['shopping-carts', 'orders'])
  })

  it('has the ids of internal callers too', async () => {
    const rpc = new GrpcCaller(store.stack.dataAddress)
    try {
      const token = await store.stack.token('clerk@example.com')
      const body = Buffer.from('{"name":"G","slug":"g"}')
      const made = await rpc.unary(
        'Create',
        { resource: 'categories', body, linkBase: 'http://x' },
        { token, requestId: 'trail-grpc' }
      )
      expect(isFailure(made), JSON.stringify(made)).to.equal(false)
      expect((await entriesOf('trail-grpc')).map(({ action }) => action)).to.deep.equal(['create'])
    } finally {
      rpc.close()
    }
  })

  const product = { name: 'n', sku: 'FREE', categoryId: 1, price: '1.00', isActive: true }
  const ifMatch = tagOf(versionOf(rowOf(PRODUCTS, 1)))
  for (const { title, line, write, status, named } of [
    {
      title: 'a stale PUT',
      line: 'clerk PUT /products/1',
      write: { body: product, ifMatch: '"AAAAAAAAAAA="' },
      status: 412,
      named: { resource: 'products', id: '1' }
    },
    {
      title: 'a stale action',
      line: 'clerk PUT /products/1/unpublish',
      write: { ifMatch: '"AAAAAAAAAAA="' },
      status: 412,
      named: { resource: 'products', id: '1' }
    },
    {
      title: 'a PUT with a sku that is taken',
      line: 'clerk PUT /products/1',
      write: { body: { ...product, sku: 'CT-100' }, ifMatch },
      status: 412,
      named: { resource: 'products', id: '1' }
    },
    {
      title: 'a DELETE of a row that is referred to',
      line: 'clerk DELETE /categories/1',
      write: {},
      status: 409,
      named: { resource: 'categories', id: '1' }
    },
    {
      title: 'a create with a sku that is taken',
      line: 'clerk POST /products',
      write: { body: { ...product, sku: 'HM-001' } },
      status: 409,
      named: { resource: 'products', id: undefined }
    }
  ]) {
    it(`is one line of the log for ${title}, which names resource and id`, async () => {
      const rejected = await send(store, line, write)
      store.problem(rejected, { status, code: 'conflict' })
      await expectNamed(store, rejected, named)
    })
  }

  it('is such a line for a conflict that an action builds', async () => {
    const cart = await send(store, 'ada POST /shopping-carts', {
      body: { currency: 'EUR', items: [{ productId: 1, quantity: 1 }] }
    })
    const path = `/shopping-carts/${String(rowIn(cart)['id'])}`
    const bought = await send(store, `ada PUT ${path}/checkout`, { ifMatch: etagOf(cart) })
    expect(bought.status, bought.text).to.equal(200)
    const again = await send(store, `ada PUT ${path}/checkout`, { ifMatch: etagOf(bought) })
    expect(again.status, again.text).to.equal(412)
    await expectNamed(store, again, { resource: 'shopping-carts', id: String(rowIn(cart)['id']) })
  })
})

/** The one line of the data service about a rejected write, at the level that every host logs. */
async function expectNamed(
  { stack }: ApiStore,
  { headers }: Answer,
  named: { readonly resource: string; readonly id: string | undefined }
): Promise<void> {
  const isOfThis = (entry: Row): boolean =>
    entry['requestId'] === headers['x-request-id'] && entry['code'] === 'conflict' && entry['msg'] === 'call refused'
  const { resource, id, reason } = await stack.dataService.logged(isOfThis)
  expect({ resource, id }).to.deep.equal(named)
  expect(reason).to.be.a('string').and.not.equal('')
  expect(stack.dataService.logs().filter(isOfThis)).to.have.length(1)
}
