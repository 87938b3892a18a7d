import { type BelongsTo, fn, IndexHints, literal, Op, where, type WhereOptions } from 'sequelize'
import { generatorOf } from '../../engines/sequelize-inner.js'
import { type Expression, quotedIdentifier, type SqlDialect } from '../../engines/statement.js'
import { columnNamed } from './where-text.js'
import { joinAlias } from './conditions.js'
import { type JoinShape, known, type RowModel, type RowModels } from './row-models.js'

/** Without this hint the optimizer reads and locks every row of a small table. Sequelize writes it only for MySQL and MariaDB. */
const BY_ID = [{ type: IndexHints.FORCE, values: ['PRIMARY'] }]

/** UPDATE locks rows to change them, SHARE to keep them unchanged. Rows to lock are selected by id. */
export type Lock = 'UPDATE' | 'SHARE'

export interface SelectShape {
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
  readonly limit?: 'limit' | 'totalLimit'
  readonly offset?: 'offset'
  /** A further last column, with the number of rows of this SELECT in each row. */
  readonly total?: CountShape
  /** Only these rows, in their order. */
  readonly among?: Among
}

/** The rows that a SELECT counts, whose columns do not matter: all of them, or those up to `$totalLimit`. */
export interface CountShape {
  readonly rows: Omit<SelectShape, 'columns' | 'order' | 'limit'>
  readonly upTo: 'all' | 'totalLimit'
}

/** Rows that another SELECT of the same table finds, with their keys and what they are sorted by under the columns' names. */
interface Among {
  readonly rows: SelectShape
  /** Reads these rows before the table. */
  readonly join: SqlDialect['joinInOrder']
  readonly key: readonly string[]
  readonly order: readonly (readonly [column: string, direction: 'ASC' | 'DESC'])[]
}

/** The text of a SELECT, with `$name` for each value. */
export function selectText(shape: SelectShape): string {
  return shape.models.inSchemas(selectTextOf(shape))
}

/** The text of a SELECT of the number of rows. */
export function countText(shape: CountShape): string {
  return shape.rows.models.inSchemas(countTextOf(shape))
}

/** A limit is one of rows, so those up to it are found before they are counted. */
function countTextOf({ rows, upTo }: CountShape): string {
  const count = fn('COUNT', literal('*'))
  if (upTo === 'all') return selectTextOf({ ...rows, columns: [[count, 'c0']], order: [] })
  const found = selectTextOf({ ...rows, columns: [[literal('1'), 'c0']], order: [], limit: upTo })
  return `SELECT COUNT(*) FROM (${found}) AS ${quotedIdentifier(COUNTED_ROWS)}`
}

/** No entity and no join has such a name. */
const COUNTED_ROWS = 'counted rows'

/** The text without the schemas of tables. */
function selectTextOf(shape: SelectShape): string {
  const { model, joins, lock, index, limit, offset, total, among } = shape
  const root = rootAlias(model)
  const further = total === undefined ? [] : [[literal(`(${countTextOf(total)})`), 'total'] as const]
  const { sequelize } = shape.models
  const options = {
    model,
    attributes: [...shape.columns, ...further],
    where: shape.where,
    order: among?.order.map(([column, way]) => [columnNamed(pageAlias(root), column), way]) ?? shape.order,
    subQuery: false,
    // `attributes` already contains the columns of joined rows.
    includeIgnoreAttributes: false,
    ...(lock === undefined ? {} : { lock, indexHints: BY_ID }),
    ...(index === undefined ? {} : { indexHints: [{ type: IndexHints.FORCE, values: [index] }] }),
    ...(limit === undefined ? {} : { limit: literal(`$${limit}`) }),
    ...(offset === undefined ? {} : { offset: literal(`$${offset}`) })
  }
  const include = joins.map((join) => includeOf(join, { model }, { models: shape.models, from: root }))
  const text = generatorOf(sequelize)
    .selectQuery(tableOf(model), { ...options, include }, model)
    .replace(/;$/, '')
  return among === undefined
    ? text
    : textAmong(text, { from: `${quotedIdentifier(tableOf(model))} AS ${quotedIdentifier(root)}`, root, among })
}

/**
 * The text with the rows of `among` before the table. The join keeps this order of the two, so that the rows are sorted by
 * columns of the first one, which has no more rows than are read.
 */
function textAmong(
  text: string,
  { from, root, among: { rows, join, key } }: { readonly from: string; readonly root: string; readonly among: Among }
): string {
  const page = pageAlias(root)
  const isSame = key.map((column) =>
    [root, page].map((one) => `${quotedIdentifier(one)}.${quotedIdentifier(column)}`).join(' = ')
  )
  // The SELECT of a total, which may have the same table, stands before it.
  const at = text.lastIndexOf(` FROM ${from}`)
  if (at < 0) throw new TypeError(`No ${from} in ${text}`)
  const [before, after] = [text.slice(0, at), text.slice(at + ` FROM ${from}`.length)]
  return `${before} FROM (${selectTextOf(rows)}) AS ${quotedIdentifier(page)} ${join} ${from} ON ${isSame.join(' AND ')}${after}`
}

/** Alias of the rows of `Among`. No entity and no join has such a name. */
export function pageAlias(root: string): string {
  return `page of ${root}`
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
export function rootAlias(model: RowModel): string {
  return model.name
}

function tableOf(model: RowModel): string {
  const table = model.getTableName()
  return typeof table === 'string' ? table : table.tableName
}
