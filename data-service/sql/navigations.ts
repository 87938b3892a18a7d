import type { Column, Entity } from '../entity/entity.js'
import type { Operand, Value } from '../entity/value.js'
import type { PlannedChildren, PlannedReference } from '../plan/read-plan.js'
import type { RowScope } from '../plan/scope.js'
import { boundValues, type RowCondition } from './conditions.js'
import type { SqlDialect } from './dialect.js'
import type { ReadSession } from './reader.js'
import { own, selectionOf, valueAt } from './selection.js'
import { idColumn, ownerColumn, type Statements } from './statements.js'

/** One database as navigations are loaded from it. */
export interface Source {
  readonly statements: Statements
  readonly dialect: SqlDialect
}

/** Ids in one statement: a power of two, far below the 32,766 values that a statement may have on SQLite. */
const IDS_AT_ONCE = 16_384

export function scopeConditions(scope: RowScope): readonly RowCondition[] {
  return scope.kind === 'all-rows' ? [] : scope.conditions
}

/** The referenced rows that the caller may see, by id: one statement for all the foreign keys of a page. */
export async function loadReferenced(
  session: ReadSession,
  { statements, dialect }: Source,
  { planned, keys }: { readonly planned: PlannedReference; readonly keys: readonly Value[] }
): Promise<ReadonlyMap<string, readonly Value[]>> {
  const { target, projection, scope } = planned
  const found = new Map<string, readonly Value[]>()
  if (scope === null) return found
  const selection = selectionOf(target, projection, [])
  const idOf = valueAt(selection, own(idColumn(target)))
  for (const ids of chunks(keys)) {
    const conditions = [among(idColumn(target), ids), ...scopeConditions(scope)]
    const statement = statements.rows({ entity: target, ...selection, conditions, sort: [], cut: 'whole' })
    for (const row of await session.run(statement, boundValues(conditions, dialect))) {
      found.set(String(idOf(row)), row.slice(0, selection.shown))
    }
  }
  return found
}

/** The children of all rows of a page by the row's id, in order of their own: one statement a collection. */
export async function loadChildren(
  session: ReadSession,
  { statements, dialect }: Source,
  {
    owner,
    planned,
    keys
  }: { readonly owner: Entity; readonly planned: PlannedChildren; readonly keys: readonly Value[] }
): Promise<ReadonlyMap<string, readonly (readonly Value[])[]>> {
  const found = new Map<string, (readonly Value[])[]>()
  for (const ids of chunks(keys)) {
    const conditions = [among(ownerColumn(owner, planned.children), ids)]
    const statement = statements.children({ owner, children: planned.children, conditions })
    for (const [ownerId = null, ...values] of await session.run(statement, boundValues(conditions, dialect))) {
      const siblings = found.get(String(ownerId))
      if (siblings === undefined) found.set(String(ownerId), [values])
      else siblings.push(values)
    }
  }
  return found
}

function among(column: Column, operands: readonly Operand[]): RowCondition {
  return { path: own(column), comparison: 'in', operands }
}

/** Distinct keys that lead somewhere, few enough for one statement each. */
function chunks(keys: readonly Value[]): Operand[][] {
  const distinct = [...new Set(keys)].filter((key): key is string | number => key !== null && typeof key !== 'object')
  return Array.from({ length: Math.ceil(distinct.length / IDS_AT_ONCE) }, (_, index) =>
    distinct.slice(index * IDS_AT_ONCE, (index + 1) * IDS_AT_ONCE)
  )
}
