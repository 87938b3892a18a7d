import { everyone, ownRows, permission } from '../../data-service/entity/access.js'
import { defineEntity, fullText } from '../../data-service/entity/define-entity.js'
import {
  bool,
  dateTime,
  decimal,
  guid,
  hidden,
  int,
  long,
  onCreate,
  optional,
  readableBy,
  text,
  unique,
  column
} from '../../data-service/entity/fields/words.js'

// Mistakes in an entity file that do not compile. Each `@ts-expect-error` is a test: the compiler reports the line when
// what follows compiles after all.
const fields = {
  id: int(),
  name: text(200),
  isOpen: bool(),
  count: int(),
  size: long(),
  price: decimal(10, 2),
  startsAt: dateTime(),
  code: guid(),
  riskNote: hidden(text(200)),
  secretOwner: hidden(int())
}
const references = { owner: { to: 'customers', via: 'count' } } as const
const joined = { ownerName: { through: 'owner', property: 'name', field: text(200) } } as const
const base = { name: 'things', description: 'Things.', fields, label: 'name' } as const
const things = { ...base, filterable: ['id', 'name'], sortable: ['id', 'name'], access: { read: everyone } } as const

export const totals = [
  defineEntity({
    ...things,
    totals: {
      dimensions: ['name', 'count', 'startsAt.month'],
      measures: { count: true, sum: ['price', 'size'], max: ['startsAt'], distinct: ['code'] }
    }
  }),
  // @ts-expect-error there is no such field
  defineEntity({ ...things, totals: { dimensions: ['nmae'], measures: { count: true } } }),
  // @ts-expect-error a hidden field is in no answer
  defineEntity({ ...things, totals: { dimensions: ['riskNote'], measures: { count: true } } }),
  // @ts-expect-error a text has no month
  defineEntity({ ...things, totals: { dimensions: ['name.month'], measures: { count: true } } }),
  // @ts-expect-error moments are not grouped by week
  defineEntity({ ...things, totals: { dimensions: ['startsAt.week'], measures: { count: true } } }),
  // @ts-expect-error texts have no sum
  defineEntity({ ...things, totals: { dimensions: [], measures: { sum: ['name'] } } }),
  // @ts-expect-error there is no such measure
  defineEntity({ ...things, totals: { dimensions: [], measures: { median: ['price'] } } })
]

export const pathsAndColumns = [
  defineEntity({
    ...things,
    fields: { ...fields, name: column('legacy_name', text(200)), note: optional(column('n', text(9))) },
    label: 'name',
    filterable: ['note']
  }),
  defineEntity({
    ...things,
    references,
    joined: { city: { through: ['owner', 'address', 'city'], property: 'name', field: text(9) } },
    filterable: ['city'],
    sortable: ['city']
  }),
  defineEntity({
    ...things,
    references,
    // @ts-expect-error a path begins with a reference of the entity
    joined: { city: { through: ['nobody', 'address'], property: 'name', field: text(9) } }
  }),
  defineEntity({
    ...things,
    references,
    // @ts-expect-error and has a step at least
    joined: { city: { through: [], property: 'name', field: text(9) } }
  }),
  defineEntity({
    ...things,
    fields: { ...fields, name: column('legacy_name', text(200)) },
    // @ts-expect-error requests know the property and not its column
    filterable: ['legacy_name']
  })
]

/** What the mistakes below are variations of: all of this compiles. */
export const sound = [
  defineEntity(things),
  defineEntity({ ...things, references, joined, filterable: ['ownerName'], sortable: ['ownerName'] }),
  defineEntity({ ...things, operators: { name: ['contains', 'in'], isOpen: ['is'], startsAt: ['is after'] } }),
  defineEntity({ ...things, computed: { title: { type: 'string', from: ['name', 'count'], value: (name) => name } } }),
  defineEntity({ ...things, access: { read: ownRows('count') } }),
  defineEntity({ ...things, access: { read: ownRows('size'), reads: { get: everyone } } }),
  defineEntity({ ...things, access: { read: permission('things:manage') } })
]

export const operatorsThatDoNotSuitTheType = [
  // @ts-expect-error a string is not greater than another
  defineEntity({ ...things, operators: { name: ['greater than'] } }),
  // @ts-expect-error a bool has no `equals`, its word is `is`
  defineEntity({ ...things, operators: { isOpen: ['equals'] } }),
  // @ts-expect-error a number does not contain anything
  defineEntity({ ...things, operators: { count: ['contains'] } }),
  // @ts-expect-error nor does a decimal start with anything
  defineEntity({ ...things, operators: { price: ['starts with'] } }),
  // @ts-expect-error a point in time is after another, not greater
  defineEntity({ ...things, operators: { startsAt: ['greater than'] } }),
  // @ts-expect-error Guids have no order
  defineEntity({ ...things, operators: { code: ['between'] } }),
  // @ts-expect-error no such operator
  defineEntity({ ...things, operators: { name: ['matches'] } }),
  // @ts-expect-error no such property
  defineEntity({ ...things, operators: { nmae: ['contains'] } }),
  // @ts-expect-error a hidden property has none
  defineEntity({ ...things, operators: { riskNote: ['contains'] } })
]

export const namesThatAreNone = [
  // @ts-expect-error no such property
  defineEntity({ ...things, filterable: ['nmae'] }),
  // @ts-expect-error a hidden property is not filterable
  defineEntity({ ...things, filterable: ['riskNote'] }),
  // @ts-expect-error no such property
  defineEntity({ ...things, sortable: ['nmae'] }),
  // @ts-expect-error a hidden property is not searchable
  defineEntity({ ...things, searchable: ['riskNote'] }),
  // @ts-expect-error nor is it with a full-text index
  defineEntity({ ...things, searchable: fullText('riskNote') }),
  // @ts-expect-error a full-text index has a property at least
  defineEntity({ ...things, searchable: fullText() }),
  // @ts-expect-error only texts are searchable
  defineEntity({ ...things, searchable: ['id'] }),
  // @ts-expect-error a hidden property is not sortable
  defineEntity({ ...things, sortable: ['riskNote'] }),
  // @ts-expect-error a joined property that is not defined
  defineEntity({ ...things, references, filterable: ['ownerName'] }),
  // @ts-expect-error the label is no point in time
  defineEntity({ ...things, label: 'startsAt' }),
  // @ts-expect-error nor an amount
  defineEntity({ ...things, label: 'price' }),
  // @ts-expect-error nor yes or no
  defineEntity({ ...things, label: 'isOpen' }),
  // @ts-expect-error and not hidden
  defineEntity({ ...things, label: 'riskNote' }),
  // @ts-expect-error a computed property reads no hidden one
  defineEntity({ ...things, computed: { title: { type: 'string', from: ['riskNote'], value: (note) => note } } })
]

export const referencesThatLeadNowhere = [
  // @ts-expect-error a flag holds no foreign key
  defineEntity({ ...things, references: { owner: { to: 'customers', via: 'isOpen' } } }),
  // @ts-expect-error nor does an empty list of fields
  defineEntity({ ...things, references: { owner: { to: 'customers', via: [] } } }),
  // @ts-expect-error no such property
  defineEntity({ ...things, references: { owner: { to: 'customers', via: 'ownerId' } } }),
  // @ts-expect-error there is no reference to go through
  defineEntity({ ...things, joined: { x: { through: 'owner', property: 'name', field: text(9) } } }),
  // @ts-expect-error a joined property is shown
  defineEntity({ ...things, references, joined: { x: { ...joined.ownerName, field: hidden(text(200)) } } }),
  // @ts-expect-error and set in its own resource alone
  defineEntity({ ...things, references, joined: { x: { ...joined.ownerName, field: onCreate(text(200)) } } }),
  // @ts-expect-error a joined property goes through a reference
  defineEntity({ ...things, references, joined: { x: { through: 'nobody', property: 'name', field: text(9) } } })
]

export const accessThatIsNone = [
  // @ts-expect-error who may read has to be said
  defineEntity({ ...base, filterable: ['id'], sortable: ['id'] }),
  // @ts-expect-error in so many words
  defineEntity({ ...things, access: {} }),
  // @ts-expect-error an owner is an integer
  defineEntity({ ...things, access: { read: ownRows('name') } }),
  // @ts-expect-error no such property
  defineEntity({ ...things, access: { read: ownRows('customerId') } }),
  // @ts-expect-error no such read
  defineEntity({ ...things, access: { read: everyone, reads: { search: everyone } } }),
  // @ts-expect-error a permission is `<resource>:<verb>`
  defineEntity({ ...things, access: { read: permission('manage') } })
]

export const idsThatAreNone = [
  // @ts-expect-error every entity has an id
  defineEntity({ ...things, fields: { name: text(200) } }),
  // @ts-expect-error an id is no flag
  defineEntity({ ...things, fields: { ...fields, id: bool() } }),
  // @ts-expect-error and not hidden
  defineEntity({ ...things, fields: { ...fields, id: hidden(int()) } }),
  // @ts-expect-error and never null
  defineEntity({ ...things, fields: { ...fields, id: optional(text(2)) } })
]

const links = {
  name: 'film-actors',
  description: 'Who plays in which film.',
  fields: { actorId: onCreate(int()), filmId: onCreate(int()), role: text(100), note: onCreate(optional(text(9))) },
  label: 'role',
  filterable: ['actorId'],
  sortable: ['actorId'],
  access: { read: everyone }
} as const

const { label: _, ...unlabelled } = links

/** Keys that compile. */
export const soundKeys = [
  defineEntity({ ...things, fields: { ...fields, id: onCreate(text(2)) } }),
  defineEntity({ ...links, key: ['actorId', 'filmId'] }),
  defineEntity({
    ...links,
    key: ['filmId', 'actorId'],
    references: { casting: { to: 'castings', via: ['actorId', 'filmId'] } }
  }),
  defineEntity({ ...unlabelled, key: 'none' })
]

export const keysThatAreNone = [
  // @ts-expect-error a key is a field id, or a list of fields
  defineEntity(links),
  // @ts-expect-error one field is the property id
  defineEntity({ ...links, key: ['actorId'] }),
  // @ts-expect-error no such field
  defineEntity({ ...links, key: ['actorId', 'storeId'] }),
  // @ts-expect-error an update could change it
  defineEntity({ ...links, key: ['actorId', 'role'] }),
  // @ts-expect-error it may be null
  defineEntity({ ...links, key: ['actorId', 'note'] }),
  // @ts-expect-error nothing names a row without a key
  defineEntity({ ...unlabelled, fields: { ...links.fields, id: int() }, key: 'none' }),
  // @ts-expect-error rows without a key are only read
  defineEntity({ ...unlabelled, key: 'none', writes: ['create'] }),
  // @ts-expect-error the id of a composite key is made of its parts
  defineEntity({ ...links, fields: { ...links.fields, id: int() }, key: ['actorId', 'filmId'] })
]

const priced = { ...fields, cost: readableBy('things:manage', int()), state: readableBy('things:manage', text(9)) }
const write = { read: everyone, write: permission('things:manage') }

/** Columns by permission that compile. */
export const soundByPermission = [
  defineEntity({ ...things, fields: priced, filterable: ['cost'], sortable: ['cost'] }),
  defineEntity({ ...things, fields: priced, references: { owner: { to: 'customers', via: 'cost' } } }),
  defineEntity({ ...things, fields: { ...fields, cost: optional(readableBy('things:manage', int())) } })
]

export const columnsByPermissionThatWouldTellOfThemselves = [
  // @ts-expect-error the id
  defineEntity({ ...things, fields: { ...fields, id: readableBy('things:manage', int()) } }),
  // @ts-expect-error the label, which lookup shows to every reader
  defineEntity({ ...things, fields: priced, label: 'state' }),
  // @ts-expect-error the owner, by which rows are kept back
  defineEntity({ ...things, fields: priced, access: { read: ownRows('cost') } }),
  // @ts-expect-error the owner of an owner filter
  defineEntity({ ...things, fields: priced, access: { read: everyone, ownerFilter: { property: 'cost' } } }),
  defineEntity({
    ...things,
    fields: priced,
    access: write,
    actions: (action) => ({
      // @ts-expect-error a required state, which the rejection names
      close: action({ description: 'Closes it.', when: { state: ['open'] }, change: () => ({}) })
    })
  }),
  // @ts-expect-error a unique column, whose conflicts tell of its values
  defineEntity({ ...things, fields: { ...fields, sku: unique(readableBy('things:manage', text(9))) } }),
  // @ts-expect-error a hidden column is readable by nobody
  defineEntity({ ...things, fields: { ...fields, note: readableBy('things:manage', hidden(text(9))) } })
]
