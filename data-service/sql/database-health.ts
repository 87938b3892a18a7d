import { setTimeout as wait } from 'node:timers/promises'
import type { Connection } from 'mysql2'
import type { Database } from './connect.js'
import { namedValues, openConnection, sessionOf } from './engines/mysql-connection.js'
import { SqliteConnection } from './engines/sqlite-connection.js'

/** Milliseconds between two probes, and that one probe may take: a database that stops is noticed within a second. */
const EVERY_MS = 400
const PROBE_MS = 500

/** The server takes no more connections, which says nothing of those that serve requests. */
const CONNECTIONS_EXHAUSTED: readonly unknown[] = [1040, 1203, 1226]

const NODE_STATE = "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_status')"

/** Whether a database can serve, known without asking it. */
export interface DatabaseHealth {
  /** As of no more than a second ago. */
  readonly isServing: boolean
  /** Called with each change, not with the state of now. */
  onChange(listener: (isServing: boolean) => void): void
  /** Ends the probes and their connection. */
  close(): Promise<void>
}

/** One look at a database. Rejects where it cannot serve. */
interface Probe {
  look(): Promise<void>
  /** Gives up what the probe holds, a look under way included; the next look begins anew. */
  reset(): void
}

/**
 * Looks at a database all the time, on a connection that nothing else uses, so that asking costs no statement. It can
 * serve while a server answers, or the file can be read; a Galera node has to be ready and in the primary component too.
 * Resolves after the first look.
 */
export async function watchDatabase(database: Database): Promise<DatabaseHealth> {
  const probe = database.kind === 'sqlite' ? sqliteProbe(database.settings.file) : mysqlProbe(database)
  const listeners = new Set<(isServing: boolean) => void>()
  const closing = new AbortController()
  let isServing = await looksWell(probe)
  const watching = (async () => {
    while (!closing.signal.aborted) {
      await wait(EVERY_MS, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
      if (closing.signal.aborted) break
      const before = isServing
      isServing = await looksWell(probe)
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

async function looksWell(probe: Probe): Promise<boolean> {
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
  } catch (error) {
    probe.reset()
    return error instanceof Error && 'errno' in error && CONNECTIONS_EXHAUSTED.includes(error.errno)
  } finally {
    late.abort()
  }
}

function mysqlProbe({ settings }: Extract<Database, { readonly kind: 'mysql' }>): Probe {
  let opening: Promise<Connection> | undefined
  return {
    async look() {
      opening ??= openConnection(settings)
      const connection = await opening
      if (sessionOf(connection).node === undefined) return connection.promise().ping()
      const state = await namedValues(connection, NODE_STATE)
      const isReady = state.get('wsrep_ready') === 'ON' && state.get('wsrep_cluster_status') === 'Primary'
      if (!isReady) throw new Error('The node is outside of its cluster')
    },
    reset() {
      opening?.then(
        (connection) => connection.destroy(),
        () => undefined
      )
      opening = undefined
    }
  }
}

function sqliteProbe(file: string): Probe {
  let connection: SqliteConnection | undefined
  return {
    look() {
      connection ??= SqliteConnection.openReadOnly(file)
      connection.rows('SELECT COUNT(*) FROM sqlite_master', [], false)
      return Promise.resolve()
    },
    reset() {
      connection?.close()
      connection = undefined
    }
  }
}
