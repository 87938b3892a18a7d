import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refusal, type Fault } from '../../shared/domain-error.js'
import { ACCESS_COOKIE, REFRESH_COOKIE } from '../../shared/session-cookie/cookie-names.js'
import { bodyOf, jsonOnly, wellFormed } from '../entity-routes/check-json-request.js'
import { refuseOtherMethods } from '../refuse-other-methods.js'
import { ignoreTypeOfNothing, jsonOrNothing } from './any-empty-body.js'
import { bodyFault, jsonMembers } from './json-members.js'
import { sentRefreshTokens } from './sent-cookies.js'
import { authCall, type SessionTools } from './session-tools.js'
import { cookieFault } from './set-cookie.js'

/** `POST /auth/session-cookie`: tokens that a client has become its cookies. `DELETE`, and `POST /auth/logout`: the end. */
export function sessionCookieRoutes(app: FastifyInstance, { auth, cookies }: SessionTools): void {
  const url = '/auth/session-cookie'
  refuseOtherMethods(app, { url, routed: ['POST', 'DELETE'] })
  app.post(url, { preParsing: jsonOnly, preValidation: wellFormed }, async (request, reply) => {
    const { accessToken, refreshToken } = readTokens(bodyOf(request))
    cookies.mirror(reply, accessToken, refreshToken)
    return reply.code(204).send()
  })

  const logout = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    // Before the call: whatever becomes of it, the browser forgets.
    cookies.expire(reply)
    const tokens = sentRefreshTokens(request.headers.cookie)
    const revoked = await Promise.allSettled(tokens.map((token) => auth.revoke(authCall(request), token)))
    for (const one of revoked) if (one.status === 'rejected') throw one.reason
    return reply.code(204).send()
  }
  const bodyless = { preParsing: ignoreTypeOfNothing, preValidation: jsonOrNothing }
  app.delete(url, bodyless, logout)
  refuseOtherMethods(app, { url: '/auth/logout', routed: ['POST'] })
  app.post('/auth/logout', bodyless, logout)
}

/** Tokens are taken as they are: who brings a bad one has a bad session. Throws `body.invalid` with all faults. */
function readTokens(body: Buffer): { readonly accessToken: string; readonly refreshToken: string | undefined } {
  const { accessToken, refreshToken } = jsonMembers(body)
  const faults: Fault[] = []
  const tokens = {
    accessToken: tokenOf({ member: 'accessToken', cookie: ACCESS_COOKIE }, accessToken, faults),
    refreshToken:
      refreshToken === undefined
        ? undefined
        : tokenOf({ member: 'refreshToken', cookie: REFRESH_COOKIE }, refreshToken, faults)
  }
  const [first, ...others] = faults
  if (first !== undefined) throw refusal([first, ...others])
  return tokens
}

/** Empty, and a fault more, where the value is no token that fits its cookie. */
function tokenOf(
  { member, cookie }: { readonly member: string; readonly cookie: string },
  value: unknown,
  faults: Fault[]
): string {
  const text = typeof value === 'string' ? value : ''
  const fault = text.trim() === '' ? 'it must be a string that is not blank' : cookieFault(cookie, text)
  if (fault === undefined) return text
  faults.push(bodyFault(`/${member}`, `/${member} cannot be a cookie: ${fault}.`))
  return ''
}
