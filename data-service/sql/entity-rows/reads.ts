import type { Cancellation } from '../../../shared/transport/cancellation.js'
import type { Entity, StoreName } from '../../entity/entity.js'
import type { Value } from '../../entity/fields/field.js'
import { idText, keyOfValues } from '../../entity/key.js'
import type {
  CallPlan,
  ExportPlan,
  GetByPlan,
  GetPlan,
  HistoryPlan,
  ListPlan,
  LookupPlan,
  PagePlan,
  StatementPlan,
  TotalsPlan
} from '../../plan/model/plans.js'
import type {
  BatchWriter,
  ExportBatch,
  HistoryEntry,
  ListResult,
  LoadedRow,
  LookupResult,
  PageResult,
  ReadStore,
  TotalsResult
} from '../../plan/model/stores.js'
import { keyOrder, totalOrder } from '../../plan/model/catalogue.js'
import {
  boundValues,
  byFullText,
  conditionsText,
  inScope,
  inScopesOf,
  type ScopedConditions
} from './statements/conditions.js'
import { partOf } from '../engines/statement.js'
import { AnswerBytes, AnswerTooLarge, type Memory } from '../engines/answer-bytes.js'
import type { Database } from '../engines/engine.js'
import type { Reader, ReadSession } from '../engines/sessions.js'
import type { OwnTables } from '../engines/own-tables.js'
import { RowHistories } from '../own-rows/audit-entries.js'
import { exportRows } from './exports.js'
import { GatheredReads, type SamePlans } from './gathered-reads.js'
import { exactOrder } from './statements/keyset.js'
import { LoadedPage, readPage } from './loaded-page.js'
import { own, type Source } from './navigations.js'
import { ownCall, ownSelect, ownValues, withinLimit } from './own-statements.js'
import { RowModels } from './statements/row-models.js'
import { SharedReads } from './shared-reads.js'
import { type CacheUse, Statements } from './statements/statements.js'
import { totalsReader } from './statements/totals-text.js'
import { withLiveTexts, withVersionKey } from './statements/where-text.js'
import type { TableFacts } from './table-facts.js'

interface Databases {
  readonly primary: Database
  /** Used only by requests for children that live there. undefined: no entity has any. */
  readonly second: Database | undefined
}

/** What a read store uses besides the databases. */
interface ReadStoreDeps {
  readonly facts?: Partial<Pick<TableFacts, 'sortOrders' | 'texts' | 'sharedKeys'>>
  /** Counts the statements whose text is kept. */
  readonly statementUse?: CacheUse
  /** Looked at while the rows of a large answer are read. */
  readonly memory?: Memory
  /** Those of the primary database, which a write store uses too. Made of the entities without them. */
  readonly models?: RowModels
  /** Those of the primary database, of which histories are read. */
  readonly tables?: OwnTables
  /** As `SqlDialect.versionKey`. */
  readonly versionKey?: string | undefined
}

/** One of the service's two databases. */
interface ReadableStore extends Source {
  readonly reader: Reader
}

const STORE_NAMES: Record<StoreName, string> = { primary: 'The database', second: 'The second database' }

/**
 * Reads from the two databases of the service. It sends nothing before the first read. Rows are read first, then what
 * they refer to; the plan determines the number of statements.
 */
export class SqlReadStore implements ReadStore {
  readonly #databases: Databases
  readonly #primary: ReadableStore
  readonly #second: ReadableStore | undefined
  readonly #gathered: GatheredReads
  readonly #histories: RowHistories | undefined
  /** Everybody who opens a form asks for the same rows. */
  readonly #lookups = new SharedReads<LookupResult>()

  constructor(databases: Databases, entities: readonly Entity[], deps: ReadStoreDeps = {}) {
    const { facts: { sortOrders, texts, sharedKeys } = {}, statementUse: use, models, memory, tables } = deps
    const storeOf = (name: StoreName, database: Database): ReadableStore => {
      const known = name === 'primary' ? models : undefined
      const live = name === 'primary' ? withLiveTexts(database.dialect, texts) : database.dialect
      const dialect = withVersionKey(live, deps.versionKey)
      const statements = new Statements(known ?? new RowModels(database.sequelize, entities, name), dialect, {
        sortOrders,
        use
      })
      return { statements, dialect, sharedKeys, reader: database.openReader(STORE_NAMES[name]), memory }
    }
    this.#databases = databases
    this.#primary = storeOf('primary', databases.primary)
    this.#second = databases.second && storeOf('second', databases.second)
    const { dialect, reader } = this.#primary
    this.#histories = tables && new RowHistories(tables, dialect)
    this.#gathered = new GatheredReads(
      (plans, signal) => this.#getAll(plans, signal),
      dialect,
      (signal) => reader.isFull(signal)
    )
  }

  async list(plan: ListPlan, signal: Cancellation): Promise<ListResult> {
    const sort = exactOrder(plan.sort, plan.entity, this.#primary)
    const conditions = this.#conditions(plan)
    const { page, truncated } = await this.#load(signal, async (session) => {
      const found = await LoadedPage.load(session, this.#primary, {
        plan,
        cut: { conditions, sort, limit: plan.limit + 1, beside: 1, parameter: 'fields' }
      })
      if (this.#primary.sharedKeys?.has(plan.entity.table) === true) found.requireApart(plan.limit - 1)
      return { page: found.slice(0, plan.limit), truncated: found.length > plan.limit }
    })
    return { rows: page.rows(), truncated }
  }

  async page(plan: PagePlan, signal: Cancellation, by: 'answer' | 'code' = 'answer'): Promise<PageResult> {
    const conditions = this.#conditions(plan)
    // What code reads is no answer yet.
    const source = by === 'answer' ? this.#primary : { ...this.#primary, memory: undefined }
    const { page, ...found } = await this.#load(signal, (session) => readPage(session, source, { plan, conditions }))
    return { rows: page.rows(), ...found }
  }

  get(plan: GetPlan, cancellation: Cancellation): Promise<LoadedRow | undefined> {
    return this.#gathered.get(plan, cancellation)
  }

  async getBy(plan: GetByPlan, signal: Cancellation): Promise<LoadedRow | undefined> {
    // An entity file may say that a column is unique, and the table may not keep it so.
    const cut = { conditions: inScope([plan.where], plan.scope), sort: keyOrder(plan.entity), limit: 1, rows: 1 }
    const { page } = await this.#load(signal, async (session) => ({
      page: await LoadedPage.load(session, this.#primary, { plan, cut })
    }))
    return page.rows()[0]
  }

  async #getAll(plans: SamePlans, signal: Cancellation): Promise<readonly (LoadedRow | undefined)[]> {
    const [plan] = plans
    // One row more tells that two have the same key. There may be very many of them.
    const most = this.#primary.sharedKeys?.has(plan.entity.table) === true ? { limit: plans.length + 1 } : {}
    const conditions = inScopesOf(plan.entity.key, plans, this.#primary.dialect)
    const cut = { conditions, sort: [], rows: plans.length, ...most }
    const { page } = await this.#load(signal, async (session) => ({
      page: await LoadedPage.load(session, this.#primary, { plan, cut })
    }))
    page.requireApart(0)
    if (plans.length === 1) return page.rows().slice(0, 1)
    const rows = page.rowsById()
    return plans.map(({ key }) => rows.get(idText(key)))
  }

  lookup(plan: LookupPlan, cancellation: Cancellation): Promise<LookupResult> {
    const conditions = inScope(plan.conditions, plan.scope)
    const key = JSON.stringify([plan.entity.name, plan.limit, conditionsText(conditions, this.#primary.dialect)])
    return this.#lookups.read(key, cancellation, (signal) => this.#lookup(plan, conditions, signal))
  }

  async #lookup(
    { entity, limit }: LookupPlan,
    conditions: ScopedConditions,
    signal: Cancellation
  ): Promise<LookupResult> {
    const { statements, dialect, reader, memory } = this.#primary
    const { label } = entity
    const order = label === undefined ? keyOrder(entity) : totalOrder([{ path: own(label), descending: false }], entity)
    const sort = exactOrder(order, entity, this.#primary)
    // A label that is a part of the key is selected once.
    const named = label === undefined ? entity.key : [label, ...entity.key.filter((column) => column !== label)]
    const statement = statements.rows({
      entity,
      selected: named.map(own),
      selectedKey: 'lookup',
      conditions,
      sort,
      cut: 'limit'
    })
    const values = boundValues(conditions, dialect)
    const readUpTo = async (most: number): Promise<LookupResult> => {
      const counted = memory && new AnswerBytes(memory).ifNeeded(most, statement.width)
      try {
        const rows = await reader.read(signal, (session) =>
          session.rows(statement, { ...values, limit: BigInt(most) }, counted)
        )
        const items = rows.slice(0, limit).flatMap((row) => {
          const key = keyOfValues(entity.key.map((column) => row.value(named.indexOf(column))))
          return key === undefined ? [] : [{ key, name: label === undefined ? idText(key) : partOf(row, 0) }]
        })
        return { items, truncated: most <= limit || rows.length > limit }
      } catch (error) {
        // Of long labels the first ones are answered: a choice beyond them is found by `search`. One row is never too large.
        if (error instanceof AnswerTooLarge) return readUpTo(Math.min(limit, most - 1, error.held))
        throw error
      }
    }
    return readUpTo(limit + 1)
  }

  async totals(plan: TotalsPlan, signal: Cancellation): Promise<TotalsResult> {
    const { statements, dialect, reader } = this.#primary
    const conditions = this.#conditions(plan)
    const values = { ...boundValues(conditions, dialect), limit: BigInt(plan.limit + 1) }
    const rows = await statements.byIndexes(() =>
      reader.read(signal, (session) => session.rows(statements.totals({ ...plan, conditions }), values))
    )
    return { rows: rows.slice(0, plan.limit).map(totalsReader(plan, dialect)), truncated: rows.length > plan.limit }
  }

  async history(plan: HistoryPlan, signal: Cancellation): Promise<readonly HistoryEntry[]> {
    const histories = this.#histories
    if (histories === undefined) throw new TypeError('The audit entries are not known')
    return this.#primary.reader.read(signal, (session) => histories.read(session, plan))
  }

  #conditions({ conditions, scope }: ListPlan | PagePlan | TotalsPlan): ScopedConditions {
    return inScope(byFullText(conditions, this.#primary.dialect), scope)
  }

  /** By no full-text index, which forgets rows that are in the snapshot and have been changed or deleted since. */
  export<Part>(
    plan: ExportPlan,
    writer: () => BatchWriter<Part>,
    signal: AbortSignal
  ): AsyncIterable<ExportBatch<Part>> {
    return exportRows(plan, this.#primary, { open: (stop) => this.#primary.reader.snapshot(stop), writer, signal })
  }

  async select(plan: StatementPlan, signal: AbortSignal): Promise<readonly (readonly Value[])[]> {
    const { dialect, reader } = this.#primary
    const [statement, values] = [ownSelect(plan, dialect), ownValues(plan, dialect)]
    return withinLimit(await reader.read(signal, (session) => session.runReadOnly(statement, values)), plan)
  }

  async call(plan: CallPlan, signal: AbortSignal): Promise<readonly (readonly Value[])[]> {
    const { dialect, reader } = this.#primary
    const { statement, values } = ownCall(plan, dialect)
    return await reader.read(signal, (session) => session.runReadOnly(statement, values))
  }

  /** Waits for running reads, then closes the databases. */
  async close(): Promise<void> {
    await Promise.all([this.#primary.reader.close(), this.#second?.reader.close()])
    await Promise.all([this.#databases.primary.sequelize.close(), this.#databases.second?.sequelize.close()])
  }

  /** Finds the rows of a page, and then loads their navigations, on one connection. */
  async #load<Found extends { readonly page: LoadedPage }>(
    signal: Cancellation,
    find: (session: ReadSession) => Promise<Found>
  ): Promise<Found> {
    const found = await this.#primary.reader.read(signal, async (session) => {
      const read = await find(session)
      await read.page.loadNavigations(session, this.#primary)
      return read
    })
    if (found.page.needsSecond) await this.#loadElsewhere(found.page, signal)
    return found
  }

  /** Loads children from the second database after the connection to the primary one was released. */
  async #loadElsewhere(page: LoadedPage, signal: Cancellation): Promise<void> {
    const second = this.#second
    // The check of the catalogue at start rejects such children where there is no second store.
    if (second === undefined) throw new TypeError('The application has no second store')
    await second.reader.read(signal, (session) => page.loadSecond(session, second))
  }
}
