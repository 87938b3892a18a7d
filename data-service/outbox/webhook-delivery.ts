import { createHmac } from 'node:crypto'
import type { LookupAddress } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { EventHandler } from '../entity/event.js'
import { isPublicAddress } from '../../shared/ip-address.js'
import { RetryLater } from './dispatcher.js'
import type { WebhookTarget } from './webhook-settings.js'

// Deliveries by the rules of Standard Webhooks (https://github.com/standard-webhooks/standard-webhooks). The signature is an
// HMAC of Node's own. Messages of errors are stored and logged: they hold neither the URL nor what the receiver has answered.

interface DeliveryDeps {
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly privateNetworks: boolean
}

/** The handlers that send the events of a webhook. */
export function webhookHandler(target: WebhookTarget, { now, privateNetworks }: DeliveryDeps): readonly EventHandler[] {
  const post = sender(target, privateNetworks)
  return Array.from(target.types, ([stored, type]) => ({
    event: { name: stored },
    async handle({ id, resource, rowId, payload, occurredAt }, { signal }) {
      const body = JSON.stringify({ type, timestamp: occurredAt, data: { resource, rowId, payload } })
      const timestamp = String(Math.floor(now() / 1000))
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'uniform-rest',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signatures(target, `${id}.${timestamp}.${body}`)
      }
      const { status, retryAfter } = await post({ headers, body, signal })
      if (status >= 200 && status <= 299) return
      throw new RetryLater(`The webhook ${target.name} answered ${status}`, retryAfter)
    }
  }))
}

function signatures({ keys }: WebhookTarget, signed: string): string {
  return keys.map((key) => `v1,${createHmac('sha256', key).update(signed).digest('base64')}`).join(' ')
}

interface Message {
  readonly headers: Readonly<Record<string, string | number>>
  readonly body: string
  readonly signal: AbortSignal
}

interface Answered {
  readonly status: number
  /** Milliseconds; 0 where the receiver names no seconds. */
  readonly retryAfter: number
}

/** Sends over a connection of its own, follows no redirect, and reads nothing of the body of the answer. */
function sender({ name, url }: WebhookTarget, privateNetworks: boolean): (message: Message) => Promise<Answered> {
  const look = addressLookup(privateNetworks)
  const request = url.protocol === 'https:' ? requestByHttps : requestByHttp
  return ({ headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method: 'POST', headers, signal, agent: false, lookup: look })
      const fail = (why: string): void => reject(new Error(`The webhook ${name} could not be reached: ${why}`))
      sent.on('socket', (socket) => {
        // Nothing of the request was sent by then.
        socket.once('connect', () => {
          const { remoteAddress } = socket
          if (!privateNetworks && remoteAddress !== undefined && !isPublicAddress(remoteAddress))
            socket.destroy(new NotPublic())
        })
      })
      sent.on('response', (response) => {
        const { statusCode = 0, headers: answered } = response
        const seconds = answered['retry-after'] ?? ''
        resolve({ status: statusCode, retryAfter: /^\d{1,9}$/.test(seconds) ? Number(seconds) * 1000 : 0 })
        response.destroy()
      })
      sent.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message))
      sent.on('close', () => fail('the connection ended without an answer'))
      sent.end(body)
    })
}

class NotPublic extends Error {
  constructor() {
    super('its name leads to an address that is not public, and WEBHOOK_PRIVATE_NETWORKS is not true')
  }
}

/**
 * As the look-up of Node, but an error where any of the addresses is not public, unless those are allowed. One is under way at
 * a time: a name server that does not answer would keep all threads of the process that look names up.
 */
export function addressLookup(
  privateNetworks: boolean,
  find: (hostname: string, options: { readonly all: true }) => Promise<readonly LookupAddress[]> = lookup
): LookupFunction {
  let running: Promise<readonly LookupAddress[]> | undefined
  return (hostname, options, callback) => {
    running ??= find(hostname, { all: true }).finally(() => (running = undefined))
    running
      .then((addresses) => {
        const [first] = addresses
        if (first === undefined) return callback(new Error('its name has no address'), '')
        if (!privateNetworks && !addresses.every(({ address }) => isPublicAddress(address))) {
          return callback(new NotPublic(), '')
        }
        if (options.all === true) callback(null, [...addresses])
        else callback(null, first.address, first.family)
      })
      .catch((error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), ''))
  }
}
