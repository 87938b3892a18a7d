import { everyone, ownRows, permission } from '../../data-service/entity/access.js'
import { defineEntity } from '../../data-service/entity/define-entity.js'
import { bool, decimal, hidden, int, long, optional, text } from '../../data-service/entity/field.js'

// Who reads what, in an entity file. Each `@ts-expect-error` is a test: the compiler reports the line when what follows
// compiles after all.
const fields = {
  id: int(),
  name: text(200),
  isOpen: bool(),
  ownerId: int(),
  size: long(),
  price: decimal(10, 2),
  note: optional(text(9)),
  riskNote: hidden(text(200)),
  secretOwner: hidden(int())
}
const base = { name: 'things', description: 'Things.', fields, label: 'name', filterable: [], sortable: [] } as const
const own = ownRows('ownerId')

/** What the mistakes below are variations of: all of this compiles. */
export const sound = [
  defineEntity({ ...base, label: 'id', access: { reads: { export: own } } }),
  defineEntity({ ...base, label: 'size', access: { reads: { export: own, get: everyone } } }),
  defineEntity({ ...base, access: { read: own, ownerFilter: { property: 'ownerId' } } }),
  defineEntity({
    ...base,
    access: { read: own, ownerFilter: { property: 'size', on: ['list', 'close'], allowMissingOwner: 'rowScope' } }
  }),
  defineEntity({
    ...base,
    access: { read: own, ownerFilter: { property: 'size', allowMissingOwner: { list: 'permission' } } }
  }),
  defineEntity({
    ...base,
    access: { read: own },
    customReads: {
      names: { description: '', item: 'name', sort: ['size'], where: { isOpen: true, name: 'a', ownerId: 1 } },
      pairs: { description: '', items: ['id', 'name'], access: permission('things:read') }
    }
  })
]

export const readsThatNobodyAllowed = [
  // @ts-expect-error `reads` alone says nothing of the others but by its export
  defineEntity({ ...base, access: { reads: { get: own } } }),
  // @ts-expect-error an owner filter is no word on who reads
  defineEntity({ ...base, access: { ownerFilter: { property: 'ownerId' } } }),
  // @ts-expect-error nor is a custom read
  defineEntity({ ...base, access: {}, customReads: { names: { description: '', item: 'name' } } })
]

export const filtersThatAreNone = [
  // @ts-expect-error an owner is an integer
  defineEntity({ ...base, access: { read: own, ownerFilter: { property: 'name' } } }),
  // @ts-expect-error and not hidden
  defineEntity({ ...base, access: { read: own, ownerFilter: { property: 'secretOwner' } } }),
  // @ts-expect-error no such property
  defineEntity({ ...base, access: { read: own, ownerFilter: { property: 'customerId' } } }),
  // @ts-expect-error it needs one
  defineEntity({ ...base, access: { read: own, ownerFilter: { parameter: 'ownerId' } } }),
  // @ts-expect-error no such guard
  defineEntity({ ...base, access: { read: own, ownerFilter: { property: 'ownerId', allowMissingOwner: true } } }),
  defineEntity({
    ...base,
    // @ts-expect-error nor for a single route
    access: { read: own, ownerFilter: { property: 'ownerId', allowMissingOwner: { list: 'everyone' } } }
  })
]

const read = { description: '', item: 'id' } as const
const reading = { ...base, access: { read: own } } as const

export const customReadsThatAreNone = [
  // @ts-expect-error an item is a property
  defineEntity({ ...reading, customReads: { x: { ...read, item: 'nmae' } } }),
  // @ts-expect-error and not hidden
  defineEntity({ ...reading, customReads: { x: { ...read, item: 'riskNote' } } }),
  // @ts-expect-error items are some
  defineEntity({ ...reading, customReads: { x: { description: '', items: [] } } }),
  // @ts-expect-error it shows something
  defineEntity({ ...reading, customReads: { x: { description: '' } } }),
  // @ts-expect-error either the one or the others
  defineEntity({ ...reading, customReads: { x: { ...read, items: ['id'] } } }),
  // @ts-expect-error an order is by what is not hidden
  defineEntity({ ...reading, customReads: { x: { ...read, sort: ['riskNote'] } } }),
  // @ts-expect-error `where` takes a value of the type
  defineEntity({ ...reading, customReads: { x: { ...read, where: { name: 7 } } } }),
  // @ts-expect-error that is there
  defineEntity({ ...reading, customReads: { x: { ...read, where: { note: null } } } })
]

export const labelsThatAreNone = [
  // @ts-expect-error a label is never null
  defineEntity({ ...base, label: 'note', access: { read: own } })
]
