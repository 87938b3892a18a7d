import type { Resource } from '../data-calls.js'
import type { ReadOperation } from '../headers/route-parameters.js'
import { customReadNamed } from './custom-read-named.js'

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
