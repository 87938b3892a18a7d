import { everyone, ownRows, permission } from '../../data-service/entity/access.js'
import { defineEntity } from '../../data-service/entity/define-entity.js'
import { defineFieldType } from '../../data-service/entity/fields/custom-type.js'
import {
  bool,
  dateTime,
  decimal,
  defaultTo,
  hidden,
  int,
  long,
  optional,
  readableBy,
  readOnly,
  text
} from '../../data-service/entity/fields/words.js'

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

const params = { since: dateTime(), most: optional(int()), part: optional(text(9)), big: long() }
const shown = { description: '', item: 'id' } as const

/** Custom reads with parameters: all of this compiles. */
export const parametrized = defineEntity({
  ...reading,
  customReads: (one) => ({
    plain: { ...shown, where: { isOpen: true } },
    since: one({
      ...shown,
      params,
      where: ({ params: { part, most, big }, where, anyOf, allOf }) =>
        anyOf(
          part === null ? 'none' : where('name', 'contains', part),
          allOf(where('ownerId', 'equals', most ?? 1), where('size', 'in', [big]))
        ),
      limit: 'most'
    }),
    filled: one({
      ...shown,
      params: { most: defaultTo(int(), 7) },
      where: ({ params: { most }, where }) => where('ownerId', 'greater than', most)
    })
  })
})

export const parametersThatAreNone = [
  defineEntity({
    ...reading,
    customReads: (one) => ({
      // @ts-expect-error a parameter that is used is declared
      x: one({ ...shown, params, where: (call) => (call.params.until === null ? 'all' : 'none') })
    })
  }),
  defineEntity({
    ...reading,
    customReads: (one) => ({
      // @ts-expect-error an optional one may be null
      x: one({ ...shown, params, where: ({ params: { part }, where }) => where('name', 'equals', part) })
    })
  }),
  defineEntity({
    ...reading,
    customReads: (one) => ({
      // @ts-expect-error it is compared with a column of its type
      x: one({ ...shown, params, where: ({ params: { since }, where }) => where('ownerId', 'equals', since) })
    })
  }),
  defineEntity({
    ...reading,
    customReads: (one) => ({
      // @ts-expect-error and by an operator of that type
      x: one({ ...shown, params, where: ({ params: { big }, where }) => where('size', 'contains', big) })
    })
  }),
  defineEntity({
    ...reading,
    customReads: (one) => ({
      // @ts-expect-error hidden columns compare with nothing that a client sends
      x: one({ ...shown, params, where: ({ params: { big }, where }) => where('secretOwner', 'equals', big) })
    })
  }),
  // @ts-expect-error a limit is a number
  defineEntity({ ...reading, customReads: (one) => ({ x: one({ ...shown, params, limit: 'part' }) }) }),
  // @ts-expect-error that is declared
  defineEntity({ ...reading, customReads: (one) => ({ x: one({ ...shown, params, limit: 'least' }) }) }),
  // @ts-expect-error a parameter is no column that the service sets
  defineEntity({ ...reading, customReads: (one) => ({ x: one({ ...shown, params: { a: readOnly(int()) } }) }) }),
  // @ts-expect-error nor a hidden one
  defineEntity({ ...reading, customReads: (one) => ({ x: one({ ...shown, params: { a: hidden(int()) } }) }) }),
  defineEntity({
    ...reading,
    customReads: (one) => ({
      // @ts-expect-error nor one by permission
      x: one({ ...shown, params: { a: readableBy('a:b', int()) } })
    })
  }),
  // @ts-expect-error without `read` there are no parameters
  defineEntity({ ...reading, customReads: { x: { ...shown, params } } })
]

const ownType = { name: 'code', base: text(3), parse: (value: string) => value, expected: '', examples: ['a'] } as const

export const ownTypes = [defineFieldType(ownType), defineFieldType({ ...ownType, operators: ['equals', 'contains'] })]

export const ownTypesThatAreNone = [
  // @ts-expect-error it parses values of its base
  defineFieldType({ ...ownType, base: int() }),
  // @ts-expect-error and answers one
  defineFieldType({ ...ownType, parse: () => 7 }),
  // @ts-expect-error its examples are such values
  defineFieldType({ ...ownType, examples: [7] }),
  // @ts-expect-error at least one
  defineFieldType({ ...ownType, examples: [] }),
  // @ts-expect-error the operators are those of the base
  defineFieldType({ ...ownType, operators: ['between'] }),
  // @ts-expect-error the base is a plain field
  defineFieldType({ ...ownType, base: optional(text(3)) })
]
