import { expect } from 'chai'
import { entities } from '../../examples/store/entities/index.js'
import type { Resource__Output } from '../../shared/gen/entity/v1/Resource.js'
import { describedResources } from './described.js'
import type { EveryStore } from './every-store.js'
import { ruleOf } from './rule-of.js'
import { RULES } from './rules.js'

const WRITES = { root: ['create', 'batch', 'delete'], CRUD: ['create', 'batch', 'update', 'delete'], read: [] } as const

/** What is served is what domain.md lists, property by property. */
export function checkCatalogue(store: EveryStore): void {
  let resources: readonly Resource__Output[] = []
  before(async () => {
    resources = await describedResources(store)
  })
  const described = (name: string): Resource__Output => {
    const found = resources.find((one) => one.name === name)
    if (found === undefined) throw new Error(`Describe lacks ${name}`)
    return found
  }

  it('serves every registered entity, and all of domain.md', () => {
    const registered = entities.map(({ name }) => name)
    expect(resources.map(({ name }) => name)).to.have.members(registered)
    expect(registered).to.include.members(Object.keys(RULES))
  })

  for (const entity of entities) {
    const rule = ruleOf(entity)
    it(`serves ${entity.name} as it is listed: its properties, writes, actions and reads`, () => {
      const { properties, operations, actions, reads, publicReads } = described(entity.name)
      expect(properties.map(({ name }) => name)).to.have.members([
        ...rule.properties,
        ...(rule.versioned ? ['rowVersion'] : [])
      ])
      const reading = ['list', 'paged', 'export', 'lookup', 'get']
      expect(operations).to.have.members([...reading, ...WRITES[rule.kind]])
      expect(actions.map(({ name }) => name)).to.have.members(Object.keys(rule.actions))
      expect(reads.map(({ name }) => name)).to.have.members(Object.keys(rule.customReads))
      expect(publicReads).to.equal(rule.read === 'everyone' && rule.get === 'everyone')
    })
  }
}
