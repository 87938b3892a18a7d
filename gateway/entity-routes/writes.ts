import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../shared/errors.js'
import type { LiveCatalogue } from '../data/catalogue.js'
import type { EntityRecord, Precondition, Unplaced } from '../data/data-client.js'
import { headerLines } from '../http/header-fields.js'
import {
  bodyOf,
  requireJsonBody,
  requireJsonBodyIfAny,
  requireJsonMediaType,
  requireMergePatchType
} from '../http/json-body.js'
import { confirmDryRun } from '../http/negotiation.js'
import { headerRoom } from '../http/links.js'
import { idempotencyKey, type IfMatch, ifMatch } from '../http/preconditions.js'
import { NO_PARAMETERS, queryOf, routeQuery } from '../http/query-string.js'
import { entityPathOf, type EntityOperation, type OwnerMember, ownerMember, ownerParameterOf } from './paths.js'
import { JSON_TYPE, sendRecord } from './reads.js'
import {
  asksForDryRun,
  type EntityRouteDeps,
  handleUnknownParameters,
  type ResourceParams,
  routeGuards,
  type RowByParams,
  type RowParams,
  setIgnoredParameters,
  type UnknownParameterHandling,
  writeContext
} from './requests.js'

/** `POST /{resource}`: creates a row. */
export function createRoute(app: FastifyInstance, { data, catalogue, address, largeWrites }: EntityRouteDeps): void {
  const path = entityPathOf('create')
  const { onRequest, preValidation } = routeGuards(catalogue, path)
  app.post<{ Params: ResourceParams }>(
    path.url,
    { onRequest, preParsing: requireJsonMediaType, preValidation: [requireJsonBody, ...preValidation] },
    async (request, reply) => {
      const { resource } = request.params
      const { members, ignored } = writeOptions({ catalogue, operation: 'create' }, request, reply)
      const linkBase = address.baseFor(request)
      const body = bodyOf(request)
      const call = writeContext(request)
      const response = await largeWrites.inTurn(call, body, () =>
        data.create(call, { resource, body, ...members, linkBase })
      )
      // There is nothing at the place of a row that was rolled back.
      if (!response.rolledBack) {
        const location = absoluteLocation(response.location, linkBase)
        // A long text key, percent-encoded, may not fit. The body holds the key as well.
        if (location.length <= headerRoom(reply.getHeaders())) reply.header('location', location)
      }
      reply.code(201)
      return sendWritten(reply, response, ignored)
    }
  )
}

/** The location is a path if the row was first created over gRPC without a base URL, under the same idempotency key. */
function absoluteLocation(location: string, linkBase: string): string {
  if (!/^[\x21-\x7e]+$/.test(location)) {
    throw new DomainError('upstream.bad-gateway', 'The data service told a location that no header can hold.')
  }
  return location.startsWith('/') ? linkBase + location : location
}

/** `POST /{resource}/batch`: creates several rows, all or none. */
export function batchRoute(app: FastifyInstance, { data, catalogue, largeWrites }: EntityRouteDeps): void {
  const path = entityPathOf('batch')
  const { onRequest, preValidation } = routeGuards(catalogue, path)
  app.post<{ Params: RowParams }>(
    path.url,
    { onRequest, preParsing: requireJsonMediaType, preValidation: [requireJsonBody, ...preValidation] },
    async (request, reply) => {
      // The owner filter of `create` holds for batches too.
      const of = { catalogue, operation: 'create', largeWrites } as const
      const { json } = await sendBatch({ of, request, reply }, (call, batch) => data.createBatch(call, batch))
      return reply.code(201).type(JSON_TYPE).send(json)
    }
  )
}

/**
 * `PUT /{resource}/{id}` replaces everything of a row that a client may set, `PATCH` what the members of its body name. A
 * resource has both or none. `PUT /{resource}/by/{property}/{value}` names the row by a unique property.
 */
export function updateRoutes(app: FastifyInstance, { data, catalogue, largeWrites }: EntityRouteDeps): void {
  for (const [method, operation, preParsing] of [
    ['PUT', 'update', requireJsonMediaType],
    ['PATCH', 'update', requireMergePatchType],
    ['PUT', 'updateBy', requireJsonMediaType]
  ] as const) {
    const path = entityPathOf(operation)
    const { onRequest, preValidation } = routeGuards(catalogue, path)
    app.route<{ Params: RowParams | RowByParams }>({
      method,
      url: path.url,
      onRequest,
      preParsing,
      preValidation: [requireJsonBody, ...preValidation],
      handler: async (request, reply) => {
        const { resource, ...row } = request.params
        const isOfBatch = method === 'PATCH' && 'id' in row && row.id === 'batch'
        if (isOfBatch && catalogue.find(resource)?.operations.includes('updateBatch') === true) {
          return updateRows({ data, catalogue, largeWrites }, request, reply)
        }
        const named = 'id' in row ? row : { property: row.property, id: row.value }
        const { members, ignored } = writeOptions({ catalogue, operation: 'update' }, request, reply)
        const [body, precondition] = [bodyOf(request), preconditionOf(request)]
        const update = { resource, ...named, body, precondition, mergePatch: method === 'PATCH', ...members }
        const call = writeContext(request)
        const response = await largeWrites.inTurn(call, body, () => data.update(call, update))
        return sendWritten(reply, response, ignored)
      }
    })
  }
}

/** `PATCH /{resource}/batch`: changes several rows, all or none. Their versions are in the body. */
async function updateRows(
  { data, catalogue, largeWrites }: Pick<EntityRouteDeps, 'data' | 'catalogue' | 'largeWrites'>,
  request: WriteRequest,
  reply: FastifyReply
): Promise<FastifyReply> {
  const of = { catalogue, operation: 'update', largeWrites } as const
  const { json } = await sendBatch({ of, request, reply }, (call, batch) => data.updateBatch(call, batch))
  request.unsent?.hold(json.length)
  return reply.type(JSON_TYPE).send(json)
}

/** `POST /{resource}/batch/delete`: deletes several rows, all or none. */
export function deleteBatchRoute(app: FastifyInstance, { data, catalogue, largeWrites }: EntityRouteDeps): void {
  const path = entityPathOf('deleteBatch')
  const { onRequest, preValidation } = routeGuards(catalogue, path)
  app.post<{ Params: ResourceParams }>(
    path.url,
    { onRequest, preParsing: requireJsonMediaType, preValidation: [requireJsonBody, ...preValidation] },
    async (request, reply) => {
      const of = { catalogue, operation: 'delete', largeWrites } as const
      await sendBatch({ of, request, reply }, (call, batch) => data.deleteBatch(call, batch))
      return reply.code(204).send()
    }
  )
}

type Batch = WriteOptions['members'] & ResourceParams & { readonly body: Buffer }

/** Sends a batch on when it has its turn, and sets the headers of the response. */
async function sendBatch<Response extends Omit<WrittenResponse, 'record'>>(
  {
    of,
    request,
    reply
  }: {
    readonly of: WriteOf & Pick<EntityRouteDeps, 'largeWrites'>
    readonly request: WriteRequest
    readonly reply: FastifyReply
  },
  write: (call: ReturnType<typeof writeContext>, batch: Batch) => Promise<Response>
): Promise<Response> {
  const { members, ignored } = writeOptions(of, request, reply)
  const batch = { resource: request.params.resource, body: bodyOf(request), ...members }
  const call = writeContext(request)
  const response = await of.largeWrites.inTurn(call, batch.body, () => write(call, batch))
  setWriteHeaders(reply, response, ignored)
  return response
}

/** `PUT /{resource}/{id}/{action}`: performs an action of the resource. */
export function actRoute(app: FastifyInstance, { data, catalogue, largeWrites }: EntityRouteDeps): void {
  const path = entityPathOf('act')
  const { onRequest, preValidation } = routeGuards(catalogue, path)
  app.put<{ Params: RowParams & { readonly action: string } }>(
    path.url,
    { onRequest, preParsing: requireJsonMediaType, preValidation: [requireJsonBodyIfAny, ...preValidation] },
    async (request, reply) => {
      const { resource, id, action } = request.params
      const { members, ignored } = writeOptions({ catalogue, operation: 'act' }, request, reply)
      const [body, precondition] = [bodyOf(request), preconditionOf(request)]
      const call = writeContext(request)
      const response = await largeWrites.inTurn(call, body, () =>
        data.act(call, { resource, id, action, body, precondition, ...members })
      )
      return sendWritten(reply, response, ignored)
    }
  )
}

/** `DELETE /{resource}/{id}`. A body (RFC 9110 section 9.3.5) and an idempotency key have no meaning here. */
export function deleteRoute(app: FastifyInstance, { data, catalogue }: EntityRouteDeps): void {
  const path = entityPathOf('delete')
  app.delete<{ Params: RowParams }>(path.url, routeGuards(catalogue, path), async (request, reply) => {
    const { resource, id } = request.params
    const { owner, unplaced, dryRun } = writeQuery({ catalogue, operation: 'delete' }, request, reply)
    const precondition = preconditionOf(request)
    const deleted = await data.delete(writeContext(request), { resource, id, precondition, ...owner, unplaced, dryRun })
    confirmDryRun(reply, deleted.rolledBack)
    return reply.code(204).send()
  })
}

/** Which write of the resource that the request names. */
interface WriteOf {
  readonly catalogue: LiveCatalogue
  readonly operation: EntityOperation
}

type WriteRequest = FastifyRequest<{ Params: ResourceParams }>

/** What a write takes from its headers and its query. */
interface WriteOptions {
  /** Members that the messages of all these writes have. */
  readonly members: OwnerMember & {
    readonly idempotencyKey?: string
    readonly strict: boolean
    readonly unplaced: Unplaced
    readonly dryRun: boolean
  }
  /** Names of the query that are ignored. */
  readonly ignored: readonly string[]
}

/** Reads the `Idempotency-Key` first and then the query, which decides the error of a request that has both wrong. */
function writeOptions(of: WriteOf, request: WriteRequest, reply: FastifyReply): WriteOptions {
  const key = idempotencyKey(headerLines(request.raw.rawHeaders, 'idempotency-key'))
  const { owner, strict, unplaced, ignored, dryRun } = writeQuery(of, request, reply)
  const keyed = key === undefined ? {} : { idempotencyKey: key }
  return { members: { ...keyed, ...owner, strict, unplaced, dryRun }, ignored }
}

/** Writes take no parameter except that of an owner filter. */
function writeQuery(
  { catalogue, operation }: WriteOf,
  request: WriteRequest,
  reply: FastifyReply
): UnknownParameterHandling & { readonly owner: OwnerMember; readonly dryRun: boolean } {
  const owner = ownerParameterOf(catalogue.find(request.params.resource), operation)
  const query = routeQuery(queryOf(request.url), NO_PARAMETERS, owner)
  const handling = handleUnknownParameters(query, request, reply)
  return { ...handling, owner: ownerMember(query), dryRun: asksForDryRun(request, reply) }
}

const PRECONDITION_KINDS = {
  absent: 'PRECONDITION_KIND_UNSPECIFIED',
  wildcard: 'PRECONDITION_KIND_ANY',
  malformed: 'PRECONDITION_KIND_MALFORMED',
  tags: 'PRECONDITION_KIND_TAGS'
} as const satisfies Readonly<Record<IfMatch['kind'], string>>

/** The content of `If-Match` for the data service, which decides what it means. */
export function preconditionOf(request: FastifyRequest): Precondition {
  const found = ifMatch(request.headers['if-match'])
  return { kind: PRECONDITION_KINDS[found.kind], versions: found.kind === 'tags' ? [...found.versions] : [] }
}

/** What the responses of create, update and act have in common. */
interface WrittenResponse {
  readonly record: EntityRecord | null
  readonly ignoredMembers: readonly string[]
  readonly replayed: boolean
  readonly rolledBack: boolean
}

/** Sends the row as written. */
function sendWritten(reply: FastifyReply, response: WrittenResponse, ignored: readonly string[]): FastifyReply {
  setWriteHeaders(reply, response, ignored)
  return sendRecord(reply, response.record)
}

/**
 * Sets `X-Ignored-Parameters`, which names what was ignored of the query and of the body, `Idempotent-Replayed` and
 * `Preference-Applied`.
 */
function setWriteHeaders(
  reply: FastifyReply,
  { ignoredMembers, replayed, rolledBack }: Omit<WrittenResponse, 'record'>,
  ignored: readonly string[]
): void {
  confirmDryRun(reply, rolledBack)
  setIgnoredParameters(reply, [...ignored, ...ignoredMembers.map((name) => `body.${name}`)])
  if (replayed) reply.header('idempotent-replayed', 'true')
}
