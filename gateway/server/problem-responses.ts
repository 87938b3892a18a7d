import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError, type ErrorCode, rejectionAt, saysTooManyReads, type ViolationPlace } from '../../shared/errors.js'
import { isKeysUnavailable } from '../../shared/key-cache.js'
import type { Logger } from '../../shared/logger.js'
import { toProblem } from '../http/problem-details.js'
import type { PublicAddress } from '../http/public-address.js'
import { confirmDryRun } from '../http/negotiation.js'
import { pathOfTarget } from '../http/query-string.js'
import { NotReady, Overload } from './admission.js'

interface Meaning {
  readonly code: ErrorCode
  readonly detail: string
  /** The part of the request that is wrong, where it has a name. */
  readonly place?: ViolationPlace
}

const MALFORMED_JSON: Meaning = {
  code: 'body.malformed',
  detail: 'The body is not well-formed JSON.',
  place: { in: 'pointer', name: '' }
}
const NOT_JSON_TYPE: Meaning = {
  code: 'media-type.unsupported',
  detail: 'The body must be sent as application/json.',
  place: { in: 'header', name: 'Content-Type' }
}

/** Fastify's own rejections that have a better name than "malformed". */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: MALFORMED_JSON,
  FST_ERR_CTP_EMPTY_JSON_BODY: MALFORMED_JSON,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: NOT_JSON_TYPE,
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: NOT_JSON_TYPE,
  FST_ERR_BAD_URL: { code: 'request.malformed', detail: 'The path is not percent-encoded UTF-8.' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'uri.too-long', detail: 'The request target is longer than 64 KiB.' },
  FST_ERR_NOT_FOUND: { code: 'route.not-found', detail: 'There is nothing at this path; /docs shows what there is.' }
}

/** The DomainError of an error with which Fastify rejects a request. undefined for any other error, which is a defect. */
function domainErrorFromFastify(error: unknown): DomainError | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined
  const meaning = MEANINGS[error.code]
  if (meaning !== undefined) {
    const { code, detail, place } = meaning
    if (place !== undefined) return rejectionAt(code, detail, { place, cause: error })
    return new DomainError(code, detail, { cause: error })
  }
  const status = 'statusCode' in error ? Number(error.statusCode) : 500
  return error.code.startsWith('FST_') && status >= 400 && status < 500
    ? new DomainError('request.malformed', 'The request could not be understood.', { cause: error })
    : undefined
}

/** Sends any thrown value as a problem document. An unexpected one is logged in full and not shown to the client. */
export class ProblemSender {
  readonly #address: PublicAddress
  readonly #log: Logger

  constructor(address: PublicAddress, log: Logger) {
    this.#address = address
    this.#log = log
  }

  send(thrown: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const error = this.#understood(thrown, reply.raw.destroyed ? undefined : request.id)
    request.errorCode = error.code
    const problem = toProblem(error, {
      base: this.#address.baseFor(request),
      path: pathOfTarget(request.originalUrl),
      requestId: request.id
    })
    // Whether the write of a lost answer was rolled back is not known.
    if (problem.status >= 500) confirmDryRun(reply, false)
    return reply
      .code(problem.status)
      .headers({ ...problem.headers, 'x-request-id': request.id })
      .send(problem.body)
  }

  /** Without a request id nothing is logged for a cancelled call. */
  #understood(thrown: unknown, requestId: string | undefined): DomainError {
    if (thrown instanceof DomainError) {
      if (requestId === undefined) return thrown
      if (isKeysUnavailable(thrown) || thrown.cause instanceof Overload) {
        this.#log.debug({ requestId, code: thrown.code }, 'data service failure')
      } else if (thrown.cause instanceof NotReady) {
        // Probes ask again and again, and what the gateway waits for has a line of its own.
        this.#log.debug({ requestId, code: thrown.code }, 'not ready')
      } else if (thrown.code === 'internal' || thrown.code.startsWith('upstream.')) {
        // Without a cause nothing is broken: the caller was only told to come back later.
        const isRefusal = thrown.code === 'upstream.unavailable' && thrown.cause === undefined
        const about = { requestId, code: thrown.code, ...(isRefusal ? { detail: thrown.message } : { err: thrown }) }
        // Of these there may be a thousand in a second, and the line of each request has the code.
        if (saysTooManyReads(thrown)) this.#log.debug(about, 'data service failure')
        else this.#log.warn(about, 'data service failure')
      }
      return thrown
    }
    const known = domainErrorFromFastify(thrown)
    if (known !== undefined) return known
    // The page's request was aborted because its client disconnected.
    if (requestId === undefined && thrown instanceof Error && thrown.name === 'AbortError') {
      return new DomainError('upstream.bad-gateway', 'The client went away.', { cause: thrown })
    }
    this.#log.error({ requestId, err: thrown }, 'unforeseen failure')
    return new DomainError('internal', 'Unforeseen failure.', { cause: thrown })
  }
}

/**
 * Makes problem documents of all errors. Must be registered before any plugin that adds a route: a route keeps the error
 * handler that there is when it is added.
 */
export const problemHandler = fp<{ problems: ProblemSender }>(
  async (app, { problems }) => {
    app.setErrorHandler((error, request, reply) => problems.send(error, request, reply))
  },
  { name: 'problem-responses', dependencies: ['request-identity'], fastify: '5.x' }
)

/** Rejects paths without a route before their body is read. */
export const rejectUnknownPaths = fp(
  async (app) => {
    app.addHook('onRequest', (request, _reply, done) => {
      if (request.is404)
        throw new DomainError('route.not-found', 'There is nothing at this path; /docs shows what there is.')
      done()
    })
  },
  { name: 'unknown-paths', dependencies: ['problem-responses', 'request-limits'], fastify: '5.x' }
)
