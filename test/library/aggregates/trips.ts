import {
  createTable,
  defineEntity,
  everyone,
  int,
  long,
  type Migration,
  onCreate,
  optional,
  ownRows,
  permission,
  preset,
  readOnly,
  reject,
  text
} from 'uniform-rest'

// Rows of resources that a create of another resource brings along.

export const createTrips: Migration = {
  name: '001-trips',
  steps: [
    createTable('trips', (t) => ({
      columns: [t.int('id').autoIncrement(), t.varchar('name', 60), t.rowVersion()]
    })),
    createTable('stops', (t) => ({
      columns: [
        t.varchar('id', 20).primaryKey(),
        t.int('trip_id'),
        t.bigint('owner_id'),
        t.varchar('place', 60),
        t.rowVersion()
      ],
      indexes: [t.index('trip_id'), t.index('owner_id')],
      foreignKeys: [{ column: 'trip_id', references: 'trips.id', onDelete: 'restrict' }]
    })),
    createTable('checks', (t) => ({
      columns: [t.int('id').autoIncrement(), t.int('trip_id'), t.varchar('what', 60), t.rowVersion()],
      indexes: [t.index('trip_id')],
      foreignKeys: [{ column: 'trip_id', references: 'trips.id', onDelete: 'restrict' }]
    })),
    createTable('words', (t) => ({
      columns: [
        t.varchar('id', 20).primaryKey(),
        t.varchar('name', 60),
        t.varchar('paid', 10).nullable(),
        t.rowVersion()
      ]
    })),
    createTable('passes', (t) => ({
      columns: [t.int('id').autoIncrement(), t.int('branch_id'), t.varchar('name', 60), t.rowVersion()],
      indexes: [t.index('branch_id')]
    }))
  ]
}

export const stops = defineEntity({
  name: 'stops',
  description: 'Stops of a trip, each of one owner.',
  fields: { id: onCreate(text(20)), tripId: int(), ownerId: onCreate(long()), place: text(60) },
  label: 'place',
  filterable: ['id', 'place'],
  sortable: ['id', 'place'],
  access: { read: ownRows('ownerId'), write: ownRows('ownerId') },
  writes: ['create', 'update', 'delete']
})

/** Its hook checks each new row, whether a request, a batch or a rule creates it. */
export const checks = defineEntity({
  name: 'checks',
  description: 'Checks before a trip.',
  fields: { id: readOnly(int()), tripId: int(), what: text(60) },
  label: 'what',
  filterable: ['id', 'what'],
  sortable: ['id', 'what'],
  access: { read: everyone, write: permission('trips:manage') },
  writes: ['create'],
  hooks: ({ beforeCommit }) => [
    beforeCommit({ on: ['create'], run: ({ after }) => (after?.['what'] === 'bad' ? reject.state('It is bad.') : {}) })
  ]
})

export const trips = defineEntity({
  name: 'trips',
  description: 'Trips with stops and checks.',
  fields: { id: readOnly(int()), name: text(60) },
  label: 'name',
  filterable: ['id', 'name'],
  sortable: ['id', 'name'],
  children: { stops: { entity: stops, foreignKey: 'tripId' }, checks: { entity: checks, foreignKey: 'tripId' } },
  access: { read: everyone, write: permission('trips:manage') },
  writes: ['create'],
  creates: {
    children: { stops: { min: 0 } },
    // A mistake: a row of `checks` would be there without its hook.
    prepare: ({ input }) =>
      input.name === 'checked' ? { values: {}, children: { checks: [{ tripId: 0, what: 'bad' }] } } : { values: {} }
  }
})

export const words = defineEntity({
  name: 'words',
  description: 'Rows whose ids are texts.',
  fields: { id: onCreate(text(20)), name: text(60), paid: readOnly(optional(text(10))) },
  label: 'name',
  filterable: ['id', 'name'],
  sortable: ['id', 'name'],
  access: { read: everyone, write: permission('trips:manage') },
  writes: ['create', 'update'],
  actions: (action) => ({ pay: action({ description: 'Pays.', effect: () => ({ set: { paid: 'yes' } }) }) })
})

/** The token says the branch, and another claim the owner: the two may differ. */
export const passes = defineEntity({
  name: 'passes',
  description: 'Passes of a branch.',
  fields: { id: readOnly(int()), branchId: preset(int(), ({ caller }) => caller.claims['branch']), name: text(60) },
  label: 'name',
  filterable: ['id', 'name'],
  sortable: ['id', 'name'],
  access: { read: everyone, write: ownRows('branchId') },
  writes: ['create']
})
