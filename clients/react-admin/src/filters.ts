import type { ApplicationTypes, ResourceName, TypesOf } from '@uniform-rest/client'

type FilterTypes = readonly [value: unknown, operators: string]

type OperandOf<F extends FilterTypes, Operator> = Operator extends 'in'
  ? readonly F[0][]
  : Operator extends 'between'
    ? readonly [from: F[0], to: F[0]]
    : Operator extends 'isEmpty' | 'isNotEmpty'
      ? boolean
      : F[0]

/** What a property takes without an operator: a value, a list where it has `in`, null where it can be empty. */
type PlainOf<F extends FilterTypes> =
  | F[0]
  | ('in' extends F[1] ? readonly F[0][] : never)
  | ('isEmpty' extends F[1] ? null : never)

type ConditionOf<F extends FilterTypes> = { readonly [Operator in F[1]]?: OperandOf<F, Operator> }

type ByProperty<Filters> = {
  readonly [P in keyof Filters]?: Filters[P] extends infer F extends FilterTypes
    ? PlainOf<F> | ConditionOf<F> | readonly ConditionOf<F>[]
    : never
}

type DottedName<Filters> = {
  [P in string & keyof Filters]: Filters[P] extends infer F extends FilterTypes ? `${P}.${F[1]}` : never
}[string & keyof Filters]

type ByDottedName<Filters> = {
  readonly [Name in DottedName<Filters>]?: Name extends `${infer P extends string & keyof Filters}.${infer Operator}`
    ? Filters[P] extends infer F extends FilterTypes
      ? OperandOf<F, Operator>
      : never
    : never
}

/**
 * The filter object of a resource, as lists and inputs of react-admin have it. A key is a property, a property and an
 * operator (`price.gte`), or `q`, which searches. An input whose source is `price.gte` writes `{ price: { gte: … } }`, which
 * says the same. A list of such objects can have an operator twice.
 */
export type FilterOf<A extends ApplicationTypes, Name extends ResourceName<A>> = ConditionsOf<A, Name> & {
  readonly q?: TypesOf<A, Name>['search']
  /** At most ten groups: of the conditions of each, one at least must hold. */
  readonly anyOf?: readonly ConditionsOf<A, Name>[]
}

type ConditionsOf<A extends ApplicationTypes, Name extends ResourceName<A>> = ByProperty<TypesOf<A, Name>['filters']> &
  ByDottedName<TypesOf<A, Name>['filters']>

/** Conditions as the typed client takes them: by property, each with one operator. */
export type Conditions = Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>

/** What of a filter the client calls `where`, what `anyOf`, and what `search`. */
export interface Filtered {
  readonly where: Conditions
  readonly anyOf?: readonly Conditions[]
  readonly search?: string
}

/**
 * Reads a filter object. What an emptied input leaves behind (undefined, an empty text, an empty list, null under an
 * operator) is no condition. Throws a TypeError that names the key for a value that no condition takes.
 */
export function readFilter(filter: unknown): Filtered {
  const { anyOf, ...plain } = (filter ?? {}) as { readonly anyOf?: unknown }
  if (!isGroups(anyOf)) return readConditions(filter)
  return { ...readConditions(plain), anyOf: anyOf.map((group) => readConditions(group).where) }
}

/** A property may be called `anyOf` too. */
function isGroups(anyOf: unknown): anyOf is readonly object[] {
  return Array.isArray(anyOf) && anyOf.every((one) => isOperators(one))
}

function readConditions(filter: unknown): Omit<Filtered, 'anyOf'> {
  const where = new Map<string, Readonly<Record<string, unknown>>[]>()
  let search: string | undefined
  const add = (property: string, operator: string, value: unknown): void => {
    const condition = conditionOf(property, operator, value)
    if (condition === undefined) return
    const found = where.get(property) ?? []
    where.set(property, [...found, condition])
  }
  for (const [key, value] of Object.entries(filter ?? {}) as [string, unknown][]) {
    const [property = '', ...operator] = key.split('.')
    if (key === 'q' && (typeof value === 'string' || isBlank(value)))
      search = isBlank(value) ? undefined : String(value)
    else if (operator.length > 0) add(property, operator.join('.'), value)
    else if (areOperators(value)) {
      for (const [name, operand] of [value].flat().flatMap((one) => Object.entries(one))) add(property, name, operand)
    } else if (value === null) add(property, 'isEmpty', true)
    else add(property, Array.isArray(value) ? 'in' : 'eq', value)
  }
  return { where: Object.fromEntries(where), ...(search === undefined ? {} : { search }) }
}

/** undefined for a condition that an emptied input leaves behind. */
function conditionOf(
  property: string,
  operator: string,
  value: unknown
): Readonly<Record<string, unknown>> | undefined {
  if (isBlank(value)) return undefined
  const operands = Array.isArray(value) ? value : [value]
  if (operands.some((one) => isOperators(one) || Array.isArray(one))) {
    throw new TypeError(`The filter ${property}.${operator} takes a value or a list of values, not an object.`)
  }
  if (operator === 'isEmpty' || operator === 'isNotEmpty') {
    const opposite = operator === 'isEmpty' ? 'isNotEmpty' : 'isEmpty'
    return { [value === false ? opposite : operator]: true }
  }
  return { [operator]: operator === 'in' ? operands : value }
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}

/** Operators of a property, or a list of such objects, which names an operator more than once. */
function areOperators(value: unknown): value is object | readonly object[] {
  return isOperators(value) || (Array.isArray(value) && value.length > 0 && value.every((one) => isOperators(one)))
}

/** An object that is no value itself: operators with their operands. */
function isOperators(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}
