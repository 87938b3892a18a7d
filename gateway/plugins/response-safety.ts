import fp from 'fastify-plugin'

/** A year without plain HTTP, for this host alone (RFC 6797 section 6.1): hosts below it are not the gateway's to bind. */
export const STRICT_TRANSPORT = 'max-age=31536000'

/**
 * Nothing here is to be taken for another type than it says, whatever a browser makes of its bytes. Where browsers come
 * over HTTPS, they are told to stay there.
 */
export const responseSafety = fp<{ strictTransport: boolean }>(
  async (app, { strictTransport }) => {
    app.addHook('onRequest', (_request, reply, done) => {
      reply.header('x-content-type-options', 'nosniff')
      if (strictTransport) reply.header('strict-transport-security', STRICT_TRANSPORT)
      done()
    })
  },
  { name: 'response-safety', fastify: '5.x' }
)
