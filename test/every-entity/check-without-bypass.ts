import type { Entity } from '../../data-service/entity/entity.js'
import { type Call, READS } from './call.js'
import { ADMIN, ANONYMOUS, type Caller, callersOf, ownerCaller, OWNERS, PERMISSIONS, permitted } from './caller.js'
import type { EveryStore } from './every-store.js'
import { answeredByAll, Findings } from './findings.js'
import { ruleOf } from './rule-of.js'
import { guardOf, type Rule } from './rule.js'
import { tableRows } from './table-rows.js'
import { collections } from './tries.js'
import { admission, filterOf, neededFor, verdict } from './verdict.js'

/** Where no bypass role is set, whatever needs no ownership serves and the first use of it is a failure to configure. */
export function checkWithoutBypass(store: EveryStore, entity: Entity): void {
  const rule = ruleOf(entity)
  it(`${entity.name} serves what asks for no owner, and nothing else`, async () => {
    const findings = new Findings()
    const [row] = await tableRows(store.sql, entity)
    const id = String(row?.['id'])
    const reads = [...collections(rule), { operation: READS[4] }]
    const calls: Call[] = reads.map((read) => ({
      resource: entity.name,
      ...read,
      ...(read.operation === 'get' ? { id } : {})
    }))
    for (const call of calls) {
      for (const caller of [...callersOf(neededFor(rule, call)), permitted(PERMISSIONS), ownerCaller(OWNERS[0])]) {
        if (caller === ADMIN) continue
        await answeredByAll(store, { call, caller }, { code: unconfigured(rule, call, caller), findings })
      }
    }
    findings.finish()
  })
}

function unconfigured(rule: Rule, call: Call, caller: Caller): string {
  const guard = guardOf(rule, call.operation)
  const owned = filterOf(rule, call) !== undefined || (typeof guard === 'object' && 'column' in guard)
  const asks = typeof guard === 'object' && 'rows' in guard && guard.asksForBypass?.(caller) === true
  if (asks && caller.token !== 'invalid') return 'configuration'
  const { code } = admission({ ...rule, ownerFilter: undefined }, call, caller)
  if (!owned || (code !== 'ok' && caller !== ANONYMOUS)) return verdict(rule, call, caller).code
  return caller === ANONYMOUS ? 'auth.required' : 'configuration'
}
