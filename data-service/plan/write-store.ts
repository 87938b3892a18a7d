import type { RowVersion } from '../entity/row-version.js'
import type { Operand, Value } from '../entity/value.js'
import type { GetPlan } from './read-plan.js'
import type { LoadedRow } from './read-store.js'
import type {
  ChildPlan,
  DeletePlan,
  FindPlan,
  FindReferringPlan,
  FindUniquePlan,
  InsertPlan,
  LockPlan,
  UpdatePlan
} from './write-plan.js'

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
  findUnique(plan: FindUniquePlan): Promise<StoredRow | undefined>
  /** In order of id; undefined where there are more than the plan allows. */
  findReferring(plan: FindReferringPlan): Promise<readonly LockedRow[] | undefined>
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
