import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError, rejection, type Violation } from '../../shared/errors.js'
import { FairSemaphore } from '../../shared/fair-semaphore.js'
import { throttledAddress } from '../../shared/ip-address.js'
import type { Logger } from '../../shared/logger.js'
import { cookieValues } from '../../shared/session-cookie/read-session-cookie.js'
import { clientAddress } from '../http/client-address.js'
import { setCookie } from '../http/cookies.js'
import { bodyOf, keepBodiesAsBuffers, requireJsonMediaType } from '../http/json-body.js'
import type { PublicAddress } from '../http/public-address.js'
import { queryOf } from '../http/query-string.js'
import { answerOtherMethods } from '../server/methods.js'
import { abortOnDisconnect } from '../server/requests.js'
import { callbackPage, rejectedPage, type WaysOn } from './callback-page.js'
import { sentRefreshTokens } from './cookies.js'
import { type CallbackParams, type OpenIdProvider, signInNotValid, type SignInSecrets } from './openid-provider.js'
import { authCall, bodyViolation, jsonMembers, sendAccessToken, type SessionTools } from './session-tools.js'

interface SignInDeps {
  readonly provider: OpenIdProvider
  readonly tools: SessionTools
  readonly address: PublicAddress
  readonly cookieSecure: boolean
}

/**
 * Sign-in with an outside OpenID provider (contract.md section 8): `GET /auth/sign-in` leads to the provider, and
 * `POST /auth/callback` opens the session. The page between the two is `callbackPageRoute`.
 */
export const signInRoutes = fp<SignInDeps>(
  async (app, deps) => {
    keepBodiesAsBuffers(app)
    beginRoute(app, deps)
    finishRoute(app, deps)
  },
  {
    name: 'sign-in-routes',
    encapsulate: true,
    dependencies: ['problem-responses', 'request-limits', 'private-cookies', 'own-site-only'],
    fastify: '5.x'
  }
)

const SIGN_IN = '/auth/sign-in'
const CALLBACK = '/auth/callback'

/** Where the provider sends browsers back to. It must be registered there. */
function redirectUri(address: PublicAddress, request: FastifyRequest): string {
  return address.baseFor(request) + CALLBACK
}

function beginRoute(app: FastifyInstance, { provider, address, cookieSecure }: SignInDeps): void {
  answerOtherMethods(app, { url: SIGN_IN, routed: ['GET', 'HEAD'] })
  app.get(SIGN_IN, async (request, reply) => {
    const secrets = { state: secret(), nonce: secret(), verifier: secret() }
    const uri = redirectUri(address, request)
    const sent = new URLSearchParams(queryOf(request.url)).get('returnTo')
    const returnTo = ownPath(sent ?? '/', uri)
    const location = await provider.authorizationUrl(uri, secrets)
    return reply
      .header('set-cookie', signInCookie({ ...secrets, returnTo }, { address, cookieSecure }))
      .header('referrer-policy', 'no-referrer')
      .redirect(location, 303)
  })
}

function secret(): string {
  return randomBytes(32).toString('base64url')
}

/** Characters of a path to return to. The cookie has to hold it. */
const MAX_RETURN_TO = 2048
/** What no URL parser reads as another origin or as anything else than it says: a backslash is a slash to browsers. */
const RETURN_PATH = /^\/(?!\/)[\x21-\x5b\x5d-\x7e]*$/

/** The path if it is one of the origin of `base`, else `/`. Nobody can make a sign-in lead to another site. */
export function ownPath(path: string, base: string): string {
  if (path.length > MAX_RETURN_TO || !RETURN_PATH.test(path) || !URL.canParse(path, base)) return '/'
  const url = new URL(path, base)
  // `/.//example.com` is a path of this origin, whose normal form would lead to another one.
  return url.origin === new URL(base).origin && !url.pathname.startsWith('//') ? path : '/'
}

const SIGN_IN_COOKIE = 'app_auth_sign_in'
/** Seconds that a person has for a sign-in. */
const COOKIE_LIFETIME = 600

/** A sign-in that a browser has begun. */
interface BegunSignIn extends SignInSecrets {
  readonly returnTo: string
}

/**
 * The cookie that binds a sign-in to the browser that began it. It holds all of the sign-in, so any replica can finish it,
 * and needs no signature: whoever changes it changes a sign-in of their own.
 */
function signInCookie(
  begun: BegunSignIn | undefined,
  { address, cookieSecure: secure }: Pick<SignInDeps, 'address' | 'cookieSecure'>
): string {
  const path = `${address.prefix}/auth`
  if (begun === undefined) return setCookie(SIGN_IN_COOKIE, '', { path, secure, maxAge: 0 })
  const { state, nonce, verifier, returnTo } = begun
  const value = [state, nonce, verifier, Buffer.from(returnTo).toString('base64url')].join('.')
  return setCookie(SIGN_IN_COOKIE, value, { path, secure, maxAge: COOKIE_LIFETIME })
}

const COOKIE_VALUE = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})\.([\w-]{2,2731})$/

/** The sign-in of a `Cookie` header; undefined if there is none, or several: another site of the domain may have set one. */
function begunSignIn(header: string | undefined, base: string): BegunSignIn | undefined {
  const values = cookieValues(header, SIGN_IN_COOKIE)
  if (values.length !== 1) return undefined
  const [, state, nonce, verifier, path] = COOKIE_VALUE.exec(values[0] ?? '') ?? []
  if (state === undefined || nonce === undefined || verifier === undefined || path === undefined) return undefined
  return { state, nonce, verifier, returnTo: ownPath(Buffer.from(path, 'base64url').toString(), base) }
}

/** Requests to the provider's token endpoint that this process makes at once, and those that one address causes. */
const EXCHANGES = 32
const EXCHANGES_OF_ADDRESS = 8

function finishRoute(app: FastifyInstance, { provider, tools, address, cookieSecure }: SignInDeps): void {
  const { auth, cookies } = tools
  // Anybody can post codes that they made up, together with a cookie that fits.
  const exchanges = new FairSemaphore({
    places: EXCHANGES,
    waiting: 4 * EXCHANGES,
    timeout: 5000,
    detail: 'Too many sign-ins are under way. Try again.'
  })
  answerOtherMethods(app, { url: CALLBACK, routed: ['GET', 'HEAD', 'POST'] })
  app.post(CALLBACK, { preParsing: requireJsonMediaType }, async (request, reply) => {
    const params = readParams(bodyOf(request))
    const uri = redirectUri(address, request)
    const begun = begunSignIn(request.headers.cookie, uri)
    if (begun === undefined || !isSameText(params.state, begun.state)) throw notBegunHere()
    const { signal } = abortOnDisconnect(reply)
    const shares = [{ key: throttledAddress(clientAddress(request)), limit: EXCHANGES_OF_ADDRESS }] as const
    const leave = await exchanges.enter({ shares, signal })
    // One attempt for each sign-in. A callback of another sign-in has not come this far and ends none.
    reply.header('set-cookie', signInCookie(undefined, { address, cookieSecure }))
    const idToken = await provider.exchange(uri, params, begun).finally(leave)
    const session = await auth.signIn(
      { ...authCall(request), signal },
      {
        idToken,
        nonce: begun.nonce,
        clientAddress: clientAddress(request),
        replacedRefreshTokens: sentRefreshTokens(request.headers.cookie)
      }
    )
    cookies.set(reply, session)
    return sendAccessToken(reply, session, { returnTo: begun.returnTo })
  })
}

function notBegunHere(): DomainError {
  return new DomainError(
    'auth.invalid-credentials',
    'This browser has begun no such sign-in, or too long ago, or another one since. Begin again.'
  )
}

/** Whether two texts are the same. The time that it takes tells nothing of where they differ. */
function isSameText(one: string, other: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(one), hash(other))
}

/** Characters of a parameter of the callback. Codes of some providers are JWTs. */
const MAX_PARAM = 8192

/** Reads `code`, `state` and, if it is there, `iss`. Throws what jsonMembers throws, and `body.invalid`. */
function readParams(body: Buffer): CallbackParams {
  const { code, state, iss } = jsonMembers(body)
  const violations: Violation[] = []
  const text = (name: string, value: unknown): string => {
    if (typeof value === 'string' && value !== '' && value.length <= MAX_PARAM) return value
    violations.push(bodyViolation(`/${name}`, `/${name} must be a string of 1 to ${MAX_PARAM} characters.`))
    return ''
  }
  const params = {
    code: text('code', code),
    state: text('state', state),
    issuer: iss === undefined ? undefined : text('iss', iss)
  }
  const [first, ...others] = violations
  if (first !== undefined) throw rejection([first, ...others])
  return params
}

/** Codes of errors in callbacks that are logged as they are; all others as `other`, since anybody can send them. */
const LOGGED_ERRORS: readonly string[] = [
  'access_denied',
  'invalid_request',
  'invalid_scope',
  'unauthorized_client',
  'unsupported_response_type',
  'server_error',
  'temporarily_unavailable',
  'interaction_required',
  'login_required',
  'account_selection_required',
  'consent_required'
]

/** Where the page leads: with the path to return to where the browser has begun the sign-in of the state. */
function waysOn(
  request: FastifyRequest,
  { state, address }: { readonly state: string | null; readonly address: PublicAddress }
): WaysOn {
  const signIn = address.prefix + SIGN_IN
  const begun = begunSignIn(request.headers.cookie, redirectUri(address, request))
  if (begun === undefined || state === null || !isSameText(state, begun.state)) return { beginAgain: signIn }
  const { returnTo } = begun
  return { beginAgain: `${signIn}?returnTo=${encodeURIComponent(returnTo)}`, goBack: returnTo }
}

/**
 * `GET /auth/callback`: the page that posts code and state from the provider. It is outside of the rules for cookie
 * endpoints, because the provider's site leads to it. It sets no cookie. Of the cookie of the sign-in that it finishes it takes
 * the path to return to, so that whoever is not signed in can begin again from there.
 */
export const callbackPageRoute = fp<{ readonly address: PublicAddress; readonly log: Logger }>(
  async (app, { address, log }) => {
    app.get(CALLBACK, async (request, reply) => {
      const query = new URLSearchParams(queryOf(request.url))
      const error = query.get('error')
      const ways = waysOn(request, { state: query.get('state'), address })
      if (error !== null) {
        log.warn(
          { requestId: request.id, error: LOGGED_ERRORS.includes(error) ? error : 'other' },
          'the provider signed nobody in'
        )
      } else if (!query.has('code') || !query.has('state')) {
        throw signInNotValid()
      }
      const { headers, body } = error === null ? callbackPage(ways) : rejectedPage(error, ways)
      return reply.headers(headers).send(body)
    })
  },
  { name: 'callback-page', dependencies: ['problem-responses'], fastify: '5.x' }
)
