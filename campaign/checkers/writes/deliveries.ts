import type { Delivery, Exchange, Injury } from '../../history.js'
import { auditOf } from './audit.js'
import type { Checker, Rows, Verdict, Violation } from '../checker.js'
import { isObject, type JsonObject } from '../json.js'
import { type Forgotten, forgettableUntil, Kills } from '../kills.js'

const RESOURCE = 'orders'
/** The events of an order, by the actions of the audit trail. */
const EVENTS: Readonly<Record<string, string>> = {
  create: 'order-placed',
  pay: 'order-paid',
  cancel: 'order-cancelled'
}

/** All deliveries of one event. */
interface Event {
  readonly id: string
  readonly body: string
  /** `order-placed of orders/7`. */
  readonly name: string
  readonly firstAt: number
  /** When the first delivery was answered with 2xx, which the sender may not have learnt. */
  takenAt?: number
}

/** What a webhook has got, held to the audit trail of the rows whose writes emit its events. */
export class DeliveredInOrder implements Checker {
  readonly title = 'Delivered in order'
  readonly contract = '10. Doors for programs'
  readonly how =
    '`stock` and `owners` place, pay and cancel orders, each of which sends an event to a webhook. Its receiver answers some deliveries with an error or late, breaks the connection of others, and never answers a few. In the end each entry of the audit trail is looked for among the deliveries, and each delivery among the entries. Counted are events that had to be delivered.'
  readonly isOfWrites = true
  readonly promise =
    'Every event of a committed write arrives at its webhook, signed, however often something breaks, under one id and with one body at each attempt; the events of a row are taken in the order of its writes, and none arrives of a write that never was.'
  readonly #events = new Map<string, Event>()
  readonly #kills = new Kills()
  readonly #violations: Violation[] = []

  see(_exchange: Exchange): void {}

  hurt(injury: Injury): void {
    this.#kills.hurt(injury)
  }

  deliver({ id, isSigned, body, at, answeredAt, status = 0 }: Delivery): void {
    if (!isSigned) this.#violate(`A delivery of the event ${id} has no valid signature.`)
    const known = this.#events.get(id)
    const event = known ?? { id, body, name: nameOf(body), firstAt: at }
    this.#events.set(id, event)
    if (event.body !== body) this.#violate(`The event ${id} was delivered as ${event.body} and as ${body}.`)
    if (status >= 200 && status < 300) event.takenAt ??= answeredAt
  }

  async judge(rows: Rows): Promise<Verdict> {
    const byName = new Map<string, Event>()
    const forgotten: Forgotten[] = []
    const forget = (what: string, { firstAt }: Event, goneAt?: number): void => {
      const shown = { endedAt: firstAt }
      forgotten.push({ what, exchanges: [], from: firstAt, until: forgettableUntil(shown, goneAt) })
    }
    // Ids of rows that a database has forgotten come again.
    for (const event of this.#events.values()) {
      const other = byName.get(event.name)
      if (other !== undefined) forget(`${event.name} has come as ${other.id} and as ${event.id}.`, other, event.firstAt)
      byName.set(event.name, event)
    }
    const last = new Map<string, Event>()
    const wanted = new Set<string>()
    for await (const { requestId, row, action } of auditOf(rows, RESOURCE)) {
      const type = EVENTS[action]
      if (type === undefined || requestId === '') continue
      const name = `${type} of ${row}`
      wanted.add(name)
      const event = byName.get(name)
      if (event?.takenAt === undefined) {
        const often = event === undefined ? 'has never been delivered' : 'has never been taken'
        this.#violate(`${name} ${often}, which ${requestId} has brought about.`, requestId)
        continue
      }
      const before = last.get(row)
      if (before?.takenAt !== undefined && before.takenAt >= event.takenAt)
        this.#violate(`${name} was taken before ${before.name}, which was written before it.`, requestId)
      last.set(row, event)
    }
    for (const event of byName.values())
      if (!wanted.has(event.name)) forget(`${event.name} was delivered, and there was no such write.`, event)
    const violations = [...this.#violations, ...this.#kills.unexcused(forgotten)]
    return { tried: wanted.size, of: 'events that had to be delivered', violations }
  }

  #violate(what: string, ...exchanges: readonly string[]): void {
    this.#violations.push({ what, exchanges })
  }
}

/** `order-placed of orders/7`; the text itself where it is no event. */
function nameOf(body: string): string {
  const { type, data } = objectIn(body)
  return isObject(data) ? `${String(type)} of ${String(data['resource'])}/${String(data['rowId'])}` : body
}

function objectIn(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
