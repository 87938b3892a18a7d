import { everyone, ownRows, permission } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { int, long, onCreate, optional, readOnly, text, unique } from '../../../data-service/entity/fields/words.js'
import { makeCatalogue } from '../../../data-service/plan/model/catalogue.js'

/** Open to everyone but by id, where a filter that nothing replaces stands. */
export const boards = defineEntity({
  name: 'boards',
  description: 'Boards.',
  fields: { id: readOnly(int()), name: text(20) },
  label: 'name',
  filterable: [],
  sortable: [],
  access: { read: everyone, ownerFilter: { property: 'id', on: ['get'] } }
})

/** A filter on every route, which the row scope replaces where no owner is named. */
export const carts = defineEntity({
  name: 'carts',
  description: 'Carts.',
  fields: { id: readOnly(int()), customerId: onCreate(int()), note: optional(text(20)) },
  label: 'id',
  filterable: ['id', 'customerId'],
  sortable: ['id'],
  references: { board: { to: 'boards', via: 'customerId' } },
  access: {
    read: ownRows('customerId'),
    write: ownRows('customerId'),
    ownerFilter: { property: 'customerId', parameter: 'customerId', allowMissingOwner: 'rowScope' }
  },
  writes: ['create', 'update', 'delete'],
  actions: (action) => ({
    clear: action({ description: 'Clears.', change: () => ({ set: { note: null } }) })
  })
})

/** A filter on the list and on a read of its own, and no way around it. */
export const bookmarks = defineEntity({
  name: 'bookmarks',
  description: 'Bookmarks.',
  fields: { id: readOnly(int()), userId: onCreate(int()), sessionId: int(), note: optional(text(20)) },
  label: 'sessionId',
  filterable: ['id'],
  sortable: ['id', 'sessionId'],
  access: {
    read: ownRows('userId'),
    write: ownRows('userId'),
    ownerFilter: { property: 'userId', parameter: 'userId', on: ['list', 'session-ids'] }
  },
  writes: ['create', 'delete'],
  customReads: {
    'session-ids': {
      description: 'Which.',
      item: 'sessionId',
      sort: ['sessionId'],
      where: { note: 'kept' }
    },
    notes: { description: 'What.', items: ['note', 'id'], sort: ['id'] },
    all: { description: 'Everyone’s.', access: permission('bookmarks:manage'), item: 'id' }
  }
})

/** Nothing but a filter, by the parameter of the settings and by permission; owners beyond an int. */
export const folders = defineEntity({
  name: 'folders',
  description: 'Folders.',
  fields: { id: readOnly(long()), name: text(20) },
  label: 'name',
  filterable: ['id'],
  sortable: ['id'],
  access: {
    read: everyone,
    reads: { paged: permission('folders:manage'), export: permission('folders:manage') },
    write: permission('folders:manage'),
    ownerFilter: {
      property: 'id',
      on: ['list', 'paged', 'get', 'delete'],
      allowMissingOwner: { paged: 'permission', delete: 'permission' }
    }
  },
  writes: ['delete']
})

/** A filter by the id of the path, on rows that a name names too. */
const lockers = defineEntity({
  name: 'lockers',
  description: 'Lockers.',
  fields: { id: readOnly(long()), code: unique(text(20)), note: optional(text(20)) },
  label: 'code',
  filterable: ['code'],
  sortable: [],
  access: {
    read: everyone,
    write: permission('folders:manage'),
    ownerFilter: { property: 'id', on: ['get', 'update'], allowMissingOwner: { update: 'permission' } }
  },
  writes: ['update']
})

/** A filter by a parameter of the query, on such rows. */
const parcels = defineEntity({
  name: 'parcels',
  description: 'Parcels.',
  fields: { id: readOnly(int()), code: unique(text(20)), customerId: onCreate(int()) },
  label: 'code',
  filterable: ['code'],
  sortable: [],
  access: { read: everyone, ownerFilter: { property: 'customerId', parameter: 'customerId', on: ['get'] } }
})

export const ownedCatalogue = makeCatalogue([boards, carts, bookmarks, folders, lockers, parcels])
