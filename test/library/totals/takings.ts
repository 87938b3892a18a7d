import {
  createTable,
  date,
  dateTime,
  decimal,
  defineEntity,
  fullText,
  int,
  long,
  type Migration,
  oneOf,
  optional,
  ownRows,
  permission,
  readableBy,
  text,
  unsigned,
  onCreate
} from 'uniform-rest'

// Numbers of every kind whose sums are exact, beyond 64 bits too, over few groups.

export const createTakings: Migration = {
  name: '001-takings',
  steps: [
    createTable('takings', (t) => ({
      columns: [
        t.varchar('id', 20).primaryKey(),
        t.bigint('owner_id'),
        t.varchar('place', 40).nullable(),
        t.enum('kind', ['b', 'a', 'c']),
        t.datetime('taken_at', 3).nullable(),
        t.date('booked_on').nullable(),
        t.decimal('amount', 18, 4).nullable(),
        t.decimal('share', 6, 0),
        t.bigint('units').nullable(),
        t.bigint('serial').unsigned(),
        t.int('pieces').nullable(),
        t.rowVersion()
      ],
      indexes: [t.index('owner_id'), t.fullText('place')]
    }))
  ]
}

export const takings = defineEntity({
  name: 'takings',
  description: 'What was taken.',
  fields: {
    id: onCreate(text(20)),
    ownerId: onCreate(long()),
    place: optional(text(40)),
    kind: oneOf(['b', 'a', 'c']),
    takenAt: optional(dateTime()),
    bookedOn: optional(date()),
    amount: optional(decimal(18, 4)),
    share: decimal(6, 0),
    units: optional(long()),
    serial: unsigned(long()),
    pieces: readableBy('takings:count', optional(int()))
  },
  label: 'kind',
  filterable: ['id', 'ownerId', 'place', 'kind', 'takenAt', 'bookedOn', 'amount', 'share', 'units', 'serial', 'pieces'],
  sortable: ['id'],
  searchable: fullText('place'),
  totals: {
    dimensions: [
      'ownerId',
      'place',
      'kind',
      'share',
      'bookedOn',
      'takenAt.year',
      'takenAt.month',
      'takenAt.day',
      'bookedOn.month',
      'pieces'
    ],
    measures: {
      count: true,
      sum: ['amount', 'share', 'units', 'serial', 'pieces'],
      average: ['amount', 'share', 'units', 'serial', 'pieces'],
      min: ['amount', 'units', 'serial', 'takenAt', 'bookedOn', 'pieces'],
      max: ['amount', 'units', 'serial', 'takenAt', 'bookedOn', 'pieces'],
      distinct: ['place', 'kind', 'amount', 'takenAt', 'pieces']
    }
  },
  access: { read: ownRows('ownerId'), write: permission('takings:write') },
  writes: ['create', 'delete']
})
