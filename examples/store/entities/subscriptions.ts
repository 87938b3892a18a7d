import { dateTime, defineEntity, example, int, onCreate, oneOf, ownRows, readOnly, text } from 'uniform-rest'
import { suspendedCustomer } from './shop-rules.js'

const plan = example(text(64), 'Gold')

export const subscriptions = defineEntity({
  name: 'subscriptions',
  description: 'Plans that customers pay for until further notice.',
  group: 'Sales',

  fields: {
    id: readOnly(int()),
    customerId: onCreate(int()),
    plan,
    renewsAt: dateTime(),
    status: readOnly(oneOf(['active', 'paused']))
  },

  label: 'plan',
  filterable: ['id', 'customerId', 'plan', 'renewsAt', 'status'],
  sortable: ['id', 'customerId', 'plan', 'renewsAt', 'status'],

  references: {
    customer: { to: 'customers', via: 'customerId' }
  },

  access: { read: ownRows('customerId'), write: ownRows('customerId') },
  writes: ['create', 'delete'],
  creates: {
    prepare: async ({ input: { customerId }, findByIds }) =>
      (await suspendedCustomer(customerId, findByIds, 'a subscription')) ?? { values: { status: 'active' } }
  },

  // active ⇄ paused. The plan of a paused one stays as it is, and a suspended customer resumes none.
  actions: (action) => ({
    pause: action({
      description: 'Stops renewals until it is resumed.',
      when: { status: ['active'] },
      becomes: { status: 'paused' }
    }),
    resume: action({
      description: 'Takes renewals up again.',
      when: { status: ['paused'] },
      becomes: { status: 'active' },
      change: async ({ root: { customerId }, findByIds }) =>
        (await suspendedCustomer(customerId, findByIds, 'resume')) ?? {}
    }),
    'change-plan': action({
      description: 'Goes on with another plan.',
      when: { status: ['active'] },
      input: { plan },
      effect: ({ input }) => ({ set: { plan: input.plan } })
    })
  })
})
