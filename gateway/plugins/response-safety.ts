import fp from 'fastify-plugin'

/** Nothing here is to be taken for another type than it says, whatever a browser makes of its bytes. */
export const responseSafety = fp(
  async (app) => {
    app.addHook('onRequest', (_request, reply, done) => {
      reply.header('x-content-type-options', 'nosniff')
      done()
    })
  },
  { name: 'response-safety', fastify: '5.x' }
)
