import { LRUCache } from 'lru-cache'
import { widthOf } from '../entity/types/types.js'
import {
  type PlannedNavigations,
  type Projection,
  rowsOfOthers,
  type RowsPlan,
  type Selected
} from '../plan/model/plans.js'
import { isLarge } from '../plan/model/projection.js'
import type { LoadedChild, LoadedRow } from '../plan/model/stores.js'

/** Bytes of a row that cost no more than the row itself does (fair-shares.ts). */
const SMALL_ROW = 1600

/** Bytes of a column whose rows are read a few at a time for a caller until one has shown how large they are. */
const VERY_LARGE_COLUMN = 256 * 1024

/** Sizes that are remembered, of all callers. */
const MAX_SIZES = 10_000

/** Milliseconds for which a size is remembered after the last row that was as large. Reads of small rows in between tell nothing. */
const REMEMBERED = 60_000

/**
 * Bytes that the rows of a caller's reads have had, with what is shown in them: rows with the same large columns and
 * navigations are about as large. Those of other callers say nothing: one of
 * them could make a read of any row look large.
 */
export class RowSizes {
  readonly #known: LRUCache<string, number>

  /** `now` is in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#known = new LRUCache({ max: MAX_SIZES, ttl: REMEMBERED, ttlResolution: 0, perf: { now } })
  }

  /** About as many bytes as a row will have; 0 where no large one is known. */
  expected(caller: string, read: RowsPlan): number {
    return this.#known.size === 0 ? 0 : (this.#known.get(keyOf(caller, read)) ?? 0)
  }

  /** Whether the rows may be very large, and it is not known how large they are. */
  areUnseen(caller: string, read: RowsPlan): boolean {
    return mayBeVeryLarge(read) && this.expected(caller, read) === 0
  }

  /** Rows of an answer. Returns about as many bytes as they have all together. */
  saw(caller: string, read: RowsPlan, rows: readonly LoadedRow[]): number {
    const bytes = rows.reduce((sum, row) => sum + bytesOfRow(row), 0)
    const average = bytes / rows.length
    if (average >= SMALL_ROW && average >= this.expected(caller, read)) this.#known.set(keyOf(caller, read), average)
    return bytes
  }
}

/** About as many bytes as a row takes with all that is shown in it. */
function bytesOfRow({ stored, references, manyToMany, children }: LoadedRow): number {
  let bytes = (stored?.bytes ?? 0) + bytesOfChildren(children)
  for (const row of references.values()) if (row !== null) bytes += bytesOfRow(row)
  for (const rows of manyToMany.values()) for (const row of rows) bytes += bytesOfRow(row)
  return bytes
}

function bytesOfChildren(collections: LoadedChild['children']): number {
  let bytes = 0
  for (const rows of collections.values()) {
    for (const { stored, children, references } of rows) {
      bytes += (stored?.bytes ?? 0) + bytesOfChildren(children)
      for (const row of references?.values() ?? []) if (row !== null) bytes += bytesOfRow(row)
    }
  }
  return bytes
}

function keyOf(caller: string, { entity, projection, ...navigations }: RowsPlan): string {
  // Of columns that are not large there are too many sets.
  const large = projection.selected.filter(isLarge).map(nameOf)
  return [caller, entity.name, ...large, '', ...namesOf(navigations)].join('\n')
}

/** Names of the navigations, each with those within it behind it. */
function namesOf({ references, manyToMany, children }: PlannedNavigations): string[] {
  const named = (name: string, within: PlannedNavigations | undefined): string[] =>
    within === undefined ? [name] : [name, ...namesOf(within).map((one) => `${name}.${one}`)]
  return [
    ...references.flatMap(({ reference, within }) => named(reference.name, within)),
    ...manyToMany.flatMap(({ navigation, within }) => named(navigation.name, within)),
    ...children.flatMap(({ children: { name }, followed = [] }) => [
      name,
      ...followed.map(({ reference }) => `${name}.${reference.name}`)
    ])
  ]
}

/** Whether a row has a column of more than `VERY_LARGE_COLUMN` bytes, or shows a row that has one. */
function mayBeVeryLarge(read: RowsPlan): boolean {
  return (
    isVeryWide(read.projection) ||
    rowsOfOthers(read).some(({ projection }) => isVeryWide(projection)) ||
    read.children.some(hasVeryWide)
  )
}

function hasVeryWide({ children, nested }: PlannedNavigations['children'][number]): boolean {
  return children.columns.some(({ field }) => widthOf(field) > VERY_LARGE_COLUMN) || nested.some(hasVeryWide)
}

/** Of a projection, which many reads share. */
const veryWide = new WeakMap<Projection, boolean>()

function isVeryWide(projection: Projection): boolean {
  const known = veryWide.get(projection)
  if (known !== undefined) return known
  const isWide = projection.selected.some(
    (one) => one.kind !== 'rowVersion' && widthOf(one.column.field) > VERY_LARGE_COLUMN
  )
  veryWide.set(projection, isWide)
  return isWide
}

function nameOf(one: Selected): string {
  return one.kind === 'rowVersion' ? one.kind : one.column.name
}
