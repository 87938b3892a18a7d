import fp from 'fastify-plugin'

/** Whatever sets a cookie is for one browser alone: no cache may keep it (contract.md section 8). */
export const privateCookies = fp(
  async (app) => {
    app.addHook('onSend', (_request, reply, ...[payload, done]) => {
      if (reply.hasHeader('set-cookie')) {
        reply.header('cache-control', 'private, no-store')
        reply.header('vary', withCookie(String(reply.getHeader('vary') ?? '')))
      }
      done(null, payload)
    })
  },
  { name: 'private-cookies', fastify: '5.x' }
)

function withCookie(vary: string): string {
  if (vary.trim() === '') return 'Cookie'
  return /(?:^|,)\s*(?:cookie|\*)\s*(?:,|$)/i.test(vary) ? vary : `${vary}, Cookie`
}
