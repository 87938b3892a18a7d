import type { Column, Entity, Joined } from '../entity/entity.js'
import type { Field, FieldType } from '../entity/field.js'
import type { OperatorOf } from '../entity/operator.js'
import type { Path } from './condition.js'
import type { ShapedProperty } from './read-plan.js'

export interface Filterable {
  readonly name: string
  readonly path: Path
  readonly field: Field
  readonly operators: readonly OperatorOf<FieldType>[]
}

/**
 * What a request can name. The shaped properties stand in the order a row is served: columns, computed, joined, row
 * version, references, children.
 */
export function propertiesOf(
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
