import type { ViolationRule } from '../../../shared/errors.js'
import type { CellWriter } from '../fields/csv-text.js'
import type { Field, Operand, Value } from '../fields/field.js'
import type { ValueEncoder } from '../fields/json-text.js'
import type { JsonValue } from '../fields/json-values.js'
import { compareDecimals } from '../fields/numbers.js'
import type { Rounding } from '../fields/operators.js'

export type StoredValue = Exclude<Value, null>

/** What the service knows of a type of columns, whatever database they are in. Each type has a file here. */
export interface TypeRules {
  /**
   * The text of a query or path as an operand (contract.md section 3); undefined where it does not parse. A decimal keeps
   * all of its digits: how it is fitted to the scale of a column depends on the comparison.
   */
  readonly parse: (text: string, field: Field) => Operand | undefined
  /** What such a text looks like, to complete "… is not …". */
  readonly expected: (field: Field) => string
  /** A value of MySQL that no request may write, as rows show it; undefined for any other text. */
  readonly parseUnusual?: (text: string, field: Field) => Operand | undefined
  /** A member of a body that is not null. An Unmet says what is wrong; undefined: it is not what `taken` says. */
  readonly fromJson: (json: Exclude<JsonValue, null>, field: Field) => StoredValue | Unmet | undefined
  /** What a body takes, to complete "price must be …". */
  readonly taken: (field: Field) => string
  /**
   * What is wrong with a value of the type, to complete "price must …"; undefined where the column takes it. Nothing is
   * rounded or cut to fit (contract.md section 3).
   */
  readonly outOfBounds: (value: StoredValue, field: Field) => Unmet | undefined
  /** Whether a value of an application is one that the column takes as it is, but for its bounds. */
  readonly holds: (value: StoredValue, field: Field) => boolean
  /** The form of such a value, to complete "the example must be …". */
  readonly form: string
  /** Whether this is a value that a row may have in the column, in exactly the form in which rows have it on the wire. */
  readonly isWritten: (value: Operand, field: Field) => boolean
  /** The types of JavaScript that a row scope may compare the column with. */
  readonly comparable: readonly ('string' | 'number' | 'bigint')[]
  /** A value that an entity file compares with, as an operand of the base type; undefined for one that is not of it. */
  readonly operandOf: (value: unknown, field: Field, rounding: Rounding) => Operand | undefined
  /**
   * 0 if the value equals the operand, less if it comes before it, as the database compares them; undefined where the
   * database may compare them in another way. Types without an order say only whether it is 0.
   */
  readonly difference: (value: StoredValue, operand: Operand, field: Field) => number | undefined
  /** The most bytes that a value may have, as far as the column says. */
  readonly width: (field: Field) => number
  /** A value for documents, made from type and name, in the form in which rows have it. */
  readonly example: (name: string, field: Field) => StoredValue | undefined
  /** A value as JSON text. Values already have the form of the wire, so that only texts and words can need escaping. */
  readonly json: ValueEncoder
  /** A value as a cell of CSV. NULL is an empty cell. */
  readonly cell: CellWriter
}

/** Why a value is not taken. The message completes "price must …". It is no Error: a body has thousands, each without a stack. */
export class Unmet {
  readonly message: string
  readonly rule: ViolationRule | undefined

  constructor(message: string, rule?: ViolationRule) {
    this.message = message
    this.rule = rule
  }
}

/** An Unmet that says what the column takes. What an application's own type takes is known by its sentence only. */
export function notTaken({ custom }: Field, taken: string, rule: ViolationRule): Unmet {
  return custom === undefined ? new Unmet(`be ${taken}`, rule) : new Unmet(`be ${custom.expected}`)
}

/** A value of the base type as one of the application's own type, if the field has one; undefined where it is none. */
export function parseCustom(value: Operand, { custom }: Field): Operand | undefined {
  return custom === undefined ? value : custom.parse(value)
}

/** `one of draft, sent`: the words as a request must write them. */
export function oneOfWords({ words }: Field): string {
  return `one of ${words.map((word) => (word === '' ? '""' : word)).join(', ')}`
}

/** Of a word that is none of them. Words of more than a kilobyte are left out: the details of an error over gRPC are bounded. */
export function wordsRule({ words }: Field): ViolationRule {
  return words.join().length > LONGEST_WORDS ? { rule: 'type', type: 'enum' } : { rule: 'oneOf', words }
}

const LONGEST_WORDS = 1000

export function range(minimum: number | string | undefined, maximum: number | string | undefined): ViolationRule {
  return {
    rule: 'range',
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum })
  }
}

/** Bounds that the entity file sets, for digits in a text. */
export function outsideOfBounds(
  text: string,
  { minimum, maximum }: Field,
  rule: ViolationRule = range(minimum, maximum)
): Unmet | undefined {
  if (minimum !== undefined && compareDecimals(text, minimum) < 0) return new Unmet(`be at least ${minimum}`, rule)
  return maximum !== undefined && compareDecimals(text, maximum) > 0
    ? new Unmet(`be at most ${maximum}`, rule)
    : undefined
}

/** `1 to 200`, `at most 200`, `200`. */
export function amount(least: number, most: number): string {
  if (least === most) return String(most)
  return least === 0 ? `at most ${most}` : `${least} to ${most}`
}

/** The encoders and writers that several types have. */
export const inQuotes: ValueEncoder = (value) => (value === null ? 'null' : `"${String(value)}"`)

export const plainCell: CellWriter = (value, out) => {
  if (value !== null) out.cell(String(value))
}

export const never = (): undefined => undefined

/** Bytes of a number, a moment, a word and the like. */
export const short = (): number => 32

/** Of a type whose values an entity file writes as a query does. */
export function parsedOperand(parse: TypeRules['parse']): TypeRules['operandOf'] {
  return (value, field) => (typeof value === 'string' ? parse(value, field) : undefined)
}

export function textOrder(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

/** Whether a text is written as `parse` writes its value. */
export function isCanonical(value: Operand, field: Field, parse: TypeRules['parse']): boolean {
  if (typeof value !== 'string') return false
  const parsed = parse(value, field)
  return parsed !== undefined && parseCustom(parsed, field) === value
}
