import type { Value } from '../entity/value.js'
import { selectedName } from '../plan/projection.js'
import type { Projection, ShapedProperty } from '../plan/read-plan.js'
import { valueEncoder, type ValueEncoder } from './value-encoder.js'

/** Properties that are one value of the row: all but the navigations. */
export type ValueProperty = Exclude<ShapedProperty, { kind: 'reference' | 'children' }>

export interface ValueReader {
  /** Gets the loaded values, in the order of `selected`. */
  readonly read: (values: readonly Value[]) => Value
  readonly encode: ValueEncoder
}

/** How to get at a shown value of a loaded row, and how to write it. */
export function valueReader(property: ValueProperty, projection: Projection): ValueReader {
  const place = (name: string): number => {
    const index = projection.selected.findIndex((one) => selectedName(one) === name)
    if (index === -1) throw new TypeError(`${name} is shown but not selected`)
    return index
  }
  switch (property.kind) {
    case 'column':
      return { read: at(place(property.column.name)), encode: valueEncoder(property.column.field.type) }
    case 'joined':
      return { read: at(place(property.joined.name)), encode: valueEncoder(property.column.field.type) }
    case 'rowVersion':
      return { read: at(place('rowVersion')), encode: valueEncoder('bytes') }
    case 'computed': {
      const { from, value, type } = property.computed
      const sources = from.map((column) => at(place(column.name)))
      return { read: (values) => value(sources.map((read) => read(values))), encode: valueEncoder(type) }
    }
  }
}

function at(index: number): (values: readonly Value[]) => Value {
  return (values) => values[index] ?? null
}
