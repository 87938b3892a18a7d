import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Catalogue, CatalogueSnapshot } from '../data/catalogue.js'
import type { Operation, Resource } from '../data/data-client.js'
import { readContext } from '../entity-routes/requests.js'
import { acceptedCoding, addVary, type Coding, hasEntityTag } from '../http/header-fields.js'
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
  /** Whether creates need an Idempotency-Key. */
  readonly keyRequired?: boolean
}

/** An OpenAPI 3.1 document. `base` is the public base URL. */
export function openApiDocument(
  {
    resources,
    operations = [],
    features = { hasSignIn: false, hasAdmin: false, hasDocs: true },
    keyRequired = false
  }: Described,
  base: string
): object {
  const components = new Components(resources, { base, keyRequired })
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

/** A document as it is sent. */
class WrittenDocument {
  readonly text: Buffer
  /** A weak entity tag: the codings of one text share it. */
  readonly etag: string
  readonly #encoded = new Map<Coding, Promise<Buffer>>()

  constructor(document: object) {
    this.text = Buffer.from(JSON.stringify(document))
    this.etag = `W/"${createHash('sha256').update(this.text).digest('base64')}"`
  }

  /** The text in this coding, which is made once. */
  in(coding: Coding): Promise<Buffer> {
    const known = this.#encoded.get(coding)
    if (known !== undefined) return known
    const made = COMPRESS[coding](this.text)
    this.#encoded.set(coding, made)
    return made
  }
}

/** Of brotli's 11 levels of quality: the higher ones take seconds for a document of a megabyte, and save little. */
const BROTLI_QUALITY = 5
const COMPRESS: Readonly<Record<Coding, (text: Buffer) => Promise<Buffer>>> = {
  br: (text) => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (text) => promisify(gzip)(text)
}

/** `GET /openapi.json`, with what its caller may see. */
export const openApi = fp<{ catalogue: Catalogue; address: PublicAddress; features: GatewayFeatures }>(
  async (app, { catalogue, address, features }) => {
    const url = '/openapi.json'
    const written = new Map<string, WrittenDocument>()
    const documentOf = (
      { digest, resources, operations, keyRequired }: CatalogueSnapshot,
      base: string
    ): WrittenDocument => {
      const key = `${digest} ${keyRequired} ${base}`
      const known = written.get(key)
      if (known !== undefined) return known
      const described = { resources: [...resources.values()], operations, features, keyRequired }
      const document = new WrittenDocument(openApiDocument(described, base))
      const [oldest] = written.keys()
      if (oldest !== undefined && written.size >= MAX_DOCUMENTS) written.delete(oldest)
      written.set(key, document)
      return document
    }
    answerOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get(url, async (request, reply) => {
      const seen = await seenByCaller(catalogue, request, reply)
      const document = documentOf(seen, address.baseFor(request))
      const { 'if-none-match': ifNoneMatch = '', 'accept-encoding': acceptEncoding = '' } = request.headers
      const vary = addVary(String(reply.getHeader('vary') ?? ''), ['Accept-Encoding'])
      reply.headers({ 'cache-control': 'no-cache', etag: document.etag, vary })
      if (hasEntityTag(ifNoneMatch, document.etag)) return reply.code(304).send()
      const coding = acceptedCoding(acceptEncoding)
      if (coding !== undefined) reply.header('content-encoding', coding)
      return reply
        .type('application/json; charset=utf-8')
        .send(coding === undefined ? document.text : await document.in(coding))
    })
  },
  { name: 'openapi', dependencies: ['problem-responses'], fastify: '5.x' }
)
