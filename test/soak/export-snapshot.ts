import { setTimeout as sleep } from 'node:timers/promises'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'

/** The snapshot of one export at a time, seen from beside the data service. */
interface SnapshotWatcher extends AsyncDisposable {
  /** To be called before the export is asked for. */
  prepare(): Promise<void>
  /** To be called when rows have come: throws where there is no snapshot to be seen, so that its end means something. */
  begun(): Promise<void>
  isOpen(): Promise<boolean>
}

export async function watchSnapshot(databaseUrl: string): Promise<SnapshotWatcher> {
  const database = await openTestDatabase(databaseUrl)
  const watcher = database.kind === 'sqlite' ? sqliteSnapshot(database) : mysqlSnapshot(database)
  return { ...watcher, [Symbol.asyncDispose]: () => database.close() }
}

type Watching = Omit<SnapshotWatcher, keyof AsyncDisposable>

/**
 * The server answers its table of transactions out of a cache. It fills the cache again when the table was not read for
 * 100 ms. So this table says which session is the export's, and the list of sessions says when that one has ended.
 */
const CACHED_MS = 150

/** An export has a session of its own, in a transaction for as long as it goes on. */
function mysqlSnapshot(database: TestDatabase): Watching {
  let before = new Set<string>()
  let opened = new Set<string>()
  const sessions = async (): Promise<string[]> => {
    const rows = await database.run(
      'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()'
    )
    return rows.map(({ id }) => String(id))
  }
  const newInTransaction = async (): Promise<Set<string>> => {
    await sleep(CACHED_MS)
    const rows = await database.run(
      `SELECT p.id FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
       WHERE p.db = DATABASE()`
    )
    return new Set(rows.map(({ id }) => String(id)).filter((id) => !before.has(id)))
  }
  return {
    async prepare() {
      before = new Set(await sessions())
    },
    async begun() {
      // In two looks: sessions of the pool, which may be new as well, are in a transaction for a moment.
      const [first, second] = [await newInTransaction(), await newInTransaction()]
      opened = new Set([...second].filter((id) => first.has(id)))
      if (opened.size === 0) throw new Error('The export has no session')
    },
    isOpen: async () => (await sessions()).some((id) => opened.has(id))
  }
}

/** An open snapshot keeps the write-ahead log from starting anew, as long as there is something in the log. */
function sqliteSnapshot(database: TestDatabase): Watching {
  const isOpen = async (): Promise<boolean> => {
    const [row] = await database.run('PRAGMA wal_checkpoint(TRUNCATE)')
    return Number(row?.['busy']) !== 0
  }
  return {
    async prepare() {
      await database.run('PRAGMA busy_timeout = 0')
      if (await isOpen()) throw new Error('A snapshot is open before there should be one')
      await database.run('UPDATE categories SET name = name')
    },
    async begun() {
      if (!(await isOpen())) throw new Error('The export has no snapshot')
    },
    isOpen
  }
}
