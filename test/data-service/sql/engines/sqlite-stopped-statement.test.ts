import { expect } from 'chai'
import { AnswerTooLarge } from '../../../../data-service/sql/engines/answer-bytes.js'
import {
  type BoundSelect,
  SqliteConnection,
  StatementStopped
} from '../../../../data-service/sql/engines/sqlite/sqlite-connection.js'
import { sqliteTotals } from '../../../../data-service/sql/engines/sqlite/sqlite-totals.js'
import { freshDatabase, type FreshDatabase } from '../../../stack/databases.js'

describe('a statement of SQLite that does not come to its end', () => {
  let database: FreshDatabase
  let writer: SqliteConnection
  let reader: SqliteConnection

  before(async () => {
    database = await freshDatabase('sqlite')
    const file = database.url.slice('sqlite:'.length)
    writer = await SqliteConnection.open(file)
    writer.execute('CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)')
    for (let id = 0; id < 200; id++) writer.run('INSERT INTO t VALUES (?, ?)', [id, `text ${id}`])
    reader = SqliteConnection.openReadOnly(file)
  })
  after(async () => {
    reader?.close()
    writer?.close()
    await database?.dispose()
  })

  const select = (bytes?: number): BoundSelect => ({
    // The function makes SQLite ask whether to stop.
    sql: "SELECT id, a FROM t WHERE text_contains(a, 'no such text') = 0",
    parameters: [],
    exact: false,
    bytes: bytes === undefined ? undefined : { bytes, isFirstFree: true, beside: 0 }
  })
  /** 1 where somebody still reads from the log. */
  const isRead = (): unknown =>
    writer.rows({ sql: 'PRAGMA wal_checkpoint(TRUNCATE)', parameters: [], exact: false })[0]?.[0]

  for (const bytes of [undefined, 1_000_000]) {
    it(`It runs again after it was stopped, and holds no state of the database, ${bytes === undefined ? 'uncounted' : 'counted'}.`, () => {
      for (let round = 0; round < 3; round++) {
        expect(() => reader.rowsUntil(() => true, select(bytes))).to.throw(StatementStopped)
        expect(isRead()).to.equal(0)
        expect(reader.rowsUntil(() => false, select(bytes))).to.have.length(200)
      }
    })
  }

  it('It stops where it computes totals, which compare no text.', () => {
    const numbers = 'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i FROM n'
    const sql = `SELECT SUM(i) FROM (${numbers}) WHERE ${String(sqliteTotals.look)} GROUP BY i % 1`
    const totals: BoundSelect = { sql, parameters: [], exact: false }
    expect(() => reader.rowsUntil(() => true, totals)).to.throw(StatementStopped)
    expect(reader.rowsUntil(() => false, totals)[0]?.[0]).to.equal(5_000_050_000)
  })

  it('It runs again after its rows were too large.', () => {
    for (let round = 0; round < 3; round++) {
      expect(() => reader.rows(select(100))).to.throw(AnswerTooLarge)
      expect(isRead()).to.equal(0)
      expect(reader.rows(select(1_000_000))).to.have.length(200)
    }
  })
})
