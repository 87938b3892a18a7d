import type { Action } from '../../data-service/entity/action.js'
import type { Entity } from '../../data-service/entity/entity.js'
import type { WireValue } from '../oracle/wire-value.js'
import { STATES } from '../examples/every-entity/domain-values.js'
import type { Values } from './made-values.js'
import { ruleOf } from './rule-of.js'

/** Property to the values that an action needs it to have. */
type Needed = Readonly<Record<string, readonly WireValue[]>>

/** A state that no action is meant for. */
const ELSEWHERE = 'elsewhere'

/** Domain.md's word where it has one, else the `when` of the entity file. */
export function neededState(entity: Entity, action: Action): Needed {
  return (
    STATES[entity.name]?.[action.name] ??
    Object.fromEntries(action.required.map(({ column, anyOf }) => [column.name, anyOf]))
  )
}

/** Every state that any action of an entity is about, those that its actions can be in first; none without actions. */
export function statesOf(entity: Entity): Values[] {
  const values = new Map<string, WireValue[]>()
  for (const action of entity.actions.values()) {
    for (const [name, wanted] of Object.entries(neededState(entity, action))) {
      values.set(name, [...(values.get(name) ?? []), ...wanted])
    }
  }
  let states: Values[] = [{}]
  for (const [name, wanted] of values) {
    const all = typeof wanted[0] === 'boolean' ? [true, false] : [...new Set([...wanted, ELSEWHERE])]
    states = states.flatMap((state) => all.map((value) => ({ ...state, [name]: value })))
  }
  return states
}

/** A state in which a row can be deleted. */
export function deletableState(entity: Entity): Values {
  const { deletable } = ruleOf(entity)
  return Object.fromEntries(Object.entries(deletable).map(([name, [first = null]]) => [name, first]))
}

/** Every state of one property in which a row cannot be deleted, whatever else it has; none without such a rule. */
export function undeletableStates(entity: Entity): Values[] {
  return Object.entries(ruleOf(entity).deletable).flatMap(([name, allowed]) => {
    const [first] = allowed
    const known = statesOf(entity).flatMap((state) => state[name] ?? [])
    const all: readonly WireValue[] = typeof first === 'number' ? [first + 1, first + 100] : [...known, ELSEWHERE]
    const others = [...new Set(all)].filter((value) => !allowed.includes(value))
    return others.map((value) => ({ ...deletableState(entity), [name]: value }))
  })
}

/** Whether an action can be done in a state. */
export function suits(needed: Needed, state: Values): boolean {
  return Object.entries(needed).every(([name, wanted]) => wanted.includes(state[name] ?? null))
}

/** A state that suits an action, on top of what any row of the entity has. */
export function suitableState(entity: Entity, action: Action): Values {
  const needed = neededState(entity, action)
  return statesOf(entity).find((state) => suits(needed, state)) ?? {}
}
