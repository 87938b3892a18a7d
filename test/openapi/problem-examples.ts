import type { OutgoingHttpHeaders } from 'node:http'

/** A request of the store that is answered with a problem. */
export interface Failing {
  readonly method?: string
  readonly target: string
  /** undefined: the administrator. `nobody`: no token. */
  readonly account?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string
}

const JSON_BODY = { 'content-type': 'application/json' } as const
const STALE = { ...JSON_BODY, 'if-match': 'W/"AQIDBAUGBwg="' } as const
const SUPPLIER = JSON.stringify({ name: 'x', country: 'SE', isActive: true })
const put = (headers: OutgoingHttpHeaders, body = SUPPLIER): Failing => {
  return { method: 'PUT', target: '/suppliers/1', headers: { ...JSON_BODY, ...headers }, body }
}
const post = (body: string, headers: OutgoingHttpHeaders = JSON_BODY): Failing => {
  return { method: 'POST', target: '/suppliers', headers, body }
}
const filter = (name: string, operator: string, value: string): Failing => {
  return { target: `/products/paged?filters[${name}].operator=${operator}&filters[${name}].value=${value}` }
}
const login = (headers: OutgoingHttpHeaders): Failing => ({
  method: 'POST',
  target: '/auth/login',
  account: 'nobody',
  headers: { ...JSON_BODY, ...headers },
  body: JSON.stringify({ email: 'ada@example.com', password: 'wrong' })
})

/** For each code the request whose answer its example is, by the name of the example. */
export const FAILING: Readonly<Record<string, Failing>> = {
  'request.malformed': { target: '/products/%ZZ' },
  'body.malformed': post('{'),
  'body.invalid': post('[]'),
  'id.invalid': { target: '/products/x' },
  'id.mismatch': put(STALE, JSON.stringify({ ...(JSON.parse(SUPPLIER) as object), id: 2 })),
  'paging.invalid': { target: '/products/paged?pageSize=0&pageNumber=0' },
  'paging.cursor.invalid': { target: '/products/paged?after=abc' },
  'filter.property.unknown': filter('nothing', 'equals', '1'),
  'filter.operator.unsupported': filter('id', 'contains', '1'),
  'filter.value.invalid': filter('id', 'equals', 'x'),
  'filter.too-many': { target: '/products/paged?search=1+2+3+4+5+6+7+8+9' },
  'fields.invalid': { target: '/products/1?fields=nothing' },
  'sort.property.unknown': { target: '/products/paged?sortColumn=nothing' },
  'sort.direction.invalid': { target: '/products/paged?sortColumn=id&sortDirection=up' },
  'totals.invalid': { target: '/products/totals?by=nothing' },
  'include.invalid': { target: '/products?includeFKs=yes' },
  'parameter.unknown': { target: '/products?nothing=1', headers: { prefer: 'handling=strict' } },
  'precondition.malformed': put({ 'if-match': 'abc' }),
  'precondition.required': put({}),
  'idempotency.key.invalid': put({ ...STALE, 'idempotency-key': 'a b' }),
  'version.unsupported': { target: '/products', headers: { 'api-version': '2' } },
  'auth.required': { target: '/orders', account: 'nobody' },
  'auth.invalid-token': { target: '/orders', account: 'nobody', headers: { authorization: 'Bearer x' } },
  'auth.invalid-credentials': login({}),
  'ownership.denied': { target: '/customers/2', account: 'ada' },
  'request.cross-site': login({ 'sec-fetch-site': 'cross-site' }),
  'not-found': { target: '/products/999999' },
  'route.not-found': { target: '/nothing', headers: { accept: 'application/json' } },
  'method.not-allowed': { method: 'POST', target: '/products/1' },
  'conflict.guarded': put(STALE),
  'body.too-large': post('x'.repeat(2 ** 20 + 1)),
  'uri.too-long': { target: `/products?x=${'x'.repeat(2 ** 16)}` },
  'media-type.unsupported': post('x', { 'content-type': 'text/plain' })
}
