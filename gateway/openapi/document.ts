import fp from 'fastify-plugin'
import type { Operation, Resource } from '../data/data-client.js'
import { DomainError, rejectionAt } from '../../shared/errors.js'
import type { MemoryGuard } from '../../shared/memory-guard.js'
import type { CatalogueSnapshot } from '../data/catalogue.js'
import { acceptedCoding, addVary, hasEntityTag } from '../http/header-fields.js'
import type { PublicAddress } from '../http/public-address.js'
import { parseQuery, queryOf } from '../http/query-string.js'
import { answerOtherMethods } from '../server/methods.js'
import { type ApiInfo, NO_INFO } from './api-info.js'
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
import { DESCRIBED_ONCE } from './parameters.js'
import { CREATED } from './schemas.js'
import { OPERATIONS_TAG, ownOperations } from './application-operations.js'

/** What a document describes, for one caller. */
interface OpenApiContent {
  readonly resources: readonly Resource[]
  /** Names of the resources whose operations are shown, and no others; undefined for all, with those of the gateway. */
  readonly only?: readonly string[] | undefined
  /**
   * Whether the document says all that the service takes and answers: other spellings, rows cut by `fields`, and the headers
   * that every request and response may have. Generators of clients make better types of the other one.
   */
  readonly exact?: boolean
  readonly info?: ApiInfo
  /** Those of the application beside the uniform ones. */
  readonly operations?: readonly Operation[]
  readonly features?: GatewayFeatures
  /** Whether creates need an Idempotency-Key. */
  readonly keyRequired?: boolean
}

/** Characters of components that are made bytes in one step. */
const WRITTEN_AT_ONCE = 256 * 1024

/**
 * The bytes of an OpenAPI 3.1 document. `base` is the public base URL. A step makes the paths of one resource, makes bytes of them and lets the objects go, or makes
 * bytes of some components: the objects of the whole document would take ten times as much memory as its bytes.
 */
export function* writtenDocument(described: OpenApiContent, base: string): Generator<undefined, Buffer[], undefined> {
  const parts = documentParts(described, base)
  const paths: Buffer[] = []
  let part = parts.next()
  for (; part.done !== true; part = parts.next()) {
    const members = JSON.stringify(part.value).slice(1, -1)
    if (members !== '') paths.push(Buffer.from(paths.length === 0 ? members : `,${members}`))
    yield
  }
  const { head, components } = part.value
  const beforePaths = `${JSON.stringify(head).slice(0, -1)},"paths":{`
  const written = [Buffer.from(beforePaths), ...paths]
  let text = `},"components":{"securitySchemes":${JSON.stringify(SECURITY_SCHEMES)}`
  for (const [kind, made] of Object.entries(components.made)) {
    text += `,${JSON.stringify(kind)}:{`
    let separator = ''
    for (const [name, component] of made) {
      text += `${separator}${JSON.stringify(name)}:${component}`
      separator = ','
      if (text.length < WRITTEN_AT_ONCE) continue
      written.push(Buffer.from(text))
      text = ''
      yield
    }
    text += '}'
  }
  written.push(Buffer.from(`${text}}}`))
  return written
}

type Paths = Record<string, Record<string, object>>

/** What a document has beside its paths. */
interface DocumentRest {
  /** The members before the paths. */
  readonly head: object
  readonly components: Components
}

/** The paths of the document, those of a resource at a time, and the rest. No path is in two parts. */
function* documentParts(
  {
    resources,
    only,
    exact = false,
    info = NO_INFO,
    operations = [],
    features = { hasSignIn: false, hasAdmin: false, hasDocs: true, hasTryOut: true },
    keyRequired = false
  }: OpenApiContent,
  base: string
): Generator<Paths, DocumentRest, undefined> {
  const components = new Components(resources, { base, keyRequired, exact })
  const shown = resources.filter(({ name }) => only?.includes(name) ?? true)
  const told = new RepeatedDescriptions()
  let paths: Paths = {}
  const add = ({ path, method, document }: DocumentedOperation, tag: string, security: object | undefined): void => {
    const { id, ...rest } = document
    const own = security === undefined ? {} : { security }
    paths[path] = { ...paths[path], [method]: { tags: [tag], operationId: operationIdOf(id), ...rest, ...own } }
  }
  for (const resource of shown) {
    paths = {}
    const operations = operationsOf(resource, components)
    for (const operation of operations) {
      const isPublic = operation.method === 'get' && resource.publicReads
      const security = isPublic ? OPTIONAL_TOKEN : exact ? REQUIRED_TOKEN : undefined
      add(exact ? operation : told.shortened(operation), resource.name, security)
    }
    if (!exact) {
      for (const path of new Set(operations.map((one) => one.path))) {
        paths[path] = withSharedParameters(paths[path] as PathItem)
      }
    }
    yield paths
  }
  if (only === undefined) {
    paths = {}
    for (const operation of ownOperations(components, operations)) {
      add(operation, OPERATIONS_TAG.name, operation.isPublic ? OPTIONAL_TOKEN : REQUIRED_TOKEN)
    }
    for (const operation of gatewayOperations(components, features)) add(operation, operation.tag, operation.security)
    yield paths
  }
  const documentation = `${base}/${features.hasDocs ? 'docs' : 'problems'}`
  const head = {
    openapi: '3.1.1',
    info: {
      title: info.title,
      version: info.version,
      description: exact ? DESCRIPTION : [DESCRIPTION, SHORTER, told.toString()].join('\n\n'),
      contact: info.contact ?? { name: 'Documentation', url: documentation },
      license: info.license ?? { name: 'The terms of whoever runs the service', url: documentation }
    },
    servers: info.servers.length > 0 ? info.servers.map((url) => ({ url })) : [{ url: base === '' ? '/' : base }],
    tags: [
      ...shown.map(({ name, description }) => ({ name, description })),
      ...(only !== undefined || operations.length === 0 ? [] : [OPERATIONS_TAG]),
      ...(only === undefined ? GATEWAY_TAGS : [])
    ],
    ...(exact ? {} : { security: REQUIRED_TOKEN })
  }
  return { head, components }
}

const DESCRIPTION =
  'Every resource has the same routes, parameters and answers. Names of query parameters match in any letter case. ' +
  'Unknown ones are ignored and named in `X-Ignored-Parameters`, or refused under `Prefer: handling=strict` or ' +
  'by a setting of the service, which `handling=lenient` undoes. A ' +
  'parameter that is sent several times is its values joined by commas. Every path answers `OPTIONS` with `Allow`, and ' +
  'every `GET` but that of an export answers `HEAD` without the body.'

const SHORTER =
  'This document is made for generators of clients: rows are whole, as without `fields`; words have the spelling that is ' +
  'theirs; what every request or response may have is left out: `X-Request-Id`, `traceparent`, `api-version` and ' +
  '`api-supported-versions`, `X-Ignored-Parameters`, `Preference-Applied`, `Prefer` of reads, `Server-Timing`, the ' +
  'headers of limits (`RateLimit`), caches, CORS and safety, problems of statuses that mean the same everywhere (401 with ' +
  '`WWW-Authenticate`, 403, 409, 413, 415 with `Accept-Patch`, 422, 428, 429, 503, for which `default` stands), `Link`, ' +
  '`X-Truncated-Includes` and `X-Unshown-Values` of reads, `Idempotent-Replayed` of writes, and the parameter `page`, ' +
  'which is another name of `pageNumber`. What is the same for all resources is said here. `?exact=true` has all that the ' +
  'service takes and answers, and `?resources=<names>` these resources alone.'

type PathItem = Readonly<Record<string, { readonly parameters: readonly object[] }>>

/** The path with the parameters that all its operations have beside them, and no more in each. */
function withSharedParameters(item: PathItem): Record<string, object> {
  const operations = Object.entries(item)
  const lists = operations.map(([, { parameters }]) => new Set(parameters.map((one) => JSON.stringify(one))))
  const isShared = (parameter: object): boolean => lists.every((list) => list.has(JSON.stringify(parameter)))
  const shared = operations.length < 2 ? [] : (operations[0]?.[1].parameters ?? []).filter(isShared)
  if (shared.length === 0) return item
  const rest = operations.map(
    ([method, operation]) =>
      [method, { ...operation, parameters: operation.parameters.filter((one) => !isShared(one)) }] as const
  )
  return { parameters: shared, ...Object.fromEntries<object>(rest) }
}

/** Descriptions of more than one sentence that operations of all resources have. Each is said once, by the summary. */
class RepeatedDescriptions {
  readonly #bySummary = new Map<string, string>()

  /** The operation with the first sentence of its description, where the whole is said by this object. */
  shortened(operation: DocumentedOperation): DocumentedOperation {
    const { summary, description } = operation.document
    const [first = description] = description.split(/(?<=\.) /, 1)
    // That of a delete may be of its entity, and operations by a unique property name it.
    const isNamed = operation.method === 'delete' || operation.path.includes('/by/')
    if (first === description || isNamed) return operation
    if (!this.#bySummary.has(summary)) this.#bySummary.set(summary, description)
    if (this.#bySummary.get(summary) !== description) return operation
    return { ...operation, document: { ...operation.document, description: first } }
  }

  toString(): string {
    const members = Object.entries({ ...DESCRIBED_ONCE, '<resource>.create': CREATED })
    const described = [...members.map(([name, text]) => [`\`${name}\``, text]), ...this.#bySummary]
    return described.map(([name = '', text = '']) => `- ${name}: ${text}`).join('\n')
  }
}

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

interface OpenApiOptions {
  readonly documents: Documents
  readonly address: PublicAddress
  readonly features: GatewayFeatures
  readonly info: ApiInfo
  readonly memory: MemoryGuard
}

/** Bytes of memory that each resource takes while the document is made, as measured with hundreds of them. */
const MADE_OF = { exact: 200_000, short: 60_000 }

/** `GET /openapi.json`, with what its caller may see. */
export const openApi = fp<OpenApiOptions>(
  async (app, { documents, address, features, info, memory }) => {
    const url = '/openapi.json'
    answerOtherMethods(app, { url, routed: ['GET', 'HEAD'] })
    app.get(url, async (request, reply) => {
      const { 'if-none-match': ifNoneMatch = '', 'accept-encoding': acceptEncoding = '' } = request.headers
      const base = address.baseFor(request)
      const coding = acceptedCoding(acceptEncoding)
      const wanted = wantedDocument(request.url)
      const { body, etag } = await documents.for(request, reply, ({ resources, operations, keyRequired }) => {
        refuseUnknown(wanted.only ?? [], resources)
        return {
          key: `openapi ${JSON.stringify(wanted)} ${keyRequired} ${base}`,
          write: async () => {
            const count = wanted.only?.length ?? resources.size
            if (memory.isFullWith(count * (wanted.exact === true ? MADE_OF.exact : MADE_OF.short))) {
              const detail = `The document of ${count} resources takes more memory than there is. Ask for some of them: ?resources=<name>,<name>.`
              throw new DomainError('upstream.unavailable', detail, { retryAfter: 1 })
            }
            const described = { ...wanted, resources: [...resources.values()], operations, features, keyRequired, info }
            return await withRests(writtenDocument(described, base))
          },
          coding
        }
      })
      const vary = addVary(String(reply.getHeader('vary') ?? ''), ['Accept-Encoding'])
      reply.headers({ 'cache-control': 'no-cache', etag, vary })
      if (hasEntityTag(ifNoneMatch, etag)) return reply.code(304).send()
      if (coding !== undefined) reply.header('content-encoding', coding)
      return reply.type('application/json; charset=utf-8').send(body)
    })
  },
  { name: 'openapi', dependencies: ['problem-responses'], fastify: '5.x' }
)

/** What the query of a request asks for. Throws `request.malformed` for another value of a parameter. */
function wantedDocument(target: string): Pick<OpenApiContent, 'only' | 'exact'> {
  const query = parseQuery(queryOf(target))
  const valuesOf = (wanted: string): string[] => query.filter(({ name }) => name === wanted).map(({ value }) => value)
  const [exact = 'false', ...others] = valuesOf('exact')
  if (others.length > 0 || !['true', 'false'].includes(exact)) {
    throw malformed('exact', 'exact must be true or false.')
  }
  const names = valuesOf('resources').flatMap((value) => value.split(',').map((name) => name.trim()))
  // Those of one set in one order, so that they are one document.
  const only = names.length === 0 ? undefined : [...new Set(names)].toSorted()
  return { only, exact: exact === 'true' }
}

/** Throws where the caller sees no such resource, as where there is none. */
function refuseUnknown(names: readonly string[], resources: CatalogueSnapshot['resources']): void {
  const unknown = names.find((name) => !resources.has(name))
  if (unknown === undefined) return
  throw malformed('resources', 'resources must be names of resources that you may use, with commas between.')
}

function malformed(parameter: string, detail: string): Error {
  return rejectionAt('request.malformed', detail, { place: { in: 'parameter', name: parameter } })
}
