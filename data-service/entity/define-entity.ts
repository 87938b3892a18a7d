import { StartError } from '../../shared/start-error.js'
import type { OwnerFilterDefinition, ReadsDefinition, WritesDefinition } from './access.js'
import type { DefineAction, UntypedAction, UpdateRule } from './action.js'
import type { CreationDefinition, DeletionDefinition } from './creates-and-deletes.js'
import type { CustomReads } from './custom-read.js'
import type { Column, DefinedEntity, Entity } from './entity.js'
import type { ComparableType, FieldType } from './fields/field.js'
import { snakeCase } from './fields/names.js'
import { type OperatorOf, operatorsOf } from './fields/operators.js'
import {
  type ChildrenDefinition,
  type Fields,
  type KeyDefinition,
  type KeyType,
  type LabelName,
  type NameOfType,
  OF_NAMED_ROWS,
  type OfNamedRows,
  type OpenNameOfType,
  type ToldForeignKeys,
  type TypeOf,
  type VisibleName
} from './fields/rows.js'
import { compileHooks, type HookWords, resolveHooks, type UntypedHook } from './hooks.js'
import { definitionWords, unknownWords, wordMistakes, wrongKinds, wrongValues } from './fields/definition-words.js'
import { entityWordMistakes, hookWordMistakes, overrideMistakes } from './known-words.js'
import type { Overrides, WriteOperation } from './operations.js'
import {
  childrenOf,
  type ComputedDefinition,
  computedOf,
  findOrReport,
  type JoinedDefinition,
  joinedOf,
  columnsWithKey,
  referencesOf,
  standInChildren,
  standInColumn,
  versionsOf
} from './resolve-columns.js'
import { resolveFilter, resolveReads, resolveWrites, type UntypedReads, type UntypedWrites } from './resolve-routes.js'
import { type RowsWords, rowsWords } from './row-predicate.js'
import { resolveTotals, type TotalsDefinition } from './totals.js'

interface ReferenceDefinition<F> {
  readonly to: string
  /** The field that holds the id of the other row; several, in the order of its key, for a composite key. */
  readonly via: ReferenceName<F> | readonly [ReferenceName<F>, ...ReferenceName<F>[]]
}

type ReferenceName<F> = NameOfType<F, KeyType>

interface ManyToManyDefinition {
  /** The link entity: a resource whose rows refer to two rows each. */
  readonly through: string
  /** Its reference that leads to this entity. */
  readonly from: string
  /** Its reference that leads to the rows that are shown. */
  readonly to: string
  /** Properties of these rows by which they are ordered, ascending; by their id without it. */
  readonly sort?: readonly string[]
}

/** Properties whose words a full-text index holds. */
interface FullText<Name extends string> {
  readonly fullText: readonly Name[]
}

/**
 * `searchable` by a full-text index: on MySQL and MariaDB `search` finds words by their beginnings. Other databases look for
 * parts of texts.
 */
export const fullText = <const Name extends string>(...names: readonly [Name, ...Name[]]): FullText<Name> => ({
  fullText: names
})

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
  /** What the admin calls the rows. Default: the name, in words. */
  readonly title?: string
  /** The heading under which the menu of the admin has them. */
  readonly group?: string
  /** A sign before the name in that menu, such as an emoji. Default: two letters of the name. */
  readonly icon?: string
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
  /** Text properties that `search` looks into, or `fullText(…)` of them. Without it the resource has no such parameter. */
  readonly searchable?: readonly NameOfType<F, 'string'>[] | FullText<NameOfType<F, 'string'>>
  /** Whether each audit entry keeps what its write changed, which `GET /{resource}/{id}/history` shows (docs/history.md). */
  readonly history?: true
  /** What `GET /{resource}/totals` groups rows by and computes of them. Without it the resource has no totals. */
  readonly totals?: TotalsDefinition<NoInfer<F>>
  /** What lookup shows beside the id, as text: a string, enum, int, long or guid that is never null. Without it the id. */
  readonly label?: LabelName<F>
  readonly references?: R
  /** Rows of other resources by rows of link entities, which `includeChildren` shows. */
  readonly manyToMany?: Readonly<Record<string, ManyToManyDefinition>>
  readonly children?: C & ToldForeignKeys<NoInfer<C>>
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

type AccessDefinition<F> = ReadsDefinition<OpenNameOfType<F, 'int' | 'long'>, F> &
  WritesDefinition<OpenNameOfType<F, 'int' | 'long'>, F> & {
    readonly ownerFilter?: OwnerFilterDefinition<OpenNameOfType<F, 'int' | 'long'>>
  }

/** The words of an entity whose rows have a version. */
type DefinitionWithVersion<F, C> = GuardedWords<F, C> & (VersionInColumn | VersionOfContent)

interface VersionInColumn {
  readonly rowVersion?: never
  /**
   * The column of the row version where it is not `row_version`. It is always 8 bytes, BINARY(8) or a BLOB, which the
   * service advances: a counter or a timestamp that exists could repeat (contract.md section 5).
   */
  readonly rowVersionColumn?: string
}

/**
 * For a table that may not be altered: the version is made of the columns of the row, so that a row which has its former
 * values again has its former version (docs/entity-words.md).
 */
interface VersionOfContent {
  readonly rowVersion: 'content'
  readonly rowVersionColumn?: never
}

interface GuardedWords<F, C> {
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

type AnyDefinition = DefinitionOfAll<Fields, References<Fields>, Readonly<Record<never, never>>, ChildCollections>

const ENTITY = definitionWords<
  Record<keyof AnyDefinition | keyof KeyDefinition<Fields> | keyof DefinitionWithVersion<Fields, object>, unknown>
>({
  name: 'text',
  table: 'text',
  description: 'text',
  title: 'text',
  group: 'text',
  icon: 'text',
  fields: 'object',
  key: 'list or text',
  rowVersion: 'text',
  rowVersionColumn: 'text',
  computed: 'object',
  joined: 'object',
  filterable: 'list',
  operators: 'object',
  sortable: 'list',
  indexes: 'text',
  searchable: 'list or object',
  history: 'flag',
  totals: 'object',
  label: 'text',
  references: 'object',
  manyToMany: 'object',
  children: 'object',
  access: 'object or function',
  writes: 'list',
  creates: 'object',
  updates: 'function',
  deletes: 'object',
  actions: 'function',
  customReads: 'object or function',
  hooks: 'function',
  overrides: 'object'
})

const MANY_TO_MANY = definitionWords<ManyToManyDefinition>({ through: 'text', from: 'text', to: 'text', sort: 'list' })

/**
 * Makes an entity of its definition. checkCatalogue reports the mistakes of all entities at once; a definition that lacks a
 * word which every entity has is a StartError here.
 */
export function defineEntity<
  const F extends Fields,
  const R extends References<F> = Record<never, never>,
  const J extends JoinedProperties<R> = Record<never, never>,
  const C extends ChildCollections = Record<never, never>,
  const K = undefined
>(definition: EntityDefinition<F, R, J, C> & { readonly key?: K }): DefinedEntity<F, K> {
  checkComplete(definition)
  const mistakes = entityWordMistakes(definition, Object.keys(ENTITY))
  const { key, columns } = columnsWithKey(definition, mistakes)
  const children = childrenOf(definition.children ?? {}, key, mistakes)
  const columnIn = (place: string): ((name: string) => Column) =>
    findOrReport(columns, { what: 'a field', place, standIn: standInColumn, mistakes })
  const references = referencesOf(definition.references ?? {}, { columnIn, mistakes })
  const joined = joinedOf(definition.joined ?? {}, references, mistakes)
  // The types of the names hold: functions of the entity file get the rows that its names stand for.
  const access = typeof definition.access === 'function' ? definition.access(rowsWords()) : definition.access
  const resolved = { ...definition, access }
  const reads = resolved as unknown as UntypedReads
  const writing = resolveWrites(resolved as unknown as UntypedWrites, {
    columnIn,
    mistakes,
    children: findOrReport(children, { what: 'a child collection', standIn: standInChildren, mistakes })
  })
  const reading = resolveReads(reads, { columnIn, mistakes })
  const totals = resolveTotals(definition.totals, {
    column: columnIn('`totals`'),
    mistakes
  })
  mistakes.push(...overrideMistakes(definition.overrides ?? {}), ...keylessMistakes(definition))
  const { get, list, paged, totals: ownTotals } = definition.overrides ?? {}
  if (definition.history === true && get !== undefined) {
    mistakes.push('`history` would show what a replaced `get` may not show.')
  }
  if (definition.history === true && (writing.actions.has('create') || writing.actions.has('delete'))) {
    mistakes.push('`history` takes no action `create` or `delete`: it would be taken for that of the row.')
  }
  if (totals !== undefined && (list ?? paged) !== undefined && ownTotals === undefined) {
    mistakes.push(
      '`totals` would count rows that a replaced `list` or `paged` may not show: replace `totals` in overrides too.'
    )
  }
  const { filterable, operators = {} } = definition
  mistakes.push(...unknownWords('operators', operators, filterable), ...wrongValues('operators', operators, 'list'))
  const hooks = resolveHooks((definition as unknown as UntypedHooks).hooks, mistakes)
  mistakes.push(...hooks.flatMap(hookWordMistakes))
  const entity: Entity = {
    name: definition.name,
    table: definition.table ?? snakeCase(definition.name),
    description: definition.description,
    menu: menuOf(definition, mistakes),
    ...versionsOf(definition, ['none', 'content'], mistakes),
    key,
    columns,
    computed: computedOf(definition.computed ?? {}, { columnIn, mistakes }),
    joined,
    filterable: new Map(
      definition.filterable.map((name) => {
        // checkCatalogue reports a name that stands for nothing.
        const { type, custom } = ([...joined, ...columns].find((one) => one.name === name) ?? standInColumn(name)).field
        const narrowed: Readonly<Record<string, readonly OperatorOf<FieldType>[] | undefined>> =
          definition.operators ?? {}
        const all = operatorsOf(type).map(({ word }) => word)
        const ofType = custom?.operators === undefined ? all : all.filter((word) => custom.operators?.includes(word))
        return [name, (Object.hasOwn(narrowed, name) ? narrowed[name] : undefined) ?? ofType]
      })
    ),
    sortable: new Set(definition.sortable),
    indexes: definition.indexes ?? 'advised',
    ...resolveSearchable(definition.searchable, mistakes),
    history: definition.history === true,
    totals,
    label: definition.label === undefined ? undefined : columnIn('`label`')(definition.label),
    references,
    manyToMany: Object.entries(definition.manyToMany ?? {}).map(([name, given]) => {
      const { through, from, to, sort = [] } = given
      mistakes.push(...wordMistakes(`manyToMany \`${name}\``, given, MANY_TO_MANY))
      return { name, through, from, to, sort }
    }),
    children,
    ...reading,
    ...writing,
    // Rules of other entities may create and update rows of an entity that has no such write.
    hooks: compileHooks(hooks, ['create', 'update', 'delete', ...writing.actions.keys()]),
    ownerFilter: resolveFilter(reads, { ...reading, ...writing, totals, key }, { columnIn, mistakes }),
    overrides: definition.overrides ?? {},
    mistakes
  }
  // The types of the definition hold: it has a key, or the word 'none' that makes K.
  return entity as DefinedEntity<F, K>
}

/** What an entity file without a key says of rows that no request can name. */
function keylessMistakes(definition: Partial<Record<OfNamedRows | 'key' | 'overrides', unknown>>): string[] {
  if (definition.key !== 'none') return []
  const { get, lookup } = (definition.overrides ?? {}) as Overrides
  return [
    ...OF_NAMED_ROWS.filter((word) => definition[word] !== undefined).map((word) => `\`${word}\``),
    ...(get === undefined ? [] : ['`overrides.get`']),
    ...(lookup === undefined ? [] : ['`overrides.lookup`'])
  ].map((word) => `${word} is for rows that have a key, and \`key: 'none'\` says that these have none.`)
}

/** What a menu has room for. An emoji may be several characters. */
const MENU_LENGTHS = { title: 64, group: 64, icon: 16 } as const

function menuOf(
  definition: Pick<AnyDefinition, keyof typeof MENU_LENGTHS>,
  mistakes: string[]
): Record<keyof typeof MENU_LENGTHS, string> {
  const { title = '', group = '', icon = '' } = definition
  const menu = { title, group, icon }
  for (const [word, most] of Object.entries(MENU_LENGTHS) as [keyof typeof menu, number][]) {
    if (definition[word] === undefined || typeof menu[word] !== 'string') continue
    menu[word] = menu[word].trim()
    const { length } = menu[word]
    if (length === 0 || length > most) mistakes.push(`\`${word}\` has ${length} characters. It takes 1 to ${most}.`)
  }
  return menu
}

const FULL_TEXT = definitionWords<FullText<string>>({ fullText: 'list' })

function resolveSearchable(
  searchable: readonly string[] | FullText<string> = [],
  mistakes: string[]
): Pick<Entity, 'searchable' | 'fullText'> {
  if (!('fullText' in searchable)) return { searchable: Array.isArray(searchable) ? searchable : [], fullText: false }
  const { fullText: names } = searchable
  mistakes.push(...wordMistakes('searchable', searchable, FULL_TEXT))
  if (!Array.isArray(names) || names.length === 0) mistakes.push('fullText(…) names no property.')
  return { searchable: Array.isArray(names) ? names : [], fullText: true }
}

const NEEDED = ['name', 'description', 'fields', 'filterable', 'sortable', 'access'] as const

/** An application runs without a compiler having seen its files, so words may be missing that the types ask for. */
function checkComplete(definition: { readonly [Word in (typeof NEEDED)[number]]?: unknown }): void {
  const name = typeof definition.name === 'string' ? definition.name : 'an entity without a name'
  const left = NEEDED.filter((word) => definition[word] === undefined)
  const unknown = left.length === 0 ? [] : entityWordMistakes(definition, Object.keys(ENTITY))
  // A word that is misspelt is not missing as well.
  const missing = left
    .filter((word) => !unknown.some((mistake) => mistake.endsWith(`"${word}"?`)))
    .map((word) => `\`${word}\``)
  const mistakes = [
    ...unknown.map((mistake) => `${name}: ${mistake}`),
    ...(missing.length === 0 ? [] : [`${name}: defineEntity takes ${missing.join(', ')} too.`]),
    ...wrongKinds(name, definition, ENTITY)
  ]
  if (mistakes.length === 0) return
  throw new StartError('an entity is not complete.', { mistakes })
}

/** The hooks of an entity file without the types of its names. */
interface UntypedHooks {
  readonly hooks?: Parameters<typeof resolveHooks>[0]
}
