import { styleText } from 'node:util'
import { mayBeFlaky } from '../tiers.js'
import type { TestFailure } from './worker.js'

/** How many tests ended how. */
export interface Outcome {
  readonly passed: number
  readonly failed: number
}

/** One run of a test file. */
export interface FileResult {
  /** The path of its source from the project's root. */
  readonly file: string
  readonly started: number
  passed: number
  readonly failures: TestFailure[]
  /** Milliseconds, once it has ended. */
  duration?: number
  /** Milliseconds that its process computed, and those that it started, where the system tells it. */
  processors?: number
  /** What its tests printed. */
  output: string
}

const SLOWEST = 10

/**
 * Prints the course of a run: a line for each file when it ends, and for each failure when it happens; at the end all
 * failures whole, the files that took longest, and those that are flaky. It never moves the cursor, so a terminal and a
 * log show the same.
 */
export class Report {
  readonly colors: boolean
  readonly #total: number
  readonly #seed: number
  readonly #write: (text: string) => void
  /** In the order in which they began. A file that runs once more is there twice. */
  readonly #results: FileResult[] = []

  constructor(
    total: number,
    seed: number,
    output: { readonly write: (text: string) => unknown; readonly isTTY?: boolean }
  ) {
    this.#total = total
    this.#seed = seed
    this.colors = output.isTTY === true && !process.env['NO_COLOR']
    this.#write = (text) => void output.write(text)
  }

  begin(file: string): FileResult {
    const result = { file, started: performance.now(), passed: 0, failures: [], output: '' }
    this.#results.push(result)
    return result
  }

  failed(result: FileResult, failure: TestFailure): void {
    result.failures.push(failure)
    this.#write(this.#color('red', `  ✘ ${result.file}: ${failure.titles.join(' › ')}\n`))
  }

  ended(result: FileResult): void {
    result.duration = performance.now() - result.started
    const isAgain = result !== this.#first(result.file)
    const number = this.#results.filter(({ duration }) => duration !== undefined).length
    const count = isAgain ? 'alone' : `${String(number).padStart(String(this.#total).length)}/${this.#total}`
    const { passed, failures } = result
    const mark = failures.length === 0 ? this.#color('green', '✔') : this.#color('red', '✘')
    const tests = `${String(passed + failures.length).padStart(4)} tests`
    const failed = failures.length === 0 ? '' : this.#color('red', `  ${failures.length} failed`)
    this.#write(`${mark} ${count} ${times(result)} ${tests}  ${result.file}${failed}\n`)
    if (result.output.trim() !== '') this.#write(`${result.output.trimEnd()}\n`)
  }

  /** The files that have failed. */
  failedFiles(): string[] {
    return this.#firsts()
      .filter(({ failures }) => failures.length > 0)
      .map(({ file }) => file)
  }

  /** Says which files a run that was interrupted has not run, or not to their end. */
  interrupted(): void {
    const ended = this.#firsts().filter(({ duration }) => duration !== undefined)
    this.#write(this.#color('red', `\nInterrupted when ${ended.length} of ${this.#total} test files had ended.\n`))
    for (const { file, started, passed, failures } of this.#results.filter(({ duration }) => duration === undefined)) {
      this.#write(`  unfinished: ${file}, ${seconds(performance.now() - started).trim()}, `)
      this.#write(`${passed} passed, ${failures.length} failed until then\n`)
    }
  }

  /** @param server Milliseconds that the database server computed, where they are known. */
  summary(server?: number): Outcome {
    const failed = this.#firsts().filter((one) => one.failures.length > 0 && this.#passedAlone(one) === undefined)
    if (failed.length > 0) this.#write(`\n${this.#color('red', 'Failures')}\n`)
    this.#failures(failed)
    const slowest = this.#firsts().toSorted((a, b) => (b.duration ?? 0) - (a.duration ?? 0))
    if (slowest.length > 1) this.#write('\nSlowest test files\n')
    for (const one of slowest.length > 1 ? slowest.slice(0, SLOWEST) : []) this.#write(`${times(one)}  ${one.file}\n`)
    const computed = this.#results.reduce((sum, { processors = 0 }) => sum + processors, 0)
    if (computed > 0) {
      const ofServer = server === undefined ? '' : `, the database server ${seconds(server).trim()}`
      this.#write(`\nAll of them took ${seconds(computed).trim()} CPU${ofServer}\n`)
    }
    this.#flaky()
    const counted = this.#firsts().map((one) => (mayBeFlaky(one.file) ? (this.#passedAlone(one) ?? one) : one))
    return {
      passed: counted.reduce((sum, { passed }) => sum + passed, 0),
      failed: counted.reduce((sum, { failures }) => sum + failures.length, 0)
    }
  }

  #flaky(): void {
    for (const first of this.#firsts()) {
      const again = this.#passedAlone(first)
      if (again === undefined) continue
      const verdict = mayBeFlaky(first.file) ? 'the run stays green' : 'the run is red'
      const title = `flaky: ${first.file} failed among others and passed alone: ${verdict}`
      this.#write(`\n${this.#color('red', title)} (docs/testing.md#flaky-tests, TEST_SEED=${this.#seed})\n`)
      this.#failures([first])
      for (const [when, { output }] of [
        ['among others', first],
        ['alone', again]
      ] as const) {
        this.#write(`What its tests printed ${when}:${output.trim() === '' ? ' nothing' : `\n${output.trimEnd()}`}\n`)
      }
    }
  }

  #failures(results: readonly FileResult[]): void {
    const all = results.flatMap(({ file, failures }) => failures.map((failure) => ({ file, ...failure })))
    for (const [index, { file, titles, report }] of all.entries()) {
      const path = titles.map((title, depth) => `${'  '.repeat(depth + 2)}${title}\n`).join('')
      this.#write(`\n${index + 1}) ${file}\n${path}\n${report}\n`)
    }
  }

  #firsts(): FileResult[] {
    return this.#results.filter((one) => one === this.#first(one.file))
  }

  #first(file: string): FileResult | undefined {
    return this.#results.find((one) => one.file === file)
  }

  /** The second run of a file that failed, if it passed. */
  #passedAlone(first: FileResult): FileResult | undefined {
    const again = this.#results.findLast(({ file }) => file === first.file)
    return again !== first && again?.duration !== undefined && again.failures.length === 0 ? again : undefined
  }

  #color(color: 'green' | 'red', text: string): string {
    return this.colors ? styleText(color, text) : text
  }
}

/** How long the file ran, and how much of the processors it took. */
function times({ duration = 0, processors }: FileResult): string {
  const computed = processors === undefined ? '' : ` ${seconds(processors)} CPU`
  return `${seconds(duration)}${computed}`
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1).padStart(6)} s`
}
