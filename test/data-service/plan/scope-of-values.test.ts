import { expect } from 'chai'
import { everyone } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import type { Value } from '../../../data-service/entity/fields/field.js'
import {
  date,
  dateTime,
  decimal,
  double,
  float,
  int,
  optional,
  readableBy,
  readOnly,
  setOf,
  text,
  time
} from '../../../data-service/entity/fields/words.js'
import { callerInRules, scopeOf } from '../../../data-service/plan/row-scopes.js'
import { placeInScope } from '../../../data-service/plan/scope-of-values.js'

const shelves = defineEntity({
  name: 'shelves',
  description: 'Texts, sets, and what has an order.',
  fields: {
    id: readOnly(int()),
    title: text(20),
    tags: setOf(['old', 'new']),
    day: date(),
    at: dateTime({ precision: 6 }),
    hour: time(),
    price: decimal(10, 2),
    weight: double(),
    share: float(),
    cost: readableBy('shelves:cost', optional(int()))
  },
  label: 'title',
  filterable: ['id', 'title', 'tags', 'day', 'at', 'hour', 'price', 'weight', 'share'],
  sortable: ['id'],
  access: { read: everyone }
})

function columnOf(name: string): (typeof shelves.columns)[number] {
  const found = shelves.columns.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no column ${name}`)
  return found
}

type Test = readonly [operator: string, ...operands: unknown[]]

function place(name: string, [operator, ...operands]: Test, value: Value): string {
  const column = columnOf(name)
  const scope = scopeOf({ property: name, operator, operands }, shelves)
  return placeInScope(scope, (one) => (one === column ? value : undefined))
}

describe('the place of values that are not written yet', () => {
  it('A set without words is empty, as it is to the database.', () => {
    expect(place('tags', ['is empty'], [])).to.equal('inside')
    expect(place('tags', ['is not empty'], [])).to.equal('outside')
    expect(place('tags', ['is not empty'], ['old'])).to.equal('inside')
  })

  it('A set has the words that are in it.', () => {
    expect(place('tags', ['contains', 'old'], ['new', 'old'])).to.equal('inside')
    expect(place('tags', ['contains', 'old'], ['new'])).to.equal('outside')
    expect(place('tags', ['contains', 'old'], null)).to.equal('outside')
  })

  it('Text is compared by its characters, as the database compares it in scopes.', () => {
    const [inside, outside] = [
      [
        [['is empty'], ''],
        [['is empty'], null],
        [['is not empty'], '\u0001'],
        [['equals', 'anna'], 'anna'],
        [['not equals', 'anna'], 'Anna'],
        [['not equals', 'anna'], null],
        [['in', ['anna', 'ben']], 'ben'],
        [['contains', 'nn'], 'anna'],
        [['not contains', 'AN'], 'anna'],
        [['starts with', 'an'], 'anna'],
        [['ends with', 'na'], 'anna']
      ],
      [
        [['is empty'], '\u0001'],
        [['is not empty'], null],
        [['equals', 'anna'], 'Anna'],
        [['equals', 'anna'], '\u00e4nna'],
        [['equals', 'anna '], 'anna'],
        [['equals', 'anna'], null],
        [['in', ['anna', 'ben']], 'Ben'],
        [['contains', 'NN'], 'anna'],
        [['starts with', 'An'], 'anna'],
        [['ends with', 'NA'], 'anna']
      ]
    ] as const
    for (const [test, value] of inside)
      expect(place('title', test, value), JSON.stringify([test, value])).to.equal('inside')
    for (const [test, value] of outside)
      expect(place('title', test, value), JSON.stringify([test, value])).to.equal('outside')
  })

  it('A comparison with more operands than it has is none: the others would let rows through.', () => {
    const excess: readonly Test[] = [
      ['not equals', 'anna', 'ben'],
      ['is empty', 'anna'],
      ['in', ['anna'], ['ben']]
    ]
    for (const test of excess) expect(() => place('title', test, 'ben'), test[0]).to.throw(TypeError, 'compares with')
  })

  it('What a column of fixed length would store of spaces at the end is not known.', () => {
    expect(place('title', ['equals', 'anna'], 'anna ')).to.equal('unknown')
    expect(place('title', ['equals', 'anna '], 'anna ')).to.equal('unknown')
  })

  it('What does not depend on these spaces is known.', () => {
    expect(place('title', ['equals', 'ben'], 'anna ')).to.equal('outside')
    expect(place('title', ['not equals', 'ben'], 'anna  ')).to.equal('inside')
    expect(place('title', ['starts with', 'an'], 'anna ')).to.equal('inside')
  })
})

describe('the place of values that have an order', () => {
  it('Numbers, moments and times are in their order, and equal what they are worth.', () => {
    const columns: Readonly<Record<string, readonly (string | number)[]>> = {
      day: ['2025-12-31', '2026-01-01', '2026-01-02'],
      at: ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000001Z', '2026-01-01T00:00:00.001Z'],
      hour: ['07:59:59', '08:00:00', '08:00:01'],
      price: ['-10.00', '9.50', '10.00'],
      weight: [-1e-7, 9.5, 10]
    }
    const operators = {
      greaterThan: (difference: number) => difference > 0,
      greaterThanOrEqual: (difference: number) => difference >= 0,
      lessThan: (difference: number) => difference < 0,
      lessThanOrEqual: (difference: number) => difference <= 0
    }
    const ofNumbers = ['greater than', 'greater than or equal', 'less than', 'less than or equal']
    const words: Readonly<Record<string, readonly string[]>> = {
      price: ofNumbers,
      weight: ofNumbers,
      others: ['is after', 'is on or after', 'is before', 'is on or before']
    }
    for (const [name, values] of Object.entries(columns)) {
      for (const [at, value] of values.entries()) {
        for (const [other, operand] of values.entries()) {
          for (const [index, isMet] of Object.values(operators).entries()) {
            const word = (words[name] ?? words['others'] ?? [])[index] ?? ''
            expect(place(name, [word, operand], value), `${value} ${word} ${operand}`).to.equal(
              isMet(at - other) ? 'inside' : 'outside'
            )
          }
        }
      }
    }
    expect(place('price', ['equals', '9.5'], '9.50')).to.equal('inside')
    expect(place('price', ['between', '9.4', '9.6'], '9.50')).to.equal('inside')
    expect(place('price', ['between', '9.6', '9.9'], '9.50')).to.equal('outside')
    expect(place('at', ['is not', '2026-01-01T00:00:00.000Z'], '2026-01-01T00:00:00.000001Z')).to.equal('inside')
  })

  it('What a float would keep of a number is not known, and no time of more than a day has an order.', () => {
    expect(place('share', ['equals', 0.1], 0.1)).to.equal('unknown')
    expect(place('hour', ['is after', '08:00:00'], '100:00:00')).to.equal('unknown')
    expect(place('hour', ['is after', '08:00:00'], '-01:00:00')).to.equal('unknown')
  })
})

describe('the predicate of an entity file that passes by its types', () => {
  for (const [what, test, message] of [
    ['a property that there is not', ['nothing', 'equals', 1], 'shelves has no nothing'],
    ['a column that takes a permission to read', ['cost', 'equals', 1], 'shelves.cost takes a permission to read'],
    ['an operator that its type has not', ['title', 'between', 'a', 'b'], 'between is no operator of shelves.title'],
    [
      'more operands than the operator takes',
      ['id', 'equals', 1, 2],
      'equals of shelves.id compares with 1, and not with 2'
    ],
    ['a value in place of a list', ['id', 'in', 1], 'in of shelves.id takes a list']
  ] as const) {
    it(`is a mistake if it names ${what}`, () => {
      const [property, operator, ...operands] = test
      expect(() => scopeOf({ property, operator, operands }, shelves)).to.throw(TypeError, message)
    })
  }

  it('is a mistake if it joins no tests', () => {
    for (const joined of [{ anyOf: [] }, { allOf: [] }])
      expect(() => scopeOf(joined, shelves)).to.throw(TypeError, 'The row scope of shelves joins no tests')
  })

  it('cannot change the claims of its caller, which are those of the next request with the same token', () => {
    const claims = { branches: [1, 2] }
    const token = {
      kind: 'authenticated',
      issuer: 'i',
      subject: 's',
      roles: [],
      permissions: new Set<string>()
    } as const
    const caller = callerInRules({ ...token, owner: null, claims }, { bypassRole: 'Admin', parameterName: 'id' })
    if (caller.kind === 'anonymous') throw new Error('the caller has a token')
    expect(() => (caller.claims['branches'] as number[]).push(3)).to.throw(TypeError)
    expect(() => Object.assign(caller.claims, { branches: [3] })).to.throw(TypeError)
    expect(claims).to.deep.equal({ branches: [1, 2] })
  })
})
