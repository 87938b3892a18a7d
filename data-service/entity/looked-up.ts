import type { NamedValues } from './action.js'

/** A looked-up row's text, decimals and longs included. A property that is none is a mistake of the entity file. */
export function textOf(row: NamedValues, property: string): string {
  const value = row[property]
  if (typeof value !== 'string') throw new TypeError(`${property} is no text`)
  return value
}

/** A looked-up row's int; null where it is null. */
export function intOf(row: NamedValues, property: string): number | null {
  const value = row[property]
  if (typeof value !== 'number' && value !== null) throw new TypeError(`${property} is no int`)
  return value
}
