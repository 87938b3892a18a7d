import { LRUCache } from 'lru-cache'
import { literal, Op } from 'sequelize'
import type { Children, Column, Entity, KeyColumns } from '../../../entity/entity.js'
import { hasRowVersion } from '../../../entity/fields/row-version.js'
import { int } from '../../../entity/fields/words.js'
import { isKeyed, keyed } from '../../../entity/key.js'
import { keyOrder } from '../../../plan/model/catalogue.js'
import { type Join, type Path, type SortKey, stepsOf } from '../../../plan/model/plans.js'
import {
  type Expression,
  quotedIdentifier,
  type SelectedField,
  selectStatement,
  type ShownStatement,
  type SqlDialect
} from '../../engines/statement.js'
import {
  columnNamed,
  columnExpression,
  fieldRead,
  keyForm,
  numberWithin,
  sortExpression,
  type TextContext,
  versionExpression,
  type VersionedRows,
  whereAll
} from './where-text.js'
import { comparisonsOf, isComparison, pathKey, pathsOf, type RowCondition, shapeOf } from './conditions.js'
import { anyOfRanges, anyOfRangesUnindexed, type Ranges, reversed } from './keyset.js'
import { type ChildrenOwner, hasTextKey, ownerPaths, type RowModels } from './row-models.js'
import {
  type CountShape,
  countText,
  type Lock,
  pageAlias,
  rootAlias,
  type SelectShape,
  selectText
} from './select-text.js'
import { totalsKey, type TotalsShape, totalsStatement } from './totals-text.js'

/** A column to select: of the row, of a referenced row, or the row's version. */
export type SelectedColumn = Path | 'rowVersion'

/** The shape of a SELECT of an entity's rows. Of the conditions only the shape counts. */
interface RowsShape {
  readonly entity: Entity
  readonly selected: readonly SelectedColumn[]
  /** The key of `selected`: selections of an entity with the same columns have the same key. */
  readonly selectedKey: string
  readonly conditions: readonly RowCondition[]
  readonly sort: readonly SortKey[]
  /** Reads only the rows in these ranges, which follow one another in the order of `sort`. Only with the cut `limit`. */
  readonly ranges?: Ranges
  /** Whether the statement names the index that serves it, where there is one. Of ranges only those without other conditions. */
  readonly byIndex?: boolean
  /** Each row ends in the number of rows that meet the conditions, wherever they are cut: of all, or of those up to `$totalLimit`. */
  readonly total?: CountShape['upTo']
  /** `limit of each`: the first rows, in the order of `sort`, of those that have the same values in the columns of `of`. */
  readonly cut: 'whole' | 'limit' | 'limit and offset' | 'limit of each'
  readonly of?: KeyColumns
  readonly lock?: Lock
}

interface ChildrenShape {
  readonly owner: ChildrenOwner
  readonly children: Children
  readonly conditions: readonly RowCondition[]
  /** `limit`: the first of one owner, whose key is no part of the order. `limit of each`: the first of each owner. */
  readonly cut: 'whole' | 'limit' | 'limit of each'
  /** Selected behind the columns and the version. */
  readonly more?: readonly Path[]
  readonly lock?: Lock
}

/** The number of a row among those of the same owner, under a name that no column has. */
const PLACE = 'its place'

const TOTAL: SelectedField = { name: 'COUNT(*)', field: int() }

/** Characters of texts and keys in the cache: thousands of statements, or some dozen of the longest possible ones. */
const MAX_TEXT = 16_000_000

/** How often the text of a statement was kept, in all caches that share this. */
export class CacheUse {
  hits = 0
  misses = 0
  readonly #caches: { readonly size: number; clear(): void }[] = []

  get size(): number {
    return this.#caches.reduce((sum, { size }) => sum + size, 0)
  }

  add(...caches: readonly { readonly size: number; clear(): void }[]): void {
    this.#caches.push(...caches)
  }

  /** Empties the caches: tables have changed that the texts depend on. */
  forget(): void {
    for (const cache of this.#caches) cache.clear()
  }
}

/** The statements of one database, each shape compiled once. The cache is bounded, since callers choose shapes. */
export class Statements {
  readonly #models: RowModels
  #dialect: SqlDialect
  #sortOrders: ReadonlyMap<string, string>
  readonly #use: CacheUse
  readonly #compiled = new LRUCache<string, ShownStatement>({
    maxSize: MAX_TEXT,
    sizeCalculation: ({ sql }, key) => key.length + sql.length
  })

  /** `sortOrders`: those of `TableFacts`. `use` counts. */
  constructor(
    models: RowModels,
    dialect: SqlDialect,
    {
      sortOrders = new Map(),
      use = new CacheUse()
    }: { readonly sortOrders?: ReadonlyMap<string, string> | undefined; readonly use?: CacheUse | undefined } = {}
  ) {
    this.#models = models
    this.#dialect = dialect
    this.#sortOrders = sortOrders
    this.#use = use
    use.add(this.#compiled)
  }

  /** Whether an index serves the order, read forwards or backwards. If no indexes are known, an order by one column counts as indexed. */
  isIndexed({ table, key }: Entity, sort: readonly SortKey[]): boolean {
    if (sort.some(({ path }) => this.#isComputed(path))) return false
    const [first] = sort
    if (sort.length > 1 + key.length) return this.#indexOf(table, sort) !== undefined
    // The order of the key itself, or of a column of a joined row, whose index is on another table.
    if (sort.length <= key.length || first?.path.through !== null || this.#sortOrders.size === 0) return true
    return this.#indexOf(table, sort) !== undefined
  }

  #namedIndex({ entity, sort, conditions, ranges = [], cut, byIndex }: RowsShape): string | undefined {
    if (byIndex !== true) return undefined
    if (cut === 'limit and offset') return this.#indexForOffset(entity, sort, conditions)
    return ranges.length > 0 && conditions.length === 0 ? this.#indexForRanges(entity, sort) : undefined
  }

  /**
   * The index that serves an order, to be named in the statement of a read that has no other conditions. Left to itself
   * the optimizer estimates every range in every index that begins with one of the columns. Behind a cursor in an order by
   * one column this takes a third of the time of the read, and in one by several columns more than the read.
   */
  #indexForRanges({ table, key }: Entity, sort: readonly SortKey[]): string | undefined {
    return sort.length <= key.length ? undefined : this.#indexOf(table, sort)
  }

  /**
   * The index that holds the order and all columns of the conditions: those that are equal to a value, which come first in
   * it, and then the order. With it the rows before an offset are passed over in the index, and only the rows of the page
   * are read from the table. The optimizer would read every row that it passes over, or, from some page number on, sort all
   * rows. Conditions on other columns, the first one of the order aside, leave the choice to the optimizer: an index of
   * theirs may find fewer rows.
   */
  #indexForOffset(entity: Entity, sort: readonly SortKey[], conditions: readonly RowCondition[]): string | undefined {
    const { table } = entity
    const [first] = sort
    if (first === undefined || !isKeyed(entity)) return undefined
    const equal = new Set<string>()
    for (const condition of conditions) {
      if (!isComparison(condition) || !('path' in condition) || condition.path.through !== null) return undefined
      const { path, comparison } = condition
      if (path.column === first.path.column) continue
      if (comparison !== 'equals' || path.column.field.type === 'double') return undefined
      equal.add(path.column.column)
    }
    if (equal.size > MAX_EQUAL) return undefined
    for (const columns of inAnyOrder([...equal])) {
      const index = this.#indexOf(table, sort, columns)
      if (index !== undefined) return index
    }
    return undefined
  }

  /** A read whose statements name indexes. An index that is dropped while the service runs costs time, and no request. */
  async byIndexes<Result>(read: () => Promise<Result>): Promise<Result> {
    try {
      return await read()
    } catch (error) {
      if (!this.#dialect.isIndexMissing(error)) throw error
      this.#forgetIndexes()
      return read()
    }
  }

  /** From now on no statement names an index: one that was there at start has been dropped. */
  #forgetIndexes(): void {
    this.#sortOrders = new Map()
    this.#dialect = { ...this.#dialect, fullTextIndex: () => undefined }
    this.#compiled.clear()
  }

  /** Whether the rows are sorted by an expression of the column, of which there is no index. */
  #isComputed({ column }: Path): boolean {
    const form = (use: 'equal' | 'order'): string => keyForm(column, '', { dialect: this.#dialect, use })
    return this.#dialect.isAnyNumber(column) || form('order') !== form('equal')
  }

  /** `before`: the first columns of the index, each in its direction. */
  #indexOf(table: string, sort: readonly SortKey[], before: readonly string[] = []): string | undefined {
    if (sort.some(({ path }) => path.through !== null || this.#isComputed(path))) return undefined
    const indexes = [sort, reversed(sort)].map((order) => {
      const keys = order.map(({ path, descending }) => inDirection(path.column.column, descending))
      return this.#sortOrders.get(`${table}: ${[...before, ...keys].join()}`)
    })
    return indexes.find((index) => index !== undefined)
  }

  rows(shape: RowsShape): ShownStatement {
    const { entity, selectedKey, sort, ranges = [], byIndex, cut, of, lock, total } = shape
    const conditions = [...shape.conditions, ...anyOfRanges(ranges)]
    const order = sort
      .map(({ path, descending }) => `${pathKey(path)} ${descending} ${path.exact} ${path.digest}`)
      .join()
    const how = [order, cut, pathKeys(of), lock, byIndex, total]
    const key = ['rows', entity.name, selectedKey, shapeOf(conditions), ...how].join('|')
    return this.#cached(key, () => this.#compileRows(shape))
  }

  /** Selects the number of rows that meet the conditions. */
  count(entity: Entity, conditions: readonly RowCondition[], upTo: CountShape['upTo'] = 'all'): ShownStatement {
    const key = ['count', entity.name, shapeOf(conditions), upTo].join('|')
    return this.#cached(key, () => {
      const text = countText({ rows: this.#countedRows(entity, conditions), upTo })
      return selectStatement(text, [TOTAL], this.#dialect.decode)
    })
  }

  /** Selects totals. Their values are read by `totalsReader`. */
  totals(shape: TotalsShape): ShownStatement {
    const { entity, conditions } = shape
    const key = ['totals', entity.name, totalsKey(shape), shapeOf(conditions)].join('|')
    return this.#cached(key, () => totalsStatement(shape, this.#countedRows(entity, conditions), this.#dialect))
  }

  /** Selects children: the owner's key, the child's columns, its row version if it has one, in the order of both keys. */
  children(shape: ChildrenShape): ShownStatement {
    const { children, conditions, cut, more = [], lock } = shape
    const key = [
      'children',
      this.#models.ofChildren(children).path,
      shapeOf(conditions),
      cut,
      lock,
      ...more.map(pathKey)
    ].join('|')
    return this.#cached(key, () => this.#compileChildren(shape))
  }

  #cached(key: string, compile: () => ShownStatement): ShownStatement {
    const kept = this.#compiled.get(key)
    if (kept !== undefined) {
      this.#use.hits += 1
      return kept
    }
    this.#use.misses += 1
    const compiled = compile()
    this.#compiled.set(key, compiled)
    return compiled
  }

  #compileRows(shape: RowsShape): ShownStatement {
    const { entity, conditions, ranges = [], selected, total } = shape
    const text =
      this.#dialect.readsRangesOfOr || ranges.length < 2
        ? this.#rowsText(
            { ...shape, conditions: [...conditions, ...this.#oneCondition(shape)] },
            { counted: conditions, index: this.#namedIndex(shape) }
          )
        : this.#unionText(shape, ranges)
    const columns = [...selected.map(selectedOf(entity, this.#dialect)), ...(total === undefined ? [] : [TOTAL])]
    return selectStatement(text, columns, this.#dialect.decode)
  }

  #oneCondition({ entity, sort, ranges = [] }: RowsShape): readonly RowCondition[] {
    const [column] = entity.key
    if (column === undefined || this.isIndexed(entity, sort)) return anyOfRanges(ranges)
    return anyOfRangesUnindexed(ranges, { through: null, column })
  }

  /**
   * The ranges one after another. SQLite runs the parts of UNION ALL in the order of the text and stops at the limit, so
   * that a range is read only as far as the ranges before it have not filled the page.
   */
  #unionText(shape: RowsShape, ranges: Ranges): string {
    let next = comparisonsOf(shape.conditions).length
    const parts = ranges.map((range) => {
      const part = `SELECT * FROM (${this.#rowsText(shape, { range, first: next }).replace(/;$/, '')})`
      next += range.length
      return part
    })
    return `${parts.join(' UNION ALL ')} LIMIT $limit`
  }

  /** `range`: one more condition, whose first comparison has the number `first`. `counted`: the conditions of the total. `index`: the one to name. */
  #rowsText(
    shape: RowsShape,
    {
      range = [],
      first = 0,
      counted = shape.conditions,
      index
    }: {
      readonly range?: readonly RowCondition[]
      readonly first?: number
      readonly counted?: readonly RowCondition[]
      readonly index?: string | undefined
    }
  ): string {
    const { entity, selected, conditions, sort, cut, of, lock, total } = shape
    const model = this.#models.of(entity)
    const context = { dialect: this.#dialect, root: rootAlias(model) }
    const compared = comparisonsOf([...conditions, ...range])
    const paths = [...selected, ...compared.flatMap(pathsOf), ...sort.map(({ path }) => path)]
    const ranged = range.length === 0 ? [] : [whereAll(range, context, first)]
    const rows: SelectShape = {
      models: this.#models,
      model,
      columns: selected.map((column, index) => [selectedColumn(column, context, entity), `c${index}`]),
      joins: this.#models.joins(model, pathsIn(paths)),
      where:
        conditions.length === 0 && ranged[0] !== undefined
          ? ranged[0]
          : { [Op.and]: [whereAll(conditions, context), ...ranged] },
      order: sort.map(({ path, descending }) => [sortExpression(path, context), descending ? 'DESC' : 'ASC']),
      ...(total === undefined ? {} : { total: { rows: this.#countedRows(entity, counted), upTo: total } }),
      ...(lock === undefined ? {} : { lock }),
      ...(index === undefined ? {} : { index }),
      ...(cut === 'whole' ? {} : { limit: 'limit' }),
      ...(cut === 'limit and offset' ? { offset: 'offset' } : {})
    }
    if (cut === 'limit of each') {
      const { key } = keyed(entity)
      const numbered = { by: of ?? key, sort, key, selected, found: compared.flatMap(pathsOf) }
      return selectText(this.#limitOfEach(rows, numbered, context))
    }
    return selectText(cut === 'limit and offset' && index !== undefined ? this.#keysFirst(rows, shape) : rows)
  }

  /** The same rows, whose keys are found by an index (`#indexForOffset`) before any row is read from the table. */
  #keysFirst({ total, ...rows }: SelectShape, { entity, selected, sort }: RowsShape): SelectShape {
    const { models, model, columns } = rows
    const names = new Set([...entity.key, ...sort.map(({ path }) => path.column)].map(({ column }) => column))
    return {
      models,
      model,
      columns,
      joins: models.joins(model, pathsIn(selected)),
      where: {},
      order: [],
      ...(total === undefined ? {} : { total }),
      among: {
        rows: { ...rows, columns: Array.from(names, (name) => [columnNamed(rootAlias(model), name), name]), joins: [] },
        join: this.#dialect.joinInOrder,
        key: entity.key.map(({ column }) => column),
        order: sort.map(({ path, descending }) => [path.column.column, descending ? 'DESC' : 'ASC'])
      }
    }
  }

  /**
   * Of the rows that have the same values in the columns of `by` those with the numbers `$first` to `$last` in the order of
   * `sort`, and of these the first `$limit`. Rows are numbered by their keys before any is read from the table: where an
   * index holds both, as that of a foreign key does, the rows that are left out are not read.
   * docs/decisions/054-ceilings-of-included-collections.md has what was measured.
   */
  #limitOfEach(
    { order: _order, limit: _limit, ...rows }: SelectShape,
    of: Numbering,
    context: TextContext
  ): SelectShape {
    const { models, model, columns } = rows
    const names = new Set([...of.key, ...of.by].map(({ column }) => column))
    const numbered = Array.from(names, (name) => [columnNamed(context.root, name), name] as const)
    const place = `${quotedIdentifier(pageAlias(context.root))}.${quotedIdentifier(PLACE)}`
    return {
      models,
      model,
      columns,
      joins: models.joins(model, pathsIn(of.selected)),
      where: literal(`${place} BETWEEN $first AND $last`),
      order: [],
      limit: 'limit',
      among: {
        rows: {
          ...rows,
          columns: [...numbered, [numberWithin(of.by, of.sort, context), PLACE]],
          joins: models.joins(model, [...of.found, ...of.sort.map(({ path }) => path)]),
          order: []
        },
        join: this.#dialect.joinInOrder,
        key: of.key.map(({ column }) => column),
        order: [...of.by.map(({ column }) => [column, 'ASC'] as const), [PLACE, 'ASC']]
      }
    }
  }

  #countedRows(entity: Entity, conditions: readonly RowCondition[]): CountShape['rows'] {
    const model = this.#models.of(entity)
    return {
      models: this.#models,
      model,
      joins: this.#models.joins(model, comparisonsOf(conditions).flatMap(pathsOf)),
      where: whereAll(conditions, { dialect: this.#dialect, root: rootAlias(model) })
    }
  }

  #compileChildren({ owner, children, conditions, cut, more = [], lock }: ChildrenShape): ShownStatement {
    const { model } = this.#models.ofChildren(children)
    const context = { dialect: this.#dialect, root: rootAlias(model) }
    const { foreignKey } = children
    const own = (column: Column): Path => ({ through: null, column })
    const isJoined = hasTextKey(owner) && children.store === 'primary'
    const ownerKey = isJoined ? ownerPaths(owner, children) : foreignKey.map(own)
    const version = hasRowVersion(children) ? (['rowVersion'] as const) : []
    const selected = [...ownerKey, ...children.columns.map(own), ...version, ...more]
    const sort = orderOfOwn(children)
    const byOwner = foreignKey.map((column) => ({ path: own(column), descending: false }))
    const shape: SelectShape = {
      models: this.#models,
      model,
      columns: selected.map((column, index) => [selectedColumn(column, context, children), `c${index}`]),
      joins: this.#models.joins(model, pathsIn(selected)),
      where: whereAll(conditions, context),
      order: (cut === 'limit' ? sort : [...byOwner, ...sort]).map(({ path }) => [sortExpression(path, context), 'ASC']),
      ...(lock === undefined ? {} : { lock }),
      ...(cut === 'limit' ? { limit: 'limit' } : {})
    }
    const numbered = {
      by: foreignKey,
      sort,
      key: children.key,
      selected,
      found: comparisonsOf(conditions).flatMap(pathsOf)
    }
    const text = selectText(cut === 'limit of each' ? this.#limitOfEach(shape, numbered, context) : shape)
    return selectStatement(text, selected.map(selectedOf(children, this.#dialect)), this.#dialect.decode)
  }
}

/** What rows are numbered by: those with the same values in `by`, in the order of `sort`. */
interface Numbering {
  readonly by: KeyColumns
  readonly sort: readonly SortKey[]
  /** Of the table. */
  readonly key: KeyColumns
  readonly selected: readonly SelectedColumn[]
  /** What the conditions compare. */
  readonly found: readonly Path[]
}

/** The order of the children of one owner: by their own key, without what all of them have in common. */
function orderOfOwn({ foreignKey, key }: Children): readonly SortKey[] {
  const isOfOwner = ({ path: { column } }: SortKey): boolean => foreignKey.some((one) => one.column === column.column)
  return keyOrder({ key }).filter((one) => !isOfOwner(one))
}

function selectedColumn(column: SelectedColumn, context: TextContext, table: VersionedRows): Expression {
  return column === 'rowVersion'
    ? versionExpression(context.root, table, context.dialect)
    : columnExpression(column, context)
}

/** A column with its name for errors. One of a joined row is named by the join. */
function selectedOf(
  { table, key }: { readonly table: string; readonly key: readonly Column[] },
  dialect: SqlDialect
): (column: SelectedColumn) => SelectedField {
  return (column) =>
    column === 'rowVersion'
      ? { name: `${table}.${column}`, field: column }
      : {
          name: [column.through === null ? table : joinName(column.through), column.column.column].join('.'),
          field: fieldRead(column.column, dialect),
          isKey: column.through === null && key.includes(column.column)
        }
}

/** Columns that are equal to a value, of which an index is looked for. */
const MAX_EQUAL = 3

/** The orders and directions that an index may have columns in. */
function inAnyOrder(columns: readonly string[]): string[][] {
  if (columns.length === 0) return [[]]
  return columns.flatMap((first) =>
    inAnyOrder(columns.filter((one) => one !== first)).flatMap((rest) =>
      [false, true].map((descending) => [inDirection(first, descending), ...rest])
    )
  )
}

/** A column as the keys of `TableFacts.sortOrders` have it. */
function inDirection(column: string, descending: boolean): string {
  return `${column} ${descending ? 'DESC' : 'ASC'}`
}

function joinName(join: Join): string {
  return stepsOf(join)
    .map(({ name }) => name)
    .join('.')
}

function pathKeys(columns: readonly Column[] = []): string {
  return columns.map((column) => pathKey({ through: null, column })).join()
}

function pathsIn(columns: readonly SelectedColumn[]): Path[] {
  return columns.filter((column) => column !== 'rowVersion')
}
