import { type BelongsTo, IndexHints, literal, type Sequelize, type WhereOptions } from 'sequelize'
import type { Expression } from './conditions.js'
import type { RowModel } from './row-models.js'

/** In a small table the optimizer would rather read, and lock, every row. The embedded database takes no hints. */
const BY_ID = [{ type: IndexHints.FORCE, values: ['PRIMARY'] }]

/** For changing the rows, or for keeping them as they are. Rows to lock are found by their id. */
export type Lock = 'UPDATE' | 'SHARE'

export interface SelectShape {
  readonly sequelize: Sequelize
  readonly model: RowModel
  /** Expression and alias of every column, in order. */
  readonly columns: readonly (readonly [Expression, string])[]
  /** References to join, each to at most one row. */
  readonly joins: readonly BelongsTo[]
  readonly where: WhereOptions
  readonly order: readonly (readonly [Expression, 'ASC' | 'DESC'])[]
  /** Rows to lock until the transaction ends; the embedded database, which has one writer, locks none. */
  readonly lock?: Lock
  /** Names of the bound limit and offset. */
  readonly limit?: 'limit'
  readonly offset?: 'offset'
}

/** The part of Sequelize's generator that is used here; its types say `unknown`. */
interface SelectGenerator {
  selectQuery(table: string, options: object, model: RowModel): string
}

/** Text of a SELECT, with `$name` wherever a value goes. */
export function selectText(shape: SelectShape): string {
  const { sequelize, model, joins, lock, limit, offset } = shape
  // The class behind getQueryInterface() has had this method through all of Sequelize 6; a test compiles every shape.
  const generator = sequelize.getQueryInterface().queryGenerator as SelectGenerator
  const options = {
    model,
    attributes: shape.columns,
    where: shape.where,
    order: shape.order,
    subQuery: false,
    // Columns of joined rows stand among `attributes`.
    includeIgnoreAttributes: false,
    ...(lock === undefined ? {} : { lock, indexHints: BY_ID }),
    ...(limit === undefined ? {} : { limit: literal(`$${limit}`) }),
    ...(offset === undefined ? {} : { offset: literal(`$${offset}`) })
  }
  const include = joins.map((association) => ({
    association,
    model: association.target,
    as: association.as,
    parent: { model },
    required: false
  }))
  return generator.selectQuery(tableOf(model), { ...options, include }, model)
}

/** Alias of the model's own rows in the text. */
export function aliasOf(model: RowModel): string {
  return model.name
}

function tableOf(model: RowModel): string {
  const table = model.getTableName()
  return typeof table === 'string' ? table : table.tableName
}
