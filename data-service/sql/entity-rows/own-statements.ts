import type { Value } from '../../entity/fields/field.js'
import type { CallPlan, StatementPlan } from '../../plan/model/plans.js'
import {
  bindNames,
  type BoundValue,
  type BoundValues,
  quotedIdentifier,
  selectStatement,
  type SqlDialect,
  type Statement,
  statementText,
  type StatementText
} from '../engines/statement.js'

// The statements that an application's operations write themselves, and their calls of procedures.

export function ownSelect({ sql, columns }: Pick<StatementPlan, 'sql' | 'columns'>, dialect: SqlDialect): Statement {
  const selected = columns.map((field, index) => ({ name: `column ${index + 1} of a statement`, field }))
  return selectStatement(sql, selected, dialect.decode)
}

const parameterName = bindNames('p')

export function ownCall(
  { procedure, parameters, columns, maxRows }: CallPlan,
  dialect: SqlDialect
): { readonly statement: Statement; readonly values: BoundValues } {
  const names = parameters.map((_, index) => parameterName(index))
  const sql = `CALL ${quotedIdentifier(procedure)}(${names.map((name) => `$${name}`).join(', ')})`
  // A parameter takes a value as a column does.
  const values = parameters.map(({ field, value }, index): [string, BoundValue] => [
    parameterName(index),
    value === null ? null : dialect.store(value, field)
  ])
  return {
    statement: {
      ...ownSelect({ sql, columns: columns.map(({ field }) => field) }, dialect),
      procedure: { name: procedure, maxRows }
    },
    values: Object.fromEntries(values)
  }
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
