import fp from 'fastify-plugin'
import { DomainError } from '../../shared/errors.js'
import { HTML_HEADERS } from '../http/html-page.js'
import type { PublicAddress } from '../http/public-address.js'
import type { Documents } from '../openapi/documents.js'
import { answerOtherMethods } from '../server/methods.js'
import { docsOverview } from './overview.js'
import { resourcePage } from './resource-page.js'
import { tryOutRoutes } from './try-out.js'

/**
 * `GET /docs`, `GET /docs/resources/{resource}` and `GET /docs/try`: the documentation for people, with what the caller may
 * see.
 */
export const docsRoutes = fp<{
  documents: Documents
  address: PublicAddress
  isRendered: boolean
  hasSignIn: boolean
  /** Whether everybody sees every resource. */
  isPublic: boolean
}>(
  async (app, { documents, address, isRendered, hasSignIn, isPublic }) => {
    const overviewUrl = '/docs'
    answerOtherMethods(app, { url: overviewUrl, routed: ['GET', 'HEAD'] })
    app.get(overviewUrl, async (request, reply) => {
      const base = address.baseFor(request)
      const { body } = await documents.for(request, reply, ({ resources, operations }) => ({
        key: `docs ${base}`,
        write: () => docsOverview({ resources: [...resources.values()], operations }, { base, isRendered, isPublic })
      }))
      return reply.headers(HTML_HEADERS).send(body)
    })

    const resourceUrl = '/docs/resources/:resource'
    answerOtherMethods(app, { url: resourceUrl, routed: ['GET', 'HEAD'] })
    app.get<{ Params: { resource: string } }>(resourceUrl, async (request, reply) => {
      const base = address.baseFor(request)
      const { body } = await documents.for(request, reply, ({ resources }) => {
        const resource = resources.get(request.params.resource)
        if (resource === undefined) {
          throw new DomainError('route.not-found', 'There is no resource of this name; /docs shows what there is.')
        }
        return {
          key: `docs of ${resource.name} ${base}`,
          write: () => resourcePage(resource, [...resources.values()], base)
        }
      })
      return reply.headers(HTML_HEADERS).send(body)
    })

    await app.register(tryOutRoutes, { address, hasSignIn })
  },
  { name: 'docs-routes', dependencies: ['problem-responses'], fastify: '5.x' }
)
