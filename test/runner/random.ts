/** The items in an order that depends on nothing but the seed, a whole number of 32 bits. */
export function shuffled<T>(items: readonly T[], seed: number): T[] {
  const random = randomNumbers(seed)
  return items
    .map((item) => ({ item, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item)
}

/** Numbers from 0 to 1, 1 excluded, by the algorithm Mulberry32. The same seed gives the same numbers. */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
