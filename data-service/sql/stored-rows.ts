import type { Children, Entity } from '../entity/entity.js'
import { asRowVersion, type Operand, type Value } from '../entity/field.js'
import type {
  CountReferencingPlan,
  FindPlan,
  FindReferencingPlan,
  FindByUniquePlan,
  GetPlan,
  LockPlan,
  LookPlan,
  PagePlan
} from '../plan/plans.js'
import type { LoadedRow, LockedRow, PageResult, StoredRow } from '../plan/stores.js'
import { boundValues, type RowCondition } from './conditions.js'
import type { ReadSession } from './engines/engine.js'
import { own, scopeConditions, type Source } from './navigations.js'
import { LoadedPage, readPage } from './loaded-page.js'
import { idColumn, type Lock, ownerColumn } from './statements.js'

/** Ids of one statement at most. */
const IDS_AT_ONCE = 1000

/** The reads of a transaction. Rows that it changes or finds stay unchanged by others until it ends. */
export class StoredRows {
  readonly #source: Source
  readonly #ownerOf: (children: Children) => Entity

  constructor(source: Source, ownerOf: (children: Children) => Entity) {
    this.#source = source
    this.#ownerOf = ownerOf
  }

  async lock(session: ReadSession, plan: LockPlan): Promise<LockedRow | undefined> {
    const { entity, id, children } = plan
    const [row] = await this.#roots(session, entity, { conditions: rowConditions(plan), lock: 'UPDATE' })
    if (row === undefined) return undefined
    const found = new Map<string, readonly StoredRow[]>()
    // Every write of children locks their root first, so the children need no lock of their own.
    for (const one of children) {
      const ofRoot = { path: own(ownerColumn(entity, one)), comparison: 'equals', operands: [id] } as const
      found.set(one.name, await this.#children(session, one, { conditions: [ofRoot] }))
    }
    return { ...row, children: found }
  }

  async look(session: ReadSession, plan: LookPlan): Promise<StoredRow | undefined> {
    const [row] = await this.#roots(session, plan.entity, { conditions: rowConditions(plan) })
    return row
  }

  async find(session: ReadSession, { entity, children, ids }: FindPlan): Promise<ReadonlyMap<string, StoredRow>> {
    if (ids.length > IDS_AT_ONCE) throw new RangeError(`No more than ${IDS_AT_ONCE} rows are looked up at once`)
    if (ids.length === 0) return new Map()
    const id = idColumn(children ?? entity)
    const among = { conditions: [{ path: own(id), comparison: 'in', operands: ids }], lock: 'SHARE' } as const
    const rows =
      children === null ? await this.#roots(session, entity, among) : await this.#children(session, children, among)
    return new Map(rows.map((row) => [String(row.values.get(id.name)), row]))
  }

  async findByUnique(
    session: ReadSession,
    { entity, column, value }: FindByUniquePlan
  ): Promise<StoredRow | undefined> {
    const equal: RowCondition = { path: own(column), comparison: 'equals', operands: [value] }
    const [row] = await this.#having(session, entity, {
      equal,
      ids: await this.#ids(session, entity, { equal, limit: 1 })
    })
    return row
  }

  async findReferencing(session: ReadSession, plan: FindReferencingPlan): Promise<readonly LockedRow[] | undefined> {
    const { entity, children, column, id, maxRows } = plan
    if (maxRows > IDS_AT_ONCE) throw new RangeError(`No more than ${IDS_AT_ONCE} rows are looked up at once`)
    const equal: RowCondition = { path: own(column), comparison: 'equals', operands: [id] }
    const ids = await this.#ids(session, entity, { equal, limit: maxRows + 1 })
    if (ids.length > maxRows) return undefined
    const rows = (await this.#having(session, entity, { equal, ids })).map((row) => ({
      ...row,
      children: new Map(children.map(({ name }): [string, StoredRow[]] => [name, []]))
    }))
    const byId = new Map(rows.map((row) => [row.values.get(idColumn(entity).name), row]))
    for (const one of rows.length === 0 ? [] : children) {
      const ofRows = { path: own(ownerColumn(entity, one)), comparison: 'in', operands: ids } as const
      for (const child of await this.#children(session, one, { conditions: [ofRows] })) {
        byId.get(child.values.get(one.rootProperty))?.children.get(one.name)?.push(child)
      }
    }
    return rows
  }

  /** Counts without locks: the lock on the row that they refer to is the caller's. */
  async countReferencing(session: ReadSession, { entity, column, id, where }: CountReferencingPlan): Promise<number> {
    const { statements, dialect } = this.#source
    const conditions: RowCondition[] = [{ path: own(column), comparison: 'equals', operands: [id] }, ...where]
    const [row] = await session.run(statements.count(entity, conditions), boundValues(conditions, dialect))
    return Number(row?.[0])
  }

  /** A read by id that sees what this transaction has written. */
  async get(session: ReadSession, plan: GetPlan): Promise<LoadedRow | undefined> {
    for (const { children } of plan.children) assertPrimary(children)
    const byId: RowCondition = { path: own(idColumn(plan.entity)), comparison: 'equals', operands: [plan.id] }
    const cut = { conditions: [byId, ...scopeConditions(plan.scope)], sort: [] }
    const page = await LoadedPage.load(session, this.#source, { plan, cut })
    await page.loadReferences(session, this.#source)
    await page.loadChildren(session, this.#source, plan.children)
    return page.rows()[0]
  }

  /** A page without navigations that sees what this transaction has written, with its total if the plan says so. */
  async page(session: ReadSession, plan: PagePlan): Promise<PageResult> {
    const { statements, dialect } = this.#source
    const conditions = [...plan.conditions, ...scopeConditions(plan.scope)]
    const { page, ...found } = await readPage(session, this.#source, { plan, conditions })
    const total = async (): Promise<number> => {
      const [row] = await session.run(statements.count(plan.entity, conditions), boundValues(conditions, dialect))
      return Number(row?.[0])
    }
    return { rows: page.rows(), ...found, total: plan.withTotal ? (found.total ?? (await total())) : undefined }
  }

  /** Finds ids by the index of the column without a lock: a locking read would also lock the rows that it passes. */
  async #ids(
    session: ReadSession,
    entity: Entity,
    { equal, limit }: { readonly equal: RowCondition; readonly limit: number }
  ): Promise<Operand[]> {
    const { statements, dialect } = this.#source
    const statement = statements.rows({
      entity,
      selected: [own(idColumn(entity))],
      selectedKey: 'id',
      conditions: [equal],
      sort: [],
      cut: 'limit'
    })
    const rows = await session.run(statement, { ...boundValues([equal], dialect), limit: BigInt(limit) })
    return rows.flat().filter((id): id is string | number => typeof id === 'string' || typeof id === 'number')
  }

  /** Locks, in the order of ids, the rows that still have the value. */
  async #having(
    session: ReadSession,
    entity: Entity,
    { equal, ids }: { readonly equal: RowCondition; readonly ids: readonly Operand[] }
  ): Promise<StoredRow[]> {
    if (ids.length === 0) return []
    const among: RowCondition = { path: own(idColumn(entity)), comparison: 'in', operands: ids }
    return this.#roots(session, entity, { conditions: [among, equal], lock: 'SHARE' })
  }

  async #roots(session: ReadSession, entity: Entity, { conditions, lock }: Wanted): Promise<StoredRow[]> {
    const { statements, dialect } = this.#source
    const statement = statements.rows({
      entity,
      selected: [...entity.columns.map(own), ...(entity.versionColumn === undefined ? [] : (['rowVersion'] as const))],
      selectedKey: 'stored',
      conditions,
      sort: [{ path: own(idColumn(entity)), descending: false }],
      cut: 'whole',
      ...(lock === undefined ? {} : { lock })
    })
    const rows = await session.run(statement, boundValues(conditions, dialect))
    const names = entity.columns.map(({ name }) => name)
    return rows.map((row) => storedRow(names, row))
  }

  /** The children's values contain the root's id, under the property name of their foreign key. */
  async #children(session: ReadSession, children: Children, { conditions, lock }: Wanted): Promise<StoredRow[]> {
    assertPrimary(children)
    const { statements, dialect } = this.#source
    const statement = statements.children({
      owner: this.#ownerOf(children),
      children,
      conditions,
      ...(lock === undefined ? {} : { lock })
    })
    const rows = await session.run(statement, boundValues(conditions, dialect))
    const names = [children.rootProperty, ...children.columns.map(({ name }) => name)]
    return rows.map((row) => storedRow(names, row))
  }
}

interface Wanted {
  readonly conditions: readonly RowCondition[]
  readonly lock?: Lock
}

function rowConditions({ entity, id, scope }: LookPlan | LockPlan): RowCondition[] {
  return [{ path: own(idColumn(entity)), comparison: 'equals', operands: [id] }, ...scopeConditions(scope)]
}

/** Throws for children of the second database, which a transaction of the primary one cannot write. */
export function assertPrimary({ name, store }: Children): void {
  if (store !== 'primary') throw new TypeError(`${name} are kept in another database than the transaction's`)
}

/** The version comes after the values, if the entity has row versions. */
function storedRow(names: readonly string[], row: readonly Value[]): StoredRow {
  const version = row[names.length]
  const values = new Map(names.map((name, index): [string, Value] => [name, row[index] ?? null]))
  return { values, version: Buffer.isBuffer(version) ? asRowVersion(version) : undefined }
}
