import fp from 'fastify-plugin'
import type { PublicAddress } from '../public-address.js'
import { loginRoute } from './login-route.js'
import { refuseCrossSite } from './refuse-cross-site.js'
import { sessionCookieRoutes } from './session-cookie-routes.js'
import { sessionTokenRoute } from './session-token-route.js'
import type { SessionTools } from './session-tools.js'

/** The endpoints of browser sessions, contract.md section 8. Nothing comes before the judgement of where a request is from. */
export const authRoutes = fp<{ tools: SessionTools; address: PublicAddress }>(
  async (app, { tools, address }) => {
    app.addHook('onRequest', (_request, reply, done) => {
      reply.header('cache-control', 'no-store')
      done()
    })
    app.addHook('onRequest', refuseCrossSite(address))
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    loginRoute(app, tools)
    sessionCookieRoutes(app, tools)
    sessionTokenRoute(app, tools)
  },
  {
    name: 'auth-routes',
    encapsulate: true,
    dependencies: ['problem-responses', 'request-limits', 'private-cookies'],
    fastify: '5.x'
  }
)
