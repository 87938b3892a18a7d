import type { OracleProperty } from './resource.js'

export type WireValue = string | number | boolean | null

/** A value as the driver hands it out: mysql2 with strings for everything exact, SQLite with big integers. */
export type RawValue = string | number | bigint | null

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
