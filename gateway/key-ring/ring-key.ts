import type { KeyDates } from './key-life.js'

/** A key that this process can use. */
export interface RingKey extends KeyDates {
  /** 32 random bytes, from which a key for each purpose is derived. */
  readonly secret: Buffer
}
