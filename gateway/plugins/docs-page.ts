import fp from 'fastify-plugin'
import type { Catalogue } from '../catalogue.js'
import { docsOverview } from '../docs/docs-overview.js'
import { HTML_HEADERS } from '../html-page.js'
import type { PublicAddress } from '../public-address.js'
import { refuseOtherMethods } from '../refuse-other-methods.js'

/** `GET /docs`: what is served here, for people. */
export const docsPage = fp<{ catalogue: Catalogue; address: PublicAddress; isRendered: boolean }>(
  async (app, { catalogue, address, isRendered }) => {
    const url = '/docs'
    refuseOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get(url, async (request, reply) => {
      const resources = [...catalogue.current.resources.values()]
      return reply.headers(HTML_HEADERS).send(docsOverview(resources, { base: address.baseFor(request), isRendered }))
    })
  },
  { name: 'docs-page', dependencies: ['problem-responses'], fastify: '5.x' }
)
