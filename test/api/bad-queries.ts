import { filter } from './http-call.js'

interface BadQuery {
  readonly query: string
  readonly code: string
  readonly parameter: string
  /** A part of the detail. */
  readonly says?: string
}

function unknownProperty(name: string): BadQuery {
  return {
    query: filter(name, 'equals', '1'),
    code: 'filter.property.unknown',
    parameter: `filters[${name}]`,
    says: name
  }
}

function unsupported(property: string, operator: string): BadQuery {
  return {
    query: filter(property, operator, '1'),
    code: 'filter.operator.unsupported',
    parameter: `filters[${property}].operator`
  }
}

function badValue(property: string, operator: string, value: string): BadQuery {
  return {
    query: filter(property, operator, value),
    code: 'filter.value.invalid',
    parameter: `filters[${property}].value`
  }
}

const numbers = Array.from({ length: 201 }, (_, n) => String(n)).join(',')

/** Every bad filter that contract section 4 names, on every type. */
export const BAD_FILTERS: readonly BadQuery[] = [
  unknownProperty('nope'),
  unknownProperty('displayName'),
  unknownProperty('rowVersion'),
  unknownProperty('variants'),
  unknownProperty('category.name'),
  unknownProperty('__proto__'),
  unknownProperty('constructor'),
  unknownProperty("name' OR 1=1 --"),
  unknownProperty('category_id'),
  ...['contains', 'not contains', 'equals', 'not equals', 'starts with', 'ends with'].map((operator) =>
    badValue('name', operator, 'a\0b')
  ),
  badValue('name', 'in', 'a,\0'),
  badValue('name', 'in', '"a\0",b'),
  ...['isActive', 'releasedAt'].map((property) => badValue(property, 'is', 'true\0')),
  ...['id', 'barcode', 'price', 'externalId'].map((property) => badValue(property, 'equals', '1\0')),
  ...['id', 'barcode', 'price'].map((property) => badValue(property, 'between', '1,2\0')),
  badValue('releasedAt', 'between', '2026-01-01,2026-01-02\0'),
  unsupported('name', 'greater than'),
  unsupported('name', 'between'),
  unsupported('name', 'is'),
  unsupported('name', 'like'),
  unsupported('name', '='),
  unsupported('name', '__proto__'),
  unsupported('isActive', 'not equals'),
  unsupported('isActive', 'in'),
  unsupported('id', 'contains'),
  unsupported('id', 'starts with'),
  unsupported('barcode', 'is'),
  unsupported('price', 'is after'),
  unsupported('releasedAt', 'contains'),
  unsupported('releasedAt', 'starts with'),
  unsupported('externalId', 'gt'),
  unsupported('externalId', 'contains'),
  ...['', ' ', 'x', '1.5', '1e1', '0x1', '2147483648', '-2147483649', 'NaN', '1,2'].map((value) =>
    badValue('id', 'equals', value)
  ),
  ...['', 'x', '1.0', '9223372036854775808', '-9223372036854775809'].map((value) => badValue('barcode', 'gte', value)),
  ...['', 'x', '1e2', '1,5', 'Infinity', '--1', '1.'].map((value) => badValue('price', 'lt', value)),
  ...['', 'x', '2'].map((value) => badValue('isActive', 'is', value)),
  ...[
    '',
    'x',
    '2026-02-30',
    '2026-13-01',
    '2026-01-01T25:00:00Z',
    '2026-01-01T00:00:00.0001Z',
    '01/02/2026',
    '1767225600'
  ].map((value) => badValue('releasedAt', 'is', value)),
  ...[
    '',
    'x',
    '{aaaaaaaa-0000-4000-8000-000000000001}',
    'aaaaaaaa000040008000000000000001',
    `${'a'.repeat(8)}-0000`
  ].map((value) => badValue('externalId', 'equals', value)),
  badValue('id', 'in', '1,x,3'),
  badValue('id', 'in', '1,,3'),
  badValue('price', 'in', ''),
  badValue('id', 'between', '1'),
  badValue('id', 'between', '1,2,3'),
  badValue('id', 'between', '1,x'),
  badValue('releasedAt', 'between', '2026-01-01,tomorrow'),
  {
    query: Array.from({ length: 51 }, () => filter('id', 'gt', '1')).join('&'),
    code: 'filter.too-many',
    parameter: 'filters',
    says: '50'
  },
  { query: filter('id', 'in', numbers), code: 'filter.too-many', parameter: 'filters[id].value', says: '200' },
  {
    query: filter('name', 'equals', 'x'.repeat(4097)),
    code: 'filter.too-many',
    parameter: 'filters[name].value',
    says: '4096'
  }
]

/** `paging.invalid` in all its forms. */
export const BAD_PAGING: readonly BadQuery[] = [
  ...['0', '-1', '1.5', '1e2', '', '%20', 'x', '%2B1', '0x10'].flatMap((value) =>
    // The alias is reported by the name that it stands for, as in the detail.
    ['pageNumber', 'page', 'pageSize'].map((parameter) =>
      paging(`${parameter}=${value}`, parameter === 'page' ? 'pageNumber' : parameter)
    )
  ),
  paging('pageSize=1&pageSize=1', 'pageSize'),
  paging('pageNumber=1&pageNumber=2', 'pageNumber'),
  paging('page=1&pageNumber=1', 'pageNumber'),
  paging('includeTotal=maybe', 'includeTotal'),
  ...['0', '-1', '1.5', '1e3', '', '1000001', '99999999999999999999', '5&totalLimit=6'].map((limit) =>
    paging(`totalLimit=${limit}`, 'totalLimit')
  )
]

function paging(query: string, parameter: string): BadQuery {
  return { query, code: 'paging.invalid', parameter }
}

/** Sorting, shape and includes. */
export const BAD_QUERIES: readonly BadQuery[] = [
  ...['nope', 'displayName', 'description', 'variants', 'rowVersion', 'category.name', 'id;DROP', '__proto__'].map(
    (name) => ({ query: `sortColumn=${name}`, code: 'sort.property.unknown', parameter: 'sortColumn', says: name })
  ),
  ...['up', '', 'asc,desc', '1'].map((value) => ({
    query: `sortColumn=id&sortDirection=${value}`,
    code: 'sort.direction.invalid',
    parameter: 'sortDirection'
  })),
  { query: 'fields=nope', code: 'fields.invalid', parameter: 'fields', says: 'nope' },
  { query: 'includeFKs=1', code: 'include.invalid', parameter: 'includeFKs' },
  { query: 'includeChildren=yes', code: 'include.invalid', parameter: 'includeChildren' }
]
