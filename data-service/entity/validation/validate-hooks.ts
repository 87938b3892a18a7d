import type { Entity } from '../entity.js'
import type { EventHandler, EventType } from '../event.js'
import type { Hook } from '../hooks.js'
import { KEBAB_CASE, suggestion } from '../fields/names.js'
import { WRITE_OPERATIONS } from '../operations.js'

/** Characters that fit into the column of the outbox. */
const LONGEST_EVENT_NAME = 100

/** Mistakes in the hooks of one entity: writes that it does not have, names of what it emits. */
export function hookMistakes(entity: Entity): string[] {
  return entity.hooks.all.flatMap((hook) => [
    ...hookedWriteMistakes(hook, entity),
    ...(hook.kind === 'emit' ? eventNameMistakes(hook.event) : [])
  ])
}

function hookedWriteMistakes(hook: Hook, { writes, actions }: Entity): string[] {
  const { on } = hook
  if (on === 'any') return []
  const what = hook.kind === 'emit' ? `emit of \`${hook.event.name}\`` : 'beforeCommit'
  if (on.length === 0) return [`${what} is on no write and never runs.`]
  const known: readonly string[] = [...WRITE_OPERATIONS, ...actions.keys()]
  return on.flatMap((write) => {
    if (!known.includes(write)) return [`${what}: \`${write}\` is no write or action.${suggestion(write, known)}`]
    // Rules of other entities create and update rows, but delete none.
    return write === 'delete' && !writes.has(write) ? [`${what} on \`delete\` without \`delete\` among writes.`] : []
  })
}

function eventNameMistakes({ name }: EventType): string[] {
  if (!KEBAB_CASE.test(name)) return [`the type \`${name}\` that it emits must be kebab-case such as \`parcel-sent\`.`]
  if (name.length > LONGEST_EVENT_NAME) return [`the type \`${name}\` has more than ${LONGEST_EVENT_NAME} characters.`]
  return []
}

/** Mistakes between what the entities emit and the handlers of the application: each type has one handler. */
export function outboxMistakes(entities: readonly Entity[], handlers: readonly EventHandler[]): string[] {
  const handled = handlers.map(({ event }) => event.name)
  const mistakes: string[] = []
  const emitted = new Map<string, EventType>()
  for (const { name: entity, hooks } of entities) {
    for (const hook of hooks.all) {
      if (hook.kind !== 'emit') continue
      const { event } = hook
      const first = emitted.get(event.name)
      if (first === undefined && !handled.includes(event.name)) {
        mistakes.push(
          `${entity}: it emits \`${event.name}\`, for which \`outbox\` of the application has no handler.` +
            suggestion(event.name, handled)
        )
      }
      if (first !== undefined && first !== event) {
        mistakes.push(`${entity}: \`${event.name}\` is defined twice; define it once and import it.`)
      }
      emitted.set(event.name, event)
    }
  }
  for (const [index, { event }] of handlers.entries()) {
    const first = emitted.get(event.name)
    if (first === undefined) {
      mistakes.push(`outbox: no entity emits \`${event.name}\`.${suggestion(event.name, [...emitted.keys()])}`)
    } else if (first !== event) {
      mistakes.push(`outbox: \`${event.name}\` is defined twice; define it once and import it.`)
    }
    if (handled.indexOf(event.name) < index) mistakes.push(`outbox: \`${event.name}\` has two handlers.`)
  }
  return [...new Set(mistakes)]
}
