import type { Totals } from '../../shared/gen/entity/v1/Totals.js'
import { itemsOfArray } from '../operations/json.js'
import type { TypedRpc } from './generic.js'
import { lacksOf, type QueryType, UNSHOWN_VALUES } from './queries.js'
import { makeRow, ownerFields, ownerOf, type ResourceTypes } from './rows.js'
import { type FieldSpec, makeEnum, makeMessage } from './schema.js'
import { readRows } from './typed-reads.js'
import { type Message, scalarText } from './values.js'

/** What an int is written in that is counted or summed: it may be beyond 32 bits. */
const WIDE_MAXIMUM = String(2n ** 63n - 1n)

/** Counts, sums and averages of the rows that match, by dimensions. */
export function totalsRpc(types: ResourceTypes, query: QueryType, totals: Totals): TypedRpc {
  const { numbers, resource, row } = types
  const { dimensions = [], measures = [] } = totals
  const name = `Total${types.plural}`
  const rowName = row.message.name
  const namesOf = (properties: typeof dimensions): readonly string[] => properties.map((one) => one.name ?? '')
  const dimension =
    dimensions.length === 0
      ? undefined
      : makeEnum(
          numbers,
          { name: `${name}Request.Dimension`, comment: `What ${types.name} are grouped by.` },
          namesOf(dimensions)
        )
  const measure = makeEnum(
    numbers,
    { name: `${name}Request.Measure`, comment: `What is computed of a group of ${types.name}.` },
    namesOf(measures)
  )
  const enums = dimension === undefined ? [measure] : [dimension, measure]
  const column = (key: string, type: string): FieldSpec => ({
    key,
    type,
    label: 'oneof',
    comment: `A ${key} of the request.`
  })
  const sort = makeMessage(
    numbers,
    { name: `${name}Request.Sort`, comment: 'One key of the order of groups.', oneof: 'column' },
    [
      ...(dimension === undefined ? [] : [column('dimension', dimension.name)]),
      column('measure', measure.name),
      { key: 'descending', type: 'bool', label: 'plain', comment: 'Whether the greatest comes first.' }
    ]
  )
  const group = makeRow(numbers, {
    name: `${name}Response.Group`,
    comment: 'A group, with the dimensions and measures that were asked for.',
    properties: [
      ...dimensions,
      ...measures.map((one) => (one.type === 'int' ? { ...one, maximum: WIDE_MAXIMUM } : one))
    ]
  })
  const list = (key: string, type: string, comment: string): FieldSpec => ({ key, type, label: 'repeated', comment })
  const words = new Map(enums.flatMap((one) => one.words.map(({ word, name: value }) => [value, word])))
  // A number that an enum does not have is no name of a dimension or measure, and is rejected as such.
  const wordOf = (value: unknown): string => words.get(scalarText(value)) ?? scalarText(value)
  const wordsIn = (request: Message, field: string): string =>
    ((request[field] ?? []) as readonly unknown[]).map(wordOf).join() // Of our own codec.
  return {
    name,
    comment:
      'Counts, sums and averages of the rows that match: one group of all of them, or one for each value of the dimensions.',
    resource: types.name,
    generic: 'Totals',
    request: makeMessage(
      numbers,
      {
        name: `${name}Request`,
        comment: `Request of ${name}.`,
        nested: [...enums, sort]
      },
      [
        ...query.fields.filter(({ key }) => key !== 'sort'),
        ...(dimension === undefined
          ? []
          : [list('by', dimension.name, 'At most four dimensions. Without them there is one group.')]),
        list('measures', measure.name, 'At most ten measures; all without it.'),
        list('sort', sort.name, 'At most four keys of those that are asked for. Other dimensions are the last keys.'),
        ...ownerFields(resource)
      ]
    ),
    response: makeMessage(
      numbers,
      { name: `${name}Response`, comment: `Response of ${name} for ${rowName}.`, nested: [group.message] },
      [
        list('groups', group.message.name, 'In the order asked for.'),
        { key: 'row_limit', type: 'int32', label: 'plain', comment: 'The most groups that are answered.' },
        { key: 'truncated', type: 'bool', label: 'plain', comment: 'Whether groups were left out.' },
        {
          ...UNSHOWN_VALUES,
          comment:
            'Dimensions and measures with stored values that are none of their type, each absent from its group: ; property=sum.amount.'
        }
      ]
    ),
    streams: false,
    async handle(generic, context, request) {
      const { sort: asked, ...others } = request
      const keys = (asked ?? []) as readonly Message[] // Of our own codec.
      const by = wordsIn(request, 'by')
      const wanted = wordsIn(request, 'measures')
      const {
        json,
        rowLimit,
        truncated,
        unshownValues = []
      } = await generic.Totals(context, {
        resource: types.name,
        selection: {
          ...query.selection(others),
          ...(keys.length === 0
            ? {}
            : {
                sortColumn: keys.map((key) => wordOf(key['dimension'] ?? key['measure'])).join(),
                sortDirection: keys.map(({ descending }) => (descending === true ? 'desc' : 'asc')).join()
              })
        },
        ...(by === '' ? {} : { by }),
        ...(wanted === '' ? {} : { measures: wanted }),
        unplaced: null,
        asCsv: false,
        ...ownerOf(request)
      })
      const groups = await readRows(group, itemsOfArray(Buffer.from(json ?? '[]')))
      return { groups, row_limit: rowLimit, truncated, ...lacksOf({ unshownValues }) }
    }
  }
}
