import type { OracleProperty, WireType } from './resource.js'

/** A JSON value is its text here. */
export type WireValue = string | number | boolean | null | readonly string[]

/** A value as the driver hands it out: mysql2 with strings for everything exact, SQLite with big integers. */
export type RawValue = string | number | bigint | Uint8Array | null

/** A value as both drivers take it for a `?`. */
export type SqlParameter = string | number | bigint | Buffer | null

/** Contract section 3: what the driver's value of a property is on the wire. */
export function wireValue(property: OracleProperty, raw: RawValue): WireValue {
  if (raw === null) return null
  const bytes = typeof raw === 'object' ? Buffer.from(raw) : undefined
  if (property.type === 'binary') return bytes?.toString('base64') ?? ''
  if (property.type === 'base64url') return bytes?.toString('base64url') ?? ''
  // Of a BIT column.
  const text = bytes === undefined ? String(raw) : BigInt(`0x${bytes.toString('hex')}`).toString()
  switch (property.type) {
    case 'string':
      return text
    case 'bool':
      return Number(text) === 1
    case 'int':
    case 'double':
      return Number(text)
    case 'long':
      return text.replace(/^0+(?=\d)/, '')
    case 'decimal':
      return typeof raw === 'bigint' ? fromScaled(raw, property.scale) : text
    case 'dateTime':
      return text.includes('T') ? text : wireMoment(text)
    case 'date':
    case 'time':
    case 'enum':
      return text
    case 'set':
      return text === '' ? [] : text.split(',')
    case 'json':
      return text
    case 'guid':
      return text.toLowerCase()
  }
}

/** As MySQL writes a moment. The wire has three digits of its fraction at least. */
function wireMoment(text: string): string {
  const [whole = '', fraction = ''] = text.replace(' ', 'T').split('.')
  return `${whole}.${fraction.padEnd(3, '0')}Z`
}

/** 1990 at scale 2 is `19.90`. */
function fromScaled(scaled: bigint, scale: number): string {
  const sign = scaled < 0n ? '-' : ''
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(scale + 1, '0')
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** A wire value as the driver stores it. */
export function stored(
  kind: 'sqlite' | 'mysql',
  column: {
    readonly type: WireType
    readonly scale?: number
    readonly unsigned?: boolean
    readonly storage?: string
    readonly precision?: number
  },
  value: WireValue
): SqlParameter {
  if (value === null) return null
  switch (column.type) {
    case 'bool':
    case 'int':
    case 'long': {
      const digits = BigInt(typeof value === 'boolean' ? Number(value) : scalar(value))
      if (kind === 'mysql' && column.storage === 'bits') return bitsOf(digits, column.precision ?? 1)
      const wide = kind === 'sqlite' && column.type === 'long' && column.unsigned === true
      return wide ? digits.toString().padStart(20, '0') : digits
    }
    case 'double':
      return Number(value)
    case 'decimal':
      return kind === 'sqlite' ? scaled(scalar(value), column.scale ?? 0) : scalar(value)
    case 'dateTime':
      return kind === 'sqlite' ? scalar(value) : scalar(value).replace('T', ' ').replace('Z', '')
    case 'set':
      return Array.isArray(value) ? value.join() : scalar(value)
    case 'binary':
    case 'base64url':
      return Buffer.from(scalar(value), column.type === 'binary' ? 'base64' : 'base64url')
    case 'string':
    case 'date':
    case 'time':
    case 'enum':
    case 'json':
    case 'guid':
      return scalar(value)
  }
}

/** The text of a value that is no list. */
export function scalar(value: NonNullable<WireValue>): string {
  if (typeof value === 'object') throw new TypeError(`${JSON.stringify(value)} is no single value`)
  return String(value)
}

function bitsOf(digits: bigint, count: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(digits)
  return bytes.subarray(8 - Math.ceil(count / 8))
}

function scaled(text: string, scale: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(scale, '0'))
}
