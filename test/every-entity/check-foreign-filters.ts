import type { Entity } from '../../data-service/entity/entity.js'
import type { Call } from './call.js'
import { ownerCaller, OWNERS, PERMISSIONS } from './caller.js'
import type { EveryStore } from './every-store.js'
import { answeredByAll, Findings } from './findings.js'
import { ruleOf } from './rule-of.js'
import { ownerColumn, type Rule } from './rule.js'
import { tableRows } from './table-rows.js'
import { verdict } from './verdict.js'

const [OWN, OTHER] = OWNERS

/** Conditions that aim at the rows of others find none, in totals and exports neither. */
export function checkForeignFilters(store: EveryStore, entity: Entity): void {
  const rule = ruleOf(entity)
  const owner = ownerColumn(rule)
  if (owner === undefined || !entity.filterable.has(owner) || typeof rule.read !== 'object' || !('column' in rule.read))
    return
  it('filters by a foreign owner, a foreign row or anything else reveal nothing', async () => {
    const findings = new Findings()
    const foreign = (await tableRows(store.sql, entity)).find((row) => String(row[owner]) === String(OTHER))
    const filters = [
      { property: owner, operator: 'equals', value: String(OTHER) },
      { property: owner, operator: 'not equals', value: String(OWN) },
      { property: owner, operator: 'in', value: `${OTHER},3` },
      { property: owner, operator: 'greater than', value: String(OWN) },
      { property: 'id', operator: 'equals', value: String(foreign?.['id']) }
    ]
    for (const caller of [ownerCaller(OWN), ownerCaller(OWN, PERMISSIONS)]) {
      for (const operation of ['paged', 'export'] as const) {
        for (const filter of filters) {
          const call = withOwner(rule, { resource: entity.name, operation, filters: [filter] })
          for (const outcome of await answeredByAll(store, { call, caller }, { code: 'ok', findings })) {
            const what = `${operation} by ${filter.property} ${filter.operator} ${filter.value}`
            findings.same(what, outcome.rows, [])
            if (operation === 'paged') findings.same(`total of ${what}`, outcome.total, '0')
          }
        }
      }
    }
    findings.finish()
  })
}

/** Names the caller's own rows where an owner filter wants that; where it need not be, the scope stands alone. */
function withOwner(rule: Rule, call: Call): Call {
  const { ownerFilter } = rule
  if (ownerFilter === undefined || verdict(rule, call, ownerCaller(OWN)).code === 'ok') return call
  return { ...call, owner: { parameter: ownerFilter.parameter, values: [String(OWN)] } }
}
