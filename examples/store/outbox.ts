import { onEvent, type OutboxTarget, webhook } from 'uniform-rest'
import { orderPlaced } from './entities/order-parts.js'

/** What follows a write once it is committed. */
export const outbox: readonly OutboxTarget[] = [
  // Another shop would send a mail here. It may run twice for one order: the id of the event is what a mail would carry, so
  // that its sender knows one that was sent.
  onEvent(orderPlaced, ({ rowId, payload: { number, total } }, { log }) => {
    log.info({ order: rowId, number, total }, 'the order is confirmed to its customer')
  }),
  // The warehouse that packs the orders, say.
  webhook({
    events: [orderPlaced],
    url: { setting: 'ORDER_WEBHOOK_URL' },
    secret: { setting: 'ORDER_WEBHOOK_SECRET' }
  })
]
