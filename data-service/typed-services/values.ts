import type { Property } from '../../shared/gen/entity/v1/Property.js'
import type { EnumType } from './schema.js'
import { JsonNumber, jsonText, type JsonValue } from '../entity/fields/json-values.js'
import { isJson } from '../entity/types/json.js'

// How the values of properties are written in typed messages. Nothing is lost in either direction, and nothing is judged
// here: what a property does not take is passed on, in a form that the parser of requests rejects in its own words.

/** A message as its codec decodes it: longs are strings, enums the names of their values, absent fields undefined. */
export type Message = Readonly<Record<string, unknown>> & { readonly [UNKNOWN_FIELDS]?: readonly string[] }

/** Fields of a decoded request that its message type does not have, within it at any depth: `product.1023`. */
export const UNKNOWN_FIELDS = Symbol('unknown fields')

/** A type of value, between its form in JSON (contract.md section 3) and its form in a message. */
export interface ValueType {
  /** In the proto. */
  readonly proto: string
  /** Name of the condition that filters by values of the type: `Int32` of `Int32Condition`. */
  readonly conditions: string
  readonly comment: string
  /** The text of a value in a body's JSON; undefined for a value that is no JSON text. */
  readonly toJson: (value: unknown) => string | undefined
  /** The text of a value in a filter, a path or a parameter. */
  readonly toText: (value: unknown) => string
  /** A member of an answer, not null. */
  readonly fromJson: (value: JsonMember) => unknown
  /** A cell of an export, not null: json and double are texts there. */
  readonly fromCell: (value: JsonMember) => unknown
}

/** JSON as JSON.parse or as storedJson has it. */
export type JsonMember = JsonValue | number | { readonly [member: string]: JsonMember } | readonly JsonMember[]

/** A scalar of a message or of JSON as text; empty for what is absent. */
export function scalarText(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint' ? String(value) : ''
}

/** The elements of a list of JSON; none for what is no list. */
export function elementsOf(json: JsonMember | null | undefined): readonly JsonMember[] {
  return Array.isArray(json) ? (json as readonly JsonMember[]) : [] // Array.isArray loses the type of elements.
}

const asText = scalarText
const quotedScalar = (value: unknown): string => JSON.stringify(scalarText(value))
const numeric = (value: JsonMember): number => Number(value instanceof JsonNumber ? value.text : value)
const base64Text = (value: unknown): string => (Buffer.isBuffer(value) ? value.toString('base64') : '')

function makeValueType(
  [proto, conditions, comment = '']: readonly [proto: string, conditions: string, comment?: string],
  codec: Pick<ValueType, 'toJson' | 'fromJson'> & Partial<ValueType>
): ValueType {
  return { proto, conditions, comment, toText: asText, fromCell: codec.fromJson, ...codec }
}

function textType(conditions: string, comment: string): ValueType {
  return makeValueType(['string', conditions, comment], { toJson: quotedScalar, fromJson: asText })
}

/** Beyond these an int has no room in an int32, and a long none in an int64. */
const MAX_INT32 = 2n ** 31n - 1n
const MAX_INT64 = 2n ** 63n - 1n

const INT32_TYPE = makeValueType(['int32', 'Int32'], { toJson: asText, fromJson: numeric })
const WIDE_INT_TYPE = makeValueType(['int64', 'Int64'], {
  toJson: asText,
  fromJson: (value) => (value instanceof JsonNumber ? value.text : asText(value))
})
const INT64_TYPE = makeValueType(['int64', 'Int64'], { toJson: quotedScalar, fromJson: asText })
const UINT64_TYPE = makeValueType(['uint64', 'Uint64'], { toJson: quotedScalar, fromJson: asText })
const DOUBLE_TYPE = makeValueType(['double', 'Double'], {
  // What is no number is rejected as the text that it is: JSON has no form for it.
  toJson: (value) => (Number.isFinite(value) ? String(value) : quotedScalar(value)),
  fromJson: numeric
})
const JSON_TEXT = makeValueType(['string', 'Json', 'JSON (RFC 8259).'], {
  toJson: (value) => (isJson(scalarText(value)) ? scalarText(value) : undefined),
  fromJson: (value) => jsonText(value as JsonValue), // Read by storedJson, so that numbers have all their digits.
  fromCell: asText
})
const TIMESTAMP = makeValueType(['google.protobuf.Timestamp', 'Timestamp'], {
  toJson: (value) => JSON.stringify(momentText(value)),
  toText: momentText,
  fromJson: (value) => timestampMessage(scalarText(value))
})

const BASIC: Readonly<Record<string, ValueType>> = {
  string: textType('String', ''),
  bool: makeValueType(['bool', 'Bool'], { toJson: asText, fromJson: Boolean }),
  decimal: textType('Decimal', 'Decimal digits with all of the scale, such as `12.50`.'),
  double: DOUBLE_TYPE,
  dateTime: TIMESTAMP,
  date: textType('Date', '`YYYY-MM-DD`.'),
  time: textType('Time', '`HH:MM:SS`, with a fraction where the property has one.'),
  guid: textType('Guid', 'A GUID in lower case with hyphens.'),
  base64url: textType('Base64url', 'Bytes in base64url without padding.'),
  json: JSON_TEXT,
  binary: makeValueType(['bytes', 'Binary'], {
    toJson: (value) => JSON.stringify(base64Text(value)),
    toText: base64Text,
    fromJson: (value) => Buffer.from(scalarText(value), 'base64')
  })
}

/** The type of a property that is neither enum nor set. */
export function valueTypeOf({ type = '', maximum = '' }: Property): ValueType {
  const greatest = /^\d+$/.test(maximum) ? BigInt(maximum) : 0n
  if (type === 'int') return greatest > MAX_INT32 ? WIDE_INT_TYPE : INT32_TYPE
  if (type === 'long') return greatest > MAX_INT64 ? UINT64_TYPE : INT64_TYPE
  const known = BASIC[type === 'bytes' ? 'binary' : type]
  if (known === undefined) throw new TypeError(`no typed message has values of type ${type}`)
  return known
}

export function enumValueType(type: EnumType): ValueType {
  const toWord = new Map(type.words.map(({ word, name }) => [name, word]))
  const toName = new Map(type.words.map(({ word, name }) => [word, name]))
  // A number that the enum does not have is passed on as it is, and is no word.
  const word = (value: unknown): string => toWord.get(scalarText(value)) ?? scalarText(value)
  return makeValueType([type.name, ''], {
    toJson: (value) => JSON.stringify(word(value)),
    toText: word,
    fromJson: (value) => nameOfWord(toName, scalarText(value), type)
  })
}

/** The words of an enum as texts. */
export function textOfWords(words: readonly string[]): ValueType {
  return textType('String', `One of ${words.join(', ')}.`)
}

/** A set is a message with its words, so that an empty set differs from none. */
export function setValueType(message: string, type: EnumType): ValueType {
  const one = enumValueType(type)
  return makeValueType([message, ''], {
    toJson: (value) => `[${wordsOfSet(value).map(one.toJson).join()}]`,
    toText: (value) => wordsOfSet(value).map(one.toText).join(),
    fromJson: (value) => ({ words: elementsOf(value).map(one.fromJson) })
  })
}

function wordsOfSet(value: unknown): readonly unknown[] {
  return typeof value === 'object' && value !== null && 'words' in value && Array.isArray(value.words)
    ? value.words
    : []
}

function nameOfWord(names: ReadonlyMap<string, string>, word: string, { name }: EnumType): string {
  const found = names.get(word)
  if (found === undefined) throw new TypeError(`${JSON.stringify(word)} is no word of ${name}`)
  return found
}

/** A moment of RFC 3339 in UTC, as answers have it, as google.protobuf.Timestamp. */
function timestampMessage(text: string): { readonly seconds: string; readonly nanos: number } {
  const [, whole = '', fraction = ''] = /^([^.Z]+)(?:\.(\d+))?Z$/.exec(text) ?? []
  return { seconds: String(Date.parse(`${whole}Z`) / 1000), nanos: Number(fraction.padEnd(9, '0')) }
}

const NANOS = 1_000_000_000

/** As RFC 3339 with the digits that it has; for what is beyond the years 1 to 9999 a text that is no moment. */
function momentText(value: unknown): string {
  const { seconds = '0', nanos = 0 } = value as { readonly seconds?: string; readonly nanos?: number } // Of our codec.
  const date = new Date(Number(seconds) * 1000)
  const whole = Number.isNaN(date.valueOf()) ? '' : date.toISOString().slice(0, -5)
  if (whole.length !== 19 || nanos < 0 || nanos >= NANOS) return `${seconds} s ${nanos} ns`
  const digits = String(nanos)
    .padStart(9, '0')
    .slice(0, nanos % 1_000_000 === 0 ? 3 : 9)
  return `${whole}.${nanos % 1000 === 0 ? digits.slice(0, 6) : digits}Z`
}
