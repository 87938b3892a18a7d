import { setMaxListeners } from 'node:events'
import { expect } from 'chai'
import { ReadThreads } from '../../../../data-service/sql/engines/sqlite/read-threads.js'
import { long } from '../../../../data-service/entity/fields/words.js'
import { SqliteConnection } from '../../../../data-service/sql/engines/sqlite/sqlite-connection.js'
import { SqliteReader } from '../../../../data-service/sql/engines/sqlite/sqlite-sessions.js'
import type { Snapshot } from '../../../../data-service/sql/engines/sessions.js'
import { selectStatement, type ShownStatement } from '../../../../data-service/sql/engines/statement.js'
import { CancellationSource, countFor } from '../../../../shared/transport/cancellation.js'
import { type FreshDatabase, freshDatabase } from '../../../harness/database.js'

const read = (sql: string): ShownStatement =>
  selectStatement(sql, [{ name: 't.n', field: 'rowVersion' }], () => (raw) => raw as never)

/** Compares text a thousand million times, which takes longer than any test waits. */
const ENDLESS = read(
  `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1000000000)
   SELECT CAST(COUNT(*) AS BLOB) FROM c WHERE text_contains(CAST(x AS TEXT), 'z') = 1`
)
const COUNT = read('SELECT CAST(COUNT(*) AS BLOB) FROM t')
/** Longer than a read may hold up other calls, and it ends. */
const LONG = read(
  `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 300000)
   SELECT CAST(COUNT(*) AS BLOB) FROM c WHERE text_ends_with(CAST(x AS TEXT), text_key) = 1`.replace('text_key', "''")
)

const BOUND = { bytes: 1024 * 1024, isFirstFree: true, beside: 0 }

async function countOf(snapshot: Snapshot): Promise<string> {
  let count = ''
  await snapshot.each({ statement: COUNT, values: {}, bytes: BOUND }, (row) => (count = String(row.value(0))))
  return count
}

describe('reads of SQLite that take long', () => {
  let database: FreshDatabase
  let writer: SqliteConnection
  let reader: SqliteReader

  beforeEach(async () => {
    database = await freshDatabase('sqlite')
    const file = database.url.slice('sqlite:'.length)
    writer = await SqliteConnection.open(file)
    writer.execute('CREATE TABLE t (n INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2)')
    reader = new SqliteReader(file, 'the database')
  })

  afterEach(async () => {
    await reader.close()
    writer.close()
    await database.dispose()
  })

  const rows = async (statement: ShownStatement, signal: AbortSignal): Promise<string> =>
    reader.read(signal, async (session) => String((await session.run(statement, {}))[0]?.[0]))

  it('A read that takes long holds up no other one, and ends when it is aborted.', async () => {
    const aborting = new AbortController()
    const long = rows(ENDLESS, aborting.signal).catch((error: unknown) => error)
    for (let times = 0; times < 50; times++) expect(await rows(COUNT, AbortSignal.timeout(60_000))).to.equal('2')
    const reason = new Error('the caller has gone')
    aborting.abort(reason)
    expect(await long).to.equal(reason)
  })

  it('Reads with ever new texts that take long have 50 ms of the event loop once, and then 5 each.', async () => {
    // Each look at this clock is a millisecond later: a statement looks while it compares text.
    let time = 0
    const timed = new SqliteReader(database.url.slice('sqlite:'.length), 'the database', () => (time += 1))
    const aborting = new AbortController()
    setMaxListeners(0, aborting.signal)
    const spent: number[] = []
    const reads = Array.from({ length: 20 }, (_, n) => {
      const before = time
      const other = read(ENDLESS.sql.replace("'z'", `'${n}z'`))
      const reading = timed.read(aborting.signal, (session) => session.run(other, {})).catch((error: unknown) => error)
      spent.push(time - before)
      return reading
    })
    const after = time
    expect(await timed.read(AbortSignal.timeout(60_000), (session) => session.run(COUNT, {}))).to.have.lengthOf(1)
    aborting.abort(new Error('gone'))
    for (const one of await Promise.all(reads)) expect(one).to.be.an('error')
    await timed.close()
    expect(spent.filter((milliseconds) => milliseconds > 50)).to.have.lengthOf(1)
    expect(spent.filter((milliseconds) => milliseconds < 10)).to.have.lengthOf(19)
    expect(after).to.be.below(300)
  })

  it('Reads that were aborted leave no thread at work, and one that ends is answered.', async () => {
    for (let times = 0; times < 6; times++) {
      const aborting = new AbortController()
      const long = rows(ENDLESS, aborting.signal).catch((error: unknown) => error)
      // It was stopped on the main thread by now, since it answers to nothing there.
      expect(await rows(COUNT, AbortSignal.timeout(60_000))).to.equal('2')
      aborting.abort(new Error('gone'))
      expect(await long).to.be.an('error')
    }
    expect(await rows(LONG, AbortSignal.timeout(60_000))).to.equal('300000')
  })

  it('A read that waits for a thread is dropped when it is aborted.', async () => {
    const running = new AbortController()
    const two = [1, 2].map(() => rows(ENDLESS, running.signal).catch((error: unknown) => error))
    const waiting = new AbortController()
    const third = rows(ENDLESS, waiting.signal).catch((error: unknown) => error)
    const reason = new Error('not waiting any longer')
    waiting.abort(reason)
    expect(await third).to.equal(reason)
    running.abort(new Error('gone'))
    for (const one of await Promise.all(two)) expect(one).to.be.an('error')
  })

  it('A snapshot keeps its state while others begin, take long and are aborted.', async () => {
    const first = await reader.snapshot(AbortSignal.timeout(60_000))
    expect(await countOf(first)).to.equal('2')
    writer.execute('INSERT INTO t VALUES (3)')
    const aborting = new AbortController()
    const second = await reader.snapshot(aborting.signal)
    expect(await countOf(second)).to.equal('3')
    const long = second
      .each({ statement: ENDLESS, values: {}, bytes: BOUND }, () => undefined)
      .catch((error: unknown) => error)
    expect(await rows(COUNT, AbortSignal.timeout(60_000))).to.equal('3')
    aborting.abort(new Error('gone'))
    expect(await long).to.be.an('error')
    await second.close()
    expect(await countOf(first)).to.equal('2')
    await first.close()
    await first.close()
    const third = await reader.snapshot(AbortSignal.timeout(60_000))
    expect(await countOf(third)).to.equal('3')
    await third.close()
  })

  it('A snapshot begins with the first read that is answered, after reads that were rejected.', async () => {
    const threads = new ReadThreads({ file: database.url.slice('sqlite:'.length) })
    const count = { sql: 'SELECT COUNT(*) FROM t', parameters: [], exact: false }
    const busy = threads.snapshot()
    const running = Array.from({ length: 300 }, () => new AbortController())
    const others = running.map(({ signal }) =>
      busy.rows({ ...count, sql: ENDLESS.sql }, signal).catch((error: unknown) => error)
    )
    const snapshot = threads.snapshot()
    const read = async (signal: AbortSignal): Promise<unknown> =>
      snapshot.rows(count, signal).then(
        ([row]) => String(row?.[0]),
        (error: unknown) => error
      )
    expect(await read(AbortSignal.timeout(60_000))).to.include({ code: 'SQLITE_BUSY' })
    const gone = new Error('gone')
    for (const one of running) one.abort(gone)
    await Promise.all(others)
    expect(await read(AbortSignal.abort(gone))).to.equal(gone)
    const waiting = new AbortController()
    const dropped = read(waiting.signal)
    waiting.abort(gone)
    expect(await dropped).to.equal(gone)
    expect(await read(AbortSignal.timeout(60_000))).to.equal('2')
    writer.execute('INSERT INTO t VALUES (3)')
    expect(await read(AbortSignal.timeout(60_000))).to.equal('2')
    snapshot.end()
    busy.end()
    await threads.close()
  })

  it('A thread that is closed while it ends snapshots does not end the process.', async () => {
    for (let times = 0; times < 10; times++) {
      const threads = new ReadThreads({ file: database.url.slice('sqlite:'.length) })
      const snapshots = Array.from({ length: 20 }, () => threads.snapshot())
      const count = { sql: 'SELECT COUNT(*) FROM t', parameters: [], exact: false }
      for (const one of snapshots) await one.rows(count, AbortSignal.timeout(60_000))
      for (const one of snapshots) one.end()
      await threads.close()
    }
  })

  it('A file that is not there is an error of the database, in a thread too.', async () => {
    const other = new SqliteReader(`${database.url.slice('sqlite:'.length)}.none`, 'the database')
    const snapshot = await other.snapshot(AbortSignal.timeout(60_000))
    const failed = await countOf(snapshot).catch((error: unknown) => error)
    expect(failed).to.include({ code: 'upstream.unavailable' })
    await other.close()
  })

  it('Reads that are short begin four in a turn of the event loop for each caller, and those of the service at once.', async () => {
    // By its clock no read takes long, however slow the machine is.
    const quick = new SqliteReader(database.url.slice('sqlite:'.length), 'the database', () => 0)
    const began: string[] = []
    setImmediate(() => began.push('turn'))
    // A row is decoded in the turn in which it is read, however slow the machine is.
    const counted = (shareKey: string): ShownStatement =>
      selectStatement('SELECT COUNT(*) FROM t', [{ name: 't.n', field: long() }], () => () => {
        began.push(shareKey)
        return null
      })
    const readAs = (shareKey: string, times: number): Promise<unknown>[] =>
      Array.from({ length: times }, async () => {
        const call = new CancellationSource()
        if (shareKey !== '') countFor(call, { shareKey })
        await quick.read(call, ({ run }) => run(counted(shareKey), {}))
      })
    await Promise.all([...readAs('many', 10), ...readAs('few', 1), ...readAs('', 6)])
    await quick.close()
    const first = began.slice(0, began.indexOf('turn'))
    expect(first.toSorted()).to.deep.equal([...Array<string>(6).fill(''), 'few', ...Array<string>(4).fill('many')])
    expect(began).to.have.lengthOf(18)
  })
})
