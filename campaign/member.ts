import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { listening, type ServiceProcess } from '../test/stack/service-process.js'
import type { LogEntry } from '../test/stack/server-log.js'

/** A gateway or a data service, which may be hurt. It comes back at the address that it had. */
export interface Member {
  /** `gateway-1`. */
  readonly name: string
  /** SIGKILL. Resolves when it has ended. */
  kill(): Promise<void>
  /** SIGTERM. Resolves when it has ended, however long it drains; with SIGKILL after 30 seconds, which is an end of its own. */
  terminate(): Promise<void>
  /** SIGSTOP and SIGCONT. */
  freeze(): void
  thaw(): void
  /** After `kill` or `terminate`. Resolves when it listens, after several attempts if it has to. */
  start(): Promise<void>
  /** The same with one attempt. Rejects, with the end of its log, if it ends before it listens. */
  startOnce(): Promise<void>
  /** What it has logged since the last call: nothing is kept. */
  takeLogs(): readonly LogEntry[]
  /** How often it ended by itself since the last call, or not as it was asked to: "ended with code 1 …". */
  takeEnds(): readonly string[]
  /** Bytes of memory that it has, and had at most; undefined while it does not run. */
  memory(): Promise<Memory | undefined>
}

export interface Memory {
  readonly resident: number
  readonly mostResident: number
}

const STOP_MS = 30_000
/** Between two attempts to start: what it needs may be broken. */
const AGAIN_MS = 200
const KIB = 1024

/** A process that is started again as often as it ends. */
export class MemberProcess implements Member {
  readonly name: string
  readonly #listens: 'address' | 'url'
  readonly #begin: () => ServiceProcess
  #running: ServiceProcess | undefined
  #isFrozen = false
  /** Lines of processes that have ended. */
  #logs: LogEntry[] = []
  #ends: string[] = []
  /** Processes whose end was asked for, or that never came to listen. */
  readonly #ending = new WeakSet<ServiceProcess>()

  constructor(name: string, listens: 'address' | 'url', begin: () => ServiceProcess) {
    this.name = name
    this.#listens = listens
    this.#begin = begin
  }

  async startOnce(): Promise<void> {
    if (this.#running !== undefined) this.#logs.push(...this.#running.forget())
    const running = this.#begin()
    this.#running = running
    this.#isFrozen = false
    try {
      await listening(running, this.#listens)
    } catch (error) {
      this.#ending.add(running)
      throw error
    }
    running.ended.then(
      (code) => this.#hasEnded(running, code),
      () => undefined
    )
  }

  async start(): Promise<void> {
    for (;;) {
      try {
        await this.startOnce()
        return
      } catch {
        await delay(AGAIN_MS)
      }
    }
  }

  async kill(): Promise<void> {
    const running = this.#get()
    this.#ending.add(running)
    await running.kill()
  }

  async terminate(): Promise<void> {
    const running = this.#get()
    this.#ending.add(running)
    try {
      process.kill(running.pid, 'SIGTERM')
    } catch {
      return // It has ended by itself, which is told elsewhere.
    }
    const late = new AbortController()
    let isKilled = false
    const timer = delay(STOP_MS, undefined, { signal: late.signal }).then(
      async () => {
        isKilled = true
        this.#ends.push(`did not end within ${STOP_MS / 1000} s of SIGTERM`)
        await running.kill()
      },
      () => undefined
    )
    const code = await running.ended
    late.abort()
    await timer
    if (code === null && !isKilled) this.#ends.push('was ended by a signal while it drained')
    else if (code !== 0 && code !== null) this.#ends.push(`ended with code ${code} after SIGTERM`)
  }

  freeze(): void {
    process.kill(this.#get().pid, 'SIGSTOP')
    this.#isFrozen = true
  }

  thaw(): void {
    if (this.#isFrozen) process.kill(this.#get().pid, 'SIGCONT')
    this.#isFrozen = false
  }

  takeLogs(): readonly LogEntry[] {
    return [...this.#logs.splice(0), ...(this.#running?.forget() ?? [])]
  }

  takeEnds(): readonly string[] {
    return this.#ends.splice(0)
  }

  async memory(): Promise<Memory | undefined> {
    const status = await readFile(`/proc/${this.#get().pid}/status`, 'utf8').catch(() => '')
    const bytes = (field: string): number =>
      Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * KIB
    const memory = { resident: bytes('VmRSS'), mostResident: bytes('VmHWM') }
    return memory.resident === 0 ? undefined : memory
  }

  /** At the end of the run, whatever state it is in. */
  async end(): Promise<void> {
    const running = this.#running
    if (running === undefined) return
    if (this.#isFrozen) this.thaw()
    this.#ending.add(running)
    await Promise.race([running.stop(), delay(STOP_MS, undefined, { ref: false }).then(() => running.kill())])
  }

  #hasEnded(running: ServiceProcess, code: number | null): void {
    if (this.#ending.has(running)) return
    const last = running.logs().slice(-3)
    this.#ends.push(`ended by itself with code ${code}: ${JSON.stringify(last)}`)
    void this.start()
  }

  #get(): ServiceProcess {
    if (this.#running === undefined) throw new Error(`${this.name} was never started`)
    return this.#running
  }
}
