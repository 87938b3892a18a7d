import type { Property } from './catalogue.js'
import { momentOf, operatorKey } from './words.js'

// Conditions of a list, as its filter holds them and as people read them. The filter is a part of the address, and what the data
// provider takes.

/** The filter of a list: conditions under keys as `price.greaterThan`, and groups under `anyOf`. */
export type ListFilter = Readonly<Record<string, unknown>>

export interface Condition {
  readonly property: Property
  readonly operator: string
  /** What the data provider takes: a list for `in` and `between`, true where there is no value. */
  readonly value: unknown
}

/** A condition as it is being typed. */
export interface Draft {
  readonly name: string
  readonly operator: string
  readonly texts: readonly [string, string]
}

/** The conditions of a group: by property a list of objects with one operator each, or what somebody wrote into the address. */
type Group = Readonly<Record<string, unknown>>

/** Groups that a request may have (docs/queries.md). */
export const MAX_GROUPS = 10

export function isBare(operator: string): boolean {
  return operator === 'is empty' || operator === 'is not empty'
}

/** A draft with an operator that its property has. undefined where there is no such property. */
export function conditionOf({ name, operator, texts }: Draft, properties: readonly Property[]): Condition | undefined {
  const property = properties.find((one) => one.name === name)
  if (property === undefined) return undefined
  const { operators, type } = property
  const chosen = operators.includes(operator) ? operator : (operators[0] ?? '')
  return { property, operator: chosen, value: operandOf(texts, chosen, type) }
}

function operandOf([first, second]: readonly [string, string], operator: string, type: string): unknown {
  if (isBare(operator)) return true
  if (operator === 'in') return first.split(',').map((one) => one.trim())
  const [from, to] = [first, second].map((text) => (type === 'dateTime' ? momentOf(text) : text))
  return operator === 'between' ? [from, to] : from
}

/** The filter with one condition more, or, of several, with a group of which at least one must hold. */
export function withConditions(filter: ListFilter, conditions: readonly Condition[]): ListFilter {
  const [only] = conditions
  if (only === undefined) return filter
  if (conditions.length === 1) return { ...filter, [keyOf(only)]: only.value }
  const group: Record<string, Readonly<Record<string, unknown>>[]> = {}
  for (const { property, operator, value } of conditions) {
    const known = group[property.name] ?? []
    group[property.name] = [...known, { [operatorKey(operator)]: value }]
  }
  return { ...filter, anyOf: [...groupsIn(filter), group] }
}

function keyOf({ property, operator }: Condition): string {
  return `${property.name}.${operatorKey(operator)}`
}

/** A filter that somebody wrote into the address may be anything. */
export function groupsIn({ anyOf }: ListFilter): readonly Group[] {
  return Array.isArray(anyOf) && anyOf.every(isObject) ? anyOf : []
}

/** The data provider takes the same for groups, and for operators. */
function isObject(value: unknown): value is Group {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The filter without its condition, or its group at this place. */
export function withoutKey(filter: ListFilter, key: string): ListFilter {
  return Object.fromEntries(Object.entries(filter).filter(([one]) => one !== key))
}

export function withoutGroup(filter: ListFilter, place: number): ListFilter {
  const groups = groupsIn(filter).filter((_, index) => index !== place)
  return groups.length === 0 ? withoutKey(filter, 'anyOf') : { ...filter, anyOf: groups }
}

/** The conditions of a filter that are in no group, by their keys. */
export function conditionsIn(
  filter: ListFilter,
  properties: readonly Property[]
): readonly (Condition & { readonly key: string })[] {
  return Object.entries(filter).flatMap(([key, value]) => {
    const [name = '', word = ''] = key.split('.')
    const found = namedCondition({ name, word, value }, properties)
    return found === undefined ? [] : [{ key, ...found }]
  })
}

function namedCondition(
  { name, word, value }: { readonly name: string; readonly word: string; readonly value: unknown },
  properties: readonly Property[]
): Condition | undefined {
  const property = properties.find((one) => one.name === name)
  const operator = property?.operators.find((one) => operatorKey(one) === word)
  return property === undefined || operator === undefined ? undefined : { property, operator, value }
}

/** The words of a condition: the label of its property, and its values, where an id is shown as the name of its row. */
export interface ConditionWords {
  readonly labelOf: (property: Property) => string
  readonly textOf: (property: Property, value: unknown) => string
}

export function conditionText({ property, operator, value }: Condition, { labelOf, textOf }: ConditionWords): string {
  const operands = [value].flat().map((one) => textOf(property, one))
  const text = isBare(operator) ? '' : ` ${operands.join(operator === 'between' ? ' and ' : ', ')}`
  return `${labelOf(property)} ${operator}${text}`
}

/** Whether the operands of an operator are whole values, and not parts of texts. */
export function takesWholeValues(operator: string): boolean {
  return WHOLE.includes(operator)
}

const WHOLE: readonly string[] = ['equals', 'not equals', 'in', 'not in']

/** `Price less than 50 or Name contains jug`. */
export function groupText(group: Group, properties: readonly Property[], words: ConditionWords): string {
  const conditions = conditionsOf(group, properties)
  if (conditions.length === 0) return 'Other conditions'
  return conditions.map((one) => conditionText(one, words)).join(' or ')
}

/** The conditions of a group of which one at least must hold. */
export function conditionsOf(group: Group, properties: readonly Property[]): readonly Condition[] {
  return Object.entries(group).flatMap(([name, operators]) =>
    [operators]
      .flat()
      .filter(isObject)
      .flatMap((one) =>
        Object.entries(one).flatMap(([word, value]) => namedCondition({ name, word, value }, properties) ?? [])
      )
  )
}
