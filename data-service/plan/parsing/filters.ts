import { MAX_CONDITIONS, MAX_GROUPS } from '../../../shared/request-limits.js'
import type { Field, Operand } from '../../entity/fields/field.js'
import { fitDecimal, fitDouble, parseDecimal, parseDouble } from '../../entity/fields/numbers.js'
import {
  aliasesOf,
  type Compared,
  isOfParts,
  type Operator,
  operatorNamed,
  type Rounding
} from '../../entity/fields/operators.js'
import type { Resource } from '../model/catalogue.js'
import type { ColumnCondition, Condition, Path } from '../model/plans.js'
import { type Violations, quoted } from './violations.js'
import { parseCustom } from '../../entity/types/type-rules.js'
import { expected, fieldOfParts, parseValue } from '../../entity/types/types.js'

/** One filter of a request. */
export interface FilterParams {
  readonly property: string
  readonly operator: string
  readonly value: string
}

const MAX_IN_ITEMS = 200
export const MAX_VALUE_CHARACTERS = 4096

/** Filters that all must hold, and groups of which one at least must hold in each. */
export interface ConditionParams {
  readonly filters?: readonly FilterParams[]
  readonly anyOf?: readonly { readonly filters: readonly FilterParams[] }[]
}

/** Parses the filters of a request. Every mistake is added to `violations`. */
export function parseConditions(
  { filters = [], anyOf = [] }: ConditionParams,
  resource: Resource,
  violations: Violations
): readonly Condition[] {
  const count = anyOf.reduce((sum, group) => sum + group.filters.length, filters.length)
  if (count > MAX_CONDITIONS) {
    violations.add('filter.too-many', 'filters', `At most ${MAX_CONDITIONS} filters are taken, not ${count}.`)
    return []
  }
  if (anyOf.length > MAX_GROUPS) {
    violations.add('filter.too-many', 'anyOf', `At most ${MAX_GROUPS} groups are taken, not ${anyOf.length}.`)
    return []
  }
  const parse = (of: readonly FilterParams[], at: string): ColumnCondition[] =>
    of.flatMap((filter) => parseCondition({ ...filter, at }, resource, violations) ?? [])
  const groups = anyOf.flatMap((group, index): Condition[] => {
    const [first, ...others] = parse(group.filters, `anyOf[${index + 1}].`)
    if (first === undefined) return []
    return [others.length === 0 ? first : { anyOf: [first, ...others] }]
  })
  return [...parse(filters, ''), ...groups]
}

const MAX_WORDS = 8

/** Letters and digits to every server: to some of them, other numbers such as ² separate words. */
const PLAIN_WORD = /^[\p{L}\p{Nd}]+$/u
/** Letters of scripts that put no blanks between words: where a word begins is not known. */
const UNSEPARATED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u

/**
 * Parses the `search` of a request: each of its words must be contained in at least one searchable property. Where a full-text
 * index serves the search, a word of letters and digits must be the beginning of a word. Words are separated by white
 * space; a blank search has none.
 */
export function parseSearch(
  search: string | undefined,
  { searchable, entity: { fullText } }: Resource,
  violations: Violations
): readonly Condition[] {
  if (search === undefined) return []
  const [first, ...others] = searchable
  if (first === undefined) {
    // The gateway reports it as ignored. A caller over gRPC, who would take the rows for found ones, gets an error.
    violations.add('parameter.unknown', 'search', 'This resource has no searchable properties.')
    return []
  }
  if (isTooLong(search)) {
    violations.add('filter.too-many', 'search', `search has at most ${MAX_VALUE_CHARACTERS} characters.`)
    return []
  }
  const words = search.split(/\s+/).filter((word) => word !== '')
  if (words.length > MAX_WORDS) {
    violations.add('filter.too-many', 'search', `search takes at most ${MAX_WORDS} words, not ${words.length}.`)
    return []
  }
  const beginnings = words.filter((word) => fullText && PLAIN_WORD.test(word) && !UNSEPARATED.test(word))
  // Beginnings of words come first, so that words of both kinds in any order are one shape.
  const inOrder = [...beginnings, ...words.filter((word) => !beginnings.includes(word))]
  return inOrder.flatMap((word): Condition[] => {
    const isBeginning = beginnings.includes(word)
    const contained = (path: Path): Condition[] => {
      if (isBeginning) return [{ path, comparison: 'beginsWord', operands: [word] }]
      const value = parseValue(word, fieldOfParts(path.column.field))
      return value === undefined ? [] : [{ path, comparison: 'contains', operands: [value] }]
    }
    const [condition, ...more] = [first, ...others].flatMap(contained)
    if (condition !== undefined) return [{ anyOf: [condition, ...more] }]
    violations.add('filter.value.invalid', 'search', `${quoted(word)} is not text without U+0000.`)
    return []
  })
}

/** `at`: what stands before the names of its parameters. */
function parseCondition(
  { at, ...filter }: FilterParams & { readonly at: string },
  resource: Resource,
  violations: Violations
): ColumnCondition | undefined {
  const filterable = resource.filterable.get(filter.property.toLowerCase())
  if (filterable === undefined) {
    const detail = notFilterable(filter.property, resource, violations)
    violations.add('filter.property.unknown', `${at}filters[${filter.property}]`, detail)
    return undefined
  }
  const { name, path, field, operators } = filterable
  const operator = operatorNamed(filter.operator, field.type)
  if (operator === undefined || !operators.includes(operator.word)) {
    const aliases = aliasesOf(field.type, operators)
    const short = aliases.length === 0 ? '' : `; in short ${aliases.join(', ')}`
    const has = `${name} (${field.type}) has ${operators.join(', ')}${short}.`
    const detail = `${quoted(filter.operator)} is no operator of this property: ${has}`
    violations.add('filter.operator.unsupported', `${at}filters[${name}].operator`, detail)
    return undefined
  }
  const place = `${at}filters[${name}].value`
  if (isTooLong(filter.value)) {
    violations.add('filter.too-many', place, `A filter value has at most ${MAX_VALUE_CHARACTERS} characters.`)
    return undefined
  }
  const operandField = isOfParts(operator) ? fieldOfParts(field) : field
  const compared = parseOperands(filter.value, operator, { field: operandField, place, violations })
  return compared && { path, ...compared }
}

function notFilterable(property: string, { filterable }: Resource, violations: Violations): string {
  const near = violations.suggestion(property, () => [...filterable.values()].map((one) => one.name))
  return `${quoted(property)} is not a property that can be filtered.${near}`
}

const HALF = /^((?:anyOf\[(?:[1-9]|10)\]\.)?)filters\[([^[\]]*)\]\.(operator|value)$/i

/** What half a filter lacks, for a read that takes filters; undefined where the parameter is no part of a filter. */
export function missingHalf(parameter: string, resource: Resource, violations: Violations): string | undefined {
  const [, at = '', property, part] = HALF.exec(parameter) ?? []
  if (property === undefined || part === undefined) return undefined
  const [sent, missing] = part.toLowerCase() === 'value' ? ['value', 'operator'] : ['operator', 'value']
  const named = (half: string): string => quoted(`${at}filters[${property}].${half}`)
  const lacks = `Each ${named(sent)} needs a ${named(missing)} of its own.`
  return resource.filterable.has(property.toLowerCase())
    ? lacks
    : `${lacks} ${notFilterable(property, resource, violations)}`
}

export function isTooLong(text: string): boolean {
  // A character is a code point of one or two UTF-16 units, so characters are counted only between these two limits.
  if (text.length > 2 * MAX_VALUE_CHARACTERS) return true
  return text.length > MAX_VALUE_CHARACTERS && Array.from(text).length > MAX_VALUE_CHARACTERS
}

/** The column of the operands, the name of their parameter, and the list for violations. */
interface OperandTarget {
  readonly field: Field
  readonly place: string
  readonly violations: Violations
}

/** Parses the value of a filter as the operands of its operator. */
function parseOperands(text: string, operator: Operator, target: OperandTarget): Compared | undefined {
  switch (operator.arity) {
    case 'none':
      return { comparison: operator.comparison, operands: [] }
    case 'one': {
      const operand = parseOperand(text, operator.rounding, target)
      return operand === undefined ? undefined : { comparison: operator.comparison, operands: [operand] }
    }
    case 'two': {
      const items = parseItems(text, target)
      if (items === undefined) return undefined
      const [first, second, ...others] = items
      if (first === undefined || second === undefined || others.length > 0) {
        const takes = `${operator.word} takes two values with a comma between them`
        target.violations.add('filter.value.invalid', target.place, `${takes}, not ${items.length}.`)
        return undefined
      }
      const low = parseOperand(first, operator.rounding[0], target)
      const high = parseOperand(second, operator.rounding[1], target)
      if (low === undefined || high === undefined) return undefined
      return { comparison: operator.comparison, operands: [low, high] }
    }
    case 'list': {
      const items = parseItems(text, target)
      if (items === undefined) return undefined
      const operands = items
        .map((item) => parseOperand(item, operator.rounding, target))
        .filter((operand) => operand !== undefined)
      return operands.length < items.length ? undefined : { comparison: operator.comparison, operands }
    }
  }
}

function parseItems(text: string, { place, violations }: OperandTarget): readonly string[] | undefined {
  const items = splitItems(text)
  if (items instanceof Error) {
    violations.add('filter.value.invalid', place, `The value ${items.message}.`)
    return undefined
  }
  if (items.length <= MAX_IN_ITEMS) return items
  violations.add('filter.too-many', place, `in takes at most ${MAX_IN_ITEMS} items, not ${items.length}.`)
  return undefined
}

/** Parses one operand. Decimals get exactly the scale of their column. */
function parseOperand(
  text: string,
  rounding: Rounding,
  { field, place, violations }: OperandTarget
): Operand | undefined {
  const fitted = fittedOperand(text, field, rounding)
  const operand = fitted === undefined ? parseValue(text, field) : parseCustom(fitted, field)
  if (operand === undefined) violations.add('filter.value.invalid', place, `${quoted(text)} is not ${expected(field)}.`)
  return operand
}

/** A number in the digits of its column; undefined for any other type, and for what is no number. */
function fittedOperand(text: string, field: Field, rounding: Rounding): Operand | undefined {
  if (field.type === 'decimal') {
    const decimal = parseDecimal(text)
    return decimal && fitDecimal(decimal, field, rounding)
  }
  if (field.type !== 'double') return undefined
  const value = parseDouble(text)
  return value === undefined ? undefined : fitDouble(value, field, rounding)
}

/**
 * Splits the items of `in` and `between` at commas and trims them. Items in double quotes are taken unchanged, with `""`
 * for a quote. Returns an Error for wrong quoting.
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
