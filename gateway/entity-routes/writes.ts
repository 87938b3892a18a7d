import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../shared/errors.js'
import type { Catalogue } from '../data/catalogue.js'
import type { EntityRecord, Precondition } from '../data/data-client.js'
import { headerLines } from '../http/header-fields.js'
import { checkJsonBody, checkJsonMediaType } from '../http/json-body.js'
import { headerRoom } from '../http/links.js'
import { idempotencyKey, ifMatch } from '../http/preconditions.js'
import { NO_PARAMETERS, queryOf, routeQuery } from '../http/query-string.js'
import { type Operation, type OwnerMember, ownerMember, ownerParameterOf, pathOf } from './paths.js'
import { sendRecord } from './reads.js'
import {
  admission,
  type EntityTools,
  type ResourceParams,
  type RowParams,
  sayIgnored,
  type UnknownParameters,
  unknownParameters,
  writeCall
} from './requests.js'

/** Bodies of any type reach the routes of this scope as the bytes they are. */
export function keepBodiesAsBytes(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

/** A `preParsing` hook: 415 before any of the body is read. */
export function jsonOnly(
  request: FastifyRequest,
  _reply: FastifyReply,
  ...rest: [payload: unknown, done: () => void]
): void {
  checkJsonMediaType(request.headers)
  rest[1]()
}

/** The first `preValidation` hook: the body must be JSON. */
export function wellFormed(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  checkJsonBody(bodyOf(request))
  done()
}

/** As wellFormed, where no body at all stands for `{}`. */
export function wellFormedOrNone(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const body = bodyOf(request)
  if (body.length > 0) checkJsonBody(body)
  done()
}

/** The bytes of the body as sent (keepBodiesAsBytes); none where there was no body. */
export function bodyOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}

/** What the query of a write says. */
export interface WriteQuery extends UnknownParameters {
  readonly owner: OwnerMember
}

/** What the messages of writes have in common. */
export interface WriteOptions extends WriteQuery {
  /** `idempotencyKey`, or nothing. */
  readonly key: { readonly idempotencyKey?: string }
}

/** Which write of which resource of the moment. */
export interface WriteOf {
  readonly catalogue: Catalogue
  readonly operation: Operation
}

type WriteRequest = FastifyRequest<{ Params: ResourceParams }>

/** Reads the `Idempotency-Key` of a write, then its query. */
export function writeOptions(of: WriteOf, request: WriteRequest, reply: FastifyReply): WriteOptions {
  const key = idempotencyKey(headerLines(request.raw.rawHeaders, 'idempotency-key'))
  return { ...queryOfWrite(of, request, reply), key: key === undefined ? {} : { idempotencyKey: key } }
}

/** Writes take no parameter but that of an owner filter. */
export function queryOfWrite(
  { catalogue, operation }: WriteOf,
  request: WriteRequest,
  reply: FastifyReply
): WriteQuery {
  const owner = ownerParameterOf(catalogue.find(request.params.resource), operation)
  const query = routeQuery(queryOf(request.url), NO_PARAMETERS, owner)
  return { ...unknownParameters(query, request, reply), owner: ownerMember(query) }
}

/** What was found of `If-Match`; the data service decides what it means. */
export function preconditionOf(request: FastifyRequest): Precondition {
  const found = ifMatch(request.headers['if-match'])
  switch (found.kind) {
    case 'absent':
      return { kind: 'PRECONDITION_KIND_UNSPECIFIED', versions: [] }
    case 'any':
      return { kind: 'PRECONDITION_KIND_ANY', versions: [] }
    case 'malformed':
      return { kind: 'PRECONDITION_KIND_MALFORMED', versions: [] }
    case 'tags':
      return { kind: 'PRECONDITION_KIND_TAGS', versions: [...found.versions] }
  }
}

/** What the answers of writes have in common. */
export interface Written {
  readonly record: EntityRecord | null
  readonly ignoredMembers: readonly string[]
  readonly replayed: boolean
}

/** Answers the row as written, and names what was ignored of the query and of the body. */
export function sendWritten(reply: FastifyReply, written: Written, { ignored }: UnknownParameters): FastifyReply {
  sayIgnored(reply, [...ignored, ...written.ignoredMembers.map((name) => `body.${name}`)])
  if (written.replayed) reply.header('idempotent-replayed', 'true')
  return sendRecord(reply, written.record)
}

/** `POST /{resource}`: a new row. */
export function createRoute(app: FastifyInstance, { data, catalogue, address }: EntityTools): void {
  const { onRequest, preValidation } = admission(catalogue, pathOf('create'))
  app.post<{ Params: ResourceParams }>(
    pathOf('create').url,
    { onRequest, preParsing: jsonOnly, preValidation: [wellFormed, ...preValidation] },
    async (request, reply) => {
      const { resource } = request.params
      const options = writeOptions({ catalogue, operation: 'create' }, request, reply)
      const linkBase = address.baseFor(request)
      const answer = await data.create(writeCall(request), {
        resource,
        body: bodyOf(request),
        ...options.key,
        ...options.owner,
        strict: options.strict,
        linkBase,
        unplaced: options.unplaced
      })
      const location = absolute(answer.location, linkBase)
      // A key of thousands of letters, each of them percent-encoded; the body holds it too.
      if (location.length <= headerRoom(reply.getHeaders())) reply.header('location', location)
      reply.code(201)
      return sendWritten(reply, answer, options)
    }
  )
}

/** One kept for a caller over gRPC that gave no base is a path. */
function absolute(location: string, linkBase: string): string {
  if (!/^[\x21-\x7e]+$/.test(location)) {
    throw new DomainError('upstream.bad-gateway', 'The data service told a location that no header can hold.')
  }
  return location.startsWith('/') ? linkBase + location : location
}

/** `PUT /{resource}/{id}`: what a client may set of a row, replaced. */
export function updateRoute(app: FastifyInstance, { data, catalogue }: EntityTools): void {
  const { onRequest, preValidation } = admission(catalogue, pathOf('update'))
  app.put<{ Params: RowParams }>(
    pathOf('update').url,
    { onRequest, preParsing: jsonOnly, preValidation: [wellFormed, ...preValidation] },
    async (request, reply) => {
      const { resource, id } = request.params
      const options = writeOptions({ catalogue, operation: 'update' }, request, reply)
      const answer = await data.update(writeCall(request), {
        resource,
        id,
        body: bodyOf(request),
        precondition: preconditionOf(request),
        ...options.key,
        ...options.owner,
        strict: options.strict,
        unplaced: options.unplaced
      })
      return sendWritten(reply, answer, options)
    }
  )
}

/** `PUT /{resource}/{id}/{action}`: one of the resource's own actions. */
export function actRoute(app: FastifyInstance, { data, catalogue }: EntityTools): void {
  const { onRequest, preValidation } = admission(catalogue, pathOf('act'))
  app.put<{ Params: RowParams & { readonly action: string } }>(
    pathOf('act').url,
    { onRequest, preParsing: jsonOnly, preValidation: [wellFormedOrNone, ...preValidation] },
    async (request, reply) => {
      const { resource, id, action } = request.params
      const options = writeOptions({ catalogue, operation: 'act' }, request, reply)
      const answer = await data.act(writeCall(request), {
        resource,
        id,
        action,
        body: bodyOf(request),
        precondition: preconditionOf(request),
        ...options.key,
        ...options.owner,
        strict: options.strict,
        unplaced: options.unplaced
      })
      return sendWritten(reply, answer, options)
    }
  )
}

/** `DELETE /{resource}/{id}`. A body means nothing here (RFC 9110 section 9.3.5), and neither does a key. */
export function deleteRoute(app: FastifyInstance, { data, catalogue }: EntityTools): void {
  app.delete<{ Params: RowParams }>(
    pathOf('delete').url,
    admission(catalogue, pathOf('delete')),
    async (request, reply) => {
      const { resource, id } = request.params
      const { owner, unplaced } = queryOfWrite({ catalogue, operation: 'delete' }, request, reply)
      await data.delete(writeCall(request), { resource, id, precondition: preconditionOf(request), ...owner, unplaced })
      return reply.code(204).send()
    }
  )
}
