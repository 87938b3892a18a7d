import type { Column, Entity } from '../entity/entity.js'
import type { Operand, Value } from '../entity/field.js'
import type { Path, PlannedChildren, PlannedReference, Projection, RowScope } from '../plan/plans.js'
import { boundValues, pathKey, type RowCondition } from './conditions.js'
import type { ReadSession, SqlDialect } from './engines/engine.js'
import { idColumn, ownerColumn, type SelectedColumn, type Statements } from './statements.js'

/** The columns that a statement selects: those of the projection, then further ones that are needed. */
export interface Selection {
  readonly selected: readonly SelectedColumn[]
  readonly selectedKey: string
  /** Number of columns of the projection. */
  readonly shown: number
}

/** The projection with the id and `more`, unless it contains them. */
export function selectionOf(entity: Entity, projection: Projection, more: readonly Path[]): Selection {
  const shown = projection.selected.map((one): SelectedColumn => {
    if (one.kind === 'rowVersion') return 'rowVersion'
    return { through: one.kind === 'joined' ? one.through : null, column: one.column }
  })
  const present = new Set(shown.map(keyOf))
  const added: Path[] = []
  for (const path of [own(idColumn(entity)), ...more]) {
    if (present.has(pathKey(path))) continue
    present.add(pathKey(path))
    added.push(path)
  }
  return {
    selected: [...shown, ...added],
    selectedKey: [projection.key, ...added.map(pathKey)].join('+'),
    shown: shown.length
  }
}

/** A column of the row itself. */
export function own(column: Column): Path {
  return { through: null, column }
}

/** Reads one column of the selection's rows. */
export function valueAt({ selected }: Selection, path: Path): (row: readonly Value[]) => Value {
  const key = pathKey(path)
  const index = selected.findIndex((column) => keyOf(column) === key)
  if (index < 0) throw new TypeError(`${key} is not selected`)
  return (row) => row[index] ?? null
}

function keyOf(column: SelectedColumn): string {
  return column === 'rowVersion' ? column : pathKey(column)
}

/** The database that navigations are loaded from. */
export interface Source {
  readonly statements: Statements
  readonly dialect: SqlDialect
}

/** Ids of one statement: a power of two below the 32,766 values that SQLite allows in a statement. */
const IDS_AT_ONCE = 16_384

export function scopeConditions(scope: RowScope): readonly RowCondition[] {
  return scope.kind === 'all-rows' ? [] : scope.conditions
}

/** The referenced rows that the caller may see, by id. It takes one statement for all foreign keys of a page. */
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
    const conditions = [isOneOf(idColumn(target), ids), ...scopeConditions(scope)]
    const statement = statements.rows({ entity: target, ...selection, conditions, sort: [], cut: 'whole' })
    for (const row of await session.run(statement, boundValues(conditions, dialect))) {
      found.set(String(idOf(row)), row.slice(0, selection.shown))
    }
  }
  return found
}

/** The children of all rows of a page by the row's id, ordered by their own id. It takes one statement per collection. */
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
    const conditions = [isOneOf(ownerColumn(owner, planned.children), ids)]
    const statement = statements.children({ owner, children: planned.children, conditions })
    for (const [ownerId = null, ...values] of await session.run(statement, boundValues(conditions, dialect))) {
      const siblings = found.get(String(ownerId))
      if (siblings === undefined) found.set(String(ownerId), [values])
      else siblings.push(values)
    }
  }
  return found
}

function isOneOf(column: Column, operands: readonly Operand[]): RowCondition {
  return { path: own(column), comparison: 'in', operands }
}

/** The distinct keys that are not null, in lists that each fit into one statement. */
function chunks(keys: readonly Value[]): Operand[][] {
  const distinct = [...new Set(keys)].filter((key): key is string | number => key !== null && typeof key !== 'object')
  return Array.from({ length: Math.ceil(distinct.length / IDS_AT_ONCE) }, (_, index) =>
    distinct.slice(index * IDS_AT_ONCE, (index + 1) * IDS_AT_ONCE)
  )
}
