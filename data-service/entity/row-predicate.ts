import type { Caller } from './caller.js'
import type { Field, FieldType, OperandOfType } from './fields/field.js'
import type { OperandCountOf, OperatorOf } from './fields/operators.js'

/**
 * A row scope in an entity file's own words: `rows(({ caller, where }) => where('branchId', 'in', …))`. The function runs
 * once for each request. What it answers becomes part of the query, with its values bound.
 */
export interface Rows<F = never> {
  readonly kind: 'rows'
  /** Whether callers without a token get an answer too; otherwise they are rejected with 401. */
  readonly anonymous: boolean
  readonly predicate: (call: RowsCall<F, never>) => RowsWanted
}

/** A row scope of callers with a token alone. */
export interface TokenRows<F = never> extends Rows<F> {
  readonly anonymous: false
}

/**
 * The words that `access: ({ rows }) => …` of an entity file gets. They are arguments and no imports because the compiler
 * knows the fields of the entity only there.
 */
export interface RowsWords<F> {
  /** For callers with a token; others are rejected with 401 `auth.required`. */
  readonly rows: (predicate: (call: RowsCall<F, TokenCaller>) => RowsWanted) => TokenRows<F>
  /** The same for callers without a token too: `caller.kind` tells them apart. */
  readonly publicRows: (predicate: (call: RowsCall<F, TokenCaller | AnonymousCaller>) => RowsWanted) => Rows<F>
}

export function rowsWords<F>(): RowsWords<F> {
  return {
    rows: (...given) => ({ kind: 'rows', anonymous: false, predicate: checked('rows', ...given) }),
    publicRows: (...given) => ({ kind: 'rows', anonymous: true, predicate: checked('publicRows', ...given) })
  }
}

/** An application may run without a compiler having seen its files. */
function checked<Predicate>(word: string, predicate: Predicate, ...more: readonly never[]): Predicate {
  if (more.length > 0) throw new TypeError(`${word}(…) takes one function: allOf(…) takes several.`)
  if (typeof predicate === 'function') return predicate
  throw new TypeError(`${word}(…) takes a function that answers rows, and got ${typeof predicate}.`)
}

/** Rows of a resource: all of them, none, or those that meet a test. */
export type RowsWanted = 'all' | 'none' | RowTest

/** A test of a row: a comparison of one of its columns, or several tests joined by OR or by AND. */
export type RowTest = RowComparison | { readonly anyOf: readonly RowTest[] } | { readonly allOf: readonly RowTest[] }

interface RowComparison {
  readonly property: string
  readonly operator: string
  readonly operands: readonly unknown[]
}

/** What a predicate gets. */
export interface RowsCall<F, Who> {
  readonly caller: Who
  /** A comparison of a column of the row, with an operator of its type: `where('status', 'equals', 'open')`. */
  readonly where: <K extends ScopeName<F>, W extends OperatorOf<FieldTypeOf<F, K>>>(
    property: K,
    operator: W,
    ...operands: OperandsOf<FieldTypeOf<F, K>, W>
  ) => RowTest
  /** Rows that any of these lets through; without parts none. */
  readonly anyOf: (...parts: readonly RowsWanted[]) => RowsWanted
  /** Rows that all of these let through; without parts all. */
  readonly allOf: (...parts: readonly RowsWanted[]) => RowsWanted
}

/** Who calls, as a predicate sees it. */
export interface TokenCaller {
  readonly kind: 'authenticated'
  readonly issuer: string
  /** `sub` of a token of ours; issuer and `sub` with a space between of one of an outside issuer, so that both never equal. */
  readonly subject: string
  readonly roles: readonly string[]
  readonly permissions: ReadonlySet<string>
  /** The owner claim; null if it is missing or no integer. */
  readonly owner: bigint | null
  /** The owner of each kind that `owners` of the application names; null if its claim is missing or no integer. */
  readonly owners: Readonly<Record<string, bigint | null>>
  /**
   * The claims of the token as JSON values, frozen; of an outside issuer those that JWT_JWKS_CLAIMS names. Their types are
   * for the rule to check.
   */
  readonly claims: Readonly<Record<string, unknown>>
  /** Whether the caller has the bypass role. Throws `configuration` where OWNER_BYPASS_ROLE is not set. */
  readonly hasBypassRole: boolean
}

export type AnonymousCaller = Extract<Caller, { kind: 'anonymous' }>

/** Columns that all readers of a row see, or nobody does: whether a row is there must not tell of any other. */
type ScopeName<F> = { [K in keyof F]: F[K] extends { readableBy: undefined } ? K : never }[keyof F] & string
type FieldTypeOf<F, K extends keyof F> = F[K] extends Field<infer T> ? T : never

type OperandsOf<T extends FieldType, W> = {
  none: readonly []
  one: readonly [ScopeOperand<T>]
  two: readonly [from: ScopeOperand<T>, to: ScopeOperand<T>]
  list: readonly [readonly ScopeOperand<T>[]]
}[OperandCountOf<T, W>]

/** Integers may also be bigints, as the owner claim is one. */
type ScopeOperand<T extends FieldType> = OperandOfType<T> | (T extends 'int' | 'long' ? bigint : never)

/** The parts that are tests. Throws a TypeError for one that is neither: a misspelt `none` would let every row through. */
function testsOf(word: string, parts: readonly RowsWanted[]): RowTest[] {
  const tests = parts.filter((one) => one !== 'all' && one !== 'none')
  const wrong = tests.find((one) => typeof one !== 'object' || one === null)
  if (tests.every((one) => typeof one === 'object' && one !== null)) return tests
  throw new TypeError(`${word}(…) of rows takes all, none or where(…), and got ${String(wrong)}.`)
}

/** `anyOf` and `allOf` of a predicate. */
export const ROWS_WORDS = {
  anyOf: (...parts: readonly RowsWanted[]): RowsWanted => {
    const tests = testsOf('anyOf', parts)
    if (parts.includes('all')) return 'all'
    return tests.length === 0 ? 'none' : { anyOf: tests }
  },
  allOf: (...parts: readonly RowsWanted[]): RowsWanted => {
    const tests = testsOf('allOf', parts)
    if (parts.includes('none')) return 'none'
    return tests.length === 0 ? 'all' : { allOf: tests }
  }
} as const
