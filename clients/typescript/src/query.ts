import type { ResourceTypes } from './types.js'

/** A filter property as the generated types have it: the type of its values, and the operators that it has. */
type FilterTypes = readonly [value: unknown, operators: string]

/** What an operator takes: a list, a range, `true` for those without a value, or one value. */
type Operand<Value, Operator> = Operator extends 'in'
  ? readonly Value[]
  : Operator extends 'between'
    ? readonly [from: Value, to: Value]
    : Operator extends 'isEmpty' | 'isNotEmpty'
      ? true
      : Value

/** Conditions on one property. All of them must hold. */
export type Condition<F extends FilterTypes> = { readonly [O in F[1]]?: Operand<F[0], O> }

/** Conditions by property. Several on one property with the same operator stand in a list. All of them must hold. */
export type Where<T extends ResourceTypes> = {
  readonly [P in keyof T['filters']]?: T['filters'][P] extends infer F extends FilterTypes
    ? Condition<F> | readonly Condition<F>[]
    : never
}

/** A property to sort by, with `-` before it for descending order. The id, ascending, always comes last. */
export type SortKey<T extends ResourceTypes> = T['sort'] | `-${T['sort']}`

/** Which rows, and in which order. */
export interface Selection<T extends ResourceTypes> {
  readonly where?: Where<T>
  /** At most ten groups: of the conditions of each, one at least must hold. */
  readonly anyOf?: readonly Where<T>[]
  /** Keeps rows where each word is in at least one searchable property. */
  readonly search?: T['search']
  /** At most four. */
  readonly sort?: SortKey<T> | readonly SortKey<T>[]
  /** The owner parameter of a resource that has one. */
  readonly parameters?: T['parameters']
}

/** What a row shows. Without `fields` it is whole. */
export interface Shape<T extends ResourceTypes> {
  /** The properties to answer, and navigations whose include is on. `rowVersion` is there only if it is named. */
  readonly fields?: readonly FieldOf<T>[]
  /** Whether rows that this one refers to come with it. */
  readonly includeFKs?: boolean
  /** Whether its children come with it. */
  readonly includeChildren?: boolean
  /** Names of navigations that come with it besides: `category`, or one of their rows behind a dot, `category.parent`. */
  readonly include?: readonly IncludeName<T>[]
}

/** Which page. A cursor and a page number exclude each other. */
export interface Paging {
  /** Rows of a page, 10 without it; more than the service allows are cut to that. */
  readonly pageSize?: number
  /** From 1. */
  readonly pageNumber?: number
  /** The cursor behind which the page begins. */
  readonly after?: string
  /** The cursor before which the page ends. */
  readonly before?: string
  /** false leaves the total out, which costs a count. */
  readonly includeTotal?: boolean
  /** Rows at which the count stops, from 1 to 1,000,000, so that it does not grow with the table. */
  readonly totalLimit?: number
}

type FieldOf<T extends ResourceTypes> = T['fields'] | (string & (keyof T['references'] | keyof T['children']))

/** What can be named within each navigation. */
type WithinOf<T extends ResourceTypes> = NonNullable<T['includes']>

/** A navigation, or one of the rows that it leads to behind a dot: `lines.product`. */
export type IncludeName<T extends ResourceTypes> = {
  [K in keyof WithinOf<T> & string]: K | `${K}.${keyof WithinOf<T>[K] & string}`
}[keyof WithinOf<T> & string]

type NamesOf<S> = S extends { readonly include: readonly (infer N extends string)[] } ? N : never

type FirstOf<N extends string> = N extends `${infer First}.${string}` ? First : N

/** The rows of a navigation with more in each. */
type Extended<Rows, More> = Rows extends readonly (infer Row)[]
  ? (Row & More)[]
  : Rows extends null
    ? Rows
    : Rows & More

type Navigations<T extends ResourceTypes> = T['references'] & T['children']

type Within<More, K extends string, N extends string> = {
  [M in keyof More as `${K}.${M & string}` & N extends never ? never : M]: More[M]
}

type ByName<T extends ResourceTypes, N extends string> = {
  [K in keyof Navigations<T> & FirstOf<N>]: Extended<
    Navigations<T>[K],
    K extends keyof WithinOf<T> ? Within<WithinOf<T>[K], K, N> : unknown
  >
}

/** Those that are named have what is named within them. */
type ByFlag<Flagged, N extends string> = [N] extends [never] ? Flagged : Omit<Flagged, FirstOf<N>>

type Included<T extends ResourceTypes, S> = (S extends { readonly includeFKs: true }
  ? ByFlag<T['references'], NamesOf<S>>
  : unknown) &
  (S extends { readonly includeChildren: true } ? ByFlag<T['children'], NamesOf<S>> : unknown) &
  ByName<T, NamesOf<S>>

type Whole<T extends ResourceTypes, S> = T['row'] & Included<T, S>

/** The row that a shape answers. */
export type Shaped<T extends ResourceTypes, S> = S extends { readonly fields: readonly [] }
  ? Whole<T, S>
  : S extends { readonly fields: readonly (infer F)[] }
    ? Pick<Whole<T, S>, F & keyof Whole<T, S>>
    : Whole<T, S>

type TotalsOf<T extends ResourceTypes> = NonNullable<T['totals']>

/** The names of what rows can be grouped by. */
export type DimensionName<T extends ResourceTypes> = string & keyof TotalsOf<T>['dimensions']

/** The names of what can be computed of a group. */
export type MeasureName<T extends ResourceTypes> = string & keyof TotalsOf<T>['measures']

/** What totals answer of which rows, and in which order. */
export interface TotalsQuery<T extends ResourceTypes, By extends string, M extends string> extends Omit<
  Selection<T>,
  'sort'
> {
  /** At most four; without it there is one group of all rows. */
  readonly by?: readonly By[]
  /** At most ten; without it all that the caller may read. */
  readonly measures?: readonly M[]
  /** What the answer has, with `-` before it for descending order. Without it the order is that of `by`. */
  readonly sort?: By | M | `-${By | M}` | readonly (By | M | `-${By | M}`)[]
}

/** A group, with the names that were asked for. */
export type TotalsRow<T extends ResourceTypes, By extends string, M extends string> = Pick<
  TotalsOf<T>['dimensions'],
  By & keyof TotalsOf<T>['dimensions']
> &
  Pick<TotalsOf<T>['measures'], M & keyof TotalsOf<T>['measures']>

/** Any query, as it becomes text. */
export interface AnyQuery {
  readonly where?: object
  readonly anyOf?: readonly object[]
  readonly search?: unknown
  readonly sort?: string | readonly string[]
  readonly parameters?: object | undefined
  readonly fields?: readonly string[]
  readonly include?: readonly string[]
  readonly [parameter: string]: unknown
}

/** The query string with its `?`; empty for a query that says nothing. Throws a TypeError for an `in` without values. */
export function queryText({
  where = {},
  anyOf = [],
  sort = [],
  parameters,
  fields,
  include = [],
  ...plain
}: AnyQuery): string {
  const params: string[] = []
  const add = (name: string, value: string): void => {
    params.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  }
  const addConditions = (conditions: object, at: string): void => {
    for (const [property, found] of Object.entries(conditions)) {
      for (const condition of [found].flat()) {
        for (const [operator, operand] of Object.entries((condition ?? {}) as object)) {
          if (operand === undefined) continue
          add(`${at}filters[${property}].operator`, operator)
          add(`${at}filters[${property}].value`, operandText(operator, operand))
        }
      }
    }
  }
  addConditions(where, '')
  for (const [index, group] of anyOf.entries()) addConditions(group, `anyOf[${index + 1}].`)
  const keys = [sort].flat()
  if (keys.length > 0) {
    add('sortColumn', keys.map((key) => key.replace(/^-/, '')).join())
    add('sortDirection', keys.map((key) => (key.startsWith('-') ? 'desc' : 'asc')).join())
  }
  if (fields !== undefined && fields.length > 0) add('fields', fields.join())
  if (include.length > 0) add('include', include.join())
  for (const [name, value] of Object.entries({ ...plain, ...parameters })) {
    if (value !== undefined && value !== null) add(name, textOf(value))
  }
  return params.length === 0 ? '' : `?${params.join('&')}`
}

function operandText(operator: string, operand: unknown): string {
  if (!Array.isArray(operand)) return operator === 'isEmpty' || operator === 'isNotEmpty' ? '' : textOf(operand)
  // The service would take an empty text for one item that is empty.
  if (operand.length === 0) throw new TypeError(`The operator ${operator} needs at least one value.`)
  return operand.map(itemText).join()
}

/** An item of `in` or `between`, in quotes where it would not be read as it stands. */
function itemText(value: unknown): string {
  const text = textOf(value)
  return text === '' || /[",]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function textOf(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value)
}
