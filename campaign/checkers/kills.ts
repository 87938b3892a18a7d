import type { Injury } from '../history.js'
import type { Violation } from './checker.js'

/** What a database is told, or may come, to end without writing what it has committed. */
const DEADLY = /^database (?:killed|terminated|node-emptied|disk-full)/

/** Milliseconds after which a database that goes on has written what it has shown, frozen for a while or not. */
const WRITTEN_MS = 60_000

/** A violation, unless a database has died meanwhile. */
export interface Forgotten extends Violation {
  /** When the read was sent that has shown what is not there any more. */
  readonly from: number
  /** When it was seen that it is not, or before that when the database had written what it had shown (`forgettableUntil`). */
  readonly until: number
}

/** When a database can have forgotten for the last time what an answer has shown, which was seen to be gone at `goneAt`. */
export function forgettableUntil(shown: { readonly endedAt: number }, goneAt = Infinity): number {
  return Math.min(goneAt, shown.endedAt + WRITTEN_MS)
}

/**
 * Databases that died. What a transaction has written is seen by others before its log is on the disk, so that a read may show
 * what is forgotten then. What was acknowledged is not.
 */
export class Kills {
  readonly #deaths: Injury[] = []

  hurt(injury: Injury): void {
    if (DEADLY.test(injury.fault)) this.#deaths.push(injury)
  }

  /** Those that no death excuses. To be asked when every injury was told. A database dies at some time of its injury. */
  *unexcused(all: Iterable<Forgotten>): Generator<Violation> {
    for (const { what, exchanges, from, until } of all) {
      const isExcused = this.#deaths.some((death) => death.from <= until && (death.until ?? Infinity) >= from)
      if (!isExcused) yield { what, exchanges }
    }
  }
}
