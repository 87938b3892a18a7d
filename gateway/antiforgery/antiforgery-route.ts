import fp from 'fastify-plugin'
import { refuseOtherMethods } from '../refuse-other-methods.js'
import { antiforgeryCookieIn, antiforgerySetCookie } from './antiforgery-cookie.js'
import type { AntiforgeryTokens } from './antiforgery-tokens.js'

export interface AntiforgeryRouteOptions {
  readonly tokens: AntiforgeryTokens
  readonly cookieSecure: boolean
}

/** `GET /auth/antiforgery`: a token for the next unsafe request to the renderer, and the cookie that it belongs to. */
export const antiforgeryRoute = fp<AntiforgeryRouteOptions>(
  async (app, { tokens, cookieSecure }) => {
    const url = '/auth/antiforgery'
    refuseOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get(url, async (request, reply) => {
      const { cookie, token } = await tokens.issue(antiforgeryCookieIn(request.headers.cookie))
      reply.header('set-cookie', antiforgerySetCookie(cookie, cookieSecure))
      return { token }
    })
  },
  { name: 'antiforgery-route', dependencies: ['problem-responses', 'private-cookies', 'own-site-only'], fastify: '5.x' }
)
