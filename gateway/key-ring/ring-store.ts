/** The stored ring and what tells this state of it from every other. */
export interface StoredRing {
  readonly text: string
  readonly version: string
}

/** Where replicas share their ring. Every method rejects while it cannot be reached. */
export interface RingStore {
  /** For the log, without secrets. */
  readonly place: string
  /** undefined: nothing is stored yet. */
  read(): Promise<StoredRing | undefined>
  /**
   * Stores the text in place of what `read` answered, by its version; undefined stands for nothing. False, and nothing is
   * stored, where somebody else was faster.
   */
  write(text: string, over: string | undefined): Promise<boolean>
}
