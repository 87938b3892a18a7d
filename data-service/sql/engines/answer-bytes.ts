/** Bytes of rows that are read for one answer. The first row is read however large it is: nobody could ask for less. */
const MAX_BYTES = 8 * 1024 * 1024

export const TOO_LARGE = `The rows of the answer have more than ${MAX_BYTES / 1024 / 1024} MiB`

/** The rows of an answer have more bytes than are read for one. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'

  constructor() {
    super(TOO_LARGE)
  }
}

/** Counts the bytes of the rows that are read for one answer. */
export class AnswerBytes {
  #left = MAX_BYTES
  #isEmpty = true

  get left(): number {
    return this.#left
  }

  /** Whether the last row was beyond them. */
  get isExceeded(): boolean {
    return this.#left < 0
  }

  /** This, where so many rows could be beyond them. Nothing has to be counted otherwise. */
  ifNeeded(rows: number, width: number): AnswerBytes | undefined {
    return rows * width > this.#left ? this : undefined
  }

  /** Whether there is room for one more row, which is counted. */
  holds(bytes: number): boolean {
    if (this.#isEmpty) this.#isEmpty = false
    else this.#left -= bytes
    return !this.isExceeded
  }
}

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
