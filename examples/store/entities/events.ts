import {
  dateTime,
  defineEntity,
  described,
  everyone,
  example,
  type FindByIds,
  fullText,
  type InputRejection,
  int,
  intOf,
  type NamedValues,
  oneOf,
  optional,
  permission,
  readOnly,
  reject,
  type Rejection,
  type StateRejection,
  text
} from 'uniform-rest'
import { ticketsOf } from './shop-rules.js'

const period = {
  startsAt: example(dateTime(), '2030-05-01T18:00:00.000Z'),
  endsAt: example(dateTime(), '2030-05-01T21:00:00.000Z')
}

const status = oneOf(['draft', 'scheduled', 'cancelled'])

export const events = defineEntity({
  name: 'events',
  description: 'What takes place at a venue, and when.',
  group: 'Events',

  fields: {
    id: readOnly(int()),
    title: example(text(200), 'Caring for Knives'),
    ...period,
    venueId: int(),
    status: readOnly(status)
  },

  label: 'title',
  filterable: ['id', 'title', 'startsAt', 'endsAt', 'venueId', 'status'],
  sortable: ['id', 'title', 'startsAt', 'endsAt', 'venueId', 'status'],
  searchable: fullText('title'),

  references: {
    venue: { to: 'venues', via: 'venueId' }
  },

  access: { read: everyone, write: permission('events:manage') },
  writes: ['create', 'update', 'delete'],
  creates: {
    prepare: async ({ input, findByIds }) =>
      backwards(input) ?? (await notFit(input.venueId, { findByIds, tickets: 0 })) ?? { values: { status: 'draft' } }
  },
  // An event may stay at a venue that has closed since.
  updates: async ({ root, input, findByIds, countReferencing }) =>
    backwards(input) ??
    (input.venueId === root.venueId
      ? undefined
      : await notFit(input.venueId, { findByIds, tickets: await ticketsOf(root.id, countReferencing) })) ??
    {},

  customReads: (read) => ({
    'in-period': read({
      description: 'Events that take place in a period, the earliest first.',
      params: {
        from: described('Only events that end after this moment.', optional(dateTime())),
        until: described('Only events that start before this moment.', optional(dateTime())),
        status: described('Only events in this state.', example(optional(status), 'scheduled')),
        limit: described('At most so many events.', example(optional(int({ min: 1, max: 1000 })), 10))
      },
      where: ({ params: { from, until, status }, where, allOf }) =>
        allOf(
          from === null ? 'all' : where('endsAt', 'is after', from),
          until === null ? 'all' : where('startsAt', 'is before', until),
          status === null ? 'all' : where('status', 'equals', status)
        ),
      items: ['id', 'title', 'startsAt', 'endsAt', 'venueId', 'status'],
      sort: ['startsAt'],
      limit: 'limit'
    })
  }),

  // What was announced is called off before it goes.
  deletes: { when: { status: ['draft', 'cancelled'] } },

  // draft → scheduled → cancelled; it ends after it starts, and comes only to open venues that hold the tickets to it,
  // until it is cancelled.
  actions: (action) => ({
    schedule: action({
      description: 'Settles when it takes place; from now on there are tickets to it.',
      when: { status: ['draft'] },
      becomes: { status: 'scheduled' },
      input: period,
      change: async ({ root, input: { startsAt, endsAt }, findByIds, countReferencing }) =>
        backwards({ startsAt, endsAt }) ??
        tooSmall(root.venueId, {
          venue: (await findByIds('venues', [root.venueId])).get(root.venueId) ?? {},
          tickets: await ticketsOf(root.id, countReferencing)
        }) ?? { set: { startsAt, endsAt } }
    }),
    cancel: action({
      description: 'Calls the event off.',
      when: { status: ['scheduled'] },
      becomes: { status: 'cancelled' }
    }),
    'change-venue': action({
      description: 'Moves the event to another venue, which must be open and hold the tickets there are.',
      when: { status: ['draft', 'scheduled'] },
      input: { venueId: int() },
      change: async ({ root: { id }, input: { venueId }, findByIds, countReferencing }) =>
        (await notFit(venueId, { findByIds, tickets: await ticketsOf(id, countReferencing) })) ?? { set: { venueId } }
    })
  })
})

/** Both are UTC and of one length, so that texts compare as the moments do. */
function backwards({ startsAt, endsAt }: { startsAt: string; endsAt: string }): InputRejection | undefined {
  return startsAt < endsAt ? undefined : reject.input('/endsAt', 'endsAt must be later than startsAt.')
}

/** Rejects a venue for an event that has so many tickets. */
async function notFit(
  venueId: number,
  { findByIds, tickets }: { readonly findByIds: FindByIds; readonly tickets: number }
): Promise<Rejection | undefined> {
  const venue = (await findByIds('venues', [venueId])).get(venueId)
  if (venue === undefined) return reject.input('/venueId', 'There is no such venue.')
  if (venue['isOpen'] !== true) return reject.state(`Venue ${venueId} is closed and takes no more events.`)
  return tooSmall(venueId, { venue, tickets })
}

function tooSmall(
  venueId: number,
  { venue, tickets }: { readonly venue: NamedValues; readonly tickets: number }
): StateRejection | undefined {
  const capacity = intOf(venue, 'capacity') ?? 0
  if (tickets <= capacity) return undefined
  return reject.state(`Venue ${venueId} holds ${capacity}; there are ${tickets} tickets to the event.`)
}
