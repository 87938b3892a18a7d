import { expect } from 'chai'
import { defineApplication } from '../../../cli/public/application.js'
import { permission } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { defineFieldType } from '../../../data-service/entity/fields/custom-type.js'
import { list } from '../../../data-service/entity/fields/shape.js'
import {
  dateTime,
  decimal,
  defaultTo,
  float,
  generated,
  hidden,
  int,
  json,
  long,
  money,
  onCreate,
  readableBy,
  readOnly,
  smallInt,
  text,
  time,
  writableBy,
  writeOnly
} from '../../../data-service/entity/fields/words.js'
import { preset } from '../../../data-service/entity/preset.js'
import { ROWS_WORDS, rowsWords } from '../../../data-service/entity/row-predicate.js'
import { StartError } from '../../../shared/start-error.js'

/** Words as plain JavaScript gets them, which no compiler has checked. */
type Untyped = (...parts: readonly unknown[]) => unknown
const even = { name: 'even', base: int(), parse: (value: number) => value, expected: 'even', examples: [2] }
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

  it('says that preset needs a function, without which each request would set the column', () => {
    for (const given of [[], [undefined], ['acme']]) {
      expect(() => untyped(preset)(text(5), ...given)).to.throw(TypeError, 'preset(…) takes a function of the caller')
    }
  })

  it('says that rows and publicRows need a predicate', () => {
    const { rows, publicRows } = rowsWords<object>()
    for (const word of [rows, publicRows]) {
      expect(() => untyped(word)('all')).to.throw(TypeError, 'takes a function that answers rows')
    }
  })

  it('refuses what nothing reads behind the first argument of a word that protects', () => {
    const { rows, publicRows } = rowsWords<object>()
    const calls: Readonly<Record<string, () => unknown>> = {
      "permission('a:b', …) takes one permission": () => untyped(permission)('a:b', 'c:d'),
      'rows(…) takes one function': () =>
        untyped(rows)(
          () => 'all',
          () => 'none'
        ),
      'publicRows(…) takes one function': () =>
        untyped(publicRows)(
          () => 'all',
          () => 'none'
        ),
      'list(…) takes its options as an object, not a number': () => untyped(list)(int(), 1, 2)
    }
    Object.assign(calls, {
      'long(…) takes 0 arguments, and got 1.': () => untyped(long)({ min: 0 }),
      'decimal(…) takes 2 arguments, and got 3.': () => untyped(decimal)(10, 2, { min: 0 }),
      'money(…) takes 2 arguments, and got 3.': () => untyped(money)(10, 2, { max: 5 }),
      'readableBy(…) takes 2 arguments, and got 3.': () => untyped(readableBy)('a:b', text(5), 'c:d'),
      'writableBy(…) takes 2 arguments, and got 3.': () => untyped(writableBy)('a:b', text(5), 'c:d'),
      'writeOnly(…) takes 1 argument, and got 2.': () => untyped(writeOnly)(text(5), 'c:d'),
      'writableBy(…) takes no field that says writableBy(…) already.': () =>
        untyped(writableBy)('a:b', writableBy('c:d', text(5)))
    })
    for (const [message, call] of Object.entries(calls)) expect(call, message).to.throw(TypeError, message)
  })

  it('says that parts of rows are all, none or tests, where a misspelt none would let every row through', () => {
    for (const word of [ROWS_WORDS.anyOf, ROWS_WORDS.allOf]) {
      for (const part of ['non', 'All', undefined, null, 5]) {
        expect(() => untyped(word)(part, 'all'), String(part)).to.throw(
          TypeError,
          `(…) of rows takes all, none or where(…), and got ${String(part)}.`
        )
      }
    }
  })

  it('says that json got a schema that is undefined', () => {
    expect(() => untyped(json)(undefined)).to.throw(TypeError, 'json(…) got a schema that is undefined.')
    expect(json().schema).to.equal(undefined)
  })

  it('says that no word may drop the permission of readableBy', () => {
    const of = readableBy('books:manage', text(5))
    expect(() => untyped(writeOnly)(of)).to.throw(TypeError, 'writeOnly(…) takes no field that says readableBy(…)')
    expect(() => untyped(readableBy)('a:b', of)).to.throw(
      TypeError,
      'readableBy(…) takes no field that says readableBy(…)'
    )
  })

  it('says that defaultTo needs the value', () => {
    expect(() => untyped(defaultTo)(text(5))).to.throw(TypeError, 'defaultTo(…) takes the value as its second argument')
  })

  it('names options that there are not, and values of another kind', () => {
    const cases: Record<string, readonly [() => unknown, string]> = {
      int: [() => untyped(int)({ mni: 1 }), 'int(…): there is no `mni`.'],
      bounds: [() => untyped(smallInt)({ max: '5' }), 'int(…): `max` is a text; it has to be a number.'],
      nan: [() => untyped(int)({ max: Number('') / 0 }), 'int(…): `max` is NaN; it has to be a number.'],
      infinite: [() => untyped(float)({ max: 1 / 0 }), 'double(…): `max` is Infinity; it has to be a number.'],
      fieldType: [
        () => untyped(defineFieldType)({ ...even, operatos: ['equals'] }),
        'defineFieldType(…): there is no `operatos`. Did you mean "operators"?'
      ],
      fieldTypeOperators: [
        () => untyped(defineFieldType)({ ...even, operators: undefined }),
        'defineFieldType(…): `operators` is undefined; it has to be a list.'
      ],
      double: [() => untyped(float)({ maxx: 1 }), 'double(…): there is no `maxx`.'],
      dateTime: [() => untyped(dateTime)({ precison: 6 }), 'dateTime(…): there is no `precison`.'],
      time: [
        () => untyped(time)({ precision: undefined }),
        'time(…): `precision` is undefined; it has to be a number.'
      ],
      list: [() => untyped(list)(int(), { maxx: 3 }), 'list(…): there is no `maxx`.']
    }
    for (const [word, [call, message]] of Object.entries(cases)) expect(call, word).to.throw(TypeError, message)
  })

  it('names words of an application that there are not', () => {
    expect(() => untyped(defineApplication)({ entities: [], owner: { patient: 'p' }, roles: undefined })).to.throw(
      StartError,
      'the application has mistakes.\n- there is no `owner`. Did you mean "owners"?\n- `roles` is undefined; it has to be an object.'
    )
  })

  it('names settings, roles and owners of an application whose value is undefined', () => {
    const given = {
      settings: { OWNER_BYPASS_ROLE: undefined },
      roles: { Admin: undefined },
      owners: { patient: undefined }
    }
    expect(() => untyped(defineApplication)({ entities: [], ...given })).to.throw(
      StartError,
      [
        'the application has mistakes.',
        '- roles: `Admin` is undefined; it has to be a list.',
        '- owners: `patient` is undefined; it has to be a text.',
        '- settings: `OWNER_BYPASS_ROLE` is undefined; it has to be a text or a number or true or false.'
      ].join('\n')
    )
  })

  it('names words of an entity of another kind before it reads them', () => {
    expect(() => untyped(defineEntity)({ name: 'things', filterable: 'name', updates: {} })).to.throw(
      StartError,
      '- things: `filterable` is a text; it has to be a list.\n- things: `updates` is an object; it has to be a function.'
    )
  })

  it('says what a menu has no room for', () => {
    const things = { name: 'things', description: 'Things.', title: 'x'.repeat(65), group: ' ', icon: 7 }
    const rest = { fields: { id: int() }, filterable: [], sortable: [], access: { read: permission('a:b') } }
    expect(() => untyped(defineEntity)({ ...things, ...rest })).to.throw(
      StartError,
      /`icon` is a number; it has to be a text\./
    )
    const { mistakes } = defineEntity({ ...things, ...rest, icon: '🛒'.repeat(9) })
    expect(mistakes).to.deep.equal([
      '`title` has 65 characters. It takes 1 to 64.',
      '`group` has 0 characters. It takes 1 to 64.',
      '`icon` has 18 characters. It takes 1 to 16.'
    ])
    const { menu } = defineEntity({ ...rest, name: 'things', description: 'Things.', group: ' Stock ', icon: '🛒' })
    expect(menu).to.deep.equal({ title: '', group: 'Stock', icon: '🛒' })
  })

  it('says that onCreate needs a column that requests set', () => {
    for (const of of [hidden(text(5)), readOnly(text(5)), generated(text(5))]) {
      expect(() => untyped(onCreate)(of)).to.throw(TypeError, 'onCreate(…) takes a field that requests set')
    }
    expect(onCreate(writeOnly(text(5))).writability).to.equal('onCreate')
    expect(onCreate(onCreate(text(5))).writability).to.equal('onCreate')
  })
})
