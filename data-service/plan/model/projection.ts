import { LRUCache } from 'lru-cache'
import type { Column, Reference } from '../../entity/entity.js'
import { widthOf } from '../../entity/types/types.js'
import type { Projection, Selected, ShapedProperty } from './plans.js'

/** The DTO name of a property. */
export function propertyName(property: ShapedProperty): string {
  switch (property.kind) {
    case 'id':
      return 'id'
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
    case 'manyToMany':
      return property.navigation.name
    case 'children':
      return property.children.name
  }
}

/**
 * Field sets that are remembered for each entity, by all its views together (source.md, limits). A field set beyond them
 * selects all columns but the large ones that it does not name, and only what is shown is cut to it: so clients cannot make
 * any number of query texts, and whoever came first makes no read of small columns a large one.
 */
const MAX_FIELD_SETS = 512

/** Columns of an entity that may be left out beyond them. Each doubles the number of query texts. */
const MAX_LEFT_OUT = 6

/** Bytes of a value beyond which its column is large. */
const LARGE_COLUMN = 1024

/** Sets of navigations that are remembered for each view of an entity: all that one with six of them has. */
const MAX_INCLUDE_SETS = 64

/** Which kinds of navigations a request asks for. */
export interface IncludeFlags {
  readonly references: boolean
  readonly children: boolean
}

/** The projections of one view of an entity. */
export interface Projections {
  /** A row as the reference of another resource shows it: no navigations of its own. */
  readonly referenced: Projection
  /** All properties; navigations by flag, or by name. */
  whole(flags: IncludeFlags, named?: Pick<ReadonlySet<string>, 'has' | 'size'>): Projection
  /** The cells of an export: no byte arrays, no navigations. */
  readonly cells: Projection
  /** These properties only, in this order. */
  of(shown: readonly ShapedProperty[]): Projection
}

/** The field sets of an entity that are remembered, by the names of their properties in order. */
export type FieldSets = Map<string, FieldSet>

interface FieldSet {
  readonly key: string
  readonly selected: readonly Selected[]
  /** The projection of the latest request for the set. Another order of the same fields replaces it. */
  latest: Projection
}

export function makeProjections(of: {
  readonly key: readonly Column[]
  readonly shaped: readonly ShapedProperty[]
  /** Shared by the views of an entity: what a view selects for a property is what every other one selects for it. */
  readonly fieldSets: FieldSets
}): Projections {
  const { key, shaped, fieldSets } = of
  const references = shaped.flatMap((one) => (one.kind === 'reference' ? [one.reference] : []))
  const everything = [...shaped.flatMap(selectable), ...references.flatMap(foreignKeyColumns)]
  const all = selection(everything, new Set(everything.map(selectedName)))
  const whole = (wanted: (property: ShapedProperty) => boolean): Projection => ({
    ...all,
    shown: shaped.filter(wanted)
  })
  const isCollection = ({ kind }: ShapedProperty): boolean => kind === 'children' || kind === 'manyToMany'
  const plain = whole((property) => property.kind !== 'reference' && !isCollection(property))
  const withReferences = whole((property) => !isCollection(property))
  const withChildren = whole(({ kind }) => kind !== 'reference')
  const withBoth = whole(() => true)
  const byFlag = ({ references: withFKs, children }: IncludeFlags): Projection =>
    withFKs ? (children ? withBoth : withReferences) : children ? withChildren : plain
  const includeSets = new LRUCache<string, Projection>({ max: MAX_INCLUDE_SETS })
  const cells = cellProjection(everything, { key, shown: plain.shown.filter((property) => !isBytes(property)) })

  return {
    referenced: plain,
    cells,
    whole: (flags, named) => {
      const flagged = byFlag(flags)
      if (named === undefined || named.size === 0) return flagged
      const shown = shaped.filter((one) => flagged.shown.includes(one) || named.has(propertyName(one)))
      const setKey = shown.flatMap((one) => (plain.shown.includes(one) ? [] : [propertyName(one)])).join()
      const known = includeSets.get(setKey) ?? { ...all, shown }
      includeSets.set(setKey, known)
      return known
    },
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
      const needed = new Set([
        ...key.map(({ name }) => name),
        ...shown.flatMap((one) => columnsToSelect(one).map(selectedName))
      ])
      if (fieldSets.size >= MAX_FIELD_SETS) {
        const leftOut = new Set(everything.filter(isLarge).slice(0, MAX_LEFT_OUT).map(selectedName))
        const kept = everything.map(selectedName).filter((name) => needed.has(name) || !leftOut.has(name))
        return { ...selection(everything, new Set(kept)), shown }
      }
      const latest = { ...selection(everything, needed), shown }
      fieldSets.set(setKey, { key: latest.key, selected: latest.selected, latest })
      return latest
    }
  }
}

/** These columns, hidden ones too, for the code of an application. */
export function columnsProjection(columns: readonly Column[]): Projection {
  const selected = columns.map((column) => ({ kind: 'column', column }) as const)
  return { key: selected.map(selectedName).join(), selected, shown: selected }
}

/** Whether a value may have more than a few bytes. */
export function isLarge(one: Selected | Column): boolean {
  if ('field' in one) return widthOf(one.field) > LARGE_COLUMN
  return one.kind !== 'rowVersion' && widthOf(one.column.field) > LARGE_COLUMN
}

/** Whether the values of a property are bytes, which an export leaves out. */
export function isBytes(property: ShapedProperty): boolean {
  switch (property.kind) {
    case 'column':
      return property.column.field.type === 'binary'
    case 'joined':
      return property.joined.field.type === 'binary'
    case 'computed':
      return property.computed.type === 'binary'
    case 'rowVersion':
      return true
    case 'id':
    case 'reference':
    case 'manyToMany':
    case 'children':
      return false
  }
}

function cellProjection(
  everything: readonly Selected[],
  of: { readonly key: readonly Column[]; readonly shown: readonly ShapedProperty[] }
): Projection {
  const names = of.shown.flatMap((one) =>
    one.kind === 'computed' ? one.computed.from.map((column) => column.name) : selectable(one).map(selectedName)
  )
  return { ...selection(everything, new Set([...of.key.map(({ name }) => name), ...names])), shown: of.shown }
}

/** In the order of the entity and not of the request, so that one field set has one query text. */
function selection(everything: readonly Selected[], needed: ReadonlySet<string>): Omit<Projection, 'shown'> {
  const byName = new Map(
    everything.filter((one) => needed.has(selectedName(one))).map((one) => [selectedName(one), one])
  )
  return { key: [...byName.keys()].join(), selected: [...byName.values()] }
}

function columnsToSelect(property: ShapedProperty): readonly Selected[] {
  if (property.kind === 'reference') return foreignKeyColumns(property.reference)
  return selectable(property)
}

function selectable(property: ShapedProperty): readonly Selected[] {
  return property.kind === 'column' || property.kind === 'joined' || property.kind === 'rowVersion' ? [property] : []
}

/** The foreign key by which a reference is loaded. */
function foreignKeyColumns({ via }: Reference): Selected[] {
  return via.map((column) => ({ kind: 'column', column }))
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
