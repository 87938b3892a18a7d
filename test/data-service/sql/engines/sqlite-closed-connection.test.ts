import { expect } from 'chai'
import { SqliteConnection } from '../../../../data-service/sql/engines/sqlite/sqlite-connection.js'
import { freshDatabase } from '../../../harness/database.js'

describe('a closed connection to SQLite', () => {
  it('holds its snapshot no longer, though its statements live on', async () => {
    const database = await freshDatabase('sqlite')
    const file = database.url.slice('sqlite:'.length)
    const writer = await SqliteConnection.open(file)
    try {
      writer.execute('CREATE TABLE t (id INTEGER PRIMARY KEY)')
      const reader = SqliteConnection.openReadOnly(file)
      reader.execute('BEGIN')
      reader.rows({ sql: 'SELECT id FROM t', parameters: [], exact: false })
      // The log starts anew only where nobody reads from it.
      const busy = (): unknown =>
        writer.rows({ sql: 'PRAGMA wal_checkpoint(TRUNCATE)', parameters: [], exact: false })[0]?.[0]
      expect(busy()).to.equal(1)
      const next = (version: string): unknown => writer.run(`SELECT next_row_version(${version})`, [])
      next("x'00'")
      expect(() => next("'00'")).to.throw('A row version is a string')
      reader.close()
      expect(busy()).to.equal(0)
      reader.close()
    } finally {
      writer.close()
      await database.dispose()
    }
  })
})
