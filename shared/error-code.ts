/** The codes of the error catalogue, public in problem documents and in google.rpc.ErrorInfo (docs/errors.md). */
export const ERROR_CODES = [
  'request.malformed',
  'body.malformed',
  'body.invalid',
  'id.invalid',
  'id.mismatch',
  'paging.invalid',
  'filter.property.unknown',
  'filter.operator.unsupported',
  'filter.value.invalid',
  'filter.too-many',
  'fields.invalid',
  'sort.property.unknown',
  'sort.direction.invalid',
  'include.invalid',
  'parameter.unknown',
  'precondition.malformed',
  'idempotency.key.invalid',
  'idempotency.key.missing',
  'version.unsupported',
  'auth.required',
  'auth.invalid-token',
  'auth.invalid-credentials',
  'ownership.denied',
  'capability.denied',
  'request.cross-site',
  'antiforgery.invalid',
  'not-found',
  'route.not-found',
  'method.not-allowed',
  'conflict',
  'idempotency.in-flight',
  'body.too-large',
  'uri.too-long',
  'media-type.unsupported',
  'idempotency.key.reused',
  'state.invalid',
  'precondition.required',
  'quota-exceeded',
  'headers.too-large',
  'internal',
  'configuration',
  'upstream.bad-gateway',
  'upstream.unavailable',
  'upstream.timeout'
] as const

export type ErrorCode = (typeof ERROR_CODES)[number]

const known: ReadonlySet<string> = new Set(ERROR_CODES)

export function isErrorCode(text: string): text is ErrorCode {
  return known.has(text)
}
