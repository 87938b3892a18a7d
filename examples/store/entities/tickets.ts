import {
  defineEntity,
  type FindByIds,
  int,
  money,
  onCreate,
  optional,
  ownRows,
  readOnly,
  reject,
  type StateRejection,
  text,
  textOf
} from '../../../data-service/public/entity.js'

export const tickets = defineEntity({
  name: 'tickets',
  description: 'Admission of a customer to an event.',

  fields: {
    id: readOnly(int()),
    eventId: int(),
    customerId: onCreate(int()),
    seat: optional(text(64)),
    status: readOnly(text(32)),
    price: money(10, 2)
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
    async prepare({ input: { eventId }, findByIds }) {
      const event = (await findByIds('events', [eventId])).get(eventId)
      if (event === undefined) return reject.input('/eventId', 'There is no such event.')
      const status = textOf(event, 'status')
      if (status !== 'scheduled') return reject.state(`The event is ${status}; there are tickets to scheduled ones.`)
      return { values: { status: 'valid' } }
    }
  },

  // valid → checked-in. Only a valid one changes hands. Neither once the event is cancelled.
  actions: (action) => ({
    transfer: action({
      description: 'Gives the ticket to another customer.',
      when: { status: ['valid'] },
      input: { customerId: int() },
      change: async ({ root: { eventId }, input: { customerId }, findByIds }) =>
        (await cancelled('transfer', eventId, findByIds)) ?? { set: { customerId } }
    }),
    'check-in': action({
      description: 'Lets the holder in.',
      when: { status: ['valid'] },
      change: async ({ root: { eventId }, findByIds }) =>
        (await cancelled('check-in', eventId, findByIds)) ?? { set: { status: 'checked-in' } }
    })
  })
})

async function cancelled(action: string, eventId: number, findByIds: FindByIds): Promise<StateRejection | undefined> {
  const event = (await findByIds('events', [eventId])).get(eventId)
  if (event?.['status'] !== 'cancelled') return undefined
  return reject.state(`The event is cancelled; ${action} needs one that takes place.`)
}
