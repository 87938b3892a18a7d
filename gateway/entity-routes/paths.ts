import type { CustomRead, Resource } from '../data/data-client.js'
import type { ReadOperation, RouteQuery } from '../http/query-string.js'

/** One of the resource's own reads, where it has one of this name. */
export function customReadNamed(resource: Resource | undefined, name: string | undefined): CustomRead | undefined {
  return resource?.reads.find((read) => read.name === name)
}

/** Whatever a resource may serve; `act` is each of its actions. */
export type Operation = ReadOperation | 'create' | 'update' | 'delete' | 'act'

/** A path of the uniform surface with the operations that may be there. */
export interface EntityPath {
  readonly url: string
  readonly operations: readonly Operation[]
}

const METHODS: Readonly<Record<Operation, readonly string[]>> = {
  list: ['GET', 'HEAD'],
  paged: ['GET', 'HEAD'],
  export: ['GET'],
  lookup: ['GET', 'HEAD'],
  get: ['GET', 'HEAD'],
  create: ['POST'],
  update: ['PUT'],
  delete: ['DELETE'],
  act: ['PUT']
}

export const COLLECTION_PATH: EntityPath = { url: '/:resource', operations: ['list', 'create'] }
export const PAGED_PATH: EntityPath = { url: '/:resource/paged', operations: ['paged'] }
export const EXPORT_PATH: EntityPath = { url: '/:resource/export', operations: ['export'] }
export const LOOKUP_PATH: EntityPath = { url: '/:resource/lookup', operations: ['lookup'] }
export const ROW_PATH: EntityPath = { url: '/:resource/:id', operations: ['get', 'update', 'delete'] }
export const ACTION_PATH: EntityPath = { url: '/:resource/:id/:action', operations: ['act'] }

/** Methods that have a route at the path, whatever the resource. */
export function routedMethods({ operations }: EntityPath): string[] {
  return operations.flatMap((operation) => METHODS[operation])
}

/**
 * Methods that this resource takes at the path; none where the path is not one of its own. One of its own reads stands
 * where the id of a row would, which no id is written like.
 */
export function allowedMethods(path: EntityPath, resource: Resource, below: BelowResource): readonly string[] {
  if (path === ROW_PATH && customReadNamed(resource, below.id) !== undefined) return METHODS.get
  const served = (operation: Operation): boolean =>
    operation === 'act'
      ? resource.actions.some(({ name }) => name === below.action)
      : resource.operations.includes(operation)
  return path.operations.filter(served).flatMap((operation) => METHODS[operation])
}

/** What stands in a path below its resource. */
export interface BelowResource {
  readonly id?: string
  readonly action?: string
}

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
