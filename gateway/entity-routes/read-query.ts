import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Resource, Selection, Shape, Unplaced } from '../data-calls.js'
import { queryOf } from '../headers/query-parameters.js'
import { ROUTE_PARAMETERS, type ReadOperation } from '../headers/route-parameters.js'
import { routeQuery, type RouteQuery } from '../headers/route-query.js'
import { ownerMember, ownerParameterOf, type OwnerMember } from './owner-parameter.js'
import { unknownParameters } from './unknown-parameters.js'

/** A query with what the transport could not place, ready for the data service. */
export interface ReadQuery {
  readonly values: RouteQuery['values']
  readonly filters: RouteQuery['filters']
  readonly owner: OwnerMember
  readonly unplaced: Unplaced
}

/** Which read of which resource of the moment. */
export interface ReadOf {
  readonly resource: Resource | undefined
  readonly operation: ReadOperation
}

/**
 * Reads the query of an operation. What it does not know is named in `X-Ignored-Parameters`, or under
 * `Prefer: handling=strict` handed on to be refused together with every other fault.
 */
export function readQuery({ resource, operation }: ReadOf, request: FastifyRequest, reply: FastifyReply): ReadQuery {
  const owner = ownerParameterOf(resource, operation)
  const query = routeQuery(queryOf(request.url), ROUTE_PARAMETERS[operation], owner)
  const { unplaced } = unknownParameters(query, request, reply)
  return { values: query.values, filters: query.filters, owner: ownerMember(query), unplaced }
}

export function shapeOf({ values }: ReadQuery): Shape {
  return {
    ...(values.fields === undefined ? {} : { fields: values.fields }),
    ...(values.includeFKs === undefined ? {} : { includeFks: values.includeFKs }),
    ...(values.includeChildren === undefined ? {} : { includeChildren: values.includeChildren })
  }
}

export function selectionOf({ values, filters }: ReadQuery): Selection {
  return {
    filters: [...filters],
    ...(values.sortColumn === undefined ? {} : { sortColumn: values.sortColumn }),
    ...(values.sortDirection === undefined ? {} : { sortDirection: values.sortDirection })
  }
}
