import type { VersionColumn } from './statements/where-text.js'
import type { Children, Column, KeyedEntity } from '../../entity/entity.js'
import type { Value } from '../../entity/fields/field.js'
import type { JsonWriter } from '../../entity/fields/json-text.js'
import { hasRowVersion, ROW_VERSION_BYTES } from '../../entity/fields/row-version.js'
import { binary } from '../../entity/fields/words.js'
import { idText, keyOfValues, type RowKey } from '../../entity/key.js'
import {
  type IncludeParameter,
  type Path,
  pathBehind,
  type PlannedChildren,
  type PlannedManyToMany
} from '../../plan/model/plans.js'
import type { LoadedChild, LoadedRow } from '../../plan/model/stores.js'
import { boundValues, keyIn, pathKey, scopeConditions } from './statements/conditions.js'
import type { ReadSession } from '../engines/sessions.js'
import type { BoundValues, FoundRow } from '../engines/statement.js'
import type { ChildrenOwner } from './statements/row-models.js'
import { type IncludedRows, MAX_OF_EACH } from './included-rows.js'
import {
  chunks,
  foundBy,
  keyReader,
  type KeyReaderOf,
  loadReferenced,
  mapKey,
  neededPaths,
  NOTHING_LOADED,
  own,
  referencePaths,
  RowOfPage,
  type Selection,
  type Source
} from './navigations.js'

/** The rows of a collection that one row has. */
export interface Collection<Row> {
  readonly rows: readonly Row[]
  /** Names of the collections that are cut: this one, and those within its rows (`lines.parts`). */
  readonly truncated: readonly string[]
}

/** Of which rows a collection is loaded. */
interface CollectionsOf {
  readonly keys: readonly (RowKey | undefined)[]
  readonly included: IncludedRows
  /** What an error names. */
  readonly parameter: IncludeParameter
}

/** Which rows of a collection a statement reads: those with these numbers among the rows of each owner, in all at most `limit`. */
interface CollectionPart {
  readonly first: number
  readonly last: number
  readonly limit: number
}

/** The rows of some owners, those of each in the order of the collection. */
interface CollectionReader {
  /** The first rows of one owner. */
  ofOne(owner: RowKey, limit: number): Promise<readonly FoundRow[]>
  ofEach(owners: readonly RowKey[], part: CollectionPart): Promise<readonly FoundRow[]>
  /** The key of a row's owner. undefined for a row that leads to nothing. */
  readonly ownerOf: (row: FoundRow) => RowKey | undefined
}

/**
 * The first rows of each owner, by the text of the owner's id, and whether it has more. Those of one owner are the first of
 * an order, which the database need not read any further. Whether several owners have more is asked only of those that have
 * as many as are shown.
 */
async function readCollection(
  { ofOne, ofEach, ownerOf }: CollectionReader,
  keys: readonly (RowKey | undefined)[],
  { included, parameter }: Pick<CollectionsOf, 'included' | 'parameter'>
): Promise<ReadonlyMap<string, { readonly rows: readonly FoundRow[]; readonly hasMore: boolean }>> {
  const found = new Map<string, { readonly key: RowKey; readonly rows: FoundRow[]; hasMore: boolean }>()
  const keep = (row: FoundRow): void => {
    const key = ownerOf(row)
    if (key === undefined) return
    const id = idText(key)
    let owner = found.get(id)
    if (owner === undefined) found.set(id, (owner = { key, rows: [], hasMore: false }))
    // Foreign keys that the database distinguishes may refer to the same owner.
    if (owner.rows.length < MAX_OF_EACH) owner.rows.push(row)
    else owner.hasMore = true
  }
  const parts = chunks(keys)
  for (const some of parts) {
    const [one, ...others] = some
    if (one !== undefined && others.length === 0) {
      const rows = await ofOne(one, Math.min(MAX_OF_EACH + 1, included.limit()))
      included.add(rows.slice(0, MAX_OF_EACH), parameter)
      rows.forEach(keep)
    } else {
      const rows = await ofEach(some, { first: 1, last: MAX_OF_EACH, limit: included.limit() })
      included.add(rows, parameter).forEach(keep)
    }
  }
  if (parts.length === 1 && parts[0]?.length === 1) return found
  const full = [...found.values()].filter(({ rows, hasMore }) => rows.length === MAX_OF_EACH && !hasMore)
  for (const some of chunks(full.map(({ key }) => key))) {
    const next = { first: MAX_OF_EACH + 1, last: MAX_OF_EACH + 1, limit: some.length }
    for (const row of await ofEach(some, next)) keep(row)
  }
  return found
}

/**
 * The rows that a many-to-many navigation leads to from the rows of a page, by the text of these rows' id, each once and in
 * the order of the navigation. Each statement joins the link entity with the rows that it leads to.
 */
export async function loadLinked(
  session: ReadSession,
  { statements, dialect }: Source,
  of: CollectionsOf & { readonly owner: KeyedEntity; readonly planned: PlannedManyToMany }
): Promise<{ readonly found: ReadonlyMap<string, Collection<FoundRow>>; readonly keyOf: KeyReaderOf }> {
  const { navigation, projection, scope, within } = of.planned
  const { link, from, to, target } = navigation
  const linked = (column: Column): Path => ({ through: to, column })
  const shown = projection.selected.map((one): Path => {
    if (one.kind === 'rowVersion') return linked(versionAsColumn(target))
    return one.kind === 'joined' ? pathBehind(to, one) : linked(one.column)
  })
  const ownerKey = referencePaths(from, of.owner)
  const key = mapKey(target.key, linked)
  const needed = neededPaths(within?.references).map((path) => pathBehind(to, path))
  const selection: Selection = {
    selected: [...shown, ...ownerKey, ...key, ...needed],
    selectedKey: ['linked', from.name, to.name, projection.key, ...needed.map(pathKey)].join('+'),
    shown: shown.length
  }
  const keyOf: KeyReaderOf = (paths) =>
    keyReader(
      selection,
      mapKey(paths, (path) => pathBehind(to, path))
    )
  if (scope === null) return { found: new Map(), keyOf }
  const sort = [...navigation.sort, ...target.key].map((column) => ({ path: linked(column), descending: false }))
  const read = (owners: readonly RowKey[], cut: 'limit' | 'limit of each', part: Partial<CollectionPart>) => {
    const conditions = [keyIn(from.via, owners, 'refersToIn'), ...scopeConditions(scope)]
    const statement = statements.rows({ entity: link, ...selection, conditions, sort, cut, of: from.via })
    const values = { ...boundValues(conditions, dialect), ...boundPart(part) }
    return session.rows(statement, values, of.included.bytesOf(statement))
  }
  const reader: CollectionReader = {
    ofOne: (owner, limit) => read([owner], 'limit', { limit }),
    ofEach: (owners, part) => read(owners, 'limit of each', part),
    ownerOf: keyReader(selection, ownerKey)
  }
  const targetOf = keyReader(selection, key)
  const found = await readCollection(reader, of.keys, of)
  const linkedRows = mapValues(found, ({ rows, hasMore }) => {
    const byId = new Map<string, FoundRow>()
    for (const row of rows) {
      const id = targetOf(row)
      // Without a foreign key in the database a link may lead to no row.
      if (id !== undefined && !byId.has(idText(id))) byId.set(idText(id), row)
    }
    return { rows: [...byId.values()], truncated: hasMore ? [navigation.name] : [] }
  })
  return { found: linkedRows, keyOf }
}

function boundPart(part: Partial<CollectionPart>): BoundValues {
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, BigInt(value)]))
}

function mapValues<One, Other>(values: ReadonlyMap<string, One>, map: (one: One) => Other): ReadonlyMap<string, Other> {
  return new Map(Array.from(values, ([key, one]) => [key, map(one)]))
}

/** The row version as a column, which joined rows can be asked for. One of the content is an expression in its place. */
function versionAsColumn(target: KeyedEntity): VersionColumn {
  const { versionColumn = '' } = target
  return { name: 'rowVersion', column: versionColumn, field: binary(ROW_VERSION_BYTES), versionOf: target }
}

/**
 * The children of all rows of a page by the text of the row's id, ordered by their own, with the children within them. The
 * number of statements does not depend on that of the rows.
 */
export async function loadChildren(
  session: ReadSession,
  source: Source,
  of: CollectionsOf & { readonly owner: ChildrenOwner; readonly planned: PlannedChildren }
): Promise<ReadonlyMap<string, Collection<LoadedChild>>> {
  const { children: owned, nested, followed = [] } = of.planned
  const { name, columns, key } = owned
  const more = neededPaths(followed).filter(({ through }) => through !== null)
  const reader = childReader(session, source, { owner: of.owner, children: owned, included: of.included, more })
  const found = await readCollection(reader, of.keys, of)
  const behind = of.owner.key.length
  const owners = mapValues(found, ({ rows, hasMore }) => ({
    rows: rows.map((row) => new RowBehind(row, behind)),
    hasMore
  }))
  const positions = key.map((column) => columns.indexOf(column))
  const keyOf = (row: FoundRow): RowKey | undefined => keyOfValues(positions.map((at) => row.value(at)))
  const keys = nested.length === 0 ? [] : [...owners.values()].flatMap(({ rows }) => rows.map(keyOf))
  const within: (readonly [string, ReadonlyMap<string, Collection<LoadedChild>>])[] = []
  for (const planned of nested) {
    const { included, parameter } = of
    const loaded = await loadChildren(session, source, { owner: owned, planned, keys, included, parameter })
    within.push([planned.children.name, loaded])
  }
  const all = followed.length === 0 ? [] : [...owners.values()].flatMap(({ rows }) => rows)
  const references: (readonly [string, (row: FoundRow) => LoadedRow | null])[] = []
  for (const planned of followed) {
    const { included } = of
    const keyBehind = keyReader(selectionOfChildren(owned, more), referencePaths(planned.reference, planned.target))
    const loaded = await loadReferenced(session, source, {
      planned,
      keys: all.map(keyBehind),
      included,
      parameter: 'include'
    })
    const shown = planned.projection.selected.length
    references.push([
      planned.reference.name,
      (row) => {
        const referenced = foundBy(loaded.found, keyBehind(row))
        return referenced === undefined ? null : new RowOfPage(referenced, shown)
      }
    ])
  }
  return mapValues(owners, ({ rows, hasMore }) => {
    const truncated = new Set(hasMore ? [name] : [])
    const loaded = rows.map((row) => {
      const id = within.length === 0 ? undefined : keyOf(row)
      const refers = new Map(references.map(([reference, find]) => [reference, find(row)]))
      if (id === undefined) return new Child(row, NOTHING_LOADED, refers)
      const ofRow = within.map(([inner, byOwner]) => [inner, byOwner.get(idText(id))] as const)
      for (const one of ofRow.flatMap(([, collection]) => collection?.truncated ?? [])) truncated.add(`${name}.${one}`)
      return new Child(row, new Map(ofRow.map(([inner, collection]) => [inner, collection?.rows ?? []])), refers)
    })
    return { rows: loaded, truncated: [...truncated] }
  })
}

/** What a child has behind the key of the row that it belongs to. */
function selectionOfChildren(children: Children, more: readonly Path[]): Selection {
  const shown = [...children.columns.map(own), ...(hasRowVersion(children) ? (['rowVersion'] as const) : [])]
  return { selected: [...shown, ...more], selectedKey: '', shown: shown.length }
}

class Child implements LoadedChild {
  readonly stored: FoundRow
  readonly children: LoadedChild['children']
  readonly references: LoadedRow['references']

  constructor(row: FoundRow, children: LoadedChild['children'], references: LoadedRow['references']) {
    this.stored = row
    this.children = children
    this.references = references
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

  get bytes(): number {
    return this.#row.bytes
  }

  value(at: number): Value {
    return this.#row.value(this.#first + at)
  }

  write(at: number, out: JsonWriter): void {
    this.#row.write(this.#first + at, out)
  }
}

/** Reads children: the key of the row that they belong to, their columns, and then the row version. */
function childReader(
  session: ReadSession,
  { statements, dialect }: Source,
  {
    owner,
    children,
    included,
    more
  }: Readonly<{
    owner: ChildrenOwner
    children: Children
    included: IncludedRows
    more: readonly Path[]
  }>
): CollectionReader {
  const ownerKey = owner.key.map((_, at) => at)
  const read = (owners: readonly RowKey[], cut: 'limit' | 'limit of each', part: Partial<CollectionPart>) => {
    const conditions = [keyIn(children.foreignKey, owners, 'refersToIn')]
    const statement = statements.children({ owner, children, conditions, cut, more })
    const values = { ...boundValues(conditions, dialect), ...boundPart(part) }
    return session.rows(statement, values, included.bytesOf(statement))
  }
  return {
    ofOne: (one, limit) => read([one], 'limit', { limit }),
    ofEach: (owners, part) => read(owners, 'limit of each', part),
    ownerOf: (row) => keyOfValues(ownerKey.map((at) => row.value(at)))
  }
}
