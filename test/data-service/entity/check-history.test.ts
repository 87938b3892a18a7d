import { expect } from 'chai'
import { everyone } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { int, readOnly, text } from '../../../data-service/entity/fields/words.js'

describe('the history of an entity file', () => {
  const mistakesWith = (more: object): readonly string[] =>
    defineEntity({
      name: 'things',
      description: '',
      fields: { id: readOnly(int()), name: text(100) },
      label: 'name',
      filterable: [],
      sortable: [],
      access: { read: everyone },
      history: true,
      ...more
    }).mistakes

  it('The start names a history beside a replaced read by id, which it would go past.', () => {
    const get = (): Promise<object> => Promise.resolve({})
    expect(mistakesWith({ overrides: { get } })).to.deep.equal([
      '`history` would show what a replaced `get` may not show.'
    ])
    expect(mistakesWith({ overrides: { list: get } })).to.deep.equal([])
  })

  it('The start names an action that a history would take for a create or a delete of the row.', () => {
    const action = (define: (one: object) => unknown): object => ({ delete: define({ description: '', effect: {} }) })
    expect(mistakesWith({ actions: action, access: { read: everyone, write: everyone } }).join()).to.include(
      '`history` takes no action `create` or `delete`'
    )
  })
})
