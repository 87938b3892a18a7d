import { expect } from 'chai'
import { permission } from '../../../data-service/entity/access.js'
import {
  generated,
  hidden,
  onCreate,
  readableBy,
  readOnly,
  text,
  writableBy,
  writeOnly
} from '../../../data-service/entity/fields/words.js'

/** Words as plain JavaScript gets them, which no compiler has checked. */
type Untyped = (...parts: readonly unknown[]) => unknown
const untyped = (word: unknown): Untyped => word as Untyped

describe('a word of an entity file that no compiler has checked', () => {
  for (const [name, word] of Object.entries({ readableBy, writableBy })) {
    for (const given of [undefined, null, ['a:b'], text(5)]) {
      it(`says that ${name} needs the name of a permission, and not ${typeof given} ${JSON.stringify(given)?.slice(0, 9)}`, () => {
        expect(() => untyped(word)(given, text(5))).to.throw(
          TypeError,
          `${name}(…) takes a permission such as 'books:manage' first, and got`
        )
      })
    }
  }

  it('says that permission needs the name of one', () => {
    expect(() => untyped(permission)(undefined)).to.throw(
      TypeError,
      "permission(…) takes a permission such as 'books:manage' first, and got undefined"
    )
  })

  it('says that onCreate needs a column that requests set', () => {
    for (const of of [hidden(text(5)), readOnly(text(5)), generated(text(5))]) {
      expect(() => untyped(onCreate)(of)).to.throw(TypeError, 'onCreate(…) takes a field that requests set')
    }
    expect(onCreate(writeOnly(text(5))).writability).to.equal('onCreate')
    expect(onCreate(onCreate(text(5))).writability).to.equal('onCreate')
  })
})
