import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CustomRead, Resource } from '../data-calls.js'
import { queryOf } from '../headers/query-parameters.js'
import { routeQuery } from '../headers/route-query.js'
import { dataCall } from './data-call.js'
import type { EntityTools } from './entity-tools.js'
import { ownerMember, ownerParameterOfRead } from './owner-parameter.js'
import { JSON_TYPE } from './record-array.js'
import { unknownParameters } from './unknown-parameters.js'

/** Answers `GET /{resource}/{name}`: an array of items, which is no row and so has no `ETag`. */
export async function answerCustomRead(
  { data, resource, read }: Pick<EntityTools, 'data'> & { readonly resource: Resource; readonly read: CustomRead },
  request: FastifyRequest,
  reply: FastifyReply
): Promise<FastifyReply> {
  const names = read.parameters.map(({ name }) => name)
  const route = { names, filters: false, refused: [] }
  const query = routeQuery(queryOf(request.url), route, ownerParameterOfRead(resource, read))
  const { unplaced } = unknownParameters(query, request, reply)
  const answer = await data.read(dataCall(request, reply), {
    resource: resource.name,
    name: read.name,
    parameters: present(query.values),
    ...ownerMember(query),
    unplaced
  })
  reply.header('x-row-limit', String(answer.rowLimit))
  if (answer.truncated) reply.header('x-truncated', 'true')
  return reply.type(JSON_TYPE).send(answer.json)
}

function present(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  )
}
