import { ownRows } from '../../../data-service/entity/access.js'
import { type LookUp, refuse, type StateRefusal, textOf } from '../../../data-service/entity/action.js'
import { defineEntity } from '../../../data-service/entity/define-entity.js'
import { int, money, onCreate, optional, serverSet, text } from '../../../data-service/entity/field.js'

export const tickets = defineEntity({
  name: 'tickets',
  description: 'Admission of a customer to an event.',

  fields: {
    id: serverSet(int()),
    eventId: int(),
    customerId: onCreate(int()),
    seat: optional(text(64)),
    status: serverSet(text(32)),
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
    async prepare({ input: { eventId }, lookUp }) {
      const event = (await lookUp('events', [eventId])).get(eventId)
      if (event === undefined) return refuse.input('/eventId', 'There is no such event.')
      const status = textOf(event, 'status')
      if (status !== 'scheduled') return refuse.state(`The event is ${status}; there are tickets to scheduled ones.`)
      return { values: { status: 'valid' } }
    }
  },

  // valid → checked-in. Only a valid one changes hands. Neither once the event is cancelled.
  actions: (action) => ({
    transfer: action({
      description: 'Gives the ticket to another customer.',
      when: { status: ['valid'] },
      input: { customerId: int() },
      change: async ({ root: { eventId }, input: { customerId }, lookUp }) =>
        (await cancelled('transfer', eventId, lookUp)) ?? { set: { customerId } }
    }),
    'check-in': action({
      description: 'Lets the holder in.',
      when: { status: ['valid'] },
      change: async ({ root: { eventId }, lookUp }) =>
        (await cancelled('check-in', eventId, lookUp)) ?? { set: { status: 'checked-in' } }
    })
  })
})

async function cancelled(action: string, eventId: number, lookUp: LookUp): Promise<StateRefusal | undefined> {
  const event = (await lookUp('events', [eventId])).get(eventId)
  if (event?.['status'] !== 'cancelled') return undefined
  return refuse.state(`The event is cancelled; ${action} needs one that takes place.`)
}
