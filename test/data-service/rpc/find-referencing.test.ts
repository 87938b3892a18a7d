import { expect } from 'chai'
import type { Aggregate } from '../../../data-service/entity/action.js'
import type { Operand } from '../../../data-service/entity/field.js'
import { makeCatalogue } from '../../../data-service/plan/catalogue.js'
import { findReferencingIn } from '../../../data-service/rpc/row-finders.js'
import { entities } from '../../../examples/store/entities/index.js'
import { MemoryWriteStore } from './memory-write-store.js'
import { rejectionOf } from './write-harness.js'

const catalogue = makeCatalogue(entities)
const never = new AbortController().signal

describe('findReferencing', () => {
  let store: MemoryWriteStore
  beforeEach(() => {
    store = new MemoryWriteStore()
    store.add('orders', { id: 7 })
  })
  const all = (resource: string, property: string, id: Operand): Promise<readonly Aggregate[]> =>
    store.transaction(never, (unit) => findReferencingIn(unit, catalogue)(resource, property, id))

  it('answers what refers to the row, with children, once the row is under lock', async () => {
    store.add('returns', { id: 1, orderId: 7, status: 'requested' }, { lines: [{ id: 3, quantity: 2 }] })
    store.add('returns', { id: 2, orderId: 8 })
    store.add('returns', { id: 4, orderId: 7 })
    expect(await all('returns', 'orderId', 7)).to.deep.equal([
      { root: { id: 1, orderId: 7, status: 'requested' }, children: { lines: [{ id: 3, quantity: 2 }] } },
      { root: { id: 4, orderId: 7 }, children: { lines: [] } }
    ])
    expect(store.log).to.deep.equal(['lock orders', 'find returns of orderId', 'commit'])
    expect(await all('returns', 'orderId', 9)).to.deep.equal([])
  })

  it('rejects more than a thousand, and answers so many', async () => {
    for (let id = 1; id <= 1000; id++) store.add('returns', { id, orderId: 7 })
    expect(await all('returns', 'orderId', 7)).to.have.length(1000)
    store.add('returns', { id: 1001, orderId: 7 })
    expect(await rejectionOf(all('returns', 'orderId', 7))).to.include({
      code: 'state.invalid',
      message: 'There are more than 1000 returns with the same orderId.'
    })
  })

  it('goes by declared references alone', async () => {
    const error = await all('returns', 'status', 'requested').catch((reason: unknown) => reason)
    expect(error).to.be.instanceOf(TypeError).with.property('message', 'returns has no reference by status')
  })
})
