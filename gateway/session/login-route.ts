import type { FastifyInstance } from 'fastify'
import { refusal, type Fault } from '../../shared/domain-error.js'
import { clientAddress } from '../client-address.js'
import { bodyOf, jsonOnly, wellFormed } from '../entity-routes/check-json-request.js'
import { untilAbandoned } from '../entity-routes/data-call.js'
import { refuseOtherMethods } from '../refuse-other-methods.js'
import { bodyFault, jsonMembers } from './json-members.js'
import { sendAccessToken } from './send-access-token.js'
import { sentRefreshTokens } from './sent-cookies.js'
import { authCall, type SessionTools } from './session-tools.js'

/** `POST /auth/login`: e-mail address and password for a session. */
export function loginRoute(app: FastifyInstance, { auth, cookies }: SessionTools): void {
  const url = '/auth/login'
  refuseOtherMethods(app, { url, routed: ['POST'] })
  app.post(url, { preParsing: jsonOnly, preValidation: wellFormed }, async (request, reply) => {
    const session = await auth.login(
      { ...authCall(request), signal: untilAbandoned(reply) },
      {
        ...readCredentials(bodyOf(request)),
        clientAddress: clientAddress(request),
        replacedRefreshTokens: sentRefreshTokens(request.headers.cookie)
      }
    )
    cookies.set(reply, session)
    return sendAccessToken(reply, session)
  })
}

/** Whether the texts can be credentials at all is the data service's to say. */
function readCredentials(body: Buffer): { readonly email: string; readonly password: string } {
  const { email, password } = jsonMembers(body)
  if (typeof email === 'string' && typeof password === 'string') return { email, password }
  const [first, ...others]: Fault[] = Object.entries({ email, password })
    .filter(([, value]) => typeof value !== 'string')
    .map(([name]) => bodyFault(`/${name}`, `/${name} must be there, as a string.`))
  if (first === undefined) throw new TypeError('One of the two is no string')
  throw refusal([first, ...others])
}
