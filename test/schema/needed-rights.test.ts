import { expect } from 'chai'
import { neededRights } from '../../schema/check/needed-rights.js'
import library from '../library/uniform-rest.config.js'

const { entities } = library

/** An account needs no more to a table than its entity takes (docs/adding-an-entity.md, views and tables that are only read). */
describe('the rights that entities need', () => {
  const rightsTo = (table: string): readonly string[] | undefined =>
    neededRights(entities, 'primary').find((one) => one.table === table)?.rights

  it('are SELECT alone for a view, a resource without writes, and what is only referred to', () => {
    for (const table of ['gauge_totals', 'legacy_regions', 'legacy_cities', 'loans']) {
      expect(rightsTo(table), table).to.deep.equal(['SELECT'])
    }
  })

  it('are those that its writes and actions take', () => {
    expect(rightsTo('visits')).to.deep.equal(['SELECT', 'INSERT', 'DELETE'])
    expect(rightsTo('legacy_branches')).to.deep.equal(['SELECT', 'INSERT', 'DELETE'])
    expect(rightsTo('gauges')).to.deep.equal(['SELECT', 'INSERT', 'UPDATE', 'DELETE'])
  })

  it('are to children what creates and rules do with them, and nothing in the second store', () => {
    expect(rightsTo('visit_notes')).to.deep.equal(['SELECT', 'INSERT'])
    expect(rightsTo('legacy_desks')).to.deep.equal(['SELECT', 'INSERT', 'UPDATE', 'DELETE'])
    expect(neededRights(entities, 'second')).to.deep.equal([])
    // Children of children are only read, and rows of a resource are written by it or by their root.
    for (const table of ['scene', 'prop']) expect(rightsTo(table), table).to.deep.equal(['SELECT'])
    for (const table of ['casting', 'rehearsal']) {
      expect(rightsTo(table), table).to.deep.equal(['SELECT', 'INSERT', 'UPDATE', 'DELETE'])
    }
  })

  it('name a column that an UPDATE can set, whatever the version of rows is called', () => {
    const found = neededRights(entities, 'primary').filter(({ rights }) => rights.includes('UPDATE'))
    expect(found.find(({ table }) => table === 'group')?.column).to.equal('row version')
    expect(found.find(({ table }) => table === 'gauges')?.column).to.equal('row_version')
  })
})
