import {
  binary,
  bits,
  bool,
  createTable,
  date,
  dateTime,
  defaultTo,
  defineEntity,
  double,
  everyone,
  float,
  int,
  json,
  long,
  longText,
  mediumInt,
  type Migration,
  oneOf,
  onCreate,
  optional,
  permission,
  readOnly,
  reject,
  setOf,
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

const LABELS = ['new', 'hard to reach', "tenant's", 'Büro'] as const

const DETAILS = {
  type: 'object',
  properties: { made: { type: 'integer', minimum: 0 }, name: { type: 'string' }, parts: { type: 'array' } },
  required: ['made']
}

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
        t.set('labels', LABELS).nullable(),
        t.json('plan').nullable(),
        t.varbinary('photo', 200).nullable(),
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
        t.set('labels', LABELS),
        t.set('remarks', ['a', 'b']).nullable(),
        t.json('details'),
        t.json('notes').nullable(),
        t.varbinary('proof', 64),
        t.binary('digest', 16).nullable(),
        t.varbinary('photo', 100_000).nullable(),
        t.text('story', 65_535),
        t.text('essay', 80_000).nullable(),
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
        t.set('labels', LABELS),
        t.json('details').nullable(),
        t.varbinary('proof', 64).nullable(),
        t.rowVersion()
      ],
      indexes: [t.index('reading_id')],
      foreignKeys: [{ column: 'reading_id', references: 'readings.id', onDelete: 'cascade' }]
    }))
  ]
}

/** Of a plan `{ "from": 1, "to": 5 }`, as the text of its JSON. */
function isBackwards(plan: string | null): boolean {
  const { from = 0, to = from } = (JSON.parse(plan ?? '{}') ?? {}) as { readonly from?: number; readonly to?: number } // any JSON
  return to < from
}

export const meters = defineEntity({
  name: 'meters',
  description: 'What is read.',
  fields: {
    id: readOnly(unsigned(long())),
    name: text(60),
    kind: oneOf(KINDS),
    installedOn: date(),
    factor: double(),
    labels: optional(setOf(LABELS)),
    plan: optional(json()),
    photo: optional(binary(200))
  },
  label: 'name',
  filterable: ['id', 'name', 'kind', 'installedOn', 'factor', 'labels', 'plan', 'photo'],
  sortable: ['id'],
  access: { read: everyone, write: permission('library:manage') },
  writes: ['create', 'update', 'delete'],
  updates: ({ input: { plan } }) =>
    isBackwards(plan) ? reject.input('/plan', 'Its end is before its beginning.') : {},
  deletes: { when: { kind: ['water', 'gas', "north's heat"] } },
  actions: (action) => ({
    electrify: action({
      description: 'Replaces the meter by an electric one.',
      when: { kind: ['gas', "north's heat"] },
      becomes: { kind: 'Electricity' }
    }),
    convert: action({
      description: 'Turns an electric meter into one of another kind.',
      when: { kind: ['Electricity'] },
      becomes: { kind: ['gas', 'water'] },
      input: { isWet: bool() },
      change: ({ input: { isWet } }) => ({ set: { kind: isWet ? 'water' : 'gas' } })
    })
  })
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

/** Properties without an order. */
const UNORDERED = ['labels', 'remarks', 'details', 'notes', 'proof', 'digest', 'photo', 'story', 'essay'] as const

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
    measuredAt: unique(dateTime({ precision: 6 })),
    labels: setOf(LABELS),
    remarks: defaultTo(optional(setOf(['a', 'b'])), ['b']),
    details: json(DETAILS),
    notes: optional(json()),
    proof: binary(64),
    digest: optional(binary(16, 16)),
    photo: optional(binary(100_000)),
    story: longText(),
    essay: optional(text(20_000, 0))
  },
  references: { meter: { to: 'meters', via: 'meterId' } },
  joined: {
    meterKind: { through: 'meter', property: 'kind', field: oneOf(KINDS) },
    meterInstalledOn: { through: 'meter', property: 'installedOn', field: date() },
    meterFactor: { through: 'meter', property: 'factor', field: double() },
    meterLabels: { through: 'meter', property: 'labels', field: optional(setOf(LABELS)) },
    meterPlan: { through: 'meter', property: 'plan', field: optional(json()) },
    meterPhoto: { through: 'meter', property: 'photo', field: optional(binary(200)) }
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
        count: unsigned(long()),
        labels: setOf(LABELS),
        details: optional(json(DETAILS)),
        proof: optional(binary(64))
      }
    }
  },
  computed: {
    proofBytes: { type: 'binary', from: ['proof'], value: (proof) => proof ?? null },
    labelCount: { type: 'int', from: ['labels'], value: (labels) => (Array.isArray(labels) ? labels.length : 0) }
  },
  history: true,
  label: 'id',
  filterable: [
    ...PROPERTIES,
    ...UNORDERED,
    'meterKind',
    'meterInstalledOn',
    'meterFactor',
    'meterLabels',
    'meterPlan',
    'meterPhoto'
  ],
  sortable: PROPERTIES,
  access: { read: everyone, write: permission('library:manage') },
  creates: { children: { parts: { min: 0 } } },
  writes: ['create', 'update', 'delete']
})
