import { LRUCache } from 'lru-cache'

/** Characters of the texts that are kept. */
const MAX_LENGTH = 1_000_000

/** The texts of statements whose last run took longer than a limit. */
export class LongTexts {
  readonly #limit: number
  readonly #texts = new LRUCache<string, true>({
    maxSize: MAX_LENGTH,
    sizeCalculation: (_true, sql) => sql.length
  })

  /** `limit`: milliseconds. */
  constructor(limit: number) {
    this.#limit = limit
  }

  has(sql: string): boolean {
    return this.#texts.has(sql)
  }

  /** It took this long. */
  ran(sql: string, milliseconds: number): void {
    if (milliseconds > this.#limit) this.#texts.set(sql, true)
    else this.#texts.delete(sql)
  }

  /** It was stopped after this long, and would have taken longer. */
  stopped(sql: string, milliseconds: number): void {
    if (milliseconds > this.#limit) this.#texts.set(sql, true)
  }
}
