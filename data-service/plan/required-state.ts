import type { Action } from '../entity/action.js'
import type { Column } from '../entity/entity.js'
import type { Operand, Value } from '../entity/value.js'
import type { Condition } from './condition.js'

/** The state an action needs, as part of the UPDATE's match condition. */
export function requiredConditions({ required }: Action): Condition[] {
  return required.map(({ column, anyOf }) => ({
    path: { through: null, column },
    comparison: anyOf.length === 1 ? 'equals' : 'in',
    operands: anyOf
  }))
}

/** What of a row's state is in the action's way, in words; undefined where nothing is. */
export function wrongState(
  { name, required }: Action,
  of: { readonly resource: string; readonly values: ReadonlyMap<string, Value> }
): string | undefined {
  const wrong = required.find(({ column, anyOf }) => !anyOf.some((one) => one === of.values.get(column.name)))
  if (wrong === undefined) return undefined
  const { column, anyOf } = wrong
  const is = phrase(column, of.values.get(column.name) ?? null)
  return `The ${singular(of.resource)} is ${is}; ${name} needs it to be ${anyOf.map((one) => phrase(column, one)).join(' or ')}.`
}

/** `shipped` of a status; `active` and `not active` of `isActive`. */
function phrase({ name }: Column, value: Operand | Value): string {
  if (typeof value !== 'boolean') return value === null ? `without ${name}` : String(value)
  const words = name.replace(/^is(?=[A-Z])/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return `${value ? '' : 'not '}${words.trim()}`
}

/** `purchase order` of `purchase-orders`, `category` of `categories`. */
function singular(resource: string): string {
  return resource.replaceAll('-', ' ').replace(/ies$/, 'y').replace(/s$/, '')
}
