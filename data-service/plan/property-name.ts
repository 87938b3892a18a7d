import type { ShapedProperty } from './read-plan.js'

/** The DTO name of a property. */
export function propertyName(property: ShapedProperty): string {
  switch (property.kind) {
    case 'column':
      return property.column.name
    case 'computed':
      return property.computed.name
    case 'joined':
      return property.joined.name
    case 'rowVersion':
      return 'rowVersion'
    case 'reference':
      return property.reference.name
    case 'children':
      return property.children.name
  }
}
