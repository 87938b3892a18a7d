import { expect } from 'chai'
import { PoolTurns, type Turn } from '../../../../data-service/sql/engines/mysql/pool-turns.js'
import { connect } from '../../../../data-service/sql/connect.js'
import { DomainError } from '../../../../shared/errors.js'
import { type Cancellation, CancellationSource, countFor } from '../../../../shared/transport/cancellation.js'
import { type FreshDatabase, freshDatabase } from '../../../harness/database.js'

function callOf(shareKey: string): CancellationSource {
  const call = new CancellationSource()
  countFor(call, { shareKey })
  return call
}

/** Work that has its turn until the test ends it. */
class TestWork {
  readonly turns: PoolTurns
  readonly #running: Turn[] = []

  constructor(connections: number, timeout = 60_000) {
    this.turns = new PoolTurns(connections, { timeout })
  }

  get running(): number {
    return this.#running.length
  }

  /** Answers how many have their turn after that. */
  async begin(signal: Cancellation, count = 1, text?: string): Promise<number> {
    for (let n = 0; n < count; n++) {
      this.turns.enter(signal, text).then(
        (turn) => this.#running.push(turn),
        () => undefined
      )
    }
    await new Promise((resolve) => setImmediate(resolve))
    return this.running
  }

  /** Ends the oldest one. */
  end(): void {
    this.#running.shift()?.leave()
  }

  async knows(text: string, milliseconds: number, isStopped = false): Promise<void> {
    const turn = await this.turns.enter(callOf('before'), text)
    turn.ran(milliseconds, { isStopped })
    turn.leave()
  }
}

const LONG = 'SELECT long'

describe('turns at the connections of a pool', () => {
  it('leave half of the connections to others, however much a caller asks for', async () => {
    for (const [connections, ofOne, ofBoth, ofThree] of [
      [1, 1, 1, 1],
      [2, 1, 2, 2],
      [3, 2, 3, 3],
      [5, 3, 4, 5],
      [10, 5, 7, 8]
    ] as const) {
      const work = new TestWork(connections)
      expect(await work.begin(callOf('ada'), 24), `ada, of ${connections}`).to.equal(ofOne)
      expect(work.turns.waiting).to.equal(24 - ofOne)
      expect(await work.begin(callOf('ben'), 24), `both, of ${connections}`).to.equal(ofBoth)
      expect(await work.begin(callOf('cyd'), 24), `three, of ${connections}`).to.equal(ofThree)
    }
  })

  it('are there for five callers at least, and one of all that are free for whoever has none', async () => {
    const work = new TestWork(10)
    for (const name of ['ada', 'ben', 'cyd', 'dan']) await work.begin(callOf(name), 24)
    expect(work.running).to.equal(9)
    expect(work.turns.isFull(callOf('ada'))).to.equal(true)
    expect(work.turns.isFull(callOf('eve'))).to.equal(false)
    expect(await work.begin(callOf('eve'), 24)).to.equal(10)
  })

  it('are the next one of who has the fewest, when one ends', async () => {
    const work = new TestWork(2)
    await work.begin(callOf('ada'), 5)
    await work.begin(new CancellationSource(), 5)
    const cyd = callOf('cyd')
    await work.begin(cyd)
    work.end()
    expect(await work.begin(cyd)).to.equal(2)
    expect(work.turns.waiting).to.equal(9)
  })

  it('are a quarter for work of a caller that is known to take long, and half for that of all callers', async () => {
    for (const [connections, ofOne, ofAll] of [
      [1, 1, 1],
      [2, 1, 1],
      [3, 1, 1],
      [10, 2, 5]
    ] as const) {
      const work = new TestWork(connections)
      await work.knows(LONG, 501)
      expect(await work.begin(callOf('ada'), 24, LONG), `ada, of ${connections}`).to.equal(ofOne)
      for (const name of ['ben', 'cyd', 'dan', 'eve']) await work.begin(callOf(name), 24, LONG)
      expect(work.running, `all, of ${connections}`).to.equal(ofAll)
      const others = await work.begin(callOf('fay'), 1, 'SELECT short')
      expect(others, `and a short read, of ${connections}`).to.equal(Math.min(connections, ofAll + 1))
    }
  })

  it('know work as long by its last run, and what was stopped early says nothing', async () => {
    const work = new TestWork(10)
    await work.knows(LONG, 501)
    await work.knows(LONG, 10, true)
    expect(await work.begin(callOf('ada'), 5, LONG)).to.equal(2)
    for (let left = 0; left < 5; left++) {
      work.end()
      await work.begin(callOf('nobody'), 0)
    }
    expect([work.running, work.turns.waiting]).to.deep.equal([0, 0])
    await work.knows(LONG, 500)
    expect(await work.begin(callOf('ada'), 5, LONG)).to.equal(5)
  })

  it('count what several callers wait for as that of one who can have it now', async () => {
    const work = new TestWork(10)
    const [ada, ben] = [callOf('ada'), callOf('ben')]
    await work.begin(ada, 5)
    expect(work.turns.isFull(new CancellationSource(ada))).to.equal(true)
    expect(work.turns.isFull(ben)).to.equal(false)
    const both = (): CancellationSource => new CancellationSource(new CancellationSource(ada, ben))
    for (const running of [6, 7, 7]) expect(await work.begin(both())).to.equal(running)
    expect(work.turns.isFull(ben)).to.equal(true)
  })

  it('end with the call, and with 503 when there is none in time', async () => {
    const work = new TestWork(1, 20)
    await work.begin(callOf('ada'))
    const ending = callOf('ben')
    const [left, late] = [work.turns.enter(ending), work.turns.enter(callOf('ben'))].map((turn) =>
      turn.catch((error: unknown) => error)
    )
    const gone = new Error('the caller has gone')
    ending.abort(gone)
    expect(await left).to.equal(gone)
    const error = await late
    expect(error).to.be.instanceOf(DomainError).and.include({ code: 'upstream.unavailable', retryAfter: 1 })
    expect(work.turns.waiting).to.equal(0)
  })

  describe('on MariaDB', () => {
    let fresh: FreshDatabase
    before(async () => (fresh = await freshDatabase('mysql')))
    after(() => fresh.dispose())

    const one = { sql: 'SELECT 1', binds: [], decode: [Number], exact: false }

    for (const size of [1, 2, 3]) {
      it(`reads and transactions of several callers all end with ${size} of them, those that are given up too`, async () => {
        const database = connect(fresh.url, size)
        const [reader, transactions] = [database.openReader('It'), database.openTransactions()]
        try {
          const work = Array.from({ length: 60 }, async (_, n) => {
            const call = callOf(`caller ${n % 4}`)
            if (n % 5 === 0) setImmediate(() => call.abort(new Error('given up')))
            if (n % 2 === 0) return await reader.read(call, (session) => session.run(one, {}))
            const transaction = await transactions.begin({ signal: call, timeout: 1000 })
            try {
              return await transaction.run(one, {})
            } finally {
              await transaction.rollback()
            }
          })
          const outcomes = await Promise.allSettled(work)
          for (const [n, outcome] of outcomes.entries()) {
            if (outcome.status === 'fulfilled') expect(outcome.value).to.deep.equal([[1]])
            else expect([n % 5, String(outcome.reason)]).to.deep.equal([0, 'Error: given up'])
          }
          await Promise.all([reader.close(), transactions.close()])
          expect(database.poolState()).to.include({ inUse: 0, waiting: 0 })
          expect(await reader.read(callOf('the next'), (session) => session.run(one, {}))).to.deep.equal([[1]])
        } finally {
          await reader.close()
          await database.sequelize.close()
        }
      })
    }
  })
})
