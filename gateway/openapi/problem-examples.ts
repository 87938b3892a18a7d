import {
  AUTHORIZATION,
  DomainError,
  type ErrorCode,
  httpStatusOf,
  rejection,
  rejectionAt,
  type Violation,
  type ViolationPlace
} from '../../shared/errors.js'
import { toProblem } from '../http/problem-details.js'
import type { Components, ComponentRef } from './components.js'

// A problem document for each code, as the service answers it.

function onePage(name: string): Violation {
  const detail = `${name} takes one whole number from 1, in digits, not "0".`
  return { code: 'paging.invalid', detail, place: { in: 'parameter', name } }
}

/** The place that is at fault in the example of a code, where there is one; of `paging.invalid` there are two. */
const EXAMPLE_PLACES: Readonly<Partial<Record<ErrorCode, ViolationPlace>>> = {
  'body.malformed': { in: 'pointer', name: '' },
  'body.invalid': { in: 'pointer', name: '' },
  'id.invalid': { in: 'parameter', name: 'id' },
  'id.mismatch': { in: 'pointer', name: '/id' },
  'paging.cursor.invalid': { in: 'parameter', name: 'after' },
  'filter.property.unknown': { in: 'parameter', name: 'filters[nothing]' },
  'filter.operator.unsupported': { in: 'parameter', name: 'filters[id].operator' },
  'filter.value.invalid': { in: 'parameter', name: 'filters[id].value' },
  'filter.too-many': { in: 'parameter', name: 'search' },
  'fields.invalid': { in: 'parameter', name: 'fields' },
  'totals.invalid': { in: 'parameter', name: 'by' },
  'sort.property.unknown': { in: 'parameter', name: 'sortColumn' },
  'sort.direction.invalid': { in: 'parameter', name: 'sortDirection' },
  'include.invalid': { in: 'parameter', name: 'includeFKs' },
  'include.too-many': { in: 'parameter', name: 'includeChildren' },
  'parameter.unknown': { in: 'parameter', name: 'nothing' },
  'precondition.malformed': { in: 'header', name: 'If-Match' },
  'precondition.required': { in: 'header', name: 'If-Match' },
  'idempotency.key.invalid': { in: 'header', name: 'Idempotency-Key' },
  'idempotency.key.missing': { in: 'header', name: 'Idempotency-Key' },
  'version.unsupported': { in: 'header', name: 'api-version' },
  'auth.required': AUTHORIZATION,
  'auth.invalid-token': AUTHORIZATION,
  'request.cross-site': { in: 'header', name: 'Sec-Fetch-Site' },
  'ownership.denied': { in: 'parameter', name: 'id' },
  'media-type.unsupported': { in: 'header', name: 'Content-Type' }
}

/** What each code says of a request, where the code alone does not say it; of `paging.invalid` with two faults. */
const EXAMPLE_DETAILS: Readonly<Record<ErrorCode, string | readonly [Violation, ...Violation[]]>> = {
  'request.malformed': 'The path is not percent-encoded UTF-8.',
  'body.malformed': 'The body is not well-formed JSON.',
  'body.invalid': 'The body must be a JSON object.',
  'id.invalid': '"x" is no id here: it must be a whole number from -2147483648 to 2147483647.',
  'id.mismatch': 'id differs from the id of the path.',
  'paging.invalid': [onePage('pageNumber'), onePage('pageSize')],
  'paging.cursor.invalid': 'after takes a cursor of an earlier answer to the same filters, search and order.',
  'filter.property.unknown': '"nothing" is not a property that can be filtered.',
  'filter.operator.unsupported':
    '"contains" is no operator of this property: id (int) has equals, not equals, greater than, greater than or equal, ' +
    'less than, less than or equal, in, between, is empty, is not empty; in short eq, ne, gt, gte, lt, lte.',
  'filter.value.invalid': '"x" is not a whole number from -2147483648 to 2147483647.',
  'filter.too-many': 'search takes at most 8 words, not 9.',
  'fields.invalid': '"nothing" is not a field.',
  'totals.invalid': '"nothing" is no dimension. There are: categoryId, isActive.',
  'sort.property.unknown': '"nothing" is not a property that can be sorted by.',
  'sort.direction.invalid': 'sortDirection takes asc, desc, ascending or descending, not "up".',
  'include.invalid': 'includeFKs takes true or false, not "yes".',
  'include.too-many': 'The answer would include more than 20000 rows. Ask for a smaller page, or include less.',
  'parameter.unknown': '"nothing" is no parameter of this request.',
  'precondition.malformed':
    'If-Match must be entity tags as in ETag: W/"<base64>", in double quotes, with commas between them.',
  'idempotency.key.invalid': 'The header Idempotency-Key must be 1 to 255 visible ASCII characters.',
  'idempotency.key.missing': 'This needs an Idempotency-Key.',
  'version.unsupported': 'The header api-version must be 1 or 1.0, or left out.',
  'auth.required': 'This needs an access token.',
  'auth.invalid-token': 'The access token is not valid, or not any more.',
  'auth.invalid-credentials': 'The e-mail address or the password is wrong.',
  'ownership.denied': 'This belongs to another owner.',
  'capability.denied': 'This needs the permission things:manage.',
  'request.cross-site': 'Sessions are for pages of this site: another site sent the request.',
  'antiforgery.invalid': 'The antiforgery token is absent or not valid.',
  'not-found': 'There is no such row.',
  'route.not-found': 'There is nothing at this path; /docs shows what there is.',
  'method.not-allowed': 'POST is not allowed here. Allowed: GET, HEAD, PUT, PATCH, DELETE, OPTIONS.',
  conflict: 'A data conflict occurred. Please retry or contact support.',
  'idempotency.in-flight': 'The first request with this Idempotency-Key is still running. Try again to get its answer.',
  'body.too-large': 'The body is larger than 1 MiB.',
  'uri.too-long': 'The request target is longer than 64 KiB.',
  'media-type.unsupported': 'The body must be sent with Content-Type: application/json, in UTF-8.',
  'idempotency.key.reused': 'This Idempotency-Key was used for another request; take a new one.',
  'state.invalid': 'A rule of the database does not allow this write.',
  'precondition.required': 'This needs If-Match with the ETag that the row was last read with; `*` is not enough.',
  'quota-exceeded': 'Too many failed log-ins. Try again later.',
  'headers.too-large': 'The request line and headers are longer than 64 KiB together.',
  internal: 'Something went wrong in the data service.',
  configuration: 'The service is not configured for this request.',
  'upstream.bad-gateway': 'The data service gave an answer that could not be understood.',
  'upstream.unavailable': 'Requests cannot be served at the moment.',
  'upstream.timeout': 'The data service did not answer in time.'
}

const REQUEST_ID = '067ae390-c906-45cd-89e8-3372769ef028'

/** The `examples` of a problem response, by code. */
export function problemExamples(
  components: Components,
  codes: readonly ErrorCode[],
  guarded: boolean
): Readonly<Record<string, ComponentRef>> {
  return Object.fromEntries(
    codes.map((code) => {
      const error = exampleError(code, guarded)
      const name = httpStatusOf(error) === httpStatusOf(exampleError(code, false)) ? code : `${code}.guarded`
      return [code, components.refer('examples', `problem.${name}`, () => ({ value: documentOf(components, error) }))]
    })
  )
}

function exampleError(code: ErrorCode, guarded: boolean): DomainError {
  const detail = EXAMPLE_DETAILS[code]
  if (typeof detail !== 'string') return rejection(detail)
  const place = EXAMPLE_PLACES[code]
  return place === undefined ? new DomainError(code, detail, { guarded }) : rejectionAt(code, detail, { place })
}

function documentOf({ base, somePath }: Components, error: DomainError): unknown {
  const { body } = toProblem(error, { base, path: somePath, requestId: REQUEST_ID })
  return JSON.parse(body.toString())
}
