import type { Workload } from './workload.js'

const CLERK = 'clerk@example.com'
/** So many batches have a prefix of their names in common, by which they are exported. */
const BATCHES_OF_A_SERIES = 40
const VENUES_BETWEEN = 450
/** `MAX_EXPORT_ROWS` of the data services: more than there are rows that count, and fewer than there are soon speakers. */
export const MOST_EXPORTED = 700
const COUNTED = 'filters[capacity].operator=gte&filters[capacity].value='
const NAMED = 'filters[name].operator=starts%20with&filters[name].value='

/** Rows that come together or not at all, and exports of them, of rows that are counted meanwhile, and of the whole store. */
export function exportsWhileWritten(): Workload {
  let batches = 0
  const series = (): string => `exports-s${Math.floor(batches / BATCHES_OF_A_SERIES)}.`
  return {
    name: 'exports',
    clients: 2,
    async prepare(client) {
      // More rows than the first batch of an export, between the first rows that count and those that come later.
      const body = Array.from({ length: VENUES_BETWEEN }, () => ({ name: client.tag(), city: 'Aarhus', capacity: 1 }))
      const headers = { 'idempotency-key': client.key() }
      await client.insist({ target: '/venues/batch', account: CLERK, headers, body })
    },
    async step(client) {
      if (client.random() < 0.4) {
        batches++
        const count = client.whole(2, 6)
        const name = `${series()}${client.tag()}`
        await client.insist({
          target: '/speakers/batch',
          account: CLERK,
          headers: { 'idempotency-key': client.key() },
          body: Array.from({ length: count }, (_, n) => ({ name: `${name} ${n + 1} of ${count}`, eventId: 1 }))
        })
      } else {
        const target = client.pick([
          `/speakers/export?${NAMED}${series()}`,
          '/speakers/export?fields=id,name,eventId',
          // The newest first, so that what is left out beyond the most rows is another in each export.
          '/speakers/export?fields=id,name,eventId&sortColumn=id&sortDirection=desc',
          `/venues/export?${NAMED}counters-`,
          '/venues/export',
          `/venues/export?${NAMED}counters-&${COUNTED}${client.whole(1, 30)}&sortColumn=capacity,name`,
          '/stock-items/export',
          '/venues/export?sortColumn=capacity&sortDirection=desc'
        ])
        await client.send({ target, account: CLERK })
      }
      await client.think(2)
    }
  }
}
