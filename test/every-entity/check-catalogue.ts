import { expect } from 'chai'
import { entities } from '../../examples/store/entities/index.js'
import type { Resource__Output } from '../../shared/gen/entity/v1/Resource.js'
import { ADMIN, ANONYMOUS, type Caller, PERMISSIONS, permitted } from './caller.js'
import { describedResources } from './described.js'
import type { EveryStore } from './every-store.js'
import { ruleOf } from './rule-of.js'
import { propertiesFor } from './rule.js'
import { RULES } from '../examples/every-entity/rules.js'
import { admission } from './verdict.js'

const WRITES = { root: ['create', 'batch', 'delete'], CRUD: ['create', 'batch', 'update', 'delete'], read: [] } as const

/** What is served is what domain.md lists, property by property. */
export function checkCatalogue(store: EveryStore): void {
  const seen = new Map<Caller, readonly Resource__Output[]>()
  const callers = [ADMIN, ANONYMOUS, ...PERMISSIONS.map((permission) => permitted([permission]))]
  before(async () => {
    for (const caller of callers) seen.set(caller, await describedResources(store, caller))
  })
  const described = (name: string, caller = ADMIN): Resource__Output => {
    const found = seen.get(caller)?.find((one) => one.name === name)
    if (found === undefined) throw new Error(`Describe lacks ${name}`)
    return found
  }

  it('serves every registered entity, and all of domain.md', () => {
    const registered = entities.map(({ name }) => name)
    for (const caller of callers) expect(seen.get(caller)?.map(({ name }) => name)).to.have.members(registered)
    expect(registered).to.include.members(Object.keys(RULES))
  })

  for (const entity of entities) {
    const rule = ruleOf(entity)
    it(`serves ${entity.name} as it is listed: its properties, writes, actions and reads`, () => {
      const { operations, actions, reads, publicReads } = described(entity.name)
      for (const caller of callers) {
        const names = described(entity.name, caller).properties.map(({ name }) => name)
        expect(names, caller.name).to.have.members([
          ...propertiesFor(rule, caller.permissions),
          ...(rule.versioned ? ['rowVersion'] : [])
        ])
      }
      const reading = ['list', 'paged', 'export', 'lookup', 'get']
      expect(operations).to.have.members([...reading, ...WRITES[rule.kind]])
      expect(actions.map(({ name }) => name)).to.have.members(Object.keys(rule.actions))
      expect(reads.map(({ name }) => name)).to.have.members(Object.keys(rule.customReads))
      const isPublic = (operation: 'list' | 'get'): boolean =>
        admission({ ...rule, ownerFilter: undefined }, { resource: entity.name, operation }, ANONYMOUS).code === 'ok'
      expect(publicReads).to.equal(isPublic('list') && isPublic('get'))
    })
  }
}
