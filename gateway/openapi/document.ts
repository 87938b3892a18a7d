import fp from 'fastify-plugin'
import type { Operation, Resource } from '../data/data-client.js'
import { acceptedCoding, addVary, hasEntityTag } from '../http/header-fields.js'
import type { PublicAddress } from '../http/public-address.js'
import { answerOtherMethods } from '../server/methods.js'
import { Components } from './components.js'
import { type Documents, withRests } from './documents.js'
import {
  GATEWAY_TAGS,
  type GatewayFeatures,
  gatewayOperations,
  OPTIONAL_TOKEN,
  SECURITY_SCHEMES
} from './gateway-operations.js'
import { customReadOperations, type DocumentedOperation, readOperations, writeOperations } from './operations.js'
import { OPERATIONS_TAG, ownOperations } from './application-operations.js'

/** What a document describes, for one caller. */
interface DocumentContent {
  readonly resources: readonly Resource[]
  /** Those of the application beside the uniform ones. */
  readonly operations?: readonly Operation[]
  readonly features?: GatewayFeatures
  /** Whether creates need an Idempotency-Key. */
  readonly keyRequired?: boolean
}

/** An OpenAPI 3.1 document. `base` is the public base URL. */
export function openApiDocument(described: DocumentContent, base: string): object {
  const parts = documentParts(described, base)
  for (;;) {
    const { done, value } = parts.next()
    if (done === true) return value
  }
}

/** The same, a resource at a time. */
function* documentParts(
  {
    resources,
    operations = [],
    features = { hasSignIn: false, hasAdmin: false, hasDocs: true },
    keyRequired = false
  }: DocumentContent,
  base: string
): Generator<undefined, object, undefined> {
  const components = new Components(resources, { base, keyRequired })
  const paths: Record<string, Record<string, object>> = {}
  const add = ({ path, method, document }: DocumentedOperation, tag: string, security: object): void => {
    const { id, ...rest } = document
    paths[path] = { ...paths[path], [method]: { tags: [tag], operationId: operationIdOf(id), ...rest, security } }
  }
  for (const resource of resources) {
    for (const operation of operationsOf(resource, components)) {
      const isPublic = operation.method === 'get' && resource.publicReads
      add(operation, resource.name, isPublic ? OPTIONAL_TOKEN : REQUIRED_TOKEN)
    }
    yield
  }
  for (const operation of ownOperations(components, operations)) {
    add(operation, OPERATIONS_TAG.name, operation.isPublic ? OPTIONAL_TOKEN : REQUIRED_TOKEN)
  }
  for (const operation of gatewayOperations(components, features)) add(operation, operation.tag, operation.security)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Entity REST service',
      version: '1.0',
      description: DESCRIPTION,
      contact: { name: 'Documentation', url: `${base}/${features.hasDocs ? 'docs' : 'problems'}` },
      license: {
        name: 'The terms of whoever runs the service',
        url: `${base}/${features.hasDocs ? 'docs' : 'problems'}`
      }
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
  'Unknown ones are ignored and named in `X-Ignored-Parameters`, or refused under `Prefer: handling=strict` or ' +
  'by a setting of the service, which `handling=lenient` undoes. A ' +
  'parameter that is sent several times is its values joined by commas. Every path answers `OPTIONS` with `Allow`, and ' +
  'every `GET` but that of an export answers `HEAD` without the body.'

const REQUIRED_TOKEN = [{ bearer: [] }] as const

/** Every operation of a resource: the reads that all resources have, its custom reads, its writes. */
export function operationsOf(resource: Resource, components = new Components([resource])): DocumentedOperation[] {
  return [
    ...readOperations(components, resource),
    ...customReadOperations(components, resource),
    ...writeOperations(components, resource)
  ]
}

/** `list order items` becomes `listOrderItems`. Hyphens separate words as well. */
function operationIdOf(words: string): string {
  return words
    .split(/[ -]/)
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')
}

/** `GET /openapi.json`, with what its caller may see. */
export const openApi = fp<{ documents: Documents; address: PublicAddress; features: GatewayFeatures }>(
  async (app, { documents, address, features }) => {
    const url = '/openapi.json'
    answerOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get(url, async (request, reply) => {
      const { 'if-none-match': ifNoneMatch = '', 'accept-encoding': acceptEncoding = '' } = request.headers
      const base = address.baseFor(request)
      const coding = acceptedCoding(acceptEncoding)
      const { body, etag } = await documents.for(request, reply, ({ resources, operations, keyRequired }) => ({
        key: `openapi ${keyRequired} ${base}`,
        write: async () => {
          const described = { resources: [...resources.values()], operations, features, keyRequired }
          return JSON.stringify(await withRests(documentParts(described, base)))
        },
        coding
      }))
      const vary = addVary(String(reply.getHeader('vary') ?? ''), ['Accept-Encoding'])
      reply.headers({ 'cache-control': 'no-cache', etag, vary })
      if (hasEntityTag(ifNoneMatch, etag)) return reply.code(304).send()
      if (coding !== undefined) reply.header('content-encoding', coding)
      return reply.type('application/json; charset=utf-8').send(body)
    })
  },
  { name: 'openapi', dependencies: ['problem-responses'], fastify: '5.x' }
)
