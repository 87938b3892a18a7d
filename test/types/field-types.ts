import { everyone, permission } from '../../data-service/entity/access.js'
import { defineEntity } from '../../data-service/entity/define-entity.js'
import { defineFieldType } from '../../data-service/entity/fields/custom-type.js'
import {
  binary,
  bits,
  date,
  defaultTo,
  double,
  hidden,
  int,
  json,
  onCreate,
  oneOf,
  optional,
  readableBy,
  readOnly,
  setOf,
  text,
  time,
  unique,
  unsigned
} from '../../data-service/entity/fields/words.js'
import type { RowOf } from '../../data-service/entity/fields/rows.js'

// The types of columns, in an entity file. Each `@ts-expect-error` is a test: the compiler reports the line when what
// follows compiles after all.
const fields = {
  id: readOnly(int()),
  name: text(200),
  state: oneOf(['draft', 'sent']),
  formerState: optional(onCreate(readableBy('things:read', oneOf(['draft', 'sent'])))),
  tags: setOf(['new', 'used']),
  details: json(),
  proof: optional(binary(20)),
  day: date(),
  at: time(),
  weight: double(),
  isSealed: bits(1),
  flags: bits(8),
  wide: bits(40),
  secret: hidden(oneOf(['a']))
}

type Row = RowOf<typeof fields>

const row: Row = {
  id: 1,
  name: 'a',
  state: 'draft',
  formerState: null,
  tags: ['used'],
  details: '{}',
  proof: Buffer.alloc(1),
  day: '2026-01-31',
  at: '08:00:00',
  weight: 1.5,
  isSealed: true,
  flags: 5,
  wide: '5',
  secret: 'a'
}

/** The words of an enum are a union, whatever stands around it. */
export const states: readonly ('draft' | 'sent' | null)[] = [row.state, row.formerState]
export const words: readonly ('new' | 'used')[] = row.tags

export const wrongRows: readonly Row[] = [
  // @ts-expect-error no word of the enum
  { ...row, state: 'Sent' },
  // @ts-expect-error a list of the words
  { ...row, tags: 'new' },
  // @ts-expect-error a word that the set has not
  { ...row, tags: ['old'] },
  // @ts-expect-error JSON is its text
  { ...row, details: {} },
  // @ts-expect-error up to 32 bits are a number
  { ...row, flags: '5' },
  // @ts-expect-error bytes, and no base64
  { ...row, proof: 'AA==' }
]

export const wrongWords = [
  // @ts-expect-error no word of the enum
  defaultTo(oneOf(['draft', 'sent']), 'Draft'),
  // @ts-expect-error a list
  defaultTo(setOf(['new']), 'new'),
  // @ts-expect-error sets cannot be unique
  unique(setOf(['new'])),
  // @ts-expect-error nor can JSON
  unique(json()),
  // @ts-expect-error a decimal has its sign
  unsigned(double())
]

const base = { name: 'things', description: 'Things.', fields, label: 'name', filterable: ['tags'] } as const
const access = { read: everyone, write: permission('things:write') }

export const sound = defineEntity({ ...base, sortable: ['state', 'day'], access })

export const wrongEntities = [
  // @ts-expect-error a set has no order
  defineEntity({ ...base, sortable: ['tags'], access }),
  // @ts-expect-error nor has JSON
  defineEntity({ ...base, sortable: ['details'], access }),
  // @ts-expect-error an operator that sets do not have
  defineEntity({ ...base, sortable: [], operators: { tags: ['equals'] }, access })
]

export const wrongOwnType = defineFieldType({
  name: 'list',
  // @ts-expect-error an own type is over values that can be compared
  base: setOf(['a']),
  parse: (value) => value,
  expected: 'a list',
  examples: ['a']
})
