import type { MemoryGuard } from '../../../shared/memory-guard.js'

/** Bytes of rows that are read for one answer. The first row does not count, because no caller could ask for less. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024

export const TOO_LARGE = `The rows of the answer have more than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB`

/** The rows of an answer, or of a batch of an export, have more bytes than are read for one. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
  /** How many rows of the statement were within the bound, one at least. */
  readonly held: number

  constructor(held: number) {
    super(TOO_LARGE)
    this.held = Math.max(1, held)
  }
}

/** Bytes that the rows of a statement may have. */
export interface RowsBound {
  readonly bytes: number
  /** Whether the first row does not count. */
  readonly isFirstFree: boolean
  /** How many of the last rows do not count: they only tell what is beside a page. */
  readonly beside: number
}

/** Counts the rows of a statement against a bound. */
export class BoundedRows {
  readonly #beside: number
  /** Sizes of the last rows, which may be beside the page. */
  readonly #last: number[] = []
  #isFree: boolean
  #left: number
  #held = 0

  constructor({ bytes, isFirstFree, beside }: RowsBound) {
    this.#left = bytes
    this.#isFree = isFirstFree
    this.#beside = beside
  }

  get left(): number {
    return this.#left
  }

  /** Whether there is room for one more row. */
  holds(bytes: number): boolean {
    if (this.#beside === 0) return this.#count(bytes)
    this.#last.push(bytes)
    return this.#last.length <= this.#beside || this.#count(this.#last.shift() ?? 0)
  }

  /** Counts the last rows too. Returns whether there was room for them. */
  countLast(): boolean {
    return this.#last.splice(0).every((bytes) => this.#count(bytes))
  }

  tooLarge(): AnswerTooLarge {
    return new AnswerTooLarge(this.#held)
  }

  #count(bytes: number): boolean {
    if (this.#isFree) this.#isFree = false
    else this.#left -= bytes
    if (this.#left < 0) return false
    this.#held += 1
    return true
  }
}

/** Says whether so many bytes more are too many for the memory of the process. */
export type Memory = Pick<MemoryGuard, 'isFullWith' | 'rejection'>

/** Counts the bytes of the rows that are read for one answer. */
export class AnswerBytes {
  readonly #memory: Memory
  #rows = new BoundedRows({ bytes: MAX_ANSWER_BYTES, isFirstFree: true, beside: 0 })
  #bound: RowsBound | undefined
  /** Bytes of all rows, also those that do not count. */
  #read = 0
  #looked = 0
  #failure: Error | undefined

  constructor(memory: Memory) {
    this.#memory = memory
  }

  /** Where the next statement has to stop; undefined where its rows cannot have so many bytes. */
  get bound(): RowsBound | undefined {
    return this.#bound
  }

  /** Why the last row was not held: an AnswerTooLarge, or `upstream.unavailable` where the memory is nearly full. */
  get failure(): Error | undefined {
    return this.#failure
  }

  /**
   * This, where the rows of the next statement may be large. Nothing has to be counted otherwise. `beside`: how many rows it
   * may read besides those of the page.
   */
  ifNeeded(rows: number, width: number, beside = 0): AnswerBytes | undefined {
    if (rows * width <= UNCOUNTED_BYTES) return undefined
    const bound = { bytes: this.#rows.left, isFirstFree: this.#read === 0, beside }
    this.#rows = new BoundedRows(bound)
    this.#bound = rows * width > bound.bytes ? bound : undefined
    return this
  }

  /** Whether there is room for one more row, which is counted. */
  holds(bytes: number): boolean {
    if (this.#failure !== undefined) return false
    this.#read += bytes
    if (!this.#rows.holds(bytes)) this.#failure = this.#rows.tooLarge()
    else if (this.#read - this.#looked > BYTES_BETWEEN_LOOKS) this.#look()
    return this.#failure === undefined
  }

  /** Counts rows whose values a driver has made. Throws where they, or those before them, are not held. */
  check(rows: readonly (readonly unknown[])[]): void {
    for (const row of rows) this.holds(bytesOf(row))
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Counts the last rows of the statement, where none of them was beside the page. Throws where they are not held. */
  countLast(): void {
    if (!this.#rows.countLast()) throw this.#rows.tooLarge()
  }

  /** What has been read is to be written too, and takes as many bytes again. */
  #look(): void {
    this.#looked = this.#read
    if (this.#memory.isFullWith(this.#read)) this.#failure = this.#memory.rejection()
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
    if (typeof value === 'string') bytes += value.length > SHORT_TEXT ? Buffer.byteLength(value) : value.length
    else if (value instanceof Uint8Array) bytes += value.length
    else bytes += NUMBER_BYTES
  }
  return bytes
}

const NUMBER_BYTES = 8

/** Characters of a text whose bytes are not worth a call to count. */
const SHORT_TEXT = 256
