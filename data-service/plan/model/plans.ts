import type {
  Children,
  Column,
  Computed,
  Entity,
  Joined,
  KeyColumns,
  KeyedEntity,
  Reference
} from '../../entity/entity.js'
import type { RowKey } from '../../entity/key.js'
import type { Field, Operand, Value } from '../../entity/fields/field.js'
import type { RowVersion } from '../../entity/fields/row-version.js'
import type { Dimension, Measure } from '../../entity/totals.js'
import type { Compared } from '../../entity/fields/operators.js'

/** A column of the row itself, or of a row that references lead to. */
export interface Path {
  readonly through: Join | null
  readonly column: Column
  /** Text is compared by its exact characters, as row scopes are, and not by the rules of filters. */
  readonly exact?: true
  /** The order is that of a digest of the value. It means nothing, and only keeps different values apart. */
  readonly digest?: true
}

/** A column of the row itself. */
export function ownPath(column: Column): Path {
  return { through: null, column }
}

/** A reference that is followed from the row itself, or from the row that `after` leads to. */
export interface Join extends Reference {
  readonly after?: Join
}

/** A path of the row that `base` leads to, as a path of the row that `base` begins at. */
export function pathBehind(base: Join, { through, ...path }: Path): Path {
  const behind = ({ after, ...step }: Join): Join => ({ ...step, after: after === undefined ? base : behind(after) })
  return { ...path, through: through === null ? base : behind(through) }
}

/** A condition of the row that `base` leads to, as a condition of the row that `base` begins at. */
function conditionBehind(base: Join, condition: Condition): Condition {
  const all = ([first, ...others]: readonly [Condition, ...Condition[]]): [Condition, ...Condition[]] => [
    conditionBehind(base, first),
    ...others.map((one) => conditionBehind(base, one))
  ]
  if ('anyOf' in condition) return { anyOf: all(condition.anyOf) }
  if ('allOf' in condition) return { allOf: all(condition.allOf) }
  return { ...condition, path: pathBehind(base, condition.path) }
}

/** The references of a join, the first one from the row itself. */
export function stepsOf(join: Join): readonly Reference[] {
  return join.after === undefined ? [join] : [...stepsOf(join.after), join]
}

/** A comparison of one column. Client filters, ids and the scope of an owner are of this type. */
export type ColumnCondition = (Compared | WordBeginning) & { readonly path: Path }

/** A word of the text begins with the operand. Only searches have it, on databases with full-text indexes. */
interface WordBeginning {
  readonly comparison: 'beginsWord'
  readonly operands: readonly [string]
}

/** The rows with this value. Text is compared by the rules of filters, which are those of unique indexes. */
export function valueIs(column: Column, value: Operand): ColumnCondition {
  return { path: ownPath(column), comparison: 'equals', operands: [value] }
}

/** A condition that rows meet: a comparison, or several conditions joined by OR or by AND. */
export type Condition =
  | ColumnCondition
  | { readonly anyOf: readonly [Condition, ...Condition[]] }
  | { readonly allOf: readonly [Condition, ...Condition[]] }

export interface SortKey {
  readonly path: Path
  readonly descending: boolean
}

/** A place in an order of rows: the sort keys of a row, which hold its key. */
export interface Position {
  readonly keys: readonly (Operand | null)[]
  /** Whether a read from here shows the row itself, if it is still there. */
  readonly includesRow: boolean
}

/**
 * Where a page begins. `offset`: rows before it, at most 2^53-1: no table has so many. With a position the page has the
 * rows that follow or precede it, in the order of the plan.
 */
export type PageStart =
  | { readonly kind: 'offset'; readonly offset: number }
  | { readonly kind: 'after' | 'before'; readonly position: Position }

/**
 * The rows that a caller may see or write: all of them, which has to be spelled out, or those that meet every condition.
 * An empty scope, which could be taken for either, does not exist.
 */
export type RowScope = AllRows | RowsWhere

interface AllRows {
  readonly kind: 'all-rows'
}

interface RowsWhere {
  readonly kind: 'rows-where'
  readonly conditions: readonly [Condition, ...Condition[]]
}

export const allRows: AllRows = { kind: 'all-rows' }

declare const scoped: unique symbol

/**
 * The rows that a write may reach. Only plan/authorize.ts makes one, and no plan of a write does without. A scope of all
 * rows has to be spelled out here too.
 */
export interface WriteScope {
  readonly [scoped]: true
  /** The row as it is: part of the match condition of the UPDATE or DELETE. */
  readonly before: RowScope
  /** The row as it will be: it is read within this before the COMMIT. */
  readonly after: RowScope
  /** Those of them that the caller could read: of any other the answer shows the id alone. The same object where all are. */
  readonly shown: RowScope
}

/** The rows that are in both scopes (source.md: row-scope specifications combine by AND). */
export function intersectScopes(one: RowScope, other: RowScope): RowScope {
  if (one.kind === 'all-rows') return other
  if (other.kind === 'all-rows') return one
  return { kind: 'rows-where', conditions: [...one.conditions, ...other.conditions] }
}

/** The scope of rows that `base` leads to, as a scope of the rows that `base` begins at. */
export function scopeBehind(base: Join, scope: RowScope): RowScope {
  if (scope.kind === 'all-rows') return scope
  const [first, ...others] = scope.conditions
  const behind = (condition: Condition): Condition => conditionBehind(base, condition)
  return { kind: 'rows-where', conditions: [behind(first), ...others.map(behind)] }
}

declare const plannedBrand: unique symbol

/** A plan: only the planning functions of this folder make one (planning.ts), and only plans become SQL (data-service/sql). */
export type Planned<Shape> = Shape & { readonly [plannedBrand]: true }

/** A property of a row as it is shown. */
export type ShapedProperty =
  /** The `id` of a composite key: a text made of its columns. */
  | { readonly kind: 'id'; readonly key: KeyColumns }
  | { readonly kind: 'column'; readonly column: Column }
  | { readonly kind: 'computed'; readonly computed: Computed }
  | { readonly kind: 'joined'; readonly joined: Joined; readonly through: Join; readonly column: Column }
  | { readonly kind: 'rowVersion' }
  | { readonly kind: 'reference'; readonly reference: Reference }
  | { readonly kind: 'manyToMany'; readonly navigation: LinkedRows }
  | ({ readonly kind: 'children' } & ShownChildren)

/** A many-to-many navigation with what its names stand for. */
export interface LinkedRows {
  readonly name: string
  readonly link: KeyedEntity
  readonly from: Reference
  readonly to: Reference
  readonly target: KeyedEntity
  /** Of the target. */
  readonly sort: readonly Column[]
}

/** Children with what the caller may see of them: columns, the row version, and children of their own. */
export interface ShownChildren {
  readonly children: Children
  readonly shown: readonly Column[]
  readonly nested: readonly ShownChildren[]
  /** Those that a request may name. */
  readonly references: readonly Reference[]
}

/** A value that the statement selects. A projection always selects the key, which navigations and cursors need. */
export type Selected =
  | { readonly kind: 'column'; readonly column: Column }
  | { readonly kind: 'joined'; readonly joined: Joined; readonly through: Join; readonly column: Column }
  | { readonly kind: 'rowVersion' }

/** What of a row is selected and shown. The projection cache (projection.ts) makes one object for each field set. */
export interface Projection {
  /** The same key always selects the same columns. */
  readonly key: string
  readonly selected: readonly Selected[]
  /** In the order of the request. */
  readonly shown: readonly ShapedProperty[]
}

/** A reference to load after the rows themselves, with the rows of its resource that the caller may see. */
export interface PlannedReference {
  readonly reference: Reference
  readonly target: KeyedEntity
  readonly projection: Projection
  /** null: the caller may see no row of the resource, and the reference is null in every row. */
  readonly scope: RowScope | null
  /** The navigations of the referenced rows. None without it. */
  readonly within?: PlannedNavigations
  /** The collection whose rows refer to them. Two collections of one resource have the same references. */
  readonly of?: Children
}

/** A many-to-many navigation to load after the rows themselves. */
export interface PlannedManyToMany {
  readonly navigation: LinkedRows
  /** Of the target. */
  readonly projection: Projection
  /**
   * The links that the caller may see, to rows that the caller may see: conditions of rows of the link entity. null: there
   * are none.
   */
  readonly scope: RowScope | null
  /** As that of a reference. */
  readonly within?: PlannedNavigations
}

/** Children to load, with those of their own children that are shown. */
export interface PlannedChildren {
  readonly children: Children
  readonly nested: readonly PlannedChildren[]
  /** References of the children. None without it. */
  readonly followed?: readonly (PlannedReference & { readonly of: Children })[]
}

/** What is loaded after the rows themselves. */
export interface PlannedNavigations {
  readonly references: readonly PlannedReference[]
  readonly manyToMany: readonly PlannedManyToMany[]
  readonly children: readonly PlannedChildren[]
}

/** All plans of rows of other resources, those within others right after them. The projections of two such lists say whether rows are written alike. */
export function rowsOfOthers({
  references = [],
  manyToMany = [],
  children = []
}: Partial<PlannedNavigations>): readonly (PlannedReference | PlannedManyToMany)[] {
  const direct = [...references, ...manyToMany, ...children.flatMap(({ followed = [] }) => followed)]
  if (direct.every(({ within }) => within === undefined)) return direct
  return direct.flatMap((one) => [one, ...rowsOfOthers(one.within ?? {})])
}

/** Whether both lists show the same navigations of the same projections. */
export function areSameOthers(one: ReturnType<typeof rowsOfOthers>, other: typeof one): boolean {
  return one.length === other.length && one.every((planned, at) => isSameOther(planned, other[at]))
}

function isSameOther(
  one: PlannedReference | PlannedManyToMany,
  other: PlannedReference | PlannedManyToMany | undefined
): boolean {
  if (other?.projection !== one.projection) return false
  return 'reference' in one
    ? 'reference' in other && one.reference === other.reference && one.target === other.target && one.of === other.of
    : 'navigation' in other && one.navigation === other.navigation
}

/** The parameters by which a request asks for navigations. */
export type IncludeParameter = 'includeFKs' | 'includeChildren' | 'include'

/** The common part of the plans of list, page and get. */
export interface RowsPlan extends PlannedNavigations {
  readonly entity: Entity
  readonly projection: Projection
  /** What an error about them names. The flags without it. */
  readonly askedBy?: { readonly references: IncludeParameter; readonly collections: IncludeParameter } | undefined
}

interface ReadShape extends RowsPlan {
  readonly scope: RowScope
}

/** The first `limit` rows by id, or by all columns where there is no key. One more is read, which tells whether rows were left out. */
export type ListPlan = Planned<
  ReadShape & {
    readonly operation: 'list'
    readonly conditions: readonly Condition[]
    readonly sort: readonly SortKey[]
    readonly limit: number
  }
>

export type PagePlan = Planned<
  ReadShape & {
    readonly operation: 'paged'
    readonly conditions: readonly Condition[]
    /** A total order: it ends in all columns of the key or, without one, in all that the caller sees. */
    readonly sort: readonly SortKey[]
    readonly limit: number
    readonly start: PageStart
    readonly withTotal: boolean
    /** The total goes no further than one row beyond it. */
    readonly totalLimit?: number
  }
>

/** No plan names a row of an entity without a key. */
export type GetPlan = Planned<
  ReadShape & { readonly operation: 'get'; readonly entity: KeyedEntity; readonly key: RowKey }
>

/** The row with this value in a unique column, compared as the unique index compares. */
export type GetByPlan = Planned<
  ReadShape & { readonly operation: 'getBy'; readonly entity: KeyedEntity; readonly where: ColumnCondition }
>

/**
 * Where a history begins: at the first entry, or where the row that is there now was made, since an earlier one of the same
 * id was deleted. For callers who see some rows only, also at the last entry that changed one of the properties by which they
 * are told: what the row was before belongs to others (decision 086).
 */
export type HistoryStart = 'the first entry' | { readonly lastChangeOf: readonly string[] }

/**
 * The audit entries of one row, the newest first, and one more than `limit`. Whether the caller may see that row is not part
 * of it: the row is read before.
 */
export type HistoryPlan = Planned<{
  readonly operation: 'history'
  readonly entity: KeyedEntity
  /** As audit entries have it. */
  readonly rowId: string
  readonly from: HistoryStart
  /** Digits: the entries before this one. undefined: from the newest on. */
  readonly before: string | undefined
  readonly limit: number
}>

/** Rows in batches by key, all of one snapshot. */
export type ExportPlan = Planned<
  Omit<ReadShape, keyof PlannedNavigations | 'askedBy'> & {
    readonly operation: 'export'
    readonly conditions: readonly Condition[]
    readonly sort: readonly SortKey[]
    readonly limit: number
  }
>

export type LookupPlan = Planned<{
  readonly operation: 'lookup'
  readonly entity: KeyedEntity
  readonly scope: RowScope
  readonly conditions: readonly ColumnCondition[]
  readonly limit: number
}>

/**
 * What is computed of the rows in each group of `dimensions`, of which a read answers the first `limit`. Without dimensions
 * there is one group.
 */
export type TotalsPlan = Planned<{
  readonly operation: 'totals'
  readonly entity: Entity
  readonly scope: RowScope
  readonly conditions: readonly Condition[]
  readonly dimensions: readonly Dimension[]
  readonly measures: readonly Measure[]
  /** A total order: it holds all dimensions. */
  readonly sort: readonly TotalsSortKey[]
  readonly limit: number
}>

export interface TotalsSortKey {
  readonly by: Dimension | Measure
  readonly descending: boolean
}

/** The versions that a write accepts. The list is never empty, and no value of it means "skip the check". */
export type ExpectedVersions = readonly [RowVersion, ...RowVersion[]]

/** Columns to write. */
export type Assignments = ReadonlyMap<Column, Value>

interface RowShape<Scope> {
  readonly entity: KeyedEntity
  readonly key: RowKey
  readonly scope: Scope
}

/** A row to lock for the rest of the transaction, with the children that the write looks at. */
export type LockPlan = Planned<RowShape<RowScope> & { readonly children: readonly Children[] }>

/** Rows to lock for the rest of the transaction, without children. */
export type LockAllPlan = Planned<Omit<RowShape<RowScope>, 'key'> & { readonly keys: readonly RowKey[] }>

/** A row to read without a lock: once a change has matched none, which it explains, or to learn its key (`where`). */
export type LookPlan = Planned<
  RowShape<RowScope> | (Omit<RowShape<RowScope>, 'key'> & { readonly where: ColumnCondition })
>

/**
 * A new root, its first version, and the rows of its children. A root of an entity without row versions gets none. There is
 * no row yet that a statement could compare to the scope: whoever inserts reads the row within it before the COMMIT.
 */
export type InsertPlan = Planned<{
  readonly entity: KeyedEntity
  readonly scope: WriteScope
  readonly values: Assignments
  readonly version: RowVersion | null
  readonly children: readonly NewChildren[]
}>

/** The new rows of one collection. */
export interface NewChildren {
  readonly children: Children
  readonly rows: readonly NewChild[]
  /** As that of the root: whoever inserts checks the rows before the COMMIT. A scope of all rows where only the root decides. */
  readonly scope: WriteScope
}

export interface NewChild {
  readonly values: Assignments
  readonly version: RowVersion
}

/**
 * A guarded write of a root. Key, scope before the write, required state and the versions that the caller sent are all in the match
 * condition of the UPDATE, which always advances the version, also without values.
 */
export type UpdatePlan = Planned<
  RowShape<WriteScope> & {
    readonly expected: ExpectedVersions
    readonly required: readonly Condition[]
    readonly values: Assignments
    /** Columns that take the default that they have in the database. None of them is in `values`. */
    readonly defaulted?: readonly Column[]
  }
>

/** A delete of a root with its children. `unconditional`: the caller sent no If-Match, or `*`. */
export type DeletePlan = Planned<
  RowShape<WriteScope> & {
    readonly expected: ExpectedVersions | 'unconditional'
    readonly required: readonly Condition[]
  }
>

/** A write of one child of a root that is under lock. The root's key is part of every match condition. */
export type ChildPlan = Planned<
  | { readonly kind: 'insert'; readonly children: Children; readonly rootKey: RowKey; readonly row: NewChild }
  | {
      readonly kind: 'update'
      readonly children: Children
      readonly rootKey: RowKey
      readonly key: RowKey
      /** Part of the match condition. */
      readonly expected: ExpectedVersions
      readonly values: Assignments
    }
  | {
      readonly kind: 'delete'
      readonly children: Children
      readonly rootKey: RowKey
      readonly key: RowKey
      readonly expected: ExpectedVersions
    }
>

/**
 * Rows of a resource, or of one of its child collections, by id: what an action may look up, at most 1000. The rows do
 * not change until the transaction ends. The values of a child include the key of its root, under the names of the
 * foreign key as properties (`productId`).
 */
export type FindPlan = Planned<{
  readonly entity: KeyedEntity
  readonly children: Children | null
  readonly keys: readonly RowKey[]
}>

/**
 * The row of a resource that has the value in a unique column, compared as the unique index compares. The row does not
 * change until the transaction ends.
 */
export type FindByUniquePlan = Planned<{
  readonly entity: KeyedEntity
  readonly column: Column
  readonly value: Operand
}>

/**
 * The rows of a resource that refer to one row by a reference, with their children. These rows do not change until the
 * transaction ends. A lock on the row that they refer to keeps others from adding to them.
 */
export type FindReferencingPlan = Planned<{
  readonly entity: KeyedEntity
  readonly children: readonly Children[]
  readonly reference: Reference
  /** The key of the row that they refer to. */
  readonly key: RowKey
  /** How many rows there may be, at most 1000. With more the answer is undefined. */
  readonly maxRows: number
}>

/**
 * A count of the rows of a resource that refer to one row by a reference and meet further conditions. A lock on the row that
 * they refer to keeps others from adding to them.
 */
export type CountReferencingPlan = Planned<{
  readonly entity: KeyedEntity
  readonly reference: Reference
  readonly key: RowKey
  readonly where: readonly ColumnCondition[]
}>

/** A count of the rows that refer to a new root by a foreign key and are outside of the scope after the write. */
export type CountOutsidePlan = Planned<{
  readonly entity: KeyedEntity
  readonly foreignKey: KeyColumns
  /** The key of the root. */
  readonly key: RowKey
  readonly scope: WriteScope
}>

/** A statement of an application's own operation, which reaches every row. */
export type StatementPlan = Planned<{
  /** With `$name` for each value. */
  readonly sql: string
  /** Without a field: text, whole numbers, flags or null as they are. */
  readonly values: ReadonlyMap<string, { readonly field?: Field; readonly value: Operand | bigint | null }>
  /** What a SELECT answers, in order. */
  readonly columns: readonly Field[]
  /** With more rows a SELECT fails. */
  readonly maxRows: number
}>

/** The CALL of a procedure by an application's own operation. It reaches whatever the procedure reaches. */
export type CallPlan = Planned<{
  readonly procedure: string
  /** In the order of the procedure's own. */
  readonly parameters: readonly { readonly field: Field; readonly value: Value }[]
  /** What its one SELECT answers, in order. */
  readonly columns: readonly Column[]
  /** With more rows it fails. */
  readonly maxRows: number
}>
