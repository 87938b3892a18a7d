import type { FieldType } from '../entity/field.js'
import { OPERATORS, type OperatorOf } from '../entity/operator.js'

type Operator = OperatorOf<FieldType>

const ORDER: Readonly<Record<string, Operator>> = {
  gt: 'greater than',
  gte: 'greater than or equal',
  lt: 'less than',
  lte: 'less than or equal'
}
const NUMBER: Readonly<Record<string, Operator>> = { eq: 'equals', ne: 'not equals', ...ORDER }
const ALIASES: Readonly<Record<FieldType, Readonly<Record<string, Operator>>>> = {
  string: { eq: 'equals', ne: 'not equals' },
  bool: { equals: 'is', eq: 'is' },
  int: NUMBER,
  long: NUMBER,
  decimal: NUMBER,
  dateTime: { eq: 'is', ne: 'is not', gt: 'is after', gte: 'is on or after', lt: 'is before', lte: 'is on or before' },
  guid: { eq: 'equals', ne: 'not equals' }
}

const TYPES: readonly FieldType[] = ['string', 'bool', 'int', 'long', 'decimal', 'dateTime', 'guid']
const byType = new Map<FieldType, ReadonlyMap<string, Operator>>(
  TYPES.map((type) => [
    type,
    new Map([
      ...OPERATORS[type].map((operator): [string, Operator] => [folded(operator), operator]),
      ...Object.entries(ALIASES[type])
    ])
  ])
)

/** `starts with`, `startsWith`, `STARTS_WITH` and `starts-with` are one; undefined where the type has no such operator. */
export function parseOperator(text: string, type: FieldType): Operator | undefined {
  return byType.get(type)?.get(folded(text))
}

/** The short names that stand for operators of the type, but for those it is not to have. */
export function aliasesOf(type: FieldType, operators: readonly string[]): readonly string[] {
  return Object.entries(ALIASES[type]).flatMap(([alias, operator]) => (operators.includes(operator) ? [alias] : []))
}

function folded(text: string): string {
  return text.replace(/[ _-]+/g, '').toLowerCase()
}
