import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from './client.js'
import type { Site } from './site.js'
import { isFormAccepted } from './visitors.js'

/** Milliseconds within which each gateway must serve again after everything is mended. */
export const RECOVERS_WITHIN_MS = 30_000
const PAUSE_MS = 100

/** What one gateway took to answer, in milliseconds since everything was mended; undefined: longer than it may. */
export interface Recovery {
  readonly gateway: number
  readonly ready: number | undefined
  readonly read: number | undefined
  readonly write: number | undefined
  /** A form with the token of this gateway, through the next one. */
  readonly form: number | undefined
}

/**
 * Asks a gateway whether it is ready, for a read and for a write, and posts a form across gateways, each again until it is
 * answered as it must be.
 */
export async function recoveryOf(gateway: number, client: Client, { urls }: Site): Promise<Recovery> {
  const began = performance.now()
  const over = delay(RECOVERS_WITHIN_MS, undefined, { ref: false })
  const took = async (status: number, call: () => Parameters<Client['send']>[0]): Promise<number | undefined> => {
    while (performance.now() - began < RECOVERS_WITHIN_MS) {
      const done = await Promise.race([client.send({ ...call(), gateway }), over])
      if (done?.answer?.status === status) return Math.round(performance.now() - began)
      await delay(PAUSE_MS)
    }
    return undefined
  }
  const posted = async (): Promise<number | undefined> => {
    const [from = '', to = ''] = [urls[gateway], urls[(gateway + 1) % urls.length]]
    while (performance.now() - began < RECOVERS_WITHIN_MS) {
      if ((await Promise.race([isFormAccepted(from, to), over])) === true) return Math.round(performance.now() - began)
      await delay(PAUSE_MS)
    }
    return undefined
  }
  const headers = { 'idempotency-key': client.key() }
  const body = { name: client.tag(), eventId: 1 }
  return {
    gateway,
    ready: await took(200, () => ({ target: '/health/ready' })),
    read: await took(200, () => ({ target: '/speakers/paged?pageSize=1' })),
    write: await took(201, () => ({ target: '/speakers', account: 'clerk@example.com', headers, body })),
    form: await posted()
  }
}
