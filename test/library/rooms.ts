import {
  addColumns,
  column,
  createTable,
  defineEntity,
  everyone,
  guid,
  int,
  type Migration,
  optional,
  permission,
  readOnly,
  text,
  unique
} from 'uniform-rest'

// DTO names apart from columns, for ids, foreign keys and children too, and joined properties through several references.

const regionFields = { id: readOnly(column('region_no', int())), title: column('region_title', text(40)) }
const altitude = optional(column('height_m', int()))
const cityFields = { id: readOnly(int()), name: column('city_name', text(40)) }
const regionId = optional(column('region_ref', int()))
const branchFields = { id: readOnly(column('branch_key', guid())), name: column('branch_title', text(60)) }
const cityId = optional(column('city_ref', int()))
const roomFields = {
  id: readOnly(column('room_no', int())),
  number: unique(column('room_number', text(20))),
  branchId: optional(column('branch_ref', guid())),
  seats: column('n_seats', int({ min: 1 })),
  isBooked: readOnly(column('taken_by', optional(text(20))))
}
const colour = optional(column('paint', text(20)))
const deskFields = { id: readOnly(column('desk_no', int())), label: column('desk_label', text(20)) }

export const createRooms: Migration = {
  name: '104-rooms',
  steps: [
    createTable('legacy_regions', (t) => ({
      columns: [
        t.int('region_no').autoIncrement(),
        t.varchar('region_title', 40),
        t.int('height_m').nullable(),
        t.rowVersion()
      ],
      indexes: [t.sorted('region_title'), t.sorted('height_m')]
    })),
    createTable('legacy_cities', (t) => ({
      columns: [
        t.int('id').autoIncrement(),
        t.varchar('city_name', 40),
        t.int('region_ref').nullable(),
        t.rowVersion()
      ],
      indexes: [t.sorted('city_name'), t.index('region_ref')],
      foreignKeys: [{ column: 'region_ref', references: 'legacy_regions.region_no', onDelete: 'restrict' }]
    })),
    createTable('legacy_branches', (t) => ({
      columns: [
        t.guid('branch_key').primaryKey(),
        t.varchar('branch_title', 60),
        t.int('city_ref').nullable(),
        t.rowVersion()
      ],
      indexes: [t.sorted('branch_title'), t.index('city_ref')],
      foreignKeys: [{ column: 'city_ref', references: 'legacy_cities.id', onDelete: 'restrict' }]
    })),
    createTable('legacy_rooms', (t) => ({
      columns: [
        t.int('room_no').autoIncrement(),
        t.varchar('room_number', 20),
        t.guid('branch_ref').nullable(),
        t.int('n_seats'),
        t.varchar('taken_by', 20).nullable(),
        t.rowVersion()
      ],
      indexes: [
        t.unique('room_number'),
        t.sorted('room_number'),
        t.sorted('branch_ref'),
        t.sorted('n_seats'),
        t.unique('branch_ref', 'room_number')
      ],
      foreignKeys: [{ column: 'branch_ref', references: 'legacy_branches.branch_key', onDelete: 'restrict' }]
    })),
    createTable('legacy_desks', (t) => ({
      columns: [t.int('desk_no').autoIncrement(), t.varchar('desk_label', 20), t.int('room_ref'), t.rowVersion()],
      indexes: [t.index('room_ref')],
      foreignKeys: [{ column: 'room_ref', references: 'legacy_rooms.room_no', onDelete: 'cascade' }]
    }))
  ]
}

export const addColour: Migration = {
  name: '105-room-colour',
  steps: [
    addColumns('legacy_rooms', (t) => ({ columns: [t.varchar('paint', 20).nullable()], indexes: [t.sorted('paint')] }))
  ]
}

export const regions = defineEntity({
  name: 'regions',
  table: 'legacy_regions',
  description: 'Where cities are.',
  fields: { ...regionFields, altitude },
  label: 'title',
  filterable: ['id', 'title', 'altitude'],
  sortable: ['id', 'title', 'altitude'],
  access: { read: everyone }
})

export const cities = defineEntity({
  name: 'cities',
  table: 'legacy_cities',
  description: 'Where branches are.',
  fields: { ...cityFields, regionId },
  label: 'name',
  filterable: ['id', 'name', 'regionId'],
  sortable: ['id', 'name'],
  references: { region: { to: 'regions', via: 'regionId' } },
  access: { read: everyone }
})

export const branches = defineEntity({
  name: 'branches',
  table: 'legacy_branches',
  description: 'Where rooms are.',
  fields: { ...branchFields, cityId },
  label: 'name',
  filterable: ['id', 'name', 'cityId'],
  sortable: ['id', 'name'],
  references: { city: { to: 'cities', via: 'cityId' } },
  access: { read: everyone, write: permission('library:manage') },
  writes: ['create', 'delete']
})

export const rooms = defineEntity({
  name: 'rooms',
  table: 'legacy_rooms',
  description: 'Rooms to sit in.',
  fields: { ...roomFields, colour },
  label: 'number',
  filterable: [
    'id',
    'number',
    'branchId',
    'seats',
    'colour',
    'branchName',
    'cityName',
    'regionTitle',
    'regionAltitude'
  ],
  sortable: ['id', 'number', 'seats', 'branchId', 'colour', 'branchName', 'cityName', 'regionTitle', 'regionAltitude'],
  references: { branch: { to: 'branches', via: 'branchId' } },
  joined: {
    branchName: { through: 'branch', property: 'name', field: optional(text(60)) },
    cityName: { through: ['branch', 'city'], property: 'name', field: optional(text(40)) },
    regionTitle: { through: ['branch', 'city', 'region'], property: 'title', field: optional(text(40)) },
    regionAltitude: { through: ['branch', 'city', 'region'], property: 'altitude', field: optional(int()) }
  },
  children: {
    desks: { table: 'legacy_desks', foreignKey: 'roomId', foreignKeyColumn: 'room_ref', fields: deskFields }
  },
  access: { read: everyone, write: permission('library:manage') },
  writes: ['create', 'update', 'delete'],
  creates: { children: { desks: { min: 0 } }, prepare: () => ({ values: { isBooked: null } }) },
  actions: (action) => ({
    book: action({
      description: 'Takes the room.',
      input: { by: text(20), deskId: int() },
      loads: ['desks'],
      change: ({ input: { by, deskId }, children: { desks } }) => ({
        set: { isBooked: by },
        children: {
          desks: desks.some(({ id }) => id === deskId)
            ? { update: [{ id: deskId, set: { label: by } }] }
            : { insert: [{ label: by }] }
        }
      })
    })
  })
})
