import { expect } from 'chai'
import { describeApi, type ApiStore } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { changesNothing, select } from './stored.js'
import { etagOf, rowIn, send } from './send.js'

describeApi(
  'actions of customers',
  (store) => {
    let id: number
    let etag: string
    let serial = 0
    const act = (name: string, body?: object): Promise<Answer> =>
      send(store, `clerk PUT /customers/${id}/${name}`, { ...(body && { body }), ifMatch: etag })
    const addresses = async (): Promise<Readonly<Record<string, unknown>>[]> =>
      rowIn(await store.as('admin', `/customers/${id}?includeChildren=true`))['addresses'] as Record<string, unknown>[]

    async function done(answer: Answer): Promise<Readonly<Record<string, unknown>>> {
      expect(answer.status, answer.text).to.equal(200)
      // The credit limit is for those who write invoices; a clerk may not read a customer by id.
      const { creditLimit, ...shown } = rowIn(await store.as('admin', `/customers/${id}`))
      expect(creditLimit).to.equal(null)
      expect(rowIn(answer)).to.deep.equal(shown)
      expect(etagOf(answer)).not.to.equal(etag)
      etag = etagOf(answer)
      return rowIn(answer)
    }

    beforeEach(async () => {
      const address = { line1: '1', city: 'c', postalCode: 'p', country: 'x' }
      const body = { name: 'Acted on', email: `acted-${++serial}@example.com`, addresses: [address] }
      const created = await send(store, 'clerk POST /customers', { body })
      id = Number(rowIn(created)['id'])
      etag = etagOf(created)
    })

    it('suspend and reinstate, each from the other state alone', async () => {
      store.problem(await act('reinstate'), { status: 422, code: 'state.invalid', says: 'suspended' })
      expect(await done(await act('suspend'))).to.include({ isSuspended: true })
      store.problem(await changesNothing(store, () => act('suspend', {})), {
        status: 422,
        code: 'state.invalid',
        says: 'suspended'
      })
      expect(await done(await act('reinstate'))).to.include({ isSuspended: false })
    })

    it('change-address replaces the one named, else adds one', async () => {
      const [first] = await addresses()
      const address = { line1: 'Neue Straße 2', city: 'Köln', postalCode: '50667', country: 'DE' }
      await done(await act('change-address', { ...address, addressId: first?.['id'] }))
      const [changed, ...none] = await addresses()
      expect(none).to.be.empty
      expect(changed).to.deep.equal({ ...address, id: first?.['id'], rowVersion: changed?.['rowVersion'] })
      expect(changed?.['rowVersion']).not.to.equal(first?.['rowVersion'])
      for (const addressId of [undefined, null]) await done(await act('change-address', { ...address, addressId }))
      expect((await addresses()).map((one) => one['line1'])).to.deep.equal(Array(3).fill(address.line1))
      // Another customer's address is none of this one's.
      for (const addressId of [1, 999_999]) {
        const rejected = await changesNothing(store, () => act('change-address', { ...address, addressId }))
        store.problem(rejected, { status: 400, code: 'body.invalid', says: 'address' })
      }
      store.problem(await act('change-address', { addressId: 'x', line1: '' }), {
        status: 400,
        code: 'body.invalid',
        violations: ['/addressId', '/line1', '/city', '/postalCode', '/country'].map((pointer) => ({
          code: 'body.invalid',
          pointer
        }))
      })
    })
  },
  { on: 'mysql' }
)

const STATES = ['placed', 'paid', 'shipped', 'delivered', 'cancelled'] as const
type State = (typeof STATES)[number]

/** How an order gets into each state. */
const WAYS: Readonly<Record<State, readonly string[]>> = {
  placed: [],
  paid: ['pay'],
  shipped: ['pay', 'ship'],
  delivered: ['pay', 'ship', 'deliver'],
  cancelled: ['cancel']
}

/** domain.md: placed → paid → shipped → delivered; cancel from placed or paid. */
const ALLOWED: Readonly<Record<string, readonly State[]>> = {
  pay: ['placed'],
  ship: ['paid'],
  'update-shipment': ['shipped'],
  deliver: ['shipped'],
  cancel: ['placed', 'paid']
}
const BODIES: Readonly<Record<string, object>> = {
  ship: { trackingCode: 'T-1' },
  'update-shipment': { trackingCode: 'T-2' },
  cancel: { reason: 'changed my mind' }
}
const BECOMES: Readonly<Record<string, State>> = {
  pay: 'paid',
  ship: 'shipped',
  'update-shipment': 'shipped',
  deliver: 'delivered',
  cancel: 'cancelled'
}

/** Ada pays and cancels her own; the rest is the store's. */
function act(store: ApiStore, of: { id: unknown; ifMatch: string }, name: string): Promise<Answer> {
  const account = ['pay', 'cancel'].includes(name) ? 'ada' : 'admin'
  const body = BODIES[name]
  return send(store, `${account} PUT /orders/${String(of.id)}/${name}`, { ...(body && { body }), ifMatch: of.ifMatch })
}

async function orderIn(store: ApiStore, state: State): Promise<Answer> {
  let answer = await send(store, 'ada POST /orders', { body: { lines: [{ productId: 1, quantity: 1 }] } })
  for (const name of WAYS[state]) {
    answer = await act(store, { id: rowIn(answer)['id'], ifMatch: etagOf(answer) }, name)
    expect(answer.status, answer.text).to.equal(200)
  }
  return answer
}

describeApi(
  'actions of orders',
  (store) => {
    for (const state of STATES) {
      for (const [name, allowed] of Object.entries(ALLOWED)) {
        it(`${name} of one that is ${state} is ${allowed.includes(state) ? 'done' : 'rejected'}`, async () => {
          const order = await orderIn(store, state)
          const { id, rowVersion: _before, ...before } = rowIn(order)
          expect(before).to.include({ status: state })
          const of = { id, ifMatch: etagOf(order) }
          if (!allowed.includes(state)) {
            const rejected = await changesNothing(store, () => act(store, of, name))
            store.problem(rejected, { status: 422, code: 'state.invalid', says: state })
            return
          }
          const earliest = Date.now()
          const answer = await act(store, of, name)
          expect(answer.status, answer.text).to.equal(200)
          expect(answer.bytes).to.deep.equal((await store.as('ada', `/orders/${String(id)}`)).bytes)
          const { id: _id, rowVersion: _after, ...after } = rowIn(answer)
          const moment = name === 'pay' ? 'paidAt' : name === 'deliver' ? 'deliveredAt' : undefined
          if (moment !== undefined) expect(Date.parse(String(after[moment]))).to.be.within(earliest, Date.now())
          expect(after).to.deep.equal({
            ...before,
            status: BECOMES[name],
            ...(moment === undefined ? {} : { [moment]: after[moment] }),
            ...(name === 'ship' || name === 'update-shipment' ? BODIES[name] : {})
          })
          // A stale version of an order in the wrong state is stale before all.
          store.problem(await act(store, of, name), { status: 412, code: 'conflict' })
          const [entry] = await select(
            store,
            'SELECT resource, row_id, action, subject FROM ur_audit_entries ORDER BY id DESC LIMIT 1'
          )
          expect(entry).to.deep.include({ resource: 'orders', row_id: String(id), action: name })
        })
      }
    }

    it('another owner cannot tell an order in the wrong state, nor a stale one, from none', async () => {
      const { id } = rowIn(await orderIn(store, 'delivered'))
      for (const ifMatch of ['"AAAAAAAAAAA="', etagOf(await store.as('ada', `/orders/${String(id)}`))]) {
        const rejected = await changesNothing(store, () =>
          send(store, `ben PUT /orders/${String(id)}/pay`, { ifMatch })
        )
        store.problem(rejected, { status: 404, code: 'not-found' })
      }
    })

    it('ship, update-shipment and deliver need a permission, whoever owns the order', async () => {
      const order = await orderIn(store, 'paid')
      for (const name of ['ship', 'update-shipment', 'deliver']) {
        const line = `ada PUT /orders/${String(rowIn(order)['id'])}/${name}`
        const write = { body: BODIES[name] ?? {}, ifMatch: etagOf(order) }
        const rejected = await changesNothing(store, () => send(store, line, write))
        store.problem(rejected, { status: 403, code: 'capability.denied' })
      }
    })

    it('ship and update-shipment need a tracking code', async () => {
      const order = await orderIn(store, 'paid')
      for (const body of [
        undefined,
        {},
        { trackingCode: null },
        { trackingCode: '' },
        { trackingCode: 'x'.repeat(65) }
      ]) {
        const rejected = await send(store, `admin PUT /orders/${String(rowIn(order)['id'])}/ship`, {
          ...(body && { body }),
          ifMatch: etagOf(order)
        })
        store.problem(rejected, { status: 400, code: 'body.invalid', says: 'trackingCode' })
      }
    })
  },
  { on: 'mysql' }
)
