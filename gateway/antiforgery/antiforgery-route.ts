import fp from 'fastify-plugin'
import { refuseOtherMethods } from '../refuse-other-methods.js'
import type { SessionTools } from '../session/session-tools.js'
import { antiforgeryCookieIn, antiforgerySetCookie } from './antiforgery-cookie.js'
import type { AntiforgeryTokens } from './antiforgery-tokens.js'
import { provenSession } from './session-binding.js'

export interface AntiforgeryRouteOptions {
  readonly tokens: AntiforgeryTokens
  readonly tools: SessionTools
  readonly cookieSecure: boolean
}

/** `GET /auth/antiforgery`: a token for unsafe requests to the renderer in this session, and the cookie that it belongs to. */
export const antiforgeryRoute = fp<AntiforgeryRouteOptions>(
  async (app, { tokens, tools, cookieSecure }) => {
    const url = '/auth/antiforgery'
    refuseOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get(url, async (request, reply) => {
      const session = await provenSession(request, tools)
      const { cookie, token } = await tokens.issue(antiforgeryCookieIn(request.headers.cookie), session)
      reply.header('set-cookie', antiforgerySetCookie(cookie, cookieSecure))
      return { token }
    })
  },
  { name: 'antiforgery-route', dependencies: ['problem-responses', 'private-cookies', 'own-site-only'], fastify: '5.x' }
)
