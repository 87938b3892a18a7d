import type { Column, Entity } from '../entity/entity.js'
import type { Projection, Selected, ShapedProperty } from './plans.js'

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

/** Field sets remembered per entity (source.md, limits): beyond it all columns are selected and the body is trimmed. */
const MAX_FIELD_SETS = 512

/** The projections of one entity. */
export interface Projections {
  /** A row as another resource's reference shows it: no navigations of its own. */
  readonly referenced: Projection
  /** Everything there is, navigations by flag. */
  whole(flags: { readonly references: boolean; readonly children: boolean }): Projection
  /** What an export shows: no byte arrays, no navigations. */
  readonly cells: Projection
  /** Just these properties in this order. */
  of(shown: readonly ShapedProperty[]): Projection
}

interface FieldSet {
  readonly key: string
  readonly selected: readonly Selected[]
  /** The order this set was last asked in. */
  latest: Projection
}

export function makeProjections(of: {
  readonly entity: Entity
  readonly id: Column
  readonly shaped: readonly ShapedProperty[]
}): Projections {
  const { entity, id, shaped } = of
  const everything = [...shaped.flatMap(selectable), ...entity.references.map(keyOf)]
  const all = selection(everything, new Set(everything.map(selectedName)))
  const whole = (wanted: (property: ShapedProperty) => boolean): Projection => ({
    ...all,
    shown: shaped.filter(wanted)
  })
  const plain = whole(({ kind }) => kind !== 'reference' && kind !== 'children')
  const withReferences = whole(({ kind }) => kind !== 'children')
  const withChildren = whole(({ kind }) => kind !== 'reference')
  const withBoth = whole(() => true)
  const cells = cellProjection(everything, { id, shown: plain.shown.filter(({ kind }) => kind !== 'rowVersion') })
  const fieldSets = new Map<string, FieldSet>()

  return {
    referenced: plain,
    cells,
    whole: ({ references, children }) =>
      references ? (children ? withBoth : withReferences) : children ? withChildren : plain,
    of: (shown) => {
      const names = shown.map(propertyName)
      const setKey = names.toSorted().join()
      const known = fieldSets.get(setKey)
      if (known !== undefined) {
        if (!sameOrder(known.latest.shown, shown)) {
          known.latest = { key: known.key, selected: known.selected, shown }
        }
        return known.latest
      }
      if (fieldSets.size >= MAX_FIELD_SETS) return { ...all, shown }
      const needed = new Set([id.name, ...shown.flatMap((one) => sourcesOf(one).map(selectedName))])
      const latest = { ...selection(everything, needed), shown }
      fieldSets.set(setKey, { key: latest.key, selected: latest.selected, latest })
      return latest
    }
  }
}

function cellProjection(
  everything: readonly Selected[],
  of: { readonly id: Column; readonly shown: readonly ShapedProperty[] }
): Projection {
  const names = of.shown.flatMap((one) =>
    one.kind === 'computed' ? one.computed.from.map((column) => column.name) : selectable(one).map(selectedName)
  )
  return { ...selection(everything, new Set([of.id.name, ...names])), shown: of.shown }
}

/** In the entity's own order whatever the order asked, so that one field set is one query text. */
function selection(everything: readonly Selected[], needed: ReadonlySet<string>): Omit<Projection, 'shown'> {
  const byName = new Map(
    everything.filter((one) => needed.has(selectedName(one))).map((one) => [selectedName(one), one])
  )
  return { key: [...byName.keys()].join(), selected: [...byName.values()] }
}

function sourcesOf(property: ShapedProperty): readonly Selected[] {
  return property.kind === 'reference' ? [keyOf(property.reference)] : selectable(property)
}

function selectable(property: ShapedProperty): readonly Selected[] {
  return property.kind === 'column' || property.kind === 'joined' || property.kind === 'rowVersion' ? [property] : []
}

/** The foreign key that a reference is loaded by. */
function keyOf(reference: { readonly via: Column }): Selected {
  return { kind: 'column', column: reference.via }
}

export function selectedName(selected: Selected): string {
  return selected.kind === 'column'
    ? selected.column.name
    : selected.kind === 'joined'
      ? selected.joined.name
      : 'rowVersion'
}

function sameOrder(a: readonly ShapedProperty[], b: readonly ShapedProperty[]): boolean {
  return a.length === b.length && a.every((property, index) => property === b[index])
}
