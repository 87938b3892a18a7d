import type { Makers } from '../plan/plan-write.js'
import type { Planning } from '../plan/planning.js'
import type { WriteStore } from '../plan/write-store.js'

/** What the write handlers work on; clock and randomness are passed in. */
export interface Writing extends Makers {
  readonly planning: Planning
  readonly store: WriteStore
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly idempotency: {
    /** Milliseconds that an answer is kept. */
    readonly retention: number
    /** Whether a create without a key is refused. */
    readonly required: boolean
  }
}
