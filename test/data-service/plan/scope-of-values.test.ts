import { expect } from 'chai'
import { everyone } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import type { Value } from '../../../data-service/entity/fields/field.js'
import { int, readOnly, setOf, text } from '../../../data-service/entity/fields/words.js'
import { scopeOf } from '../../../data-service/plan/row-scopes.js'
import { placeInScope } from '../../../data-service/plan/scope-of-values.js'

const shelves = defineEntity({
  name: 'shelves',
  description: 'Texts and sets.',
  fields: { id: readOnly(int()), title: text(20), tags: setOf(['old', 'new']) },
  label: 'title',
  filterable: ['id', 'title', 'tags'],
  sortable: ['id'],
  access: { read: everyone }
})

function columnOf(name: string): (typeof shelves.columns)[number] {
  const found = shelves.columns.find((one) => one.name === name)
  if (found === undefined) throw new Error(`no column ${name}`)
  return found
}

function place(name: string, [operator, ...operands]: readonly [string, ...unknown[]], value: Value): string {
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

  it('What a column of fixed length would store of spaces at the end is not known.', () => {
    expect(place('title', ['equals', 'anna'], 'anna ')).to.equal('unknown')
    expect(place('title', ['equals', 'anna '], 'anna ')).to.equal('unknown')
  })
})
