import { setTimeout as wait } from 'node:timers/promises'
import type { Database, Probe } from './engines/engine.js'

/** Milliseconds between two probes and for one probe. Together they are below a second, in which a failure is noticed. */
const PROBE_INTERVAL_MS = 400
const PROBE_TIMEOUT_MS = 500

/** The last known health of a database. Reading it sends no statement. */
export interface DatabaseHealth {
  /** Not older than a second. */
  readonly isServing: boolean
  /** Calls the listener at each change, and not with the current state. */
  onChange(listener: (isServing: boolean) => void): void
  /** Ends the probes and their connection. */
  close(): Promise<void>
}

/**
 * Probes a database at regular intervals on a connection of its own. The engine's probe decides whether it can serve.
 * Resolves after the first probe.
 */
export async function watchDatabase(database: Database): Promise<DatabaseHealth> {
  const probe = database.openProbe()
  const listeners = new Set<(isServing: boolean) => void>()
  const closing = new AbortController()
  let isServing = await canServe(probe)
  const watching = (async () => {
    while (!closing.signal.aborted) {
      await wait(PROBE_INTERVAL_MS, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
      if (closing.signal.aborted) break
      const before = isServing
      isServing = await canServe(probe)
      if (isServing !== before) for (const listener of listeners) listener(isServing)
    }
  })()
  return {
    get isServing() {
      return isServing
    },
    onChange: (listener) => void listeners.add(listener),
    close: async () => {
      closing.abort()
      probe.reset()
      await watching
      probe.reset()
    }
  }
}

async function canServe(probe: Probe): Promise<boolean> {
  const late = new AbortController()
  try {
    // The probe starts before the timeout is made. If it throws at once, there is no timeout whose rejection nobody would
    // handle, which would end the process.
    const look = probe.look()
    const tooLate = wait(PROBE_TIMEOUT_MS, undefined, { signal: late.signal, ref: false }).then(() => {
      throw new Error('The database did not answer')
    })
    await Promise.race([look, tooLate])
    return true
  } catch {
    probe.reset()
    return false
  } finally {
    late.abort()
  }
}
