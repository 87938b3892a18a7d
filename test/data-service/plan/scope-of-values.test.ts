import { expect } from 'chai'
import { everyone } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import type { Value } from '../../../data-service/entity/fields/field.js'
import { int, readOnly, setOf, text } from '../../../data-service/entity/fields/words.js'
import type { RowScope } from '../../../data-service/plan/model/plans.js'
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

function place(name: string, comparison: 'isEmpty' | 'isNotEmpty', value: Value): string {
  const column = columnOf(name)
  const path = { through: null, column }
  const scope: RowScope = { kind: 'rows-where', conditions: [{ path, comparison, operands: [] }] }
  return placeInScope(scope, (one) => (one === column ? value : undefined))
}

describe('the place of values that are not written yet', () => {
  it('A set without words is empty, as it is to the database.', () => {
    expect(place('tags', 'isEmpty', [])).to.equal('inside')
    expect(place('tags', 'isNotEmpty', [])).to.equal('outside')
    expect(place('tags', 'isNotEmpty', ['old'])).to.equal('inside')
  })

  it('A text is empty without characters, and the database says it of one without letters and digits.', () => {
    expect(place('title', 'isEmpty', '')).to.equal('inside')
    expect(place('title', 'isEmpty', null)).to.equal('inside')
    expect(place('title', 'isNotEmpty', 'a')).to.equal('inside')
    for (const value of [' ', '\u0001', '\t']) {
      expect(place('title', 'isEmpty', value), JSON.stringify(value)).to.equal('unknown')
      expect(place('title', 'isNotEmpty', value), JSON.stringify(value)).to.equal('unknown')
    }
  })
})
