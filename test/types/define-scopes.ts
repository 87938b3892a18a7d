import { allOf, anyOf, everyone, ownRows, permission } from '../../data-service/entity/access.js'
import { defineEntity } from '../../data-service/entity/define-entity.js'
import { bool, hidden, int, long, readableBy, text } from '../../data-service/entity/fields/words.js'

// Row scopes by a predicate, in an entity file. Each `@ts-expect-error` is a test: the compiler reports the line when
// what follows compiles after all.
const fields = {
  id: int(),
  name: text(200),
  isOpen: bool(),
  ownerId: int(),
  size: long(),
  shelf: hidden(text(9)),
  price: readableBy('things:manage', text(9))
}
const base = { name: 'things', description: 'Things.', fields, label: 'name', filterable: [], sortable: [] } as const

/** What the mistakes below are variations of: all of this compiles. */
export const sound = [
  defineEntity({
    ...base,
    access: ({ rows }) => ({
      read: rows(({ caller, where }) => (caller.roles.includes('Boss') ? 'all' : where('name', 'contains', 'x')))
    })
  }),
  defineEntity({
    ...base,
    access: ({ publicRows }) => ({
      read: publicRows(({ caller, where, anyOf: or }) =>
        caller.kind === 'anonymous'
          ? 'none'
          : or(where('isOpen', 'is', true), where('size', 'in', [caller.owner ?? 1n]))
      ),
      reads: { lookup: everyone }
    })
  }),
  defineEntity({
    ...base,
    access: ({ rows }) => ({
      read: anyOf(
        ownRows('ownerId'),
        allOf(
          permission('things:read'),
          rows(({ where }) => where('ownerId', 'between', 1, 2))
        )
      )
    })
  }),
  defineEntity({ ...base, access: ({ rows }) => ({ read: rows(({ where }) => where('shelf', 'is empty')) }) }),
  defineEntity({ ...base, access: { read: anyOf(permission('things:read'), ownRows('ownerId')) } }),
  defineEntity({
    ...base,
    access: ({ rows }) => ({
      read: everyone,
      write: anyOf(
        ownRows('ownerId'),
        allOf(
          permission('things:write'),
          rows(({ where }) => where('isOpen', 'is', true))
        )
      ),
      writes: { delete: permission('things:manage'), close: ownRows('ownerId') },
      writesUnseen: true
    }),
    writes: ['create', 'update', 'delete'],
    actions: (action) => ({ close: action({ description: 'Closes it.', handsOver: true, becomes: { isOpen: false } }) })
  })
]

export const testsThatAreNone = [
  // @ts-expect-error no such property
  defineEntity({ ...base, access: ({ rows }) => ({ read: rows(({ where }) => where('nmae', 'contains', 'x')) }) }),
  // @ts-expect-error whether a row is there would tell of a column that not every reader sees
  defineEntity({ ...base, access: ({ rows }) => ({ read: rows(({ where }) => where('price', 'contains', 'x')) }) }),
  // @ts-expect-error no operator of the type
  defineEntity({ ...base, access: ({ rows }) => ({ read: rows(({ where }) => where('isOpen', 'contains', 'x')) }) }),
  // @ts-expect-error no operand of the type
  defineEntity({ ...base, access: ({ rows }) => ({ read: rows(({ where }) => where('isOpen', 'is', 'x')) }) }),
  // @ts-expect-error `in` takes a list
  defineEntity({ ...base, access: ({ rows }) => ({ read: rows(({ where }) => where('name', 'in', 'x')) }) }),
  // @ts-expect-error `between` takes two
  defineEntity({ ...base, access: ({ rows }) => ({ read: rows(({ where }) => where('ownerId', 'between', 1)) }) }),
  // @ts-expect-error it has to answer something
  defineEntity({ ...base, access: ({ rows }) => ({ read: rows(() => undefined) }) }),
  defineEntity({
    ...base,
    // @ts-expect-error only callers with a token come here
    access: ({ rows }) => ({ read: rows(({ caller }) => (caller.kind === 'anonymous' ? 'all' : 'none')) })
  }),
  defineEntity({
    ...base,
    // @ts-expect-error a caller without a token has no owner
    access: ({ publicRows }) => ({ read: publicRows(({ caller }) => (caller.owner === null ? 'all' : 'none')) })
  }),
  defineEntity({
    ...base,
    // @ts-expect-error an owner is an integer, also beside a predicate
    access: ({ rows }) => ({
      read: anyOf(
        ownRows('name'),
        rows(() => 'all')
      )
    })
  }),
  // @ts-expect-error a write takes a token
  defineEntity({ ...base, access: { read: everyone, write: everyone } }),
  // @ts-expect-error also as one of several words
  defineEntity({ ...base, access: { read: everyone, write: anyOf(permission('things:write'), everyone) } }),
  // @ts-expect-error also by a predicate
  defineEntity({ ...base, access: ({ publicRows }) => ({ read: everyone, write: publicRows(() => 'all') }) }),
  // @ts-expect-error no such property
  defineEntity({ ...base, access: { read: everyone, write: anyOf(ownRows('owner'), permission('things:write')) } })
]
