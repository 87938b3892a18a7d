import fp from 'fastify-plugin'
import { DomainError } from '../../shared/errors.js'
import { HTML_HEADERS } from '../http/html-page.js'
import type { PublicAddress } from '../http/public-address.js'
import type { Documents } from '../openapi/documents.js'
import { answerOtherMethods } from '../server/methods.js'
import { resourcePageUrl } from './docs-page.js'
import { docsOverview } from './overview.js'
import { resourcePage } from './resource-page.js'
import { readSearchScript, searchPage } from './search-page.js'
import { tryOutRoutes } from './try-out.js'

const NO_RESOURCE = 'There is no resource of this name; /docs shows what there is.'

/**
 * `GET /docs`, `GET /docs/resources/{resource}`, `GET /docs/search` and `GET /docs/try`: the documentation for people, with
 * what the caller may see.
 */
export const docsRoutes = fp<{
  documents: Documents
  address: PublicAddress
  isRendered: boolean
  hasSignIn: boolean
  /** Whether everybody sees every resource. */
  isPublic: boolean
  /** The folder of the built pages; without it there is no `/docs/try`. */
  pages: URL | undefined
}>(
  async (app, { documents, address, isRendered, hasSignIn, isPublic, pages }) => {
    const hasTryOut = pages !== undefined
    const overviewUrl = '/docs'
    answerOtherMethods(app, { url: overviewUrl, routed: ['GET', 'HEAD'] })
    app.get(overviewUrl, async (request, reply) => {
      const base = address.baseFor(request)
      const { body } = await documents.for(request, reply, ({ resources, operations }) => ({
        key: `docs ${base}`,
        write: () =>
          docsOverview({ resources: [...resources.values()], operations }, { base, hasTryOut, isRendered, isPublic })
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
          throw new DomainError('route.not-found', NO_RESOURCE)
        }
        return {
          key: `docs of ${resource.name} ${base}`,
          write: () => resourcePage(resource, [...resources.values()], { base, hasTryOut })
        }
      })
      return reply.headers(HTML_HEADERS).send(body)
    })

    // The addresses that people guess. The pages above and below win over a resource of their name.
    const shortUrl = '/docs/:resource'
    answerOtherMethods(app, { url: shortUrl, routed: ['GET', 'HEAD'] })
    app.get<{ Params: { resource: string } }>(shortUrl, async (request, reply) => {
      const base = address.baseFor(request)
      const { resource } = request.params
      // A redirect repeats what it is asked for.
      if (!/^[a-z0-9-]{0,100}$/.test(resource)) throw new DomainError('route.not-found', NO_RESOURCE)
      const target = ['', 'resources'].includes(resource)
        ? `${base}${overviewUrl}`
        : resourcePageUrl(base, encodeURIComponent(resource))
      return reply.header('cache-control', 'no-store').redirect(target, 308)
    })

    const script = await readSearchScript()
    const searchUrl = '/docs/search'
    answerOtherMethods(app, { url: searchUrl, routed: ['GET', 'HEAD'] })
    app.get(searchUrl, async (request, reply) => {
      const base = address.baseFor(request)
      const { body } = await documents.for(request, reply, ({ resources, operations }) => ({
        key: `docs search ${base}`,
        write: () => searchPage(script, operations, { base, hasTryOut, resources: [...resources.values()] })
      }))
      return reply.headers(script.headers).send(body)
    })

    if (pages !== undefined) await app.register(tryOutRoutes, { address, hasSignIn, pages })
  },
  { name: 'docs-routes', dependencies: ['problem-responses'], fastify: '5.x' }
)
