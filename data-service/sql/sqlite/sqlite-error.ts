/** Primary result codes that somebody tells apart (https://sqlite.org/rescode.html). */
const NAMES: ReadonlyMap<number, string> = new Map([
  [5, 'SQLITE_BUSY'],
  [6, 'SQLITE_LOCKED'],
  [8, 'SQLITE_READONLY'],
  [10, 'SQLITE_IOERR'],
  [13, 'SQLITE_FULL'],
  [14, 'SQLITE_CANTOPEN'],
  [19, 'SQLITE_CONSTRAINT'],
  [26, 'SQLITE_NOTADB']
])

/** SQLITE_ERROR. */
const UNKNOWN_CODE = 1

/** A snapshot that another writer has overtaken: waiting never helps. */
const BUSY_SNAPSHOT = 517

/** An error of the embedded database with the `code` that Sequelize and this folder look at. */
export class SqliteError extends Error {
  override readonly name = 'SqliteError'
  readonly code: string
  /** Extended result code. */
  readonly errno: number

  constructor(code: string, errno: number, cause: Error) {
    // Sequelize reads the message of a constraint error, so it stays the driver's.
    super(`${code}: ${cause.message}`, { cause })
    this.code = code
    this.errno = errno
  }
}

/** What the driver leaves of an error in a statement that answers rows: its message, but no result code. */
const CODES_BY_MESSAGE: readonly (readonly [RegExp, number])[] = [
  [/^database is locked/, 5],
  [/^database table is locked/, 6],
  [/^attempt to write a readonly database/, 8],
  [/^disk I\/O error/, 10],
  [/^database or disk is full/, 13],
  [/unable to open database file/, 14],
  [/constraint failed/, 19]
]

/** The driver's error as SqliteError; what is no error of the database comes back as it is. */
export function sqliteError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_SQLITE_ERROR') return error
  const errno =
    'errcode' in error && typeof error.errcode === 'number'
      ? error.errcode
      : (CODES_BY_MESSAGE.find(([message]) => message.test(error.message))?.[1] ?? UNKNOWN_CODE)
  return new SqliteError(NAMES.get(errno & 0xff) ?? 'SQLITE_ERROR', errno, error)
}

/** Whether another connection holds a lock that it will let go. */
export function isBusy(error: unknown): boolean {
  return error instanceof SqliteError && error.code === 'SQLITE_BUSY' && error.errno !== BUSY_SNAPSHOT
}
