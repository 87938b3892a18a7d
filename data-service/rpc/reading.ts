import type { FairSemaphore } from '../../shared/fair-semaphore.js'
import type { Planning } from '../plan/planning.js'
import type { ReadStore } from '../plan/read-store.js'

/** What the read handlers work on. */
export interface Reading {
  readonly planning: Planning
  readonly store: ReadStore
  /** Places for the exports under way (export.ts). */
  readonly exports: FairSemaphore
}
