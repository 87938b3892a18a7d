import { readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { NotAsked, type Rows } from '../checkers/checker.js'
import type { RunOptions } from '../options.js'
import type { Outcome } from '../run.js'
import { sum } from './markdown.js'

/** What `verdict.json` says of a topology. */
export type Report = Tried | NotTried

export interface Tried {
  readonly topology: string
  /** The database with its version and what matters of its settings. */
  readonly database: string
  /** `node`, `uniform-rest`, and the `commit` where it is known. */
  readonly versions: Readonly<Record<string, string>>
  /** When it began, in UTC. */
  readonly began: string
  readonly options: RunOptions
  /** Kinds of faults that could be injected. */
  readonly kinds: readonly string[]
  /** What cannot be broken here, with the reason. */
  readonly leftOut: readonly string[]
  readonly outcome: Outcome
  /** Whether every promise was tried and kept, and nothing else went wrong. */
  readonly isKept: boolean
}

export interface NotTried {
  readonly topology: string
  readonly notTried: string
}

export function isTried(report: Report): report is Tried {
  return !('notTried' in report)
}

/** How many faults were injected. */
export function injected({ outcome }: Tried): number {
  return sum(Object.values(outcome.injuries).map(({ times }) => times))
}

/** Whether a run has shown that every promise is kept. A checker that saw nothing proves nothing. */
export function isKept({ verdicts, findings }: Pick<Outcome, 'verdicts' | 'findings'>): boolean {
  return findings.length === 0 && verdicts.every(({ tried, violations }) => tried > 0 && violations.length === 0)
}

export async function writeVerdict(folder: string, report: Report): Promise<void> {
  await writeFile(join(folder, 'verdict.json'), `${JSON.stringify(report, null, 2)}\n`)
}

/** undefined where there is none. */
export async function readVerdict(folder: string): Promise<Report | undefined> {
  const text = await readFile(join(folder, 'verdict.json'), 'utf8').catch(() => undefined)
  // This program alone writes the file.
  return text === undefined ? undefined : (JSON.parse(text) as Report)
}

/** Folders below `--out` that are looked into: a run may have had an `--out` of its own there. */
const DEPTH = 3

/**
 * Of each topology the verdict of the run that began last, in the order of the names. One that has a planted fault is none, nor
 * one that left faults out.
 */
export async function newestVerdicts(out: string, names: readonly string[]): Promise<Report[]> {
  const found: Report[] = []
  for (const path of await readdir(out, { recursive: true })) {
    if (basename(path) !== 'verdict.json' || path.split(/[\\/]/).length > DEPTH + 1) continue
    const report = await readVerdict(join(out, dirname(path)))
    if (report !== undefined && !(isTried(report) && isPartial(report.options))) found.push(report)
  }
  return names.map((name) => {
    const of = found.filter(({ topology }) => topology === name)
    const tried = of.filter(isTried).toSorted((one, other) => (one.began < other.began ? 1 : -1))
    return tried[0] ?? of[0] ?? { topology: name, notTried: 'it was not asked for.' }
  })
}

function isPartial({ plant, faults }: RunOptions): boolean {
  return plant !== undefined || faults.length > 0
}

/** Keeps what checkers read of the database, so that the history can be judged again without it. */
export class KeptRows {
  readonly #answers = new Map<string, Awaited<ReturnType<Rows>>>()
  readonly #rows: Rows

  constructor(rows: Rows) {
    this.#rows = rows
  }

  /** Numbers that a double holds are numbers, whichever driver has read them; others are their digits. */
  readonly rows: Rows = async (sql) => {
    const found = await this.#rows(sql)
    const answer = found.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)]))
    )
    this.#answers.set(sql, answer)
    return answer
  }

  async write(folder: string): Promise<void> {
    await writeFile(join(folder, 'rows.json'), JSON.stringify(Object.fromEntries(this.#answers)))
  }

  /** Those of an earlier run. Rejects a statement that it did not ask with NotAsked. */
  static async read(folder: string): Promise<Rows> {
    const text = await readFile(join(folder, 'rows.json'), 'utf8')
    const kept = new Map(Object.entries(JSON.parse(text) as Record<string, Awaited<ReturnType<Rows>>>))
    return (sql) => {
      const answer = kept.get(sql)
      if (answer === undefined) return Promise.reject(new NotAsked(`The run in ${folder} did not ask: ${sql}`))
      return Promise.resolve(answer)
    }
  }
}

function plain(value: unknown): unknown {
  if (typeof value !== 'bigint') return value
  return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString()
}
