import { expect } from 'chai'
import { everyone, permission } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import type { Field } from '../../../data-service/entity/fields/field.js'
import {
  binary,
  bits,
  bool,
  date,
  dateTime,
  decimal,
  defaultTo,
  double,
  example,
  freeText,
  guid,
  hidden,
  int,
  json,
  long,
  money,
  onCreate,
  oneOf,
  optional,
  readableBy,
  readOnly,
  setOf,
  text,
  time,
  timestamp,
  tinyInt,
  unique,
  unsigned,
  year
} from '../../../data-service/entity/fields/words.js'
import { exampleMistakes } from '../../../data-service/entity/validation/validate-examples.js'
import { makeCatalogue } from '../../../data-service/plan/model/catalogue.js'
import { describeCatalogue } from '../../../data-service/operations/describe/describe.js'
import { exampleOf } from '../../../data-service/entity/types/types.js'

const MADE: readonly (readonly [name: string, field: Field, example: unknown])[] = [
  ['displayName', text(200), 'Display name'],
  ['currency', text(3, 3), 'Cur'],
  ['a', text(20, 12), 'A example ex'],
  ['email', text(254, 3), 'someone@example.com'],
  ['email', text(5), 'Email'],
  ['note', optional(freeText()), 'Note'],
  ['isOpen', bool(), true],
  ['isOpen', defaultTo(bool(), false), false],
  ['count', int(), 1],
  ['count', int({ min: 5 }), 5],
  ['count', int({ max: -3 }), -3],
  ['count', tinyInt(), 1],
  ['count', year(), 1901],
  ['count', bits(1), true],
  ['count', bits(3), 1],
  ['count', bits(40), '1'],
  ['count', long(), '1'],
  ['count', unsigned(long()), '1'],
  ['price', money(10, 2), '10.00'],
  ['share', decimal(3, 2), '1.00'],
  ['share', decimal(2, 2), '0.00'],
  ['share', { ...decimal(5, 2), minimum: '99.5' }, '99.50'],
  ['ratio', double(), 1.5],
  ['ratio', double({ max: 1 }), 1],
  ['startsAt', dateTime(), '2026-01-31T08:00:00.000Z'],
  ['endsAt', timestamp({ precision: 6 }), '2030-12-31T08:00:00.000000Z'],
  ['endsAt', dateTime({ precision: 0 }), '2030-12-31T08:00:00.000Z'],
  ['day', date(), '2026-01-31'],
  ['at', time(), '08:00:00'],
  ['at', time({ precision: 3 }), '08:00:00.000'],
  ['key', guid(), '6f9619ff-8b86-d011-b42d-00c04fc964ff'],
  ['status', oneOf(['draft', 'sent']), 'draft'],
  ['marks', setOf(['new', 'used']), ['new']],
  ['more', json(), '{}'],
  ['more', json({ type: 'integer', minimum: 1 }), '1'],
  ['more', json({ type: 'object', required: ['a'], examples: [1, { a: 2 }] }), '{"a":2}'],
  ['hash', binary(16, 16), Buffer.from('example example ')],
  ['hash', binary(3), Buffer.from('exa')]
]

describe('the example of a field without one', () => {
  for (const [name, field, made] of MADE) {
    it(`of ${field.type} ${name} is ${JSON.stringify(made)}, which requests may send`, () => {
      const found = exampleOf({ name, field })
      expect(found).to.deep.equal(made)
      expect(exampleMistakes(name, { ...field, example: found })).to.deep.equal([])
    })
  }

  it('is none where the schema of a json takes nothing that can be made', () => {
    expect(exampleOf({ name: 'more', field: json({ const: 'this alone' }) })).to.equal(undefined)
  })
})

const studios = defineEntity({
  name: 'studios',
  description: '',
  fields: { id: example(readOnly(guid()), '00000000-0000-4000-8000-000000000001'), name: text(40) },
  label: 'name',
  filterable: [],
  sortable: [],
  access: { read: everyone, write: permission('studios:manage') },
  writes: []
})

const films = defineEntity({
  name: 'films',
  description: '',
  fields: {
    id: readOnly(int()),
    title: example(unique(text(40)), 'The Third Man'),
    studioId: onCreate(guid()),
    status: readOnly(text(20)),
    cost: example(readableBy('films:manage', optional(money(10, 2))), '7.25'),
    secret: example(hidden(optional(text(40))), 'never shown')
  },
  computed: {
    heading: {
      type: 'string',
      from: ['title', 'status'],
      value: (title, status) => `${String(title)}, ${String(status)}`
    },
    broken: {
      type: 'string',
      from: ['title'],
      value: () => {
        throw new Error('not for examples')
      }
    }
  },
  joined: { studioName: { through: 'studio', property: 'name', field: text(40) } },
  label: 'title',
  filterable: [],
  sortable: [],
  references: { studio: { to: 'studios', via: 'studioId' } },
  children: {
    reels: { table: 'reels', foreignKey: 'filmId', fields: { id: readOnly(int()), filmId: readOnly(int()) } }
  },
  access: { read: everyone, write: permission('films:manage') },
  writes: [],
  actions: (action) => ({
    release: action({
      description: '',
      when: { status: ['cut', 'mixed'] },
      becomes: { status: 'released' },
      input: { title: text(40), cost: money(10, 2), secret: text(40), own: example(int(), 7) }
    })
  })
})

describe('the examples of a catalogue', () => {
  const describeTo = describeCatalogue(makeCatalogue([studios, films]), { bypassRole: undefined, parameterName: 'id' })
  const found = (reader: Parameters<typeof describeTo>[0]) =>
    describeTo(reader).resources?.find(({ name }) => name === 'films')

  it('are those of the entity files, and fit together', () => {
    const properties = found('gateway')?.properties ?? []
    expect(Object.fromEntries(properties.map(({ name, example: one }) => [name, one]))).to.deep.equal({
      id: '1',
      title: '"The Third Man"',
      studioId: '"00000000-0000-4000-8000-000000000001"',
      status: '"cut"',
      cost: '"7.25"',
      heading: '"The Third Man, cut"',
      broken: '"Broken"',
      studioName: '"Name"',
      rowVersion: '"AQIDBAUGBwg="'
    })
    const [reels] = found('gateway')?.navigations?.filter(({ name }) => name === 'reels') ?? []
    expect(reels?.properties?.map(({ example: one }) => one)).to.deep.equal(['1', '1', '"AQIDBAUGBwg="'])
  })

  it('of an action are those of the row’s properties, but of none that somebody may not see', () => {
    const [release] = found('gateway')?.actions ?? []
    expect(release?.input?.map(({ example: one }) => one)).to.deep.equal([
      '"The Third Man"',
      '"10.00"',
      '"Secret"',
      '7'
    ])
  })

  it('are told to nobody who may not see the property', () => {
    expect(JSON.stringify(found('gateway')))
      .to.include('7.25')
      .and.not.include('never shown')
    expect(JSON.stringify(found({ kind: 'anonymous' })))
      .to.not.include('7.25')
      .and.not.include('never shown')
  })
})
