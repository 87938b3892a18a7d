import type { CustomRead, Resource } from '../data-calls.js'
import type { RouteQuery } from '../headers/route-query.js'
import type { Operation } from './entity-path.js'

/** The owner parameter of a message, or nothing. */
export interface OwnerMember {
  readonly ownerParameter?: string
}

/** The query parameter that the resource's owner filter takes on an operation; undefined where it takes none. */
export function ownerParameterOf(resource: Resource | undefined, operation: Operation): string | undefined {
  return resource?.ownerFiltered.includes(operation) === true ? resource.ownerParameter : undefined
}

/** As ownerParameterOf, of one of the resource's own reads. */
export function ownerParameterOfRead({ ownerParameter }: Resource, read: CustomRead): string | undefined {
  return read.ownerFiltered ? ownerParameter : undefined
}

export function ownerMember({ owner }: Pick<RouteQuery, 'owner'>): OwnerMember {
  return owner === undefined ? {} : { ownerParameter: owner }
}
