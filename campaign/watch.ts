import type { LogEntry } from '../test/stack/server-log.js'
import type { Reach } from './faults/reach.js'
import type { Member } from './member.js'

/** How often something was logged, and what was logged first. */
type Logged = Readonly<Record<string, { readonly count: number; readonly first: LogEntry }>>

/** The levels that a log line names, of those that are looked at. */
const FATAL = 'fatal'
const ERRORS: readonly unknown[] = ['error', FATAL]
const WARNED: readonly unknown[] = ['warn', ...ERRORS]
/** What the log says of a failure that no code has foreseen. */
const UNFORESEEN = /unforeseen/
const LOOKS_EVERY_MS = 500
/** How many kinds of warnings of a process are kept. */
const WARNINGS = 4

type Watched = Pick<Member, 'name' | 'takeLogs' | 'takeEnds'>

/** Something that is broken, or was until a moment. */
interface Broken {
  readonly reach: Pick<Reach, 'isHeardBy' | 'settles'>
  mendedAt: number
}

/** Looks at the processes of the system while it is tried: whether one ends by itself, and what they log. */
export class Watch {
  readonly #members: readonly Watched[]
  readonly #isOverloaded: () => boolean
  readonly #now: () => number
  readonly #timer: NodeJS.Timeout
  readonly #findings: string[] = []
  readonly #unforeseen = new Map<string, { count: number; readonly first: LogEntry }>()
  readonly #overload = new Map<string, { count: number; readonly first: LogEntry }>()
  /** Of each process, the newest warning or error of each kind, the newest last. */
  readonly #warnings = new Map<string, readonly LogEntry[]>()
  readonly #quiet = new Map<string, number>()
  #broken: Broken[] = []
  #lookedAt: number

  /** `now` in milliseconds, by a monotonic clock. What a machine without time brings about is told apart from mistakes. */
  constructor(members: readonly Watched[], isOverloaded: () => boolean, now: () => number = () => performance.now()) {
    this.#members = members
    this.#isOverloaded = isOverloaded
    this.#now = now
    this.#lookedAt = now()
    this.#timer = setInterval(() => this.look(), LOOKS_EVERY_MS)
  }

  /** What must not happen, in sentences. */
  get findings(): readonly string[] {
    return this.#findings
  }

  /** Failures that no code has foreseen while something was broken, by what was logged. */
  get unforeseen(): Logged {
    return Object.fromEntries(this.#unforeseen)
  }

  /** Errors that were logged while nothing was broken and the machine was overloaded. */
  get overload(): Logged {
    return Object.fromEntries(this.#overload)
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

  /** Reports what each process warned of last, which says why something did not recover. */
  reportWarnings(): void {
    this.look()
    for (const [name, entries] of this.#warnings)
      this.report(`${name} warned last: ${entries.map((one) => JSON.stringify(one)).join(', ')}`)
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
    const { level, msg } = entry
    if (WARNED.includes(level)) {
      const others = (this.#warnings.get(name) ?? []).filter((one) => one['msg'] !== msg)
      this.#warnings.set(name, [...others, entry].slice(-WARNINGS))
    }
    if (!ERRORS.includes(level)) return
    if (level === FATAL) this.report(`${name} logged what is fatal: ${JSON.stringify(entry)}`)
    else if (isQuiet && this.#isOverloaded()) count(this.#overload, name, entry)
    else if (isQuiet) this.report(`${name} logged while nothing was broken: ${JSON.stringify(entry)}`)
    else if (UNFORESEEN.test(String(msg))) count(this.#unforeseen, name, entry)
  }
}

function count(logged: Map<string, { count: number; readonly first: LogEntry }>, name: string, entry: LogEntry): void {
  const { msg, err } = entry
  const reason = typeof err === 'object' && err !== null && 'message' in err ? `: ${String(err.message)}` : ''
  const what = `${name.replace(/-\d+$/, '')}: ${String(msg)}${reason}`
  const seen = logged.get(what)
  if (seen === undefined) logged.set(what, { count: 1, first: entry })
  else seen.count++
}
