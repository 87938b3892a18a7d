import type { Children, Entity, KeyedEntity } from '../../entity/entity.js'
import type { EmittedEvent } from '../../entity/event.js'
import type { Column } from '../../entity/fields/columns.js'
import type { Value } from '../../entity/fields/field.js'
import { ROW_VERSION_BYTES } from '../../entity/fields/row-version.js'
import { isComposite, idText, isKeyed, type Keyed, keyMaker, keyOfValues, type RowKey } from '../../entity/key.js'
import type {
  CallPlan,
  ChildPlan,
  CountOutsidePlan,
  CountReferencingPlan,
  DeletePlan,
  FindPlan,
  FindReferencingPlan,
  FindByUniquePlan,
  GetPlan,
  InsertPlan,
  LockAllPlan,
  LockPlan,
  LookPlan,
  PagePlan,
  Projection,
  StatementPlan,
  UpdatePlan
} from '../../plan/model/plans.js'
import type {
  AuditEntry,
  ClaimedEvent,
  CreateAtOnce,
  CreatedRow,
  StoredResponse,
  KeyClaim,
  LoadedRow,
  LockedRow,
  PageResult,
  StoredRow,
  UnitOfWork,
  WriteStore
} from '../../plan/model/stores.js'
import { DomainError } from '../../../shared/errors.js'
import type { AuthUnit } from '../../auth/accounts/accounts.js'
import { authUnits } from '../own-rows/accounts.js'
import { AuditEntries } from '../own-rows/audit-entries.js'
import { keyIs, refersTo, scopeConditions } from './statements/conditions.js'
import type { Database } from '../engines/engine.js'
import type { FoundRow, SqlDialect } from '../engines/statement.js'
import type { Reader, Transactions } from '../engines/sessions.js'
import type { OwnTables } from '../engines/own-tables.js'
import { Guards } from './guards.js'
import { keyReader, mapKey, own, RowOfPage, selectionOf } from './navigations.js'
import { IdempotencyKeys, type KeyedRequest } from '../own-rows/idempotency-keys.js'
import { EventRows } from '../own-rows/outbox.js'
import { ownCall, ownChange, ownSelect, ownValues, withinLimit } from './own-statements.js'
import { ChangeTexts, RowWriter } from './row-writer.js'
import { RowModels } from './statements/row-models.js'
import { type CacheUse, Statements } from './statements/statements.js'
import { withLiveTexts, withVersionKey } from './statements/where-text.js'
import { assertPrimary, storedKey, StoredRows } from './stored-rows.js'
import { runTransaction, type TransactionAttempt } from '../transactions.js'
import type { TableFacts } from './table-facts.js'
import { ViolatedKeys } from './violated-keys.js'

export interface SqlWriteStore extends WriteStore {
  /** Waits for running writes. The caller closes the database afterwards. */
  close(): Promise<void>
}

/** What a write store needs besides the database. */
interface WriteStoreDeps {
  readonly tables: OwnTables
  readonly transactions: Transactions
  /** A random number from 0 up to 1, for the waits between tries. */
  readonly random: () => number
  /** For the first row versions of audit entries, and the versions of dry runs. */
  readonly randomBytes: (size: number) => Buffer
  /** Called after the COMMIT of a transaction that has emitted events. */
  readonly onEmitted: () => void
  readonly facts?: Partial<Pick<TableFacts, 'defaults' | 'texts' | 'keys' | 'sharedKeys'>>
  /** Counts the statements whose text is kept. */
  readonly statementUse?: CacheUse
  /** Those of the database, which a read store uses too. Made of the entities without them. */
  readonly models?: RowModels
  /** As `SqlDialect.versionKey`. */
  readonly versionKey?: string | undefined
}

/** Writes to the primary database. Sends nothing before the first write. */
export function createWriteStore(database: Database, entities: readonly Entity[], deps: WriteStoreDeps): SqlWriteStore {
  const { transactions, random, onEmitted } = deps
  const options = { transactions, what: 'The database', random }
  const reader = database.openReader('The database')
  const parts = unitParts(database, entities, { ...deps, reader })
  return {
    transaction: async (signal, work) => {
      let unit: SqlUnitOfWork | undefined
      const request: KeyedRequest = {}
      const working = runTransaction(options, signal, {
        run: async (transaction) => {
          unit = new SqlUnitOfWork(transaction, { parts, request })
          const worked = await work(unit)
          unit.assertComplete()
          // They keep others from what this transaction commits.
          if (!transaction.isDryRun) await unit.writeGuards()
          return worked
        },
        isRepeatable: () => unit?.hasKey === true
      })
      const result = await working.finally(() => parts.keys.ended(request))
      if (unit?.hasEmitted === true) onEmitted()
      return result
    },
    purgeKeys: async (now, limit) => {
      for (let deleted = 0; ;) {
        const some = await runTransaction(options, new AbortController().signal, {
          run: (transaction) => parts.keys.purge(transaction, now, limit - deleted),
          isRepeatable: () => true
        })
        deleted += some
        if (some === 0 || deleted === limit) return deleted
      }
    },
    close: async () => {
      try {
        await transactions.close()
      } finally {
        await reader.close()
      }
    }
  }
}

function unitParts(
  database: Database,
  entities: readonly Entity[],
  deps: WriteStoreDeps & { readonly reader: Reader }
): UnitParts {
  const { sequelize } = database
  const { tables: ownTables } = deps
  const { facts: { defaults, texts, keys, sharedKeys } = {}, statementUse: use } = deps
  const { models = new RowModels(sequelize, entities, 'primary') } = deps
  const dialect = withVersionKey(withLiveTexts(database.dialect, texts), deps.versionKey)
  const statements = new Statements(models, dialect, { use })
  const owners = new Map(entities.filter(isKeyed).flatMap((entity) => entity.children.map((one) => [one, entity])))
  const ownerOf = (children: Children): KeyedEntity => {
    const owner = owners.get(children)
    if (owner === undefined) throw new TypeError(`${children.name} are no entity's children`)
    return owner
  }
  const byName = new Map(entities.map((entity) => [entity.name, entity]))
  return {
    statements,
    rows: new StoredRows({ statements, dialect, sharedKeys }, ownerOf),
    writer: new RowWriter(
      new ChangeTexts(sequelize, dialect, { defaults, use }),
      dialect,
      new ViolatedKeys(dialect, keys)
    ),
    keys: new IdempotencyKeys(ownTables, dialect, { reader: deps.reader, classifyError: database.classifyError }),
    accounts: authUnits(ownTables, dialect),
    audit: new AuditEntries(ownTables, dialect, deps.randomBytes),
    outbox: new EventRows(ownTables),
    randomBytes: deps.randomBytes,
    tables: ownTables,
    dialect,
    entityNamed: (resource) => {
      const entity = byName.get(resource)
      if (entity === undefined) throw new TypeError(`There is no resource ${resource}`)
      return entity
    }
  }
}

/** The shared parts of all units of work of one database. */
interface UnitParts {
  readonly statements: Statements
  readonly rows: StoredRows
  readonly writer: RowWriter
  readonly keys: IdempotencyKeys
  readonly accounts: ReturnType<typeof authUnits>
  readonly audit: AuditEntries
  readonly outbox: EventRows
  readonly randomBytes: WriteStoreDeps['randomBytes']
  readonly tables: OwnTables
  readonly dialect: SqlDialect
  readonly entityNamed: (resource: string) => Entity
}

/** The statements of one transaction. */
class SqlUnitOfWork implements UnitOfWork {
  readonly #transaction: TransactionAttempt
  readonly #parts: UnitParts
  readonly #request: KeyedRequest
  readonly #guards: Guards
  #key: 'none' | 'claimed' | 'taken' | 'answered' = 'none'
  #hasEmitted = false

  constructor(
    transaction: TransactionAttempt,
    { parts, request }: { readonly parts: UnitParts; readonly request: KeyedRequest }
  ) {
    this.#transaction = transaction
    this.#parts = parts
    this.#request = request
    this.#guards = new Guards(transaction, parts)
  }

  get accounts(): AuthUnit {
    return this.#parts.accounts(this.#transaction, (event) => this.emit(event))
  }

  /** Whether an idempotency key shows a later transaction that this one was committed. */
  get hasKey(): boolean {
    return this.#key !== 'none'
  }

  /** Whether the COMMIT has put events into the outbox. */
  get hasEmitted(): boolean {
    return this.#hasEmitted && !this.#transaction.isDryRun
  }

  rollBackAtEnd(): void {
    this.#transaction.rollBackAtEnd()
  }

  /** Called before the COMMIT. With a key that has no answer, every retry would do the work again. */
  assertComplete(): void {
    if (this.#key === 'taken') throw new TypeError('A key was claimed and no answer kept under it')
  }

  /** Called before the COMMIT, after the last read. */
  async writeGuards(): Promise<void> {
    await this.#guards.writeGuards()
  }

  async claimKey(claim: KeyClaim): Promise<StoredResponse | undefined> {
    this.#key = 'claimed'
    const kept = await this.#parts.keys.claim(this.#transaction, claim, this.#request)
    if (kept === undefined) this.#key = 'taken'
    return kept
  }

  findResponse(claim: KeyClaim): Promise<StoredResponse | undefined> {
    return this.#parts.keys.find(this.#transaction, claim)
  }

  async createAtOnce({ claim, insert, entry, projection }: CreateAtOnce): Promise<CreatedRow | undefined> {
    const { entity } = insert
    const { keys, audit, writer } = this.#parts
    const made = this.#returning(insert, { projection, isClaimed: claim !== undefined })
    if (made === undefined || !(await this.#transaction.isGuarding())) return undefined
    const { statement, values, change, selection } = made
    const batch = [{ kind: 'rows', statement, values }, audit.inTransaction(entry)] as const
    if (claim !== undefined) this.#key = 'claimed'
    const creating =
      claim === undefined
        ? this.#transaction.send(batch)
        : keys.claimWith(this.#transaction, { claim, request: this.#request }, batch)
    const [rows, audited] = (await writer.explained(this.#transaction, change, creating)) ?? []
    if (rows === undefined || audited === undefined) {
      this.#key = 'none'
      return undefined
    }
    if (claim !== undefined) this.#key = 'taken'
    // The outcome of a statement of the kind `rows`.
    const [row] = rows as FoundRow[]
    const key = row && keyReader(selection, mapKey(entity.key, own))(row)
    if (row === undefined || key === undefined || !('rows' in audited) || audited.rows !== 1) {
      throw new TypeError(`A new row of ${entity.name} was not answered or has no audit entry`)
    }
    return { key, row: new RowOfPage(row, selection.shown) }
  }

  /** undefined for a row that one statement cannot insert and answer, whatever the reason. */
  #returning(
    { entity, values, version, children }: InsertPlan,
    { projection, isClaimed }: { readonly projection: Projection; readonly isClaimed: boolean }
  ) {
    const { writer, dialect, statements } = this.#parts
    const { guards } = dialect
    // Tables in a schema of their own are others', and are only read.
    if (guards === undefined || children.length > 0 || entity.schema !== undefined) return undefined
    // An INSERT binds nothing but values.
    if (entity.contentVersion) return undefined
    const selection = selectionOf(entity, projection, [])
    const isJoined = selection.selected.some((one) => one !== 'rowVersion' && one.through !== null)
    const [id] = entity.key
    const isNumbered = keyOfValues(entity.key.map((column) => values.get(column))) === undefined
    if (isJoined || (isNumbered && keyMaker(id, entity) !== 'database')) return undefined
    const shown = statements.rows({ entity, ...selection, conditions: [], sort: [], cut: 'whole' })
    const guard = isClaimed ? guards.afterOneRow : guards.inTransaction
    const numbered = isNumbered ? id.column : undefined
    try {
      return { ...writer.insertReturning(entity, { values, version }, { shown, numbered, guard }), selection }
    } catch (error) {
      // A value that cannot be stored is told after the claim of the key.
      if (error instanceof DomainError) return undefined
      throw error
    }
  }

  storeResponse(claim: KeyClaim, answer: Buffer): void {
    this.#parts.keys.keep(this.#transaction, claim, answer)
    this.#key = 'answered'
  }

  forgetResponses(claims: readonly KeyClaim[]): Promise<void> {
    return this.#parts.keys.forget(this.#transaction, claims)
  }

  async lock(plan: LockPlan): Promise<LockedRow | undefined> {
    const read = (): Promise<LockedRow | undefined> => this.#parts.rows.lock(this.#transaction, plan)
    const { entity, key } = plan
    const row = await read()
    this.#guards.excludeRow(entity, key)
    return row ?? (isKeyKnown(entity) ? await this.#again(read, undefined) : undefined)
  }

  async lockAll(plan: LockAllPlan): Promise<ReadonlyMap<string, StoredRow>> {
    const rows = await this.#parts.rows.lockAll(this.#transaction, plan)
    for (const key of plan.keys) this.#guards.excludeRow(plan.entity, key)
    return rows
  }

  look(plan: LookPlan): Promise<StoredRow | undefined> {
    return this.#parts.rows.look(this.#transaction, plan)
  }

  async insert({ entity, values, version, children }: InsertPlan): Promise<RowKey> {
    const { writer, dialect } = this.#parts
    const given = keyOfValues(entity.key.map((column) => values.get(column)))
    this.#guards.shareWritten(entity, { written: values, ...(given === undefined ? {} : { key: given }) })
    const { insertedId } = await writer.insertOne(this.#transaction, entity, { values, version })
    const [{ field }] = entity.key
    const key = given ?? keyOfValues([isComposite(entity) ? null : dialect.decode(field)(insertedId)])
    if (key === undefined) throw new TypeError(`A new row of ${entity.name} has no id`)
    for (const { children: collection, rows } of children) {
      assertPrimary(collection)
      const owned = rows.map((row) => ({ ...row, values: withRootKey(collection, row.values, key) }))
      await writer.insertAll(this.#transaction, collection, owned)
    }
    return key
  }

  async insertAll(plans: readonly InsertPlan[]): Promise<readonly RowKey[] | undefined> {
    const [first] = plans
    if (first === undefined) return []
    const { entity } = first
    const { writer } = this.#parts
    const given = plans.map(({ values }) => keyOfValues(entity.key.map((column) => values.get(column))))
    const [id] = entity.key
    const isNumbered = keyMaker(id, entity) === 'database' && given.every((key) => key === undefined)
    if (isNumbered ? !(await this.#transaction.isGuarding()) : given.includes(undefined)) return undefined
    for (const [at, { values }] of plans.entries()) {
      const key = given[at]
      this.#guards.shareWritten(entity, { written: values, ...(key === undefined ? {} : { key }) })
    }
    if (isNumbered) {
      const numbers = await writer.insertNumbered(this.#transaction, { into: entity, id }, plans)
      return numbers.map((number) => keyOfValues([number])).filter((key) => key !== undefined)
    }
    await writer.insertAll(this.#transaction, entity, plans)
    return given.filter((key) => key !== undefined)
  }

  update({ entity, key, scope, expected, required, ...changes }: UpdatePlan): Promise<boolean> {
    const conditions = [...keyIs(entity.key, key), ...scopeConditions(scope.before), ...required]
    this.#guards.excludeRow(entity, key)
    this.#guards.shareWritten(entity, { written: changes.values })
    const tried = this.#triedVersion()
    return this.#parts.writer.update(this.#transaction, { of: entity, conditions, expected }, { ...changes, tried })
  }

  /** The version of a row that a dry run changes: no row will have it. undefined in a write. */
  #triedVersion(): Buffer | undefined {
    return this.#transaction.isDryRun ? this.#parts.randomBytes(ROW_VERSION_BYTES) : undefined
  }

  /** The foreign keys of the migrations make the database delete the children with their root. */
  delete({ entity, key, scope, expected, required }: DeletePlan): Promise<boolean> {
    const conditions = [...keyIs(entity.key, key), ...scopeConditions(scope.before), ...required]
    this.#guards.excludeRow(entity, key)
    return this.#parts.writer.delete(this.#transaction, { of: entity, conditions, expected })
  }

  async writeChild(plan: ChildPlan): Promise<boolean> {
    const { children, rootKey } = plan
    const { writer } = this.#parts
    assertPrimary(children)
    if (plan.kind === 'insert') {
      const values = withRootKey(children, plan.row.values, rootKey)
      await writer.insertOne(this.#transaction, children, { ...plan.row, values })
      return true
    }
    const conditions = [...keyIs(children.key, plan.key), ...refersTo(children.foreignKey, rootKey)]
    const matched = { of: children, conditions, expected: plan.expected }
    return plan.kind === 'update'
      ? await writer.update(this.#transaction, matched, { ...plan, tried: this.#triedVersion() })
      : await writer.delete(this.#transaction, matched)
  }

  async find(plan: FindPlan): Promise<ReadonlyMap<string, StoredRow>> {
    const { entity, children, keys } = plan
    const read = (): Promise<ReadonlyMap<string, StoredRow>> => this.#parts.rows.find(this.#transaction, plan)
    let rows = await read()
    const missing = isKeyKnown(children ?? entity) ? keys.filter((key) => !rows.has(idText(key))) : []
    for (const key of missing) this.#guards.excludeRow(children ?? entity, key)
    if (missing.length > 0) rows = await this.#again(read, rows)
    for (const row of rows.values()) {
      // A write of a child also writes its root, so the guard of the root covers the child.
      this.#guards.shareRow(entity, storedKey(row, children?.foreignKey ?? entity.key))
    }
    return rows
  }

  async findByUnique(plan: FindByUniquePlan): Promise<StoredRow | undefined> {
    const { entity, column, value } = plan
    const read = (): Promise<StoredRow | undefined> => this.#parts.rows.findByUnique(this.#transaction, plan)
    let row = await read()
    if (row === undefined) {
      this.#guards.excludeValue(entity, column, value)
      row = await this.#again(read, undefined)
    }
    if (row !== undefined) this.#guards.shareRow(entity, storedKey(row, entity.key))
    return row
  }

  async findReferencing(plan: FindReferencingPlan): Promise<readonly LockedRow[] | undefined> {
    const { entity } = plan
    await this.#excludeReferring(plan)
    const found = await this.#parts.rows.findReferencing(this.#transaction, plan)
    for (const row of found ?? []) this.#guards.shareRow(entity, storedKey(row, entity.key))
    return found
  }

  async countReferencing(plan: CountReferencingPlan): Promise<number> {
    await this.#excludeReferring(plan)
    return await this.#parts.rows.countReferencing(this.#transaction, plan)
  }

  countOutside(plan: CountOutsidePlan): Promise<number> {
    return this.#parts.rows.countOutside(this.#transaction, plan)
  }

  get(plan: GetPlan): Promise<LoadedRow | undefined> {
    return this.#parts.rows.get(this.#transaction, plan)
  }

  page(plan: PagePlan): Promise<PageResult> {
    return this.#parts.rows.page(this.#transaction, plan)
  }

  async select(plan: StatementPlan): Promise<readonly (readonly Value[])[]> {
    const { dialect } = this.#parts
    const rows = await this.#transaction.run(ownSelect(plan, dialect), ownValues(plan, dialect))
    return withinLimit(rows, plan)
  }

  call(plan: CallPlan): Promise<readonly (readonly Value[])[]> {
    const { statement, values } = ownCall(plan, this.#parts.dialect)
    return this.#transaction.run(statement, values)
  }

  async run(plan: StatementPlan): Promise<number> {
    const { rows } = await this.#transaction.change(ownChange(plan), ownValues(plan, this.#parts.dialect))
    return rows
  }

  audit(entry: AuditEntry): Promise<void> {
    return this.#parts.audit.insert(this.#transaction, entry)
  }

  auditAll(entries: readonly AuditEntry[]): Promise<void> {
    return this.#parts.audit.insertAll(this.#transaction, entries)
  }

  auditAfterChange(entry: AuditEntry): Promise<boolean> {
    return this.#parts.audit.insertAfterChange(this.#transaction, entry)
  }

  together<Issued>(issue: () => Issued): Issued {
    return this.#transaction.together(issue)
  }

  async emit(event: EmittedEvent): Promise<void> {
    this.#hasEmitted = true
    await this.#parts.outbox.insert(this.#transaction, event)
  }

  deliverEvent(claimed: ClaimedEvent, at: number): Promise<boolean> {
    return this.#parts.outbox.deliver(this.#transaction, claimed, at)
  }

  /** In a cluster it reads again after the guard of a missing row was written: the row may have been made before that. */
  async #again<Found>(read: () => Promise<Found>, seen: Found): Promise<Found> {
    return (await this.#guards.writeGuards()) ? await read() : seen
  }

  /** After this no other transaction of a cluster can commit a further row that refers to this one. */
  async #excludeReferring({ reference, key }: CountReferencingPlan | FindReferencingPlan): Promise<void> {
    this.#guards.excludeRow(this.#parts.entityNamed(reference.to), key)
    await this.#guards.writeGuards()
  }
}

/** The values of a child with the key of its root. */
function withRootKey(
  { foreignKey }: Children,
  values: ReadonlyMap<Column, Value>,
  rootKey: RowKey
): ReadonlyMap<Column, Value> {
  const columns = new Set(foreignKey.map(({ column }) => column))
  const own = [...values].filter(([{ column }]) => !columns.has(column))
  return new Map([...own, ...foreignKey.map((column, at): [Column, Value] => [column, rootKey[at] ?? null])])
}

/** Whether a request can name the key of a row that does not exist yet. Ids that the database numbers are not known before. */
function isKeyKnown(keyed: Keyed): boolean {
  return keyed.key.some((column) => keyMaker(column, keyed) !== 'database')
}
