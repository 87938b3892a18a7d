import { readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { randomNumbers } from '../runner/random.js'

/** What a fuzzer of a process has in common with others: a seed to replay it, its length, its counts, its judgement. */
export class Fuzz {
  /** FUZZ_SEED, else the TEST_SEED that every run prints. */
  readonly seed = Number(process.env['FUZZ_SEED'] ?? process.env['TEST_SEED'] ?? 1)
  readonly #counts = new Map<string, number>()
  readonly #sequences: number
  readonly #until: number

  /** SOAK_FUZZ_SECONDS, which `npm run soak` sets, is its length; without it, `sequences` are. */
  constructor(sequences: number) {
    this.#sequences = sequences
    this.#until = performance.now() + Fuzz.seconds * 1000
  }

  static get seconds(): number {
    return Number(process.env['SOAK_FUZZ_SECONDS'] ?? 0)
  }

  /** Numbers of the sequences of the next round; empty when it is enough. */
  *rounds(size: number): Generator<readonly number[], void, void> {
    for (let from = 0; this.#goesOn(from); from += size) yield Array.from({ length: size }, (_, n) => from + n)
  }

  #goesOn(from: number): boolean {
    return Fuzz.seconds === 0 ? from < this.#sequences : performance.now() < this.#until
  }

  /** The random choices of one sequence, which its number and the seed decide alone. */
  random(sequence: number): Random {
    return new Random(Math.imul(this.seed, 0x9e3779b1) + sequence)
  }

  count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1)
  }

  report(title: string): void {
    const counts = [...this.#counts].map(([what, count]) => `${what} ${count}`)
    process.stdout.write(`      ${title}, FUZZ_SEED=${this.seed}: ${counts.join(', ')}\n`)
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

/** Waits until a process holds no more of any kind than before; rejects, and tells what it holds, when it keeps some. */
export async function holdsNoMore(pid: number, before: ReadonlyMap<string, number>, timeout: number): Promise<void> {
  const end = performance.now() + timeout
  for (;;) {
    const more = [...descriptors(pid)].filter(([kind, count]) => count > (before.get(kind) ?? 0))
    if (more.length === 0) return
    if (performance.now() > end) {
      const told = more.map(([kind, count]) => `${kind}: ${count}, before ${before.get(kind) ?? 0}`)
      throw new Error(`The process ${pid} still holds what it did not hold before: ${told.join('; ')}`)
    }
    await delay(250)
  }
}
