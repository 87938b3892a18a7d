import {
  anyOf,
  createTable,
  defineEntity,
  int,
  long,
  type Migration,
  onCreate,
  ownRows,
  readOnly,
  text
} from 'uniform-rest'

export const createRides: Migration = {
  name: '001-rides',
  steps: [
    createTable('rides', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.bigint('rider_id'),
        t.int('driver_id'),
        t.varchar('place', 60),
        t.varchar('asked_by', 60),
        t.rowVersion()
      ],
      indexes: [t.index('rider_id'), t.index('driver_id')]
    }))
  ]
}

export const rides = defineEntity({
  name: 'rides',
  description: 'Rides of a rider with a driver.',
  fields: {
    id: readOnly(int()),
    riderId: onCreate(long()),
    driverId: int(),
    place: text(60),
    askedBy: readOnly(text(60))
  },
  label: 'place',
  filterable: ['id', 'riderId', 'driverId'],
  sortable: ['id'],
  access: {
    read: anyOf(ownRows('riderId', { owner: 'rider' }), ownRows('driverId', { owner: 'driver' })),
    write: ownRows('riderId', { owner: 'rider' })
  },
  writes: ['create', 'update', 'delete'],
  creates: { prepare: ({ caller }) => ({ values: { askedBy: `rider ${caller.owners['rider'] ?? 'none'}` } }) }
})
