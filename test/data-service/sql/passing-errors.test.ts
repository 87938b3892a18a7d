import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { ConnectionError, DatabaseError } from 'sequelize'
import { toDomainError } from '../../../data-service/sql/engines/sessions.js'
import { SqliteConnection, SqliteError } from '../../../data-service/sql/engines/sqlite/sqlite-connection.js'
import { classifySqliteError } from '../../../data-service/sql/engines/sqlite/sqlite-sessions.js'
import { DomainError } from '../../../shared/errors.js'
import { messageOf } from '../../../shared/start-error.js'
import { classifyMysqlError } from '../../../data-service/sql/engines/mysql/driver/mysql-errors.js'

/** As callers see it, whichever engine it comes from. */
function seenAs(error: unknown): unknown {
  const classify = error instanceof SqliteError ? classifySqliteError : classifyMysqlError
  return toDomainError(error, classify(error), 'It')
}

/** What the driver of the embedded database throws. */
function thrown(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('It did not throw')
}

/** As mysql2 makes it. */
function serverError(errno: number, message = `error ${errno}`): Error & { sql: string } {
  return Object.assign(new Error(message), { errno, sql: '' })
}

describe('errors of a database that pass', () => {
  let folder: string
  let file: string
  let connection: SqliteConnection
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'passing-'))
    file = join(folder, 'a.sqlite')
    connection = await SqliteConnection.open(file)
    connection.execute('CREATE TABLE t (a TEXT)')
  })
  after(async () => {
    connection.close()
    await rm(folder, { recursive: true })
  })

  const isPassing = (error: unknown): void => {
    const seen = seenAs(error)
    if (!(seen instanceof DomainError)) throw new Error('It is a fault', { cause: error })
    expect(seen).to.include({ code: 'upstream.unavailable', retryAfter: 1, cause: error })
  }
  const insert = (into: SqliteConnection): unknown =>
    thrown(() => into.run('INSERT INTO t VALUES (?)', ['x'.repeat(100_000)]))

  it('are those of a full disk on SQLite, whether the statement answers rows or not', () => {
    connection.execute('PRAGMA max_page_count = 2')
    const full = insert(connection)
    expect(full).to.be.instanceOf(SqliteError).and.to.include({ code: 'SQLITE_FULL' })
    isPassing(full)
    const returning = thrown(() => connection.run("INSERT INTO t VALUES (printf('%.*c', 100000, 'x')) RETURNING a", []))
    expect(returning).to.include({ code: 'SQLITE_FULL' })
    isPassing(returning)
    connection.execute('PRAGMA max_page_count = 1000000')
  })

  it('are those of a file that may only be read, or that another process holds', async () => {
    const reading = SqliteConnection.openReadOnly(file)
    const readOnly = insert(reading)
    expect(readOnly).to.include({ code: 'SQLITE_READONLY' })
    isPassing(readOnly)
    reading.close()
    const other = await SqliteConnection.open(file)
    other.execute('BEGIN IMMEDIATE')
    const busy = insert(connection)
    expect(busy).to.include({ code: 'SQLITE_BUSY' })
    isPassing(busy)
    other.execute('ROLLBACK')
    other.close()
    isPassing(new SqliteError('SQLITE_IOERR', 778, new Error('disk I/O error')))
  })

  for (const errno of [3, 1021, 1026, 1040, 1047, 1053, 1114, 1203, 1205, 1226, 1461, 1792, 1836, 1874, 1927, 3032]) {
    it(`are the server's ${errno}, bare and as Sequelize wraps it`, () => {
      isPassing(serverError(errno))
      isPassing(new DatabaseError(serverError(errno)))
    })
  }

  it('are told from others of the same number by their message', () => {
    isPassing(serverError(1290, 'The MariaDB server is running with the --read-only option so it cannot …'))
    isPassing(serverError(1290, 'The MySQL server is running with the --super-read-only option so it cannot …'))
    isPassing(serverError(1030, 'Got error 28 "No space left on device" from storage engine InnoDB'))
    for (const [at, fault] of [
      serverError(1290, 'The MariaDB server is running with the --secure-file-priv option so it cannot …'),
      serverError(1030, 'Got error 175 "File too short" from storage engine Aria'),
      serverError(1064),
      new SqliteError('SQLITE_ERROR', 1, new Error('near "x": syntax error'))
    ].entries()) {
      expect(seenAs(fault), `fault ${at}`).to.equal(fault)
    }
  })

  it('have a message for people, whatever the driver left empty', () => {
    const rejected = new AggregateError([new Error('connect ECONNREFUSED ::1:3306')], '')
    expect(messageOf(rejected)).to.equal('connect ECONNREFUSED ::1:3306')
    expect(messageOf(new ConnectionError(rejected))).to.equal('connect ECONNREFUSED ::1:3306')
    expect(messageOf(Object.assign(new Error(''), { sqlMessage: 'Access denied' }))).to.equal('Access denied')
    expect(messageOf(Object.assign(new Error(''), { code: 'ER_X', errno: 7 }))).to.equal('ER_X 7')
  })
})
