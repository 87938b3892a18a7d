import type { FastifyInstance } from 'fastify'
import type { AuthCall } from '../auth-client.js'
import { refuseOtherMethods } from '../refuse-other-methods.js'
import { ignoreTypeOfNothing, jsonOrNothing } from './any-empty-body.js'
import { checkAccessToken } from './check-access-token.js'
import { sendAccessToken, sendNoSession, type AccessToken } from './send-access-token.js'
import { sentCookies } from './sent-cookies.js'
import { authCall, type SessionTools } from './session-tools.js'

/** `POST /auth/session/token`: an access token for the scripts of a page, out of its cookies. */
export function sessionTokenRoute(app: FastifyInstance, tools: SessionTools): void {
  const url = '/auth/session/token'
  refuseOtherMethods(app, { url, routed: ['POST'] })
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
    // Nothing came, or it cannot be told whose: then there is nothing of ours to expire.
    if (access !== undefined || refresh !== undefined) tools.cookies.expire(reply)
    return sendNoSession(reply)
  })
}

/** The token as it is; undefined where it is of no use. */
async function validToken(accessToken: string, call: AuthCall, tools: SessionTools): Promise<AccessToken | undefined> {
  const end = await checkAccessToken(accessToken, call, tools)
  return end === undefined ? undefined : { accessToken, accessTokenExpiry: end.toISOString() }
}
