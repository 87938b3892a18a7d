import type { SampleMaker } from '../sample-aggregate.js'
import { dateTimeOf, moment } from '../sample-values.js'
import { ownerOf } from './sample-owner.js'

const PLANS = ['Basic', 'basic', 'Plus', 'Café, monthly', '=Pro', '-10%', 'team_5', '"Gold"', "Owner's", 'Чай', 'お茶']

/** Subscriptions of customers, most of them active. */
export function subscriptionMaker(customerIds: readonly number[]): SampleMaker {
  return (id, random) => ({
    root: {
      id,
      customerId: ownerOf(id, customerIds, random),
      plan: random.pick(PLANS),
      renewsAt: dateTimeOf(moment(random)),
      status: random.chance(75) ? 'active' : 'paused'
    },
    children: {}
  })
}
