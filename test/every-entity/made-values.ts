import type { Column } from '../../data-service/entity/field.js'
import type { WireValue } from '../oracle/wire-value.js'

/** Values of a row by property. */
export type Values = Readonly<Record<string, WireValue>>

/** Something fixed, or made of a number that no other row and no other body was made with. */
export type Made<T> = T | ((n: number) => T)

/** What rows and bodies of an entity need that cannot be told from the types of its fields. */
export interface EntityValues {
  /** Columns of every row that the tests insert, by property; hidden and read-only ones too. */
  readonly rows?: Made<Values>
  /** Columns of the first rows: others refer to these. */
  readonly firstRows?: readonly Values[]
  /** Columns of each child, by the name of the children. */
  readonly children?: Readonly<Record<string, Made<Values>>>
  /** A foreign key that needs a row of its own with these values: `{ venueId: { isOpen: true } }`. */
  readonly references?: Readonly<Record<string, Values>>
  /** Members of the body of a create, in place of made ones. */
  readonly create?: Made<Members>
  /** Members of the body of a PUT; the tests of PATCH take theirs from it. */
  readonly update?: Made<Members>
  /** Members of the body of an action, by its name. */
  readonly actions?: Readonly<Record<string, Made<Members>>>
}

/** Members of a body, as JSON values. */
export type Members = Readonly<Record<string, unknown>>

/** What was stated, for the row or body of this number. */
export function madeOf<T extends object>(made: Made<T> | undefined, n: number): T | undefined {
  return typeof made === 'function' ? made(n) : made
}

/** A hidden value, so that one that gets out is known by sight. */
export const SECRET = 'hidden-secret'

/**
 * A value that a column takes, another for each `n` as far as its type allows. Amounts leave room in both directions,
 * periods are under way: most rules of a domain are content with it.
 */
export function madeValue({ name, field }: Column, n: number): WireValue {
  if (field.hidden && field.type === 'string') return `${SECRET}-${n}`.slice(0, field.maxLength)
  const { custom } = field
  if (custom !== undefined) return custom.examples[n % custom.examples.length] ?? null
  switch (field.type) {
    case 'string':
      return madeText(name, field.maxLength, n)
    case 'bool':
      return true
    case 'int':
      return within(field, n)
    case 'long':
      return String(9_007_199_254_740_993n + BigInt(n))
    case 'decimal':
      return (100 + (n % 10)).toFixed(field.scale)
    case 'dateTime':
      return madeMoment(name, n)
    case 'guid':
      return guidOf(n)
  }
}

export function guidOf(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
}

/** What an input takes: small beside what rows hold, and later. */
export function madeInput(column: Column, n: number): WireValue {
  const { field, name } = column
  if (field.custom !== undefined) return madeValue(column, n)
  if (field.type === 'int') return Math.max(1, Number(field.minimum ?? 1))
  if (field.type === 'decimal') return (1).toFixed(field.scale)
  if (field.type === 'dateTime') return `${/start/i.test(name) ? 2051 : 2052}-01-01T00:00:00.000Z`
  return madeValue(column, n)
}

function madeText(name: string, maxLength: number, n: number): string {
  const text = `${name} ${n}`
  return text.length <= maxLength ? text : String(n).slice(-maxLength)
}

function within({ minimum, maximum }: Column['field'], n: number): number {
  const least = Number(minimum ?? 0)
  const most = Number(maximum ?? 1_000_000)
  return Math.min(most, least + 10 + (n % Math.max(1, Math.min(1000, most - least - 10))))
}

/** Ends and due dates lie ahead. */
function madeMoment(name: string, n: number): string {
  const year = /end|expire|expect|renew/i.test(name) ? 2050 : 2020
  return new Date(Date.UTC(year, 0, 1) + n * 1001).toISOString()
}
