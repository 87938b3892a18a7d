import {
  addColumns,
  column,
  createTables,
  defineEntity,
  everyone,
  guid,
  int,
  type Migration,
  optional,
  permission,
  readOnly,
  table,
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
  up: createTables(
    table('legacy_regions', { columns: { ...regionFields, altitude }, sorted: ['title', 'altitude'] }),
    table('legacy_cities', {
      columns: { ...cityFields, regionId },
      sorted: ['name'],
      references: { regionId: 'legacy_regions.region_no' }
    }),
    table('legacy_branches', {
      columns: { ...branchFields, cityId },
      sorted: ['name'],
      references: { cityId: 'legacy_cities' }
    }),
    table('legacy_rooms', {
      columns: roomFields,
      sorted: ['number', 'seats', 'branchId'],
      references: { branchId: 'legacy_branches.branch_key' },
      uniqueTogether: [['branchId', 'number']]
    }),
    table('legacy_desks', {
      columns: { ...deskFields, roomId: column('room_ref', int()) },
      partOf: { roomId: 'legacy_rooms.room_no' }
    })
  )
}

export const addColour: Migration = {
  name: '105-room-colour',
  up: addColumns('legacy_rooms', { columns: { colour }, sorted: ['colour'], idColumn: 'room_no' })
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
