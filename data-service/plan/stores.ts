import type { Operand, RowVersion, Value } from '../entity/field.js'
import type {
  ChildPlan,
  DeletePlan,
  ExportPlan,
  FindPlan,
  FindReferencingPlan,
  FindByUniquePlan,
  GetPlan,
  InsertPlan,
  ListPlan,
  LockPlan,
  LookupPlan,
  PagePlan,
  UpdatePlan
} from './plans.js'

/** A row as loaded: values in the order of the projection's `selected`, navigations by name. */
export interface LoadedRow {
  readonly values: readonly Value[]
  readonly references: ReadonlyMap<string, LoadedRow | null>
  /** Each child: its columns in order, then its row version. */
  readonly children: ReadonlyMap<string, readonly (readonly Value[])[]>
}

export interface ListResult {
  readonly rows: readonly LoadedRow[]
  readonly truncated: boolean
}

export interface PageResult {
  readonly rows: readonly LoadedRow[]
  /** undefined where the plan skips the count. */
  readonly total: number | undefined
  readonly hasNext: boolean
}

export interface LookupResult {
  readonly items: readonly { readonly id: Value; readonly name: Value }[]
  readonly truncated: boolean
}

/** A batch of an export, values in the order of `selected`; `last` with the last one, which may be empty. */
export interface ExportBatch {
  readonly rows: readonly (readonly Value[])[]
  /** Set on the last batch: whether more rows matched than the plan's limit. */
  readonly end: { readonly truncated: boolean } | undefined
}

/**
 * What runs read plans (data-service/sql). An aborted signal stops the statement in the database and rejects with the
 * signal's reason.
 */
export interface ReadStore {
  list(plan: ListPlan, signal: AbortSignal): Promise<ListResult>
  page(plan: PagePlan, signal: AbortSignal): Promise<PageResult>
  /** undefined for no such row within the scope. */
  get(plan: GetPlan, signal: AbortSignal): Promise<LoadedRow | undefined>
  lookup(plan: LookupPlan, signal: AbortSignal): Promise<LookupResult>
  /** The next statement is sent when the next batch is asked for; leaving the loop ends the snapshot. */
  export(plan: ExportPlan, signal: AbortSignal): AsyncIterable<ExportBatch>
}

/** A row by property name, hidden columns included, with its version. */
export interface StoredRow {
  readonly values: ReadonlyMap<string, Value>
  readonly version: RowVersion
}

export interface LockedRow extends StoredRow {
  /** By navigation name, those the plan asked for, in order of id. */
  readonly children: ReadonlyMap<string, readonly StoredRow[]>
}

/** What makes an idempotency key one key: caller, method, concrete path and the key itself, hashed (32 bytes). */
export interface KeyClaim {
  readonly keyHash: Buffer
  /** Hash (32 bytes) of the request's body by value. */
  readonly fingerprint: Buffer
  /** Epoch milliseconds. */
  readonly now: number
  readonly expiresAt: number
}

/** An answer kept under a key: what a retry gets, to the byte. */
export interface KeptAnswer {
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
}

/** The statements of one transaction, in the order they are asked for. It is of no use once the transaction ended. */
export interface UnitOfWork {
  /**
   * Takes the key for this transaction: undefined when it is free, else the answer kept under it. While another
   * transaction holds it, waits up to 2 s, then throws DomainError `idempotency.in-flight`. An expired one is free.
   */
  claimKey(claim: KeyClaim): Promise<KeptAnswer | undefined>
  keepAnswer(claim: KeyClaim, answer: Buffer): Promise<void>
  /** undefined for no such row within the scope. */
  lock(plan: LockPlan): Promise<LockedRow | undefined>
  /** The id of the new row. */
  insert(plan: InsertPlan): Promise<Operand>
  /** Whether a row met the whole match condition. */
  update(plan: UpdatePlan): Promise<boolean>
  delete(plan: DeletePlan): Promise<boolean>
  /** Whether a row met the whole match condition; always for an insert. */
  writeChild(plan: ChildPlan): Promise<boolean>
  /** By id as on the wire. */
  find(plan: FindPlan): Promise<ReadonlyMap<string, StoredRow>>
  findByUnique(plan: FindByUniquePlan): Promise<StoredRow | undefined>
  /** In order of id; undefined where there are more than the plan allows. */
  findReferencing(plan: FindReferencingPlan): Promise<readonly LockedRow[] | undefined>
  get(plan: GetPlan): Promise<LoadedRow | undefined>
  audit(entry: AuditEntry): Promise<void>
}

/**
 * What runs writes (data-service/sql). A lost race (deadlock, changed since read, failed certification) repeats the
 * whole transaction a bounded number of times, `work` included, then throws DomainError `conflict`; so does a unique or
 * foreign-key violation, at once. So does a lock that is not had in time, or a busy file, but it ends in
 * `upstream.unavailable`, as does all that keeps a database from writing for a while. The distinct cause is the
 * error's `cause`.
 */
export interface WriteStore {
  transaction<Result>(signal: AbortSignal, work: (unit: UnitOfWork) => Promise<Result>): Promise<Result>
  /** Deletes at most `most` expired keys; how many it deleted. */
  purgeKeys(now: number, most: number): Promise<number>
}
