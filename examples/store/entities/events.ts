import { everyone, permission } from '../../../data-service/entity/access.js'
import { type InputRefusal, type LookUp, type Refusal, refuse } from '../../../data-service/entity/action.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { dateTime, int, serverSet, text } from '../../../data-service/entity/field.js'

const period = { startsAt: dateTime(), endsAt: dateTime() }

export const events = defineEntity({
  name: 'events',
  description: 'What takes place at a venue, and when.',

  fields: {
    id: serverSet(int()),
    title: text(200),
    ...period,
    venueId: int(),
    status: serverSet(text(32))
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
    prepare: async ({ input, lookUp }) =>
      backwards(input) ?? (await notOpen(input.venueId, lookUp)) ?? { values: { status: 'draft' } }
  },
  // An event may stay at a venue that has closed since.
  updates: async ({ root, input, lookUp }) =>
    backwards(input) ?? (input.venueId === root.venueId ? undefined : await notOpen(input.venueId, lookUp)) ?? {},

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
      change: () => ({ set: { status: 'cancelled' } })
    }),
    'change-venue': action({
      description: 'Moves the event to another venue, which must be open.',
      when: { status: ['draft', 'scheduled'] },
      input: { venueId: int() },
      change: async ({ input: { venueId }, lookUp }) => (await notOpen(venueId, lookUp)) ?? { set: { venueId } }
    })
  })
})

/** Both are UTC and of one length, so that texts compare as the moments do. */
function backwards({ startsAt, endsAt }: { startsAt: string; endsAt: string }): InputRefusal | undefined {
  return startsAt < endsAt ? undefined : refuse.input('/endsAt', 'endsAt must be later than startsAt.')
}

async function notOpen(venueId: number, lookUp: LookUp): Promise<Refusal | undefined> {
  const venue = (await lookUp('venues', [venueId])).get(venueId)
  if (venue === undefined) return refuse.input('/venueId', 'There is no such venue.')
  return venue['isOpen'] === true ? undefined : refuse.state(`Venue ${venueId} is closed and takes no more events.`)
}
