import {
  bits,
  createTable,
  date,
  dateTime,
  defaultTo,
  defineEntity,
  double,
  everyone,
  float,
  int,
  long,
  mediumInt,
  type Migration,
  oneOf,
  onCreate,
  optional,
  permission,
  readOnly,
  smallInt,
  text,
  time,
  tinyInt,
  unique,
  unsigned,
  year
} from 'uniform-rest'

// Every type of columns in every role: filtered and sorted, nullable and not, unique, with a default, set on create alone,
// of a child and of a joined row.

const KINDS = ['water', 'gas', "north's heat", 'Electricity'] as const

export const createReadings: Migration = {
  name: '112-readings',
  steps: [
    createTable('meters', (t) => ({
      columns: [
        t.bigint('id').unsigned().autoIncrement(),
        t.varchar('name', 60),
        t.enum('kind', KINDS),
        t.date('installed_on'),
        t.double('factor'),
        t.rowVersion()
      ]
    })),
    createTable('readings', (t) => ({
      columns: [
        t.int('id').unsigned().autoIncrement(),
        t.bigint('meter_id').unsigned(),
        t.date('read_on'),
        t.date('checked_on').nullable(),
        t.time('read_at'),
        t.time('started_at', 3).nullable(),
        t.year('made_in'),
        t.double('amount'),
        t.double('deviation').nullable(),
        t.float('share').nullable(),
        t.enum('kind', KINDS),
        t.enum('state', ['open', 'closed']).nullable().default('open'),
        t.tinyint('rank'),
        t.tinyint('floor').unsigned().nullable(),
        t.smallint('depth'),
        t.mediumint('height').unsigned(),
        t.int('pulses').unsigned(),
        t.bigint('serial').unsigned(),
        t.bit('is_sealed', 1),
        t.bit('flags', 12),
        t.bit('wide_flags', 40).nullable(),
        t.datetime('noted_at', 0),
        t.datetime('measured_at', 6),
        t.rowVersion()
      ],
      indexes: [
        t.unique('serial'),
        t.unique('measured_at'),
        t.sorted('meter_id'),
        t.sorted('read_on'),
        t.sorted('checked_on'),
        t.sorted('read_at'),
        t.sorted('started_at'),
        t.sorted('made_in'),
        t.sorted('amount'),
        t.sorted('deviation'),
        t.sorted('share'),
        t.sorted('kind'),
        t.sorted('state'),
        t.sorted('rank'),
        t.sorted('floor'),
        t.sorted('depth'),
        t.sorted('height'),
        t.sorted('pulses'),
        t.sorted('serial'),
        t.sorted('is_sealed'),
        t.sorted('flags'),
        t.sorted('wide_flags'),
        t.sorted('noted_at'),
        t.sorted('measured_at')
      ],
      foreignKeys: [{ column: 'meter_id', references: 'meters.id', onDelete: 'restrict' }]
    })),
    createTable('reading_parts', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.int('reading_id').unsigned(),
        t.date('day'),
        t.time('begins_at', 6),
        t.enum('kind', KINDS),
        t.double('amount'),
        t.float('share').nullable(),
        t.bigint('count').unsigned(),
        t.rowVersion()
      ],
      indexes: [t.index('reading_id')],
      foreignKeys: [{ column: 'reading_id', references: 'readings.id', onDelete: 'cascade' }]
    }))
  ]
}

export const meters = defineEntity({
  name: 'meters',
  description: 'What is read.',
  fields: {
    id: readOnly(unsigned(long())),
    name: text(60),
    kind: oneOf(KINDS),
    installedOn: date(),
    factor: double()
  },
  label: 'name',
  filterable: ['id', 'name', 'kind', 'installedOn', 'factor'],
  sortable: ['id'],
  access: { read: everyone, write: permission('library:manage') },
  writes: ['create', 'update', 'delete']
})

const PROPERTIES = [
  'id',
  'meterId',
  'readOn',
  'checkedOn',
  'readAt',
  'startedAt',
  'madeIn',
  'amount',
  'deviation',
  'share',
  'kind',
  'state',
  'rank',
  'floor',
  'depth',
  'height',
  'pulses',
  'serial',
  'isSealed',
  'flags',
  'wideFlags',
  'notedAt',
  'measuredAt'
] as const

export const readings = defineEntity({
  name: 'readings',
  description: 'What was read from a meter.',
  fields: {
    id: readOnly(unsigned(int())),
    meterId: unsigned(long()),
    readOn: date(),
    checkedOn: optional(date()),
    readAt: defaultTo(time(), '12:00:00'),
    startedAt: optional(time({ precision: 3 })),
    madeIn: year(),
    amount: double(),
    deviation: optional(double({ min: -1e300 })),
    share: optional(float()),
    kind: onCreate(oneOf(KINDS)),
    state: defaultTo(optional(oneOf(['open', 'closed'])), 'open'),
    rank: tinyInt(),
    floor: optional(unsigned(tinyInt())),
    depth: smallInt(),
    height: unsigned(mediumInt()),
    pulses: unsigned(int()),
    serial: unique(unsigned(long())),
    isSealed: bits(1),
    flags: bits(12),
    wideFlags: optional(bits(40)),
    notedAt: dateTime({ precision: 0 }),
    measuredAt: unique(dateTime({ precision: 6 }))
  },
  references: { meter: { to: 'meters', via: 'meterId' } },
  joined: {
    meterKind: { through: 'meter', property: 'kind', field: oneOf(KINDS) },
    meterInstalledOn: { through: 'meter', property: 'installedOn', field: date() },
    meterFactor: { through: 'meter', property: 'factor', field: double() }
  },
  children: {
    parts: {
      table: 'reading_parts',
      foreignKey: 'readingId',
      fields: {
        id: readOnly(int()),
        day: date(),
        beginsAt: time({ precision: 6 }),
        kind: oneOf(KINDS),
        amount: double(),
        share: optional(float()),
        count: unsigned(long())
      }
    }
  },
  label: 'id',
  filterable: [...PROPERTIES, 'meterKind', 'meterInstalledOn', 'meterFactor'],
  sortable: PROPERTIES,
  access: { read: everyone, write: permission('library:manage') },
  creates: { children: { parts: { min: 0 } } },
  writes: ['create', 'update', 'delete']
})
