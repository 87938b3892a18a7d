import type { FastifyInstance, FastifyReply } from 'fastify'
import type { AuthCall } from '../auth-client.js'
import { refuseOtherMethods } from '../refuse-other-methods.js'
import { ignoreTypeOfNothing, jsonOrNothing } from './any-empty-body.js'
import { checkAccessToken } from './check-access-token.js'
import { sendAccessToken, sendNoSession } from './send-access-token.js'
import { sentCookies, type SentCookies } from './sent-cookies.js'
import { authCall, type SessionTools } from './session-tools.js'

/** `POST /auth/session/token`: an access token for the scripts of a page, out of its cookies. */
export function sessionTokenRoute(app: FastifyInstance, tools: SessionTools): void {
  const url = '/auth/session/token'
  refuseOtherMethods(app, { url, routed: ['POST'] })
  app.post(
    url,
    { preParsing: ignoreTypeOfNothing, preValidation: jsonOrNothing },
    async (request, reply): Promise<FastifyReply> => {
      const call = authCall(request)
      const sent = sentCookies(request.headers.cookie)
      return (await answerValid(reply, sent, { call, tools })) ?? (await answerRefreshed(reply, sent, { call, tools }))
    }
  )
}

interface By {
  readonly call: AuthCall
  readonly tools: SessionTools
}

/** undefined where the access cookie is of no use. */
async function answerValid(
  reply: FastifyReply,
  { access }: SentCookies,
  { call, tools }: By
): Promise<FastifyReply | undefined> {
  const end = access === undefined ? undefined : await checkAccessToken(access, call, tools)
  if (access === undefined || end === undefined) return undefined
  return sendAccessToken(reply, { accessToken: access, accessTokenExpiry: end.toISOString() })
}

async function answerRefreshed(
  reply: FastifyReply,
  { access, refresh }: SentCookies,
  { call, tools }: By
): Promise<FastifyReply> {
  const session = refresh === undefined ? undefined : await tools.refresh.refresh(call, refresh)
  if (session !== undefined) {
    tools.cookies.set(reply, session)
    return sendAccessToken(reply, session)
  }
  // Nothing came, or it cannot be told whose: then there is nothing of ours to expire.
  if (access !== undefined || refresh !== undefined) tools.cookies.expire(reply)
  return sendNoSession(reply)
}
