import {
  base64url,
  column,
  compositeId,
  date,
  defaultTo,
  defineEntity,
  defineEvent,
  everyone,
  guid,
  int,
  long,
  longText,
  onCreate,
  onEvent,
  oneOf,
  optional,
  permission,
  readOnly,
  reject,
  smallInt,
  text,
  unique,
  unsigned
} from 'uniform-rest'
import { GRADES, ROOMS } from './tables.js'

const access = { read: everyone, write: permission('keyed:manage') } as const

/** Whatever the key of a row is, a handler gets the whole of it. Rows whose label does not begin with `Told` emit none. */
const written = defineEvent<{ readonly operation: string }>('row-written')

export const writtenHandler = onEvent(written, ({ resource, rowId }) => ({
  create: [{ resource: 'deliveries', values: { rowId, resource } }]
}))

export const countries = defineEntity({
  name: 'countries',
  table: 'Land',
  rowVersionColumn: 'Stand',
  description: 'Countries by a code of up to 500 characters.',
  fields: { id: column('Land Code', onCreate(text(500))), name: column('LandName', text(60)) },
  label: 'name',
  filterable: ['id', 'name'],
  sortable: ['name'],
  searchable: ['name'],
  children: {
    notes: {
      table: 'Land Notiz',
      store: 'second',
      foreignKey: 'countryId',
      foreignKeyColumn: 'Land Code',
      rowVersion: 'none',
      fields: { id: column('Kennung', readOnly(guid())), text: column('Text', text(100)) }
    }
  },
  access,
  writes: ['create', 'update', 'delete'],
  hooks: ({ emit }) => [
    emit(written, {
      on: 'any',
      payload: ({ operation, after }) =>
        after !== undefined && after.name.startsWith('Told') ? { operation } : undefined
    })
  ]
})

export const holidays = defineEntity({
  name: 'holidays',
  description: 'Days by their date.',
  fields: { id: column('on_day', onCreate(date())), name: text(60) },
  label: 'name',
  filterable: ['id', 'name'],
  sortable: ['id', 'name'],
  access,
  writes: ['create', 'update', 'delete']
})

export const grades = defineEntity({
  name: 'grades',
  description: 'Grades by their word.',
  fields: { id: column('code', onCreate(oneOf(GRADES))), note: text(60) },
  label: 'note',
  filterable: ['id'],
  sortable: [],
  access: { read: everyone }
})

export const tickets = defineEntity({
  name: 'tickets',
  description: 'Tickets by a number of up to 20 digits.',
  fields: {
    id: column('serial', onCreate(unsigned(long()))),
    day: optional(date()),
    grade: oneOf(GRADES),
    note: text(60)
  },
  label: 'note',
  filterable: ['id', 'day', 'grade', 'note'],
  sortable: ['id', 'note'],
  references: { holiday: { to: 'holidays', via: 'day' }, level: { to: 'grades', via: 'grade' } },
  access,
  writes: ['create', 'update', 'delete']
})

export const shelves = defineEntity({
  name: 'shelves',
  table: 'Regal',
  rowVersionColumn: 'Stand',
  description: 'Shelves by country, room, number and day.',
  key: ['countryId', 'room', 'number', 'openedOn'],
  fields: {
    room: column('Raum', onCreate(oneOf(ROOMS))),
    countryId: column('Land', onCreate(text(500))),
    number: column('Nr', onCreate(smallInt())),
    openedOn: column('Tag', onCreate(date())),
    label: column('Titel', text(60)),
    pieces: column('Stücke', readOnly(defaultTo(int(), 0)))
  },
  label: 'label',
  filterable: ['room', 'countryId', 'number', 'openedOn', 'label', 'countryName'],
  sortable: ['number', 'label'],
  searchable: ['label'],
  references: { country: { to: 'countries', via: 'countryId' } },
  joined: { countryName: { through: 'country', property: 'name', field: text(60) } },
  children: {
    checks: {
      table: 'Prüfung',
      rowVersionColumn: 'Stand',
      foreignKey: ['countryId', 'room', 'shelfNumber', 'openedOn'],
      foreignKeyColumn: ['Land', 'Raum', 'Regal Nr', 'Regal Tag'],
      key: ['countryId', 'room', 'shelfNumber', 'openedOn', 'run'],
      fields: {
        countryId: column('Land', readOnly(text(500))),
        room: column('Raum', readOnly(oneOf(ROOMS))),
        shelfNumber: column('Regal Nr', readOnly(smallInt())),
        openedOn: column('Regal Tag', readOnly(date())),
        run: column('Lauf', onCreate(int())),
        remark: column('Bemerkung', text(100))
      }
    },
    lines: {
      table: 'Regal Notiz',
      store: 'second',
      rowVersionColumn: 'Stand',
      foreignKey: ['countryId', 'room', 'number', 'openedOn'],
      foreignKeyColumn: ['Land', 'Raum', 'Nr', 'Tag'],
      key: ['countryId', 'room', 'number', 'openedOn', 'line'],
      fields: {
        countryId: column('Land', readOnly(text(500))),
        room: column('Raum', readOnly(oneOf(ROOMS))),
        number: column('Nr', readOnly(smallInt())),
        openedOn: column('Tag', readOnly(date())),
        line: column('Zeile', readOnly(int())),
        text: column('Text', text(100))
      }
    }
  },
  access,
  writes: ['create', 'update', 'delete'],
  creates: { children: { checks: { min: 0 } } },
  hooks: ({ emit }) => [
    emit(written, {
      on: 'any',
      payload: ({ operation, after }) =>
        after !== undefined && after.label.startsWith('Told') ? { operation } : undefined
    })
  ]
})

const shelfOf = (row: {
  readonly shelfCountry: string | null
  readonly shelfRoom: string | null
  readonly shelfNumber: number | null
  readonly shelfDay: string | null
}): string | undefined =>
  row.shelfCountry === null || row.shelfRoom === null || row.shelfNumber === null || row.shelfDay === null
    ? undefined
    : compositeId(row.shelfCountry, row.shelfRoom, row.shelfNumber, row.shelfDay)

export const placements = defineEntity({
  name: 'placements',
  description: 'Which copy stands on which shelf. Every shelf counts what stands on it.',
  key: ['copy', 'serial'],
  fields: {
    copy: onCreate(guid()),
    serial: onCreate(unsigned(long())),
    shelfCountry: column('shelf_land', optional(text(500))),
    shelfRoom: optional(oneOf(ROOMS)),
    shelfNumber: optional(smallInt()),
    shelfDay: optional(date()),
    remark: text(60)
  },
  label: 'remark',
  filterable: ['copy', 'serial', 'shelfNumber', 'remark', 'shelfLabel'],
  sortable: ['copy', 'serial', 'remark'],
  references: {
    ticket: { to: 'tickets', via: 'serial' },
    shelf: { to: 'shelves', via: ['shelfCountry', 'shelfRoom', 'shelfNumber', 'shelfDay'] }
  },
  joined: { shelfLabel: { through: 'shelf', property: 'label', field: optional(text(60)) } },
  access,
  writes: ['create', 'update', 'delete'],
  hooks: ({ beforeCommit, emit }) => [
    beforeCommit({
      on: ['create', 'update'],
      async run({ after, findByIds, getAggregate, findReferencing, countReferencing }) {
        const id = shelfOf(after)
        if (id === undefined) return undefined
        const found = (await findByIds('shelves', [id])).get(id)
        const locked = await getAggregate('shelves', id)
        const others = await findReferencing('placements', 'shelf', id)
        const pieces = await countReferencing('placements', 'shelf', { id })
        const ticket = (await findByIds('tickets', [after.serial])).get(after.serial)
        if (found === undefined || locked === undefined || ticket === undefined)
          return reject.state('Nothing is there.')
        if (others.length !== pieces) return reject.state(`${others.length} are found and ${pieces} are counted.`)
        return { update: [{ resource: 'shelves', id, set: { pieces } }] }
      }
    }),
    emit(written, {
      on: 'any',
      payload: ({ operation, after }) =>
        after !== undefined && after.remark.startsWith('Told') ? { operation } : undefined
    })
  ]
})

export const devices = defineEntity({
  name: 'devices',
  description: 'Devices by sixteen bytes.',
  fields: {
    id: onCreate(base64url(16, 16)),
    parentId: optional(base64url(16, 16)),
    serial: unique(base64url(40, 1)),
    name: text(60)
  },
  label: 'name',
  filterable: ['id', 'parentId', 'serial', 'name'],
  sortable: ['id', 'serial'],
  references: { parent: { to: 'devices', via: 'parentId' } },
  access,
  writes: ['create', 'update', 'delete']
})

export const signals = defineEntity({
  name: 'signals',
  description: 'What devices sent, by device and number.',
  key: ['deviceId', 'number'],
  fields: { deviceId: onCreate(base64url(16, 16)), number: onCreate(int()), strength: int() },
  filterable: ['deviceId', 'number'],
  sortable: ['deviceId', 'number'],
  references: { device: { to: 'devices', via: 'deviceId' } },
  totals: { dimensions: ['deviceId'], measures: { count: true } },
  access,
  writes: ['create', 'update', 'delete']
})

export const deliveries = defineEntity({
  name: 'deliveries',
  description: 'What the handler of the outbox was told.',
  fields: { id: readOnly(int()), rowId: readOnly(longText(100_000)), resource: readOnly(text(60)) },
  label: 'resource',
  filterable: [],
  sortable: ['id'],
  access
})
