import fp from 'fastify-plugin'
import { refuseOtherMethods } from '../refuse-other-methods.js'
import { authCall, type SessionTools } from './session-tools.js'

/** `GET /.well-known/jwks.json`: the public keys of the service's own access tokens (RFC 7517). */
export const keySetRoute = fp<{ tools: SessionTools }>(
  async (app, { tools }) => {
    const url = '/.well-known/jwks.json'
    refuseOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get(url, async (request, reply) => {
      const keySet = await tools.keys.ownKeySet(authCall(request))
      return reply.header('cache-control', 'public, max-age=60').header('content-type', 'application/json').send(keySet)
    })
  },
  { name: 'key-set', dependencies: ['problem-responses'], fastify: '5.x' }
)
