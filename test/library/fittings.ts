import {
  binary,
  bool,
  createTable,
  dateTime,
  decimal,
  defaultTo,
  defineEntity,
  double,
  everyone,
  float,
  hidden,
  int,
  json,
  type Migration,
  onCreate,
  oneOf,
  optional,
  permission,
  readableBy,
  readOnly,
  text,
  unique
} from 'uniform-rest'
import { parcelWritten } from './parcels.js'

// Tables of a vendor, which have no column for a version and may not get one.

export const createFittings: Migration = {
  name: '190-fittings',
  steps: [
    createTable('fitting', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('name', 60),
        t.varchar('note', 60).nullable(),
        t.decimal('price', 10, 2),
        t.double('weight').nullable(),
        t.float('share').nullable(),
        t.datetime('seen_at').nullable(),
        t.boolean('is_fixed'),
        t.enum('state', ['new', 'used', 'broken']),
        t.json('tags').nullable(),
        t.varbinary('seal', 20).nullable(),
        t.int('cost').nullable(),
        t.varchar('code', 20),
        t.varchar('vendor_code', 20).nullable()
      ],
      indexes: [t.sorted('name'), t.unique('code')]
    })),
    createTable('fitting_pair', (t) => ({
      columns: [t.int('fitting_id'), t.int('other_id'), t.varchar('note', 60)],
      primaryKey: ['fitting_id', 'other_id'],
      indexes: [t.index('other_id')],
      foreignKeys: [
        { column: 'fitting_id', references: 'fitting.id', onDelete: 'restrict' },
        { column: 'other_id', references: 'fitting.id', onDelete: 'restrict' }
      ]
    }))
  ]
}

export const fittingPairs = defineEntity({
  name: 'fitting-pairs',
  table: 'fitting_pair',
  description: 'Which fittings go together.',
  key: ['fittingId', 'otherId'],
  rowVersion: 'content',
  fields: { fittingId: onCreate(int()), otherId: onCreate(int()), note: text(60) },
  label: 'note',
  filterable: ['fittingId', 'otherId'],
  sortable: ['fittingId'],
  references: { fitting: { to: 'fittings', via: 'fittingId' }, other: { to: 'fittings', via: 'otherId' } },
  access: { read: everyone, write: permission('library:manage') },
  writes: ['create', 'update', 'delete']
})

export const fittings = defineEntity({
  name: 'fittings',
  table: 'fitting',
  description: 'Fittings in the tables of a vendor, whose rows have no version of their own.',
  rowVersion: 'content',
  fields: {
    id: readOnly(int()),
    name: text(60),
    note: optional(text(60)),
    price: decimal(10, 2),
    weight: optional(double()),
    share: optional(float()),
    seenAt: optional(dateTime()),
    isFixed: defaultTo(bool(), false),
    state: oneOf(['new', 'used', 'broken']),
    tags: optional(json()),
    seal: optional(binary(20)),
    cost: readableBy('loans:read', optional(int())),
    code: unique(text(20)),
    vendorCode: hidden(optional(text(20)))
  },
  history: true,
  label: 'name',
  filterable: ['id', 'name', 'price', 'state', 'code'],
  sortable: ['id', 'name'],
  manyToMany: { matches: { through: 'fitting-pairs', from: 'fitting', to: 'other' } },
  children: { pairs: { entity: fittingPairs, foreignKey: 'fittingId' } },
  access: { read: everyone, write: permission('library:manage') },
  writes: ['create', 'update', 'delete'],
  deletes: { when: { state: ['new', 'used'] } },
  actions: (action) => ({
    inspect: action({
      description: 'Leaves a receipt of an inspection, and the fitting as it is.',
      effect: ({ newCode }) => ({ create: [{ resource: 'receipts', values: { code: `i-${newCode()}` } }] })
    }),
    announce: action({
      description: 'Tells others of the fitting, and leaves it as it is.',
      effect: {}
    }),
    hint: action({
      description: 'Notes something at another fitting, and leaves this one as it is.',
      input: { otherId: int(), note: text(60), vendorCode: optional(text(20)) },
      change: async ({ input: { otherId, note, vendorCode }, getAggregate }) => {
        await getAggregate('fittings', otherId)
        const set = vendorCode === null ? { note } : { note, vendorCode }
        return { update: [{ resource: 'fittings', id: otherId, set }] }
      }
    }),
    appraise: action({
      description: 'Sets what it costs, which not everybody reads, and leaves a receipt.',
      input: { cost: int() },
      effect: ({ input: { cost }, newCode }) => ({
        set: { cost },
        create: [{ resource: 'receipts', values: { code: `a-${newCode()}` } }]
      })
    }),
    recode: action({
      description: 'Sets the code that the vendor has for it, which nobody reads.',
      input: { vendorCode: text(20) },
      effect: ({ input: { vendorCode } }) => ({ set: { vendorCode } })
    }),
    'write-off': action({
      description: 'Takes a fitting out of use.',
      input: { note: text(60) },
      when: { state: ['new', 'used'] },
      effect: ({ input: { note } }) => ({ set: { state: 'broken', note } })
    })
  }),
  hooks: ({ emit }) => [
    emit(parcelWritten, { on: ['announce'], payload: () => ({ operation: 'announce', note: null }) })
  ]
})
