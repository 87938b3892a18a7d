import { LRUCache } from 'lru-cache'
import {
  type AbstractDataTypeConstructor,
  type BelongsTo,
  DataTypes,
  fn,
  IndexHints,
  literal,
  type Model,
  type ModelAttributes,
  type ModelStatic,
  Op,
  type Sequelize,
  where,
  type WhereOptions
} from 'sequelize'
import type { Children, Column, Entity, KeyColumns, StoreName } from '../../entity/entity.js'
import type { Field } from '../../entity/fields/field.js'
import { int } from '../../entity/fields/words.js'
import type { Keyed } from '../../entity/key.js'
import { keyOrder } from '../../plan/catalogue.js'
import { type Join, type Path, type SortKey, stepsOf } from '../../plan/plans.js'
import {
  columnNamed,
  columnOf,
  comparisonsOf,
  joinAlias,
  pathKey,
  pathsOf,
  type RowCondition,
  shapeOf,
  sortExpression,
  type TextContext,
  whereAll
} from './conditions.js'
import {
  type Expression,
  quoted,
  type Selected,
  selectStatement,
  type SqlDialect,
  type Statement
} from '../engines/statement.js'
import { anyOfRanges, anyOfRangesUnindexed, type Ranges, reversed } from './keyset.js'

type RowModel = ModelStatic<Model>

interface Table extends Keyed {
  readonly columns: readonly Column[]
  readonly versionColumn: string | undefined
}

/** The Sequelize models of one database: those of its entities and of the child tables that live in it. */
export class RowModels {
  readonly #sequelize: Sequelize
  readonly #byName: ReadonlyMap<string, Entity>
  readonly #schemas: readonly { readonly table: string; readonly schema: string }[]
  readonly #entities = new Map<string, RowModel>()
  readonly #children = new Map<string, RowModel>()
  readonly #foreignKeys = new Map<BelongsTo, KeyColumns>()
  readonly #keys = new Map<RowModel, KeyColumns>()

  constructor(sequelize: Sequelize, entities: readonly Entity[], store: StoreName) {
    this.#sequelize = sequelize
    this.#byName = new Map(entities.map((entity) => [entity.name, entity]))
    this.#schemas = entities.flatMap(({ table, schema }) => (schema === undefined ? [] : [{ table, schema }]))
    for (const entity of entities) {
      if (store === 'primary') this.#entities.set(entity.name, this.#define(entity, entity.table))
      for (const children of entity.children) {
        if (children.store === store) this.#children.set(children.table, this.#defineChildren(children))
      }
    }
    if (store !== 'primary') return
    for (const entity of entities) this.#refer(entity)
    for (const entity of entities.filter(hasTextKey)) this.#referToRoot(entity)
  }

  get sequelize(): Sequelize {
    return this.#sequelize
  }

  /**
   * A SELECT with the schema of each table that has one, after FROM and JOIN. Sequelize writes schema and table as one name
   * for MySQL and MariaDB.
   */
  inSchemas(text: string): string {
    return this.#schemas.reduce(
      (named, { table, schema }) => named.replaceAll(`${quoted(table)} AS `, `${quoted(schema)}.${quoted(table)} AS `),
      text
    )
  }

  of(entity: Entity): RowModel {
    return known(this.#entities.get(entity.name), entity.name)
  }

  ofChildren(children: Children): RowModel {
    return known(this.#children.get(children.table), children.table)
  }

  /** The joins that these paths of a table need, each once. */
  joins(root: RowModel, paths: readonly Path[]): readonly JoinShape[] {
    const joins: MutableJoin[] = []
    for (const { through } of paths) {
      let [model, siblings] = [root, joins]
      for (const { name } of through === null ? [] : stepsOf(through)) {
        // #belongsTo makes the associations, and no others.
        const association = known(model.associations[name] as BelongsTo | undefined, name)
        let join = siblings.find((one) => one.association === association)
        if (join === undefined) siblings.push((join = { association, joins: [] }))
        ;[model, siblings] = [association.target, join.joins]
      }
    }
    return joins
  }

  #define({ key, columns, versionColumn }: Table, table: string): RowModel {
    const attributes: ModelAttributes = Object.fromEntries(
      columns.map((column) => [column.name, attribute(column, key)])
    )
    const rowVersion = versionColumn && { type: DataTypes.BLOB, field: versionColumn, allowNull: false }
    const all = { ...attributes, ...(rowVersion && { rowVersion }) }
    return this.#sequelize.define(table, all, { tableName: table })
  }

  #defineChildren(children: Children): RowModel {
    const { columns, foreignKey, table } = children
    const further = foreignKey.filter((one) => !columns.some(({ column }) => column === one.column))
    return this.#define({ ...children, columns: [...columns, ...further] }, table)
  }

  #refer(entity: Entity): void {
    for (const { name, to, via } of entity.references) {
      const target = known(this.#entities.get(to), to)
      this.#belongsTo(this.of(entity), target, { as: name, via })
      this.#keys.set(target, known(this.#byName.get(to), to).key)
    }
  }

  /** The root of children, which `ROOT` names: it alone tells how its key is written where theirs only equals it. */
  #referToRoot(entity: Entity): void {
    this.#keys.set(this.of(entity), entity.key)
    for (const children of entity.children.filter(({ store }) => store === 'primary')) {
      this.#belongsTo(this.ofChildren(children), this.of(entity), { as: ROOT, via: children.foreignKey })
    }
  }

  #belongsTo(from: RowModel, target: RowModel, { as, via }: { readonly as: string; readonly via: KeyColumns }): void {
    // The migrations make the foreign keys, not Sequelize. The condition of a join is that of includeOf.
    const [first] = via
    const foreignKey = Object.entries(from.getAttributes()).find(([, { field }]) => field === first.column)?.[0]
    const association = from.belongsTo(target, { as, foreignKey: known(foreignKey, first.name), constraints: false })
    this.#foreignKeys.set(association, via)
  }

  /** The columns of a join: those of the foreign key, and those of the key that they refer to. */
  columnsOf(association: BelongsTo): { readonly via: KeyColumns; readonly key: KeyColumns } {
    const { as, target } = association
    return { via: known(this.#foreignKeys.get(association), as), key: known(this.#keys.get(target), as) }
  }
}

function known<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw new TypeError(`No model of ${name}`)
  return found
}

function attribute(column: Column, key: KeyColumns): ModelAttributes[string] {
  const { field } = column
  return { type: dataType(field), field: column.column, allowNull: field.nullable, primaryKey: key.includes(column) }
}

/** Whether the database may take a foreign key for a key that is written in other characters. */
export function hasTextKey({ key }: Keyed): boolean {
  return key.some(({ field }) => field.type === 'string')
}

/** The name of the join from children to their root, which is no name of a property. */
const ROOT = '$root'

/** The key of the root of children, as the root has it. */
function rootPaths({ name, key }: Entity, { foreignKey }: Children): Path[] {
  const through: Join = { name: ROOT, to: name, via: foreignKey }
  return key.map((column) => ({ through, column }))
}

function dataType({ type, maxLength, precision, scale }: Field): ReturnType<AbstractDataTypeConstructor> | string {
  switch (type) {
    case 'string':
      return DataTypes.STRING(maxLength)
    case 'bool':
      return DataTypes.BOOLEAN()
    case 'int':
      return DataTypes.INTEGER()
    case 'long':
      return DataTypes.BIGINT()
    case 'decimal':
      return DataTypes.DECIMAL(precision, scale)
    case 'double':
      return DataTypes.DOUBLE()
    case 'dateTime':
      return DataTypes.DATE(3)
    case 'guid':
      return DataTypes.CHAR(36)
    case 'date':
    case 'time':
    case 'enum':
    case 'set':
    case 'json':
      return DataTypes.TEXT()
    case 'binary':
      return DataTypes.BLOB()
  }
}

/** Without this hint the optimizer reads and locks every row of a small table. Sequelize writes it only for MySQL and MariaDB. */
const BY_ID = [{ type: IndexHints.FORCE, values: ['PRIMARY'] }]

/** UPDATE locks rows to change them, SHARE to keep them unchanged. Rows to lock are selected by id. */
export type Lock = 'UPDATE' | 'SHARE'

/** A reference to join, which leads to at most one row, and further ones from that row. */
interface JoinShape {
  readonly association: BelongsTo
  readonly joins: readonly JoinShape[]
}

interface MutableJoin {
  readonly association: BelongsTo
  readonly joins: MutableJoin[]
}

interface SelectShape {
  readonly models: RowModels
  readonly model: RowModel
  /** Expression and alias of every column, in order. */
  readonly columns: readonly (readonly [Expression, string])[]
  readonly joins: readonly JoinShape[]
  readonly where: WhereOptions
  readonly order: readonly (readonly [Expression, 'ASC' | 'DESC'])[]
  /** Locks the rows until the transaction ends. Sequelize writes no lock for SQLite, which has one writer at a time. */
  readonly lock?: Lock
  /** The one index that the optimizer may use. Not together with `lock`. */
  readonly index?: string
  /** Names of the bound limit and offset. */
  readonly limit?: 'limit'
  readonly offset?: 'offset'
}

/** The part of Sequelize's generator that is used here; its types say `unknown`. */
interface SelectGenerator {
  selectQuery(table: string, options: object, model: RowModel): string
}

/** The text of a SELECT, with `$name` for each value. */
function selectText(shape: SelectShape): string {
  const { model, joins, lock, index, limit, offset } = shape
  const { sequelize } = shape.models
  // The class behind getQueryInterface() has this method in all versions of Sequelize 6. A test compiles every shape.
  const generator = sequelize.getQueryInterface().queryGenerator as SelectGenerator
  const options = {
    model,
    attributes: shape.columns,
    where: shape.where,
    order: shape.order,
    subQuery: false,
    // `attributes` already contains the columns of joined rows.
    includeIgnoreAttributes: false,
    ...(lock === undefined ? {} : { lock, indexHints: BY_ID }),
    ...(index === undefined ? {} : { indexHints: [{ type: IndexHints.FORCE, values: [index] }] }),
    ...(limit === undefined ? {} : { limit: literal(`$${limit}`) }),
    ...(offset === undefined ? {} : { offset: literal(`$${offset}`) })
  }
  const include = joins.map((join) => includeOf(join, { model }, { models: shape.models, from: aliasOf(model) }))
  return shape.models.inSchemas(generator.selectQuery(tableOf(model), { ...options, include }, model))
}

/** A join in the form that Sequelize's generator takes: each knows its parent. */
interface Include {
  readonly association: BelongsTo
  readonly model: RowModel
  readonly as: string
  readonly parent: object
  readonly required: false
  readonly on: WhereOptions
  include: readonly Include[]
}

/** `from` is the alias of the row that the join starts from. */
function includeOf(
  { association, joins }: JoinShape,
  parent: object,
  { models, from }: { readonly models: RowModels; readonly from: string }
): Include {
  const { target: model } = association
  const { via, key } = models.columnsOf(association)
  const alias = joinAlias(from, association.as)
  // Sequelize puts the aliases of all joins on the way before that of a further one, but not that of the root.
  const as = 'association' in parent ? association.as : alias
  // The key comes first: where two collations meet, SQLite compares by that of the key, as it does for foreign keys.
  const on = key.map((column, at) =>
    where(columnNamed(alias, column.column), Op.eq, columnNamed(from, known(via[at], as).column))
  )
  const include: Include = { association, model, as, parent, required: false, on: { [Op.and]: on }, include: [] }
  include.include = joins.map((join) => includeOf(join, include, { models, from: alias }))
  return include
}

/** Alias of the model's own rows in the text. */
function aliasOf(model: RowModel): string {
  return model.name
}

function tableOf(model: RowModel): string {
  const table = model.getTableName()
  return typeof table === 'string' ? table : table.tableName
}

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
  /** The index to read them by (`Statements.indexFor`). */
  readonly index?: string | undefined
  readonly cut: 'whole' | 'limit' | 'limit and offset'
  readonly lock?: Lock
}

interface ChildrenShape {
  readonly owner: Entity
  readonly children: Children
  readonly conditions: readonly RowCondition[]
  readonly lock?: Lock
}

/** Characters of texts and keys in the cache: thousands of statements, or some dozen of the longest possible ones. */
const MAX_TEXT = 16_000_000

/** The statements of one database, each shape compiled once. The cache is bounded, since callers choose shapes. */
export class Statements {
  readonly #models: RowModels
  readonly #dialect: SqlDialect
  #sortOrders: ReadonlyMap<string, string>
  readonly #compiled = new LRUCache<string, Statement>({
    maxSize: MAX_TEXT,
    sizeCalculation: ({ sql }, key) => key.length + sql.length
  })

  /** `sortOrders`: those of `SchemaTools.sortOrders`. */
  constructor(models: RowModels, dialect: SqlDialect, sortOrders: ReadonlyMap<string, string> = new Map()) {
    this.#models = models
    this.#dialect = dialect
    this.#sortOrders = sortOrders
  }

  /** Whether an index serves the order, read forwards or backwards. Where none is known, that of a single column counts as one. */
  isIndexed({ table, key }: Entity, sort: readonly SortKey[]): boolean {
    if (sort.some(({ path }) => this.#isComputed(path))) return false
    const [first] = sort
    if (sort.length > 1 + key.length) return this.#indexOf(table, sort) !== undefined
    // That of the key itself, and one of a joined row, which is another table's.
    if (sort.length <= key.length || first?.path.through !== null || this.#sortOrders.size === 0) return true
    return this.#indexOf(table, sort) !== undefined
  }

  /**
   * The index that serves an order of several columns, to be named in the statement of a read that has no other
   * conditions. Left to itself the optimizer estimates every range in every index that begins with one of the columns,
   * which takes longer than the read.
   */
  indexFor({ table, key }: Entity, sort: readonly SortKey[]): string | undefined {
    return sort.length <= 1 + key.length ? undefined : this.#indexOf(table, sort)
  }

  /** From now on no statement names an index: one that was there at start has been dropped. */
  forgetIndexes(): void {
    this.#sortOrders = new Map()
    this.#compiled.clear()
  }

  /** Whether the rows are sorted by an expression of the column, of which there is no index. */
  #isComputed({ column: { field } }: Path): boolean {
    return this.#dialect.keyFunction(field.type, 'order') !== this.#dialect.keyFunction(field.type, 'equal')
  }

  #indexOf(table: string, sort: readonly SortKey[]): string | undefined {
    if (sort.some(({ path }) => path.through !== null || this.#isComputed(path))) return undefined
    const indexes = [sort, reversed(sort)].map((order) => {
      const keys = order.map(({ path, descending }) => `${path.column.column} ${descending ? 'DESC' : 'ASC'}`)
      return this.#sortOrders.get(`${table}: ${keys.join()}`)
    })
    return indexes.find((index) => index !== undefined)
  }

  rows(shape: RowsShape): Statement {
    const { entity, selectedKey, sort, ranges = [], index, cut, lock } = shape
    const conditions = [...shape.conditions, ...anyOfRanges(ranges)]
    const order = sort.map(({ path, descending }) => `${pathKey(path)} ${descending} ${path.exact}`).join()
    const key = ['rows', entity.name, selectedKey, shapeOf(conditions), order, cut, lock, index].join('|')
    return this.#cached(key, () => this.#compileRows(shape))
  }

  count(entity: Entity, conditions: readonly RowCondition[]): Statement {
    const key = ['count', entity.name, shapeOf(conditions)].join('|')
    return this.#cached(key, () => this.#compileCount(entity, conditions))
  }

  /** Selects children: the owner's key, the child's columns, its row version if it has one, in the order of both keys. */
  children(shape: ChildrenShape): Statement {
    const key = ['children', shape.children.table, shapeOf(shape.conditions), shape.lock].join('|')
    return this.#cached(key, () => this.#compileChildren(shape))
  }

  #cached(key: string, compile: () => Statement): Statement {
    const kept = this.#compiled.get(key)
    if (kept !== undefined) return kept
    const compiled = compile()
    this.#compiled.set(key, compiled)
    return compiled
  }

  #compileRows(shape: RowsShape): Statement {
    const { conditions, ranges = [], selected } = shape
    const text =
      this.#dialect.readsRangesOfOr || ranges.length < 2
        ? this.#rowsText({ ...shape, conditions: [...conditions, ...this.#oneCondition(shape)] })
        : this.#unionText(shape, ranges)
    return selectStatement(text, selected.map(selectedOf(shape.entity)), this.#dialect.decode)
  }

  #oneCondition({ entity, sort, ranges = [] }: RowsShape): readonly RowCondition[] {
    if (this.isIndexed(entity, sort)) return anyOfRanges(ranges)
    return anyOfRangesUnindexed(ranges, { through: null, column: entity.key[0] })
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

  /** `within`: a range, and the number of its first comparison. */
  #rowsText(
    { entity, selected, conditions, sort, index, cut, lock }: RowsShape,
    within: { readonly range: readonly RowCondition[]; readonly first: number } = { range: [], first: 0 }
  ): string {
    const model = this.#models.of(entity)
    const context = { dialect: this.#dialect, root: aliasOf(model) }
    const compared = comparisonsOf([...conditions, ...within.range])
    const paths = [...selected, ...compared.flatMap(pathsOf), ...sort.map(({ path }) => path)]
    const ranged = within.range.length === 0 ? [] : [whereAll(within.range, context, within.first)]
    return selectText({
      models: this.#models,
      model,
      columns: selected.map((column, index) => [selectedColumn(column, context, entity), `c${index}`]),
      joins: this.#models.joins(model, pathsIn(paths)),
      where:
        conditions.length === 0 && ranged[0] !== undefined
          ? ranged[0]
          : { [Op.and]: [whereAll(conditions, context), ...ranged] },
      order: sort.map(({ path, descending }) => [sortExpression(path, context), descending ? 'DESC' : 'ASC']),
      ...(lock === undefined ? {} : { lock }),
      ...(index === undefined ? {} : { index }),
      ...(cut === 'whole' ? {} : { limit: 'limit' }),
      ...(cut === 'limit and offset' ? { offset: 'offset' } : {})
    })
  }

  #compileCount(entity: Entity, conditions: readonly RowCondition[]): Statement {
    const model = this.#models.of(entity)
    const text = selectText({
      models: this.#models,
      model,
      columns: [[fn('COUNT', literal('*')), 'c0']],
      joins: this.#models.joins(model, comparisonsOf(conditions).flatMap(pathsOf)),
      where: whereAll(conditions, { dialect: this.#dialect, root: aliasOf(model) }),
      order: []
    })
    return selectStatement(text, [{ name: 'COUNT(*)', field: int() }], this.#dialect.decode)
  }

  #compileChildren({ owner, children, conditions, lock }: ChildrenShape): Statement {
    const model = this.#models.ofChildren(children)
    const context = { dialect: this.#dialect, root: aliasOf(model) }
    const own = (column: Column): Path => ({ through: null, column })
    const isJoined = hasTextKey(owner) && children.store === 'primary'
    const rootKey = isJoined ? rootPaths(owner, children) : children.foreignKey.map(own)
    const version = children.versionColumn === undefined ? [] : (['rowVersion'] as const)
    const selected = [...rootKey, ...children.columns.map(own), ...version]
    const text = selectText({
      models: this.#models,
      model,
      columns: selected.map((column, index) => [selectedColumn(column, context, children), `c${index}`]),
      joins: this.#models.joins(model, pathsIn(selected)),
      where: whereAll(conditions, context),
      order: childOrder(children).map((path) => [sortExpression(path, context), 'ASC']),
      ...(lock === undefined ? {} : { lock })
    })
    return selectStatement(text, selected.map(selectedOf(children)), this.#dialect.decode)
  }
}

/** By the root, and then by the child's own key. */
function childOrder({ foreignKey, key }: Children): Path[] {
  const isOfRoot = ({ column }: Column): boolean => foreignKey.some((one) => one.column === column)
  return [
    ...foreignKey.map((column): Path => ({ through: null, column })),
    ...keyOrder({ key }).flatMap(({ path }) => (isOfRoot(path.column) ? [] : [path]))
  ]
}

function selectedColumn(
  column: SelectedColumn,
  context: TextContext,
  { versionColumn }: Pick<Table, 'versionColumn'>
): Expression {
  if (column !== 'rowVersion') return columnOf(column, context)
  if (versionColumn === undefined) throw new TypeError(`${context.root} has no row version`)
  return columnNamed(context.root, versionColumn)
}

/** A column with its name for errors. One of a joined row is named by the join. */
function selectedOf({ table, key }: Keyed & { readonly table: string }): (column: SelectedColumn) => Selected {
  return (column) =>
    column === 'rowVersion'
      ? { name: `${table}.${column}`, field: column }
      : {
          name: [column.through === null ? table : joinName(column.through), column.column.column].join('.'),
          field: column.column.field,
          isKey: column.through === null && key.includes(column.column)
        }
}

function joinName(join: Join): string {
  return stepsOf(join)
    .map(({ name }) => name)
    .join('.')
}

function pathsIn(columns: readonly SelectedColumn[]): Path[] {
  return columns.filter((column) => column !== 'rowVersion')
}
