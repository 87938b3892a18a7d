import {
  dateTime,
  defineEntity,
  everyone,
  type FindByIds,
  type InputRejection,
  int,
  permission,
  readOnly,
  reject,
  type Rejection,
  text
} from '../../../data-service/public/entity.js'

const period = { startsAt: dateTime(), endsAt: dateTime() }

export const events = defineEntity({
  name: 'events',
  description: 'What takes place at a venue, and when.',

  fields: {
    id: readOnly(int()),
    title: text(200),
    ...period,
    venueId: int(),
    status: readOnly(text(32))
  },

  label: 'title',
  filterable: ['id', 'title', 'startsAt', 'endsAt', 'venueId', 'status'],
  sortable: ['id', 'title', 'startsAt', 'endsAt', 'venueId', 'status'],

  references: {
    venue: { to: 'venues', via: 'venueId' }
  },

  access: { read: everyone, write: permission('events:manage') },
  writes: ['create', 'update', 'delete'],
  creates: {
    prepare: async ({ input, findByIds }) =>
      backwards(input) ?? (await notOpen(input.venueId, findByIds)) ?? { values: { status: 'draft' } }
  },
  // An event may stay at a venue that has closed since.
  updates: async ({ root, input, findByIds }) =>
    backwards(input) ?? (input.venueId === root.venueId ? undefined : await notOpen(input.venueId, findByIds)) ?? {},

  // draft → scheduled → cancelled; it ends after it starts, and comes to open venues only, until it is cancelled.
  actions: (action) => ({
    schedule: action({
      description: 'Settles when it takes place; from now on there are tickets to it.',
      when: { status: ['draft'] },
      input: period,
      change: ({ input: { startsAt, endsAt } }) =>
        backwards({ startsAt, endsAt }) ?? { set: { status: 'scheduled', startsAt, endsAt } }
    }),
    cancel: action({
      description: 'Calls the event off.',
      when: { status: ['scheduled'] },
      effect: { set: { status: 'cancelled' } }
    }),
    'change-venue': action({
      description: 'Moves the event to another venue, which must be open.',
      when: { status: ['draft', 'scheduled'] },
      input: { venueId: int() },
      change: async ({ input: { venueId }, findByIds }) => (await notOpen(venueId, findByIds)) ?? { set: { venueId } }
    })
  })
})

/** Both are UTC and of one length, so that texts compare as the moments do. */
function backwards({ startsAt, endsAt }: { startsAt: string; endsAt: string }): InputRejection | undefined {
  return startsAt < endsAt ? undefined : reject.input('/endsAt', 'endsAt must be later than startsAt.')
}

async function notOpen(venueId: number, findByIds: FindByIds): Promise<Rejection | undefined> {
  const venue = (await findByIds('venues', [venueId])).get(venueId)
  if (venue === undefined) return reject.input('/venueId', 'There is no such venue.')
  return venue['isOpen'] === true ? undefined : reject.state(`Venue ${venueId} is closed and takes no more events.`)
}
