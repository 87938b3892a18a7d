import { type EventHandler, isWebhook, oneTimeLink, type OutboxTarget } from '../entity/event.js'
import { type DispatcherDeps, type Lane, OutboxDispatcher } from './dispatcher.js'
import { webhookHandler } from './webhook-delivery.js'
import type { WebhookTarget } from './webhook-settings.js'

// Handlers have one dispatcher; one-time links, which anybody may ask for, and each webhook have their own, with places of their
// own: one that hangs delays no other.

/** Handlers that run at the same time in one process. */
const HANDLERS_AT_ONCE = 8

/** One-time links that go out at the same time from one process. */
const LINKS_AT_ONCE = 4

/** Deliveries to one webhook at the same time from one process. */
const DELIVERIES_AT_ONCE = 4

/** Milliseconds for one delivery to a webhook, from the look-up of its name to its status. */
const DELIVERY_TIMEOUT = 10_000

interface OutboxDeps extends DispatcherDeps {
  readonly webhooks: readonly WebhookTarget[]
  /** Whether webhooks may lead to addresses that are not public. */
  readonly privateNetworks: boolean
  /** Milliseconds of one delivery to a webhook. Default: 10 seconds. */
  readonly deliveryTimeout?: number | undefined
}

/** The types under which an event of a type is stored, one for each that gets it. None without a handler or a webhook. */
export function storedTypes(
  targets: readonly OutboxTarget[],
  webhooks: readonly WebhookTarget[]
): (type: string) => readonly string[] {
  const byType = new Map<string, string[]>()
  const add = (event: string, stored: string): void => void byType.set(event, [...(byType.get(event) ?? []), stored])
  for (const { event } of handlersAmong(targets)) add(event.name, event.name)
  for (const { types } of webhooks) for (const [stored, event] of types) add(event, stored)
  return (type) => byType.get(type) ?? []
}

/** Delivers what is in the outbox to the handlers and the webhooks of the application. */
export class Outbox {
  readonly #dispatchers: readonly OutboxDispatcher[]
  readonly #types: readonly string[]
  readonly #deps: OutboxDeps
  #warned: Promise<void> | undefined

  constructor(targets: readonly OutboxTarget[], deps: OutboxDeps) {
    const { webhooks, settings, writeDeps, privateNetworks, deliveryTimeout = DELIVERY_TIMEOUT } = deps
    const laneOf = (areLinks: boolean, concurrency: number): Lane => ({
      handlers: handlersAmong(targets).filter(({ event }) => (event.name === oneTimeLink.name) === areLinks),
      concurrency,
      timeout: settings.handlerTimeout,
      timedOut: new Error('The handler took longer than OUTBOX_HANDLER_TIMEOUT')
    })
    const lanes = webhooks.map((target): Lane => ({
      handlers: webhookHandler(target, { now: writeDeps.now, privateNetworks }),
      concurrency: DELIVERIES_AT_ONCE,
      timeout: deliveryTimeout,
      timedOut: new Error(`The webhook ${target.name} did not answer within ${deliveryTimeout / 1000} seconds`)
    }))
    const used = [laneOf(false, HANDLERS_AT_ONCE), laneOf(true, LINKS_AT_ONCE), ...lanes].filter(
      (lane) => lane.handlers.length > 0
    )
    this.#dispatchers = used.map((lane) => new OutboxDispatcher(lane, deps))
    this.#types = used.flatMap((lane) => lane.handlers.map(({ event }) => event.name))
    this.#deps = deps
  }

  /** Begins to deliver. Without handlers and webhooks it does nothing. */
  start(): void {
    if (this.#dispatchers.length > 0) this.#warned = this.#warnOfUnhandled()
    for (const one of this.#dispatchers) one.start()
  }

  /** Looks for events now. */
  wake(): void {
    for (const one of this.#dispatchers) one.wake()
  }

  /** As OutboxDispatcher.stop. */
  async stop(timeout: number): Promise<void> {
    await Promise.all([this.#warned, ...this.#dispatchers.map((one) => one.stop(timeout))])
  }

  /** Events of a type that nothing is left for wait, and those after them of the same rows with them. */
  async #warnOfUnhandled(): Promise<void> {
    const { store, log } = this.#deps
    try {
      for (const { type, waiting } of await store.unhandled(this.#types)) {
        log.warn({ type, waiting }, 'no handler in this process for what waits in the outbox')
      }
    } catch (error) {
      log.debug({ err: error }, 'the outbox cannot be read')
    }
  }
}

function handlersAmong(targets: readonly OutboxTarget[]): readonly EventHandler[] {
  return targets.filter((one): one is EventHandler => !isWebhook(one))
}
