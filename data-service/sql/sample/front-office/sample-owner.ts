import type { SampleRandom } from '../sample-random.js'

/** Customers 1 and 2, whom the sample accounts sign in as, have a row in eight each. */
const ACCOUNT_EVERY = 8

/** Whose the row is, out of `customerIds`, of which the accounts' are the lowest two. */
export function ownerOf(id: number, customerIds: readonly number[], random: SampleRandom): number {
  const customerId = customerIds[(id % ACCOUNT_EVERY) - 1]
  return customerId !== undefined && customerId <= 2 ? customerId : random.pick(customerIds)
}
