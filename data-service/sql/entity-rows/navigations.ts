import type { Memory } from '../engines/answer-bytes.js'
import type { Column, Entity, KeyedEntity, Reference } from '../../entity/entity.js'
import type { Value } from '../../entity/fields/field.js'
import { idText, keyed, keyOfValues, type RowKey } from '../../entity/key.js'
import type { LoadedRow } from '../../plan/model/stores.js'
import type { IncludeParameter, Path, PlannedReference, Projection } from '../../plan/model/plans.js'
import { boundValues, keyIn, pathKey, scopeConditions } from './statements/conditions.js'
import type { ReadSession } from '../engines/sessions.js'
import type { FoundRow, SqlDialect } from '../engines/statement.js'
import type { IncludedRows } from './included-rows.js'
import { SharedKey } from './shared-keys.js'
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
  /** Those of `TableFacts`. */
  readonly sharedKeys?: ReadonlySet<string> | undefined
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
export function referencePaths(reference: Reference, target: KeyedEntity): readonly [Path, ...Path[]] {
  if (!hasTextKey(target)) return mapKey(reference.via, own)
  return mapKey(target.key, (column) => ({ through: reference, column }))
}

/** What has to be selected of rows besides their projection, so that references of theirs can be loaded. */
export function neededPaths(references: readonly PlannedReference[] = []): Path[] {
  return references.flatMap(({ reference, target }) => referencePaths(reference, target))
}

/** The key of a row itself. */
export function keyPaths(entity: Pick<Entity, 'name' | 'key'>): readonly [Path, ...Path[]] {
  return mapKey(keyed(entity).key, own)
}

/** Makes readers of keys that some rows have in columns of theirs. */
export type KeyReaderOf = (paths: readonly [Path, ...Path[]]) => (row: FoundRow) => RowKey | undefined

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
    included,
    parameter
  }: {
    readonly planned: PlannedReference
    readonly keys: readonly (RowKey | undefined)[]
    readonly included: IncludedRows
    readonly parameter: IncludeParameter
  }
): Promise<{ readonly found: ReadonlyMap<string, FoundRow>; readonly keyOf: KeyReaderOf }> {
  const { target, projection, scope, within } = planned
  const found = new Map<string, FoundRow>()
  let width = 0
  const selection = selectionOf(target, projection, neededPaths(within?.references))
  const keyOf: KeyReaderOf = (paths) => keyReader(selection, paths)
  if (scope === null) return { found, keyOf }
  const keyOfRow = keyOf(keyPaths(target))
  for (const some of chunks(keys)) {
    const conditions = [keyIn(target.key, some, 'isKeyIn'), ...scopeConditions(scope)]
    const statement = statements.rows({ entity: target, ...selection, conditions, sort: [], cut: 'limit' })
    const limit = BigInt(included.limit())
    const values = { ...boundValues(conditions, dialect), limit }
    const rows = await session.rows(statement, values, included.bytesOf(statement))
    width = statement.width
    for (const row of included.add(rows, parameter)) {
      const key = keyOfRow(row)
      if (key === undefined) continue
      const id = idText(key)
      if (found.has(id)) throw new SharedKey(target, key)
      found.set(id, row)
    }
  }
  included.repeat(found, keys, width)
  return { found, keyOf }
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

export const NOTHING_LOADED: ReadonlyMap<string, never> = new Map<string, never>()

const WITHOUT_NAVIGATIONS: Omit<LoadedRow, 'values' | 'stored'> = {
  references: NOTHING_LOADED,
  manyToMany: NOTHING_LOADED,
  children: NOTHING_LOADED,
  truncated: []
}

/** A row with its navigations. Columns that were selected for other reasons follow those of the projection. */
export class RowOfPage implements LoadedRow {
  readonly stored: FoundRow
  readonly #shown: number
  readonly references: LoadedRow['references']
  readonly manyToMany: LoadedRow['manyToMany']
  readonly children: LoadedRow['children']
  readonly truncated: LoadedRow['truncated']

  constructor(row: FoundRow, shown: number, { references, manyToMany, children, truncated } = WITHOUT_NAVIGATIONS) {
    this.stored = row
    this.#shown = shown
    this.references = references
    this.manyToMany = manyToMany
    this.children = children
    this.truncated = truncated
  }

  get values(): readonly Value[] {
    return this.stored.values.slice(0, this.#shown)
  }
}

export function foundBy<Found>(found: ReadonlyMap<string, Found>, key: RowKey | undefined): Found | undefined {
  return key === undefined ? undefined : found.get(idText(key))
}
