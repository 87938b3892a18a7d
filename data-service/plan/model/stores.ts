import type { Cancellation } from '../../../shared/transport/cancellation.js'
import type { AuthUnit } from '../../auth/accounts/accounts.js'
import type { EmittedEvent } from '../../entity/event.js'
import type { RowVersion } from '../../entity/fields/row-version.js'
import type { CsvWriter } from '../../entity/fields/csv-text.js'
import type { Value } from '../../entity/fields/field.js'
import type { UnshownValue } from '../../entity/fields/unshown.js'
import type { JsonWriter } from '../../entity/fields/json-text.js'
import type { RowKey } from '../../entity/key.js'
import type {
  CallPlan,
  ChildPlan,
  CountOutsidePlan,
  CountReferencingPlan,
  DeletePlan,
  ExportPlan,
  FindPlan,
  FindReferencingPlan,
  FindByUniquePlan,
  GetByPlan,
  GetPlan,
  HistoryPlan,
  InsertPlan,
  ListPlan,
  LockAllPlan,
  LockPlan,
  LookPlan,
  LookupPlan,
  PagePlan,
  Position,
  Projection,
  StatementPlan,
  TotalsPlan,
  UpdatePlan
} from './plans.js'

/**
 * The values of a row before they are decoded, from which JSON is written faster than from decoded ones. Both members throw
 * for a value that is none of its column's type.
 */
interface UndecodedValues {
  value(at: number): Value
  /** Writes the same as a writer of the decoded value (entity/fields/json-text.ts). */
  write(at: number, out: JsonWriter): void
  /** About as many bytes as the values take. */
  readonly bytes: number
}

/** A row as it was loaded: values in the order of the projection's `selected`, navigations by name. */
export interface LoadedRow {
  /** May be decoded when they are asked for, and throw as `stored` does. */
  readonly values: readonly Value[]
  /** The same values. undefined where a store has only decoded ones. */
  readonly stored?: UndecodedValues
  readonly references: ReadonlyMap<string, LoadedRow | null>
  readonly manyToMany: ReadonlyMap<string, readonly LoadedRow[]>
  readonly children: ReadonlyMap<string, readonly LoadedChild[]>
  /** The collections of which only the first rows are here. One within another navigation is named `lines.parts`. */
  readonly truncated: readonly string[]
}

/** A child with its own children by name. */
export interface LoadedChild {
  /** Its columns in order, then its row version. As those of a LoadedRow. */
  readonly values: readonly Value[]
  readonly stored?: UndecodedValues
  readonly children: ReadonlyMap<string, readonly LoadedChild[]>
  /** Those that were asked for. */
  readonly references?: LoadedRow['references']
}

export interface ListResult {
  readonly rows: readonly LoadedRow[]
  readonly truncated: boolean
}

export interface PageResult {
  readonly rows: readonly LoadedRow[]
  /** undefined where the plan skips the count. Where it has a limit and there are more rows, one more than the limit. */
  readonly total: number | undefined
  /** Where the rows after the page begin; undefined if there are none. */
  readonly next: Position | undefined
  /** Where the rows before the page end; undefined if there are none. */
  readonly previous: Position | undefined
}

export interface LookupResult {
  /** A name that is none of the label's type is an UnshownValue. */
  readonly items: readonly { readonly key: RowKey; readonly name: Value | UnshownValue }[]
  readonly truncated: boolean
}

/** The groups of totals: the values of the dimensions, then those of the measures, each as its field says or an UnshownValue. */
export interface TotalsResult {
  readonly rows: readonly (readonly (Value | UnshownValue)[])[]
  readonly truncated: boolean
}

/** A row of an export: values in the order of the projection's `selected`, and perhaps others behind them. */
export interface ExportedRow {
  /** As those of a LoadedRow. */
  readonly values: readonly Value[]
  value(at: number): Value
  /** Writes values as cells with commas between them, each as `cellWriter` writes it (entity/fields/csv-text.ts). */
  writeCells(some: readonly number[], out: CsvWriter): void
}

/** Takes the rows of one batch of an export, in their order, and makes parts of them. */
export interface BatchWriter<Part> {
  /** Adds a row. */
  add(row: ExportedRow): void
  /** Bytes that the rows so far have become, by which the next batch is measured. */
  readonly bytes: number
  /** Ends the batch. */
  finish(): readonly Part[]
}

/** A batch of an export. The last one has an `end` and may have no rows. */
export interface ExportBatch<Part> {
  readonly parts: readonly Part[]
  /** How many rows the parts hold. */
  readonly count: number
  /** Set on the last batch: whether more rows matched than the plan's limit. */
  readonly end: { readonly truncated: boolean } | undefined
}

/**
 * Runs read plans; implemented by data-service/sql. An aborted signal stops the statement in the database, and the call
 * rejects with the signal's reason.
 */
export interface ReadStore {
  list(plan: ListPlan, cancellation: Cancellation): Promise<ListResult>
  /** `by`: whether the rows are the answer, whose bytes are bounded, or are read by code of the application. */
  page(plan: PagePlan, cancellation: Cancellation, by?: 'answer' | 'code'): Promise<PageResult>
  /** undefined for no such row within the scope. */
  get(plan: GetPlan, cancellation: Cancellation): Promise<LoadedRow | undefined>
  /** The same by the value of a unique column. */
  getBy(plan: GetByPlan, cancellation: Cancellation): Promise<LoadedRow | undefined>
  /** Callers who ask for the same at the same time may get the same result object. */
  lookup(plan: LookupPlan, cancellation: Cancellation): Promise<LookupResult>
  totals(plan: TotalsPlan, cancellation: Cancellation): Promise<TotalsResult>
  /** At most one entry more than the limit of the plan. */
  history(plan: HistoryPlan, cancellation: Cancellation): Promise<readonly HistoryEntry[]>
  /**
   * The rows go to a new writer for each batch. While the consumer has one batch the next is read, and no further one.
   * Leaving the loop ends the snapshot.
   */
  export<Part>(plan: ExportPlan, writer: () => BatchWriter<Part>, signal: AbortSignal): AsyncIterable<ExportBatch<Part>>
  /** The rows of a SELECT of the application's own, in a transaction that can change nothing. Throws RangeError for too many. */
  select(plan: StatementPlan, signal: AbortSignal): Promise<readonly (readonly Value[])[]>
  /** The rows of a procedure, which can change nothing. Throws RangeError for too many. */
  call(plan: CallPlan, signal: AbortSignal): Promise<readonly (readonly Value[])[]>
}

/** A row by property name, hidden columns included, with its version. */
export interface StoredRow {
  readonly values: ReadonlyMap<string, Value>
  /** undefined for a row of an entity without row versions, and for a row whose stored version is empty. */
  readonly version: RowVersion | undefined
}

export interface LockedRow extends StoredRow {
  /** By navigation name: the children that the plan asks for, in order of id. */
  readonly children: ReadonlyMap<string, readonly StoredRow[]>
}

/** A claim of an idempotency key. */
export interface KeyClaim {
  /** Hash (32 bytes) of caller, method, concrete path and the key itself, which together identify the key. */
  readonly keyHash: Buffer
  /** Hash (32 bytes) of the request's body by value. */
  readonly fingerprint: Buffer
  /** Epoch milliseconds. */
  readonly now: number
  readonly expiresAt: number
}

/** A response stored under a key. A retry gets the same bytes. */
export interface StoredResponse {
  readonly fingerprint: Buffer
  readonly answer: Buffer
}

export interface AuditEntry {
  /** `2026-01-31T08:00:00.000Z`. */
  readonly at: string
  /** Issuer and subject. */
  readonly subject: string
  readonly resource: string
  readonly rowId: string
  readonly action: string
  /** Of the call that writes, at most 128 characters. */
  readonly requestId: string
  /** What the write changed, as `changesOf` writes it. Absent without a history. */
  readonly changes?: string | undefined
}

/** An entry of a history. */
export interface HistoryEntry extends Pick<AuditEntry, 'at' | 'subject' | 'action'> {
  /** Digits. */
  readonly id: string
  /** null in entries of earlier versions. */
  readonly requestId: string | null
  /** As `changesOf` writes it. null where the resource had no history then. */
  readonly changes: string | null
  /** Whether the history begins with it for the caller, who does not see what was before. */
  readonly isFirst: boolean
}

export interface CreateAtOnce {
  /** undefined for a create without a key. */
  readonly claim: KeyClaim | undefined
  readonly insert: InsertPlan
  /** Without an id it is of the number that the row is given. */
  readonly entry: Omit<AuditEntry, 'rowId'> & { readonly rowId?: string | undefined }
  /** What of the row is read. It has no navigations. */
  readonly projection: Projection
}

export interface CreatedRow {
  readonly key: RowKey
  readonly row: LoadedRow
}

/** The statements of one transaction, which run in the order of the calls. Unusable after the transaction has ended. */
export interface UnitOfWork {
  /** Accounts and sessions, in this transaction. */
  readonly accounts: AuthUnit
  /**
   * Makes this a dry run: at its end the transaction is rolled back in place of the COMMIT, and nothing that follows a
   * COMMIT happens.
   */
  rollBackAtEnd(): void
  /**
   * Takes the key for this transaction: undefined when the key is free, else the response that is stored under it. While
   * another request holds the key this waits up to 2 s and then throws DomainError `idempotency.in-flight`; for any other
   * lock that was not had in that time, `upstream.unavailable`. An expired key is free.
   */
  claimKey(claim: KeyClaim): Promise<StoredResponse | undefined>
  /** The response that is stored under the key. It claims nothing, and does not wait for a request that holds the key. */
  findResponse(claim: KeyClaim): Promise<StoredResponse | undefined>
  /**
   * Claims the key, inserts a row without children, its audit entry, and reads the row, all in one round trip. It is the
   * first step of a transaction. undefined if the key is not new or the database cannot do so: then nothing was done, and
   * the steps are made one by one.
   */
  createAtOnce(of: CreateAtOnce): Promise<CreatedRow | undefined>
  /** Stores the response under the claimed key with the COMMIT. */
  storeResponse(claim: KeyClaim, answer: Buffer): void
  /** Deletes the responses that are stored under the keys, and frees the keys. Nothing else is in the transaction. */
  forgetResponses(claims: readonly KeyClaim[]): Promise<void>
  /** undefined for no such row within the scope. */
  lock(plan: LockPlan): Promise<LockedRow | undefined>
  /** By the text of their id, locked in the order of their keys. Those that are not within the scope are absent. */
  lockAll(plan: LockAllPlan): Promise<ReadonlyMap<string, StoredRow>>
  /** The row as it is now, without a lock. undefined for no such row within the scope. */
  look(plan: LookPlan): Promise<StoredRow | undefined>
  /** The key of the new row. */
  insert(plan: InsertPlan): Promise<RowKey>
  /**
   * The same of rows of one entity without children, in this order. undefined, with nothing written, where no one statement
   * can insert and name them.
   */
  insertAll(plans: readonly InsertPlan[]): Promise<readonly RowKey[] | undefined>
  /** Whether a row met the whole match condition. The version of the row is then the one after the stored one. */
  update(plan: UpdatePlan): Promise<boolean>
  delete(plan: DeletePlan): Promise<boolean>
  /** Whether a row met the whole match condition; always true for an insert. */
  writeChild(plan: ChildPlan): Promise<boolean>
  /** The rows by the text of their id. Ids without a row are absent. */
  find(plan: FindPlan): Promise<ReadonlyMap<string, StoredRow>>
  findByUnique(plan: FindByUniquePlan): Promise<StoredRow | undefined>
  /** In order of id; undefined where more rows than the plan allows refer to the row. */
  findReferencing(plan: FindReferencingPlan): Promise<readonly LockedRow[] | undefined>
  countReferencing(plan: CountReferencingPlan): Promise<number>
  /** Counts without locks: the rows are those that this transaction has inserted. */
  countOutside(plan: CountOutsidePlan): Promise<number>
  get(plan: GetPlan): Promise<LoadedRow | undefined>
  /** As the read of that plan, in this transaction. */
  page(plan: PagePlan): Promise<PageResult>
  /** As ReadStore.select, in this transaction. */
  select(plan: StatementPlan): Promise<readonly (readonly Value[])[]>
  /** Calls a procedure, whose changes are of this transaction. Throws TypeError for one that has ended it. */
  call(plan: CallPlan): Promise<readonly (readonly Value[])[]>
  /** Runs a statement of the application's own. Answers the number of rows that it changed. */
  run(plan: StatementPlan): Promise<number>
  audit(entry: AuditEntry): Promise<void>
  /** The same for rows that `insertAll` has inserted. */
  auditAll(entries: readonly AuditEntry[]): Promise<void>
  /**
   * As `audit`, for a write whose own statement is the one right before it in `together`. Returns whether the entry was
   * inserted: it may not be if that statement matched no row. The transaction has to be given up then.
   */
  auditAfterChange(entry: AuditEntry): Promise<boolean>
  /**
   * Sends the statements that `issue` begins together, without waiting for the answers between them. Only the first of them
   * may change rows, and `auditAfterChange`, and what reads. Returns what `issue` returns: its promises, which the caller
   * has to wait for.
   */
  together<Issued>(issue: () => Issued): Issued
  /** Puts an event into the outbox. It is delivered after the COMMIT. */
  emit(event: EmittedEvent): Promise<void>
  /** Marks a claimed event as delivered at a time, in epoch milliseconds. false where the claim is no longer valid. */
  deliverEvent(claimed: ClaimedEvent, at: number): Promise<boolean>
}

/**
 * Runs writes; implemented by data-service/sql. After a lost race (a deadlock, a row changed since it was read, a failed
 * certification) the whole transaction is repeated a bounded number of times, `work` included; after the last it throws
 * DomainError `conflict`. A unique or foreign-key violation throws `conflict` at once. A lock that is not granted in
 * time, or a busy file, is repeated too, and in the end throws `upstream.unavailable`, as does everything that keeps a
 * database from writing for a while. The error's `cause` tells them apart.
 */
export interface WriteStore {
  transaction<Result>(signal: Cancellation, work: (unit: UnitOfWork) => Promise<Result>): Promise<Result>
  /** Deletes at most `limit` expired keys, and answers how many it deleted. */
  purgeKeys(now: number, limit: number): Promise<number>
}

/** An event that waits in the outbox, with what a claim of it compares. */
export interface DueEvent extends EmittedEvent {
  /** Digits: the place of the event in the order of all events. */
  readonly sequence: string
  /** Epoch milliseconds. */
  readonly dueAt: number
  /** Deliveries that began before. */
  readonly attempts: number
}

export interface ClaimedEvent {
  readonly sequence: string
  /** 16 random bytes: they tell this claim from those before and after it. */
  readonly lease: Buffer
}

/** An event whose deliveries all failed. */
export interface SetAsideEvent extends Omit<EmittedEvent, 'payload'> {
  readonly sequence: string
  readonly setAsideAt: string
  readonly attempts: number
  /** The message of the last failure. */
  readonly error: string
}

/** Which of the events that were set aside: those of a stored type, or the one of an id; without either all of them. */
export interface SetAsideOf {
  readonly type?: string | undefined
  readonly id?: string | undefined
}

/**
 * The outbox; implemented by data-service/sql. Times are epoch milliseconds of the processes, whose clocks have to agree
 * within a few seconds. What takes a claimed event answers false where the claim is no longer valid.
 */
export interface OutboxStore {
  /** Events of these types whose time has come, the first of each row only: those after it wait until it is settled. */
  due(types: readonly string[], at: { readonly now: number; readonly limit: number }): Promise<readonly DueEvent[]>
  /** How many events of other types wait. */
  unhandled(types: readonly string[]): Promise<readonly { readonly type: string; readonly waiting: number }[]>
  /** false, or an error, if another process was faster. Nobody else can claim the event until `until`. */
  claim(event: DueEvent, by: { readonly lease: Buffer; readonly until: number }): Promise<boolean>
  /** After a failed delivery. */
  postpone(claimed: ClaimedEvent, to: { readonly until: number; readonly error: string }): Promise<boolean>
  /** After a delivery that stores nothing else. */
  deliver(claimed: ClaimedEvent, at: number): Promise<boolean>
  /** Gives a claimed event back. The delivery that was broken off does not count as an attempt. */
  release(claimed: ClaimedEvent, now: number): Promise<boolean>
  /** After the last failed delivery. */
  setAside(claimed: ClaimedEvent, last: { readonly at: number; readonly error: string }): Promise<boolean>
  /** Events that were set aside, the oldest first. */
  dead(limit: number, of?: SetAsideOf): Promise<readonly SetAsideEvent[]>
  /** Makes an event that was set aside wait again, as if it had never been delivered. */
  retry(event: SetAsideEvent, now: number): Promise<boolean>
  /** Deletes an event that was set aside. */
  drop(event: SetAsideEvent): Promise<boolean>
  /** Deletes at most `limit` events that were delivered by then, and answers how many it deleted. */
  purge(deliveredBefore: number, limit: number): Promise<number>
  /** The same for requests for one-time links that were made by then, whatever has become of them. */
  purgeLinks(askedBefore: number, limit: number): Promise<number>
}
