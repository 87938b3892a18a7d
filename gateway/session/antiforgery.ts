import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { decodeBase64url } from '../../shared/base64url.js'
import { DomainError } from '../../shared/errors.js'
import type { Logger } from '../../shared/logger.js'
import { cookieValues, unverifiedClaims } from '../../shared/session-cookie/read-session-cookie.js'
import { MAX_BODY_BYTES } from '../../shared/transport/wire.js'
import { setCookie } from '../http/cookies.js'
import { headerLines } from '../http/header-fields.js'
import type { KeyRing, Verdict } from '../key-ring/key-ring.js'
import { ignoreErrors } from '../server/connections.js'
import { answerOtherMethods } from '../server/methods.js'
import { isGenuine } from './access-tokens.js'
import { sentCookies } from './cookies.js'
import { authCall, type SessionTools } from './session-tools.js'

const SIGNATURE_TEXT = /^([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{86})$/

/** The text form, for a cookie or a form field, of a key's id and 64 bytes. */
function encodeSignature(keyId: string, bytes: Buffer): string {
  return `${keyId}.${bytes.toString('base64url')}`
}

/** The opposite of encodeSignature; undefined for any other text. */
export function decodeSignature(text: string): { readonly keyId: string; readonly bytes: Buffer } | undefined {
  const [, keyId, encoded] = SIGNATURE_TEXT.exec(text) ?? []
  if (keyId === undefined || encoded === undefined) return undefined
  const bytes = decodeBase64url(encoded)
  return bytes === undefined ? undefined : { keyId, bytes }
}

/** The length in bytes of the secret in the cookie, of a signature and of a mask. */
const MASKED_BYTES = 32

const COOKIE_PURPOSE = 'antiforgery.cookie'
const TOKEN_PURPOSE = 'antiforgery.token'

/**
 * Antiforgery tokens as signed double-submit cookies (OWASP CSRF Prevention Cheat Sheet). The cookie has a random secret and
 * the ring's signature of it. The token is another signature, of the secret and the session. It is XORed with a new random
 * mask each time, so that a compressed page does not reveal it (BREACH). Neither of the two can be made without the ring,
 * nor one from the other.
 */
export class AntiforgeryTokens {
  readonly #ring: KeyRing

  constructor(ring: KeyRing) {
    this.#ring = ring
  }

  /**
   * Makes a cookie and its token for a session. The secret of a valid earlier cookie is used again, so that tokens of that
   * cookie stay valid.
   */
  async issue(earlier: string | undefined, session: SessionBinding): Promise<{ cookie: string; token: string }> {
    const known = earlier === undefined ? undefined : await this.#secretOf(earlier)
    const secret = Buffer.isBuffer(known) ? known : randomBytes(MASKED_BYTES)
    const { keyId, mac } = this.#ring.sign(COOKIE_PURPOSE, secret)
    const token = this.#ring.sign(TOKEN_PURPOSE, Buffer.concat([secret, session]))
    const mask = randomBytes(MASKED_BYTES)
    return {
      cookie: encodeSignature(keyId, Buffer.concat([secret, mac])),
      token: encodeSignature(token.keyId, Buffer.concat([mask, xor(mask, token.mac)]))
    }
  }

  /** Whether the token was made for the cookie and the session. */
  async verify(cookie: string, token: string, session: SessionBinding): Promise<Verdict> {
    const secret = await this.#secretOf(cookie)
    if (!Buffer.isBuffer(secret)) return { valid: false, why: `cookie: ${secret.why}` }
    const parts = decodeSignature(token)
    if (parts === undefined) return { valid: false, why: 'token: it is none' }
    const { keyId, bytes } = parts
    const mac = xor(bytes.subarray(0, MASKED_BYTES), bytes.subarray(MASKED_BYTES))
    const verdict = await this.#ring.verify(TOKEN_PURPOSE, Buffer.concat([secret, session]), { keyId, mac })
    return verdict.valid ? verdict : { valid: false, why: `token, or the session is another: ${verdict.why}` }
  }

  /** Whether the cookie was made with the ring, whatever token it has. */
  async verifyCookie(cookie: string): Promise<Verdict> {
    const secret = await this.#secretOf(cookie)
    return Buffer.isBuffer(secret) ? { valid: true } : { valid: false, why: `cookie: ${secret.why}` }
  }

  async #secretOf(cookie: string): Promise<Buffer | { readonly why: string }> {
    const parts = decodeSignature(cookie)
    if (parts === undefined) return { why: 'it is none' }
    const { keyId, bytes } = parts
    const secret = bytes.subarray(0, MASKED_BYTES)
    const verdict = await this.#ring.verify(COOKIE_PURPOSE, secret, { keyId, mac: bytes.subarray(MASKED_BYTES) })
    return verdict.valid ? secret : verdict
  }
}

/** XOR of two buffers of the same length. */
function xor(one: Buffer, other: Buffer): Buffer {
  return Buffer.from(one.map((byte, at) => byte ^ (other[at] ?? 0)))
}

const COOKIE_NAME = 'app_antiforgery'

/** The cookie in a `Cookie` header; undefined if there is none or several: a sibling domain may have set one of them. */
export function antiforgeryCookieIn(header: string | undefined): string | undefined {
  const values = cookieValues(header, COOKIE_NAME)
  return values.length === 1 ? values[0] : undefined
}

/** The value of `Set-Cookie`. The browser deletes the cookie when it closes; a page without one asks for a new one. */
function antiforgerySetCookie(value: string, secure: boolean): string {
  return setCookie(COOKIE_NAME, value, { secure })
}

/** Of its value no more is decoded than the longest token takes in which each character is percent-encoded. */
const CSRF_FIELD = /(?:^|&)(_csrf=[^&]{0,309})/

/** The first `_csrf` of a form as browsers post it (application/x-www-form-urlencoded), from the start of its bytes. */
export function antiforgeryFieldIn(form: Buffer): string | undefined {
  // Only this field is decoded. A body of ampersands would otherwise make a million fields.
  const [, pair] = CSRF_FIELD.exec(form.toString('latin1')) ?? []
  return new URLSearchParams(pair ?? '').get('_csrf') ?? undefined
}

/** Whether a body is a form without a content coding. */
export function isPlainForm({ type, encoding }: { type: string | undefined; encoding: string | undefined }): boolean {
  const isForm = /^application\/x-www-form-urlencoded[\t ]*(?:;|$)/i.test(type ?? '')
  return isForm && /^(?:identity)?$/i.test(encoding ?? '')
}

/** The start of a stream, and a new stream of all its bytes, the start included. */
interface Peeked {
  readonly start: Buffer
  readonly body: Readable
}

/** Reads the first `bytes` of a stream, or all of a shorter one. Calls `receive` with the number of bytes that it keeps. */
async function peek(source: Readable, bytes: number, receive: (kept: number) => void): Promise<Peeked> {
  const pieces: AsyncIterator<Buffer, undefined> = source.iterator()
  const read: Buffer[] = []
  for (let length = 0; length < bytes;) {
    const { done, value } = await pieces.next()
    if (done === true) break
    read.push(value)
    length += value.length
    receive(length)
  }
  const body = ignoreErrors(Readable.from(continued(read, pieces), { objectMode: false }))
  return { start: Buffer.concat(read).subarray(0, bytes), body }
}

/** The pieces read already and the rest. If the reader stops early, the source is destroyed too. */
async function* continued(read: readonly Buffer[], pieces: AsyncIterator<Buffer, undefined>): AsyncGenerator<Buffer> {
  yield* read
  yield* { [Symbol.asyncIterator]: () => pieces }
}

/**
 * The session of an antiforgery token, as bytes that are signed with it: a hash of issuer, subject and the claim `sid`; no
 * bytes if there is no session. No other claim of the access token counts, so an antiforgery token outlives refreshes and
 * ends with the session. An access token of an outside issuer or of an earlier version may have no `sid`. Then the hash has
 * an empty string for it, and all such sessions of one subject count as one.
 */
type SessionBinding = Buffer

const NO_SESSION: SessionBinding = Buffer.alloc(0)

/**
 * The session that the access cookie of a request names. The signature of the cookie is not verified here: an attacker who
 * can set a forged cookie only replaces the visitor's session, and so can do nothing in it. Answers undefined if there is a
 * refresh cookie and the access cookie is missing or no JWT: there is a session, but it is not known which.
 */
export function claimedSession(cookieHeader: string | undefined): SessionBinding | undefined {
  const { access, refresh } = sentCookies(cookieHeader)
  const { iss, sub, sid } = (access === undefined ? undefined : unverifiedClaims(access)) ?? {}
  if (typeof iss !== 'string' || typeof sub !== 'string') return refresh === undefined ? NO_SESSION : undefined
  return createHash('sha256')
    .update(JSON.stringify([iss, sub, typeof sid === 'string' ? sid : '']))
    .digest()
}

/**
 * The session of a request whose access cookie is signed by an accepted issuer, expired or not; no session for any other
 * request. Without this check anybody could get tokens for the session of another user. Throws `upstream.unavailable` if the
 * keys cannot be fetched.
 */
async function provenSession(request: FastifyRequest, tools: SessionTools): Promise<SessionBinding> {
  const { cookie } = request.headers
  const { access } = sentCookies(cookie)
  if (access === undefined || !(await isGenuine(access, authCall(request), tools))) return NO_SESSION
  return claimedSession(cookie) ?? NO_SESSION
}

const REMEDY = 'Get one from GET /auth/antiforgery and send it back as the header X-CSRF-Token or the form field _csrf.'

/**
 * Throws `antiforgery.invalid` for a request without the token of its cookie and its session. The token is in the header
 * `X-CSRF-Token` or else in the field `_csrf` within the first MiB of a form. If `request.body` is a stream, it is replaced
 * with a stream of the same bytes, so that the body can still be read. Throws `upstream.unavailable` where the client or the
 * process keeps too much of bodies already.
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
    if (cookie === undefined) throw this.#rejected(request, 'no cookie, or several')
    const session = claimedSession(request.headers.cookie)
    if (session === undefined)
      throw this.#rejected(request, 'a refresh cookie without an access cookie to tell its session')
    // A form is only kept for a client whose cookie is genuine.
    const genuine = await this.#tokens.verifyCookie(cookie)
    if (!genuine.valid) throw this.#rejected(request, genuine.why)
    const token = await tokenOf(request)
    if (token === undefined) throw this.#rejected(request, 'no token')
    const verdict = await this.#tokens.verify(cookie, token, session)
    if (!verdict.valid) throw this.#rejected(request, verdict.why)
  }

  #rejected({ id }: FastifyRequest, why: string): DomainError {
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
  // What is kept counts until the answer begins, also while the form waits for its turn at the renderer.
  const { start, body } = await peek(request.body, MAX_BODY_BYTES, (kept) => request.unsent?.receive(kept))
  request.body = body
  return antiforgeryFieldIn(start)
}

interface AntiforgeryRouteOptions {
  readonly tokens: AntiforgeryTokens
  readonly tools: SessionTools
  readonly cookieSecure: boolean
}

/** `GET /auth/antiforgery`: a token for unsafe requests to the renderer in this session, and the cookie of the token. */
export const antiforgeryRoute = fp<AntiforgeryRouteOptions>(
  async (app, { tokens, tools, cookieSecure }) => {
    const url = '/auth/antiforgery'
    answerOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get(url, async (request, reply) => {
      const session = await provenSession(request, tools)
      const { cookie, token } = await tokens.issue(antiforgeryCookieIn(request.headers.cookie), session)
      reply.header('set-cookie', antiforgerySetCookie(cookie, cookieSecure))
      return { token }
    })
  },
  { name: 'antiforgery-route', dependencies: ['problem-responses', 'private-cookies', 'own-site-only'], fastify: '5.x' }
)
