import type { Memory } from '../engines/answer-bytes.js'
import type { Column, Entity, Reference } from '../../entity/entity.js'
import type { Value } from '../../entity/fields/field.js'
import { idText, keyOfValues, type RowKey } from '../../entity/key.js'
import type { Path, PlannedReference, Projection } from '../../plan/model/plans.js'
import { boundValues, keyIn, pathKey, scopeConditions } from './statements/conditions.js'
import type { ReadSession } from '../engines/sessions.js'
import type { FoundRow, SqlDialect } from '../engines/statement.js'
import type { IncludedRows } from './included-rows.js'
import { hasTextKey } from './statements/row-models.js'
import type { SelectedColumn, Statements } from './statements/statements.js'

/** The columns that a statement selects: those of the projection, then further ones that are needed. */
export interface Selection {
  readonly selected: readonly SelectedColumn[]
  readonly selectedKey: string
  /** Number of columns of the projection. */
  readonly shown: number
}

/** Projections with the key of their entity alone. The cache of projections (projection.ts) keeps them for many requests. */
const selectionsWithKey = new WeakMap<Projection, { readonly entity: Entity; readonly selection: Selection }>()

/** The projection with the key and `more`, unless it contains them. */
export function selectionOf(entity: Entity, projection: Projection, more: readonly Path[]): Selection {
  if (more.length > 0) return makeSelection(entity, projection, more)
  const known = selectionsWithKey.get(projection)
  if (known?.entity === entity) return known.selection
  const selection = makeSelection(entity, projection, more)
  selectionsWithKey.set(projection, { entity, selection })
  return selection
}

function makeSelection(entity: Entity, projection: Projection, more: readonly Path[]): Selection {
  const shown = projection.selected.map((one): SelectedColumn => {
    if (one.kind === 'rowVersion') return 'rowVersion'
    return { through: one.kind === 'joined' ? one.through : null, column: one.column }
  })
  const present = new Set(shown.map(selectedKey))
  const added: Path[] = []
  for (const path of [...entity.key.map(own), ...more]) {
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
export function valueAt({ selected }: Selection, path: Path): (row: Pick<FoundRow, 'value'>) => Value {
  const key = pathKey(path)
  const index = selected.findIndex((column) => selectedKey(column) === key)
  if (index < 0) throw new TypeError(`${key} is not selected`)
  return (row) => row.value(index)
}

function selectedKey(column: SelectedColumn): string {
  return column === 'rowVersion' ? column : pathKey(column)
}

/** The database that navigations are loaded from. */
export interface Source {
  readonly statements: Statements
  readonly dialect: SqlDialect
  /** What large answers are held against; undefined where rows are read for a write. */
  readonly memory?: Memory | undefined
}

/** Reads the key of the selection's rows from these columns; undefined for a row in which one is null. */
export function keyReader(
  selection: Selection,
  paths: readonly [Path, ...Path[]]
): (row: FoundRow) => RowKey | undefined {
  const readers = paths.map((path) => valueAt(selection, path))
  return (row) => keyOfValues(readers.map((read) => read(row)))
}

/**
 * The columns by which a reference is loaded: its foreign key, or the key of the referenced row as that row has it, where
 * the database may take two texts for equal.
 */
export function referencePaths(reference: Reference, target: Entity): readonly [Path, ...Path[]] {
  if (!hasTextKey(target)) return mapKey(reference.via, own)
  return mapKey(target.key, (column) => ({ through: reference, column }))
}

export function mapKey<One, Other>(
  [first, ...others]: readonly [One, ...One[]],
  map: (one: One) => Other
): readonly [Other, ...Other[]] {
  return [map(first), ...others.map(map)]
}

/**
 * Keys of one statement: a power of two below the 32,766 values that SQLite allows in a statement. Those of several columns
 * may become conditions joined by OR, of which SQLite takes a thousand.
 */
export const KEYS_AT_ONCE = { single: 16_384, composite: 512 }

/** The referenced rows that the caller may see, by the text of their id. It takes one statement for all keys of a page. */
export async function loadReferenced(
  session: ReadSession,
  { statements, dialect }: Source,
  {
    planned,
    keys,
    included
  }: {
    readonly planned: PlannedReference
    readonly keys: readonly (RowKey | undefined)[]
    readonly included: IncludedRows
  }
): Promise<ReadonlyMap<string, FoundRow>> {
  const { target, projection, scope } = planned
  const found = new Map<string, FoundRow>()
  let width = 0
  if (scope === null) return found
  const selection = selectionOf(target, projection, [])
  const keyOfRow = keyReader(selection, mapKey(target.key, own))
  for (const some of chunks(keys)) {
    const conditions = [keyIn(target.key, some, 'isKeyIn'), ...scopeConditions(scope)]
    const statement = statements.rows({ entity: target, ...selection, conditions, sort: [], cut: 'limit' })
    const limit = BigInt(included.limit())
    const values = { ...boundValues(conditions, dialect), limit }
    const rows = await session.rows(statement, values, included.bytesOf(statement))
    width = statement.width
    for (const row of included.add(rows, 'includeFKs')) {
      const key = keyOfRow(row)
      if (key !== undefined) found.set(idText(key), row)
    }
  }
  included.repeat(found, keys, width)
  return found
}

/** The distinct keys, in lists that each fit into one statement. */
export function chunks(keys: readonly (RowKey | undefined)[]): RowKey[][] {
  const distinct = [...new Map(keys.flatMap((key) => (key === undefined ? [] : [[idText(key), key]]))).values()]
  const [first] = distinct
  const size = first === undefined || first.length === 1 ? KEYS_AT_ONCE.single : KEYS_AT_ONCE.composite
  return Array.from({ length: Math.ceil(distinct.length / size) }, (_, at) =>
    distinct.slice(at * size, (at + 1) * size)
  )
}
