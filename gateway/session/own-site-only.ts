import fp from 'fastify-plugin'
import type { PublicAddress } from '../public-address.js'
import { refuseCrossSite } from './refuse-cross-site.js'

/**
 * What holds for every route registered beside it, all of `/auth`: nothing comes before the judgement of where a request
 * is from, not even its method, and no cache keeps an answer.
 */
export const ownSiteOnly = fp<{ address: PublicAddress }>(
  async (app, { address }) => {
    app.addHook('onRequest', (_request, reply, done) => {
      reply.header('cache-control', 'no-store')
      done()
    })
    app.addHook('onRequest', refuseCrossSite(address))
  },
  { name: 'own-site-only', fastify: '5.x' }
)
