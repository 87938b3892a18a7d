import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError, type Violation, rejection, shortened } from '../../shared/errors.js'
import type { AuthCall, AuthClient, RefreshCall, Session } from '../data/auth-client.js'
import { clientAddress } from '../http/client-address.js'
import { rejectCrossSite } from '../http/cross-site.js'
import { announcesBody, bodyOf, checkJsonBody, checkMediaType, requireJsonBodyIfAny } from '../http/json-body.js'
import { type PublicAddress } from '../http/public-address.js'
import { PublishedKeys } from './access-tokens.js'
import { SessionCookies } from './cookies.js'

/** What the session endpoints and the rendered pages share. */
export interface SessionTools {
  readonly auth: AuthClient
  readonly cookies: SessionCookies
  readonly refresh: SessionRefresh
  readonly keys: PublishedKeys
  readonly now: () => Date
}

interface SessionSettings {
  /** Whether cookies are sent over HTTPS only. */
  readonly cookieSecure: boolean
  /** Milliseconds that a browser keeps a refresh token whose expiry the gateway does not know. */
  readonly refreshTokenTtl: number
}

export function sessionTools(
  auth: AuthClient,
  { cookieSecure: secure, refreshTokenTtl: lifetime }: SessionSettings,
  now: () => Date
): SessionTools {
  return {
    auth,
    cookies: new SessionCookies({ secure, lifetime, now }),
    refresh: new SessionRefresh(auth),
    keys: new PublishedKeys(auth, now),
    now
  }
}

export function authCall(request: FastifyRequest): AuthCall {
  const { id: requestId, traceparent, report } = request
  return { requestId, traceparent, clientAddress: clientAddress(request), report }
}

/** A refresh under way, and the number of requests that wait for it. */
interface SharedRefresh {
  readonly session: Promise<Session | undefined>
  readonly cancellation: AbortController
  waiting: number
}

/** Refreshes sessions. Concurrent requests with one refresh token share one call. */
class SessionRefresh {
  readonly #auth: AuthClient
  /** By refresh token. */
  readonly #running = new Map<string, SharedRefresh>()

  constructor(auth: AuthClient) {
    this.#auth = auth
  }

  /**
   * undefined if the session has ended. Throws if that cannot be determined, for example if the data service is down, and
   * `upstream.timeout` after `timeout` milliseconds. The call itself ends with its deadline, or when nobody waits for it.
   */
  async refresh(call: AuthCall, refreshToken: string, timeout?: number): Promise<Session | undefined> {
    const shared = this.#running.get(refreshToken) ?? this.#start(call, refreshToken)
    shared.waiting += 1
    try {
      return await (timeout === undefined ? shared.session : withinTimeout(timeout, shared.session))
    } finally {
      shared.waiting -= 1
      // The data service rolls a cancelled refresh back, so that the browser's token stays the newest of its family. Once its
      // COMMIT was sent it cannot: then the token is honoured within its grace window only.
      if (shared.waiting === 0) {
        this.#end(refreshToken, shared)
        shared.cancellation.abort()
      }
    }
  }

  #start(call: AuthCall, refreshToken: string): SharedRefresh {
    const cancellation = new AbortController()
    const session = this.#refresh({ ...call, signal: cancellation.signal }, refreshToken)
    const shared = { session, cancellation, waiting: 0 }
    this.#running.set(refreshToken, shared)
    const end = (): void => this.#end(refreshToken, shared)
    // Whoever waits gets the failure. This one is for a call that was cancelled.
    session.then(end, end)
    return shared
  }

  #end(refreshToken: string, shared: SharedRefresh): void {
    if (this.#running.get(refreshToken) === shared) this.#running.delete(refreshToken)
  }

  async #refresh(call: RefreshCall, refreshToken: string): Promise<Session | undefined> {
    try {
      return await this.#auth.refresh(call, refreshToken)
    } catch (error) {
      if (error instanceof DomainError && error.code === 'auth.invalid-token') return undefined
      throw error
    }
  }
}

/** Rejects with `upstream.timeout` if the work takes longer than `timeout` milliseconds. The work goes on. */
async function withinTimeout<Result>(timeout: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new DomainError('upstream.timeout', 'The session was not refreshed in time.')),
      timeout
    )
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** A `preParsing` hook for endpoints that need no body. Without a body any `Content-Type` is accepted. */
export function ignoreTypeOfNothing(
  { headers }: FastifyRequest,
  _reply: FastifyReply,
  ...rest: [payload: unknown, done: () => void]
): void {
  // Fastify rejects a type that it cannot parse before it checks whether there is a body.
  if (!announcesBody(headers)) delete headers['content-type']
  rest[1]()
}

/** The `preValidation` hook that belongs to it: a body that is not empty must be JSON. */
export function jsonOrNothing(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (bodyOf(request).length > 0) checkMediaType(request.headers)
  requireJsonBodyIfAny(request, reply, done)
}

/**
 * The members of a JSON body. Throws what checkJsonBody throws, and `body.invalid` unless the body is an object and no
 * object in it has two members of one name.
 */
export function jsonMembers(body: Buffer): Readonly<Record<string, unknown>> {
  const value = checkJsonBody(body)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw rejection([bodyViolation('', 'The body must be a JSON object.')])
  }
  const repeated = repeatedMember(body.toString('utf8'))
  if (repeated === undefined) return { ...value }
  throw rejection([bodyViolation('', `The body says ${JSON.stringify(shortened(repeated, 100))} twice.`)])
}

/**
 * The name of a member that an object in well-formed JSON has twice; undefined if there is none. JSON.parse would keep the
 * last of them without an error. A parser that reports them (lossless-json) takes tens of times as long, and anybody can
 * send such a body.
 */
function repeatedMember(text: string): string | undefined {
  // The names so far of each object that is open. The set of an array stays empty.
  const open: Set<string>[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '{' || character === '[') open.push(new Set())
    else if (character === '}' || character === ']') open.pop()
    else if (character === '"') {
      const end = stringEnd(text, at)
      const names = open.at(-1)
      if (names !== undefined && isName(text, end)) {
        const name = String(JSON.parse(text.slice(at, end)))
        if (names.has(name)) return name
        names.add(name)
      }
      at = end - 1
    }
  }
  return undefined
}

/** The index after the closing quotation mark of the string that begins at `start`. */
function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

/** Whether the string that ends before `end` is the name of a member, which a colon follows. */
function isName(text: string, end: number): boolean {
  let at = end
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++
  return text[at] === ':'
}

/** `pointer` is a JSON pointer. */
export function bodyViolation(pointer: string, detail: string): Violation {
  return { code: 'body.invalid', detail, place: { in: 'pointer', name: pointer } }
}

/** The part of a session that scripts of a page may see. */
export interface ShownSession {
  readonly accessToken: string
  /** RFC 3339, UTC with milliseconds. */
  readonly accessTokenExpiry: string
}

/** Answers 200. No body ever holds the refresh token (contract.md section 8). `more` is for a page that signs in. */
export function sendAccessToken(
  reply: FastifyReply,
  { accessToken, accessTokenExpiry }: ShownSession,
  more: { readonly returnTo?: string } = {}
): FastifyReply {
  return sendJsonObject(reply.code(200), { accessToken, accessTokenExpiry, ...more })
}

/** Answers 401 with the body that source.md demands. It is the only rejection that is not a problem document. */
export function sendNoSession(reply: FastifyReply): FastifyReply {
  return sendJsonObject(reply.code(401).header('www-authenticate', 'Bearer'), { error: 'no_session' })
}

/** Sends bytes, because Fastify would add a charset to the type if it got a string. */
export function sendJsonObject(reply: FastifyReply, body: object): FastifyReply {
  return reply.header('content-type', 'application/json').send(Buffer.from(JSON.stringify(body)))
}

/**
 * The rules of all routes of `/auth`. The cross-site check comes before every other check, the check of the method
 * included, and no cache may store a response.
 */
export const ownSiteOnly = fp<{ address: PublicAddress }>(
  async (app, { address }) => {
    app.addHook('onRequest', (_request, reply, done) => {
      reply.header('cache-control', 'no-store')
      done()
    })
    app.addHook('onRequest', rejectCrossSite(address))
  },
  { name: 'own-site-only', fastify: '5.x' }
)
