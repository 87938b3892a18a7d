import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { DomainError, type Violation, rejection, rejectionAt } from '../../shared/errors.js'
import { ACCESS_COOKIE, REFRESH_COOKIE } from '../../shared/session-cookie/read-session-cookie.js'
import type { AuthCall } from '../data/auth-client.js'
import { clientAddress } from '../http/client-address.js'
import { cookieViolation } from '../http/cookies.js'
import { bodyOf, keepBodiesAsBuffers, requireJsonMediaType } from '../http/json-body.js'
import { answerOtherMethods } from '../server/methods.js'
import { abortOnDisconnect } from '../server/requests.js'
import { checkAccessToken } from './access-tokens.js'
import { machineTokenRoute } from './machine-tokens.js'
import { sentCookies, sentRefreshTokens } from './cookies.js'
import {
  type ShownSession,
  authCall,
  bodyViolation,
  ignoreTypeOfNothing,
  jsonMembers,
  jsonOrNothing,
  sendAccessToken,
  sendNoSession,
  type SessionTools
} from './session-tools.js'

/** The endpoints of browser sessions, contract.md section 8, and of machine accounts, section 6. */
export const authRoutes = fp<{ tools: SessionTools }>(
  async (app, { tools }) => {
    keepBodiesAsBuffers(app)
    loginRoute(app, tools)
    sessionCookieRoutes(app, tools)
    sessionTokenRoute(app, tools)
    passwordRoute(app, tools)
    oneTimeLinkRoutes(app, tools)
    machineTokenRoute(app, tools)
  },
  {
    name: 'auth-routes',
    encapsulate: true,
    dependencies: ['problem-responses', 'request-limits', 'private-cookies', 'own-site-only'],
    fastify: '5.x'
  }
)

/** `POST /auth/login`: opens a session with an e-mail address and a password. */
function loginRoute(app: FastifyInstance, { auth, cookies }: SessionTools): void {
  const url = '/auth/login'
  answerOtherMethods(app, { url, routed: ['POST'] })
  app.post(url, { preParsing: requireJsonMediaType }, async (request, reply) => {
    const session = await auth.login(
      { ...authCall(request), signal: abortOnDisconnect(reply).signal },
      {
        ...readTexts(bodyOf(request), ['email', 'password']),
        clientAddress: clientAddress(request),
        replacedRefreshTokens: sentRefreshTokens(request.headers.cookie)
      }
    )
    cookies.set(reply, session)
    return sendAccessToken(reply, session)
  })
}

/**
 * The strings of a body; an optional one that is absent is empty. Throws what jsonMembers throws, and `body.invalid` with a
 * violation for each member that is no string. The data service checks them further.
 */
function readTexts<Name extends string>(
  body: Buffer,
  required: readonly Name[],
  optional: readonly Name[] = []
): Readonly<Record<Name, string>> {
  const members = jsonMembers(body)
  const of = (name: Name): unknown => members[name] ?? (optional.includes(name) ? '' : undefined)
  const texts = new Map<string, unknown>([...required, ...optional].map((name) => [name, of(name)]))
  const [first, ...others]: Violation[] = [...texts]
    .filter(([, value]) => typeof value !== 'string')
    .map(([name]) => bodyViolation(`/${name}`, `/${name} must be there, as a string.`))
  if (first !== undefined) throw rejection([first, ...others])
  return Object.fromEntries(texts) as Record<Name, string> // each of them was looked at
}

/**
 * `POST /auth/session-cookie` sets the tokens that a client sends as its cookies. `DELETE`, and `POST /auth/logout`, end the
 * session. `POST /auth/logout-everywhere` ends all sessions of its account, and is 401 where it ended none.
 */
function sessionCookieRoutes(app: FastifyInstance, { auth, cookies }: SessionTools): void {
  const url = '/auth/session-cookie'
  answerOtherMethods(app, { url, routed: ['POST', 'DELETE'] })
  app.post(url, { preParsing: requireJsonMediaType }, async (request, reply) => {
    cookies.mirror(reply, readTokens(bodyOf(request)), request.headers.cookie)
    return reply.code(204).send()
  })

  type Revoke = (call: AuthCall, refreshToken: string) => Promise<void>
  const logoutBy =
    (revoke: Revoke, needsSession = false) =>
    async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      // The cookies expire even if the call fails.
      cookies.expire(reply)
      const tokens = sentRefreshTokens(request.headers.cookie)
      if (needsSession && tokens.length === 0) throw noSession()
      const revoked = await Promise.allSettled(tokens.map((token) => revoke(authCall(request), token)))
      for (const one of revoked) if (one.status === 'rejected') throw one.reason
      return reply.code(204).send()
    }
  const logout = logoutBy((call, token) => auth.revoke(call, token))
  const bodyless = { preParsing: ignoreTypeOfNothing, preValidation: jsonOrNothing }
  app.delete(url, bodyless, logout)
  answerOtherMethods(app, { url: '/auth/logout', routed: ['POST'] })
  app.post('/auth/logout', bodyless, logout)
  answerOtherMethods(app, { url: '/auth/logout-everywhere', routed: ['POST'] })
  app.post(
    '/auth/logout-everywhere',
    bodyless,
    logoutBy((call, token) => auth.revokeAll(call, token), true)
  )
}

function noSession(): DomainError {
  const place = { in: 'header', name: 'Cookie' } as const
  return rejectionAt('auth.required', 'Log in first: there is no session.', { place })
}

/**
 * The tokens are not verified, because a session with an invalid token allows nothing. Throws what jsonMembers throws, and
 * `body.invalid` with all violations.
 */
function readTokens(body: Buffer): { readonly accessToken: string; readonly refreshToken: string | undefined } {
  const { accessToken, refreshToken } = jsonMembers(body)
  const violations: Violation[] = []
  const tokens = {
    accessToken: readToken({ member: 'accessToken', cookie: ACCESS_COOKIE }, accessToken, violations),
    refreshToken:
      refreshToken === undefined
        ? undefined
        : readToken({ member: 'refreshToken', cookie: REFRESH_COOKIE }, refreshToken, violations)
  }
  const [first, ...others] = violations
  if (first !== undefined) throw rejection([first, ...others])
  return tokens
}

/** A token that fits its cookie. For any other value it adds a violation and answers the empty string. */
function readToken(
  { member, cookie }: { readonly member: string; readonly cookie: string },
  value: unknown,
  violations: Violation[]
): string {
  const text = typeof value === 'string' ? value : ''
  const violation = text.trim() === '' ? 'it must be a string that is not blank' : cookieViolation(cookie, text)
  if (violation === undefined) return text
  violations.push(bodyViolation(`/${member}`, `/${member} cannot be a cookie: ${violation}.`))
  return ''
}

/** `POST /auth/session/token`: the access token of the session cookies, for the scripts of a page. Refreshes it if needed. */
function sessionTokenRoute(app: FastifyInstance, tools: SessionTools): void {
  const url = '/auth/session/token'
  answerOtherMethods(app, { url, routed: ['POST'] })
  app.post(url, { preParsing: ignoreTypeOfNothing, preValidation: jsonOrNothing }, async (request, reply) => {
    const call = authCall(request)
    const { access, refresh } = sentCookies(request.headers.cookie)
    const valid = access === undefined ? undefined : await validToken(access, call, tools)
    if (valid !== undefined) return sendAccessToken(reply, valid)
    const session = refresh === undefined ? undefined : await tools.refresh.refresh(call, refresh)
    if (session !== undefined) {
      tools.cookies.set(reply, session)
      return sendAccessToken(reply, session)
    }
    // If no cookie was sent, or only ambiguous ones, no cookie is deleted (SentCookies).
    if (access !== undefined || refresh !== undefined) tools.cookies.expire(reply)
    return sendNoSession(reply)
  })
}

/** The token with its expiry; undefined if it is not valid. */
async function validToken(accessToken: string, call: AuthCall, tools: SessionTools): Promise<ShownSession | undefined> {
  const end = await checkAccessToken(accessToken, call, tools)
  return end === undefined ? undefined : { accessToken, accessTokenExpiry: end.toISOString() }
}

/**
 * `POST /auth/password`: the account of the session gets a new password, and its other sessions end. The refresh cookie
 * names the session, because an access token stays valid for a while after its session has ended.
 */
function passwordRoute(app: FastifyInstance, { auth, cookies }: SessionTools): void {
  const url = '/auth/password'
  answerOtherMethods(app, { url, routed: ['POST'] })
  app.post(url, { preParsing: requireJsonMediaType }, async (request, reply) => {
    const passwords = readTexts(bodyOf(request), ['currentPassword', 'newPassword'])
    const { refresh } = sentCookies(request.headers.cookie)
    if (refresh === undefined) throw noSession()
    const call = { ...authCall(request), signal: abortOnDisconnect(reply).signal }
    try {
      const change = { ...passwords, refreshToken: refresh, clientAddress: clientAddress(request) }
      cookies.set(reply, await auth.changePassword(call, change))
    } catch (error) {
      if (error instanceof DomainError && error.code === 'auth.invalid-token') cookies.expire(reply)
      throw error
    }
    return reply.code(204).send()
  })
}

/**
 * `POST /auth/forgotten-password` and `POST /auth/sign-up` ask for a one-time link by e-mail; the answer is the same for every
 * address. `POST /auth/one-time-link` uses one up. None of them opens a session.
 */
function oneTimeLinkRoutes(app: FastifyInstance, { auth }: SessionTools): void {
  const reasons = {
    '/auth/forgotten-password': 'LINK_REASON_FORGOTTEN_PASSWORD',
    '/auth/sign-up': 'LINK_REASON_SIGN_UP'
  } as const
  const callOf = (request: FastifyRequest, reply: FastifyReply) => ({
    ...authCall(request),
    signal: abortOnDisconnect(reply).signal
  })
  for (const [url, reason] of Object.entries(reasons)) {
    answerOtherMethods(app, { url, routed: ['POST'] })
    app.post(url, { preParsing: requireJsonMediaType }, async (request, reply) => {
      const { email } = readTexts(bodyOf(request), ['email'])
      await auth.requestOneTimeLink(callOf(request, reply), { reason, email, clientAddress: clientAddress(request) })
      return reply.code(202).send()
    })
  }
  const url = '/auth/one-time-link'
  answerOtherMethods(app, { url, routed: ['GET', 'HEAD', 'POST'] })
  app.post(url, { preParsing: requireJsonMediaType }, async (request, reply) => {
    const use = readTexts(bodyOf(request), ['token', 'newPassword'], ['name'])
    await auth.useOneTimeLink(callOf(request, reply), { ...use, clientAddress: clientAddress(request) })
    return reply.code(204).send()
  })
}

/** `GET /.well-known/jwks.json`: the public keys of the service's own access tokens (RFC 7517). */
export const keySetRoute = fp<{ tools: SessionTools }>(
  async (app, { tools }) => {
    const url = '/.well-known/jwks.json'
    answerOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get(url, async (request, reply) => {
      const keySet = await tools.keys.ownKeySet(authCall(request))
      return reply.header('cache-control', 'public, max-age=60').header('content-type', 'application/json').send(keySet)
    })
  },
  { name: 'key-set', dependencies: ['problem-responses'], fastify: '5.x' }
)
