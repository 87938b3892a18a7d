import type { Entity } from '../entity.js'
import { type EventType, isWebhook, oneTimeLink, type OutboxTarget, typeForWebhook, type Webhook } from '../event.js'
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

/**
 * Mistakes between what the entities emit and what `outbox` of the application has for it: each type has one handler, or
 * webhooks, or both.
 */
export function outboxMistakes(entities: readonly Entity[], outbox: readonly OutboxTarget[]): string[] {
  const wanted = outbox.flatMap((one) => (isWebhook(one) ? one.events : [one.event]))
  const names = wanted.map(({ name }) => name)
  const mistakes: string[] = []
  // The service itself emits this one.
  const emitted = new Map<string, EventType>([[oneTimeLink.name, oneTimeLink]])
  for (const { name: entity, hooks } of entities) {
    for (const hook of hooks.all) {
      if (hook.kind !== 'emit') continue
      const { event } = hook
      const first = emitted.get(event.name)
      if (first === undefined && !names.includes(event.name)) {
        mistakes.push(
          `${entity}: it emits \`${event.name}\`, for which \`outbox\` of the application has no handler and no webhook.` +
            suggestion(event.name, names)
        )
      }
      if (first !== undefined && first !== event) {
        mistakes.push(`${entity}: \`${event.name}\` is defined twice; define it once and import it.`)
      }
      emitted.set(event.name, event)
    }
  }
  for (const event of wanted) {
    const first = emitted.get(event.name)
    if (first === undefined) {
      mistakes.push(`outbox: no entity emits \`${event.name}\`.${suggestion(event.name, [...emitted.keys()])}`)
    } else if (first !== event) {
      mistakes.push(`outbox: \`${event.name}\` is defined twice; define it once and import it.`)
    }
  }
  const handled = outbox.flatMap((one) => (isWebhook(one) ? [] : [one.event.name]))
  for (const name of repeated(handled)) mistakes.push(`outbox: \`${name}\` has two handlers.`)
  return [...new Set([...mistakes, ...webhookMistakes(outbox.filter(isWebhook))])]
}

function webhookMistakes(webhooks: readonly Webhook[]): string[] {
  return [
    ...repeated(webhooks.map(({ name }) => name)).map(
      (name) => `outbox: two webhooks have the name \`${name}\`; give each its own \`name\`.`
    ),
    ...webhooks.flatMap(({ name, events }) => {
      const types = events.map((event) => event.name)
      const longest = Math.max(...types.map((type) => typeForWebhook(type, name).length))
      return [
        ...(KEBAB_CASE.test(name) ? [] : [`the name must be kebab-case such as \`accounting\`.`]),
        ...(types.length === 0 ? ['it has no events.'] : []),
        ...repeated(types).map((type) => `\`${type}\` is there twice.`),
        // The secret of a link is made for its handler alone.
        ...(types.includes(oneTimeLink.name) ? [`\`${oneTimeLink.name}\` takes a handler.`] : []),
        ...(longest > LONGEST_EVENT_NAME
          ? [`its name and that of an event have more than ${LONGEST_EVENT_NAME - 1} characters.`]
          : [])
      ].map((mistake) => `outbox: webhook \`${name}\`: ${mistake}`)
    })
  ]
}

function repeated(names: readonly string[]): string[] {
  return names.filter((name, at) => names.indexOf(name) < at)
}
