import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { WriteStore } from './plan/write-store.js'

/** Milliseconds between rounds. */
const EVERY = 60_000
/** Small, so that no purge holds locks for long. */
const BATCH = 200
const BETWEEN_BATCHES = 100

/** Deletes expired idempotency keys until the process stops. It never rejects and keeps no process alive. */
export async function purgeKeys(
  store: Pick<WriteStore, 'purgeKeys'>,
  how: { readonly now: () => number; readonly log: Logger; readonly stopping: AbortSignal; readonly every?: number }
): Promise<void> {
  const { now, log, stopping, every = EVERY } = how
  const pause = async (milliseconds: number): Promise<void> => {
    await delay(milliseconds, undefined, { signal: stopping, ref: false }).catch(() => undefined)
  }
  await pause(every)
  while (!stopping.aborted) {
    let deleted = 0
    try {
      deleted = await store.purgeKeys(now(), BATCH)
      if (deleted > 0) log.debug({ deleted }, 'expired idempotency keys purged')
    } catch (error) {
      log.warn({ err: error }, 'expired idempotency keys not purged; the next round tries again')
    }
    await pause(deleted === BATCH ? Math.min(every, BETWEEN_BATCHES) : every)
  }
}
