import { READ_OPERATIONS, type ReadAccess, type ReadOperation } from './access.js'
import { resolveCustomRead, type ErasedCustomRead } from './custom-read.js'
import type { Entity } from './entity.js'
import { resolveOwnerFilter, type OwnerFilterDefinition } from './owner-filter.js'
import { finder, type Names } from './resolve-writes.js'

/** The part of an entity file about who reads and what, names and types forgotten. */
export interface ReadsPart {
  readonly access: {
    readonly read?: ReadAccess
    readonly reads?: Readonly<Partial<Record<ReadOperation, ReadAccess>>>
    readonly ownerFilter?: OwnerFilterDefinition
  }
  readonly customReads?: Readonly<Record<string, ErasedCustomRead>>
}

export function resolveReads(
  { access, customReads = {} }: ReadsPart,
  { column }: Pick<Names, 'column'>
): Pick<Entity, 'access' | 'customReads'> {
  const { reads = {} } = access
  const read = access.read ?? reads.export
  // An entity file that got round its types may say nothing at all, which checkCatalogue reports.
  const every = { list: read, paged: read, export: read, lookup: read, get: read, ...reads } as Entity['access']
  const definitions = Object.entries(customReads)
  return {
    access: every,
    customReads: new Map(
      definitions.map(([name, definition]) => [
        name,
        resolveCustomRead(name, definition, { listAccess: every.list, column })
      ])
    )
  }
}

/** The owner filter over the routes that the rest of the file makes. */
export function resolveFilter(
  { access: { ownerFilter } }: ReadsPart,
  of: Pick<Entity, 'customReads' | 'writes' | 'actions'>,
  { column, mistakes }: Pick<Names, 'column'> & { readonly mistakes: string[] }
): Entity['ownerFilter'] {
  if (ownerFilter === undefined) return undefined
  const routes = routeNames(of)
  const route = finder(
    routes.map((name) => ({ name })),
    { what: 'a route of the resource', standIn: (name) => ({ name }), mistakes }
  )
  return resolveOwnerFilter(ownerFilter, routes, { column, route: (name) => void route(name), mistakes })
}

/** Every route of a resource by name. */
export function routeNames({
  customReads,
  writes,
  actions
}: Pick<Entity, 'customReads' | 'writes' | 'actions'>): string[] {
  return [...READ_OPERATIONS, ...customReads.keys(), ...writes, ...actions.keys()]
}
