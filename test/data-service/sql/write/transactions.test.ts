import { expect } from 'chai'
import { ConnectionError } from 'sequelize'
import { runTransaction, type Work } from '../../../../data-service/sql/transactions.js'
import {
  type OpenTransaction,
  type Transactions,
  CommitUnknown
} from '../../../../data-service/sql/engines/sessions.js'
import { SqliteError } from '../../../../data-service/sql/engines/sqlite/sqlite-connection.js'
import { classifySqliteError } from '../../../../data-service/sql/engines/sqlite/sqlite-sessions.js'
import { statementText } from '../../../../data-service/sql/engines/statement.js'
import { failure } from './failure.js'
import { never } from './fresh-write-store.js'
import { classifyMysqlError } from '../../../../data-service/sql/engines/mysql/driver/mysql-errors.js'

const STATEMENT = statementText('UPDATE t SET a = 1')

/** A driver's error as mysql2 makes it. */
function serverError(errno: number): Error {
  return Object.assign(new Error(`error ${errno}`), { errno })
}

function fatal(): Error {
  return Object.assign(new Error('Connection lost'), { fatal: true })
}

/** Transactions that fail as told, the first one first; then they succeed. Notes what was asked of them. */
class Failing implements Transactions {
  readonly log: string[] = []

  readonly classifyError = (error: unknown) =>
    error instanceof SqliteError || error instanceof CommitUnknown
      ? classifySqliteError(error)
      : classifyMysqlError(error)
  readonly #errors: { readonly at: 'begin' | 'change' | 'commit'; readonly error: unknown }[]

  constructor(at: 'begin' | 'change' | 'commit', errors: readonly unknown[]) {
    this.#errors = errors.map((error) => ({ at, error }))
  }

  begin(): Promise<OpenTransaction> {
    const outcome = this.#errors.shift()
    const step = (name: 'begin' | 'change' | 'commit'): Promise<void> => {
      this.log.push(name)
      return outcome?.at === name ? Promise.reject(outcome.error) : Promise.resolve()
    }
    const change = async () => {
      await step('change')
      return { rows: 1, insertedId: 1 }
    }
    return step('begin').then(() => ({
      node: undefined,
      run: () => Promise.resolve([]),
      rows: () => Promise.resolve([]),
      change,
      changeWithin: change,
      isGuarding: false,
      batch: (statements) => Promise.allSettled(statements.map(change)),
      commit: () => step('commit'),
      rollback: () => {
        this.log.push('rollback')
        return Promise.resolve()
      }
    }))
  }

  flushed(): Promise<void> {
    return Promise.resolve()
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

describe('attempts at a transaction', () => {
  const run = (transactions: Transactions, more: { signal?: AbortSignal; isRepeatable?: boolean } = {}) => {
    const work: Work<string> = {
      run: async (transaction) => {
        await transaction.change(STATEMENT, {})
        return 'done'
      },
      isRepeatable: () => more.isRepeatable === true
    }
    return runTransaction({ transactions, what: 'It', random: () => 0 }, more.signal ?? never, work)
  }
  const begun = ({ log }: Failing): number => log.filter((one) => one === 'begin').length

  const races = {
    'a deadlock': serverError(1213),
    'a row changed since it was read': serverError(1020),
    'a lost certification of Group Replication': serverError(3101)
  }
  const waits = {
    'a lock wait': serverError(1205),
    'a busy file': new SqliteError('SQLITE_BUSY', 5, new Error('busy')),
    'an overtaken snapshot': new SqliteError('SQLITE_BUSY', 517, new Error('busy'))
  }
  for (const [name, error] of Object.entries({ ...races, ...waits })) {
    const code = name in races ? 'conflict' : 'upstream.unavailable'
    it(`are repeated after ${name}, at most five in all, and then ${code}`, async () => {
      const four = new Failing('change', Array<unknown>(4).fill(error))
      expect(await run(four)).to.equal('done')
      expect(begun(four)).to.equal(5)
      expect(four.log.slice(0, 3)).to.deep.equal(['begin', 'change', 'rollback'])
      const five = new Failing('change', Array<unknown>(5).fill(error))
      const rejected = await failure(run(five))
      expect(rejected).to.include({ code, retryAfter: name in races ? undefined : 1 })
      expect(rejected).to.have.property('cause', error)
      expect(begun(five)).to.equal(5)
    })
  }

  it('are repeated when the certification fails at the COMMIT, without a rollback of what is none', async () => {
    const transactions = new Failing('commit', [serverError(1213)])
    expect(await run(transactions)).to.equal('done')
    expect(transactions.log).to.deep.equal(['begin', 'change', 'commit', 'begin', 'change', 'commit'])
  })

  it('are repeated after a lost connection, and at last unavailable', async () => {
    expect(await run(new Failing('change', [fatal()]))).to.equal('done')
    const all = new Failing('change', Array<unknown>(5).fill(fatal()))
    expect(await failure(run(all))).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
    expect(begun(all)).to.equal(5)
  })

  for (const [name, error] of [
    ['a lost connection', fatal()],
    ['a node that lost its cluster', serverError(1180)],
    ['a log that was not synced', new CommitUnknown('EIO')]
  ] as const) {
    it(`are repeated after ${name} at the COMMIT only where that is found out`, async () => {
      const once = new Failing('commit', [error])
      expect(await failure(run(once))).to.include({ code: 'upstream.unavailable', retryAfter: 1 })
      expect(begun(once)).to.equal(1)
      expect(await run(new Failing('commit', [error]), { isRepeatable: true })).to.equal('done')
      const all = new Failing('commit', Array<unknown>(5).fill(error))
      expect(await failure(run(all, { isRepeatable: true }))).to.include({ code: 'upstream.unavailable' })
    })
  }

  it('are one where nothing speaks for another: keys broken, no server, a fault', async () => {
    for (const errno of [1062, 1451, 1452]) {
      const transactions = new Failing('change', [serverError(errno)])
      expect(await failure(run(transactions)), `errno ${errno}`).to.include({ code: 'conflict' })
      expect(begun(transactions), `errno ${errno}`).to.equal(1)
    }
    const rejected = new Failing('begin', [new ConnectionError(new Error('refused'))])
    expect(await failure(run(rejected))).to.include({ code: 'upstream.unavailable' })
    expect(begun(rejected)).to.equal(1)
    const fault = serverError(1054)
    expect(await failure(run(new Failing('change', [fault])))).to.equal(fault)
    expect(await failure(run(new Failing('commit', [fault])))).to.equal(fault)
  })

  it('end with the reason of an abort, before a try and between two', async () => {
    const gone = new Error('gone')
    const none = new Failing('change', [])
    expect(await failure(run(none, { signal: AbortSignal.abort(gone) }))).to.equal(gone)
    expect(none.log).to.deep.equal([])
    const caller = new AbortController()
    const transactions = new Failing('change', Array<unknown>(5).fill(serverError(1213)))
    const rejected = failure(
      runTransaction({ transactions, what: 'It', random: () => 1e6 }, caller.signal, {
        run: (transaction) => transaction.change(STATEMENT, {}),
        isRepeatable: () => false
      })
    )
    while (!transactions.log.includes('rollback')) await Promise.resolve()
    caller.abort(gone)
    expect(await rejected).to.equal(gone)
    expect(begun(transactions)).to.equal(1)
  })
})
