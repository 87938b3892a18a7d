import type { Column, Entity } from '../entity/entity.js'
import type { Value } from '../entity/value.js'
import type { Path } from '../plan/condition.js'
import type { Projection } from '../plan/read-plan.js'
import { pathKey } from './conditions.js'
import { idColumn, type SelectedColumn } from './statements.js'

/** What a statement selects: the projection's columns, then those that are needed besides. */
export interface Selection {
  readonly selected: readonly SelectedColumn[]
  readonly selectedKey: string
  /** Columns of the projection, which come first. */
  readonly shown: number
}

/** The projection, with the id and `more` added where they are not in it. */
export function selectionOf(entity: Entity, projection: Projection, more: readonly Path[]): Selection {
  const shown = projection.selected.map((one): SelectedColumn => {
    if (one.kind === 'rowVersion') return 'rowVersion'
    return { through: one.kind === 'joined' ? one.joined.through : null, column: one.column }
  })
  const present = new Set(shown.map(keyOf))
  const added: Path[] = []
  for (const path of [own(idColumn(entity)), ...more]) {
    if (present.has(pathKey(path))) continue
    present.add(pathKey(path))
    added.push(path)
  }
  return {
    selected: [...shown, ...added],
    selectedKey: [projection.key, ...added.map(pathKey)].join('+'),
    shown: shown.length
  }
}

/** A column of the row itself. */
export function own(column: Column): Path {
  return { through: null, column }
}

/** Reads one column of the selection's rows. */
export function valueAt({ selected }: Selection, path: Path): (row: readonly Value[]) => Value {
  const key = pathKey(path)
  const index = selected.findIndex((column) => keyOf(column) === key)
  if (index < 0) throw new TypeError(`${key} is not selected`)
  return (row) => row[index] ?? null
}

function keyOf(column: SelectedColumn): string {
  return column === 'rowVersion' ? column : pathKey(column)
}
