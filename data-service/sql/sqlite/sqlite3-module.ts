import { Sqlite3Database } from './sqlite3-database.js'
import { WriteQueue } from './write-queue.js'

type Opened = (error: unknown) => void

/**
 * The part of the `sqlite3` package that Sequelize 6 uses, over the embedded driver, for its `dialectModule`. One
 * module a file: all connections opened through it share one queue of write transactions.
 */
export function sqlite3Module(): object {
  const writes = new WriteQueue()
  return {
    OPEN_READONLY: 1,
    OPEN_READWRITE: 2,
    OPEN_CREATE: 4,
    Database: class extends Sqlite3Database {
      constructor(file: string, _mode: number, opened: Opened) {
        super({ file, writes, opened })
      }
    }
  }
}
