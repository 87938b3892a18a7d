import { expect } from 'chai'
import type { Connection } from 'mysql2'
import { connect } from '../../../../data-service/sql/connect.js'
import type { Database } from '../../../../data-service/sql/engines/engine.js'
import { openConnection } from '../../../../data-service/sql/engines/mysql/driver/mysql-connection.js'
import { parseMysqlUrl } from '../../../../data-service/sql/engines/mysql/mysql.js'
import { type FreshDatabase, freshDatabase } from '../../../harness/database.js'
import { failure } from '../write/failure.js'

type Row = Readonly<Record<string, unknown>>

/** Rows of a statement that runs on a kind of connection. */
type Run = (sql: string) => Promise<readonly Row[]>

/** What a server may not change unseen. Its own default need not have any of these. */
const MODES = [
  'STRICT_ALL_TABLES',
  'NO_ZERO_DATE',
  'NO_ZERO_IN_DATE',
  'ERROR_FOR_DIVISION_BY_ZERO',
  'NO_ENGINE_SUBSTITUTION'
]

/** A statement, the error it must be, and what the server would store in silence without strict mode. */
const REFUSED: readonly (readonly [what: string, statement: string, code: string])[] = [
  ['a text longer than its column', "INSERT INTO typed (name) VALUES ('abcde')", 'ER_DATA_TOO_LONG'],
  ['an integer beyond its column', 'INSERT INTO typed (small) VALUES (40000)', 'ER_WARN_DATA_OUT_OF_RANGE'],
  ['a decimal beyond its column', 'INSERT INTO typed (price) VALUES (1000.00)', 'ER_WARN_DATA_OUT_OF_RANGE'],
  ['a text that is no number', "INSERT INTO typed (small) VALUES ('1x')", 'WARN_DATA_TRUNCATED'],
  ['a date with a day that no month has', "INSERT INTO typed (at) VALUES ('2026-02-31')", 'ER_TRUNCATED_WRONG_VALUE'],
  ['the date zero', "INSERT INTO typed (at) VALUES ('0000-00-00')", 'ER_TRUNCATED_WRONG_VALUE'],
  ['a missing value of a column without a default', 'INSERT INTO typed (name) VALUES (NULL)', 'ER_BAD_NULL_ERROR']
]

describe('the session of a connection to mysql', () => {
  let fresh: FreshDatabase
  let pool: Database
  let alone: Connection

  before(async () => {
    fresh = await freshDatabase('mysql')
    pool = connect(fresh.url)
    alone = await openConnection(parseMysqlUrl(fresh.url, ''))
    await pool.sequelize.query(
      "CREATE TABLE typed (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(4) NOT NULL DEFAULT '', small SMALLINT, price DECIMAL(5,2), at DATETIME(3))"
    )
  })
  after(async () => {
    alone.destroy()
    await pool.sequelize.close()
    await fresh.dispose()
  })

  const KINDS: readonly (readonly [kind: string, run: Run])[] = [
    ['the pool', async (sql) => (await pool.sequelize.query(sql))[0] as Row[]],
    ['exports and health checks', async (sql) => (await alone.promise().query(sql))[0] as Row[]]
  ]

  for (const [kind, run] of KINDS) {
    it(`has every strict mode, of ${kind}`, async () => {
      const [row] = await run('SELECT @@SESSION.sql_mode AS modes')
      expect(String(row?.['modes']).split(',')).to.include.members(MODES)
    })

    it(`reads a view of others that groups by a key and shows more columns, of ${kind}`, async () => {
      await run(
        'CREATE OR REPLACE VIEW grouped AS SELECT t.id, t.name, COUNT(o.id) AS others FROM typed t ' +
          'LEFT JOIN typed o ON o.id <> t.id GROUP BY t.id'
      )
      expect(await run('SELECT id, name, others FROM grouped')).to.deep.equal([])
      const columns = await run(
        "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'grouped'"
      )
      expect(columns, 'columns in the catalogue').to.have.length(3)
    })

    for (const [what, statement, code] of REFUSED) {
      it(`rejects ${what} and stores no other value for it, of ${kind}`, async () => {
        const error = await failure(run(statement))
        expect(codeOf(error)).to.equal(code)
        expect(await run('SELECT id FROM typed'), 'rows stored').to.deep.equal([])
      })
    }

    it(`counts time in UTC whatever the time zone of the server, of ${kind}`, async () => {
      const [row] = await run(
        'SELECT @@SESSION.time_zone AS zone, TIMESTAMPDIFF(SECOND, UTC_TIMESTAMP(), NOW()) AS off'
      )
      expect([row?.['zone'], Number(row?.['off'])]).to.deep.equal(['+00:00', 0])
    })

    it(`reads what others committed meanwhile and waits a second for a lock, of ${kind}`, async () => {
      const [row] = await run(
        "SELECT VARIABLE_VALUE AS isolation, @@SESSION.innodb_lock_wait_timeout AS seconds FROM information_schema.SESSION_VARIABLES WHERE VARIABLE_NAME IN ('TX_ISOLATION', 'TRANSACTION_ISOLATION') LIMIT 1"
      )
      expect([row?.['isolation'], Number(row?.['seconds'])]).to.deep.equal(['READ-COMMITTED', 1])
    })

    it(`ignores letter case, tells accents apart and counts trailing spaces, of ${kind}`, async () => {
      const [row] = await run("SELECT 'a' = 'A' AS letters, 'a' = 'á' AS accents, 'a' = 'a ' AS spaces")
      expect([row?.['letters'], row?.['accents'], row?.['spaces']].map(Number)).to.deep.equal([1, 0, 0])
    })
  }
})

/** The server's name for an error, which Sequelize keeps within its own. */
function codeOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { original = error } = error as { readonly original?: unknown }
  return (original as { readonly code?: unknown }).code
}
