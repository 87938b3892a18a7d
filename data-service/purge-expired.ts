import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'

/** Milliseconds from one round to the next. */
const EVERY = 60_000
/** Rows of one round: few, so that no purge holds locks for long. */
const BATCH = 200
/** Milliseconds to the next round after a full batch. */
const BETWEEN_BATCHES = 100

/** A kind of stored rows that expire. */
export interface Expiring {
  /** Its name in the log. */
  readonly what: string
  /** Deletes at most `limit` rows that expired by `now` (epoch milliseconds). Returns how many it deleted. */
  purge(now: number, limit: number): Promise<number>
}

/**
 * Deletes expired rows, idempotency keys for example, in rounds until the process stops. The first round is one interval
 * after the start. It never rejects, and its timers keep no process alive.
 */
export async function purgeExpired(
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
