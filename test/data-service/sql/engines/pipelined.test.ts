import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import type { Connection } from 'mysql2'
import type { Socket } from 'node:net'
import {
  runCommand,
  execute,
  executeChange,
  openConnection,
  pipelined
} from '../../../../data-service/sql/engines/mysql/driver/mysql-connection.js'
import { mysqlDialect } from '../../../../data-service/sql/engines/mysql/mysql-dialect.js'
import { innerWay } from '../../../../data-service/sql/engines/mysql/driver/mysql-ways.js'
import { parseMysqlUrl } from '../../../../data-service/sql/engines/mysql/mysql.js'
import type { Statement, StatementText } from '../../../../data-service/sql/engines/statement.js'
import { type FreshDatabase, freshDatabase } from '../../../harness/database.js'
import { describeMysqlWays } from '../each-way.js'

const text = (sql: string): StatementText => ({ sql, binds: [] })
const select = (sql: string): Statement => ({ sql, binds: [], decode: [], exact: false })

/** Changes the row with this id, if there is one. An id of another row's name breaks a unique key. */
const UPDATE = text('UPDATE guarded SET name = ? WHERE id = ?')
const AUDIT = text(mysqlDialect.insertAfterChange('INSERT INTO audited (name)', '?'))
const READ = select('SELECT name FROM guarded WHERE id = ?')

describeMysqlWays('statements that are sent together to', ({ way }) => {
  let fresh: FreshDatabase
  let connection: Connection

  before(async () => {
    fresh = await freshDatabase('mysql')
  })
  beforeEach(async () => {
    connection = await openConnection({ ...parseMysqlUrl(fresh.url, ''), way })
    for (const sql of [
      'DROP TABLE IF EXISTS guarded, audited',
      'CREATE TABLE guarded (id INT PRIMARY KEY, name VARCHAR(9) UNIQUE)',
      'CREATE TABLE audited (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(9))',
      "INSERT INTO guarded VALUES (1, 'one'), (2, 'two')"
    ]) {
      await connection.promise().query(sql)
    }
  })
  afterEach(() => connection.destroy())
  after(() => fresh.dispose())

  const together = (name: string, id: string) =>
    Promise.allSettled(
      pipelined(connection, () => [
        executeChange(connection, UPDATE, [name, id]),
        executeChange(connection, AUDIT, [name]),
        execute(connection, READ, [id])
      ])
    )
  const audited = async () =>
    (await connection.promise().query({ sql: 'SELECT name FROM audited ORDER BY id', rowsAsArray: true }))[0]
  const bytesWritten = () => (connection as unknown as { stream: Socket }).stream.bytesWritten

  it(`are on their way before the first has an answer: ${way === innerWay ? 'all' : 'one'}`, async () => {
    await together('first', '1')
    const running = together('again', '1')
    const atOnce = bytesWritten()
    expect((await running).map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled', 'fulfilled'])
    if (way === innerWay) expect(bytesWritten()).to.equal(atOnce)
    else expect(bytesWritten()).to.be.greaterThan(atOnce)
  })

  for (const prepared of [false, true]) {
    const when = prepared ? 'prepared before' : 'not prepared yet'
    const run = async (name: string, id: string) => {
      if (prepared) await together('prepared', '9')
      return await together(name, id)
    }

    it(`have their own answers in order, ${when}`, async () => {
      const [updated, inserted, read] = await run('new', '1')
      expect(updated).to.have.nested.property('value.affectedRows', 1)
      expect(inserted).to.have.nested.property('value.affectedRows', 1)
      expect(read)
        .to.have.property('value')
        .deep.equal([['new']])
      expect(await audited()).to.deep.equal([['new']])
    })

    it(`insert nothing after a change of no row, ${when}`, async () => {
      const [updated, inserted, read] = await run('new', '3')
      expect(updated).to.have.nested.property('value.affectedRows', 0)
      expect(inserted).to.have.nested.property('value.affectedRows', 0)
      expect(read).to.have.property('value').deep.equal([])
      expect(await audited()).to.deep.equal([])
    })

    // Without a transaction, as after a deadlock: whatever is inserted stays.
    it(`insert nothing after a change that failed, ${when}`, async () => {
      const [updated, inserted, read] = await run('two', '1')
      expect(updated).to.have.nested.property('reason.code', 'ER_DUP_ENTRY')
      expect(inserted).to.have.nested.property('value.affectedRows', 0)
      expect(read)
        .to.have.property('value')
        .deep.equal([['one']])
      expect(await audited()).to.deep.equal([])
    })
  }

  it('tell the one that cannot be prepared, and answer the others', async () => {
    const [missing, read] = await Promise.allSettled(
      pipelined(connection, () => [
        execute(connection, select('SELECT 1 FROM there_is_none'), []),
        execute(connection, READ, ['2'])
      ])
    )
    expect(missing).to.have.nested.property('reason.code', 'ER_NO_SUCH_TABLE')
    expect(read)
      .to.have.property('value')
      .deep.equal([['two']])
  })

  it('all fail when the connection is lost', async () => {
    await together('first', '1')
    const running = Promise.allSettled(
      pipelined(connection, () => [
        execute(connection, select('SELECT SLEEP(20)'), []),
        execute(connection, READ, ['2'])
      ])
    )
    const other = await openConnection({ ...parseMysqlUrl(fresh.url, ''), way })
    await other.promise().query(`KILL CONNECTION ${connection.threadId}`)
    other.destroy()
    expect((await running).map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
  })

  // The driver tells the command that it runs and those that wait, of which the statements sent together are one.
  it('all fail when the connection is lost while they are being prepared', async () => {
    const other = await openConnection({ ...parseMysqlUrl(fresh.url, ''), way })
    const isThere = async () => {
      const [rows] = await other
        .promise()
        .query('SELECT id FROM information_schema.processlist WHERE id = ?', [connection.threadId])
      return (rows as unknown[]).length > 0
    }
    // The answer to the first preparation is not read, so that the second is not sent, before the connection is gone.
    connection.pause()
    const running = Promise.allSettled(
      pipelined(connection, () => [
        runCommand(connection, 'START TRANSACTION'),
        executeChange(connection, UPDATE, ['new', '1']),
        execute(connection, READ, ['1'])
      ])
    )
    await other.promise().query(`KILL CONNECTION ${connection.threadId}`)
    while (await isThere());
    other.destroy()
    connection.resume()
    expect((await running).map(({ status }) => status)).to.deep.equal(['rejected', 'rejected', 'rejected'])
  })

  it('leave the connection as it was: a further statement is answered', async () => {
    await together('two', '1')
    expect(await execute(connection, READ, ['2'])).to.deep.equal([['two']])
    await together('again', '1')
    expect(await execute(connection, READ, ['1'])).to.deep.equal([['again']])
  })

  it(`go to the socket in ${way === innerWay ? 'one piece' : 'a piece for each'}`, async () => {
    await together('first', '1')
    const { stream } = connection as unknown as { stream: Socket }
    const write = stream.write.bind(stream)
    let pieces = 0
    stream.write = ((piece: Buffer, sent: () => void) => {
      pieces += 1
      return write(piece, sent)
    }) as typeof stream.write
    const outcomes = await together('again', '1')
    expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled', 'fulfilled'])
    expect(pieces).to.equal(way === innerWay ? 1 : 3)
  })
})

describeMysqlWays('prepared statements of a connection to', ({ way }) => {
  let fresh: FreshDatabase
  let connection: Connection

  before(async () => {
    fresh = await freshDatabase('mysql')
  })
  beforeEach(async () => {
    connection = await openConnection({ ...parseMysqlUrl(fresh.url, ''), way })
  })
  afterEach(() => connection.destroy())
  after(() => fresh.dispose())

  /** Statements that the server was told to prepare in this session. */
  const preparations = async (): Promise<number> => {
    const [rows] = await connection
      .promise()
      .query({ sql: "SHOW SESSION STATUS LIKE 'Com_stmt_prepare'", rowsAsArray: true })
    return Number((rows as unknown as string[][])[0]?.[1])
  }

  it('are prepared once, and run with other values each time', async () => {
    const before = await preparations()
    for (const value of ['one', 'two', 'three']) {
      expect(await execute(connection, select('SELECT ? AS value'), [value])).to.deep.equal([[value]])
    }
    expect((await preparations()) - before).to.equal(1)
  })

  it('are prepared again when the connection had to give them up', async () => {
    const first = select('SELECT ? AS first')
    expect(await execute(connection, first, ['one'])).to.deep.equal([['one']])
    for (let other = 0; other < 256; other++) await execute(connection, select(`SELECT ? AS v${other}`), ['other'])
    expect(await execute(connection, first, ['two'])).to.deep.equal([['two']])
  })

  it('have the same text as one that answers no rows, and their own answers', async () => {
    const read = 'SELECT ? AS value'
    await executeChange(connection, text(read), ['one'])
    expect(await execute(connection, select(read), ['two'])).to.deep.equal([['two']])
    expect(await execute(connection, select(read), ['three'])).to.deep.equal([['three']])
  })

  it('are told to whoever follows the statements of the driver', async () => {
    const read = select('SELECT ? AS value')
    await execute(connection, read, ['before'])
    const told: unknown[] = []
    const follow = (message: unknown): void => {
      told.push((message as { readonly query: string }).query)
    }
    subscribe('tracing:mysql2:execute:start', follow)
    try {
      await execute(connection, read, ['followed'])
    } finally {
      unsubscribe('tracing:mysql2:execute:start', follow)
    }
    await execute(connection, read, ['after'])
    expect(told).to.deep.equal([read.sql])
  })
})
