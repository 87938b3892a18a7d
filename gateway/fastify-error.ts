import { BODY_TOO_LARGE } from '../shared/body-limit.js'
import { DomainError } from '../shared/domain-error.js'
import type { ErrorCode } from '../shared/error-code.js'

interface Meaning {
  readonly code: ErrorCode
  readonly detail: string
}

const NO_JSON: Meaning = { code: 'body.malformed', detail: 'The body is not well-formed JSON.' }
const NOT_JSON_TYPE: Meaning = {
  code: 'media-type.unsupported',
  detail: 'The body must be sent as application/json.'
}

/** Fastify's own refusals that have a better name than "malformed". */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: NO_JSON,
  FST_ERR_CTP_EMPTY_JSON_BODY: NO_JSON,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: NOT_JSON_TYPE,
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: NOT_JSON_TYPE,
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'body.too-large', detail: BODY_TOO_LARGE },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: {
    code: 'request.malformed',
    detail: 'The body does not have the length that Content-Length announced.'
  },
  FST_ERR_BAD_URL: { code: 'request.malformed', detail: 'The path is not percent-encoded UTF-8.' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'uri.too-long', detail: 'The request target is longer than 64 KiB.' },
  FST_ERR_NOT_FOUND: { code: 'route.not-found', detail: 'There is nothing at this path; /docs shows what there is.' }
}

/** undefined where the error is no refusal of Fastify's (a fault of ours, then). */
export function domainErrorFromFastify(error: unknown): DomainError | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  const meaning = MEANINGS[error.code]
  if (meaning !== undefined) return new DomainError(meaning.code, meaning.detail, { cause: error })
  const status = 'statusCode' in error ? Number(error.statusCode) : 500
  // Fastify gives the error of a body that breaks off the status 400.
  if (error.code === 'ECONNRESET' && status === 400) {
    return new DomainError('request.malformed', 'The body broke off.', { cause: error })
  }
  return error.code.startsWith('FST_') && status >= 400 && status < 500
    ? new DomainError('request.malformed', 'The request could not be understood.', { cause: error })
    : undefined
}
