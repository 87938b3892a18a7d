import { expect } from 'chai'
import { decimal, freeText, int, long, money, optional, text } from '../../../data-service/entity/fields/words.js'
import type { Field } from '../../../data-service/entity/fields/field.js'
import { describeColumn } from '../../../data-service/operations/describe/describe.js'

function bounds(field: Field): unknown {
  const { minimum, maximum, minLength } = describeColumn({ name: 'one', column: 'one', field })
  return { minimum, maximum, minLength }
}

const NONE = { minimum: '', maximum: '', minLength: 0 }

describe('what a column is described as', () => {
  it('has the bounds of the entity file, 0 and negative ones among them', () => {
    expect(bounds(int({ min: 1, max: 1000 }))).to.deep.equal({ ...NONE, minimum: '1', maximum: '1000' })
    expect(bounds(optional(int({ min: -5 })))).to.deep.equal({ ...NONE, minimum: '-5' })
    expect(bounds(int({ max: 0 }))).to.deep.equal({ ...NONE, maximum: '0' })
    expect(bounds(money(10, 2))).to.deep.equal({ ...NONE, minimum: '0' })
  })

  it('has the characters that a text needs at least', () => {
    expect(bounds(text(200))).to.deep.equal({ ...NONE, minLength: 1 })
    expect(bounds(text(8, 3))).to.deep.equal({ ...NONE, minLength: 3 })
    expect(bounds(freeText())).to.deep.equal(NONE)
  })

  it('has no bounds where the type alone sets them', () => {
    for (const field of [int(), long(), decimal(10, 2)])
      expect(bounds(field), JSON.stringify(field)).to.deep.equal(NONE)
  })
})
