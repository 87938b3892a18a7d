import type { Logger } from 'pino'
import type { NewRoot } from './action.js'

type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json }

/** An object that JSON can hold. Declare its type with `type` or in place: an `interface` is not assignable to it. */
export type JsonObject = { readonly [member: string]: Json }

declare const payload: unique symbol

/** A type of events. `P` is what each of them carries. */
export interface EventType<P extends JsonObject = JsonObject> {
  /** In kebab-case, `order-placed`. It is stored with each event and never changes. */
  readonly name: string
  /** Exists only in the types. */
  readonly [payload]?: P
}

/**
 * Declares a type of events: `defineEvent<{ number: string }>('order-placed')`. Entity files emit it (`hooks`), and
 * `outbox` of the application has one handler for it.
 */
export function defineEvent<P extends JsonObject>(name: string): EventType<P> {
  return { name }
}

/** An event as its handler gets it. The same event may come again: delivery is at least once. */
export interface OutboxEvent<P extends JsonObject = JsonObject> {
  /** The same for every delivery of the event: what a handler that must act once keeps. */
  readonly id: string
  readonly type: string
  /** The resource and the id of the row whose write emitted the event. Events of one row are delivered in order. */
  readonly resource: string
  readonly rowId: string
  readonly payload: P
  /** When the write happened, `2026-01-31T08:00:00.000Z`. */
  readonly occurredAt: string
  /** Of the request that wrote the row. */
  readonly requestId: string
  /** 1 for the first delivery. */
  readonly attempt: number
}

interface HandlerContext {
  /** Aborted when the time of the handler is over (OUTBOX_HANDLER_TIMEOUT), and when the process stops. */
  readonly signal: AbortSignal
  /** Each line carries the id and the type of the event and the request id. */
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>
}

/**
 * What a handler wants to be stored: rows to create in the transaction that marks the event as delivered. They are created
 * once, however often the event is delivered.
 */
interface HandlerOutcome {
  readonly create: readonly NewRoot[]
}

type HandlerResult = HandlerOutcome | undefined | void

/** A handler of one type of events. */
export interface EventHandler {
  readonly event: EventType
  readonly handle: (event: OutboxEvent, context: HandlerContext) => HandlerResult | Promise<HandlerResult>
}

/**
 * A handler of the events of a type, for `outbox` of the application. It runs after the COMMIT of the write, in some data
 * service, and again later if it throws.
 */
export function onEvent<P extends JsonObject>(
  event: EventType<P>,
  handle: (event: OutboxEvent<P>, context: HandlerContext) => HandlerResult | Promise<HandlerResult>
): EventHandler {
  // The payload that is stored is the one of the hook that emitted it, whose type is that of the event.
  return { event, handle: handle as EventHandler['handle'] }
}
