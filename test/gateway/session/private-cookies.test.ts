import { expect } from 'chai'
import Fastify from 'fastify'
import { privateCookies } from '../../../gateway/server/requests.js'

describe('a response that sets a cookie', () => {
  const VARY: readonly (readonly [before: string | undefined, after: string])[] = [
    [undefined, 'Cookie'],
    ['Accept', 'Accept, Cookie'],
    ['cookie', 'cookie'],
    ['Accept, Cookie', 'Accept, Cookie'],
    ['X-Cookie', 'X-Cookie, Cookie'],
    ['*', '*']
  ]
  for (const [before, after] of VARY) {
    it(`is private, and its Vary ${before ?? 'none'} becomes ${after}`, async () => {
      const app = Fastify()
      await app.register(privateCookies)
      app.get('/', async (_request, reply) => {
        if (before !== undefined) reply.header('vary', before)
        return reply.headers({ 'cache-control': 'public, max-age=60', 'set-cookie': 'a=b' }).send('x')
      })
      app.get('/other', async (_request, reply) => reply.header('cache-control', 'public, max-age=60').send('x'))
      const { headers } = await app.inject('/')
      expect(headers).to.include({ 'cache-control': 'private, no-store', vary: after })
      const other = await app.inject('/other')
      expect(other.headers['cache-control']).to.equal('public, max-age=60')
      expect(other.headers).to.not.have.property('vary')
      await app.close()
    })
  }
})
