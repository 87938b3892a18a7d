import type { Field } from '../entity/field.js'
import { COMPARISON, type Comparison } from '../entity/operator.js'
import { suggestion } from '../entity/suggestion.js'
import type { Operand } from '../entity/value.js'
import type { Resource } from './catalogue.js'
import type { Condition } from './condition.js'
import { fitDecimal, parseDecimal, type Rounding } from './decimal.js'
import { quoted, type FaultList } from './fault-list.js'
import { aliasesOf, parseOperator } from './parse-operator.js'
import { expected, parseValue } from './parse-value.js'
import { splitItems } from './split-items.js'

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
