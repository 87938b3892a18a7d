import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Exchange } from '../history.js'
import type { Workload } from './workload.js'

/** How often a client sends one create. More than faults last, so that nearly every create ends with an answer. */
const MOST_ATTEMPTS = 60
const PAUSE_MS = 250

/** Creates with an Idempotency-Key, sent again through other gateways until somebody answers; some once more after that. */
export const creates = (): Workload => ({
  name: 'creates',
  clients: 4,
  prepare: async () => {},
  async step(client) {
    const call = {
      target: '/speakers',
      account: 'clerk@example.com',
      headers: { 'idempotency-key': randomUUID() },
      // No column of a speaker is unique, so that nothing but the key can prevent a second one.
      body: { name: client.tag(), bio: 'x'.repeat(client.whole(0, 200)), eventId: client.whole(1, 20) }
    }
    await untilAnswered(() => client.send(call))
    if (client.random() < 0.3) await client.send(call)
  }
})

/** Sends again for as long as the contract says that the same request may be answered otherwise later. */
async function untilAnswered(send: () => Promise<Exchange>): Promise<void> {
  for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt++) {
    const { answer } = await send()
    if (answer !== undefined && answer.status < 500 && answer.status !== 409 && answer.status !== 429) return
    await delay(PAUSE_MS)
  }
}
