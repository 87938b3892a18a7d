import type { Exchange } from '../history.js'

/** An object of an answer, of whose members nothing is known. */
export type JsonObject = Readonly<Record<string, unknown>>

const READ = new WeakMap<Exchange, { readonly value: unknown }>()

/**
 * The value in the body of an answer; undefined where there is no answer, or its body is no JSON, which the checker of answers
 * finds. Several checkers ask, one after the other, and it is parsed once.
 */
export function jsonOf(exchange: Exchange): unknown {
  const known = READ.get(exchange)
  if (known !== undefined) return known.value
  const value = parsed(exchange.answer?.body)
  READ.set(exchange, { value })
  return value
}

/** The object in the body of an answer; one without members where there is none. */
export function objectOf(exchange: Exchange): JsonObject {
  const value = jsonOf(exchange)
  return isObject(value) ? value : {}
}

/** The objects in the body of an answer: of an array its items, of `{"items":[…]}` those, else the object itself. */
export function objectsOf(exchange: Exchange): readonly JsonObject[] {
  const value = jsonOf(exchange)
  const items = isObject(value) && Array.isArray(value['items']) ? (value['items'] as readonly unknown[]) : value
  return [items].flat().filter(isObject)
}

/** A member as a cell of an export shows it; empty for null and for none. */
export function cellOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Of JSON: neither null nor an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parsed(body: string | undefined): unknown {
  if (body === undefined) return undefined
  try {
    return JSON.parse(body) as unknown
  } catch {
    return undefined
  }
}
