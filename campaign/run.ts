import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { randomNumbers } from '../test/runner/random.js'
import type { Checker, Rows, Verdict } from './checkers/checker.js'
import { Client } from './client.js'
import type { Fault } from './faults/fault.js'
import { HistoryFile, readHistory } from './history.js'
import type { Site } from './site.js'
import type { Workload } from './workload/workload.js'

/** What a run is made of. */
export interface Run {
  /** Chooses requests, faults and their moments. How they meet depends on the machine, so a run repeats in its plan alone. */
  readonly seed: number
  /** How long clients work and things break. */
  readonly seconds: number
  readonly site: Site
  readonly rows: Rows
  readonly workloads: readonly Workload[]
  /** None for a run in which nothing breaks. */
  readonly faults: readonly Fault[]
  readonly checkers: readonly Checker[]
  /** Where `history.jsonl` is written. */
  readonly folder: string
  progress(line: string): void
}

/** What came of a run. */
export interface Outcome {
  readonly exchanges: number
  readonly lost: number
  /** How often each fault was injected. */
  readonly injuries: Readonly<Record<string, number>>
  readonly verdicts: readonly (Verdict & { readonly promise: string })[]
}

const PROGRESS_MS = 10_000
/** Milliseconds from the end of one fault, or of a pair, to the next, and how long one lasts, at most. */
const LONGEST_PEACE = 2000
const LONGEST_INJURY = 4000
/** How often a second thing breaks at the same time. */
const PAIRS = 0.4

/** Lets clients work while things break, waits until all is mended and answered, and has the checkers judge. */
export async function run({ seed, seconds, site, faults, ...run }: Run): Promise<Outcome> {
  await mkdir(run.folder, { recursive: true })
  const history = new HistoryFile(join(run.folder, 'history.jsonl'))
  const began = performance.now()
  const now = (): number => performance.now() - began
  const clientOf = (name: string, workload: string): Client =>
    new Client(name, { workload, site, history, now, random: streamOf(seed, name) })
  const clients: Client[] = []
  const over = new AbortController()
  const progress = setInterval(
    () => run.progress(`${Math.round(now() / 1000)} s: ${history.exchanges} requests`),
    PROGRESS_MS
  )
  try {
    const working: Promise<void>[] = []
    for (const workload of run.workloads) {
      const first = clientOf(`${workload.name}-prepare`, workload.name)
      clients.push(first)
      await workload.prepare(first)
    }
    for (const workload of run.workloads) {
      for (let n = 0; n < workload.clients; n++) {
        const client = clientOf(`${workload.name}-${n}`, workload.name)
        clients.push(client)
        working.push(
          (async () => {
            while (!over.signal.aborted) await workload.step(client)
          })()
        )
      }
    }
    const end = now() + seconds * 1000
    await Promise.race([
      breakThings(faults, { until: end, now, history, random: streamOf(seed, 'faults') }),
      ...working
    ])
    while (now() < end) await delay(Math.max(0, end - now()))
    over.abort()
    await Promise.all(working)
  } finally {
    over.abort()
    clearInterval(progress)
    for (const client of clients) client.end()
    await history.end()
  }
  return judge(history.path, run.checkers, run.rows)
}

/** Reads the history once for all checkers. */
export async function judge(path: string, checkers: readonly Checker[], rows: Rows): Promise<Outcome> {
  let [exchanges, lost] = [0, 0]
  const injuries: Record<string, number> = {}
  for await (const line of readHistory(path)) {
    if ('injury' in line) {
      injuries[line.injury.fault] = (injuries[line.injury.fault] ?? 0) + 1
      for (const checker of checkers) checker.hurt?.(line.injury)
      continue
    }
    exchanges++
    if (line.exchange.answer === undefined) lost++
    for (const checker of checkers) checker.see(line.exchange)
  }
  const verdicts: (Verdict & { promise: string })[] = []
  for (const checker of checkers) verdicts.push({ promise: checker.promise, ...(await checker.judge(rows)) })
  return { exchanges, lost, injuries, verdicts }
}

/** Breaks one thing or two at a time, mends them, and leaves everything whole. */
async function breakThings(
  faults: readonly Fault[],
  at: {
    readonly until: number
    readonly now: () => number
    readonly history: HistoryFile
    readonly random: () => number
  }
): Promise<void> {
  const { until, now, history, random } = at
  while (faults.length > 0 && now() < until) {
    await delay(random() * LONGEST_PEACE)
    const chosen = chooseOf(faults, random)
    await Promise.all(
      chosen.map(async (fault) => {
        const from = now()
        const length = random() ** 2 * LONGEST_INJURY
        const mend = await fault.inject(random)
        await delay(length)
        await mend()
        await history.add({ injury: { fault: fault.name, from, until: now() } })
      })
    )
  }
}

/** One fault, or two that break different things. */
function chooseOf(faults: readonly Fault[], random: () => number): Fault[] {
  const pick = (from: readonly Fault[]): Fault[] => from.slice(Math.floor(random() * from.length)).slice(0, 1)
  const first = pick(faults)
  if (random() >= PAIRS) return first
  return [...first, ...pick(faults.filter(({ target }) => target !== first[0]?.target))]
}

/** Random numbers that depend on the seed and the name alone. */
function streamOf(seed: number, name: string): () => number {
  let mixed = seed | 0
  for (const char of name) mixed = Math.imul(mixed ^ (char.codePointAt(0) ?? 0), 0x01000193)
  return randomNumbers(mixed)
}
