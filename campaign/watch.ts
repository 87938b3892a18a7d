import type { LogEntry } from '../test/stack/service-process.js'
import type { Reach } from './faults/reach.js'
import type { Member } from './member.js'

const FATAL = 'fatal'
/** Levels of pino, which the processes log as words. */
const ERRORS: readonly unknown[] = ['error', FATAL]
/** What the log says of a failure that no code has foreseen. */
const UNFORESEEN = /unforeseen/
const LOOKS_EVERY_MS = 500

/** Something that is broken, or was until a moment. */
interface Broken {
  readonly reach: Pick<Reach, 'isHeardBy' | 'settles'>
  mendedAt: number
}

/** Looks at the processes of the system while it is tried: whether one ends by itself, and what they log. */
export class Watch {
  readonly #members: readonly Member[]
  readonly #now: () => number
  readonly #timer: NodeJS.Timeout
  readonly #findings: string[] = []
  readonly #unforeseen = new Map<string, { count: number; readonly first: LogEntry }>()
  readonly #quiet = new Map<string, number>()
  #broken: Broken[] = []
  #lookedAt: number

  /** `now` in milliseconds, by a monotonic clock. */
  constructor(members: readonly Member[], now: () => number = () => performance.now()) {
    this.#members = members
    this.#now = now
    this.#lookedAt = now()
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

  /** Of each member, the whole seconds in which it might log no error, since nothing that it hears of was broken. */
  get quiet(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#members.map(({ name }) => [name, Math.floor((this.#quiet.get(name) ?? 0) / 1000)]))
  }

  /** Milliseconds until nothing is felt any more of what was broken and is mended. */
  get settlesIn(): number {
    return Math.max(0, ...this.#broken.map(({ mendedAt, reach }) => mendedAt + reach.settles - this.#now()))
  }

  /** Something breaks, until the result is called. */
  breaks(reach: Broken['reach']): () => void {
    const broken: Broken = { reach, mendedAt: Infinity }
    this.#broken.push(broken)
    return () => {
      broken.mendedAt = this.#now()
    }
  }

  report(finding: string): void {
    this.#findings.push(finding)
  }

  /** Takes what the members have logged since the last look. */
  look(): void {
    const [since, now] = [this.#lookedAt, this.#now()]
    this.#lookedAt = now
    // Lines of this look may be as old as the last one.
    this.#broken = this.#broken.filter(({ mendedAt, reach }) => mendedAt + reach.settles >= since)
    for (const member of this.#members) {
      const isQuiet = !this.#broken.some(({ reach }) => reach.isHeardBy(member.name))
      if (isQuiet) this.#quiet.set(member.name, (this.#quiet.get(member.name) ?? 0) + now - since)
      for (const end of member.takeEnds()) this.report(`${member.name} ${end}`)
      for (const entry of member.takeLogs()) this.#see(member.name, entry, isQuiet)
    }
  }

  end(): void {
    clearInterval(this.#timer)
    this.look()
  }

  #see(name: string, entry: LogEntry, isQuiet: boolean): void {
    const { level } = entry
    if (level === FATAL || (ERRORS.includes(level) && isQuiet)) {
      this.report(`${name} logged ${isQuiet ? 'while nothing was broken' : 'what is fatal'}: ${JSON.stringify(entry)}`)
    } else if (ERRORS.includes(level) && UNFORESEEN.test(String(entry['msg']))) {
      const { err } = entry
      const reason = typeof err === 'object' && err !== null && 'message' in err ? String(err.message) : ''
      const what = `${name.replace(/-\d+$/, '')}: ${String(entry['msg'])}: ${reason}`
      const seen = this.#unforeseen.get(what)
      if (seen === undefined) this.#unforeseen.set(what, { count: 1, first: entry })
      else seen.count++
    }
  }
}
