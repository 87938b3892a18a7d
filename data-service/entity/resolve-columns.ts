import type { Children, Column, Computed, Joined, KeyColumns, NoKey, Reference } from './fields/columns.js'
import type { Field, FieldType, Value } from './fields/field.js'
import { snakeCase, suggestion } from './fields/names.js'
import { hasRowVersion, ROW_VERSION_COLUMN, type VersionedTable } from './fields/row-version.js'
import type { ChildReference, ChildrenDefinition, ResourceChildren, TableChildren, VisibleName } from './fields/rows.js'
import { text } from './fields/words.js'
import { isKey } from './key.js'
import { wordMistakes, definitionWords } from './fields/definition-words.js'
import { childrenWordMistakes } from './known-words.js'

// Makes the columns, joined and computed properties and children of an Entity out of the words of an entity file.

/** The columns with those of the key first, whatever the order in the entity file. */
export function keyedColumns(
  { fields, key: names }: Pick<TableChildren, 'fields' | 'key'>,
  mistakes: string[]
): { readonly key: KeyColumns; readonly columns: readonly Column[] } {
  const columns = Object.entries(fields).map(([name, field]) => columnOf(name, field))
  const id = columns.find(({ name }) => name === 'id')
  if (names === undefined && id !== undefined) {
    return { key: [id], columns: [id, ...columns.filter((one) => one !== id)] }
  }
  if (names === undefined || id !== undefined) {
    mistakes.push('the key is a field `id`, or `key` names several fields and there is no field `id`.')
    const [first = standInColumn('id')] = columns
    return { key: [id ?? first], columns }
  }
  const find = findOrReport(columns, { what: 'a field', place: '`key`', standIn: standInColumn, mistakes })
  const [first, ...others] = names
  const key: KeyColumns = [find(first), ...others.map(find)]
  return {
    key,
    columns: [...key.filter((one) => columns.includes(one)), ...columns.filter((one) => !key.includes(one))]
  }
}

/** The columns of an entity, which may have no key. */
export function columnsWithKey(
  { fields, key }: Pick<TableChildren, 'fields'> & { readonly key?: TableChildren['key'] | 'none' },
  mistakes: string[]
): { readonly key: KeyColumns | NoKey; readonly columns: readonly Column[] } {
  if (key !== 'none') return keyedColumns({ fields, ...(key === undefined ? {} : { key }) }, mistakes)
  if (Object.hasOwn(fields, 'id'))
    mistakes.push("`id` names a row, and `key: 'none'` says that nothing does: name the field otherwise.")
  return { key: NO_KEY, columns: Object.entries(fields).map(([name, field]) => columnOf(name, field)) }
}

const NO_KEY: NoKey = [] as const

export function columnOf(name: string, field: Field): Column {
  return { name, column: field.column ?? snakeCase(name), field }
}

/** What the words of an entity file say of row versions. Without a compiler `rowVersion` may be any text. */
export function versionsOf(
  {
    key,
    rowVersion,
    rowVersionColumn = ROW_VERSION_COLUMN
  }: { readonly key?: unknown; readonly rowVersion?: string; readonly rowVersionColumn?: string },
  words: readonly string[],
  mistakes: string[]
): VersionedTable {
  if (rowVersion !== undefined && !words.includes(rowVersion)) {
    mistakes.push(`\`rowVersion\` is ${words.map((word) => `'${word}'`).join(' or ')} where it is said.`)
  }
  if (rowVersion !== undefined || key === 'none') {
    return { versionColumn: undefined, contentVersion: rowVersion === 'content' && key !== 'none' }
  }
  return { versionColumn: rowVersionColumn, contentVersion: false }
}

export interface JoinedDefinition<R> {
  /** A reference, or a path: a reference, then references of the resources that it leads to. */
  readonly through: (keyof R & string) | readonly [keyof R & string, ...string[]]
  readonly property: string
  /** The type of that property, which is only shown here. */
  readonly field: Field<FieldType, false, boolean, 'always' | 'never'>
  /**
   * Callers who set the reference may so read the value of rows that they cannot read by id, or a rule keeps such rows
   * out. Without it the service does not start where some of them may not read each row.
   */
  readonly showsUnseen?: true
}

const JOINED = definitionWords<JoinedDefinition<object>>({
  through: 'text or list',
  property: 'text',
  field: 'object',
  showsUnseen: 'flag'
})

export function joinedOf<R>(
  definitions: Readonly<Record<string, JoinedDefinition<R>>>,
  references: readonly Reference[],
  mistakes: string[]
): Joined[] {
  return Object.entries(definitions).map(([name, definition]) => {
    const { through: path, property, field, showsUnseen = false } = definition
    mistakes.push(...wordMistakes(`joined \`${name}\``, definition, JOINED))
    // An entity file that no compiler has checked may lack them.
    if (property === undefined || field === undefined) {
      mistakes.push(`joined \`${name}\` takes \`through\`, a \`property\` of that resource, and its \`field\`.`)
      return {
        name,
        through: { name: '', to: '', via: [standInColumn('')] },
        further: [],
        property: '',
        field: text(1),
        showsUnseen
      }
    }
    const [through = '', ...further] = typeof path === 'string' ? [path] : path
    const reference = references.find((one) => one.name === through)
    if (reference === undefined) {
      const names = references.map((one) => one.name)
      mistakes.push(`joined \`${name}\` goes through \`${through}\`, no reference.${suggestion(through, names)}`)
    }
    return {
      name,
      through: reference ?? { name: through, to: '', via: [standInColumn(through)] },
      further,
      property,
      field,
      showsUnseen
    }
  })
}

export interface ComputedDefinition<F> {
  readonly type: FieldType
  readonly nullable?: boolean
  readonly from: readonly VisibleName<F>[]
  /** Gets the values of `from`, in order. */
  readonly value: (...values: Value[]) => Value
}

const COMPUTED = definitionWords<ComputedDefinition<object>>({
  type: 'text',
  nullable: 'flag',
  from: 'list',
  value: 'function'
})

export function computedOf<F>(
  definitions: Readonly<Record<string, ComputedDefinition<F>>>,
  { columnIn, mistakes }: Pick<NameResolver, 'columnIn'> & { readonly mistakes: string[] }
): Computed[] {
  return Object.entries(definitions).map(([name, definition]) => {
    const { type, nullable = false, from, value } = definition
    const place = `computed \`${name}\``
    mistakes.push(...wordMistakes(place, definition, COMPUTED))
    return { name, type, nullable, from: from.map(columnIn(place)), value: (values) => value(...values) }
  })
}

/** Rows without a key have no children, which keylessMistakes reports. */
export function childrenOf(
  definitions: Readonly<Record<string, ChildrenDefinition>>,
  rootKey: KeyColumns | NoKey,
  mistakes: string[]
): Children[] {
  if (!isKey(rootKey)) return []
  return Object.entries(definitions).map(([name, definition]) => {
    const own = childrenWordMistakes(definition)
    const children =
      definition.entity === undefined
        ? tableChildren(definition, { name, rootKey }, own)
        : resourceChildren(definition, { name, rootKey }, own)
    mistakes.push(...own.map((mistake) => `children \`${name}\`: ${mistake}`))
    return children
  })
}

const REFERENCE = definitionWords<ChildReference>({ to: 'text', via: 'text or list' })

export function referencesOf(
  definitions: Readonly<Record<string, ChildReference>>,
  { columnIn, mistakes }: Pick<NameResolver, 'columnIn'> & { readonly mistakes: string[] }
): Reference[] {
  return Object.entries(definitions).map(([name, given]) => {
    const place = `reference \`${name}\``
    const wrong = wordMistakes(place, given, REFERENCE)
    mistakes.push(...wrong)
    const { to, via }: Partial<ChildReference> = given
    // An entity file that no compiler has checked may lack them.
    if (typeof to !== 'string' || !(typeof via === 'string' || Array.isArray(via))) {
      if (wrong.length === 0) mistakes.push(`${place} takes \`to\`, a resource, and \`via\`, the field with its id.`)
      return { name, to: '', via: [standInColumn('')] }
    }
    const [first, ...others] = typeof via === 'string' ? [via] : via
    const column = columnIn(place)
    return { name, to, via: [column(first), ...others.map(column)] }
  })
}

interface NamedChildren {
  readonly name: string
  readonly rootKey: KeyColumns
}

function tableChildren(definition: TableChildren, { name, rootKey }: NamedChildren, mistakes: string[]): Children {
  const { table, store = 'primary', references = {}, children: ofThem = {} } = definition
  const { key, columns } = keyedColumns(definition, mistakes)
  const versions = versionsOf(definition, ['none'], mistakes)
  const nested = childrenOf(ofThem, key, mistakes)
  for (const one of nested.filter((child) => child.resource === undefined && child.references.length > 0)) {
    mistakes.push(`\`${one.name}\` have no references: no name of \`include\` reaches those of children of children.`)
  }
  const children = nested.map(onlyRead)
  for (const one of children.filter((child) => child.store !== store)) {
    mistakes.push(`\`${one.name}\` are in the other store; say \`store\` of both alike.`)
  }
  if (store === 'second' && Object.keys(references).length > 0) {
    mistakes.push('children of the second store have no references: they are read after everything else.')
  }
  const columnIn = (place: string): ((column: string) => Column) =>
    findOrReport(columns, { what: 'a field', place, standIn: standInColumn, mistakes })
  return {
    name,
    table,
    resource: undefined,
    foreignKey: foreignKeyOf({ ...definition, columns }, rootKey, mistakes),
    key,
    columns,
    references: referencesOf(references, { columnIn, mistakes }),
    ...versions,
    store,
    rootWrites: store === 'primary' && hasRowVersion(versions) ? 'all' : 'none',
    children
  }
}

/** Children that are the rows of a resource have its columns, and its own children that are in the same store. */
function resourceChildren(
  { entity, foreignKey, writtenBy }: ResourceChildren,
  { name, rootKey }: NamedChildren,
  mistakes: string[]
): Children {
  const { columns, references, table, key, versionColumn, contentVersion, hooks, overrides } = entity
  if (!isKey(key)) {
    mistakes.push(`\`${entity.name}\` has no key, by which its rows could be children.`)
    return { ...standInChildren(name), columns }
  }
  const known = columns.map((one) => one.name)
  for (const property of [foreignKey].flat()) {
    if (known.includes(property)) continue
    const near = suggestion(property, known)
    mistakes.push(`foreignKey names \`${property}\`, which is no field of \`${entity.name}\`.${near}`)
  }
  if (contentVersion && writtenBy === 'root') {
    mistakes.push(
      `\`writtenBy: 'root'\` is for rows with a version of their own: \`${entity.name}\` says rowVersion: 'content'.`
    )
  }
  // A row that is brought along passes neither of them.
  const created = hooks.all.length === 0 && overrides.create === undefined ? 'create' : 'none'
  return {
    name,
    table,
    resource: entity.name,
    foreignKey: foreignKeyOf({ foreignKey, columns }, rootKey, mistakes),
    key,
    columns,
    references,
    versionColumn,
    contentVersion,
    store: 'primary',
    rootWrites: !hasRowVersion(entity) ? 'none' : writtenBy === 'root' ? 'all' : created,
    children: entity.children.filter(({ store }) => store === 'primary').map(onlyRead)
  }
}

/** Children of children. Names of `include` have two levels, and so reach none of their references. */
function onlyRead(children: Children): Children {
  return { ...children, rootWrites: 'none', references: [] }
}

/** The columns that hold the root's key, of the types that it has. A property of the child in such a column is that column. */
function foreignKeyOf(
  {
    foreignKey,
    foreignKeyColumn,
    columns: own
  }: Pick<TableChildren, 'foreignKey' | 'foreignKeyColumn'> & { readonly columns: readonly Column[] },
  rootKey: KeyColumns,
  mistakes: string[]
): KeyColumns {
  const properties = typeof foreignKey === 'string' ? [foreignKey] : foreignKey
  const columns = typeof foreignKeyColumn === 'string' ? [foreignKeyColumn] : (foreignKeyColumn ?? [])
  if (properties.length !== rootKey.length) {
    mistakes.push(`its foreign key has ${properties.length} columns, and the key of the root has ${rootKey.length}.`)
  }
  const at = (rootColumn: Column, index: number): Column => {
    const name = properties[index] ?? rootColumn.name
    const column = columns[index] ?? own.find((one) => one.name === name)?.column ?? snakeCase(name)
    return { name, column, field: { ...rootColumn.field, nullable: false } }
  }
  const [first, ...others] = rootKey
  return [at(first, 0), ...others.map((one, index) => at(one, index + 1))]
}

/** Finds what a name of the entity file stands for, and notes a mistake for an unknown name. */
export interface NameResolver {
  /** `place` is the word of the entity file that has the name: a mistake begins with it. */
  readonly columnIn: (place: string) => (name: string) => Column
  readonly children: (name: string) => Children
}

/** Finds by name. For an unknown name it notes a mistake and answers a stand-in. */
export function findOrReport<One extends { readonly name: string }>(
  all: readonly One[],
  otherwise: {
    readonly what: string
    readonly place?: string
    readonly standIn: (name: string) => One
    readonly mistakes: string[]
  }
): (name: string) => One {
  return (name) => {
    const found = all.find((one) => one.name === name)
    if (found !== undefined) return found
    const names = all.map((one) => one.name)
    const place = otherwise.place === undefined ? '' : `${otherwise.place}: `
    otherwise.mistakes.push(`${place}\`${name}\` is not ${otherwise.what}.${suggestion(name, names)}`)
    return otherwise.standIn(name)
  }
}

/** Takes the place of a column that does not exist; checkCatalogue reports the mistake. */
export function standInColumn(name: string): Column {
  return columnOf(name, text(1))
}

export function standInChildren(name: string): Children {
  const id = standInColumn('id')
  return {
    name,
    table: '',
    resource: undefined,
    foreignKey: [id],
    key: [id],
    columns: [],
    references: [],
    versionColumn: undefined,
    contentVersion: false,
    store: 'primary',
    rootWrites: 'none',
    children: []
  }
}
