import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { MAX_BODY_BYTES } from '../../shared/body-limit.js'
import { DomainError } from '../../shared/domain-error.js'
import type { Logger } from '../../shared/logger.js'
import { headerLines } from '../headers/header-lines.js'
import { antiforgeryCookieIn } from './antiforgery-cookie.js'
import type { AntiforgeryTokens } from './antiforgery-tokens.js'
import { antiforgeryFieldIn, isPlainForm } from './form-field.js'
import { peek } from './peek.js'
import { claimedSession } from './session-binding.js'

const REMEDY = 'Get one from GET /auth/antiforgery and send it back as the header X-CSRF-Token or the form field _csrf.'

/**
 * Throws `antiforgery.invalid` for a request without the token that belongs to its cookie and its session. The token is looked for in the
 * header `X-CSRF-Token`, else in the field `_csrf` within the first MiB of a form, whose bytes stay to be read: where
 * `request.body` is a stream, it is replaced by one of the same bytes.
 */
export class AntiforgeryCheck {
  readonly #tokens: AntiforgeryTokens
  readonly #log: Logger

  constructor(tokens: AntiforgeryTokens, log: Logger) {
    this.#tokens = tokens
    this.#log = log
  }

  async check(request: FastifyRequest): Promise<void> {
    const cookie = antiforgeryCookieIn(request.headers.cookie)
    if (cookie === undefined) throw this.#refused(request, 'no cookie, or several')
    const token = await tokenOf(request)
    if (token === undefined) throw this.#refused(request, 'no token')
    const session = claimedSession(request.headers.cookie)
    if (session === undefined)
      throw this.#refused(request, 'a refresh cookie without an access cookie to tell its session')
    const verdict = await this.#tokens.verify(cookie, token, session)
    if (!verdict.valid) throw this.#refused(request, verdict.why)
  }

  #refused({ id }: FastifyRequest, why: string): DomainError {
    this.#log.warn({ requestId: id, why }, 'antiforgery token refused')
    return new DomainError('antiforgery.invalid', `The antiforgery token is absent or not valid. ${REMEDY}`)
  }
}

async function tokenOf(request: FastifyRequest): Promise<string | undefined> {
  const [header, ...others] = headerLines(request.raw.rawHeaders, 'x-csrf-token')
  if (header !== undefined) return others.length === 0 ? header : undefined
  const { 'content-type': type, 'content-encoding': encoding } = request.headers
  if (!isPlainForm({ type, encoding })) return undefined
  if (Buffer.isBuffer(request.body)) return antiforgeryFieldIn(request.body)
  if (!(request.body instanceof Readable)) return undefined
  const { start, body } = await peek(request.body, MAX_BODY_BYTES)
  request.body = body
  return antiforgeryFieldIn(start)
}
