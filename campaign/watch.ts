import type { LogEntry } from '../test/stack/service-process.js'
import type { Member } from './member.js'

/** Levels of pino. */
const ERROR = 50
const FATAL = 60
/** What the log says of a failure that no code has foreseen. */
const UNFORESEEN = /unforeseen/
/** Milliseconds after the last mend until nothing may be logged as an error. */
const SETTLES_MS = 5000
const LOOKS_EVERY_MS = 500

/** Looks at the processes of the system while it is tried: whether one ends by itself, and what they log. */
export class Watch {
  readonly #members: readonly Member[]
  readonly #timer: NodeJS.Timeout
  readonly #findings: string[] = []
  readonly #unforeseen = new Map<string, { count: number; readonly first: LogEntry }>()
  #broken = 0
  #mendedAt = -Infinity

  constructor(members: readonly Member[]) {
    this.#members = members
    this.#timer = setInterval(() => this.look(), LOOKS_EVERY_MS)
  }

  /** What must not happen, in sentences. */
  get findings(): readonly string[] {
    return this.#findings
  }

  /** Failures that no code has foreseen while something was broken, by what was logged. */
  get unforeseen(): Readonly<Record<string, { readonly count: number; readonly first: LogEntry }>> {
    return Object.fromEntries(this.#unforeseen)
  }

  /** Something breaks, until the result is called. */
  breaks(): () => void {
    this.#broken++
    return () => {
      this.#broken--
      this.#mendedAt = performance.now()
    }
  }

  report(finding: string): void {
    this.#findings.push(finding)
  }

  look(): void {
    const isQuiet = this.#broken === 0 && performance.now() - this.#mendedAt > SETTLES_MS
    for (const member of this.#members) {
      for (const end of member.takeEnds()) this.report(`${member.name} ${end}`)
      for (const entry of member.takeLogs()) this.#see(member.name, entry, isQuiet)
    }
  }

  end(): void {
    clearInterval(this.#timer)
    this.look()
  }

  #see(name: string, entry: LogEntry, isQuiet: boolean): void {
    const level = Number(entry['level'] ?? 0)
    if (level >= FATAL || (level >= ERROR && isQuiet)) {
      this.report(`${name} logged ${isQuiet ? 'while nothing was broken' : 'what is fatal'}: ${JSON.stringify(entry)}`)
    } else if (level >= ERROR && UNFORESEEN.test(String(entry['msg']))) {
      const { err } = entry
      const reason = typeof err === 'object' && err !== null && 'message' in err ? String(err.message) : ''
      const what = `${name.replace(/-\d+$/, '')}: ${String(entry['msg'])}: ${reason}`
      const seen = this.#unforeseen.get(what)
      if (seen === undefined) this.#unforeseen.set(what, { count: 1, first: entry })
      else seen.count++
    }
  }
}
