import { expect } from 'chai'
import { everyone, ownRows } from '../../../data-service/entity/access.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import type { Entity } from '../../../data-service/entity/entity.js'
import {
  bool,
  date,
  dateTime,
  double,
  hidden,
  int,
  json,
  long,
  money,
  onCreate,
  optional,
  readOnly,
  text
} from '../../../data-service/entity/fields/words.js'
import { CatalogueError, checkCatalogue } from '../../../data-service/entity/validation/validate.js'

/** An entity file that got round its types. */
function entity(totals: unknown, more: object = {}): Entity {
  return defineEntity({
    name: 'things',
    description: '',
    fields: {
      id: readOnly(int()),
      name: text(1000),
      story: text(1001),
      ownerId: onCreate(long()),
      count: dateTime(),
      price: money(10, 2),
      weight: double(),
      isNew: bool(),
      madeOn: optional(date()),
      details: json(),
      secret: hidden(int())
    },
    label: 'name',
    filterable: [],
    sortable: [],
    access: { read: everyone },
    ...(totals === undefined ? {} : { totals }),
    ...more
  } as unknown as Parameters<typeof defineEntity>[0])
}

function mistakes(totals: unknown, more: object = {}): string {
  try {
    checkCatalogue([entity(totals, more)], { permissions: [], hasSecondStore: false })
    return ''
  } catch (error) {
    if (error instanceof CatalogueError) return error.mistakes.join('\n')
    throw error
  }
}

const sound = {
  dimensions: ['name', 'madeOn.year', 'isNew'],
  measures: { count: true, sum: ['price'], max: ['weight'] }
}

describe('checkCatalogue of totals', () => {
  it('The names of sound totals are those of their columns, parts and measures.', () => {
    expect(mistakes(sound)).to.equal('')
    const { dimensions = [], measures = [] } = entity(sound).totals ?? {}
    expect([...dimensions, ...measures].map(({ name }) => name)).to.deep.equal([
      'name',
      'madeOn.year',
      'isNew',
      'count',
      'sum.price',
      'max.weight'
    ])
  })

  const CASES: readonly (readonly [what: string, totals: object, says: string])[] = [
    ['no such field', { dimensions: ['nmae'] }, 'nmae'],
    ['a hidden dimension', { dimensions: ['secret'] }, '`secret` is in no answer'],
    ['a hidden measure', { measures: { sum: ['secret'] } }, '`secret` is in no answer'],
    ['a dimension of JSON', { dimensions: ['details'] }, '`details` is json'],
    ['a dimension of doubles', { dimensions: ['weight'] }, '`weight` is double'],
    ['a long text', { dimensions: ['story'] }, 'longer than 1000'],
    ['an unknown part', { dimensions: ['madeOn.week'] }, 'ends in none of year, month, day'],
    ['a part of a number', { dimensions: ['price.year'] }, '`price.year` is of decimal, which has no year'],
    ['a sum of texts', { measures: { sum: ['name'] } }, 'sum of `name`, which is string'],
    ['an average of doubles', { measures: { average: ['weight'] } }, 'it takes int, long, decimal'],
    ['a name twice', { dimensions: ['name', 'name'] }, '`name` is there twice'],
    ['a dimension called as a measure', { dimensions: ['count'] }, '`count` is there twice'],
    ['no measure', { measures: {} }, '`measures` names none'],
    ['an unknown measure', { measures: { median: ['price'] } }, 'there is no `median`'],
    ['a measure that is no list', { measures: { sum: 'price' } }, '`sum` is a text; it has to be a list'],
    ['an unknown word', { dimension: ['name'] }, 'there is no `dimension`']
  ]
  for (const [what, totals, says] of CASES) {
    it(`The start names ${what}.`, () => expect(mistakes({ ...sound, ...totals })).to.include(says))
  }

  it('The start names totals that would count rows which a replaced list does not show.', () => {
    const list = (): Promise<object> => Promise.resolve({})
    for (const replaced of [{ list }, { paged: list }]) {
      expect(mistakes(sound, { overrides: replaced })).to.include('replace `totals` in overrides too')
      expect(mistakes(sound, { overrides: { ...replaced, totals: list } })).to.equal('')
    }
  })

  it('Access and the owner filter of totals are those of the list.', () => {
    const own = ownRows('ownerId')
    const access = (more: object): Entity => entity(sound, { access: { read: everyone, ...more } })
    const reads = { list: own, paged: own, export: own }
    expect(access({ reads }).access.totals).to.equal(own)
    expect(access({ reads: { ...reads, totals: everyone } }).access.totals).to.equal(everyone)
    const filter = { property: 'ownerId', parameter: 'ownerId' }
    const routes = (ownerFilter: object, of = access({ ownerFilter: { ...filter, ...ownerFilter } })): unknown => [
      ...(of.ownerFilter?.routes ?? [])
    ]
    expect(routes({ on: ['list'], allowMissingOwner: { list: 'rowScope' } })).to.deep.equal([
      ['list', 'rowScope'],
      ['totals', 'rowScope']
    ])
    expect(routes({ on: ['get'] })).to.deep.equal([['get', undefined]])
    expect(mistakes(undefined, { access: { read: everyone, reads: { totals: everyone } } })).to.include(
      'there are no `totals`'
    )
  })
})
