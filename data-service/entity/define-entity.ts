import {
  type OwnerFilterDefinition,
  type ReadAccess,
  type ReadsDefinition,
  resolveOwnerFilter,
  type WriteAccess
} from './access.js'
import {
  type Action,
  type DefineAction,
  defineAction,
  type UntypedAction,
  type GuardedChild,
  type RequiredColumns,
  type UpdateRule
} from './action.js'
import type { Creation, CreationDefinition } from './creation.js'
import {
  type CustomReads,
  type DefineRead,
  defineRead,
  resolveCustomRead,
  type UntypedCustomRead
} from './custom-read.js'
import type { Deletion, DeletionDefinition } from './deletion.js'
import type { Children, Column, Computed, Entity, EntityOf, Joined, KeyColumns, Reference } from './entity.js'
import type {
  ChildrenDefinition,
  Fields,
  KeyDefinition,
  KeyType,
  LabelName,
  NameOfType,
  OpenNameOfType,
  TypeOf,
  VisibleName
} from './fields/rows.js'
import type { Field, ComparableType, FieldType, Value } from './fields/field.js'
import { ROW_VERSION_COLUMN } from './fields/row-version.js'
import { text } from './fields/words.js'
import { compileHooks, type HookWords, resolveHooks, type UntypedHook } from './hooks.js'
import { snakeCase, suggestion } from './fields/names.js'
import { type Overrides, READ_OPERATIONS, type ReadOperation, type WriteOperation } from './operations.js'
import { type OperatorOf, operatorsOf } from './fields/operators.js'
import { type RowsWords, rowsWords } from './row-predicate.js'

interface ReferenceDefinition<F> {
  readonly to: string
  /** The field that holds the id of the other row; several, in the order of its key, for a composite key. */
  readonly via: ReferenceName<F> | readonly [ReferenceName<F>, ...ReferenceName<F>[]]
}

type ReferenceName<F> = NameOfType<F, KeyType>

interface JoinedDefinition<R> {
  /** A reference, or a path: a reference, then references of the resources that it leads to. */
  readonly through: (keyof R & string) | readonly [keyof R & string, ...string[]]
  readonly property: string
  readonly field: Field
}

interface ComputedDefinition<F> {
  readonly type: FieldType
  readonly nullable?: boolean
  readonly from: readonly VisibleName<F>[]
  /** Gets the values of `from`, in order. */
  readonly value: (...values: Value[]) => Value
}

type References<F> = Readonly<Record<string, ReferenceDefinition<F>>>
type JoinedProperties<R> = Readonly<Record<string, JoinedDefinition<R>>>
type ChildCollections = Readonly<Record<string, ChildrenDefinition>>

/** An entity file (docs/adding-an-entity.md). `F` are its fields, `R` references, `J` joined, `C` children. */
type EntityDefinition<
  F extends Fields,
  R extends References<F>,
  J extends JoinedProperties<R>,
  C extends ChildCollections
> = DefinitionOfAll<F, R, J, C> &
  KeyDefinition<NoInfer<F>> &
  (DefinitionWithVersion<NoInfer<F>, NoInfer<C>> | DefinitionWithoutVersion)

interface DefinitionOfAll<
  F extends Fields,
  R extends References<F>,
  J extends JoinedProperties<R>,
  C extends ChildCollections
> {
  /** Route segment, kebab-case plural. */
  readonly name: string
  /** Default: the name in snake_case. */
  readonly table?: string
  readonly description: string
  readonly fields: F
  readonly computed?: Readonly<Record<string, ComputedDefinition<F>>>
  readonly joined?: J
  /** Properties that `filters[…]` takes, with all operators of their type unless `operators` names fewer. */
  readonly filterable: readonly (VisibleName<F> | (keyof NoInfer<J> & string))[]
  readonly operators?: { readonly [K in VisibleName<F>]?: readonly OperatorOf<TypeOf<F, K>>[] }
  /** Properties that `sortColumn` takes. Without an index each such read sorts all rows; start-up names the missing ones. */
  readonly sortable: readonly (NameOfType<F, ComparableType> | (keyof NoInfer<J> & string))[]
  /** `required`: the service does not start if what is sortable lacks an index. Without it the start names what is missing. */
  readonly indexes?: 'required'
  /** Text properties that `search` looks into. Without it the resource has no such parameter. */
  readonly searchable?: readonly NameOfType<F, 'string'>[]
  /** What lookup shows beside the id, as text: a string, int, long or guid that is never null. */
  readonly label: LabelName<F>
  readonly references?: R
  readonly children?: C
  /** A function, `({ rows }) => ({ read: rows(…) })`, for row scopes by a predicate. */
  readonly access: AccessDefinition<F> | ((words: RowsWords<NoInfer<F>>) => AccessDefinition<NoInfer<F>>)
  readonly creates?: CreationDefinition<NoInfer<F>, NoInfer<C>>
  /** When rows may be deleted; in any state without it. */
  readonly deletes?: DeletionDefinition<NoInfer<F>, NoInfer<C>>
  /** Custom reads, `GET /{resource}/{name}`. A function, `(read) => ({ … })`, for those that take parameters. */
  readonly customReads?: CustomReads<NoInfer<F>>
  /** What runs with each write of a row before its COMMIT, and the events that a write emits (docs/hooks.md). */
  readonly hooks?: (words: HookWords<NoInfer<F>>) => readonly UntypedHook[]
  /** Functions in place of single reads and writes. */
  readonly overrides?: Overrides
}

type AccessDefinition<F> = ReadsDefinition<OpenNameOfType<F, 'int' | 'long'>, F> & {
  /** Needed with `writes` or `actions`. */
  readonly write?: WriteAccess<OpenNameOfType<F, 'int' | 'long'>>
  readonly ownerFilter?: OwnerFilterDefinition<OpenNameOfType<F, 'int' | 'long'>>
}

/** The words of an entity whose rows have a version. */
interface DefinitionWithVersion<F, C> {
  readonly rowVersion?: never
  /**
   * The column of the row version where it is not `row_version`. It is always 8 bytes, BINARY(8) or a BLOB, which the
   * service advances: a counter or a timestamp that exists could repeat (contract.md section 5).
   */
  readonly rowVersionColumn?: string
  /** Which of create, update and delete it has; none without it. */
  readonly writes?: readonly WriteOperation[]
  /** What a PUT or PATCH rejects, or sets besides the members of the body. */
  readonly updates?: UpdateRule<F, C>
  readonly actions?: (action: DefineAction<F, C>) => Readonly<Record<string, UntypedAction>>
}

/**
 * The words of an entity whose rows have no version: no `rowVersion` in the DTO and no `ETag`, and so no guarded write,
 * which are the update and all actions (source.md, reads, rule 9).
 */
interface DefinitionWithoutVersion {
  readonly rowVersion: 'none'
  readonly rowVersionColumn?: never
  readonly writes?: readonly Exclude<WriteOperation, 'update'>[]
  readonly updates?: never
  readonly actions?: never
}

/** Makes an entity of its definition. It never throws: checkCatalogue reports the mistakes of all entities at once. */
export function defineEntity<
  const F extends Fields,
  const R extends References<F> = Record<never, never>,
  const J extends JoinedProperties<R> = Record<never, never>,
  const C extends ChildCollections = Record<never, never>
>(definition: EntityDefinition<F, R, J, C>): EntityOf<F> {
  const mistakes: string[] = []
  const { key, columns } = keyedColumns(definition, mistakes)
  const children = childrenOf(definition.children ?? {}, key, mistakes)
  const column = findOrReport(columns, { what: 'a field', standIn: standInColumn, mistakes })
  const references = Object.entries(definition.references ?? {}).map(([name, { to, via }]): Reference => {
    const [first, ...others] = typeof via === 'string' ? [via] : via
    return { name, to, via: [column(first), ...others.map(column)] }
  })
  const joined = joinedOf(definition.joined ?? {}, references, mistakes)
  // The types of the names hold: functions of the entity file get the rows that its names stand for.
  const access = typeof definition.access === 'function' ? definition.access(rowsWords()) : definition.access
  const resolved = { ...definition, access }
  const reads = resolved as unknown as UntypedReads
  const writing = resolveWrites(resolved as unknown as UntypedWrites, {
    column,
    children: findOrReport(children, { what: 'a child collection', standIn: standInChildren, mistakes })
  })
  const reading = resolveReads(reads, { column })
  const hooks = resolveHooks((definition as unknown as UntypedHooks).hooks)
  return {
    name: definition.name,
    table: definition.table ?? snakeCase(definition.name),
    description: definition.description,
    versionColumn: versionColumnOf(definition),
    key,
    columns,
    computed: computedOf(definition.computed ?? {}, column),
    joined,
    filterable: new Map(
      definition.filterable.map((name) => {
        const { type, custom } = (joined.find((one) => one.name === name) ?? column(name)).field
        const narrowed: Readonly<Record<string, readonly OperatorOf<FieldType>[] | undefined>> =
          definition.operators ?? {}
        const all = operatorsOf(type).map(({ word }) => word)
        const ofType = custom?.operators === undefined ? all : all.filter((word) => custom.operators?.includes(word))
        return [name, narrowed[name] ?? ofType]
      })
    ),
    sortable: new Set(definition.sortable),
    indexes: definition.indexes ?? 'advised',
    searchable: definition.searchable ?? [],
    label: column(definition.label),
    references,
    children,
    ...reading,
    ...writing,
    // Rules of other entities may create and update rows of an entity that has no such write.
    hooks: compileHooks(hooks, ['create', 'update', 'delete', ...writing.actions.keys()]),
    ownerFilter: resolveFilter(reads, { ...reading, ...writing }, { column, mistakes }),
    overrides: definition.overrides ?? {},
    mistakes
  }
}

function versionColumnOf({
  rowVersion,
  rowVersionColumn = ROW_VERSION_COLUMN
}: Pick<ChildrenDefinition, 'rowVersion' | 'rowVersionColumn'>): string | undefined {
  return rowVersion === 'none' ? undefined : rowVersionColumn
}

/** Takes the place of a column that does not exist; checkCatalogue reports the mistake. */
function standInColumn(name: string): Column {
  return columnOf(name, text(1))
}

function standInChildren(name: string): Children {
  const id = standInColumn('id')
  return { name, table: '', foreignKey: [id], key: [id], columns: [], versionColumn: undefined, store: 'primary' }
}

function columnOf(name: string, field: Field): Column {
  return { name, column: field.column ?? snakeCase(name), field }
}

/** The columns with those of the key first, whatever the order in the entity file. */
function keyedColumns(
  { fields, key: names }: Pick<ChildrenDefinition, 'fields' | 'key'>,
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
  const find = findOrReport(columns, { what: 'a field', standIn: standInColumn, mistakes })
  const [first, ...others] = names
  const key: KeyColumns = [find(first), ...others.map(find)]
  return {
    key,
    columns: [...key.filter((one) => columns.includes(one)), ...columns.filter((one) => !key.includes(one))]
  }
}

function joinedOf<R>(
  definitions: Readonly<Record<string, JoinedDefinition<R>>>,
  references: readonly Reference[],
  mistakes: string[]
): Joined[] {
  return Object.entries(definitions).map(([name, { through: path, property, field }]) => {
    // An entity file that no compiler has checked may lack them.
    if (property === undefined || field === undefined) {
      mistakes.push(`joined \`${name}\` takes \`through\`, a \`property\` of that resource, and its \`field\`.`)
      return {
        name,
        through: { name: '', to: '', via: [standInColumn('')] },
        further: [],
        property: '',
        field: text(1)
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
      field
    }
  })
}

function computedOf<F>(
  definitions: Readonly<Record<string, ComputedDefinition<F>>>,
  column: (name: string) => Column
): Computed[] {
  return Object.entries(definitions).map(([name, { type, nullable = false, from, value }]) => ({
    name,
    type,
    nullable,
    from: from.map(column),
    value: (values) => value(...values)
  }))
}

function childrenOf(
  definitions: Readonly<Record<string, ChildrenDefinition>>,
  rootKey: KeyColumns,
  mistakes: string[]
): Children[] {
  return Object.entries(definitions).map(([name, definition]) => {
    const { table, store = 'primary' } = definition
    const own: string[] = []
    const foreignKey = foreignKeyOf(definition, rootKey, own)
    const { key, columns } = keyedColumns(definition, own)
    mistakes.push(...own.map((mistake) => `children \`${name}\`: ${mistake}`))
    return { name, table, foreignKey, key, columns, versionColumn: versionColumnOf(definition), store }
  })
}

/** The columns that hold the root's key, of the types that it has. A property of the child in such a column is that column. */
function foreignKeyOf(
  { foreignKey, foreignKeyColumn, fields }: ChildrenDefinition,
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
    const column = columns[index] ?? fields[name]?.column ?? snakeCase(name)
    return { name, column, field: { ...rootColumn.field, nullable: false } }
  }
  const [first, ...others] = rootKey
  return [at(first, 0), ...others.map((one, index) => at(one, index + 1))]
}

/** The reads of an entity file without the types of its names. */
interface UntypedReads {
  readonly access: {
    readonly read?: ReadAccess
    readonly reads?: Readonly<Partial<Record<ReadOperation, ReadAccess>>>
    readonly ownerFilter?: OwnerFilterDefinition
  }
  readonly customReads?:
    | Readonly<Record<string, UntypedCustomRead>>
    | ((read: DefineRead<object>) => Readonly<Record<string, UntypedCustomRead>>)
}

function resolveReads(
  { access, customReads = {} }: UntypedReads,
  { column }: Pick<NameResolver, 'column'>
): Pick<Entity, 'access' | 'customReads'> {
  const { reads = {} } = access
  const read = access.read ?? reads.export
  // An entity file that bypasses its types may lack every access; checkCatalogue reports that.
  const every = Object.fromEntries(
    READ_OPERATIONS.map((operation) => [operation, reads[operation] ?? read])
  ) as Entity['access']
  const definitions = Object.entries(typeof customReads === 'function' ? customReads(defineRead) : customReads)
  return {
    access: every,
    customReads: new Map(
      definitions.map(([name, definition]) => [
        name,
        resolveCustomRead(name, definition, { listAccess: every.list, column, columnOf })
      ])
    )
  }
}

/** The owner filter of an entity file, over the routes that the resource has. */
function resolveFilter(
  { access: { ownerFilter } }: UntypedReads,
  of: Pick<Entity, 'customReads' | 'writes' | 'actions'>,
  { column, mistakes }: Pick<NameResolver, 'column'> & { readonly mistakes: string[] }
): Entity['ownerFilter'] {
  if (ownerFilter === undefined) return undefined
  const routes = routeNames(of)
  const route = findOrReport(
    routes.map((name) => ({ name })),
    { what: 'a route of the resource', standIn: (name) => ({ name }), mistakes }
  )
  return resolveOwnerFilter(ownerFilter, routes, { column, route: (name) => void route(name), mistakes })
}

/** Every route of a resource by name. */
export function routeNames({
  customReads,
  writes,
  actions
}: Pick<Entity, 'customReads' | 'writes' | 'actions'>): string[] {
  return [...READ_OPERATIONS, ...customReads.keys(), ...writes, ...actions.keys()]
}

/** The hooks of an entity file without the types of its names. */
interface UntypedHooks {
  readonly hooks?: Parameters<typeof resolveHooks>[0]
}

/** The writes of an entity file without the types of its names. */
interface UntypedWrites {
  readonly access: { readonly write?: WriteAccess }
  readonly writes?: readonly WriteOperation[]
  readonly creates?: {
    readonly children?: Readonly<Record<string, { readonly min: number } | undefined>>
    readonly prepare?: Creation['prepare']
  }
  readonly deletes?: { readonly when?: UntypedAction['when']; readonly rule?: Deletion['rule'] }
  readonly updates?: Entity['updateRule']
  readonly actions?: (
    action: ReturnType<typeof defineAction<object, object>>
  ) => Readonly<Record<string, UntypedAction>>
}

/** Finds what a name of the entity file stands for, and notes a mistake for an unknown name. */
interface NameResolver {
  readonly column: (name: string) => Column
  readonly children: (name: string) => Children
}

function resolveWrites(
  { access, writes = [], creates = {}, deletes = {}, updates, actions }: UntypedWrites,
  names: NameResolver
): Pick<Entity, 'writes' | 'writeAccess' | 'creation' | 'deletion' | 'updateRule' | 'actions'> {
  const definitions = Object.entries(actions?.(defineAction()) ?? {})
  return {
    writes: new Set(writes),
    writeAccess: access.write,
    creation: {
      children: Object.entries(creates.children ?? {}).map(([name, limits]) => ({
        children: names.children(name),
        min: limits?.min ?? 0
      })),
      prepare: creates.prepare
    },
    deletion: { required: requiredColumns(deletes.when, names), rule: deletes.rule },
    updateRule: updates,
    actions: new Map(definitions.map(([name, definition]) => [name, resolveAction(name, definition, names)]))
  }
}

function requiredColumns(when: UntypedAction['when'] = {}, names: NameResolver): RequiredColumns {
  return Object.entries(when).map(([name, anyOf = []]) => ({ column: names.column(name), anyOf }))
}

function resolveAction(name: string, definition: UntypedAction, names: NameResolver): Action {
  const { description, permission, when, input = {}, child, loads = [], change, effect = {} } = definition
  const members = Object.entries(input).map(([name, field]) => columnOf(name, field))
  const guardedChild: GuardedChild | undefined = child && {
    children: names.children(child.children),
    idMember: child.id,
    versionMember: child.version
  }
  const parts = {
    name,
    description,
    permission,
    required: requiredColumns(when, names),
    input: members,
    guardedChild,
    loads: loads.map(names.children)
  }
  if (change !== undefined) return { ...parts, change }
  return { ...parts, change, effect: typeof effect === 'function' ? effect : () => effect }
}

/** Finds by name. For an unknown name it notes a mistake and answers a stand-in. */
function findOrReport<One extends { readonly name: string }>(
  all: readonly One[],
  otherwise: { readonly what: string; readonly standIn: (name: string) => One; readonly mistakes: string[] }
): (name: string) => One {
  return (name) => {
    const found = all.find((one) => one.name === name)
    if (found !== undefined) return found
    const names = all.map((one) => one.name)
    otherwise.mistakes.push(`\`${name}\` is not ${otherwise.what}.${suggestion(name, names)}`)
    return otherwise.standIn(name)
  }
}
