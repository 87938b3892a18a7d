import fp from 'fastify-plugin'
import { keepBodiesAsBytes } from '../entity-routes/check-json-request.js'
import { loginRoute } from './login-route.js'
import { sessionCookieRoutes } from './session-cookie-routes.js'
import { sessionTokenRoute } from './session-token-route.js'
import type { SessionTools } from './session-tools.js'

/** The endpoints of browser sessions, contract.md section 8. */
export const authRoutes = fp<{ tools: SessionTools }>(
  async (app, { tools }) => {
    keepBodiesAsBytes(app)
    loginRoute(app, tools)
    sessionCookieRoutes(app, tools)
    sessionTokenRoute(app, tools)
  },
  {
    name: 'auth-routes',
    encapsulate: true,
    dependencies: ['problem-responses', 'request-limits', 'private-cookies', 'own-site-only'],
    fastify: '5.x'
  }
)
