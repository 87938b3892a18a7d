/** Work that waits, of the holder of a share. */
export interface Queued {
  readonly id: number
  readonly shareKey: string
}

/** Work that waits for some workers, served in turns by the holders of shares. Each worker has one piece at a time. */
export class ReadQueue<Work extends Queued> {
  readonly #max: number
  /** By share: the one whose turn is next comes first. No list is empty. */
  readonly #waiting = new Map<string, Work[]>()
  readonly #running = new Set<Work>()
  #length = 0

  /** `max`: pieces of work that wait. */
  constructor(max: number) {
    this.#max = max
  }

  get length(): number {
    return this.#length
  }

  get isFull(): boolean {
    return this.#length >= this.#max
  }

  add(work: Work): void {
    this.#length += 1
    const others = this.#waiting.get(work.shareKey)
    if (others === undefined) this.#waiting.set(work.shareKey, [work])
    else others.push(work)
  }

  /** Takes what runs next. Who has something running is passed over while others wait. */
  next(): Work | undefined {
    const running = new Set(Array.from(this.#running, ({ shareKey }) => shareKey))
    const keys = [...this.#waiting.keys()]
    const key = keys.find((one) => !running.has(one)) ?? keys[0] ?? ''
    const [work, ...rest] = this.#waiting.get(key) ?? []
    if (work === undefined) return undefined
    // It is the turn of the others before the next one of the same share.
    this.#waiting.delete(key)
    if (rest.length > 0) this.#waiting.set(key, rest)
    this.#length -= 1
    this.#running.add(work)
    return work
  }

  ended(work: Work): void {
    this.#running.delete(work)
  }

  /** Takes out work that waits. Answers whether it did. */
  drop(id: number): boolean {
    for (const [key, works] of this.#waiting) {
      const at = works.findIndex((work) => work.id === id)
      if (at < 0) continue
      works.splice(at, 1)
      this.#length -= 1
      if (works.length === 0) this.#waiting.delete(key)
      return true
    }
    return false
  }

  /** Takes out everything that waits. */
  clear(): Work[] {
    const all = [...this.#waiting.values()].flat()
    this.#waiting.clear()
    this.#length = 0
    return all
  }
}
