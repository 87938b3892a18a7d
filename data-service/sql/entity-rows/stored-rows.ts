import type { Children, Entity, KeyedEntity, KeyColumns } from '../../entity/entity.js'
import type { Column } from '../../entity/fields/columns.js'
import { asRowVersion, hasRowVersion } from '../../entity/fields/row-version.js'
import type { Value } from '../../entity/fields/field.js'
import { idText, type Keyed, keyOfValues, type RowKey } from '../../entity/key.js'
import type {
  CountOutsidePlan,
  CountReferencingPlan,
  FindPlan,
  FindReferencingPlan,
  FindByUniquePlan,
  GetPlan,
  LockAllPlan,
  LockPlan,
  LookPlan,
  PagePlan
} from '../../plan/model/plans.js'
import type { LoadedRow, LockedRow, PageResult, StoredRow } from '../../plan/model/stores.js'
import { keyOrder } from '../../plan/model/catalogue.js'
import {
  boundValues,
  inScope,
  keyIn,
  keyIs,
  outsideOf,
  refersTo,
  type RowCondition,
  scopeConditions
} from './statements/conditions.js'
import type { ReadSession } from '../engines/sessions.js'
import { KEYS_AT_ONCE, own, type Source } from './navigations.js'
import { SharedKey } from './shared-keys.js'
import { countRows, LoadedPage, readPage } from './loaded-page.js'
import type { Lock } from './statements/select-text.js'

/** The most rows that are found at once. */
const MAX_KEYS = 1000

/** The reads of a transaction. Rows that it changes or finds stay unchanged by others until it ends. */
export class StoredRows {
  readonly #source: Source
  readonly #ownerOf: (children: Children) => KeyedEntity

  constructor(source: Source, ownerOf: (children: Children) => KeyedEntity) {
    this.#source = source
    this.#ownerOf = ownerOf
  }

  async lock(session: ReadSession, plan: LockPlan): Promise<LockedRow | undefined> {
    const { entity, key, children } = plan
    const [row] = await this.#roots(session, entity, { conditions: rowConditions(plan), lock: 'UPDATE' })
    if (row === undefined) return undefined
    const found = new Map<string, readonly StoredRow[]>()
    // Every write of children locks their root first, so the children need no lock of their own.
    for (const one of children) {
      found.set(one.name, await this.#children(session, one, { conditions: refersTo(one.foreignKey, key) }))
    }
    return { ...row, children: found }
  }

  async lockAll(session: ReadSession, { entity, keys, scope }: LockAllPlan): Promise<ReadonlyMap<string, StoredRow>> {
    const conditions = [keyIn(entity.key, keys, 'isKeyIn'), ...scopeConditions(scope)]
    return byId(await this.#roots(session, entity, { conditions, lock: 'UPDATE' }), entity, keys)
  }

  async look(session: ReadSession, plan: LookPlan): Promise<StoredRow | undefined> {
    const { entity } = plan
    // A row that a property names may hold a value that cannot be read: nothing else of it is wanted here.
    const columns = 'where' in plan ? [...new Set([...entity.key, plan.where.path.column])] : entity.columns
    const [row] = await this.#roots(session, entity, { conditions: rowConditions(plan), columns, limit: 1 })
    return row
  }

  async find(session: ReadSession, { entity, children, keys }: FindPlan): Promise<ReadonlyMap<string, StoredRow>> {
    if (keys.length > MAX_KEYS) throw new RangeError(`No more than ${MAX_KEYS} rows are looked up at once`)
    if (keys.length === 0) return new Map()
    const table = children ?? entity
    const among = { conditions: [keyIn(table.key, keys, 'isKeyIn')], lock: 'SHARE' } as const
    const rows =
      children === null ? await this.#roots(session, entity, among) : await this.#children(session, children, among)
    return byId(rows, table, keys)
  }

  async findByUnique(
    session: ReadSession,
    { entity, column, value }: FindByUniquePlan
  ): Promise<StoredRow | undefined> {
    const equal: RowCondition = { path: own(column), comparison: 'equals', operands: [value] }
    const [row] = await this.#having(session, entity, {
      equal: [equal],
      keys: await this.#keys(session, entity, { equal: [equal], limit: 1 })
    })
    return row
  }

  async findReferencing(session: ReadSession, plan: FindReferencingPlan): Promise<readonly LockedRow[] | undefined> {
    const { entity, children, reference, key, maxRows } = plan
    if (maxRows > MAX_KEYS) throw new RangeError(`No more than ${MAX_KEYS} rows are looked up at once`)
    const equal = refersTo(reference.via, key)
    const keys = await this.#keys(session, entity, { equal, limit: maxRows + 1 })
    if (keys.length > maxRows) return undefined
    const rows = (await this.#having(session, entity, { equal, keys })).map((row) => ({
      ...row,
      children: new Map(children.map(({ name }): [string, StoredRow[]] => [name, []]))
    }))
    const byId = new Map(rows.map((row) => [idText(storedKey(row, entity.key)), row]))
    for (const one of rows.length === 0 ? [] : children) {
      for (let from = 0; from < keys.length; from += KEYS_AT_ONCE.composite) {
        const ofRows = keyIn(one.foreignKey, keys.slice(from, from + KEYS_AT_ONCE.composite), 'refersToIn')
        for (const child of await this.#children(session, one, { conditions: [ofRows] })) {
          byId.get(child.rootId)?.children.get(one.name)?.push(child)
        }
      }
    }
    return rows
  }

  /** Counts without locks: the lock on the row that they refer to is the caller's. */
  async countReferencing(
    session: ReadSession,
    { entity, reference, key, where }: CountReferencingPlan
  ): Promise<number> {
    const conditions: RowCondition[] = [...refersTo(reference.via, key), ...where]
    return await countRows(session, this.#source, { entity, conditions })
  }

  async countOutside(session: ReadSession, { entity, foreignKey, key, scope }: CountOutsidePlan): Promise<number> {
    const conditions: RowCondition[] = [...refersTo(foreignKey, key), outsideOf(scope.after)]
    return await countRows(session, this.#source, { entity, conditions })
  }

  /** A read by id that sees what this transaction has written. */
  async get(session: ReadSession, plan: GetPlan): Promise<LoadedRow | undefined> {
    for (const { children } of plan.children) assertPrimary(children)
    const cut = { conditions: inScope(keyIs(plan.entity.key, plan.key), plan.scope), sort: [] }
    const page = await LoadedPage.load(session, this.#source, { plan, cut })
    page.requireApart(0)
    await page.loadNavigations(session, this.#source)
    return page.rows()[0]
  }

  /** A page without navigations that sees what this transaction has written, with its total if the plan says so. */
  async page(session: ReadSession, plan: PagePlan): Promise<PageResult> {
    const conditions = inScope(plan.conditions, plan.scope)
    const { page, ...found } = await readPage(session, this.#source, { plan, conditions })
    return { rows: page.rows(), ...found }
  }

  /** Finds keys by the index of the columns without a lock: a locking read would also lock the rows that it passes. */
  async #keys(
    session: ReadSession,
    entity: KeyedEntity,
    { equal, limit }: { readonly equal: readonly RowCondition[]; readonly limit: number }
  ): Promise<RowKey[]> {
    const { statements, dialect } = this.#source
    const statement = statements.rows({
      entity,
      selected: entity.key.map(own),
      selectedKey: 'key',
      conditions: equal,
      sort: [],
      cut: 'limit'
    })
    const rows = await session.run(statement, { ...boundValues(equal, dialect), limit: BigInt(limit) })
    return rows.flatMap((row) => {
      const key = keyOfValues(row)
      return key === undefined ? [] : [key]
    })
  }

  /** Locks, in the order of keys, the rows that still have the value. */
  async #having(
    session: ReadSession,
    entity: KeyedEntity,
    { equal, keys }: { readonly equal: readonly RowCondition[]; readonly keys: readonly RowKey[] }
  ): Promise<StoredRow[]> {
    if (keys.length === 0) return []
    const among = keyIn(entity.key, keys, 'isKeyIn')
    return this.#roots(session, entity, { conditions: [among, ...equal], lock: 'SHARE' })
  }

  async #roots(
    session: ReadSession,
    entity: KeyedEntity,
    { conditions, lock, limit, columns = entity.columns }: WantedRoots
  ): Promise<StoredRow[]> {
    const { statements, dialect } = this.#source
    const statement = statements.rows({
      entity,
      selected: [...columns.map(own), ...(hasRowVersion(entity) ? (['rowVersion'] as const) : [])],
      selectedKey: 'stored',
      conditions,
      sort: keyOrder(entity),
      cut: limit === undefined ? 'whole' : 'limit',
      ...(lock === undefined ? {} : { lock })
    })
    const values = boundValues(conditions, dialect)
    if (limit !== undefined) values['limit'] = BigInt(limit)
    const rows = await session.run(statement, values)
    const names = columns.map(({ name }) => name)
    return rows.map((row) => storedRow(names, row))
  }

  /** The children's values contain the root's key, under the property names of their foreign key. */
  async #children(session: ReadSession, children: Children, { conditions, lock }: Wanted): Promise<StoredChildRow[]> {
    assertPrimary(children)
    const { statements, dialect } = this.#source
    const statement = statements.children({
      owner: this.#ownerOf(children),
      children,
      conditions,
      cut: 'whole',
      ...(lock === undefined ? {} : { lock })
    })
    const rows = await session.run(statement, boundValues(conditions, dialect))
    const names = [...children.foreignKey, ...children.columns].map(({ name }) => name)
    return rows.map((row) => {
      const rootKey = keyOfValues(row.slice(0, children.foreignKey.length))
      return { ...storedRow(names, row), rootId: rootKey === undefined ? '' : idText(rootKey) }
    })
  }
}

interface StoredChildRow extends StoredRow {
  /** The text of the root's id as the root has it, which the foreign key may only equal. */
  readonly rootId: string
}

interface Wanted {
  readonly conditions: readonly RowCondition[]
  readonly lock?: Lock
}

interface WantedRoots extends Wanted {
  readonly limit?: number
  /** All without them. */
  readonly columns?: readonly Column[]
}

function rowConditions(plan: LookPlan | LockPlan): RowCondition[] {
  const named = 'key' in plan ? keyIs(plan.entity.key, plan.key) : [plan.where]
  return [...named, ...scopeConditions(plan.scope)]
}

/** The rows with exactly these keys, by the text of their id: a collation may equate others with them. */
function byId(
  rows: readonly StoredRow[],
  { table, key }: Pick<Entity, 'table'> & Keyed,
  keys: readonly RowKey[]
): ReadonlyMap<string, StoredRow> {
  const wanted = new Set(keys.map(idText))
  const found = new Map<string, StoredRow>()
  for (const row of rows) {
    const own = storedKey(row, key)
    const id = idText(own)
    if (found.has(id)) throw new SharedKey({ table, key }, own)
    if (wanted.has(id)) found.set(id, row)
  }
  return found
}

/** The key, or the foreign key, that a row has in these columns. */
export function storedKey({ values }: StoredRow, columns: KeyColumns): RowKey {
  const key = keyOfValues(columns.map(({ name }) => values.get(name)))
  if (key === undefined) throw new TypeError(`A row has no ${columns.map(({ name }) => name).join(', ')}`)
  return key
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
