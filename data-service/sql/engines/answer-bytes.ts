import type { MemoryGuard } from '../../../shared/memory-guard.js'

/** Bytes of rows that are read for one answer. The first row does not count, because no caller could ask for less. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024

export const TOO_LARGE = `The rows of the answer have more than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB`

/** The rows of an answer have more bytes than are read for one. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'

  constructor() {
    super(TOO_LARGE)
  }
}

/** Says whether so many bytes more are too many for the memory of the process. */
export type Memory = Pick<MemoryGuard, 'isFullWith' | 'rejection'>

/** Counts the bytes of the rows that are read for one answer. */
export class AnswerBytes {
  readonly #memory: Memory
  #left = MAX_ANSWER_BYTES
  #looked = MAX_ANSWER_BYTES
  #isEmpty = true
  #isBounding = false
  #failure: Error | undefined

  constructor(memory: Memory) {
    this.#memory = memory
  }

  /** Where the next statement has to stop; undefined where its rows cannot have so many bytes. */
  get bound(): number | undefined {
    return this.#isBounding ? this.#left : undefined
  }

  /** Why the last row was not held: an AnswerTooLarge, or `upstream.unavailable` where the memory is nearly full. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /** This, where the rows of the next statement may be large. Nothing has to be counted otherwise. */
  ifNeeded(rows: number, width: number): AnswerBytes | undefined {
    this.#isBounding = rows * width > this.#left
    return rows * width > UNCOUNTED_BYTES ? this : undefined
  }

  /** Whether there is room for one more row, which is counted. */
  holds(bytes: number): boolean {
    if (this.#failure !== undefined) return false
    if (this.#isEmpty) this.#isEmpty = false
    else this.#left -= bytes
    if (this.#left < 0) this.#failure = new AnswerTooLarge()
    else if (this.#looked - this.#left > BYTES_BETWEEN_LOOKS) this.#look()
    return this.#failure === undefined
  }

  /** Counts rows whose values a driver has made. Throws where they, or those before them, are not held. */
  check(rows: readonly (readonly unknown[])[]): void {
    for (const row of rows) this.holds(bytesOf(row))
    if (this.#failure !== undefined) throw this.#failure
  }

  /** What has been read is to be written too, and takes as many bytes again. */
  #look(): void {
    this.#looked = this.#left
    if (this.#memory.isFullWith(MAX_ANSWER_BYTES - this.#left)) this.#failure = this.#memory.rejection()
  }
}

/** A statement whose rows cannot have more bytes is not counted. */
const UNCOUNTED_BYTES = 1024 * 1024

/** Bytes that are read between two looks at the memory. */
const BYTES_BETWEEN_LOOKS = 256 * 1024

/** About as many bytes as the values of a row take, which are what a driver makes of them. */
export function bytesOf(raw: readonly unknown[]): number {
  let bytes = 0
  for (const value of raw) {
    if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length
    else bytes += NUMBER_BYTES
  }
  return bytes
}

const NUMBER_BYTES = 8
