import { DomainError } from '../../shared/errors.js'
import type { Column, Entity, Joined } from '../entity/entity.js'
import type { Field, FieldType } from '../entity/field.js'
import type { OperatorOf } from '../entity/operators.js'
import type { Path, ShapedProperty } from './plans.js'
import { makeProjections, type Projections, propertyName } from './projection.js'

interface Filterable {
  readonly name: string
  readonly path: Path
  readonly field: Field
  readonly operators: readonly OperatorOf<FieldType>[]
}

/**
 * What a request can name. The properties are in the order in which a row is served: columns, computed, joined, row
 * version, references, children.
 */
function propertiesOf(
  entity: Entity,
  joinedColumn: (joined: Joined) => Column
): {
  readonly shaped: readonly ShapedProperty[]
  readonly filterable: ReadonlyMap<string, Filterable>
  readonly sortable: ReadonlyMap<string, Path>
} {
  const columns = entity.columns.filter((column) => !column.field.hidden)
  const named: { readonly name: string; readonly path: Path; readonly field: Field }[] = [
    ...columns.map((column) => ({ name: column.name, path: { through: null, column }, field: column.field })),
    ...entity.joined.map((joined) => ({
      name: joined.name,
      path: { through: joined.through, column: joinedColumn(joined) },
      field: joined.field
    }))
  ]
  return {
    shaped: [
      ...columns.map((column) => ({ kind: 'column', column }) as const),
      ...entity.computed.map((computed) => ({ kind: 'computed', computed }) as const),
      ...entity.joined.map((joined) => ({ kind: 'joined', joined, column: joinedColumn(joined) }) as const),
      { kind: 'rowVersion' },
      ...entity.references.map((reference) => ({ kind: 'reference', reference }) as const),
      ...entity.children.map((children) => ({ kind: 'children', children }) as const)
    ],
    filterable: new Map(
      named.flatMap((one) => {
        const operators = entity.filterable.get(one.name)
        return operators === undefined ? [] : [[one.name.toLowerCase(), { ...one, operators }]]
      })
    ),
    sortable: new Map(
      named.filter(({ name }) => entity.sortable.has(name)).map(({ name, path }) => [name.toLowerCase(), path])
    )
  }
}

/** A resource as requests see it. The keys of the maps are names in lower case; hidden columns are in none of them. */
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

/** Expects entities that passed checkCatalogue (entity/validate.ts). */
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
