import {
  defineEntity,
  example,
  type FindByIds,
  int,
  intOf,
  money,
  onCreate,
  oneOf,
  optional,
  ownRows,
  readOnly,
  reject,
  type StateRejection,
  text,
  textOf
} from 'uniform-rest'
import { suspendedCustomer, ticketsOf } from './shop-rules.js'

export const tickets = defineEntity({
  name: 'tickets',
  description: 'Admission of a customer to an event.',
  group: 'Events',

  fields: {
    id: readOnly(int()),
    eventId: int(),
    customerId: onCreate(int()),
    seat: example(optional(text(64)), 'row 12, seat 7'),
    status: readOnly(oneOf(['valid', 'checked-in'])),
    price: example(money(10, 2), '19.75')
  },

  label: 'status',
  filterable: ['id', 'eventId', 'customerId', 'seat', 'status', 'price'],
  sortable: ['id', 'eventId', 'customerId', 'seat', 'status', 'price'],

  references: {
    event: { to: 'events', via: 'eventId' },
    customer: { to: 'customers', via: 'customerId' }
  },

  access: { read: ownRows('customerId'), write: ownRows('customerId') },
  writes: ['create', 'delete'],
  creates: {
    // As many as the venue of the event holds, and one for each seat. The event is locked first and for changing, so
    // that the buyers of the last ticket wait for each other and are not sent into a deadlock.
    async prepare({ input: { eventId, customerId, seat }, findByIds, getAggregate, countReferencing }) {
      const event = (await getAggregate('events', eventId))?.root
      if (event === undefined) return reject.input('/eventId', 'There is no such event.')
      const suspended = await suspendedCustomer(customerId, findByIds, 'a ticket')
      if (suspended !== undefined) return suspended
      const status = textOf(event, 'status')
      if (status !== 'scheduled') return reject.state(`The event is ${status}; there are tickets to scheduled ones.`)
      const venueId = intOf(event, 'venueId') ?? 0
      const capacity = intOf((await findByIds('venues', [venueId])).get(venueId) ?? {}, 'capacity') ?? 0
      if ((await ticketsOf(eventId, countReferencing)) >= capacity) {
        return reject.state(`The event is sold out: its venue holds ${capacity}.`)
      }
      const onSeat = seat === null ? undefined : { id: eventId, where: { seat: [seat] } }
      if (onSeat !== undefined && (await countReferencing('tickets', 'eventId', onSeat)) > 0) {
        return reject.state(`Seat ${seat} of the event is taken.`)
      }
      return { values: { status: 'valid' } }
    }
  },

  // A ticket that was used stays.
  deletes: { when: { status: ['valid'] } },

  // valid → checked-in. Only a valid one changes hands. Neither once the event is cancelled.
  actions: (action) => ({
    transfer: action({
      description: 'Gives the ticket to another customer.',
      handsOver: true,
      when: { status: ['valid'] },
      input: { customerId: int() },
      change: async ({ root: { eventId }, input: { customerId }, findByIds }) =>
        (await cancelled('transfer', eventId, findByIds)) ??
        (await noTaker(customerId, findByIds)) ?? { set: { customerId } }
    }),
    'check-in': action({
      description: 'Lets the holder in.',
      when: { status: ['valid'] },
      becomes: { status: 'checked-in' },
      change: async ({ root: { eventId }, findByIds }) => (await cancelled('check-in', eventId, findByIds)) ?? {}
    })
  })
})

/**
 * Rejects a customer that there is not in the same words as one who is suspended: who gives a ticket away must not learn
 * from the answer which of the two it is.
 */
async function noTaker(customerId: number, findByIds: FindByIds): Promise<StateRejection | undefined> {
  const taker = (await findByIds('customers', [customerId])).get(customerId)
  return taker?.['isSuspended'] === false
    ? undefined
    : reject.state(`Customer ${customerId} can take no tickets; transfer needs a customer who can.`)
}

async function cancelled(action: string, eventId: number, findByIds: FindByIds): Promise<StateRejection | undefined> {
  const event = (await findByIds('events', [eventId])).get(eventId)
  if (event?.['status'] !== 'cancelled') return undefined
  return reject.state(`The event is cancelled; ${action} needs one that takes place.`)
}
