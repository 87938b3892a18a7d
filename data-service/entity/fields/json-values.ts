import { withoutTrailingZeros } from './numbers.js'

/** A JSON number with the digits that it came with. It never passes through a double. */
export class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** The value `digits` × 10^`exponent`. The digits have no zeros at either end; zero has no digits. */
interface NumberParts {
  readonly negative: boolean
  readonly digits: string
  readonly exponent: number
  /** Of the number as written: digits after the point once the exponent is applied, and significant digits. */
  readonly scale: number
  readonly significant: number
}

export function numberParts({ text }: JsonNumber): NumberParts {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const significant = (whole + fraction).replace(/^0+/, '')
  const digits = withoutTrailingZeros(significant)
  const trailing = significant.length - digits.length
  const shift = Number(power)
  return {
    negative: sign === '-' && digits !== '',
    digits,
    exponent: digits === '' ? 0 : shift - fraction.length + trailing,
    scale: Math.max(0, fraction.length - shift),
    significant: significant.length
  }
}

/** The same text for the same value: 1, 1.0 and 10e-1 have one. */
export function canonicalNumber(number: JsonNumber): string {
  const { negative, digits, exponent } = numberParts(number)
  return digits === '' ? '0' : `${negative ? '-' : ''}${digits}e${exponent}`
}

/** Digits, far beyond what any column holds, so that no exponent of a client's choice makes a long text. */
export const LONGEST_NUMBER = 100

/** Beyond what any column holds. An exponent is the client's choice, and is not written out as so many zeros. */
const MAX_ZEROS = 40

/** The value as an integer; undefined where it has a fraction or is far beyond every column. */
export function integerOf({ negative, digits, exponent }: NumberParts): bigint | undefined {
  if (digits === '') return 0n
  if (exponent < 0 || exponent > MAX_ZEROS || digits.length > MAX_ZEROS) return undefined
  const magnitude = BigInt(digits) * 10n ** BigInt(exponent)
  return negative ? -magnitude : magnitude
}

export type JsonValue = string | boolean | null | JsonNumber | readonly JsonValue[] | JsonMembers
export interface JsonMembers {
  readonly [member: string]: JsonValue
}

export function isObject(value: JsonValue): value is JsonMembers {
  return typeof value === 'object' && value !== null && !isArray(value) && !(value instanceof JsonNumber)
}

export function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

/** The same text for the same value: members in order of their names, numbers in one spelling. */
export function canonicalJson(value: JsonValue): string {
  if (value instanceof JsonNumber) return canonicalNumber(value)
  if (isArray(value)) return `[${value.map(canonicalJson).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join()}}`
}

/** The value as JSON text, with the digits of its numbers as they came. */
export function jsonText(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.text
  if (isArray(value)) return `[${value.map(jsonText).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`)
    .join()}}`
}

/** A JSON value after a merge patch (RFC 7396): members of objects are merged, null removes one, all else replaces. */
export function mergePatch(target: JsonValue, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch
  const merged = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name)
    else merged.set(name, mergePatch(merged.get(name) ?? null, value))
  }
  return Object.fromEntries(merged)
}
