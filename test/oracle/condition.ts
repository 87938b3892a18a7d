import type { OracleProperty } from './resource.js'
import { comparable, foldCase, parseOperand, splitList, type Comparable } from './operand.js'
import type { WireValue } from './wire-value.js'

/** Whether a value of a row meets a condition. */
export type Test = (value: WireValue) => boolean

/** A rejected condition, by the code of its problem. */
interface Rejection {
  readonly code: 'filter.operator.unsupported' | 'filter.value.invalid'
}

type Relation = (value: Comparable, operand: Comparable) => boolean

const RELATIONS: Readonly<Record<string, Relation>> = {
  equals: (value, operand) => value === operand,
  'greater than': (value, operand) => value > operand,
  'greater than or equal': (value, operand) => value >= operand,
  'less than': (value, operand) => value < operand,
  'less than or equal': (value, operand) => value <= operand,
  contains: (value, operand) => String(value).includes(String(operand)),
  'starts with': (value, operand) => String(value).startsWith(String(operand)),
  'ends with': (value, operand) => String(value).endsWith(String(operand))
}

const EMPTINESS = { 'is empty': 'is empty', 'is not empty': 'is not empty' }
const LISTS = { in: 'in' }
const ORDER = {
  'greater than': 'greater than',
  'greater than or equal': 'greater than or equal',
  'less than': 'less than',
  'less than or equal': 'less than or equal',
  gt: 'greater than',
  gte: 'greater than or equal',
  lt: 'less than',
  lte: 'less than or equal',
  between: 'between'
}
const EQUALITY = { equals: 'equals', 'not equals': 'not equals', eq: 'equals', ne: 'not equals' }
const NUMBER = { ...EQUALITY, ...ORDER, ...LISTS, ...EMPTINESS }
const MOMENT = {
  ...LISTS,
  ...EMPTINESS,
  is: 'equals',
  'is not': 'not equals',
  'is after': 'greater than',
  'is on or after': 'greater than or equal',
  'is before': 'less than',
  'is on or before': 'less than or equal',
  between: 'between',
  eq: 'equals',
  ne: 'not equals',
  gt: 'greater than',
  gte: 'greater than or equal',
  lt: 'less than',
  lte: 'less than or equal'
}

/** Contract section 4: the words each type takes, with the relation each stands for. */
const WORDS: Readonly<Record<OracleProperty['type'], Readonly<Record<string, string>>>> = {
  string: {
    ...EQUALITY,
    ...LISTS,
    ...EMPTINESS,
    contains: 'contains',
    'not contains': 'not contains',
    'starts with': 'starts with',
    'ends with': 'ends with'
  },
  bool: { ...EMPTINESS, is: 'equals', equals: 'equals', eq: 'equals' },
  int: NUMBER,
  long: NUMBER,
  decimal: NUMBER,
  double: { ...EQUALITY, ...ORDER, ...EMPTINESS },
  dateTime: MOMENT,
  date: MOMENT,
  time: MOMENT,
  guid: { ...EQUALITY, ...LISTS, ...EMPTINESS },
  enum: { ...EQUALITY, ...LISTS, ...EMPTINESS },
  set: { contains: 'has', 'not contains': 'has not', ...EMPTINESS },
  json: EMPTINESS,
  binary: EMPTINESS,
  base64url: { ...EQUALITY, ...LISTS, ...EMPTINESS }
}

/** The words of a type, aliases included. */
export function operatorWords(type: OracleProperty['type']): string[] {
  return Object.keys(WORDS[type])
}

/** What `filters[property]` with this operator and value asks of a row, or why it is rejected. */
export function parseCondition(property: OracleProperty, operator: string, value: string): Test | Rejection {
  const relation = new Map(Object.entries(WORDS[property.type]).map(([word, name]) => [fold(word), name])).get(
    fold(operator)
  )
  if (relation === undefined) return { code: 'filter.operator.unsupported' }
  const empty: Test = (one) => one === null || one === '' || (Array.isArray(one) && one.length === 0)
  if (relation === 'is empty') return empty
  if (relation === 'is not empty') return (one) => !empty(one)
  const texts = relation === 'in' || relation === 'between' ? splitList(value) : [value]
  const operands = texts?.map((text) => parseOperand(property, text)) ?? [undefined]
  if (!operands.every((one) => one !== undefined)) return { code: 'filter.value.invalid' }
  if (relation === 'has') return (one) => Array.isArray(one) && one.includes(value)
  if (relation === 'has not') return (one) => !(Array.isArray(one) && one.includes(value))
  if (relation === 'between' && operands.length !== 2) return { code: 'filter.value.invalid' }
  const [first, second] = operands
  if (first === undefined) return { code: 'filter.value.invalid' }
  const related = (name: string): Test => {
    const holds = RELATIONS[name]
    if (holds === undefined) throw new Error(`no relation ${name}`)
    return (one) => one !== null && holds(comparable(property, one), first)
  }
  if (relation === 'in') return (one) => one !== null && operands.includes(comparable(property, one))
  if (relation === 'between') {
    return (one) => {
      if (one === null || second === undefined) return false
      const found = comparable(property, one)
      return found >= first && found <= second
    }
  }
  if (relation === 'not equals') return (one) => !related('equals')(one)
  if (relation === 'not contains') return (one) => !related('contains')(one)
  return related(relation)
}

function fold(operator: string): string {
  return foldCase(operator).replace(/[ _-]/g, '')
}
