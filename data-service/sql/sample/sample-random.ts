/**
 * Numbers that look random and are the same on every machine: `seed` and `id` alone decide them, so that any row can be
 * made without those before it.
 */
export class SampleRandom {
  // State of sfc32 (public domain, PractRand): small, fast and without visible patterns.
  #a: number
  #b: number
  #c = 1
  #counter: number

  constructor(seed: string, id: number) {
    this.#a = fnv1a(seed)
    this.#b = id | 0
    this.#counter = Math.floor(id / 2 ** 32) + 1
    for (let round = 0; round < 12; round++) this.#next()
  }

  /** A whole number from `min` to `max`, both included; the range is below 2^32. */
  int(min: number, max: number): number {
    return min + Math.floor((this.#next() / 2 ** 32) * (max - min + 1))
  }

  /** True in `percent` of 100 cases. */
  chance(percent: number): boolean {
    return this.#next() < (percent / 100) * 2 ** 32
  }

  /** Throws a RangeError for an empty list. */
  pick<T>(list: readonly T[]): T {
    const index = this.int(0, list.length - 1)
    const found = list[index]
    if (found === undefined && index >= list.length) throw new RangeError('Nothing to pick from')
    // The index is inside the list, so undefined is what the list holds.
    return found as T
  }

  bytes(length: number): Buffer {
    const bytes = Buffer.alloc(length)
    for (let index = 0; index < length; index++) bytes[index] = this.#next() >>> 24
    return bytes
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    this.#c |= 0
    return sum >>> 0
  }
}

/** FNV-1a, 32 bits. */
function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash
}
