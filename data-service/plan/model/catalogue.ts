import { hasRowVersion } from '../../entity/fields/row-version.js'
import { DomainError } from '../../../shared/errors.js'
import type { Caller } from '../../entity/caller.js'
import {
  type Children,
  type Column,
  type Entity,
  type Joined,
  type KeyedEntity,
  type ManyToMany,
  tellingColumns
} from '../../entity/entity.js'
import { isComposite, isKeyed } from '../../entity/key.js'
import type { Field, FieldType } from '../../entity/fields/field.js'
import type { Permission } from '../../entity/fields/names.js'
import type { OperatorOf } from '../../entity/fields/operators.js'
import type { Totals } from '../../entity/totals.js'
import { widthOf } from '../../entity/types/types.js'
import {
  type Join,
  type LinkedRows,
  ownPath,
  type Path,
  type ShapedProperty,
  type ShownChildren,
  type SortKey,
  stepsOf
} from './plans.js'
import { type FieldSets, isLarge, makeProjections, type Projections, propertyName } from './projection.js'

interface Filterable {
  readonly name: string
  readonly path: Path
  readonly field: Field
  readonly operators: readonly OperatorOf<FieldType>[]
}

/**
 * A resource as one caller sees it. Hidden columns, and what takes a permission that the caller does not have, are in
 * none of its members but `entity` and `withheld`, and write-only columns in `settable` besides, so that a request cannot tell them from unknown names. The keys of
 * the maps are names in lower case.
 */
export interface Resource {
  readonly entity: Entity
  /** Columns that the body of a create, and of an update, may set. */
  readonly settable: Readonly<Record<'create' | 'update', readonly Column[]>>
  /** Whether the caller has the permission that it takes to write the column, of the resource or of its children. */
  readonly maySet: (column: Column) => boolean
  readonly properties: ReadonlyMap<string, ShapedProperty>
  readonly filterable: ReadonlyMap<string, Filterable>
  readonly sortable: ReadonlyMap<string, Path>
  /** Where `search` looks, in the order of the entity file; empty for a resource that cannot be searched. */
  readonly searchable: readonly Path[]
  /** Those over columns that the caller may read; undefined for a resource without totals. */
  readonly totals: Totals | undefined
  readonly projections: Projections
  /** DTO names of the properties that other callers see and this one does not. */
  readonly withheld: ReadonlySet<string>
}

/** A resource whose rows have a key: reads by id and writes take no other. */
export interface KeyedResource extends Resource {
  readonly entity: KeyedEntity
}

export interface Catalogue {
  /** The same for every caller. Throws `route.not-found` for a name that no resource has. */
  entity(name: string): Entity
  /** Throws `route.not-found` also for a resource whose rows have no key. */
  keyedEntity(name: string): KeyedEntity
  /** Throws `route.not-found` for a name that no resource has. */
  resource(name: string, caller: Caller): Resource
  /** Throws `route.not-found` also for a resource whose rows have no key. */
  keyedResource(name: string, caller: Caller): KeyedResource
  /** All resources as the caller sees them; for a gateway, with everything but hidden columns. */
  resources(reader: Caller | 'gateway'): readonly Resource[]
}

/** Seconds: whether tables fit is looked at every minute. */
const RETRY_UNFIT = 60

/**
 * Expects entities that passed checkCatalogue (entity/validation/validate.ts). `unfit`: the resources that are out of service
 * at the moment. Looking one up throws `upstream.unavailable`.
 */
export function makeCatalogue(entities: readonly Entity[], unfit: ReadonlyMap<string, string> = new Map()): Catalogue {
  const byName = new Map(entities.map((entity) => [entity.name, entity]))
  const joinedPath = ({ through, further, property }: Joined): { through: Join; column: Column } => {
    let join: Join = through
    for (const step of further) {
      const next = byName.get(join.to)?.references.find(({ name }) => name === step)
      if (next === undefined) throw new TypeError(`${join.to} has no ${step}`)
      join = { ...next, after: join }
    }
    const column = byName.get(join.to)?.columns.find((one) => one.name === property)
    if (column === undefined) throw new TypeError(`${join.to} has no ${property}`)
    return { through: join, column }
  }
  const linkedRows = ({ name, through, from, to, sort }: ManyToMany): LinkedRows => {
    const link = byName.get(through)
    const [back, onward] = [from, to].map((one) => link?.references.find((reference) => reference.name === one))
    const target = onward && byName.get(onward.to)
    if (!link || !isKeyed(link) || back === undefined || onward === undefined || !target || !isKeyed(target)) {
      throw new TypeError(`${name} leads through ${through} to nothing`)
    }
    const columns = sort.flatMap((property) => target.columns.find((one) => one.name === property) ?? [])
    return { name, link, from: back, to: onward, target, sort: columns }
  }
  const resolve = { joinedPath, linkedRows }
  const views = new Map(entities.map((entity) => [entity.name, viewsOf(entity, shapedProperties(entity, resolve))]))
  const find = <One>(all: ReadonlyMap<string, One>, name: string): One => {
    const found = all.get(name)
    if (found === undefined) throw new DomainError('route.not-found', 'There is no such resource.')
    if (unfit.has(name)) {
      throw new DomainError('upstream.unavailable', 'A resource of this request cannot be served at the moment.', {
        retryAfter: RETRY_UNFIT
      })
    }
    return found
  }
  return {
    entity: (name) => find(byName, name),
    keyedEntity: (name) => {
      const entity = find(byName, name)
      if (isKeyed(entity)) return entity
      throw withoutKey()
    },
    resource: (name, caller) => find(views, name)(caller),
    keyedResource: (name, caller) => {
      const resource = find(views, name)(caller)
      if (isKeyedResource(resource)) return resource
      throw withoutKey()
    },
    resources: (reader) => Array.from(views.values(), (view) => view(reader))
  }
}

export function isKeyedResource(resource: Resource): resource is KeyedResource {
  return isKeyed(resource.entity)
}

function withoutKey(): DomainError {
  return new DomainError(
    'route.not-found',
    'The rows of this resource have no key, so that no request names one of them.'
  )
}

/**
 * The properties of a row in the order in which it is served: the id of a composite key, columns, computed, joined, row
 * version, references, rows by links, children.
 */
function shapedProperties(
  entity: Entity,
  resolve: {
    readonly joinedPath: (joined: Joined) => { readonly through: Join; readonly column: Column }
    readonly linkedRows: (navigation: ManyToMany) => LinkedRows
  }
): ShapedProperty[] {
  const { columns, computed, joined, references, manyToMany, children } = entity
  return [
    ...(isKeyed(entity) && isComposite(entity) ? [{ kind: 'id', key: entity.key } as const] : []),
    ...columns.filter(({ field }) => !field.hidden).map((column) => ({ kind: 'column', column }) as const),
    ...computed.map((one) => ({ kind: 'computed', computed: one }) as const),
    ...joined.map((one) => ({ kind: 'joined', joined: one, ...resolve.joinedPath(one) }) as const),
    ...(hasRowVersion(entity) ? [{ kind: 'rowVersion' } as const] : []),
    ...references.map((reference) => ({ kind: 'reference', reference }) as const),
    ...manyToMany.map((one) => ({ kind: 'manyToMany', navigation: resolve.linkedRows(one) }) as const),
    ...children.map((one) => ({ kind: 'children', ...shownChildren(one, ({ field }) => !field.hidden) }) as const)
  ]
}

function shownChildren(children: Children, isShown: (column: Column) => boolean): ShownChildren {
  return {
    children,
    shown: children.columns.filter(isShown),
    nested: children.children
      .filter((one) => tellingColumns(one).every(isShown))
      .map((one) => shownChildren(one, isShown)),
    references: children.references.filter(({ via }) => via.every(isShown))
  }
}

/** The permissions that it takes to read the columns of children, and those of their own children. */
function permissionsOfChildren({ shown, nested }: ShownChildren): Permission[] {
  return [...shown.flatMap(({ field }) => field.readableBy ?? []), ...nested.flatMap(permissionsOfChildren)]
}

/** The permissions that it takes to write some column, of a root or of the children that it is created with. */
function permissionsToWrite({ columns, creation }: Entity): Permission[] {
  const children = creation.children.flatMap((one) => one.children.columns)
  return [...columns, ...children].flatMap(({ field }) => field.writableBy ?? [])
}

/** The permissions that it takes to see a property: those of every column that its value comes from. */
export function permissionsToSee(property: ShapedProperty): readonly Permission[] {
  const sources = (): readonly Field[] => {
    switch (property.kind) {
      case 'column':
        return [property.column.field]
      case 'computed':
        return property.computed.from.map(({ field }) => field)
      case 'joined':
        return [...stepsOf(property.through).flatMap(({ via }) => via), property.joined, property.column].map(
          ({ field }) => field
        )
      case 'reference':
        return property.reference.via.map(({ field }) => field)
      case 'manyToMany':
        return [...property.navigation.from.via, ...property.navigation.to.via].map(({ field }) => field)
      // Its other columns are left out one by one.
      case 'children':
        return tellingColumns(property.children).map(({ field }) => field)
      case 'rowVersion':
      // No column of a key takes one.
      case 'id':
        return []
    }
  }
  return [...new Set(sources().flatMap(({ readableBy }) => readableBy ?? []))]
}

/**
 * The views of an entity: one for each set of its column permissions that a caller holds. Each is made when the first
 * such caller comes and then kept. An entity without column permissions has one view.
 */
function viewsOf(entity: Entity, shaped: readonly ShapedProperty[]): (reader: Caller | 'gateway') => Resource {
  const named = shaped.flatMap((property) => [
    ...permissionsToSee(property),
    ...(property.kind === 'children' ? permissionsOfChildren(property) : [])
  ])
  const permissions = [...new Set([...named, ...permissionsToWrite(entity)])]
  const fieldSets: FieldSets = new Map()
  const viewFor = (held: readonly Permission[]): Resource =>
    makeResource(entity, shaped, { held: new Set(held), fieldSets })
  const whole = viewFor(permissions)
  if (permissions.length === 0) return () => whole
  const views = new Map([[permissions.join(), whole]])
  return (reader) => {
    if (reader === 'gateway') return whole
    const held = reader.kind === 'anonymous' ? [] : permissions.filter((one) => reader.permissions.has(one))
    const key = held.join()
    const known = views.get(key)
    if (known !== undefined) return known
    const view = viewFor(held)
    views.set(key, view)
    return view
  }
}

function makeResource(
  entity: Entity,
  all: readonly ShapedProperty[],
  { held, fieldSets }: { readonly held: ReadonlySet<Permission>; readonly fieldSets: FieldSets }
): Resource {
  const maySee = (property: ShapedProperty): boolean => permissionsToSee(property).every((one) => held.has(one))
  const shaped = all.filter(maySee).map((property) => {
    if (property.kind !== 'children') return property
    const isShown = ({ field: { hidden, readableBy } }: Column): boolean =>
      !hidden && (readableBy === undefined || held.has(readableBy))
    return { ...property, ...shownChildren(property.children, isShown) }
  })
  const columns = [
    ...shaped.flatMap((property) => (property.kind === 'column' ? [property.column] : [])),
    ...entity.columns.filter(isWriteOnly)
  ]
  const maySet = ({ field: { writableBy } }: Column): boolean => writableBy === undefined || held.has(writableBy)
  const settable = columns.filter((column) => isSettable(column) && maySet(column))
  return {
    entity,
    settable: { create: settable, update: settable.filter(isChangeable) },
    maySet,
    properties: new Map(shaped.map((property) => [propertyName(property).toLowerCase(), property])),
    ...queryableProperties(entity, shaped),
    totals:
      entity.totals &&
      totalsOver(
        columns.filter(({ field }) => !field.hidden),
        entity.totals
      ),
    projections: makeProjections({ key: entity.key, shaped, fieldSets }),
    withheld: new Set(all.filter((property) => !maySee(property)).map(propertyName))
  }
}

/** What of totals is over these columns alone. */
function totalsOver(columns: readonly Column[], { dimensions, measures }: Totals): Totals {
  const isOver = ({ column }: { readonly column?: Column }): boolean => column === undefined || columns.includes(column)
  return { dimensions: dimensions.filter(isOver), measures: measures.filter(isOver) }
}

/** Whether some request may set the column, of a root or of a child: an `id` only where it says so. */
export function isSettable({ name, field }: Column): boolean {
  return field.writability === 'onCreate' || (name !== 'id' && field.writability === 'always')
}

/** Whether bodies of requests have the column, and nothing else. */
export function isWriteOnly(column: Column): boolean {
  return column.field.hidden && isSettable(column)
}

/** The children that a new row may bring along, without those whose foreign key the caller may not see. */
export function creatableChildren({ entity, properties }: Resource): Entity['creation']['children'] {
  return entity.creation.children.filter(({ children }) => properties.has(children.name.toLowerCase()))
}

/** `isSettable` of a child, whose root sets the columns that hold its key. */
export function isSettableOfChild(column: Column, { foreignKey }: Pick<Children, 'foreignKey'>): boolean {
  return isSettable(column) && !foreignKey.some((one) => one.column === column.column)
}

/** Whether an update sets the column. */
export function isChangeable({ name, field }: Column): boolean {
  return name !== 'id' && field.writability === 'always'
}

/**
 * Whether each row has a value in the column that no other row has, so that the value names the row. A key of one column is
 * named by its id.
 */
export function isUnique(column: Column, { key }: Pick<Entity, 'key'>): boolean {
  const isId = key.length === 1 && key[0] === column
  return key.length > 0 && column.field.unique && !column.field.nullable && !isId
}

/** The column of a property whose values name rows. Throws `route.not-found` for any other name. */
export function uniqueColumn({ entity, filterable }: Resource, property: string): Column {
  const path = filterable.get(property.toLowerCase())?.path
  if (path === undefined || path.through !== null || !isUnique(path.column, entity)) {
    throw new DomainError('route.not-found', 'No unique property has this name.')
  }
  return path.column
}

/** The order by key. */
export function keyOrder(entity: Pick<Entity, 'key'>): readonly SortKey[] {
  return entity.key.map((column) => ({ path: ownPath(column), descending: false }))
}

/**
 * A total order: the columns of the key that the order does not name follow, in the direction of its last column, so that
 * one index serves an order and its reverse. What stands behind a whole key decides nothing and is left out.
 */
export function totalOrder(sort: readonly SortKey[], { key }: Pick<Entity, 'key'>): readonly SortKey[] {
  const isIn = (keys: readonly SortKey[], column: Column): boolean =>
    keys.some(({ path }) => path.through === null && path.column === column)
  const descending = sort.at(-1)?.descending ?? false
  const rest = key.filter((column) => !isIn(sort, column))
  const whole = [...sort, ...rest.map((column) => ({ path: ownPath(column), descending }))]
  const end = whole.findIndex((_, index) => key.every((column) => isIn(whole.slice(0, index + 1), column)))
  return whole.slice(0, end + 1)
}

/**
 * Bytes of an order without a key that texts and bytes have as they are. A server sorts with a buffer of fifteen of its longest
 * keys, 256 KiB by default: a digest, of 16 bytes, stands for each further one.
 */
const SORTED_AS_THEY_ARE = 4096

/** Types whose values have as many bytes as their column says, or as many as they like. */
const OF_ANY_LENGTH: ReadonlySet<FieldType> = new Set(['string', 'enum', 'json', 'binary', 'base64url'])

const ordersOfAll = new WeakMap<Resource, readonly Path[]>()

/** All columns that the caller sees, texts by their exact characters, large ones last. */
function pathsOfAll(resource: Resource): readonly Path[] {
  const known = ordersOfAll.get(resource)
  if (known !== undefined) return known
  const columns = [...resource.properties.values()].flatMap((one) => (one.kind === 'column' ? [one.column] : []))
  let bytes = 0
  const paths = columns
    .toSorted((one, other) => Number(isLarge(one)) - Number(isLarge(other)))
    .map((column): Path => {
      const { type } = column.field
      if (!OF_ANY_LENGTH.has(type)) return ownPath(column)
      bytes += 4 * widthOf(column.field)
      return {
        ...ownPath(column),
        // A server does not order JSON values.
        ...(type === 'string' || type === 'json' ? { exact: true } : {}),
        ...(bytes > SORTED_AS_THEY_ARE ? { digest: true } : {})
      }
    })
  ordersOfAll.set(resource, paths)
  return paths
}

/**
 * The total order of what a caller sees. Rows without a key follow one another by all columns that the caller sees: two rows
 * that are alike in all of them can stand for each other.
 */
export function orderOfAll(sort: readonly SortKey[], resource: Resource): readonly SortKey[] {
  if (isKeyed(resource.entity)) return totalOrder(sort, resource.entity)
  const named = new Set(
    sort.flatMap(({ path }): (Path | Column)[] => (path.through === null ? [path, path.column] : []))
  )
  const descending = sort.at(-1)?.descending ?? false
  const rest = pathsOfAll(resource).filter((path) => !named.has(path.exact === true ? path : path.column))
  return [...sort, ...rest.map((path) => ({ path, descending }))]
}

function queryableProperties(
  entity: Entity,
  shaped: readonly ShapedProperty[]
): Pick<Resource, 'filterable' | 'sortable' | 'searchable'> {
  const named = shaped.flatMap((property): Omit<Filterable, 'operators'>[] => {
    if (property.kind === 'column') {
      const { column } = property
      return [{ name: column.name, path: { through: null, column }, field: column.field }]
    }
    if (property.kind !== 'joined') return []
    const { joined, through, column } = property
    return [{ name: joined.name, path: { through, column }, field: joined.field }]
  })
  return {
    filterable: new Map(
      named.flatMap((one) => {
        const operators = entity.filterable.get(one.name)
        return operators === undefined ? [] : [[one.name.toLowerCase(), { ...one, operators }]]
      })
    ),
    sortable: new Map(
      named.filter(({ name }) => entity.sortable.has(name)).map(({ name, path }) => [name.toLowerCase(), path])
    ),
    searchable: entity.searchable.flatMap((name) => named.find((one) => one.name === name)?.path ?? [])
  }
}
