import { PAGE_ALIAS, type ReadName, type ReadParameter } from '../../shared/read-parameters.js'
import {
  MAX_CONDITIONS,
  MAX_DIMENSIONS,
  MAX_INCLUDES,
  MAX_MEASURES,
  MAX_SORT_COLUMNS,
  MAX_TOTAL_LIMIT
} from '../../shared/request-limits.js'
import type { Navigation, Property, Resource } from '../data/data-client.js'
import { ownerParameterOf, parametersOfRead } from '../entity-routes/paths.js'
import type { Components, ComponentRef } from './components.js'
import { exampleIn } from './examples.js'

const FLAG = { type: 'boolean', default: false } as const
const ON_FLAG = { type: 'boolean', default: true } as const
const FROM_ONE = { type: 'integer', minimum: 1 } as const

/** The example of a property as the text of a query; empty where there is none. */
function queryExample(property: Property): string {
  const value = exampleIn(property)
  return value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
}

/** The `example` of a parameter, where there is one. */
export function exampleMember(example: unknown): { readonly example?: unknown } {
  return example === undefined ? {} : { example }
}

const FIELDS =
  'Comma-separated names of the members to answer, in any letter case. All by default. A navigation may be named when ' +
  'its include is on.'
const INCLUDE =
  'Comma-separated names of navigations to load, in any letter case, together with those that `includeFKs` and ' +
  '`includeChildren` load. One of the rows that a navigation leads to stands behind a dot.'
const SORT_COLUMN =
  'Up to four properties to order by, with commas between; the id is always the last key. Nulls come first ascending, ' +
  'last descending.'
const FILTER_PAIRS = 'The n-th operator belongs to the n-th value.'

/**
 * What parameters of all resources are described by, by their names. In the exact document each of them says it; the other
 * one says it once, as a description of the whole.
 */
export const DESCRIBED_ONCE: Readonly<Record<string, string>> = {
  fields: FIELDS,
  include: INCLUDE,
  sortColumn: SORT_COLUMN,
  'filters[<property>].operator': FILTER_PAIRS
}

function onceSaid({ exact }: Components, description: string): { readonly description?: string } {
  return exact ? { description } : {}
}

/** In the exact document alone: generators of clients make nothing of examples. */
function exampleOf({ exact }: Components, example: readonly unknown[]): { readonly example?: unknown } {
  return exact && example.length > 0 ? { example } : {}
}

/** All parameters of an operation: those of its route, filters, the owner parameter, and the common headers. */
export function operationParameters(components: Components, resource: Resource, operation: ReadName): object[] {
  const { names, filters } = parametersOfRead(operation, resource)
  return [
    ...names
      .filter((name) => takes(resource, name))
      .flatMap((name) => queryParameters(components, { resource, operation, name })),
    ...(filters ? filterParameters(components, resource) : []),
    ...ownerParameters(components, ownerParameterOf(resource, operation)),
    ...headerParameters(components)
  ]
}

/** Rows without a key have no cursors, and what sends one gets a 400 that says why. */
function takes({ key }: Resource, name: ReadParameter): boolean {
  return key.length > 0 || (name !== 'after' && name !== 'before')
}

/** The parameter of an owner filter. It is not `required`, since some callers and configurations do not need it. */
export function ownerParameters(components: Components, name: string | undefined): object[] {
  if (name === undefined) return []
  return [
    components.refer('parameters', `owner.${name}`, () => ({
      name,
      in: 'query',
      description:
        "The owner whose rows are meant, the caller's own. A caller who may see every owner's rows may name any, or " +
        'leave it out.',
      schema: { type: 'integer', format: 'int64' }
    }))
  ]
}

/** Headers that every operation of resources takes. */
const HEADER_PARAMETERS = {
  'api-version': {
    name: 'api-version',
    in: 'header',
    description: 'The version to be served with.',
    schema: { type: 'string', enum: ['1', '1.0'] },
    example: '1.0'
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      '`handling=strict` refuses unknown parameters and members, `handling=lenient` ignores them (RFC 7240). Which of the ' +
      'two it is without the header is a setting of the service.',
    schema: { type: 'string' },
    example: 'handling=strict'
  },
  'Prefer.write': {
    name: 'Prefer',
    in: 'header',
    description:
      '`tx=rollback` is a dry run: everything runs in its transaction and is answered as the write would be, and then rolled ' +
      'back. `Preference-Applied` confirms it. `handling` as with reads (RFC 7240).',
    schema: { type: 'string' },
    example: 'tx=rollback'
  },
  'X-Request-Id': {
    name: 'X-Request-Id',
    in: 'header',
    description:
      'Kept in the answer and in the logs where it matches `[A-Za-z0-9._-]{1,128}`; the service makes another id otherwise.',
    schema: { type: 'string' }
  },
  traceparent: {
    name: 'traceparent',
    in: 'header',
    description: 'W3C Trace Context. A value that is no such header is ignored.',
    schema: { type: 'string' },
    example: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  }
} as const

export function headerParameters(components: Components, of: 'read' | 'write' = 'read'): object[] {
  const names = [
    ...(components.exact ? (['api-version'] as const) : []),
    ...(of === 'write' ? (['Prefer.write'] as const) : components.exact ? (['Prefer'] as const) : [])
  ]
  return [...names.map((name) => headerParameter(components, name)), ...requestIdParameters(components)]
}

/** Headers of requests that are told apart in the logs and belong to a trace, in the exact document alone. */
export function requestIdParameters(components: Components): object[] {
  const names = components.exact ? (['X-Request-Id', 'traceparent'] as const) : []
  return names.map((name) => headerParameter(components, name))
}

function headerParameter(components: Components, name: keyof typeof HEADER_PARAMETERS): object {
  return components.refer('parameters', name, () => HEADER_PARAMETERS[name])
}

/** By which the endpoints of sessions tell pages of other sites. */
const SITE_PARAMETERS = {
  'Sec-Fetch-Site': {
    name: 'Sec-Fetch-Site',
    in: 'header',
    description: 'Browsers send it, and no script can. `cross-site` is 403.',
    schema: { type: 'string' }
  },
  Origin: {
    name: 'Origin',
    in: 'header',
    description: 'Where `Sec-Fetch-Site` is absent: an origin other than that of the service is 403.',
    schema: { type: 'string' }
  }
} as const

export function siteParameters(components: Components): object[] {
  return Object.entries(SITE_PARAMETERS).map(([name, parameter]) =>
    components.refer('parameters', name, () => parameter)
  )
}

const BASE64 = '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})'
const ENTITY_TAG_PATTERN = `(?:W/)?"${BASE64}"`
const ENTITY_TAGS_PATTERN = `(?:[ \\t]*,)*[ \\t]*${ENTITY_TAG_PATTERN}[ \\t]*(?:,[ \\t]*(?:${ENTITY_TAG_PATTERN}[ \\t]*)?)*`

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  description:
    'The `ETag` that the row was last read or written with, or a list of them with commas between. `*` is no version.',
  required: true,
  schema: { type: 'string', pattern: `^${ENTITY_TAGS_PATTERN}$`, examples: ['W/"AQIDBAUGBwg="'] }
} as const

const IDEMPOTENCY_KEY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A key of your choice for this request and its retries: 1 to 255 visible ASCII characters, bare or as a quoted ' +
    'string. A blank one counts as none.',
  schema: { type: 'string', pattern: '^(?:[!#-~][!-~]{0,254}|"(?:[!#-\\[\\]-~]|\\\\["\\\\]){1,255}"|[ \\t]*)$' },
  example: '8e03978e-40d5-43e8-bc93-6894a57f9324'
} as const

/** Further headers of writes. */
const WRITE_HEADER_PARAMETERS = {
  'If-Match': IF_MATCH,
  'If-Match.optional': {
    ...IF_MATCH,
    required: false,
    description: 'Where it is sent, the row must still have this version; `*` asks that it exists.',
    schema: { ...IF_MATCH.schema, pattern: `^(?:[ \\t,]*|[ \\t]*\\*[ \\t]*|${ENTITY_TAGS_PATTERN})$` }
  },
  'Idempotency-Key': IDEMPOTENCY_KEY_PARAMETER,
  'Idempotency-Key.required': { ...IDEMPOTENCY_KEY_PARAMETER, required: true }
} as const

export function writeHeader(components: Components, name: keyof typeof WRITE_HEADER_PARAMETERS): object {
  return components.refer('parameters', name, () => WRITE_HEADER_PARAMETERS[name])
}

/** The key of a create, or of an operation with POST, which IDEMPOTENCY_REQUIRED demands. */
export function createKey(components: Components): object {
  return writeHeader(components, components.keyRequired ? 'Idempotency-Key.required' : 'Idempotency-Key')
}

interface QueryParameterOf {
  readonly resource: Resource
  readonly operation: ReadName
  readonly name: ReadParameter
}

/** A parameter of the route, with its alias where it has one. */
function queryParameters(components: Components, { resource, operation, name }: QueryParameterOf): object[] {
  const { name: of } = resource
  switch (name) {
    case 'search':
      return operation === 'lookup'
        ? [components.refer('parameters', 'lookup.search', () => LOOKUP_SEARCH)]
        : [components.refer('parameters', `${of}.search`, () => search(resource))]
    case 'fields':
      return [components.refer('parameters', `${of}.fields`, () => fieldsParameter(components, resource))]
    case 'include':
      return [components.refer('parameters', `${of}.include`, () => includeParameter(components, resource))]
    case 'sortColumn':
      return operation === 'totals'
        ? [components.refer('parameters', `${of}.totals.sortColumn`, () => totalsParameter(components, resource, name))]
        : [components.refer('parameters', `${of}.sortColumn`, () => sortColumn(components, resource))]
    case 'by':
    case 'measures':
      return [components.refer('parameters', `${of}.${name}`, () => totalsParameter(components, resource, name))]
    case 'sortDirection':
      return [components.refer('parameters', name, () => sortDirection(components))]
    case 'pageNumber':
      return ['pageNumber', ...(components.exact ? [PAGE_ALIAS] : [])].map((alias) =>
        components.refer('parameters', alias, () => pageNumber(alias))
      )
    default:
      return [plainParameter(components, name)]
  }
}

export function plainParameter(components: Components, name: keyof typeof PLAIN): object {
  return components.refer('parameters', name, () => ({ name, in: 'query', ...PLAIN[name] }))
}

/** The parameters that are the same for every resource. */
const PLAIN = {
  includeFKs: { description: 'Loads the rows that foreign keys point at.', schema: FLAG },
  includeChildren: { description: 'Loads the children of each row.', schema: FLAG },
  pageSize: { description: 'Rows a page, clamped to the maximum.', schema: { ...FROM_ONE, default: 10 } },
  after: {
    description: 'The `X-Next-Cursor` of an answer to the same filters, search and order, instead of a page number.',
    schema: { type: 'string', maxLength: 1024 }
  },
  before: {
    description: 'The `X-Previous-Cursor` of such an answer, instead of a page number.',
    schema: { type: 'string', maxLength: 1024 }
  },
  includeTotal: { description: 'Whether to count all rows that match.', schema: ON_FLAG },
  totalLimit: {
    description: 'Rows at which the count stops, so that it does not grow with the table.',
    schema: { type: 'integer', minimum: 1, maximum: MAX_TOTAL_LIMIT }
  },
  bom: { description: 'Whether the file begins with a UTF-8 byte order mark.', schema: ON_FLAG },
  escapeFormulas: {
    description: "Whether text cells that would read as formulas get a leading '.",
    schema: ON_FLAG
  }
} as const

function pageNumber(name: string): object {
  const description =
    name === PAGE_ALIAS
      ? 'Another name of `pageNumber`. Send one of the two.'
      : 'The page, from 1. `page` is an alias; send one of the two. Not together with a cursor.'
  return { name, in: 'query', description, schema: { ...FROM_ONE, default: 1 } }
}

const LOOKUP_SEARCH = {
  name: 'search',
  in: 'query',
  description: 'Keeps names that contain it.',
  schema: { type: 'string', maxLength: 4096 }
} as const

function search({ properties, fullText }: Resource): object {
  const searchable = properties.filter((property) => property.searchable)
  const searched = searchable.map(({ name }) => name)
  // A word of the first of them.
  const [word] = searchable.slice(0, 1).flatMap((property) => /\S+/.exec(queryExample(property)) ?? [])
  return {
    name: 'search',
    in: 'query',
    description:
      `Up to eight words with white space between. Keeps rows where each word is ${fullText ? 'a word, or the beginning of a word, in' : 'contained in'} ` +
      `at least one of: ${searched.join(', ')}.`,
    schema: { type: 'string', pattern: '^\\s*(?:\\S+(?:\\s+\\S+){0,7})?\\s*$' },
    ...exampleMember(word)
  }
}

function fieldsParameter(components: Components, { name, properties, navigations }: Resource): object {
  const names = [...properties.filter(({ selectable }) => selectable), ...navigations].map((one) => one.name)
  return {
    name: 'fields',
    in: 'query',
    ...onceSaid(components, FIELDS),
    explode: false,
    schema: {
      type: 'array',
      maxItems: 200,
      items: inAnySpelling(
        components,
        components.refer('schemas', `${name}.field-name`, () => ({ type: 'string', enum: names })),
        () => trimmed(['', ...names.map(anyLetterCase)])
      )
    },
    ...exampleOf(components, names.slice(0, 2))
  }
}

function includeParameter(components: Components, resource: Resource): object {
  const names = resource.navigations.flatMap((one) => includedNames(components, one))
  return {
    name: 'include',
    in: 'query',
    ...onceSaid(components, INCLUDE),
    explode: false,
    schema: {
      type: 'array',
      maxItems: MAX_INCLUDES,
      items:
        names.length === 0
          ? { type: 'string' }
          : inAnySpelling(
              components,
              components.refer('schemas', `${resource.name}.include-name`, () => ({ type: 'string', enum: names })),
              () => trimmed(names.map(anyLetterCase))
            )
    },
    ...exampleOf(components, names.slice(0, 1))
  }
}

/** What `include` takes for a navigation: its name, and those of the rows that it leads to. */
export function includedNames(components: Components, navigation: Navigation): readonly string[] {
  const { name } = navigation
  return [name, ...namesWithin(components, navigation).map((inner) => `${name}.${inner}`)]
}

/** The navigations of the rows that a navigation leads to. */
function namesWithin(components: Components, { resource, kind, navigations, references }: Navigation): string[] {
  const within =
    kind === 'NAVIGATION_KIND_CHILDREN'
      ? [...references, ...navigations]
      : (components.resource(resource)?.navigations ?? [])
  return within.map(({ name }) => name)
}

function sortColumn(components: Components, { name, properties }: Resource): object {
  const names = properties.filter(({ sortable }) => sortable).map((one) => one.name)
  return {
    name: 'sortColumn',
    in: 'query',
    ...onceSaid(components, SORT_COLUMN),
    explode: false,
    schema: {
      type: 'array',
      maxItems: MAX_SORT_COLUMNS,
      items:
        names.length === 0
          ? { type: 'string' }
          : inAnySpelling(
              components,
              components.refer('schemas', `${name}.sort-column`, () => ({ type: 'string', enum: names })),
              () => trimmed(names.map(anyLetterCase))
            )
    },
    // The id is the last key anyway.
    ...exampleOf(components, [names.find((one) => one !== 'id') ?? 'id'].slice(0, names.length))
  }
}

/** A parameter that names dimensions or measures of totals. */
function totalsParameter(
  components: Components,
  { name: of, totals }: Resource,
  parameter: 'by' | 'measures' | 'sortColumn'
): object {
  const [dimensions, measures] = [totals?.dimensions ?? [], totals?.measures ?? []].map((all) =>
    all.map(({ name }) => name)
  )
  const { description, most, names } = {
    by: {
      description:
        'Up to four dimensions by which rows are grouped, with commas between. Without it there is one group.',
      most: MAX_DIMENSIONS,
      names: dimensions ?? []
    },
    measures: {
      description: 'Up to ten measures to compute of each group, with commas between. Without it all of them.',
      most: MAX_MEASURES,
      names: measures ?? []
    },
    sortColumn: {
      description:
        'Up to four of the dimensions and measures that are asked for, with commas between. The other dimensions are the ' +
        'last keys. Nulls come first ascending, last descending.',
      most: MAX_SORT_COLUMNS,
      names: [...(dimensions ?? []), ...(measures ?? [])]
    }
  }[parameter]
  const isBlankTaken = parameter !== 'sortColumn'
  return {
    name: parameter,
    in: 'query',
    description,
    explode: false,
    schema: {
      type: 'array',
      maxItems: most,
      items: inAnySpelling(
        components,
        components.refer('schemas', `${of}.totals-${parameter}`, () => ({ type: 'string', enum: names })),
        () => trimmed([...(isBlankTaken ? [''] : []), ...names.map(anyLetterCase)])
      )
    },
    ...exampleMember(names.length === 0 ? undefined : names.slice(0, 1))
  }
}

const DIRECTIONS = ['asc', 'desc', 'ascending', 'descending']

function sortDirection(components: Components): object {
  return {
    name: 'sortDirection',
    in: 'query',
    description: 'One direction for all sort columns, or one for each, in any letter case. Ascending by default.',
    explode: false,
    schema: {
      type: 'array',
      maxItems: MAX_SORT_COLUMNS,
      items: inAnySpelling(
        components,
        components.refer('schemas', 'SortDirection', () => ({ type: 'string', enum: DIRECTIONS })),
        () => trimmed(DIRECTIONS.map(anyLetterCase))
      )
    },
    example: ['desc']
  }
}

/** Two for each property, both repeatable: the n-th operator belongs to the n-th value, and an incomplete pair is ignored. */
function filterParameters(components: Components, { name: of, properties }: Resource): object[] {
  return properties
    .filter(({ filterable }) => filterable)
    .flatMap((property) => {
      const { name, operators } = property
      const value = queryExample(property)
      const parameter = (part: string, more: object): object => {
        const filter = { name: `filters[${name}].${part}`, in: 'query', ...more }
        // Without examples those of one name and type are the same for all resources.
        return components.exact
          ? components.refer('parameters', `${of}.${name}.${part}`, () => filter)
          : components.share('parameters', `${name}.${part === 'operator' ? `${property.type}.` : ''}${part}`, filter)
      }
      return [
        parameter('operator', {
          ...onceSaid(components, FILTER_PAIRS),
          schema: operatorsSchema(components, property),
          ...exampleOf(components, operators.slice(0, 1))
        }),
        parameter('value', {
          schema: components.refer('schemas', 'FilterValues', () => FILTER_VALUES),
          ...exampleOf(components, value === '' ? [] : [value])
        })
      ]
    })
}

const FILTER_VALUES = {
  type: 'array',
  description: 'Each is parsed as the type of the property. `in` and `between` take items with commas between.',
  maxItems: MAX_CONDITIONS,
  items: { type: 'string', maxLength: 4096 }
} as const

/** The operators of a property as an enumeration, in the exact document in the other spellings that the service takes too. */
function operatorsSchema(components: Components, { type, operators, operatorAliases }: Property): object {
  const words = [...operators, ...operatorAliases]
  const operator = components.share('schemas', `Operator.${type}`, { type: 'string', enum: words })
  const items = inAnySpelling(components, operator, () => anyOperatorSpelling(words))
  return components.share('schemas', `Operators.${type}`, { type: 'array', maxItems: MAX_CONDITIONS, items })
}

/** The words of an enumeration, in the exact document in the other spellings that the service takes too. */
function inAnySpelling(components: Components, words: ComponentRef, pattern: () => string): object {
  return components.exact ? { anyOf: [words, { type: 'string', pattern: pattern() }] } : words
}

// Regular expressions (ECMA-262, without flags) for JSON schemas. They match texts in the spellings that the service takes.

/** A pattern for the text in any letter case: `[iI][dD]`. */
function anyLetterCase(text: string): string {
  return Array.from(text, (character) => {
    const [lower, upper] = [character.toLowerCase(), character.toUpperCase()]
    return lower === upper ? patternLiteral(character) : `[${lower}${upper}]`
  }).join('')
}

/** A whole text that one of the patterns matches, with white space around it. */
function trimmed(patterns: readonly string[]): string {
  return `^\\s*(?:${patterns.join('|')})\\s*$`
}

/** `starts with`, `startsWith`, `STARTS_WITH` and `starts-with` for `starts with` (contract.md section 4). */
function anyOperatorSpelling(words: readonly string[]): string {
  const folded = words.map((word) => Array.from(word.replaceAll(' ', ''), anyLetterCase).join(BETWEEN))
  return `^${BETWEEN}(?:${folded.join('|')})${BETWEEN}$`
}

const BETWEEN = '[ _-]*'

function patternLiteral(character: string): string {
  return character.replace(/[.*+?^${}()|[\]\\/]/, '\\$&')
}
