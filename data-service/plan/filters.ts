import type { Field, FieldType, Operand } from '../entity/field.js'
import { suggestion } from '../entity/names.js'
import { COMPARISON, type Comparison, type OperatorOf, OPERATORS } from '../entity/operators.js'
import type { Resource } from './catalogue.js'
import type { Condition } from './plans.js'
import { expected, fitDecimal, parseDecimal, parseValue, type Rounding } from './values.js'
import { type FaultList, quoted } from './violations.js'

/** One filter of a request, as its texts. */
export interface FilterTexts {
  readonly property: string
  readonly operator: string
  readonly value: string
}

const MAX_CONDITIONS = 50
const MAX_ITEMS = 200
export const MAX_VALUE_CHARACTERS = 4096

/** The filters of a request as conditions; whatever is wrong with any of them goes on the list. */
export function parseConditions(
  filters: readonly FilterTexts[],
  resource: Resource,
  faults: FaultList
): readonly Condition[] {
  if (filters.length > MAX_CONDITIONS) {
    faults.add('filter.too-many', 'filters', `At most ${MAX_CONDITIONS} filters are taken, not ${filters.length}.`)
    return []
  }
  return filters.flatMap((filter) => parseCondition(filter, resource, faults) ?? [])
}

function parseCondition(filter: FilterTexts, resource: Resource, faults: FaultList): Condition | undefined {
  const filterable = resource.filterable.get(filter.property.toLowerCase())
  if (filterable === undefined) {
    const names = [...resource.filterable.values()].map((one) => one.name)
    const near = suggestion(filter.property, names)
    const detail = `${quoted(filter.property)} is not a property that can be filtered.${near}`
    faults.add('filter.property.unknown', `filters[${filter.property}]`, detail)
    return undefined
  }
  const { name, path, field, operators } = filterable
  const operator = parseOperator(filter.operator, field.type)
  if (operator === undefined || !operators.includes(operator)) {
    const aliases = aliasesOf(field.type, operators)
    const short = aliases.length === 0 ? '' : `; in short ${aliases.join(', ')}`
    const has = `${name} (${field.type}) has ${operators.join(', ')}${short}.`
    const detail = `${quoted(filter.operator)} is no operator of this property: ${has}`
    faults.add('filter.operator.unsupported', `filters[${name}].operator`, detail)
    return undefined
  }
  const comparison = COMPARISON[operator]
  const place = `filters[${name}].value`
  if (isTooLong(filter.value)) {
    faults.add('filter.too-many', place, `A filter value has at most ${MAX_VALUE_CHARACTERS} characters.`)
    return undefined
  }
  const operands = parseOperands(filter.value, { comparison, field, place }, faults)
  return operands === undefined ? undefined : { path, comparison, operands }
}

export function isTooLong(text: string): boolean {
  // Characters are code points of one or two UTF-16 units: only between the two bounds do they have to be counted.
  if (text.length > 2 * MAX_VALUE_CHARACTERS) return true
  return text.length > MAX_VALUE_CHARACTERS && Array.from(text).length > MAX_VALUE_CHARACTERS
}

interface Expectation {
  readonly comparison: Comparison
  readonly field: Field
  readonly place: string
}

function parseOperands(text: string, of: Expectation, faults: FaultList): readonly Operand[] | undefined {
  const { comparison, place } = of
  if (comparison === 'isEmpty' || comparison === 'isNotEmpty') return []
  const items = comparison === 'in' || comparison === 'between' ? splitItems(text) : [text]
  if (items instanceof Error) {
    faults.add('filter.value.invalid', place, `The value ${items.message}.`)
    return undefined
  }
  if (items.length > MAX_ITEMS) {
    faults.add('filter.too-many', place, `in takes at most ${MAX_ITEMS} items, not ${items.length}.`)
    return undefined
  }
  if (comparison === 'between' && items.length !== 2) {
    faults.add(
      'filter.value.invalid',
      place,
      `between takes two values with a comma between them, not ${items.length}.`
    )
    return undefined
  }
  const operands: Operand[] = []
  for (const [index, item] of items.entries()) {
    const operand = parseOperand(item, of, index)
    if (operand === undefined) {
      faults.add('filter.value.invalid', place, `${quoted(item)} is not ${expected(of.field)}.`)
    } else operands.push(operand)
  }
  return operands.length === items.length ? operands : undefined
}

function parseOperand(text: string, { comparison, field }: Expectation, index: number): Operand | undefined {
  const operand = parseValue(text, field)
  if (operand === undefined || field.type !== 'decimal') return operand
  const value = parseDecimal(text)
  return value && fitDecimal(value, field, roundingOf(comparison, index))
}

/**
 * How to bring a number with more digits than the column's scale to that scale without changing the answer: above 1.005
 * is above 1.00, and at least 1.005 is at least 1.01.
 */
function roundingOf(comparison: Comparison, index: number): Rounding {
  if (comparison === 'between') return index === 0 ? 'ceiling' : 'floor'
  if (comparison === 'greaterThan' || comparison === 'lessThanOrEqual') return 'floor'
  return comparison === 'greaterThanOrEqual' || comparison === 'lessThan' ? 'ceiling' : 'exact'
}

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

/**
 * The items of `in` and `between`: split on commas and trimmed, unless in double quotes, where `""` is a quote. An
 * error says what is wrong with the quoting.
 */
export function splitItems(text: string): readonly string[] | Error {
  const items: string[] = []
  let rest = text
  for (;;) {
    const quotedItem = /^\s*"((?:[^"]|"")*)"\s*(?:,|$)/.exec(rest)
    if (quotedItem === null && /^\s*"/.test(rest)) {
      return new Error('has a double quote that is not closed before the next comma or the end')
    }
    const comma = rest.indexOf(',')
    const [whole, item] =
      quotedItem !== null
        ? [quotedItem[0], (quotedItem[1] ?? '').replaceAll('""', '"')]
        : comma === -1
          ? [rest, rest.trim()]
          : [rest.slice(0, comma + 1), rest.slice(0, comma).trim()]
    items.push(item)
    if (!whole.endsWith(',') || (quotedItem === null && comma === -1)) return items
    rest = rest.slice(whole.length)
  }
}
