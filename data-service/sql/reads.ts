import type { Entity, StoreName } from '../entity/entity.js'
import type { Value } from '../entity/field.js'
import type {
  ExportPlan,
  GetPlan,
  ListPlan,
  LookupPlan,
  PagePlan,
  PlannedChildren,
  PlannedReference,
  Projection,
  SortKey
} from '../plan/plans.js'
import type { ExportBatch, ListResult, LoadedRow, LookupResult, PageResult, ReadStore } from '../plan/stores.js'
import { boundValues, type RowCondition } from './conditions.js'
import type { Database, Reader, ReadSession } from './engines/engine.js'
import { exportRows } from './exports.js'
import {
  loadChildren,
  loadReferenced,
  own,
  scopeConditions,
  type Selection,
  selectionOf,
  type Source,
  valueAt
} from './navigations.js'
import { idColumn, RowModels, Statements } from './statements.js'

interface Databases {
  readonly primary: Database
  /** Used only by requests for children that live there. */
  readonly second: Database
}

/** One of the service's two databases. */
interface Store extends Source {
  readonly reader: Reader
}

const NAMES: Record<StoreName, string> = { primary: 'The database', second: 'The second database' }

/**
 * Reads from the two databases of the service. It sends nothing before the first read. Rows are read first, then what
 * they refer to; the plan determines the number of statements.
 */
export class SqlReadStore implements ReadStore {
  readonly #databases: Databases
  readonly #primary: Store
  readonly #second: Store

  constructor(databases: Databases, entities: readonly Entity[]) {
    const storeOf = (name: StoreName): Store => {
      const database = databases[name]
      const { sequelize, dialect } = database
      const statements = new Statements(new RowModels(sequelize, entities, name), dialect)
      return { statements, dialect, reader: database.openReader(NAMES[name]) }
    }
    this.#databases = databases
    this.#primary = storeOf('primary')
    this.#second = storeOf('second')
  }

  async list(plan: ListPlan, signal: AbortSignal): Promise<ListResult> {
    const sort = [{ path: own(idColumn(plan.entity)), descending: false }]
    const cut = { conditions: scopeConditions(plan.scope), sort, limit: plan.limit }
    const { page, more } = await this.#load({ plan, cut }, signal)
    return { rows: page.rows(), truncated: more }
  }

  async page(plan: PagePlan, signal: AbortSignal): Promise<PageResult> {
    const { sort, limit, offset, withTotal } = plan
    const conditions = [...plan.conditions, ...scopeConditions(plan.scope)]
    const total: Total = async (session, found) => {
      if (!withTotal) return undefined
      const ended = found.length <= limit && (found.length > 0 || offset === 0)
      return ended ? offset + found.length : await this.#count(session, plan, conditions)
    }
    const loaded = await this.#load({ plan, cut: { conditions, sort, limit, offset }, total }, signal)
    return { rows: loaded.page.rows(), total: loaded.total, hasNext: loaded.more }
  }

  async get(plan: GetPlan, signal: AbortSignal): Promise<LoadedRow | undefined> {
    const byId = { path: own(idColumn(plan.entity)), comparison: 'equals', operands: [plan.id] } as const
    const cut = { conditions: [byId, ...scopeConditions(plan.scope)], sort: [] }
    const { page } = await this.#load({ plan, cut }, signal)
    return page.rows()[0]
  }

  async lookup(plan: LookupPlan, signal: AbortSignal): Promise<LookupResult> {
    const { statements, dialect, reader } = this.#primary
    const { entity, limit } = plan
    const id = own(idColumn(entity))
    // If the label of an entity is its id, the id is selected once.
    const named = entity.label === id.column ? [id] : [own(entity.label), id]
    const conditions = [...plan.conditions, ...scopeConditions(plan.scope)]
    const statement = statements.rows({
      entity,
      selected: named,
      selectedKey: 'lookup',
      conditions,
      sort: named.map((path) => ({ path, descending: false })),
      cut: 'limit'
    })
    const rows = await reader.read(signal, (session) =>
      session.run(statement, { ...boundValues(conditions, dialect), limit: BigInt(limit + 1) })
    )
    const items = rows.slice(0, limit).map((row) => ({ id: row.at(-1) ?? null, name: row[0] ?? null }))
    return { items, truncated: rows.length > limit }
  }

  export(plan: ExportPlan, signal: AbortSignal): AsyncIterable<ExportBatch> {
    return exportRows(plan, this.#primary, () => this.#primary.reader.snapshot(signal))
  }

  /** Waits for running reads, then closes both databases. */
  async close(): Promise<void> {
    await Promise.all([this.#primary.reader.close(), this.#second.reader.close()])
    await Promise.all([this.#databases.primary.sequelize.close(), this.#databases.second.sequelize.close()])
  }

  async #load(of: { plan: RowsPlan; cut: Cut; total?: Total }, signal: AbortSignal): Promise<Page> {
    const { plan, cut, total } = of
    const { limit } = cut
    const [here, elsewhere] = ['primary', 'second'].map((store) =>
      plan.children.filter(({ children }) => children.store === store)
    )
    const loaded = await this.#primary.reader.read(signal, async (session): Promise<Page> => {
      const asked = limit === undefined ? cut : { ...cut, limit: limit + 1 }
      const found = await LoadedPage.load(session, this.#primary, { plan, cut: asked })
      const page = limit === undefined ? found : found.first(limit)
      await page.loadReferences(session, this.#primary)
      await page.loadChildren(session, this.#primary, here ?? [])
      return { page, more: page.length < found.length, total: await total?.(session, found) }
    })
    await this.#loadElsewhere(loaded.page, elsewhere ?? [], signal)
    return loaded
  }

  /** Loads children from the second database after the connection to the primary one was released. */
  async #loadElsewhere(page: LoadedPage, which: RowsPlan['children'], signal: AbortSignal): Promise<void> {
    if (which.length === 0 || page.length === 0) return
    await this.#second.reader.read(signal, (session) => page.loadChildren(session, this.#second, which))
  }

  async #count(session: ReadSession, { entity }: PagePlan, conditions: readonly RowCondition[]): Promise<number> {
    const { statements, dialect } = this.#primary
    const [row] = await session.run(statements.count(entity, conditions), boundValues(conditions, dialect))
    return Number(row?.[0])
  }
}

interface Page {
  readonly page: LoadedPage
  /** Whether there are rows beyond the page's limit. */
  readonly more: boolean
  readonly total: number | undefined
}

type Total = (session: ReadSession, page: LoadedPage) => Promise<number | undefined>

/** The common part of the plans of list, page and get. */
interface RowsPlan {
  readonly entity: Entity
  readonly projection: Projection
  readonly references: readonly PlannedReference[]
  readonly children: readonly PlannedChildren[]
}

interface Cut {
  readonly conditions: readonly RowCondition[]
  readonly sort: readonly SortKey[]
  readonly limit?: number
  readonly offset?: number
}

type Row = readonly Value[]
/** Finds the navigation's rows of a row. */
type Finder<Found> = (row: Row) => Found

/** The rows of a page. Their navigations are loaded one after another. */
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

  /** A page of the first rows, without loaded navigations. */
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
