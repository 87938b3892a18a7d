import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Catalogue, CatalogueSnapshot } from '../data/catalogue.js'
import type { Operation, Resource } from '../data/data-client.js'
import { readContext } from '../entity-routes/requests.js'
import { addVary } from '../http/header-fields.js'
import type { PublicAddress } from '../http/public-address.js'
import { answerOtherMethods } from '../server/methods.js'
import { Components } from './components.js'
import { GATEWAY_TAGS, type GatewayFeatures, gatewayOperations, SECURITY_SCHEMES } from './gateway-operations.js'
import { customReadOperations, type DocumentedOperation, readOperations, writeOperations } from './operations.js'
import { OPERATIONS_TAG, ownOperations } from './application-operations.js'

/** What a document describes, for one caller. */
interface Described {
  readonly resources: readonly Resource[]
  /** Those of the application beside the uniform ones. */
  readonly operations?: readonly Operation[]
  readonly features?: GatewayFeatures
}

/** An OpenAPI 3.1 document. `base` is the public base URL. */
export function openApiDocument(
  { resources, operations = [], features = { hasSignIn: false } }: Described,
  base: string
): object {
  const components = new Components(resources, base)
  const paths: Record<string, Record<string, object>> = {}
  const add = ({ path, method, document }: DocumentedOperation, tag: string, security: object): void => {
    const { id, ...rest } = document
    paths[path] = { ...paths[path], [method]: { tags: [tag], operationId: camelCase(id), ...rest, security } }
  }
  for (const resource of resources) {
    for (const operation of operationsOf(resource, components)) {
      const isPublic = operation.method === 'get' && resource.publicReads
      add(operation, resource.name, isPublic ? OPTIONAL_TOKEN : TOKEN)
    }
  }
  for (const operation of ownOperations(components, operations)) {
    add(operation, OPERATIONS_TAG.name, operation.isPublic ? OPTIONAL_TOKEN : TOKEN)
  }
  for (const operation of gatewayOperations(components, features)) add(operation, operation.tag, operation.security)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Entity REST service',
      version: '1.0',
      description: DESCRIPTION,
      contact: { name: 'Documentation', url: `${base}/docs` },
      license: { name: 'The terms of whoever runs the service', url: `${base}/docs` }
    },
    servers: [{ url: base === '' ? '/' : base }],
    tags: [
      ...resources.map(({ name, description }) => ({ name, description })),
      ...(operations.length === 0 ? [] : [OPERATIONS_TAG]),
      ...GATEWAY_TAGS
    ],
    paths,
    components: { securitySchemes: SECURITY_SCHEMES, ...components.toJSON() }
  }
}

const DESCRIPTION =
  'Every resource has the same routes, parameters and answers. Names of query parameters match in any letter case. ' +
  'Unknown ones are ignored and named in `X-Ignored-Parameters`, or refused under `Prefer: handling=strict`. A ' +
  'parameter that is sent several times is its values joined by commas. Every path answers `OPTIONS` with `Allow`, and ' +
  'every `GET` but that of an export answers `HEAD` without the body.'

const TOKEN = [{ bearer: [] }] as const
/** An empty security requirement means that the token is optional. */
const OPTIONAL_TOKEN = [{}, { bearer: [] }] as const

/** Every operation of a resource: the reads that all resources have, its custom reads, its writes. */
export function operationsOf(resource: Resource, components = new Components([resource])): DocumentedOperation[] {
  return [
    ...readOperations(components, resource),
    ...customReadOperations(components, resource),
    ...writeOperations(components, resource)
  ]
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
export const openApi = fp<{ catalogue: Catalogue; address: PublicAddress; features: GatewayFeatures }>(
  async (app, { catalogue, address, features }) => {
    const url = '/openapi.json'
    const written = new Map<string, string>()
    const documentOf = ({ digest, resources, operations }: CatalogueSnapshot, base: string): string => {
      const key = `${digest} ${base}`
      const known = written.get(key)
      if (known !== undefined) return known
      const text = JSON.stringify(openApiDocument({ resources: [...resources.values()], operations, features }, base))
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
