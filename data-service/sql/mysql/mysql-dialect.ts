import type { Field, FieldType } from '../../entity/field.js'
import type { Operand, Value } from '../../entity/value.js'
import { type SqlDialect, type TextMatch, undecodable } from '../dialect.js'

/** MySQL and MariaDB: the columns' collations compare text, casts keep bound digits from becoming doubles. */
export const mysqlDialect: SqlDialect = {
  keyFunction: () => undefined,
  operand: (name, field) => (castType(field) === undefined ? `$${name}` : `CAST($${name} AS ${castType(field)})`),
  bind: boundOperand,
  matchFunction: () => undefined,
  bindMatch: likePattern,
  runsAsRanges: true,
  decode: (type) => (raw) => (raw === null ? null : decoded(type, raw))
}

function castType({ type, precision, scale }: Field): string | undefined {
  switch (type) {
    case 'bool':
    case 'int':
    case 'long':
      return 'SIGNED'
    case 'decimal':
      // Two digits more than the column has, for operands beyond its range to stay beyond it.
      return `DECIMAL(${Math.min(precision + 2, 65)},${scale})`
    case 'dateTime':
      return 'DATETIME(3)'
    case 'string':
    case 'guid':
      return undefined
  }
}

function boundOperand(operand: Operand, { type }: Field): string {
  if (type === 'bool') return operand === true ? '1' : '0'
  // 2026-01-31T08:00:00.000Z in the form the server parses, the session being in UTC.
  if (type === 'dateTime') return String(operand).replace('T', ' ').replace('Z', '')
  return String(operand)
}

/** `!` escapes: unlike the backslash it means the same in every sql_mode. */
function likePattern(operand: string, match: TextMatch): string {
  const plain = operand.replace(/[!%_]/g, '!$&')
  return `${match === 'startsWith' ? '' : '%'}${plain}${match === 'endsWith' ? '' : '%'}`
}

function decoded(type: FieldType, raw: unknown): Value {
  switch (type) {
    case 'bool':
      return Number(raw) !== 0
    case 'int':
      return Number(raw)
    case 'long':
    case 'decimal':
    case 'string':
    case 'guid':
      return String(raw)
    case 'dateTime':
      if (typeof raw !== 'string') throw undecodable(type, raw)
      return isoTime(raw)
  }
}

/** `2026-01-31 08:00:00`, with or without a fraction, as `2026-01-31T08:00:00.000Z`. */
function isoTime(text: string): string {
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${text.slice(20, 23).padEnd(3, '0')}Z`
}
