import type { Entity } from '../../data-service/entity/entity.js'
import { type Call, READS } from './call.js'
import { type Caller, callersOf, MALFORMED_OWNERS, malformedOwner, OWNERS } from './caller.js'
import { ownerColumn, type Rule } from './rule.js'
import { filterOf, neededFor } from './verdict.js'

/** Everybody that a call is tried by: where rows have owners, with each kind of claim that names none. */
export function everyCaller(rule: Rule, call: Call): Caller[] {
  const owned = ownerColumn(rule) !== undefined
  return [...callersOf(neededFor(rule, call)), ...(owned ? MALFORMED_OWNERS.map(malformedOwner) : [])]
}

/** A call without the owner parameter and, where a filter reads one from the query, with each owner's. */
export function withOwners(rule: Rule, call: Call): Call[] {
  const filter = filterOf(rule, call)
  if (filter === undefined || filter.parameter === 'id') return [call]
  return [
    call,
    ...OWNERS.map((owner) => ({ ...call, owner: { parameter: filter.parameter, values: [String(owner)] } }))
  ]
}

/** An id that no row has. */
export function absentId({ columns }: Entity): string {
  return columns[0]?.field.type === 'guid' ? 'ffffffff-0000-4000-8000-000000000000' : '999999999'
}

/** The reads that answer many rows. */
export function collections(rule: Rule): Pick<Call, 'operation' | 'name' | 'pageSize'>[] {
  return [
    ...READS.filter((operation) => operation !== 'get').map((operation) => ({
      operation,
      ...(operation === 'paged' ? { pageSize: '500' } : {})
    })),
    ...Object.keys(rule.customReads).map((name) => ({ operation: 'read' as const, name }))
  ]
}

/** A problem document without the path that it is about. The request id is the same in all of these tests. */
export function withoutInstance(text: string): string {
  return text.replace(/"instance":"[^"]*",?/, '')
}
