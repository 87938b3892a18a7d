import { setTimeout as wait } from 'node:timers/promises'
import { isBusy } from './sqlite-error.js'

const FIRST_WAIT_MS = 1
const LONGEST_WAIT_MS = 50
const LIMIT_MS = 10_000

/**
 * Runs a synchronous step, again for as long as another process holds the file's lock, 10 s unless told otherwise. The driver's own
 * busy handler would block the event loop meanwhile; here other requests go on. Rejects with the signal's reason once
 * that is aborted.
 */
export async function untilFree<Result>(step: () => Result, signal?: AbortSignal, limitMs = LIMIT_MS): Promise<Result> {
  const end = performance.now() + limitMs
  for (let longest = FIRST_WAIT_MS; ; longest = Math.min(longest * 2, LONGEST_WAIT_MS)) {
    signal?.throwIfAborted()
    try {
      return step()
    } catch (error) {
      if (!isBusy(error) || performance.now() > end) throw error
      // Jitter, so that two processes do not keep meeting.
      await wait(longest * (0.5 + Math.random() / 2))
    }
  }
}
