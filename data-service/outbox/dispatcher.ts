import type { Logger } from 'pino'
import type { EventHandler } from '../entity/event.js'
import type { ClaimedEvent, DueEvent, OutboxStore } from '../plan/model/stores.js'
import { checkAnswered } from '../entity/fields/definition-words.js'
import { OTHERS } from '../entity/known-words.js'
import type { DeliveryOutcome } from '../observe/data-service-metrics.js'
import { writeOthers } from '../operations/writes/effects.js'
import { type WriteDeps, WriteSteps } from '../operations/writes/write-steps.js'

/** Durations in milliseconds. */
export interface OutboxSettings {
  /** Between two looks into the outbox. A write of this process is looked for at once. */
  readonly pollInterval: number
  /** Deliveries of an event before it is set aside. */
  readonly maxAttempts: number
  /** The longest time of one handler. */
  readonly handlerTimeout: number
}

/** What one dispatcher delivers. */
export interface Lane {
  readonly handlers: readonly EventHandler[]
  /** Handlers that run at the same time in one process. */
  readonly concurrency: number
  /** The longest time of one handler, in milliseconds. */
  readonly timeout: number
  /** Why a handler that takes longer has failed. */
  readonly timedOut: Error
}

/** What a handler throws whose receiver has said when to try again. */
export class RetryLater extends Error {
  readonly milliseconds: number

  constructor(message: string, milliseconds: number) {
    super(message)
    this.milliseconds = milliseconds
  }
}

export interface DispatcherDeps {
  readonly store: OutboxStore
  /** For the rows that handlers create. */
  readonly writeDeps: WriteDeps
  readonly settings: OutboxSettings
  readonly log: Logger
  /** A random number from 0 up to 1, so that replicas and events do not try again at the same time. */
  readonly random: () => number
  /** Told of each delivery that has ended, by the stored type. */
  readonly ended: (type: string, outcome: DeliveryOutcome) => void
}

/**
 * Milliseconds from the end of a handler's time to the end of its lease: for the statement that settles the event, and
 * for clocks of replicas that do not agree.
 */
const LEASE_MARGIN = 5000

/** Milliseconds before the second delivery; they double for each further one, up to the longest. */
const FIRST_RETRY = 1000
const LONGEST_RETRY = 600_000

/** Milliseconds for the transaction that stores what a handler wants; less than the lease has left then. */
const STORING_TIMEOUT = 4000

/** Milliseconds at most before the next look if others were faster with all events of this one. */
const LOST_RACE_PAUSE = 50

/** Milliseconds at most between looks while the database cannot be read. */
const LONGEST_OUTAGE_PAUSE = 30_000

/**
 * Delivers the events of the outbox to their handlers: each at least once, those of one row in order and one at a time,
 * those of different rows side by side. Any number of processes may do so on one database: a claim is an UPDATE that
 * compares what was read.
 */
export class OutboxDispatcher {
  readonly #deps: DispatcherDeps
  readonly #lane: Lane
  readonly #handlers: ReadonlyMap<string, EventHandler>
  readonly #running = new Map<AbortController, Promise<void>>()
  readonly #stopping = new AbortController()
  #wakeUp: () => void = () => undefined
  #isAwake = false
  #loop: Promise<void> | undefined

  constructor(lane: Lane, deps: DispatcherDeps) {
    this.#deps = deps
    this.#lane = lane
    this.#handlers = new Map(lane.handlers.map((one) => [one.event.name, one]))
  }

  /** Begins to deliver. Without handlers it does nothing. */
  start(): void {
    if (this.#handlers.size > 0) this.#loop = this.#run()
  }

  /** Looks for events now. */
  wake(): void {
    this.#isAwake = true
    this.#wakeUp()
  }

  /**
   * Claims no further event, waits for the running handlers, and aborts those that still run after `timeout` milliseconds.
   * Their events wait for the next start or for another process.
   */
  async stop(timeout: number): Promise<void> {
    this.#stopping.abort()
    this.wake()
    await this.#loop
    const timer = setTimeout(() => {
      for (const handler of this.#running.keys()) handler.abort(STOPPED)
    }, timeout)
    await Promise.all(this.#running.values())
    clearTimeout(timer)
  }

  async #run(): Promise<void> {
    let failures = 0
    while (!this.#stopping.signal.aborted) {
      this.#isAwake = false
      let pause = this.#deps.settings.pollInterval
      const begun = performance.now()
      try {
        const { found, claimed } = await this.#deliverDue()
        failures = 0
        // Whatever wakes it: what waits behind a failed event is read by each look.
        if (claimed === 0) await rest(performance.now() - begun)
        if (found > 0 && claimed === 0) pause = this.#deps.random() * LOST_RACE_PAUSE
      } catch (error) {
        failures += 1
        pause = Math.min(LONGEST_OUTAGE_PAUSE, pause * 2 ** Math.min(failures, 10))
        this.#deps.log.warn({ err: error, nextLookMs: pause }, 'the outbox cannot be read')
      }
      await this.#sleep(pause)
    }
  }

  /** Ends early if it is woken, also if that happened since `#isAwake` was reset. */
  #sleep(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isAwake) return resolve()
      const timer = setTimeout(resolve, milliseconds)
      timer.unref()
      this.#wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Claims as many events as there are free places and starts their handlers. */
  async #deliverDue(): Promise<{ readonly found: number; readonly claimed: number }> {
    const limit = this.#lane.concurrency - this.#running.size
    if (limit <= 0) return { found: 0, claimed: 0 }
    const { store, writeDeps } = this.#deps
    const due = await store.due([...this.#handlers.keys()], { now: writeDeps.now(), limit })
    const claims = await Promise.all(due.map((event) => this.#claim(event)))
    for (const [index, event] of due.entries()) {
      const claim = claims[index]
      if (claim !== undefined) this.#begin(event, claim)
    }
    return { found: due.length, claimed: claims.filter((one) => one !== undefined).length }
  }

  /** undefined where another process was faster, which a cluster says with an error. */
  async #claim(event: DueEvent): Promise<ClaimedEvent | undefined> {
    const { store, writeDeps, log } = this.#deps
    const lease = writeDeps.randomBytes(16)
    try {
      const until = writeDeps.now() + this.#lane.timeout + LEASE_MARGIN
      return (await store.claim(event, { lease, until })) ? { sequence: event.sequence, lease } : undefined
    } catch (error) {
      log.debug({ err: error, eventId: event.id }, 'an event was not claimed')
      return undefined
    }
  }

  #begin(event: DueEvent, claimed: ClaimedEvent): void {
    const handler = new AbortController()
    const delivery = this.#deliver({ event, claimed, attempt: event.attempts + 1 }, handler)
      .catch((error: unknown) => {
        // The lease ends by itself, and the event is due again then.
        this.#deps.log.error({ err: error, ...eventMembers(event) }, 'the outcome of a handler could not be stored')
      })
      .finally(() => {
        this.#running.delete(handler)
        // The next event of the row can be claimed now, and a place is free.
        this.wake()
      })
    this.#running.set(handler, delivery)
  }

  async #deliver(delivery: Delivery, handler: AbortController): Promise<void> {
    const { event, claimed, attempt } = delivery
    const { store, writeDeps, settings, ended } = this.#deps
    // The process ended during each of the earlier deliveries.
    if (attempt > settings.maxAttempts) return this.#fail(delivery, new Error('The process ended during the delivery'))
    const { timeout, timedOut } = this.#lane
    const timer = setTimeout(() => handler.abort(timedOut), timeout)
    try {
      await this.#handle(delivery, handler.signal)
      ended(event.type, 'delivered')
    } catch (error) {
      if (handler.signal.reason === STOPPED) await store.release(claimed, writeDeps.now())
      else await this.#fail(delivery, error)
    } finally {
      clearTimeout(timer)
    }
    this.#deps.log.debug({ ...eventMembers(event), attempt }, 'an event was dealt with')
  }

  /** Runs the handler. What it wants to be stored is committed together with the mark that the event is delivered. */
  async #handle({ event, claimed, attempt }: Delivery, signal: AbortSignal): Promise<void> {
    const { store, writeDeps, log } = this.#deps
    const { id, type, resource, rowId, occurredAt, requestId } = event
    const handler = this.#handlers.get(type)
    if (handler === undefined) throw new TypeError(`No handler of ${type}`)
    const context = { signal, log: log.child({ eventId: id, type, requestId }) }
    // What insertEvent stored is what the hook of the entity file made.
    const payload = JSON.parse(event.payload) as Parameters<EventHandler['handle']>[0]['payload']
    const handled = Promise.resolve().then(() =>
      handler.handle({ id, type, resource, rowId, payload, occurredAt, requestId, attempt }, context)
    )
    const outcome = await Promise.race([handled, rejectionOn(signal)])
    const lost = new Error('The lease of the event has ended')
    if (!outcome) {
      // It takes no turn of the writes, for which a delivery would be refused and sent again.
      if (!(await store.deliver(claimed, writeDeps.now()))) throw lost
      return
    }
    const caller = callerOf(type)
    const cancellation = AbortSignal.timeout(STORING_TIMEOUT)
    const writing = { caller, cancellation, peerIsGateway: false, clientAddress: undefined }
    await writeDeps.shares.transaction(writing, 1, async (unit) => {
      const steps = new WriteSteps(unit, writeDeps, { caller, requestId })
      checkAnswered(`the handler of ${type}`, outcome, OTHERS)
      await writeOthers(outcome, steps)
      if (!(await unit.deliverEvent(claimed, writeDeps.now()))) throw lost
    })
  }

  async #fail({ event, claimed, attempt }: Delivery, error: unknown): Promise<void> {
    const { store, writeDeps, settings, log, random, ended } = this.#deps
    const now = writeDeps.now()
    const reason = error instanceof Error ? error.message : String(error)
    if (attempt >= settings.maxAttempts) {
      if (await store.setAside(claimed, { at: now, error: reason })) ended(event.type, 'set_aside')
      log.error({ err: error, ...eventMembers(event), attempt }, 'event set aside after its last failed delivery')
      return
    }
    const asked = error instanceof RetryLater ? Math.min(LONGEST_RETRY, error.milliseconds) : 0
    const retryInMs = Math.max(asked, Math.round(retryDelay(attempt) * (0.75 + random() / 2)))
    if (await store.postpone(claimed, { until: now + retryInMs, error: reason })) ended(event.type, 'failed')
    log.warn({ err: error, ...eventMembers(event), attempt, retryInMs }, 'delivery of an event failed')
  }
}

interface Delivery {
  readonly event: DueEvent
  readonly claimed: ClaimedEvent
  /** 1 for the first. */
  readonly attempt: number
}

/** Waits so many milliseconds. */
function rest(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}

const STOPPED = new Error('The process stops')

function rejectionOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** Milliseconds after the failed delivery `attempt`, which is 1 for the first. */
function retryDelay(attempt: number): number {
  return Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** (attempt - 1))
}

/** The members of a log line that find the event and its row. */
function eventMembers({ id, type, resource, rowId, requestId }: DueEvent): object {
  return { eventId: id, type, resource, id: rowId, requestId }
}

/** Whoever creates the rows that a handler wants: in the audit entries, `outbox` and the type of the event. */
function callerOf(type: string): ConstructorParameters<typeof WriteSteps>[2]['caller'] {
  return {
    kind: 'authenticated',
    issuer: 'outbox',
    subject: type,
    roles: [],
    permissions: new Set(),
    owner: null,
    claims: {}
  }
}
