import type { FieldType } from './field.js'

/** The operators of every type in the words of contract.md section 4. */
export const OPERATORS = {
  string: [
    'contains',
    'not contains',
    'equals',
    'not equals',
    'starts with',
    'ends with',
    'in',
    'is empty',
    'is not empty'
  ],
  bool: ['is', 'is empty', 'is not empty'],
  int: [
    'equals',
    'not equals',
    'greater than',
    'greater than or equal',
    'less than',
    'less than or equal',
    'in',
    'between',
    'is empty',
    'is not empty'
  ],
  long: [
    'equals',
    'not equals',
    'greater than',
    'greater than or equal',
    'less than',
    'less than or equal',
    'in',
    'between',
    'is empty',
    'is not empty'
  ],
  decimal: [
    'equals',
    'not equals',
    'greater than',
    'greater than or equal',
    'less than',
    'less than or equal',
    'in',
    'between',
    'is empty',
    'is not empty'
  ],
  dateTime: [
    'is',
    'is not',
    'is after',
    'is on or after',
    'is before',
    'is on or before',
    'in',
    'between',
    'is empty',
    'is not empty'
  ],
  guid: ['equals', 'not equals', 'in', 'is empty', 'is not empty']
} as const satisfies Record<FieldType, readonly string[]>

/** The operators that suit a type: any other does not compile. */
export type OperatorOf<T extends FieldType> = (typeof OPERATORS)[T][number]

/** What an operator does, whatever its type calls it. */
export type Comparison =
  | 'equals'
  | 'notEquals'
  | 'contains'
  | 'notContains'
  | 'startsWith'
  | 'endsWith'
  | 'greaterThan'
  | 'greaterThanOrEqual'
  | 'lessThan'
  | 'lessThanOrEqual'
  | 'in'
  | 'between'
  | 'isEmpty'
  | 'isNotEmpty'

export const COMPARISON: Record<OperatorOf<FieldType>, Comparison> = {
  contains: 'contains',
  'not contains': 'notContains',
  equals: 'equals',
  'not equals': 'notEquals',
  'starts with': 'startsWith',
  'ends with': 'endsWith',
  in: 'in',
  between: 'between',
  'is empty': 'isEmpty',
  'is not empty': 'isNotEmpty',
  is: 'equals',
  'is not': 'notEquals',
  'greater than': 'greaterThan',
  'greater than or equal': 'greaterThanOrEqual',
  'less than': 'lessThan',
  'less than or equal': 'lessThanOrEqual',
  'is after': 'greaterThan',
  'is on or after': 'greaterThanOrEqual',
  'is before': 'lessThan',
  'is on or before': 'lessThanOrEqual'
}
