import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { randomNumbers } from '../runner/random.js'

/** What a fuzzer of a process has in common with others: a seed to replay it, and its counts. */
export class Fuzz {
  readonly seed: number
  readonly #counts = new Map<string, number>()

  constructor(seed: number) {
    this.seed = seed
  }

  /** The random choices of one sequence, which its number and the seed decide alone. */
  random(sequence: number): Random {
    return new Random(Math.imul(this.seed, 0x9e3779b1) + sequence)
  }

  count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
  }

  /** How often each thing was counted, for people. */
  get counts(): string {
    return [...this.#counts].map(([what, count]) => `${what} ${count}`).join(', ')
  }
}

/** Choices that a seed decides alone. */
export class Random {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = randomNumbers(seed)
  }

  /** A whole number from 0, below `end`. */
  below(end: number): number {
    return Math.floor(this.#next() * end)
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0]
  }

  /** True so many times of a hundred. */
  percent(share: number): boolean {
    return this.below(100) < share
  }
}

/** How many file descriptors a process holds of each kind, as Linux tells it: sockets, pipes, files by their path. */
export function descriptors(pid: number): ReadonlyMap<string, number> {
  const folder = `/proc/${pid}/fd`
  const counts = new Map<string, number>()
  for (const name of readdirSync(folder)) {
    const kind = kindOf(`${folder}/${name}`)
    if (kind !== undefined) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return counts
}

/** undefined where it was closed meanwhile. */
function kindOf(link: string): string | undefined {
  try {
    return readlinkSync(link).replace(/:\[\d+\]$/, '')
  } catch {
    return undefined
  }
}

/** Milliseconds after which nothing of a client that has gone may be left: rejected ones linger for 10 seconds. */
const LETS_GO_WITHIN = 60_000

/** Waits until a process holds no more of any kind than before; rejects, and tells what it holds, when it keeps some. */
export async function holdsNoMore(pid: number, before: ReadonlyMap<string, number>): Promise<void> {
  const end = performance.now() + LETS_GO_WITHIN
  for (;;) {
    const more = [...descriptors(pid)].filter(([kind, count]) => count > (before.get(kind) ?? 0))
    if (more.length === 0) return
    if (performance.now() > end) {
      const told = more.map(([kind, count]) => `${kind}: ${count}, before ${before.get(kind) ?? 0}`)
      throw new Error(`The process ${pid} still holds what it did not hold before: ${told.join('; ')}`)
    }
    await delay(100)
  }
}
