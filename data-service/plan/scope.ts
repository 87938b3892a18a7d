import type { Condition } from './condition.js'

/**
 * The rows a caller may see: every one, in so many words, or those that meet all conditions. There is no empty scope
 * that could stand for either.
 */
export type RowScope = AllRows | RowsWhere

export interface AllRows {
  readonly kind: 'all-rows'
}

export interface RowsWhere {
  readonly kind: 'rows-where'
  readonly conditions: readonly [Condition, ...Condition[]]
}

export const allRows: AllRows = { kind: 'all-rows' }

/** The rows of both scopes (source.md: row-scope specifications combine by AND). */
export function bothScopes(one: RowScope, other: RowScope): RowScope {
  if (one.kind === 'all-rows') return other
  if (other.kind === 'all-rows') return one
  return { kind: 'rows-where', conditions: [...one.conditions, ...other.conditions] }
}
