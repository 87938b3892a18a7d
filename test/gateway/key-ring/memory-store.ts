import type { RingStore, StoredRing } from '../../../gateway/key-ring/ring-stores.js'

/** A store in memory, which can be made to fail. */
export class MemoryStore implements RingStore {
  readonly place = 'memory'
  stored: StoredRing | undefined
  reads = 0
  writes = 0
  failure: Error | undefined
  writeFailure: Error | undefined
  /** Runs once, between a read and the write after it. */
  beforeWrite: (() => Promise<void>) | undefined

  async read(): Promise<StoredRing | undefined> {
    this.reads++
    if (this.failure !== undefined) throw this.failure
    return Promise.resolve(this.stored)
  }

  async write(text: string, over: string | undefined): Promise<boolean> {
    const before = this.beforeWrite
    this.beforeWrite = undefined
    await before?.()
    const failure = this.failure ?? this.writeFailure
    if (failure !== undefined) throw failure
    if (this.stored?.version !== over) return false
    this.writes++
    this.stored = { text, version: String(this.writes) }
    return true
  }
}
