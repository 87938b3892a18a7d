import { expect } from 'chai'
import { everyone, permission } from '../../../data-service/entity/access.js'
import type { Caller } from '../../../data-service/entity/caller.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { hidden, int, optional, readableBy, readOnly, text } from '../../../data-service/entity/fields/words.js'
import { makeCatalogue } from '../../../data-service/plan/model/catalogue.js'
import { planHistory } from '../../../data-service/plan/plan-history.js'
import { errorOf } from './violations-of.js'

const common = { description: '', filterable: [], sortable: [] } as const
const things = defineEntity({
  ...common,
  name: 'things',
  fields: { id: readOnly(int()), name: text(9), batch: hidden(optional(int())) },
  label: 'name',
  access: { read: everyone },
  history: true
})
const owned = defineEntity({
  ...common,
  name: 'owned',
  fields: { id: readOnly(int()), name: text(9), ownerId: hidden(int()) },
  label: 'name',
  access: ({ rows }) => ({ read: rows(({ where }) => where('ownerId', 'equals', 7)) }),
  history: true
})
const trail = defineEntity({
  ...common,
  name: 'trail',
  fields: {
    id: readOnly(int()),
    action: text(64),
    subject: readableBy('people:read', text(512)),
    requestId: readOnly(optional(text(128)))
  },
  label: 'action',
  access: { read: permission('audit:read') }
})

describe('planHistory', () => {
  const planning = {
    catalogue: makeCatalogue([things, owned, trail]),
    ownership: { bypassRole: 'Admin', parameterName: 'id' },
    maxPageSize: 300,
    maxExportRows: 5000
  }
  const holding = (...permissions: string[]): Caller => ({
    kind: 'authenticated',
    claims: {},
    issuer: 'i',
    subject: 's',
    roles: [],
    permissions: new Set(permissions),
    owner: 7n
  })
  const plan = (caller: Caller, resource = 'things', auditTrail?: string) =>
    planHistory({ resource, id: '1', unplaced: null }, { planning: { ...planning, auditTrail }, caller })

  it('shows who wrote to callers who read that in the audit entries, property by property', () => {
    const shown = (...permissions: string[]): string[] => [...plan(holding(...permissions), 'things', 'trail').shown]
    expect(shown()).to.deep.equal([])
    expect(shown('people:read')).to.deep.equal([])
    expect(shown('audit:read')).to.deep.equal(['requestId'])
    expect(shown('audit:read', 'people:read')).to.deep.equal(['subject', 'requestId'])
    expect([...plan(holding('audit:read', 'people:read')).shown]).to.deep.equal([])
  })

  it('rejects callers whose rows are told by a hidden column, of which no entry says when it changed', () => {
    const { code } = errorOf(() => plan(holding('audit:read'), 'owned'))
    expect(code).to.equal('capability.denied')
  })
})
