import type { Action } from '../../entity/action.js'
import type { Children, Column, Computed, Entity } from '../../entity/entity.js'
import type { FieldType } from '../../entity/fields/field.js'
import { text } from '../../entity/fields/words.js'
import { compositeId } from '../../entity/key.js'
import type { ShapedProperty } from '../../plan/model/plans.js'
import type { StoredValue as Example } from '../../entity/types/type-rules.js'
import { exampleOf, statedExample, valueEncoder } from '../../entity/types/types.js'

// Examples in the catalogue, as JSON text. They fit together: a foreign key has the example of the key that it refers to, and
// a computed property is computed from those of its columns.

/** The example of a value that stands by itself, such as a parameter; empty where there is none. */
export function exampleText(column: Pick<Column, 'name' | 'field'>): string {
  return encoded(column.field.type, exampleOf(column))
}

/** Finds the examples of one catalogue. Each function answers an empty text where there is none. */
export class Examples {
  readonly #entities: ReadonlyMap<string, Entity>

  constructor(entities: readonly Entity[]) {
    this.#entities = new Map(entities.map((entity) => [entity.name, entity]))
  }

  /** Of a property of a row; empty for a navigation. */
  ofProperty(property: ShapedProperty, entity: Entity): string {
    switch (property.kind) {
      case 'id':
        return encoded('string', this.#idOf(property.key, entity))
      case 'column':
        return encoded(property.column.field.type, this.#ofColumn(property.column, entity))
      case 'computed':
        return encoded(property.computed.type, this.#ofComputed(property.computed, entity))
      case 'joined': {
        const { column, through, joined } = property
        const target = this.#entities.get(through.to)
        const value =
          joined.field.example ?? (target === undefined ? exampleOf(column) : this.#ofColumn(column, target))
        return encoded(column.field.type, value)
      }
      case 'rowVersion':
        return ROW_VERSION
      case 'reference':
      case 'manyToMany':
      case 'children':
        return ''
    }
  }

  /** Of a column that no answer shows: what its name or its type says, and nothing of a row. */
  ofWriteOnly(column: Column): string {
    return encoded(column.field.type, exampleOf(column))
  }

  /** Of a column of children. What holds the key of the root, where they are its own, has the example of that key. */
  ofChild(column: Column, children: Children, root: Entity | undefined): string {
    const at = children.foreignKey.findIndex((one) => one.column === column.column)
    const rootColumn = root?.key[at]
    if (root !== undefined && rootColumn !== undefined) {
      return encoded(column.field.type, this.#ofColumn(rootColumn, root))
    }
    const entity = children.resource === undefined ? undefined : this.#entities.get(children.resource)
    return encoded(column.field.type, entity === undefined ? exampleOf(column) : this.#ofColumn(column, entity))
  }

  /** Of the `id` of children with a composite key. */
  ofChildId(children: Children): string {
    return encoded('string', this.#idOf(children.key, undefined))
  }

  /**
   * Of a member of an action's body. One that is called as a property of the row, or of a child, has the example of that,
   * unless somebody may not see the property: whoever reads the action's body may read its example.
   */
  ofInput(column: Column, action: Action, entity: Entity): string {
    const { name, field } = column
    const isLike = (other: Column): boolean =>
      other.name === name && other.field.type === field.type && !other.field.hidden && !other.field.readableBy
    const stated = statedExample(field)
    const own = entity.columns.find(isLike)
    const child = action.guardedChild?.children.columns.find(isLike)
    const value =
      stated ?? (own === undefined ? child && exampleOf(child) : this.#ofColumn(own, entity)) ?? exampleOf(column)
    return encoded(field.type, value)
  }

  /** The same for the items of a custom read, which are columns of the row. */
  ofItem(column: Column, entity: Entity): string {
    return encoded(column.field.type, this.#ofColumn(column, entity))
  }

  #ofColumn(column: Column, entity: Entity, isReferred = false): Example | undefined {
    const stated = statedExample(column.field)
    if (stated !== undefined) return stated
    // One step is enough, and a key that refers to itself has an end.
    return (
      (isReferred ? undefined : this.#ofReferred(column, entity)) ?? firstState(column, entity) ?? exampleOf(column)
    )
  }

  /** What the column refers to has a key with an example. */
  #ofReferred(column: Column, entity: Entity): Example | undefined {
    for (const { to, via } of entity.references) {
      const at = via.findIndex((one) => one.name === column.name)
      const target = this.#entities.get(to)
      const key = target?.key[at]
      if (target !== undefined && key !== undefined) return this.#ofColumn(key, target, true)
    }
    return undefined
  }

  #ofComputed({ name, type, from, value }: Computed, entity: Entity): Example | undefined {
    const sources = from.map((column) => this.#ofColumn(column, entity))
    const made = (): Example | undefined => exampleOf({ name, field: { ...text(200), type } })
    if (sources.includes(undefined)) return made()
    try {
      return value(sources.map((source) => source ?? null)) ?? made()
    } catch {
      // It is a function of the application, and these are no values of its rows.
      return made()
    }
  }

  #idOf(key: readonly Column[], entity: Entity | undefined): string {
    const parts = key.map((column) => (entity === undefined ? exampleOf(column) : this.#ofColumn(column, entity)))
    return compositeId(...parts.flatMap((part) => (part === undefined || typeof part === 'object' ? [] : [part])))
  }
}

/** Eight bytes, as row versions have. */
export const ROW_VERSION = '"AQIDBAUGBwg="'

/** A state of the row that a write needs, where the column holds one: `pending` rather than `Status`. */
function firstState({ name, field }: Column, { actions, deletion }: Entity): Example | undefined {
  if (field.type !== 'string') return undefined
  const required = [...actions.values()].flatMap((action) => action.required)
  return [...required, ...deletion.required].find(({ column }) => column.name === name)?.anyOf[0]
}

function encoded(type: FieldType, value: Example | undefined): string {
  return value === undefined ? '' : valueEncoder(type)(value)
}
