import type { Catalogue, Resource } from './catalogue.js'
import type { ParsedShape } from './parse-shape.js'
import type { PlannedChildren, PlannedReference, Projection } from './read-plan.js'
import type { RowScope } from './scope.js'

export interface PlannedShape {
  readonly projection: Projection
  readonly references: readonly PlannedReference[]
  readonly children: readonly PlannedChildren[]
}

/**
 * For a shape without faults. `referenceScope` says which rows of a referenced resource the caller may see; null for
 * none.
 */
export function planShape(
  { flags, named }: ParsedShape,
  on: {
    readonly resource: Resource
    readonly catalogue: Catalogue
    readonly referenceScope: (target: Resource) => RowScope | null
  }
): PlannedShape {
  const { projections } = on.resource
  const projection = named === undefined ? projections.whole(flags) : projections.of(named)
  return {
    projection,
    references: projection.shown.flatMap((property) => {
      if (property.kind !== 'reference') return []
      const { reference } = property
      const target = on.catalogue.resource(reference.to)
      const scope = on.referenceScope(target)
      return [{ reference, target: target.entity, projection: target.projections.referenced, scope }]
    }),
    children: projection.shown.flatMap((property) =>
      property.kind === 'children' ? [{ children: property.children }] : []
    )
  }
}
