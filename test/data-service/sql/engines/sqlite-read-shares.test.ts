import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { LongTexts } from '../../../../data-service/sql/engines/long-texts.js'
import { LongTurns, TURN_MS } from '../../../../data-service/sql/engines/sqlite/long-turns.js'
import { ReadQueue } from '../../../../data-service/sql/engines/sqlite/read-queue.js'
import { ReadThreads } from '../../../../data-service/sql/engines/sqlite/read-threads.js'
import { SqliteConnection } from '../../../../data-service/sql/engines/sqlite/sqlite-connection.js'
import { decodedRows } from '../../../../data-service/sql/engines/sqlite/sqlite-sessions.js'
import { CancellationSource, countFor, shareKeyOf } from '../../../../shared/transport/cancellation.js'
import { type FreshDatabase, freshDatabase } from '../../../harness/database.js'

/** The cancellation of a call of this holder of a share. */
function callOf(shareKey: string): CancellationSource {
  const call = new CancellationSource()
  countFor(call, { shareKey })
  return call
}

/** Compares text a thousand million times, which takes longer than any test waits. */
const ENDLESS = `WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1000000000)
  SELECT COUNT(*) FROM c WHERE text_contains(CAST(x AS TEXT), 'z') = 1`

describe('shares of the reads of SQLite that take long', () => {
  it('leave turns to others while rows are decoded, each of which takes long', async () => {
    let turns = 0
    let ended = false
    const others = (async () => {
      for (; !ended; turns++) await setImmediate()
    })()
    const seen = await decodedRows(Promise.resolve([[1], [2], [3], [4]]), ([n]) => {
      for (const end = performance.now() + 15; performance.now() < end;);
      return [n, turns]
    })
    ended = true
    await others
    expect(seen.map(([n]) => n)).to.deep.equal([1, 2, 3, 4])
    const before = seen.map(([, turn]) => Number(turn))
    expect(before.every((turn, at) => at === 0 || turn > (before[at - 1] ?? 0))).to.equal(true)
  })

  describe('the threads', () => {
    let database: FreshDatabase
    let threads: ReadThreads
    let took: string[]

    beforeEach(async () => {
      database = await freshDatabase('sqlite')
      const file = database.url.slice('sqlite:'.length)
      const writer = await SqliteConnection.open(file)
      writer.execute('CREATE TABLE t (n INTEGER PRIMARY KEY); INSERT INTO t VALUES (1), (2)')
      writer.close()
      took = []
      threads = new ReadThreads({ file, took: (sql) => took.push(sql) })
    })

    afterEach(async () => {
      await threads.close()
      await database.dispose()
    })

    const rows = (sql: string, call: CancellationSource): Promise<unknown> =>
      threads.rows({ sql, parameters: [], exact: false }, call).then(
        ([row]) => String(row?.[0]),
        (error: unknown) => error
      )

    it('A caller whose reads take both threads has one of them while others wait.', async () => {
      const calls = Array.from({ length: 10 }, () => callOf('many'))
      const many = calls.map((call) => rows(ENDLESS, call))
      const few = Array.from({ length: 3 }, () => rows('SELECT COUNT(*) FROM t', callOf('few')))
      const own = rows('SELECT 7', new CancellationSource())
      const gone = new Error('gone')
      calls[0]?.abort(gone)
      // Each of the others is answered although reads of the first caller have waited for longer.
      expect(await Promise.all(few)).to.deep.equal(['2', '2', '2'])
      expect(await own).to.equal('7')
      expect(took.toSorted()).to.deep.equal(['SELECT 7', ...Array<string>(3).fill('SELECT COUNT(*) FROM t')])
      for (const call of calls) call.abort(gone)
      for (const one of await Promise.all(many)) expect(one).to.equal(gone)
      expect(await rows('SELECT 8', callOf('many'))).to.equal('8')
    })
  })

  describe('the queue', () => {
    it('Callers have turns, each of their reads in order, and one caller has both threads only while no other waits.', () => {
      const queue = new ReadQueue<{ readonly id: number; readonly shareKey: string }>(5)
      const add = (id: number, shareKey: string): void => queue.add({ id, shareKey })
      add(1, 'a')
      add(2, 'a')
      const first = queue.next()
      const second = queue.next()
      expect([first?.id, second?.id, queue.next()]).to.deep.equal([1, 2, undefined])
      for (const id of [3, 4, 5]) add(id, 'a')
      add(6, 'b')
      expect(queue.isFull).to.equal(false)
      add(7, 'b')
      expect(queue.isFull).to.equal(true)
      if (second !== undefined) queue.ended(second)
      const third = queue.next()
      expect(third?.id, 'a has one that runs').to.equal(6)
      if (first !== undefined) queue.ended(first)
      const fourth = queue.next()
      expect(fourth?.id, 'b has one that runs').to.equal(3)
      if (third !== undefined) queue.ended(third)
      expect(queue.next()?.id).to.equal(7)
      expect([queue.drop(5), queue.drop(5), queue.drop(7)]).to.deep.equal([true, false, false])
      if (fourth !== undefined) queue.ended(fourth)
      expect([queue.next()?.id, queue.next(), queue.length]).to.deep.equal([4, undefined, 0])
    })
  })

  describe('the turns of the event loop', () => {
    let time: number
    let turns: LongTurns

    beforeEach(() => {
      time = 0
      turns = new LongTurns(() => time)
    })

    /** Reads for so long, or until it is stopped. Answers how long that was. */
    function read(shareKey: string, milliseconds: number): number {
      const turn = turns.begin(shareKey)
      const end = time + milliseconds
      while (time < end && !turn.isOver()) time += 1
      return turn.end()
    }

    it('A caller who has used up its part has short turns, and takes nothing from another one.', () => {
      const spent = Array.from({ length: 100 }, () => read('many', 1000))
      expect(spent[0]).to.equal(51)
      for (const one of spent.slice(1)) expect(one).to.be.below(10)
      expect(read('few', 40)).to.equal(40)
      expect(read('many', 1000)).to.equal(6)
    })

    it('All callers together have a part, and what ends within a short turn is not counted.', () => {
      const spent = Array.from({ length: 20 }, (_, n) => read(`caller ${n}`, 1000))
      expect(spent.reduce((sum, one) => sum + one)).to.be.within(200, 400)
      for (let times = 0; times < 1000; times++) expect(read('another', 5)).to.equal(5)
      expect(read('another', 50)).to.equal(50)
    })

    it('A statement that cannot be stopped leaves no debt of more than a second.', () => {
      const turn = turns.begin('many')
      time += 60_000
      expect(turn.end()).to.equal(60_000)
      expect(read('few', 50)).to.equal(50)
      expect(read('many', 1000)).to.equal(6)
      time += 2_500
      expect(read('many', 1000)).to.equal(51)
    })

    it('A caller is forgotten when it has all of its part again.', () => {
      for (let n = 0; n < 1000; n++) {
        read(`caller ${n}`, 10)
        time += 100
        expect(turns.size).to.be.below(25)
      }
    })
  })

  it('A text is long by its last run, here or in a thread.', () => {
    const texts = new LongTexts(TURN_MS)
    texts.ran('SELECT 1', 51)
    expect(texts.has('SELECT 1')).to.equal(true)
    texts.ran('SELECT 1', 49)
    expect(texts.has('SELECT 1')).to.equal(false)
  })

  it('What is a part of a call counts as the call, and the work of the service itself has no key.', () => {
    const call = callOf('a caller')
    expect(shareKeyOf(new CancellationSource(new CancellationSource(call)))).to.equal('a caller')
    expect(shareKeyOf(AbortSignal.timeout(1000))).to.equal('')
  })
})
