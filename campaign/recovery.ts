import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from './client.js'
import type { Site } from './site.js'
import { type Attempt, described, postForm } from './visitors.js'

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

interface Recovered {
  readonly recovery: Recovery
  /** What it never answered as it must, with what came last: `gateway-0 did not recover: form: the form: 403 …` */
  readonly findings: readonly string[]
}

/**
 * Asks a gateway whether it is ready, for a read and for a write, and posts a form across gateways, each again until it is
 * answered as it must be.
 */
export async function recoveryOf(gateway: number, client: Client, { urls }: Site): Promise<Recovered> {
  const began = performance.now()
  const over = delay(RECOVERS_WITHIN_MS, undefined, { ref: false })
  const findings: string[] = []
  const took = async (what: string, attempt: () => Promise<Attempt>): Promise<number | undefined> => {
    let last = 'no answer in time'
    while (performance.now() - began < RECOVERS_WITHIN_MS) {
      const outcome = await Promise.race([attempt(), over])
      if (outcome === undefined) break
      if (outcome.instead === undefined) return Math.round(performance.now() - began)
      last = outcome.instead
      await delay(PAUSE_MS)
    }
    findings.push(`gateway-${gateway} did not recover: ${what}: ${last}`)
    return undefined
  }
  const answers =
    (status: number, asked: Parameters<Client['send']>[0]): (() => Promise<Attempt>) =>
    async () => {
      const { answer, lost = '' } = await client.send({ ...asked, gateway })
      if (answer?.status === status) return { instead: undefined }
      return { instead: answer === undefined ? lost : described(answer.status, answer.body) }
    }
  const [from = '', to = ''] = [urls[gateway], urls[(gateway + 1) % urls.length]]
  const headers = { 'idempotency-key': client.key() }
  const body = { name: client.tag(), eventId: 1 }
  const recovery = {
    gateway,
    ready: await took('ready', answers(200, { target: '/health/ready' })),
    read: await took('read', answers(200, { target: '/speakers/paged?pageSize=1' })),
    write: await took('write', answers(201, { target: '/speakers', account: 'clerk@example.com', headers, body })),
    form: await took('form', () => postForm(from, to))
  }
  return { recovery, findings }
}
