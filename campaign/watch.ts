import type { LogEntry } from '../test/stack/service-process.js'
import type { Member } from './member.js'

/** The levels that a log line names, of those that are looked at, the worst last. */
const LEVELS: readonly unknown[] = ['warn', 'error', 'fatal']
const WARN = LEVELS.indexOf('warn')
const ERROR = LEVELS.indexOf('error')
const FATAL = LEVELS.indexOf('fatal')
/** What the log says of a failure that no code has foreseen. */
const UNFORESEEN = /unforeseen/
/** Milliseconds after the last mend until nothing may be logged as an error. */
const SETTLES_MS = 5000
const LOOKS_EVERY_MS = 500
/** How many kinds of warnings of a process are kept. */
const WARNINGS = 4

type Watched = Pick<Member, 'name' | 'takeLogs' | 'takeEnds'>

/** Looks at the processes of the system while it is tried: whether one ends by itself, and what they log. */
export class Watch {
  readonly #members: readonly Watched[]
  readonly #timer: NodeJS.Timeout
  readonly #findings: string[] = []
  readonly #unforeseen = new Map<string, { count: number; readonly first: LogEntry }>()
  /** Of each process, the newest warning or error of each kind, the newest last. */
  readonly #warnings = new Map<string, readonly LogEntry[]>()
  #broken = 0
  #mendedAt = -Infinity

  constructor(members: readonly Watched[]) {
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

  /** Reports what each process warned of last, which says why something did not recover. */
  reportWarnings(): void {
    this.look()
    for (const [name, entries] of this.#warnings)
      this.report(`${name} warned last: ${entries.map((one) => JSON.stringify(one)).join(', ')}`)
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
    const level = LEVELS.indexOf(entry['level'])
    if (level >= WARN) {
      const others = (this.#warnings.get(name) ?? []).filter(({ msg }) => msg !== entry['msg'])
      this.#warnings.set(name, [...others, entry].slice(-WARNINGS))
    }
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
