import type { FastifyInstance } from 'fastify'
import { DomainError } from '../../shared/domain-error.js'
import { headerRoom } from '../headers/header-room.js'
import { admission } from './admit.js'
import { bodyOf, jsonOnly, wellFormed } from './check-json-request.js'
import { writeCall } from './data-call.js'
import { COLLECTION_PATH } from './entity-path.js'
import type { EntityTools, ResourceParams } from './entity-tools.js'
import { sendWritten } from './send-written.js'
import { writeOptions } from './write-options.js'

/** `POST /{resource}`: a new row. */
export function createRoute(app: FastifyInstance, { data, catalogue, address }: EntityTools): void {
  const { onRequest, preValidation } = admission(catalogue, COLLECTION_PATH)
  app.post<{ Params: ResourceParams }>(
    COLLECTION_PATH.url,
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
