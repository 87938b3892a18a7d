import { parse } from 'lossless-json'
import { BODY_TOO_DEEP, checkBodyLength, MAX_BODY_DEPTH } from '../../shared/body-limit.js'
import { DomainError } from '../../shared/domain-error.js'
import { quoted } from './fault-list.js'
import { canonicalNumber, JsonNumber } from './json-number.js'

export type JsonValue = string | boolean | null | JsonNumber | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [member: string]: JsonValue
}

/**
 * A body as JSON, numbers with all their digits. Throws `body.too-large`, `body.malformed`, or `body.invalid` for what
 * JSON leaves open.
 */
export function parseJson(bytes: Uint8Array): JsonValue {
  checkBodyLength(bytes.length)
  let value: JsonValue
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    // What the parser builds of the values handed to it; `undefined` is no JSON.
    value = parse(text, null, {
      parseNumber: (digits) => new JsonNumber(digits),
      onDuplicateKey: ({ key }) => {
        throw invalid(`The body says ${quoted(key)} twice.`)
      }
    }) as JsonValue
  } catch (error) {
    if (error instanceof DomainError) throw error
    // The parser goes as deep as its stack.
    if (error instanceof RangeError) throw tooDeep()
    throw new DomainError('body.malformed', 'The body is not JSON (RFC 8259) in UTF-8.', { cause: error })
  }
  if (isDeeperThan(value, MAX_BODY_DEPTH)) throw tooDeep()
  return value
}

export function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !isArray(value) && !(value instanceof JsonNumber)
}

export function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

/** The same text for the same value, whatever the order of members and the writing of numbers. */
export function canonicalJson(value: JsonValue): string {
  if (value instanceof JsonNumber) return canonicalNumber(value)
  if (isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join()}}`
}

function isDeeperThan(value: JsonValue, depth: number): boolean {
  if (!isArray(value) && !isObject(value)) return false
  return depth === 0 || Object.values(value).some((inner: JsonValue) => isDeeperThan(inner, depth - 1))
}

function tooDeep(): DomainError {
  return invalid(BODY_TOO_DEEP)
}

function invalid(detail: string): DomainError {
  return new DomainError('body.invalid', detail, {
    faults: [{ code: 'body.invalid', detail, place: { in: 'pointer', name: '' } }]
  })
}
