import fp from 'fastify-plugin'
import { DomainError } from '../../shared/errors.js'
import type { Catalogue } from '../data/catalogue.js'
import { HTML_HEADERS } from '../http/html-page.js'
import type { PublicAddress } from '../http/public-address.js'
import { seenByCaller } from '../openapi/document.js'
import { answerOtherMethods } from '../server/methods.js'
import { docsOverview } from './overview.js'
import { resourcePage } from './resource-page.js'
import { tryOutRoutes } from './try-out.js'

/**
 * `GET /docs`, `GET /docs/resources/{resource}` and `GET /docs/try`: the documentation for people, with what the caller may
 * see.
 */
export const docsRoutes = fp<{
  catalogue: Catalogue
  address: PublicAddress
  isRendered: boolean
  hasSignIn: boolean
  /** Whether everybody sees every resource. */
  isPublic: boolean
}>(
  async (app, { catalogue, address, isRendered, hasSignIn, isPublic }) => {
    const overviewUrl = '/docs'
    answerOtherMethods(app, { url: overviewUrl, routed: ['GET', 'HEAD'] })
    app.get(overviewUrl, async (request, reply) => {
      const { resources, operations } = await seenByCaller(catalogue, request, reply)
      const page = docsOverview(
        { resources: [...resources.values()], operations },
        { base: address.baseFor(request), isRendered, isPublic }
      )
      return reply.headers(HTML_HEADERS).send(page)
    })

    const resourceUrl = '/docs/resources/:resource'
    answerOtherMethods(app, { url: resourceUrl, routed: ['GET', 'HEAD'] })
    app.get<{ Params: { resource: string } }>(resourceUrl, async (request, reply) => {
      const { resources } = await seenByCaller(catalogue, request, reply)
      const resource = resources.get(request.params.resource)
      if (resource === undefined) {
        throw new DomainError('route.not-found', 'There is no resource of this name; /docs shows what there is.')
      }
      return reply.headers(HTML_HEADERS).send(resourcePage(resource, address.baseFor(request)))
    })

    await app.register(tryOutRoutes, { address, hasSignIn })
  },
  { name: 'docs-routes', dependencies: ['problem-responses'], fastify: '5.x' }
)
