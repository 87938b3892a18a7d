import type { Entity } from '../../data-service/entity/entity.js'
import type { Call } from './call.js'
import { ADMIN, ownerCaller, OWNERS } from './caller.js'
import type { EveryStore } from './every-store.js'
import { answeredByAll, Findings } from './findings.js'
import { ruleOf } from './rule-of.js'
import { isAbout } from './rule.js'
import { tableRows } from './table-rows.js'
import { collections } from './tries.js'
import { filterOf, integer, verdict } from './verdict.js'

const SPELLINGS: readonly (readonly string[])[] = [
  ...['1', '01', '-1', '+1', ' 1', '1.0', '1e0', '1abc', 'abc?id=1', '', ' ', '٢', '9'.repeat(30)].map((one) => [one]),
  ['1', '1'],
  ['1', '2'],
  ['2', '1']
]

/** The owner filter before each of its routes, by each way to write an owner. */
export function checkOwnerFilter(store: EveryStore, entity: Entity): void {
  const rule = ruleOf(entity)
  const { ownerFilter } = rule
  if (ownerFilter === undefined) return
  const reads = [...collections(rule), { operation: 'get' as const }].filter(
    (one) => filterOf(rule, { resource: entity.name, ...one }) !== undefined
  )
  it('takes an owner in digits alone, and narrows to it', async () => {
    const findings = new Findings()
    const rows = await tableRows(store.sql, entity)
    for (const read of reads) {
      for (const values of SPELLINGS) {
        const byRoute = ownerFilter.parameter === 'id'
        if (byRoute && values.some((one) => one.trim() === '')) continue
        const owner = { parameter: ownerFilter.parameter, values }
        const id = byRoute ? (values[0] ?? '') : String(rows[0]?.['id'])
        const call: Call = { resource: entity.name, ...read, owner, ...(read.operation === 'get' ? { id } : {}) }
        for (const caller of [...OWNERS.map((one) => ownerCaller(one)), ...(byRoute ? [] : [ADMIN])]) {
          const { code, reaches } = verdict(rule, call, caller)
          // Guids are no numbers, and an id of digits may be spelled in more ways than one.
          const only = String(integer(id) ?? id)
          const seen = rows
            .filter((row) => reaches(row) && isAbout(rule, call, row))
            .filter((row) => read.operation !== 'get' || String(row['id']) === only)
          const missing = code === 'ok' && read.operation === 'get' && seen.length === 0
          const outcomes = await answeredByAll(
            store,
            { call, caller },
            { code: missing ? 'not-found' : code, findings }
          )
          for (const outcome of outcomes) {
            const what = `${read.name ?? read.operation} ${JSON.stringify(values)} by ${caller.name}`
            findings.same(what, outcome.rows.length, code === 'ok' ? seen.length : 0)
          }
        }
      }
    }
    findings.finish()
  })
}
