import { styleText } from 'node:util'

/** How many tests ended how. */
export interface Outcome {
  readonly passed: number
  readonly failed: number
}

interface FileResult {
  passed: number
  failed: number
  readonly started: number
  /** Milliseconds, once the file has ended. */
  duration?: number
}

interface Failed {
  readonly file: string
  readonly titles: readonly string[]
  readonly report: string
}

const SLOWEST = 10

/**
 * Prints the course of a run: a line for each file when it ends, and for each failure when it happens; at the end all
 * failures whole, and the files that took longest. It never moves the cursor, so a terminal and a log show the same.
 */
export class Report {
  readonly colors: boolean
  readonly #total: number
  readonly #write: (text: string) => void
  readonly #files = new Map<string, FileResult>()
  readonly #failures: Failed[] = []

  constructor(total: number, output: { readonly write: (text: string) => unknown; readonly isTTY?: boolean }) {
    this.#total = total
    this.colors = output.isTTY === true && !process.env['NO_COLOR']
    this.#write = (text) => void output.write(text)
  }

  get outcome(): Outcome {
    const results = [...this.#files.values()]
    return { passed: sum(results.map(({ passed }) => passed)), failed: sum(results.map(({ failed }) => failed)) }
  }

  hasFailed(file: string): boolean {
    return this.#resultOf(file).failed > 0
  }

  started(file: string): void {
    this.#files.set(file, { passed: 0, failed: 0, started: performance.now() })
  }

  passed(file: string): void {
    this.#resultOf(file).passed++
  }

  failed(file: string, titles: readonly string[], report: string): void {
    this.#resultOf(file).failed++
    this.#failures.push({ file, titles, report })
    this.#write(this.#red(`  ✘ ${file}: ${titles.join(' › ')}\n`))
  }

  /** `output` is what the file's tests printed. */
  ended(file: string, output: string): void {
    const result = this.#resultOf(file)
    result.duration = performance.now() - result.started
    const count = String(this.#ended().length).padStart(String(this.#total).length)
    const mark = result.failed === 0 ? this.#green('✔') : this.#red('✘')
    const tests = `${String(result.passed + result.failed).padStart(4)} tests`
    const failed = result.failed === 0 ? '' : this.#red(`  ${result.failed} failed`)
    this.#write(`${mark} ${count}/${this.#total} ${seconds(result.duration)} ${tests}  ${file}${failed}\n`)
    if (output.trim() !== '') this.#write(`${output.replace(/\n*$/, '')}\n`)
  }

  /** Says which files a run that was interrupted has not run, or not to their end. */
  interrupted(): void {
    const running = [...this.#files].filter(([, { duration }]) => duration === undefined)
    this.#write(this.#red(`\nInterrupted when ${this.#ended().length} of ${this.#total} test files had ended.\n`))
    for (const [file, { started, passed, failed }] of running) {
      this.#write(`  unfinished: ${file}, ${seconds(performance.now() - started).trim()}, `)
      this.#write(`${passed} passed, ${failed} failed until then\n`)
    }
  }

  summary(): void {
    if (this.#failures.length > 0) this.#write(`\n${this.#red('Failures')}\n`)
    const failures = [...this.#files.keys()].flatMap((file) => this.#failures.filter((one) => one.file === file))
    for (const [index, { file, titles, report }] of failures.entries()) {
      const path = titles.map((title, depth) => `${'  '.repeat(depth + 2)}${title}\n`).join('')
      this.#write(`\n${index + 1}) ${file}\n${path}\n${report}\n`)
    }
    const slowest = this.#ended().toSorted(([, a], [, b]) => (b.duration ?? 0) - (a.duration ?? 0))
    if (slowest.length > 1) this.#write('\nSlowest test files\n')
    for (const [file, { duration = 0 }] of slowest.length > 1 ? slowest.slice(0, SLOWEST) : []) {
      this.#write(`${seconds(duration)}  ${file}\n`)
    }
  }

  #ended(): [file: string, FileResult][] {
    return [...this.#files].filter(([, { duration }]) => duration !== undefined)
  }

  #resultOf(file: string): FileResult {
    const result = this.#files.get(file)
    if (result === undefined) throw new Error(`${file} has not been started`)
    return result
  }

  #green(text: string): string {
    return this.colors ? styleText('green', text) : text
  }

  #red(text: string): string {
    return this.colors ? styleText('red', text) : text
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1).padStart(6)} s`
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
