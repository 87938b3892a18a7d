import type { FieldType, Operand } from './field.js'

/**
 * The one table of filter operators (contract.md section 4). The parser of requests (plan/parsing/filters.ts), the
 * comparison in SQL (sql/entity-rows/where-text.ts), Describe, and the `operators` of an entity file all read it: a new
 * operator is a new row here.
 */
export const OPERATORS = {
  contains: {
    // Of a set: whether it has the word.
    words: { string: ['contains'], set: ['contains'] },
    operands: 'one',
    rounding: 'exact',
    sql: { kind: 'match', match: 'contains' }
  },
  notContains: {
    words: { string: ['not contains'], set: ['not contains'] },
    operands: 'one',
    rounding: 'exact',
    sql: { kind: 'match', match: 'contains', negated: true }
  },
  equals: {
    words: {
      string: ['equals', 'eq'],
      bool: ['is', 'equals', 'eq'],
      ...numbers('equals', 'eq'),
      ...moments('is', 'eq'),
      guid: ['equals', 'eq'],
      enum: ['equals', 'eq'],
      base64url: ['equals', 'eq']
    },
    operands: 'one',
    rounding: 'exact',
    sql: { kind: 'equal' }
  },
  notEquals: {
    words: {
      string: ['not equals', 'ne'],
      ...numbers('not equals', 'ne'),
      ...moments('is not', 'ne'),
      guid: ['not equals', 'ne'],
      enum: ['not equals', 'ne'],
      base64url: ['not equals', 'ne']
    },
    operands: 'one',
    rounding: 'exact',
    sql: { kind: 'equal', negated: true }
  },
  startsWith: {
    words: { string: ['starts with'] },
    operands: 'one',
    rounding: 'exact',
    sql: { kind: 'match', match: 'startsWith' }
  },
  endsWith: {
    words: { string: ['ends with'] },
    operands: 'one',
    rounding: 'exact',
    sql: { kind: 'match', match: 'endsWith' }
  },
  greaterThan: {
    words: { ...numbers('greater than', 'gt'), ...moments('is after', 'gt') },
    operands: 'one',
    rounding: 'floor',
    sql: { kind: 'order', symbol: '>' }
  },
  greaterThanOrEqual: {
    words: { ...numbers('greater than or equal', 'gte'), ...moments('is on or after', 'gte') },
    operands: 'one',
    rounding: 'ceiling',
    sql: { kind: 'order', symbol: '>=' }
  },
  lessThan: {
    words: { ...numbers('less than', 'lt'), ...moments('is before', 'lt') },
    operands: 'one',
    rounding: 'ceiling',
    sql: { kind: 'order', symbol: '<' }
  },
  lessThanOrEqual: {
    words: { ...numbers('less than or equal', 'lte'), ...moments('is on or before', 'lte') },
    operands: 'one',
    rounding: 'floor',
    sql: { kind: 'order', symbol: '<=' }
  },
  in: {
    words: { string: ['in'], ...exactNumbers('in'), ...moments('in'), guid: ['in'], enum: ['in'], base64url: ['in'] },
    operands: 'list',
    rounding: 'exact',
    sql: { kind: 'in' }
  },
  between: {
    words: { ...numbers('between'), ...moments('between') },
    operands: 'two',
    rounding: ['ceiling', 'floor'],
    sql: { kind: 'between' }
  },
  isEmpty: {
    words: everyType('is empty'),
    operands: 'none',
    sql: { kind: 'empty' }
  },
  isNotEmpty: {
    words: everyType('is not empty'),
    operands: 'none',
    sql: { kind: 'notEmpty' }
  }
} as const satisfies Readonly<Record<string, OperatorRow>>

/** A row of the table. How many operands there are decides what the SQL can be. */
type OperatorRow = {
  /**
   * The types that have the operator, each with its word and then its aliases. Requests may write both in any letter
   * case, and with any spaces, underscores and hyphens in them. The order of the rows is the order of the words of a type.
   */
  readonly words: Readonly<Partial<Record<FieldType, Words>>>
} & (
  | { readonly operands: 'none'; readonly sql: { readonly kind: 'empty' | 'notEmpty' } }
  | { readonly operands: 'one'; readonly rounding: Rounding; readonly sql: SqlOfOne }
  | {
      readonly operands: 'two'
      readonly rounding: readonly [Rounding, Rounding]
      readonly sql: { readonly kind: 'between' } & Negatable
    }
  | { readonly operands: 'list'; readonly rounding: Rounding; readonly sql: { readonly kind: 'in' } & Negatable }
)

type Words = readonly [word: string, ...aliases: string[]]

/**
 * How a decimal operand with more digits than its column's scale is brought to that scale without changing the answer:
 * above 1.005 is above 1.00 (`floor`), and at least 1.005 is at least 1.01 (`ceiling`). `exact`: such an operand equals
 * no value of the column. The same holds for a number with more digits than a `float` has.
 */
export type Rounding = 'floor' | 'ceiling' | 'exact'

type SqlOfOne =
  | ({ readonly kind: 'equal' } & Negatable)
  | { readonly kind: 'order'; readonly symbol: '>' | '>=' | '<' | '<=' }
  /** A comparison that looks inside a text. */
  | ({ readonly kind: 'match'; readonly match: 'contains' | 'startsWith' | 'endsWith' } & Negatable)

/** A negated comparison keeps the rows that the comparison does not keep, rows without a value included. */
interface Negatable {
  readonly negated?: true
}

function exactNumbers<const W extends Words>(...words: W): Readonly<Record<'int' | 'long' | 'decimal', W>> {
  return { int: words, long: words, decimal: words }
}

function numbers<const W extends Words>(...words: W): Readonly<Record<'int' | 'long' | 'decimal' | 'double', W>> {
  return { ...exactNumbers(...words), double: words }
}

function moments<const W extends Words>(...words: W): Readonly<Record<'dateTime' | 'date' | 'time', W>> {
  return { dateTime: words, date: words, time: words }
}

function everyType<const W extends Words>(...words: W): Readonly<Record<FieldType, W>> {
  const texts = { string: words, guid: words, enum: words, set: words, json: words, binary: words, base64url: words }
  return { ...texts, bool: words, ...numbers(...words), ...moments(...words) }
}

type OperatorTable = typeof OPERATORS

/** What an operator does, whatever word a type has for it. */
export type Comparison = keyof OperatorTable

/** How many operands a comparison takes: none, exactly one, exactly two, or any number from one. */
type Arity = OperatorRow['operands']

/** The comparisons that take so many operands. */
type ComparisonOf<A extends Arity> = {
  [C in Comparison]: OperatorTable[C]['operands'] extends A ? C : never
}[Comparison]

/**
 * A comparison with its operands: values of the column's type, exact in the column's scale. The number of operands is
 * part of the type, so a list where one operand belongs does not compile.
 */
export type Compared =
  | { readonly comparison: ComparisonOf<'none'>; readonly operands: readonly [] }
  | { readonly comparison: ComparisonOf<'one'>; readonly operands: readonly [Operand] }
  | { readonly comparison: ComparisonOf<'two'>; readonly operands: readonly [Operand, Operand] }
  | { readonly comparison: ComparisonOf<'list'>; readonly operands: readonly Operand[] }

/** The words of the operators that suit a type, without aliases: any other does not compile in an entity file. */
export type OperatorOf<T extends FieldType> = T extends FieldType
  ? {
      [C in Comparison]: OperatorTable[C]['words'] extends Readonly<Record<T, readonly [infer W, ...unknown[]]>>
        ? W
        : never
    }[Comparison]
  : never

/** How many operands the operator with this word takes. */
export type OperandCountOf<T extends FieldType, W> = {
  [C in Comparison]: OperatorTable[C]['words'] extends Readonly<Record<T, readonly [W, ...unknown[]]>>
    ? OperatorTable[C]['operands']
    : never
}[Comparison]

/** An operator as a type has it. */
export type Operator = {
  readonly word: OperatorOf<FieldType>
  readonly aliases: readonly string[]
} & (
  | { readonly arity: 'none'; readonly comparison: ComparisonOf<'none'> }
  | { readonly arity: 'one'; readonly comparison: ComparisonOf<'one'>; readonly rounding: Rounding }
  | {
      readonly arity: 'two'
      readonly comparison: ComparisonOf<'two'>
      readonly rounding: readonly [Rounding, Rounding]
    }
  | { readonly arity: 'list'; readonly comparison: ComparisonOf<'list'>; readonly rounding: Rounding }
)

const FIELD_TYPES = Object.keys(OPERATORS.isEmpty.words) as FieldType[] // Every type has this operator.

const BY_TYPE: ReadonlyMap<FieldType, readonly Operator[]> = new Map(
  FIELD_TYPES.map((type) => [type, operatorsIn(type)])
)

function operatorsIn(type: FieldType): Operator[] {
  return Object.entries<OperatorRow>(OPERATORS).flatMap(([comparison, { words, operands, ...row }]) => {
    const [word, ...aliases] = words[type] ?? []
    const rounding = 'rounding' in row ? { rounding: row.rounding } : {}
    // The entries of a table have lost the tie between key and row that the members of Operator have.
    return word === undefined
      ? []
      : [{ word, aliases, comparison, arity: operands, ...rounding } as unknown as Operator]
  })
}

const BY_NAME: ReadonlyMap<FieldType, ReadonlyMap<string, Operator>> = new Map(
  FIELD_TYPES.map((type) => [
    type,
    new Map(
      operatorsOf(type).flatMap((operator) =>
        [operator.word, ...operator.aliases].map((name): [string, Operator] => [folded(name), operator])
      )
    )
  ])
)

/** The operators of a type in the order of the table. */
export function operatorsOf(type: FieldType): readonly Operator[] {
  return BY_TYPE.get(type) ?? []
}

/**
 * The operator that a request names: `starts with`, `startsWith`, `STARTS_WITH` and `starts-with` are one. undefined
 * where the type has no such operator.
 */
export function operatorNamed(text: string, type: FieldType): Operator | undefined {
  return BY_NAME.get(type)?.get(folded(text))
}

function folded(text: string): string {
  return text.replace(/[ _-]+/g, '').toLowerCase()
}

/** The aliases of those operators of the type whose words are given. */
export function aliasesOf(type: FieldType, words: readonly string[]): readonly string[] {
  return operatorsOf(type).flatMap(({ word, aliases }) => (words.includes(word) ? aliases : []))
}

/** Whether a comparison looks inside a text, so that its operand may be a part of a value. */
export function isOfParts({ comparison }: Pick<Operator, 'comparison'>): boolean {
  return OPERATORS[comparison].sql.kind === 'match'
}
