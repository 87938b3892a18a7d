import type { Children, Column, Entity, Reference } from '../../entity/entity.js'
import type { Value } from '../../entity/fields/field.js'
import type { JsonWriter } from '../../entity/fields/json-text.js'
import { ROW_VERSION_BYTES } from '../../entity/fields/row-version.js'
import { binary } from '../../entity/fields/words.js'
import { idText, keyOfValues, type RowKey } from '../../entity/key.js'
import {
  type Path,
  pathBehind,
  type PlannedManyToMany,
  type PlannedReference,
  type Projection
} from '../../plan/model/plans.js'
import type { LoadedChild } from '../../plan/model/stores.js'
import { boundValues, keyIn, pathKey, scopeConditions } from './statements/conditions.js'
import type { ReadSession } from '../engines/sessions.js'
import type { FoundRow, SqlDialect } from '../engines/statement.js'
import { type ChildrenOwner, hasTextKey } from './statements/row-models.js'
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
  const present = new Set(shown.map(keyOf))
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
  const index = selected.findIndex((column) => keyOf(column) === key)
  if (index < 0) throw new TypeError(`${key} is not selected`)
  return (row) => row.value(index)
}

function keyOf(column: SelectedColumn): string {
  return column === 'rowVersion' ? column : pathKey(column)
}

/** The database that navigations are loaded from. */
export interface Source {
  readonly statements: Statements
  readonly dialect: SqlDialect
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
  { planned, keys }: { readonly planned: PlannedReference; readonly keys: readonly (RowKey | undefined)[] }
): Promise<ReadonlyMap<string, FoundRow>> {
  const { target, projection, scope } = planned
  const found = new Map<string, FoundRow>()
  if (scope === null) return found
  const selection = selectionOf(target, projection, [])
  const keyOfRow = keyReader(selection, mapKey(target.key, own))
  for (const some of chunks(keys)) {
    const conditions = [keyIn(target.key, some, 'isKeyIn'), ...scopeConditions(scope)]
    const statement = statements.rows({ entity: target, ...selection, conditions, sort: [], cut: 'whole' })
    for (const row of await session.rows(statement, boundValues(conditions, dialect))) {
      const key = keyOfRow(row)
      if (key !== undefined) found.set(idText(key), row)
    }
  }
  return found
}

/**
 * The rows that a many-to-many navigation leads to from the rows of a page, by the text of these rows' id, each once and in
 * the order of the navigation. It takes one statement, which joins the link entity with the rows that it leads to.
 */
export async function loadLinked(
  session: ReadSession,
  { statements, dialect }: Source,
  of: {
    readonly owner: Entity
    readonly planned: PlannedManyToMany
    readonly keys: readonly (RowKey | undefined)[]
  }
): Promise<ReadonlyMap<string, readonly FoundRow[]>> {
  const { navigation, projection, scope } = of.planned
  const { link, from, to, target } = navigation
  const found = new Map<string, Map<string, FoundRow>>()
  if (scope === null) return new Map()
  const linked = (column: Column): Path => ({ through: to, column })
  const shown = projection.selected.map((one): Path => {
    if (one.kind === 'rowVersion') return linked(versionColumn(target))
    return one.kind === 'joined' ? pathBehind(to, one) : linked(one.column)
  })
  const ownerKey = referencePaths(from, of.owner)
  const key = mapKey(target.key, linked)
  const selection: Selection = {
    selected: [...shown, ...ownerKey, ...key],
    selectedKey: ['linked', from.name, to.name, projection.key].join('+'),
    shown: shown.length
  }
  const [ownerOf, keyOf] = [keyReader(selection, ownerKey), keyReader(selection, key)]
  const sort = [...navigation.sort, ...target.key].map((column) => ({ path: linked(column), descending: false }))
  for (const some of chunks(of.keys)) {
    const conditions = [keyIn(from.via, some, 'refersToIn'), ...scopeConditions(scope)]
    const statement = statements.rows({ entity: link, ...selection, conditions, sort, cut: 'whole' })
    for (const row of await session.rows(statement, boundValues(conditions, dialect))) {
      const [owner, id] = [ownerOf(row), keyOf(row)]
      // Without a foreign key in the database a link may lead to no row.
      if (owner === undefined || id === undefined) continue
      const rows = found.get(idText(owner)) ?? new Map<string, FoundRow>()
      found.set(idText(owner), rows)
      if (!rows.has(idText(id))) rows.set(idText(id), row)
    }
  }
  return new Map(Array.from(found, ([id, rows]) => [id, [...rows.values()]]))
}

/** The row version as a column, which joined rows can be asked for. */
function versionColumn({ name, versionColumn: column }: Entity): Column {
  if (column === undefined) throw new TypeError(`${name} has no row version`)
  return { name: 'rowVersion', column, field: binary(ROW_VERSION_BYTES) }
}

/**
 * The children of all rows of a page by the text of the row's id, ordered by their own. One statement for a collection, and
 * one for each collection within it.
 */
export async function loadChildren(
  session: ReadSession,
  source: Source,
  of: {
    readonly owner: ChildrenOwner
    readonly children: Children
    readonly keys: readonly (RowKey | undefined)[]
  }
): Promise<ReadonlyMap<string, readonly LoadedChild[]>> {
  const { columns, key, children: nested } = of.children
  const rows = await childRows(session, source, of)
  const positions = key.map((column) => columns.indexOf(column))
  const keyOf = (row: FoundRow): RowKey | undefined => keyOfValues(positions.map((at) => row.value(at)))
  const keys = nested.length === 0 ? [] : [...rows.values()].flatMap((some) => some.map(keyOf))
  const within: (readonly [string, ReadonlyMap<string, readonly LoadedChild[]>])[] = []
  for (const children of nested) {
    within.push([children.name, await loadChildren(session, source, { owner: of.children, children, keys })])
  }
  const ofChild = (row: FoundRow): LoadedChild['children'] => {
    const id = within.length === 0 ? undefined : keyOf(row)
    return id === undefined ? NONE : new Map(within.map(([name, found]) => [name, found.get(idText(id)) ?? []]))
  }
  return new Map(Array.from(rows, ([id, some]) => [id, some.map((row) => new Child(row, ofChild(row)))]))
}

const NONE: ReadonlyMap<string, never> = new Map<string, never>()

class Child implements LoadedChild {
  readonly stored: FoundRow
  readonly children: LoadedChild['children']

  constructor(row: FoundRow, children: LoadedChild['children']) {
    this.stored = row
    this.children = children
  }

  get values(): readonly Value[] {
    return this.stored.values
  }
}

/** A row without its first values. */
class RowBehind implements FoundRow {
  readonly #row: FoundRow
  readonly #first: number

  constructor(row: FoundRow, first: number) {
    this.#row = row
    this.#first = first
  }

  get values(): readonly Value[] {
    return this.#row.values.slice(this.#first)
  }

  value(at: number): Value {
    return this.#row.value(this.#first + at)
  }

  write(at: number, out: JsonWriter): void {
    this.#row.write(this.#first + at, out)
  }
}

/** The children by the text of the id of the row that they belong to: their columns, then the row version. */
async function childRows(
  session: ReadSession,
  { statements, dialect }: Source,
  { owner, children, keys }: Parameters<typeof loadChildren>[2]
): Promise<ReadonlyMap<string, readonly FoundRow[]>> {
  const found = new Map<string, FoundRow[]>()
  const parts = owner.key.map((_, at) => at)
  for (const some of chunks(keys)) {
    const conditions = [keyIn(children.foreignKey, some, 'refersToIn')]
    const statement = statements.children({ owner, children, conditions })
    for (const row of await session.rows(statement, boundValues(conditions, dialect))) {
      const key = keyOfValues(parts.map((at) => row.value(at)))
      if (key === undefined) continue
      const id = idText(key)
      const siblings = found.get(id)
      const child = new RowBehind(row, parts.length)
      if (siblings === undefined) found.set(id, [child])
      else siblings.push(child)
    }
  }
  return found
}

/** The distinct keys, in lists that each fit into one statement. */
function chunks(keys: readonly (RowKey | undefined)[]): RowKey[][] {
  const distinct = [...new Map(keys.flatMap((key) => (key === undefined ? [] : [[idText(key), key]]))).values()]
  const [first] = distinct
  const size = first === undefined || first.length === 1 ? KEYS_AT_ONCE.single : KEYS_AT_ONCE.composite
  return Array.from({ length: Math.ceil(distinct.length / size) }, (_, at) =>
    distinct.slice(at * size, (at + 1) * size)
  )
}
