import type { Field, FieldType } from '../entity/field.js'
import type { Operand, Value } from '../entity/value.js'

/** What is sent beside a statement's text. Numbers travel as digits or bigint, never as a double. */
export type BoundValue = string | bigint | Buffer | null

/** Comparisons that look inside a text. */
export type TextMatch = 'contains' | 'startsWith' | 'endsWith'

/** Where the two kinds of database differ in the text of a SELECT and in its values. */
export interface SqlDialect {
  /** Function around a column of the type wherever it is compared or sorted by, for its order to be the contract's. */
  readonly keyFunction: (type: FieldType) => string | undefined
  /** SQL of an operand bound under a name, typed so that the column is compared in its own type, not as a double. */
  readonly operand: (name: string, field: Field) => string
  readonly bind: (operand: Operand, field: Field) => BoundValue
  /** A function of (column, operand) that answers 1 or 0; where there is none, LIKE does it. */
  readonly matchFunction: (match: TextMatch) => string | undefined
  readonly bindMatch: (operand: string, match: TextMatch) => BoundValue
  /** Whether the optimizer reads on inside a run of equal values only when the run is written as a range. */
  readonly runsAsRanges: boolean
  readonly decode: (type: FieldType, scale: number) => (raw: unknown) => Value
}

/** A value that the column's type cannot have: the tables and the entity files disagree. */
export function undecodable(type: FieldType, raw: unknown): TypeError {
  return new TypeError(`A ${type} column holds a ${typeof raw}`)
}
