import type { Workload } from './workload.js'

/** Creates with an Idempotency-Key, sent again through other gateways until somebody answers; some once more after that. */
export const creates = (): Workload => ({
  name: 'creates',
  clients: 3,
  prepare: async () => {},
  async step(client) {
    // No column of a speaker is unique, so that nothing but the key can prevent a second one.
    const speaker = () => ({ name: client.tag(), bio: 'x'.repeat(client.whole(0, 200)), eventId: client.whole(1, 20) })
    const isBatch = client.random() < 0.2
    const body = isBatch ? Array.from({ length: client.whole(2, 5) }, speaker) : speaker()
    const key = client.key()
    const call = {
      target: isBatch ? '/speakers/batch' : '/speakers',
      account: 'clerk@example.com',
      headers: { 'idempotency-key': key },
      body
    }
    await client.insist(call)
    const next = client.random()
    if (next < 0.1) await client.send(call)
    // JSON is compared by value: the same members in another order are the same request.
    else if (next < 0.2) await client.send({ ...call, body: turned(body) })
    else if (next < 0.3)
      await client.insist({ ...call, account: 'admin@example.com', body: isBatch ? [speaker()] : speaker() })
    else if (next < 0.4) await client.send({ ...call, body: isBatch ? [speaker()] : speaker() })
    await client.think()
  }
})

/** The same value with the members of its objects the other way round. */
function turned(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(turned)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).toReversed())
}
