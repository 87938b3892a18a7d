import type { Delivery, Exchange, Injury } from '../history.js'

/** Runs a statement of hand-written SQL on the primary database, past the system, after everything has come to rest. */
export type Rows = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>

/** What `Rows` rejects with where the rows of an earlier run are all that is left, and that run did not ask for these. */
export class NotAsked extends Error {
  override readonly name = 'NotAsked'
}

/** Something that must not have happened. */
export interface Violation {
  /** One sentence that names the row or the key: "The update of request r-17 was answered 200 and has no audit entry." */
  readonly what: string
  /** Ids of the exchanges that prove it, at most a few. */
  readonly exchanges: readonly string[]
}

/** What a checker says of a run. */
export interface Verdict {
  /** How often the promise could have been broken: acknowledged creates, reads after writes, rows of exports, …; 0 fails a run. */
  readonly tried: number
  /** What is counted in `tried`: `acknowledged creates`. */
  readonly of: string
  readonly violations: readonly Violation[]
  /** What a reader has to know of it and breaks no promise; sentences. Default: none. */
  readonly notes?: readonly string[]
}

/**
 * Holds the history of a run, and the rows that are left, to one promise. It imports nothing of the system: what it expects
 * comes from the contract. Exchanges are seen in the order in which they ended. Memory: facts of the exchanges, not bodies,
 * since a run may have millions.
 */
export interface Checker {
  /** What docs/reliability.md calls the promise: "Created once". No two have the same. */
  readonly title: string
  /** The heading of docs/spec/contract.md below which it stands: "5. Writes". */
  readonly contract: string
  /** Which workloads try it, and how; sentences for the page, without a capital at the beginning. */
  readonly how: string
  /** Whether it looks for what was acknowledged, and would find a write that is lost or was done twice. Default: it does not. */
  readonly isOfWrites?: true
  /** The promise, a sentence for docs/reliability.md: "Every acknowledged create exists once." */
  readonly promise: string
  /** Whether it sees calls of tools as the messages that they are, and not as the requests that they stand for. Default: it does not. */
  readonly seesMessages?: true
  see(exchange: Exchange): void
  /** A delivery of a webhook, seen when it was answered or when its connection ended. */
  deliver?(delivery: Delivery): void
  /**
   * Something was broken and mended, told when it was mended: of requests meanwhile it is told later than they are seen. What was
   * still broken when the history ends is told then, without `until`.
   */
  hurt?(injury: Injury): void
  judge(rows: Rows): Promise<Verdict>
}
