import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { DomainError } from './errors.js'
import type { Logger } from './logger.js'

/** Bytes. */
export interface Memory {
  /** What V8 keeps: values, and the Buffers that they hold, which are no part of the heap. */
  readonly used: number
  /** What the process may use for it. */
  readonly limit: number
}

/** How the memory is looked at. Tests give their own. */
export interface MemorySource {
  read(): Memory
  /** Collects all garbage. */
  collect(): void
  /** Milliseconds. */
  now(): number
}

/** Share of the limit beyond which new work is refused. */
const FULL = 0.8
/**
 * The same for large texts: V8 keeps three of 65 KB in pages of 256 KB, and a heap that was four fifths full of them was at
 * its limit.
 */
const FULL_OF_LARGE = 0.6
/** Milliseconds for which a look at the memory is believed. */
const BELIEVED = 100
/** Milliseconds between two collections that are asked for here, and between two lines of the log. */
const COLLECTION_INTERVAL = 2_000
/**
 * Says whether the memory is nearly full: new work is then refused, so that what is under way comes to its end. What V8 holds
 * may be garbage that it has had no reason to collect, and where work is refused it has none: so a collection comes before the
 * first refusal, and again at times.
 */
export class MemoryGuard {
  readonly #source: MemorySource
  readonly #log: Logger
  #isFull = false
  #looked = -Infinity
  #collected = -Infinity

  constructor(log: Logger, source: MemorySource = processMemory()) {
    this.#log = log
    this.#source = source
  }

  /** Whether new work has to be refused. The answer is at most a tenth of a second old. */
  isFull(): boolean {
    const now = this.#source.now()
    if (now - this.#looked >= BELIEVED) {
      this.#looked = now
      this.#isFull = this.#look(now)
    }
    return this.#isFull
  }

  /** Throws `upstream.unavailable` where new work has to be refused. */
  check(): void {
    if (this.isFull()) throw this.rejection()
  }

  /** Whether so many bytes more, of large texts, would be too many, as the memory is at this moment. */
  isFullWith(bytes: number): boolean {
    return this.#look(this.#source.now(), { share: FULL_OF_LARGE, more: bytes })
  }

  rejection(): DomainError {
    return new DomainError('upstream.unavailable', 'The data service has too much to do at the moment. Try again.', {
      retryAfter: 1
    })
  }

  #look(now: number, { share, more } = { share: FULL, more: 0 }): boolean {
    const isFull = ({ used, limit }: Memory): boolean => used + more > limit * share
    if (!isFull(this.#source.read())) return false
    if (now - this.#collected < COLLECTION_INTERVAL) return true
    this.#collected = now
    this.#source.collect()
    const memory = this.#source.read()
    if (isFull(memory)) this.#log.warn(memory, 'new requests are refused: the memory is nearly full')
    return isFull(memory)
  }
}

/**
 * The memory of this process. Its limit is that of the heap (`--max-old-space-size`), or that of its container where that is
 * less: the code of Node and the stacks take some of the latter.
 */
export function processMemory(): MemorySource {
  const limit = memoryLimit()
  return {
    read: () => {
      // `process.memoryUsage()` says the same and reads the resident pages besides, which takes eight times as long.
      const { used_heap_size: heap, external_memory: external } = getHeapStatistics()
      return { used: heap + external, limit }
    },
    collect: collectGarbage,
    now: () => performance.now()
  }
}

/** Bytes that the process may use for values and Buffers. */
export function memoryLimit(): number {
  // 0, or a number beyond any machine's, where there is none.
  const container = process.constrainedMemory()
  const heap = getHeapStatistics().heap_size_limit
  return container > 0 ? Math.min(heap, container - OUTSIDE_OF_V8) : heap
}

let collector: (() => void) | undefined

function collectGarbage(): void {
  if (collector === undefined) {
    setFlagsFromString('--expose-gc')
    collector = runInNewContext('gc') as () => void // Of the flag above.
    setFlagsFromString('--no-expose-gc')
  }
  collector()
}

/** Bytes that a process takes besides what V8 keeps: code, stacks, the pages of an embedded database. */
const OUTSIDE_OF_V8 = 64 * 1024 * 1024
