import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'

/** Milliseconds between rounds. */
const EVERY = 60_000
/** Small, so that no purge holds locks for long. */
const BATCH = 200
const BETWEEN_BATCHES = 100

/** Something that expires. */
export interface Expiring {
  /** For the log. */
  readonly what: string
  /** Deletes at most `most` that expired by `now` (epoch milliseconds); how many it deleted. */
  purge(now: number, most: number): Promise<number>
}

/** Deletes what expired, idempotency keys and the like, until the process stops. It never rejects and keeps no process alive. */
export async function purgeKeys(
  expiring: Expiring,
  how: { readonly now: () => number; readonly log: Logger; readonly stopping: AbortSignal; readonly every?: number }
): Promise<void> {
  const { now, log, stopping, every = EVERY } = how
  const { what } = expiring
  const pause = async (milliseconds: number): Promise<void> => {
    await delay(milliseconds, undefined, { signal: stopping, ref: false }).catch(() => undefined)
  }
  await pause(every)
  while (!stopping.aborted) {
    let deleted = 0
    try {
      deleted = await expiring.purge(now(), BATCH)
      if (deleted > 0) log.debug({ deleted }, `expired ${what} purged`)
    } catch (error) {
      log.warn({ err: error }, `expired ${what} not purged; the next round tries again`)
    }
    await pause(deleted === BATCH ? Math.min(every, BETWEEN_BATCHES) : every)
  }
}
