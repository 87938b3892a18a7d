import {
  bool,
  defaultTo,
  defineEntity,
  everyone,
  example,
  int,
  intOf,
  permission,
  readOnly,
  reject,
  text,
  textOf
} from 'uniform-rest'
import { ticketsOf } from './shop-rules.js'

export const venues = defineEntity({
  name: 'venues',
  description: 'Where events take place.',
  group: 'Events',

  fields: {
    id: readOnly(int()),
    name: example(text(200), 'River Hall'),
    city: example(text(200), 'Lyon'),
    capacity: example(int({ min: 0 }), 220),
    isOpen: defaultTo(bool(), true)
  },

  label: 'name',
  filterable: ['id', 'name', 'city', 'capacity', 'isOpen'],
  sortable: ['id', 'name', 'city', 'capacity', 'isOpen'],
  searchable: ['name', 'city'],

  access: { read: everyone, write: permission('events:manage') },
  writes: ['create', 'update', 'delete'],
  // A venue keeps room for the tickets to its events: what is scheduled there and has not ended. Those that have ended
  // or are cancelled need no room any more.
  async updates({ root, input: { capacity }, findReferencing, countReferencing, now }) {
    if (capacity >= root.capacity) return {}
    for (const { root: event } of await findReferencing('events', 'venueId', root.id)) {
      if (event['status'] !== 'scheduled' || textOf(event, 'endsAt') <= now) continue
      const eventId = intOf(event, 'id') ?? 0
      const tickets = await ticketsOf(eventId, countReferencing)
      if (tickets > capacity) {
        return reject.state(
          `There are ${tickets} tickets to event ${eventId} at the venue; a capacity needs room for them.`
        )
      }
    }
    return {}
  },

  // open → closed; a PUT opens it again. The events that a closed one has stay there, and it gets no new ones.
  actions: (action) => ({
    close: action({
      description: 'Takes no more events.',
      when: { isOpen: [true] },
      becomes: { isOpen: false }
    })
  })
})
