import { expect } from 'chai'
import type { Children } from '../../../data-service/entity/entity.js'
import {
  areSameOthers,
  type PlannedChildren,
  type PlannedReference,
  rowsOfOthers
} from '../../../data-service/plan/model/plans.js'

describe('the navigations of two reads', () => {
  // Only what tells them apart.
  const [sent, received] = [{ name: 'sent' }, { name: 'received' }] as unknown as readonly [Children, Children]
  const parcel = {
    reference: { name: 'parcel' },
    target: {},
    projection: {},
    scope: null
  } as unknown as PlannedReference
  const following = (children: Children): PlannedChildren => ({
    children,
    nested: [],
    followed: [{ ...parcel, of: children }]
  })
  const without = (children: Children): PlannedChildren => ({ children, nested: [] })

  it('are others where two collections of one resource differ in which of them follows a reference', () => {
    const one = rowsOfOthers({ children: [following(sent), without(received)] })
    expect(areSameOthers(one, rowsOfOthers({ children: [following(sent), without(received)] }))).to.equal(true)
    expect(areSameOthers(one, rowsOfOthers({ children: [without(sent), following(received)] }))).to.equal(false)
  })
})
