import {
  dateTime,
  defineEntity,
  example,
  freeText,
  int,
  onCreate,
  optional,
  ownRows,
  readOnly,
  requiredNullable
} from 'uniform-rest'

export const bookmarks = defineEntity({
  name: 'bookmarks',
  description: 'Sessions that users marked, each once.',
  group: 'Catalogue',

  fields: {
    id: readOnly(int()),
    userId: onCreate(int()),
    sessionId: example(int(), 2),
    note: example(optional(freeText()), 'Bring the catalogue.'),
    createdAt: readOnly(dateTime())
  },

  label: 'sessionId',
  filterable: ['id', 'userId', 'sessionId', 'note', 'createdAt'],
  sortable: ['id', 'userId', 'sessionId', 'createdAt'],
  searchable: ['note'],

  access: {
    read: ownRows('userId'),
    write: ownRows('userId'),
    ownerFilter: { property: 'userId', parameter: 'userId', on: ['list', 'session-ids'] }
  },
  writes: ['create', 'delete'],
  creates: {
    prepare: ({ now }) => ({ values: { createdAt: now } })
  },
  customReads: {
    'session-ids': {
      description: 'The sessions that the user has bookmarked.',
      item: 'sessionId',
      sort: ['sessionId']
    }
  },

  actions: (action) => ({
    annotate: action({
      description: 'Replaces the note; null takes it away.',
      input: { note: requiredNullable(freeText()) },
      effect: ({ input: { note } }) => ({ set: { note } })
    })
  })
})
