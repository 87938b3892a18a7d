import type { Logger } from 'pino'
import type { NewRoot } from './action.js'
import { checkOptions, definitionWords } from './fields/definition-words.js'

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
 * `outbox` of the application has a handler or webhooks for it.
 */
export function defineEvent<P extends JsonObject>(name: string): EventType<P> {
  return { name }
}

/** An event of the outbox as a write emits it. */
export interface EmittedEvent {
  /** A Guid, for its handler. */
  readonly id: string
  readonly type: string
  readonly resource: string
  readonly rowId: string
  /** JSON. */
  readonly payload: string
  /** `2026-01-31T08:00:00.000Z`. */
  readonly occurredAt: string
  readonly requestId: string
}

/**
 * A link by which a person chooses the password of an account, once. The service emits it itself, where ONE_TIME_LINK_URL is
 * set: an application has a handler for it, or the setting SMTP_URL sends it as an e-mail (docs/one-time-links.md).
 */
export const oneTimeLink = defineEvent<{
  readonly purpose: LinkPurpose
  /** Of the account, or of the one that is to be made. */
  readonly email: string
  /** It holds the secret, which is stored nowhere: a handler sends it to the person and keeps it out of logs. */
  readonly url: string
  readonly expiresAt: string
}>('one-time-link')

/**
 * Why somebody gets a link: an account was made for them, they have forgotten their password, they sign up, or they sign up
 * although they have an account.
 */
export type LinkPurpose = 'invitation' | 'forgotten-password' | 'sign-up' | 'account-exists'

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

/** A text, or the setting that holds it: for secrets, and for what differs between deployments. */
export type TextOrSetting = string | { readonly setting: string }

/** An address that events are sent to (docs/webhooks.md). */
export interface Webhook {
  /** In kebab-case. It is stored with each delivery and never changes. */
  readonly name: string
  readonly events: readonly EventType[]
  /** `https:`. Where it is a setting that is not set, there is no such webhook. */
  readonly url: TextOrSetting
  /** `whsec_` and 24 to 64 bytes in base64. Two with a space between them while the receiver changes from one to the other. */
  readonly secret: TextOrSetting
}

type WebhookDefinition = Omit<Webhook, 'name'> & Partial<Pick<Webhook, 'name'>>

const WEBHOOK = definitionWords<WebhookDefinition>({
  name: 'text',
  events: 'list',
  url: 'text or object',
  secret: 'text or object'
})

/**
 * Sends events to an address, for `outbox` of the application, signed as Standard Webhooks say. A further webhook needs a
 * `name`; that of the first one is `webhook`.
 */
export function webhook(definition: WebhookDefinition): Webhook {
  // Without a compiler words may be missing.
  const given: Partial<WebhookDefinition> = definition
  checkOptions('webhook', { events: undefined, url: undefined, secret: undefined, ...given }, WEBHOOK)
  for (const from of [given.url, given.secret]) {
    const of: { readonly setting?: string } = typeof from === 'object' ? from : { setting: '' }
    checkOptions('webhook', { setting: undefined, ...of }, { setting: 'text' })
  }
  return { name: 'webhook', ...definition }
}

/** What `outbox` of an application lists. */
export type OutboxTarget = EventHandler | Webhook

export function isWebhook(target: OutboxTarget): target is Webhook {
  return 'url' in target
}

/**
 * The type under which the outbox stores what a webhook gets of an event: a row of its own, with its own id and attempts. No
 * other type contains `@`, so data services that do not know the webhook leave these rows alone.
 */
export function typeForWebhook(event: string, webhookName: string): string {
  return `${event}@${webhookName}`
}

/** The name of the webhook that a stored type is for. undefined for the handler of a type. */
export function webhookOfType(type: string): string | undefined {
  return type.split('@')[1]
}
