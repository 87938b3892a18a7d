import type { GetPlan, ListPlan, LookupPlan, PagePlan } from '../plan/read-plan.js'
import type { ListResult, LoadedRow, LookupResult, PageResult } from '../plan/read-store.js'
import { boundValues, type RowCondition } from './conditions.js'
import { type Cut, LoadedPage, type RowsPlan } from './loaded-page.js'
import { scopeConditions } from './navigations.js'
import type { ReadSession } from './reader.js'
import { own } from './selection.js'
import { idColumn } from './statements.js'
import type { Store } from './store.js'

interface Page {
  readonly page: LoadedPage
  /** Whether a row came beyond the page's limit. */
  readonly more: boolean
  readonly total: number | undefined
}

type Total = (session: ReadSession, page: LoadedPage) => Promise<number | undefined>

/** Reads that answer at once: rows first, then what they refer to, in a number of statements that the plan fixes. */
export class PageReads {
  readonly #primary: Store
  readonly #second: Store

  constructor(primary: Store, second: Store) {
    this.#primary = primary
    this.#second = second
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
    // A row may be called by its id.
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

  /** Children of the second store: asked of it once the primary's connection is free again. */
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
