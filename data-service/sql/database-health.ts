import { setTimeout as wait } from 'node:timers/promises'
import type { Database, Probe } from './engines/engine.js'

/** Milliseconds between two probes, and that one probe may take: a database that stops is noticed within a second. */
const EVERY_MS = 400
const PROBE_MS = 500

/** Whether a database can serve, known without asking it. */
export interface DatabaseHealth {
  /** As of no more than a second ago. */
  readonly isServing: boolean
  /** Called with each change, not with the state of now. */
  onChange(listener: (isServing: boolean) => void): void
  /** Ends the probes and their connection. */
  close(): Promise<void>
}

/**
 * Looks at a database all the time, on a connection that nothing else uses, so that asking costs no statement. The
 * engine's probe says when it can serve. Resolves after the first look.
 */
export async function watchDatabase(database: Database): Promise<DatabaseHealth> {
  const probe = database.openProbe()
  const listeners = new Set<(isServing: boolean) => void>()
  const closing = new AbortController()
  let isServing = await canServe(probe)
  const watching = (async () => {
    while (!closing.signal.aborted) {
      await wait(EVERY_MS, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
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
    // Before the timeout is made: what the probe throws at once would leave the timeout's rejection to nobody, and a
    // rejection that nobody handles ends the process.
    const look = probe.look()
    const tooLate = wait(PROBE_MS, undefined, { signal: late.signal, ref: false }).then(() => {
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
