import type { Entity } from '../entity/entity.js'
import type { Value } from '../entity/value.js'
import type { SortKey } from '../plan/condition.js'
import type { PlannedChildren, PlannedReference, Projection } from '../plan/read-plan.js'
import type { LoadedRow } from '../plan/read-store.js'
import { boundValues, type RowCondition } from './conditions.js'
import { loadChildren, loadReferenced, type Source } from './navigations.js'
import type { ReadSession } from './reader.js'
import { own, selectionOf, type Selection, valueAt } from './selection.js'
import { idColumn } from './statements.js'

/** What list, page and get have in common. */
export interface RowsPlan {
  readonly entity: Entity
  readonly projection: Projection
  readonly references: readonly PlannedReference[]
  readonly children: readonly PlannedChildren[]
}

export interface Cut {
  readonly conditions: readonly RowCondition[]
  readonly sort: readonly SortKey[]
  readonly limit?: number
  readonly offset?: number
}

type Row = readonly Value[]
/** Finds what belongs to a row by one of its values. */
type Finder<Found> = (row: Row) => Found

/** Rows of a page, and one after the other what they refer to. */
export class LoadedPage {
  readonly #plan: RowsPlan
  readonly #selection: Selection
  readonly #rows: readonly Row[]
  readonly #references = new Map<string, Finder<LoadedRow | null>>()
  readonly #children = new Map<string, Finder<readonly Row[]>>()

  private constructor(plan: RowsPlan, selection: Selection, rows: readonly Row[]) {
    this.#plan = plan
    this.#selection = selection
    this.#rows = rows
  }

  static async load(session: ReadSession, source: Source, of: { plan: RowsPlan; cut: Cut }): Promise<LoadedPage> {
    const { plan, cut } = of
    const { conditions, sort, limit, offset } = cut
    const needed = plan.references.map(({ reference }) => own(reference.via))
    const selection = selectionOf(plan.entity, plan.projection, needed)
    const statement = source.statements.rows({
      entity: plan.entity,
      ...selection,
      conditions,
      sort,
      cut: limit === undefined ? 'whole' : offset === undefined ? 'limit' : 'limit and offset'
    })
    const rows = await session.run(statement, {
      ...boundValues(conditions, source.dialect),
      ...(limit === undefined ? {} : { limit: BigInt(limit) }),
      ...(offset === undefined ? {} : { offset: BigInt(offset) })
    })
    return new LoadedPage(plan, selection, rows)
  }

  get length(): number {
    return this.#rows.length
  }

  /** The first rows of it, without navigations yet. */
  first(count: number): LoadedPage {
    return new LoadedPage(this.#plan, this.#selection, this.#rows.slice(0, count))
  }

  async loadReferences(session: ReadSession, source: Source): Promise<void> {
    for (const planned of this.#plan.references) {
      const keyOf = valueAt(this.#selection, own(planned.reference.via))
      const found = await loadReferenced(session, source, { planned, keys: this.#rows.map(keyOf) })
      this.#references.set(planned.reference.name, (row) => {
        const values = found.get(String(keyOf(row)))
        return values === undefined ? null : { values, references: NONE, children: NONE }
      })
    }
  }

  async loadChildren(session: ReadSession, source: Source, which: readonly PlannedChildren[]): Promise<void> {
    const { entity } = this.#plan
    const keyOf = valueAt(this.#selection, own(idColumn(entity)))
    const keys = this.#rows.map(keyOf)
    for (const planned of which) {
      const found = await loadChildren(session, source, { owner: entity, planned, keys })
      this.#children.set(planned.children.name, (row) => found.get(String(keyOf(row))) ?? [])
    }
  }

  rows(): LoadedRow[] {
    return this.#rows.map((row) => ({
      values: row.slice(0, this.#selection.shown),
      references: foundFor(row, this.#references),
      children: foundFor(row, this.#children)
    }))
  }
}

const NONE: ReadonlyMap<string, never> = new Map<string, never>()

function foundFor<Found>(row: Row, finders: ReadonlyMap<string, Finder<Found>>): ReadonlyMap<string, Found> {
  if (finders.size === 0) return NONE
  return new Map([...finders].map(([name, find]) => [name, find(row)]))
}
