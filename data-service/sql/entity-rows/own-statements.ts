import type { Value } from '../../entity/fields/field.js'
import type { StatementPlan } from '../../plan/model/plans.js'
import {
  type BoundValue,
  type BoundValues,
  selectStatement,
  type SqlDialect,
  type Statement,
  statementText,
  type StatementText
} from '../engines/statement.js'

// The statements that an application's operations write themselves.

export function ownSelect({ sql, columns }: StatementPlan, dialect: SqlDialect): Statement {
  const selected = columns.map((field, index) => ({ name: `column ${index + 1} of a statement`, field }))
  return selectStatement(sql, selected, dialect.decode)
}

export function ownChange({ sql }: StatementPlan): StatementText {
  return statementText(sql)
}

/** The values of a statement in the form of the database. Text is bound as it is, and not as a sort key. */
export function ownValues({ values }: StatementPlan, dialect: SqlDialect): BoundValues {
  return Object.fromEntries(
    Array.from(values, ([name, { field, value }]): [string, BoundValue] => {
      if (value === null || typeof value === 'bigint') return [name, value]
      if (field !== undefined && field.type !== 'string' && field.type !== 'enum') {
        return [name, dialect.bind(value, field)]
      }
      return [name, typeof value === 'string' ? value : BigInt(value)]
    })
  )
}

/** Throws RangeError for more rows than an operation gets. */
export function withinLimit(rows: Value[][], { maxRows }: StatementPlan): Value[][] {
  if (rows.length > maxRows)
    throw new RangeError(`A SELECT of an operation answers ${rows.length} rows; at most ${maxRows} are taken`)
  return rows
}
