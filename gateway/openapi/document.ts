import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Catalogue, CatalogueSnapshot } from '../data/catalogue.js'
import type { Operation, Resource } from '../data/data-client.js'
import { readContext } from '../entity-routes/requests.js'
import { addVary } from '../http/header-fields.js'
import type { PublicAddress } from '../http/public-address.js'
import { answerOtherMethods } from '../server/methods.js'
import { COMPONENT_HEADERS, PROBLEM_SCHEMA } from './components.js'
import { customReadOperations, type DocumentedOperation, readOperations, writeOperations } from './operations.js'
import { OPERATIONS_TAG, ownOperations } from './application-operations.js'
import { resourceSchemas } from './schemas.js'

/** All resources as an OpenAPI 3.1 document. `base` is the public base URL. */
export function openApiDocument(
  resources: readonly Resource[],
  base: string,
  operations: readonly Operation[] = []
): object {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Entity REST service',
      version: '1.0',
      description:
        'Every resource has the same routes, parameters and answers. Names of query parameters match in any letter ' +
        'case. Unknown ones are ignored and named in `X-Ignored-Parameters`, or refused under ' +
        '`Prefer: handling=strict`. A parameter that is sent several times is its values joined by commas.'
    },
    servers: [{ url: base === '' ? '/' : base }],
    tags: [
      ...resources.map(({ name, description }) => ({ name, description })),
      ...(operations.length === 0 ? [] : [OPERATIONS_TAG])
    ],
    paths: { ...(Object.assign({}, ...resources.map(resourcePaths)) as object), ...operationPaths(operations) },
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'An access token. Cookies are no credential here.'
        }
      },
      schemas: { Problem: PROBLEM_SCHEMA, ...(Object.assign({}, ...resources.map(resourceSchemas)) as object) },
      headers: COMPONENT_HEADERS
    }
  }
}

/** The paths of a resource with its operations. */
function resourcePaths(resource: Resource): Readonly<Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {}
  for (const operation of operationsOf(resource)) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationObject(resource, operation) }
  }
  return paths
}

/** The paths of the application's operations. */
function operationPaths(operations: readonly Operation[]): Readonly<Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {}
  for (const { path, method, isPublic, document } of ownOperations(operations)) {
    const { id, ...rest } = document
    const security = isPublic ? [{}, { bearer: [] }] : [{ bearer: [] }]
    const described = { tags: [OPERATIONS_TAG.name], operationId: camelCase(id), ...rest, security }
    paths[path] = { ...paths[path], [method]: described }
  }
  return paths
}

/** Every operation of a resource: the reads that all resources have, its custom reads, its writes. */
export function operationsOf(resource: Resource): DocumentedOperation[] {
  return [...readOperations(resource), ...customReadOperations(resource), ...writeOperations(resource)]
}

function operationObject(resource: Resource, { method, document }: DocumentedOperation): object {
  const { id, ...rest } = document
  return {
    tags: [resource.name],
    operationId: camelCase(id),
    ...rest,
    // An empty security requirement means that the token is optional.
    security: method === 'get' && resource.publicReads ? [{}, { bearer: [] }] : [{ bearer: [] }]
  }
}

/** `list order items` becomes `listOrderItems`. Hyphens separate words as well. */
function camelCase(words: string): string {
  return words
    .split(/[ -]/)
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')
}

/** What the caller may see of the catalogue. Sets `Vary`, since it depends on the access token. */
export async function seenByCaller(
  catalogue: Catalogue,
  request: FastifyRequest,
  reply: FastifyReply
): Promise<CatalogueSnapshot> {
  reply.header('vary', addVary(String(reply.getHeader('vary') ?? ''), ['Authorization']))
  return await catalogue.seenBy(readContext(request, reply))
}

/** Documents that are kept: one for each view of the catalogue and base URL. */
const MAX_DOCUMENTS = 16

/** `GET /openapi.json`, with what its caller may see. */
export const openApi = fp<{ catalogue: Catalogue; address: PublicAddress }>(
  async (app, { catalogue, address }) => {
    const url = '/openapi.json'
    const written = new Map<string, string>()
    const documentOf = ({ digest, resources, operations }: CatalogueSnapshot, base: string): string => {
      const key = `${digest} ${base}`
      const known = written.get(key)
      if (known !== undefined) return known
      const text = JSON.stringify(openApiDocument([...resources.values()], base, operations))
      const [oldest] = written.keys()
      if (oldest !== undefined && written.size >= MAX_DOCUMENTS) written.delete(oldest)
      written.set(key, text)
      return text
    }
    answerOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get(url, async (request, reply) => {
      const seen = await seenByCaller(catalogue, request, reply)
      const text = documentOf(seen, address.baseFor(request))
      return reply.header('cache-control', 'no-cache').type('application/json; charset=utf-8').send(text)
    })
  },
  { name: 'openapi', dependencies: ['problem-responses'], fastify: '5.x' }
)
