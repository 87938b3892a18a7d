import type { Column, Entity, Joined } from '../entity/entity.js'
import { DomainError } from '../../shared/domain-error.js'
import { makeProjections, type Projections } from './projection.js'
import { propertiesOf, type Filterable } from './properties.js'
import { propertyName } from './property-name.js'
import type { Path } from './condition.js'
import type { ShapedProperty } from './read-plan.js'

/** A resource as requests see it: its names in lower case, hidden columns nowhere among them. */
export interface Resource {
  readonly entity: Entity
  readonly id: Column
  readonly properties: ReadonlyMap<string, ShapedProperty>
  readonly filterable: ReadonlyMap<string, Filterable>
  readonly sortable: ReadonlyMap<string, Path>
  readonly projections: Projections
}

export interface Catalogue {
  readonly resources: readonly Resource[]
  /** Throws `route.not-found` for a name that no resource has. */
  resource(name: string): Resource
}

/** Expects entities that checkCatalogue has passed. */
export function makeCatalogue(entities: readonly Entity[]): Catalogue {
  const byName = new Map(entities.map((entity) => [entity.name, entity]))
  const joinedColumn = ({ through, property }: Joined): Column => {
    const column = byName.get(through.to)?.columns.find((one) => one.name === property)
    if (column === undefined) throw new TypeError(`${through.to} has no ${property}`)
    return column
  }
  const resources = new Map(entities.map((entity) => [entity.name, makeResource(entity, joinedColumn)]))
  return {
    resources: [...resources.values()],
    resource: (name) => {
      const found = resources.get(name)
      if (found === undefined) throw new DomainError('route.not-found', 'There is no such resource.')
      return found
    }
  }
}

function makeResource(entity: Entity, joinedColumn: (joined: Joined) => Column): Resource {
  const [id] = entity.columns
  if (id === undefined) throw new TypeError(`${entity.name} has no id`)
  const { shaped, filterable, sortable } = propertiesOf(entity, joinedColumn)
  return {
    entity,
    id,
    properties: new Map(shaped.map((property) => [propertyName(property).toLowerCase(), property])),
    filterable,
    sortable,
    projections: makeProjections({ entity, id, shaped })
  }
}
