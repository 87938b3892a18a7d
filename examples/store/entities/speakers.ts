import {
  bool,
  defaultTo,
  defineEntity,
  everyone,
  example,
  freeText,
  hidden,
  int,
  optional,
  permission,
  readOnly,
  reject,
  text
} from 'uniform-rest'

export const speakers = defineEntity({
  name: 'speakers',
  description: 'Who speaks at an event.',
  group: 'Events',

  fields: {
    id: readOnly(int()),
    name: example(text(200), 'Grace Hopper'),
    bio: example(optional(freeText()), 'Wrote the first compiler.'),
    eventId: int(),
    isConfirmed: defaultTo(hidden(bool()), false)
  },

  label: 'name',
  filterable: ['id', 'name', 'bio', 'eventId'],
  sortable: ['id', 'name', 'eventId'],
  searchable: ['name', 'bio'],

  references: {
    event: { to: 'events', via: 'eventId' }
  },

  access: { read: everyone, write: permission('events:manage') },
  writes: ['create', 'update', 'delete'],

  // Invited → confirmed, once.
  actions: (action) => ({
    confirm: action({
      description: 'Notes that the speaker comes.',
      change: ({ root }) =>
        root.isConfirmed
          ? reject.state('The speaker is confirmed; confirm needs one that is not.')
          : { set: { isConfirmed: true } }
    })
  })
})
