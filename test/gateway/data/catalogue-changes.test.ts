import { expect } from 'chai'
import { catalogueChanges } from '../../../gateway/data/catalogue-changes.js'
import type { Resource } from '../../../gateway/data/data-client.js'
import { products, property } from '../fake-data-client.js'

describe('changes of the catalogue', () => {
  const properties = [property('id', 'int'), property('title', 'string')]
  const of = (...resources: readonly Resource[]) => ({
    resources: new Map(resources.map((one) => [one.name, one])),
    operations: []
  })

  it('name resources, properties and words that were added, removed and changed', () => {
    const before = of(
      products({ name: 'tasks', properties: properties }),
      products({ name: 'notes', properties: properties })
    )
    const [id, title] = properties
    if (id === undefined || title === undefined) throw new Error('the test has two properties')
    const after = of(
      products({ name: 'tasks', properties: [{ ...id, sortable: !id.sortable }, property('dueAt', 'dateTime')] }),
      products({ name: 'projects', properties: properties })
    )
    expect(catalogueChanges(before, after)).to.deep.equal([
      'tasks: sortable of id changed',
      'tasks: property dueAt added',
      'tasks: property title removed',
      'resource projects added',
      'resource notes removed'
    ])
    expect(catalogueChanges(before, before)).to.deep.equal([])
  })

  it('are twenty at most, and then their number', () => {
    const many = Array.from({ length: 30 }, (_, at) => products({ name: `r${at}`, properties: properties }))
    const changes = catalogueChanges(of(), of(...many))
    expect(changes).to.have.length(21)
    expect(changes.at(-1)).to.equal('and 10 more')
  })
})
