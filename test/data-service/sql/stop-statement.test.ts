import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { type Connection, createConnection } from 'mysql2/promise'
import { openBareConnection, stopStatement } from '../../../data-service/sql/engines/mysql/driver/mysql-connection.js'
import { parseMysqlUrl } from '../../../data-service/sql/engines/mysql/mysql.js'
import { type FreshDatabase, freshDatabase } from '../../harness/database.js'

describe('stopping a statement on mysql', () => {
  let database: FreshDatabase
  let watcher: Connection

  before(async () => {
    database = await freshDatabase('mysql')
    watcher = await createConnection({ uri: database.url })
  })
  after(async () => {
    await watcher.end()
    await database.dispose()
  })

  const settings = () => parseMysqlUrl(database.url, '')
  const kills = async (): Promise<number> => {
    const [rows] = await watcher.query("SHOW GLOBAL STATUS LIKE 'Com_kill'")
    // One row of a name and a value.
    return Number((rows as { Value: string }[])[0]?.Value)
  }

  it('stops one that reaches the server only after the order to stop it, between preparation and execution say', async () => {
    const connection = await openBareConnection(settings())
    const before = await kills()
    const running = (async () => {
      while ((await kills()) === before) await wait(2)
      await connection.promise().query('SELECT SLEEP(60)')
      return 'ran to its end'
    })().catch(() => 'stopped')
    await stopStatement(connection, settings(), running)
    expect(await Promise.race([running, Promise.resolve('still running')])).to.equal('stopped')
  })
})
