import { everyone, permission } from '../../data-service/entity/access.js'
import { reject } from '../../data-service/entity/action.js'
import { defineEntity } from '../../data-service/entity/define-entity.js'
import { defineEvent, onEvent } from '../../data-service/entity/event.js'
import { hidden, int, money, optional, readOnly, text } from '../../data-service/entity/fields/words.js'

// Hooks and events of an entity file. Each `@ts-expect-error` is a test.
const things = {
  name: 'things',
  description: 'Things.',
  fields: {
    id: readOnly(int()),
    name: text(200),
    price: money(10, 2),
    size: optional(int()),
    riskNote: hidden(optional(text(9)))
  },
  label: 'name',
  filterable: [],
  sortable: [],
  access: { read: everyone, write: permission('things:manage') },
  writes: ['create', 'update', 'delete']
} as const

const thingMade = defineEvent<{ name: string; price: string }>('thing-made')

/** What the mistakes below are variations of: all of this compiles. */
export const sound = [
  defineEntity({
    ...things,
    hooks: ({ beforeCommit, emit }) => [
      beforeCommit({ on: ['create'], run: ({ after }) => (after.price === '0' ? reject.state('No.') : undefined) }),
      beforeCommit({
        on: ['update', 'sell'],
        readBefore: true,
        run: ({ before, after }) => check(before.name, after.name)
      }),
      beforeCommit({
        on: ['delete'],
        readBefore: true,
        run: ({ before }) => check(before.riskNote ?? '', before.name)
      }),
      beforeCommit({
        on: 'any',
        run: (call) => (call.operation === 'delete' ? undefined : check(call.after.name, call.via))
      }),
      beforeCommit({
        on: ['create'],
        run: ({ id, now }) => ({ create: [{ resource: 'others', values: { thingId: id, at: now } }] })
      }),
      emit(thingMade, { on: ['create'], payload: ({ after: { name, price } }) => ({ name, price }) }),
      emit(thingMade, { on: ['update'], payload: ({ before, after }) => (before === undefined ? undefined : after) })
    ]
  })
]

function check(one: string, other: string): undefined {
  if (one === other) return undefined
  throw new Error('They differ')
}

function seen(value: unknown): undefined {
  if (value === null) throw new Error('There is nothing')
  return undefined
}

export const mistakes = [
  defineEntity({
    ...things,
    hooks: ({ beforeCommit, emit }) => [
      // @ts-expect-error there is no row after a delete
      beforeCommit({ on: ['delete'], run: ({ after }) => seen(after.name) }),
      // @ts-expect-error and none before a create
      beforeCommit({ on: ['create'], readBefore: true, run: ({ before }) => seen(before.name) }),
      // @ts-expect-error the row before may not have been read
      beforeCommit({ on: ['update'], run: ({ before }) => check(before.name, '') }),
      // @ts-expect-error a row has the fields of the entity
      beforeCommit({ on: ['create'], run: ({ after }) => seen(after.nothing) }),
      // @ts-expect-error with their types
      beforeCommit({ on: ['create'], run: ({ after }) => check(after.size, '') }),
      // @ts-expect-error the row itself is set by rules, before it is written
      beforeCommit({ on: ['update'], run: () => ({ set: { name: 'x' } }) }),
      // @ts-expect-error the payload is that of the type
      emit(thingMade, { on: ['create'], payload: ({ after }) => ({ name: after.name }) }),
      // @ts-expect-error with its types
      emit(thingMade, { on: ['create'], payload: ({ after }) => ({ name: after.name, price: 1 }) }),
      // @ts-expect-error and says when
      emit(thingMade, { payload: () => ({ name: 'x', price: '1' }) })
    ]
  })
]

export const handlers = [
  onEvent(thingMade, ({ payload: { price } }, { log }) => log.info({ price }, 'made')),
  onEvent(thingMade, async ({ id }, { signal }) => {
    await fetch('http://127.0.0.1', { signal })
    return { create: [{ resource: 'others', values: { id } }] }
  }),
  // @ts-expect-error the payload is that of the type
  onEvent(thingMade, ({ payload: { cost } }) => seen(cost)),
  // @ts-expect-error what changes must be under lock, which nothing is after the commit
  onEvent(thingMade, () => ({ update: [{ resource: 'others', id: 1 }] }))
]

// @ts-expect-error JSON holds no dates
export const withDate = defineEvent<{ at: Date }>('dated')
