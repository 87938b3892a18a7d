import type { Resource } from '../data/data-client.js'
import { ownerParameterOf, type ReadOperation, readParameters } from '../entity-routes/paths.js'
import type { ParameterName } from '../http/query-string.js'

const FLAG = { type: 'boolean', default: false } as const
const ON_FLAG = { type: 'boolean', default: true } as const
const FROM_ONE = { type: 'integer', minimum: 1 } as const

/** All parameters of an operation: those of its route, filters, the owner parameter, and the common headers. */
export function operationParameters(resource: Resource, operation: ReadOperation): object[] {
  const { names, filters } = readParameters(operation, resource)
  return [
    ...names.map((name) => queryParameter(resource, operation, name)),
    ...(filters ? filterParameters(resource) : []),
    ...ownerParameters(ownerParameterOf(resource, operation)),
    ...HEADER_PARAMETERS
  ]
}

/** The parameter of an owner filter. It is not `required`, since some callers and configurations do not need it. */
export function ownerParameters(name: string | undefined): object[] {
  if (name === undefined) return []
  return [
    {
      name,
      in: 'query',
      description:
        "The owner whose rows are meant, the caller's own. A caller who may see every owner's rows may name any, or " +
        'leave it out.',
      schema: { type: 'integer', format: 'int64' }
    }
  ]
}

/** Headers that every operation takes. */
export const HEADER_PARAMETERS: readonly object[] = [
  {
    name: 'api-version',
    in: 'header',
    description: 'The version to be served with.',
    schema: { type: 'string', enum: ['1', '1.0'] }
  },
  {
    name: 'Prefer',
    in: 'header',
    description: 'handling=strict refuses unknown parameters and members instead of ignoring them (RFC 7240).',
    schema: { type: 'string' }
  },
  {
    name: 'X-Request-Id',
    in: 'header',
    description: 'Kept in the answer and in the logs.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' }
  },
  { name: 'traceparent', in: 'header', description: 'W3C Trace Context.', schema: { type: 'string' } }
]

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  description: 'The `ETag` that the row was last read or written with, or a list of them. `*` is no version.',
  required: true,
  schema: { type: 'string', examples: ['W/"AQIDBAUGBwg="'] }
} as const

/** Further headers of writes. */
export const WRITE_HEADER_PARAMETERS = {
  ifMatch: IF_MATCH,
  optionalIfMatch: {
    ...IF_MATCH,
    required: false,
    description: 'Where it is sent, the row must still have this version; `*` asks that it exists.'
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'A key of your choice for this request and its retries: 1 to 255 visible ASCII characters, bare or as a quoted string.',
    schema: { type: 'string', minLength: 1 }
  }
} as const

function queryParameter(resource: Resource, operation: ReadOperation, name: ParameterName): object {
  return { name, in: 'query', ...(name === 'search' ? search(resource, operation) : descriptions(resource)[name]) }
}

function search(resource: Resource, operation: ReadOperation): object {
  const schema = { type: 'string' }
  if (operation === 'lookup') return { description: 'Keeps names that contain it.', schema }
  const searched = resource.properties.filter(({ searchable }) => searchable).map(({ name }) => name)
  return {
    description:
      'Up to eight words with white space between. Keeps rows where each word is contained in at least one of: ' +
      `${searched.join(', ')}.`,
    schema
  }
}

function descriptions(
  resource: Resource
): Readonly<Record<Exclude<ParameterName, 'search'>, { readonly description: string; readonly schema: object }>> {
  const selectable = resource.properties.filter((property) => property.selectable).map(({ name }) => name)
  const sortable = resource.properties.filter((property) => property.sortable).map(({ name }) => name)
  return {
    fields: {
      description: `Comma-separated names of the properties to answer, of: ${selectable.join(', ')}. All by default.`,
      schema: { type: 'string' }
    },
    includeFKs: { description: 'Loads the rows that foreign keys point at.', schema: FLAG },
    includeChildren: { description: 'Loads the children of each row.', schema: FLAG },
    sortColumn: {
      description:
        'Up to four properties to order by, with commas between; the id is always the last key. Nulls come first ' +
        `ascending, last descending. Of: ${sortable.join(', ')}.`,
      ...listed(sortable.length === 0 ? { type: 'string' } : { type: 'string', enum: sortable })
    },
    sortDirection: {
      description: 'One direction for all sort columns, or one for each, in any letter case. Ascending by default.',
      ...listed({ type: 'string', enum: ['asc', 'desc', 'ascending', 'descending'] })
    },
    pageSize: { description: 'Rows a page, clamped to the maximum.', schema: { ...FROM_ONE, default: 10 } },
    pageNumber: {
      description: 'The page, from 1. `page` is an alias; send one of the two.',
      schema: { ...FROM_ONE, default: 1 }
    },
    after: {
      description: 'The `X-Next-Cursor` of an answer to the same filters, search and order, instead of a page number.',
      schema: { type: 'string', maxLength: 1024 }
    },
    before: {
      description: 'The `X-Previous-Cursor` of such an answer, instead of a page number.',
      schema: { type: 'string', maxLength: 1024 }
    },
    includeTotal: { description: 'Whether to count all rows that match.', schema: ON_FLAG },
    bom: { description: 'Whether the file begins with a UTF-8 byte order mark.', schema: ON_FLAG },
    escapeFormulas: {
      description: "Whether text cells that would read as formulas get a leading '.",
      schema: ON_FLAG
    }
  }
}

/** Items with commas between. */
function listed(items: object): { readonly schema: object; readonly style: 'form'; readonly explode: false } {
  return { schema: { type: 'array', maxItems: 4, items }, style: 'form', explode: false }
}

/** Two for each property, both repeatable: the n-th operator belongs to the n-th value, and an incomplete pair is ignored. */
function filterParameters(resource: Resource): object[] {
  return resource.properties
    .filter(({ filterable }) => filterable)
    .flatMap(({ name, type, operators, operatorAliases }) => [
      {
        name: `filters[${name}].operator`,
        in: 'query',
        description:
          'Repeatable. In any letter case; spaces, _ and - make no difference. ' +
          `One of: ${[...operators, ...operatorAliases].join(', ')}.`,
        explode: true,
        schema: { type: 'array', items: { type: 'string' } }
      },
      {
        name: `filters[${name}].value`,
        in: 'query',
        description: `Repeatable. Parsed as ${type}. Takes comma-separated items with \`in\` and \`between\`.`,
        explode: true,
        schema: { type: 'array', items: { type: 'string' } }
      }
    ])
}
