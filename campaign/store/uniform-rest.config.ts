import { defineApplication, defineEvent, type OutboxTarget } from 'uniform-rest'
import { compileHooks, type EmitHook } from '../../data-service/entity/hooks.js'
import store from '../../examples/store/uniform-rest.config.js'

/** The entity whose rows emit several events: an order is placed, paid and cancelled. */
const EMITS = 'orders'
const LATER = [
  { on: 'pay', event: defineEvent('order-paid') },
  { on: 'cancel', event: defineEvent('order-cancelled') }
] as const

/**
 * The reference store, whose webhook gets two events more. That of a placed order is the only one of its row: nothing could
 * show then whether the events of a row come in their order.
 */
export default defineApplication({
  ...store,
  // Administrators manage machine accounts.
  roles: { ...store.roles, Admin: [...(store.roles['Admin'] ?? []), 'accounts:manage'] },
  entities: store.entities.map((entity) => {
    if (entity.name !== EMITS) return entity
    const later = LATER.map(({ on, event }): EmitHook => ({
      kind: 'emit',
      on: [on],
      readBefore: false,
      event,
      payload: ({ requestId }) => ({ requestId })
    }))
    const writes = ['create', 'update', 'delete', ...entity.actions.keys()]
    return { ...entity, hooks: compileHooks([...entity.hooks.all, ...later], writes) }
  }),
  outbox: (store.outbox ?? []).map((target): OutboxTarget =>
    'url' in target ? { ...target, events: [...target.events, ...LATER.map(({ event }) => event)] } : target
  )
})
