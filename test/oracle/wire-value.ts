import type { OracleProperty, WireType } from './resource.js'

export type WireValue = string | number | boolean | null

/** A value as the driver hands it out: mysql2 with strings for everything exact, SQLite with big integers. */
export type RawValue = string | number | bigint | null

/** A value as both drivers take it for a `?`. */
export type SqlParameter = string | number | bigint | Buffer | null

/** Contract section 3: what the driver's value of a property is on the wire. */
export function wireValue(property: OracleProperty, raw: RawValue): WireValue {
  if (raw === null) return null
  const text = String(raw)
  switch (property.type) {
    case 'string':
      return text
    case 'bool':
      return Number(raw) === 1
    case 'int':
      return Number(raw)
    case 'long':
      return text
    case 'decimal':
      return typeof raw === 'string' ? raw : fromScaled(BigInt(raw), property.scale)
    case 'dateTime':
      return text.includes('T') ? text : `${text.replace(' ', 'T')}Z`
    case 'guid':
      return text.toLowerCase()
  }
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
  column: { readonly type: WireType; readonly scale?: number },
  value: WireValue
): SqlParameter {
  if (value === null) return null
  switch (column.type) {
    case 'bool':
      return value === true ? 1n : 0n
    case 'int':
    case 'long':
      return BigInt(Number.isInteger(value) ? Number(value) : String(value))
    case 'decimal':
      return kind === 'sqlite' ? scaled(String(value), column.scale ?? 0) : String(value)
    case 'dateTime':
      return kind === 'sqlite' ? String(value) : String(value).replace('T', ' ').replace('Z', '')
    case 'string':
    case 'guid':
      return String(value)
  }
}

function scaled(text: string, scale: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(scale, '0'))
}
