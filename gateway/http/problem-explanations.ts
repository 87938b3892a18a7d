import type { ErrorCode } from '../../shared/errors.js'

/** What a code means and what to do about it. Text between backticks is code. */
export interface ProblemExplanation {
  readonly meaning: string
  readonly remedy: string
}

/** The words of docs/errors.md, which a test keeps in step, for the pages under `/problems/`. */
export const PROBLEM_EXPLANATIONS: Readonly<Record<ErrorCode, ProblemExplanation>> = {
  'request.malformed': {
    meaning: 'The bytes are no valid request.',
    remedy:
      'The HTTP message, its request line, a header or the percent-encoding of the path cannot be read. Send a well-formed HTTP/1.1 request.'
  },
  'body.malformed': {
    meaning: 'The body is no JSON.',
    remedy:
      'The body does not parse as JSON, or is empty where one is needed. Send one JSON object in UTF-8, without a byte order mark.'
  },
  'body.invalid': {
    meaning: 'A member of the body is missing or not allowed.',
    remedy:
      'The body is JSON, but a member is absent, of another type, out of range, too long, or has more digits than its column. Nothing is rounded or cut: `errors` names every member by its JSON pointer and says what would be right. Send longs and decimals as strings.'
  },
  'id.invalid': {
    meaning: 'The id in the path is of another type.',
    remedy:
      "The resource's ids are integers, 64-bit integers or Guids; this one does not parse as such, or is too long. An id that parses and names no row is `not-found` instead."
  },
  'id.mismatch': {
    meaning: 'The id in the body is not the one in the path.',
    remedy: 'Leave `id` out of the body, or send the id of the path.'
  },
  'paging.invalid': {
    meaning: 'The page number or size is no positive integer.',
    remedy:
      '`pageNumber` (alias `page`) and `pageSize` take decimal digits from 1, once each, and only one of the two names. A `pageSize` over the maximum is no fault: it is clamped.'
  },
  'filter.property.unknown': {
    meaning: 'A filter names a property that cannot be filtered.',
    remedy:
      '`filters[<Property>]` takes the filterable properties of the resource, which the OpenAPI document lists. Letter case does not matter.'
  },
  'filter.operator.unsupported': {
    meaning: "The property's type does not have the operator.",
    remedy: 'The detail names the operators that the property has.'
  },
  'filter.value.invalid': {
    meaning: 'A filter value does not parse.',
    remedy:
      "The value is none of the property's type, or one item of `in` or `between` is not. `between` takes exactly two items; an item that holds a comma goes into double quotes."
  },
  'filter.too-many': {
    meaning: 'The filter is larger than allowed.',
    remedy: 'At most 50 conditions, 200 items of `in` and 4096 characters a value.'
  },
  'fields.invalid': {
    meaning: '`fields` names what cannot be selected.',
    remedy:
      "`fields` takes the resource's column-backed properties, separated by commas. Computed and joined properties cannot be asked for, and a navigation only when its include is on. All faults are named at once."
  },
  'sort.property.unknown': {
    meaning: '`sortColumn` names what cannot be sorted by.',
    remedy: 'The OpenAPI document lists the sortable properties of the resource.'
  },
  'sort.direction.invalid': {
    meaning: '`sortDirection` is none.',
    remedy: '`asc`, `desc`, `ascending` or `descending`, in any letter case.'
  },
  'include.invalid': {
    meaning: '`includeFKs` or `includeChildren` is no boolean.',
    remedy: '`true` or `false`.'
  },
  'parameter.unknown': {
    meaning: 'A parameter or member is unknown, and `Prefer: handling=strict` was sent.',
    remedy:
      'Without that header unknown parameters are ignored and named in `X-Ignored-Parameters`. `includeChildren` on an export is refused in any case.'
  },
  'precondition.malformed': {
    meaning: '`If-Match` cannot be decoded.',
    remedy: 'Send the `ETag` of a read as it came: `W/"<base64>"` or `"<base64>"`, or a list of them without `*`.'
  },
  'idempotency.key.invalid': {
    meaning: '`Idempotency-Key` is not well-formed.',
    remedy: '1 to 255 visible ASCII characters, bare or as a quoted string, in one header line.'
  },
  'idempotency.key.missing': {
    meaning: 'This host requires an `Idempotency-Key`.',
    remedy: 'Send a key of your choice with every POST; a retry of the same request carries the same key.'
  },
  'version.unsupported': {
    meaning: '`api-version` names a version that is not served.',
    remedy: 'Send `1` or `1.0`, or leave the header out. `api-supported-versions` lists what there is.'
  },
  'auth.required': {
    meaning: 'The resource needs an access token.',
    remedy: 'Send `Authorization: Bearer <JWT>`. Cookies are no credential of the API.'
  },
  'auth.invalid-token': {
    meaning: 'The access token was not accepted.',
    remedy:
      'It has expired, is not valid yet, is signed by an unknown key or with another algorithm, or names another issuer or audience. Get a new one. Public resources refuse a bad token as well. Of a refresh token it means that the session is over: log in again.'
  },
  'auth.invalid-credentials': {
    meaning: 'E-mail and password do not match an account.',
    remedy:
      'The answer, and the time it takes, are the same whether or not the account exists. Sample accounts do not log in while `SAMPLE_DATA` is off.'
  },
  'ownership.denied': {
    meaning: "The row or the owner parameter is another owner's.",
    remedy: "The caller's owner claim is absent, or differs from the owner that the request names."
  },
  'capability.denied': {
    meaning: 'The caller lacks the permission.',
    remedy: 'The detail names the permission, `customers:manage` for example.'
  },
  'request.cross-site': {
    meaning:
      'A cookie endpoint was called from another site, or a page of another origin sent the renderer an unsafe request.',
    remedy:
      'Call it from a page of the same site, and send forms from a page of the same origin. Browsers that send no `Sec-Fetch-Site` send `Origin`, which must be that of `PUBLIC_BASE_URL`, or of the listener where that is not set: there `localhost` and `127.0.0.1` are two.'
  },
  'antiforgery.invalid': {
    meaning: 'The antiforgery token is absent, not valid or of another session.',
    remedy:
      'Get one from `GET /auth/antiforgery`, anew after a log-in or log-out, and send it back as the header `X-CSRF-Token` or the form field `_csrf`.'
  },
  'not-found': {
    meaning: 'There is no such row.',
    remedy: 'It does not exist, or the caller may not see it: the two are answered alike.'
  },
  'route.not-found': {
    meaning: 'There is no such path.',
    remedy: 'The OpenAPI document lists every path. Over gRPC: there is no such resource.'
  },
  'method.not-allowed': {
    meaning: 'The path does not take this method.',
    remedy: '`Allow` lists those it takes.'
  },
  conflict: {
    meaning: 'The write collides with another one.',
    remedy:
      "On a guarded write (412) the row was changed since it was read, or a unique or referenced value collides: read it again, decide again, and send the new `ETag`. Elsewhere (409) a unique value is taken or the row is referenced. The cause is in the service's log under the request id."
  },
  'idempotency.in-flight': {
    meaning: 'The first request with this key is still running.',
    remedy: 'Retry after the seconds of `Retry-After`.'
  },
  'body.too-large': {
    meaning: 'The body is over 1 MiB.',
    remedy: 'Send less.'
  },
  'uri.too-long': {
    meaning: 'The request target is over 64 KiB.',
    remedy: 'Use fewer or shorter filters.'
  },
  'media-type.unsupported': {
    meaning: 'The body is of another media type.',
    remedy: 'Send `Content-Type: application/json` and no `Content-Encoding`.'
  },
  'idempotency.key.reused': {
    meaning: 'The key was used for another request.',
    remedy: 'A key belongs to one request: the same method, path and body. Take a new key for a new request.'
  },
  'state.invalid': {
    meaning: "The row's state does not allow the action.",
    remedy: 'The detail names the state. Read the row again to see what is possible now.'
  },
  'precondition.required': {
    meaning: 'The write needs `If-Match`.',
    remedy: 'Read the row and send its `ETag` as `If-Match`. `*` does not count.'
  },
  'quota-exceeded': {
    meaning: 'Too many attempts.',
    remedy:
      'Retry after the seconds of `Retry-After`. Log-ins are refused after 10 failures of one account from one address, and after 100 of one address, within 15 minutes; the password is not looked at then.'
  },
  'headers.too-large': {
    meaning: "The request's headers are over 64 KiB.",
    remedy: 'Send fewer or shorter headers; often it is the cookies.'
  },
  internal: {
    meaning: 'Something unforeseen happened.',
    remedy: "The answer tells nothing more on purpose. The service's log has the cause under the request id."
  },
  configuration: {
    meaning: 'A setting that this request needs is missing.',
    remedy:
      "The service's log names the setting under the request id; `OWNER_BYPASS_ROLE` is one that may be left out at start."
  },
  'upstream.bad-gateway': {
    meaning: 'The gateway could not make sense of an answer from behind it.',
    remedy: "The service's log has the cause under the request id."
  },
  'upstream.unavailable': {
    meaning:
      'The data service, or a store it needs, does not answer, or refuses for a reason that passes: a full disk, a server that is read-only, a lock that was not had in time.',
    remedy:
      'Retry after the seconds of `Retry-After`. A write may have happened: repeat it with the same `Idempotency-Key`, or read first.'
  },
  'upstream.timeout': {
    meaning: 'The answer did not come in time.',
    remedy:
      'The work was stopped. Ask for less, or retry. A write may have happened: repeat it with the same `Idempotency-Key`, or read first.'
  }
}
