import { stat, statfs } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { QueryTypes, Sequelize, Transaction } from 'sequelize'
import { makeFolder } from '../../../../shared/files.js'
import {
  type BulkLoading,
  type Database,
  type DatabaseLocation,
  type Engine,
  type Examined,
  type OpeningAdvice,
  type Probe,
  SEQUELIZE_OPTIONS
} from '../engine.js'
import { probeSequelize } from '../sequelize-inner.js'
import { loadSqlite, SqliteConnection } from './sqlite-connection.js'
import { classifySqliteError, SqliteReader, SqliteTransactions } from './sqlite-sessions.js'
import { sqliteDialect } from './sqlite-dialect.js'
import { sqlite3Module } from './sqlite3-module.js'

const NO_FOLDER: OpeningAdvice = {
  wrong: 'a part of the path is a file, not a directory',
  remedy: 'Name a file in a directory that exists or can be made.'
}
const FORBIDDEN: OpeningAdvice = {
  wrong: 'this user may not read and write there',
  remedy: 'Grant that, or name another file.'
}

const FILE_HELD: OpeningAdvice = { wrong: 'another process holds the file', remedy: 'End that one, or try again.' }

/** SQLite, embedded in this process. */
export const sqliteEngine: Engine = {
  schemes: ['sqlite:'],
  hasSchemas: false,
  urlForm: 'sqlite:<file>',
  openingAdvice: {
    SQLITE_CANTOPEN: {
      wrong: 'this is no file that can be opened for writing',
      remedy: 'Name a file in a directory that this user may write to, not a directory.'
    },
    SQLITE_NOTADB: { wrong: 'the file is no SQLite database', remedy: 'Name another, or one that is not there yet.' },
    SQLITE_READONLY: FORBIDDEN,
    ENOENT: { wrong: 'no directory can be made there', remedy: NO_FOLDER.remedy },
    NO_ANSWER: { wrong: 'the file system gives no answer', remedy: 'Mount it again, or name a file elsewhere.' },
    EEXIST: NO_FOLDER,
    ENOTDIR: NO_FOLDER,
    EACCES: FORBIDDEN,
    EPERM: FORBIDDEN,
    EROFS: { wrong: 'the file system is read-only', remedy: 'Name a file elsewhere.' }
  },
  statementAdvice: {
    SQLITE_BUSY: FILE_HELD,
    SQLITE_LOCKED: FILE_HELD,
    SQLITE_FULL: { wrong: 'the disk is full', remedy: 'Make room, and try again.' },
    SQLITE_IOERR: { wrong: 'the file system fails', remedy: 'Its log says why; restore the file if it was damaged.' },
    SQLITE_CORRUPT: { wrong: 'the file is damaged', remedy: 'Restore it from a backup.' }
  },
  afterFailedMigration: 'Nothing of it was changed: `uniform-rest migrate` runs it again once the cause is mended.',
  untestedDriver: () => undefined,
  locate: (url) => new SqliteLocation(parseSqliteUrl(url))
}

/** The file of `sqlite:<file>`. Errors as `Engine.locate` says. */
export function parseSqliteUrl(url: string): string {
  const file = url.slice('sqlite:'.length)
  if (file === '') throw new Error('names no file: sqlite:<file>')
  if (file === ':memory:') throw new Error('must name a file, since an in-memory database is private to one connection')
  return file
}

class SqliteLocation implements DatabaseLocation {
  readonly isClearText = false
  readonly isEmbedded = true
  readonly #file: string

  constructor(file: string) {
    this.#file = file
  }

  get spelling(): string {
    return `sqlite:${resolve(this.#file)}`
  }

  async exists(): Promise<boolean> {
    const file = await stat(this.#file).catch(() => undefined)
    return file !== undefined
  }

  standIn(folder: string): DatabaseLocation {
    return new SqliteLocation(join(folder, 'empty.sqlite'))
  }

  async prepare(): Promise<void> {
    await makeFolder(dirname(this.#file))
  }

  open(): Database {
    // A start without the driver fails here and names the setting. Otherwise the first statement would fail.
    loadSqlite()
    return new SqliteDatabase(this.#file)
  }
}

const MEBIBYTE = 1024 * 1024
/** Bytes below which a disk counts as nearly full. */
const NEEDED_ROOM = 256 * MEBIBYTE

class SqliteDatabase implements Database {
  readonly name: string
  readonly sequelize: Sequelize
  readonly dialect = sqliteDialect
  readonly kind = 'sqlite'
  readonly bulk: BulkLoading
  readonly classifyError = classifySqliteError
  readonly #file: string

  constructor(file: string) {
    this.#file = file
    this.name = basename(file)
    this.sequelize = new Sequelize({
      ...SEQUELIZE_OPTIONS,
      dialect: 'sqlite',
      dialectModule: sqlite3Module(),
      storage: file,
      transactionType: Transaction.TYPES.IMMEDIATE
    })
    probeSequelize(this.sequelize, { hasPool: false })
    this.bulk = sqliteBulk(this.sequelize)
  }

  openReader(what: string): SqliteReader {
    return new SqliteReader(this.#file, what)
  }

  openTransactions(): SqliteTransactions {
    return new SqliteTransactions(this.#file)
  }

  /** undefined: there is one writer at a time, and the driver is synchronous. */
  withOwnPool(): undefined {
    return undefined
  }

  poolState(): undefined {
    return undefined
  }

  openProbe(): Probe {
    return new SqliteProbe(this.#file)
  }

  async examine(): Promise<readonly Examined[]> {
    const select = { type: QueryTypes.SELECT } as const
    const [library] = await this.sequelize.query<{ version: string }>('SELECT sqlite_version() AS version', select)
    const { bavail, bsize } = await statfs(dirname(resolve(this.#file)))
    const free = `${Math.floor((bavail * bsize) / MEBIBYTE)} MiB free`
    return [
      { what: 'SQLite', found: library?.version ?? 'unknown' },
      bavail * bsize >= NEEDED_ROOM
        ? { what: 'disk', found: free }
        : { what: 'disk', found: free, harms: 'some', remedy: 'Make room: writes are answered 503 on a full disk.' }
    ]
  }

  async identity(): Promise<readonly string[]> {
    const file = await stat(this.#file, { bigint: true }).catch(() => undefined)
    return file === undefined ? [] : [`file ${file.dev}:${file.ino}`]
  }
}

function sqliteBulk(sequelize: Sequelize): BulkLoading {
  return {
    // Named parameters are searched for one by one, so few of them are faster.
    maxValues: 500,
    // 200 MB of page cache instead of 2 MB, since index pages are written in random order.
    prepare: 'PRAGMA cache_size = -200000',
    async reserveIds(table, count, transaction) {
      const [row] = await sequelize.query<{ seq: number }>('SELECT seq FROM sqlite_sequence WHERE name = $table', {
        bind: { table },
        transaction,
        type: QueryTypes.SELECT
      })
      const statement =
        row === undefined
          ? 'INSERT INTO sqlite_sequence (name, seq) VALUES ($table, $count)'
          : 'UPDATE sqlite_sequence SET seq = seq + $count WHERE name = $table'
      await sequelize.query(statement, { bind: { table, count }, transaction })
      return (row?.seq ?? 0) + 1
    }
  }
}

/** The database can serve if its file can be read. */
class SqliteProbe implements Probe {
  readonly #file: string
  #connection: SqliteConnection | undefined

  constructor(file: string) {
    this.#file = file
  }

  look(): Promise<void> {
    return Promise.resolve().then(() => {
      this.#connection ??= SqliteConnection.openReadOnly(this.#file)
      this.#connection.rows({ sql: 'SELECT COUNT(*) FROM sqlite_master', parameters: [], exact: false })
    })
  }

  reset(): void {
    this.#connection?.close()
    this.#connection = undefined
  }
}
