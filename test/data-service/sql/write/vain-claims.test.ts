import { expect } from 'chai'
import type { Value } from '../../../../data-service/entity/fields/field.js'
import type { ErrorKind, Reader, ReaderSession, Transactions } from '../../../../data-service/sql/engines/sessions.js'
import { mysqlDialect } from '../../../../data-service/sql/engines/mysql/mysql-dialect.js'
import { createWriteStore } from '../../../../data-service/sql/entity-rows/writes.js'
import { IdempotencyKeys, type KeyedRequest } from '../../../../data-service/sql/own-rows/idempotency-keys.js'
import { runTransaction, TransactionAttempt } from '../../../../data-service/sql/transactions.js'
import { NEVER } from '../../../../shared/transport/cancellation.js'
import { DomainError } from '../../../../shared/errors.js'
import { OWN } from '../../../harness/own-tables.js'
import { failure } from './failure.js'
import { freshWriteStore } from './fresh-write-store.js'

const CLAIM = { keyHash: Buffer.alloc(32, 1), fingerprint: Buffer.alloc(32, 2), now: 0, expiresAt: 1 }
const STORED: Value[][] = [[CLAIM.fingerprint, Buffer.from('answer'), 1]]

/** An error of the made-up database. */
class Failed extends Error {
  readonly kind: ErrorKind

  constructor(kind: ErrorKind) {
    super(kind)
    this.kind = kind
  }
}

const classifyError = (error: unknown): ErrorKind => (error instanceof Failed ? error.kind : 'other')

/** A database whose claims all fail alike, and what it is asked, in order. */
function failing(claims: ErrorKind, answers: { readonly found?: Value[][]; readonly probe?: ErrorKind }) {
  const log: string[] = []
  const claimed = async (): Promise<never> => {
    log.push('claim')
    await new Promise((resolve) => setTimeout(resolve, 20))
    throw new Failed(claims)
  }
  const transactions: Transactions = {
    classifyError,
    flushed: () => {
      log.push('flush')
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
    begin: () =>
      Promise.resolve({
        node: undefined,
        isGuarding: true,
        run: () => Promise.resolve([]),
        rows: () => Promise.resolve([]),
        change: claimed,
        changeWithin: claimed,
        batch: (batch) => Promise.allSettled(batch.map(claimed)),
        commit: () => Promise.resolve(),
        rollback: () => Promise.resolve()
      })
  }
  const run: ReaderSession['run'] = ({ sql }) => {
    const isProbe = sql.includes('NOWAIT')
    log.push(isProbe ? 'probe' : 'find')
    if (!isProbe) return Promise.resolve(answers.found ?? [])
    return answers.probe === undefined ? Promise.resolve([]) : Promise.reject(new Failed(answers.probe))
  }
  const reader: Reader = {
    read: async (_signal, work) => {
      log.push('connection')
      return await work({ run, runReadOnly: run, rows: () => Promise.resolve([]) })
    },
    isFull: () => false,
    snapshot: () => Promise.reject(new Error('not asked')),
    close: () => Promise.resolve()
  }
  return { log, transactions, keys: new IdempotencyKeys(OWN, mysqlDialect, { reader, classifyError }) }
}

/** A claim as a write makes it. */
function claimed({ transactions, keys }: ReturnType<typeof failing>) {
  const request: KeyedRequest = {}
  return runTransaction({ transactions, what: 'The database', random: () => 0 }, NEVER, {
    run: (attempt) => keys.claim(attempt, CLAIM, request),
    isRepeatable: () => true
  })
}

describe('a claim of a key that has waited in vain', () => {
  it('tells the answer of the first request once it is on the disk', async () => {
    const database = failing('lockTimeout', { found: STORED })
    expect(await claimed(database)).to.deep.equal({ fingerprint: CLAIM.fingerprint, answer: Buffer.from('answer') })
    expect(database.log).to.deep.equal(['claim', 'connection', 'find', 'flush'])
  })

  it('takes one connection to ask for the answer and for the lock', async () => {
    const database = failing('lockTimeout', { probe: 'lockTimeout' })
    expect(await failure(claimed(database))).to.include({ code: 'idempotency.in-flight' })
    expect(database.log).to.deep.equal(['claim', 'connection', 'find', 'probe'])
  })

  it('is not repeated when the question for the lock meets a deadlock', async () => {
    const database = failing('lockTimeout', { probe: 'deadlock' })
    expect(await failure(claimed(database))).to.include({ code: 'upstream.unavailable' })
    expect(database.log).to.deep.equal(['claim', 'connection', 'find', 'probe'])
  })

  it('does not wait again after it was sent together with the work', async () => {
    const { log, transactions, keys } = failing('lockTimeout', { found: STORED })
    const request: KeyedRequest = {}
    const attempt = new TransactionAttempt(transactions, NEVER)
    expect(await keys.claimWith(attempt, { claim: CLAIM, request }, [])).to.equal(undefined)
    expect(await keys.claim(attempt, CLAIM, request)).to.have.property('answer')
    expect(log).to.deep.equal(['claim', 'connection', 'find', 'flush'])
  })

  it('is a conflict if it met deadlocks alone and nobody holds the key', async () => {
    const database = failing('deadlock', {})
    const error = await failure(claimed(database))
    expect(error).to.be.instanceOf(DomainError)
    expect(error).to.include({ code: 'conflict' })
    expect(database.log.slice(-3)).to.deep.equal(['connection', 'find', 'probe'])
    expect(database.log.filter((one) => one === 'find')).to.have.length(1)
  })
})

describe('a write store that is closed', () => {
  it('closes its reader although a transaction could not be ended', async () => {
    const fresh = await freshWriteStore('sqlite')
    try {
      const own = fresh.database.openTransactions()
      const broken = new Error('the queue is broken')
      let closed = 0
      const store = createWriteStore(
        {
          ...fresh.database,
          openReader: (what) => {
            const reader = fresh.database.openReader(what)
            return {
              read: (...of) => reader.read(...of),
              isFull: (...of) => reader.isFull(...of),
              snapshot: (...of) => reader.snapshot(...of),
              close: async () => {
                closed += 1
                await reader.close()
              }
            }
          }
        },
        [],
        {
          tables: OWN,
          onEmitted: () => undefined,
          transactions: {
            classifyError: (error) => own.classifyError(error),
            begin: (...of) => own.begin(...of),
            flushed: () => own.flushed(),
            close: () => own.close().then(() => Promise.reject(broken))
          },
          random: Math.random,
          randomBytes: (size) => Buffer.alloc(size)
        }
      )
      expect(await failure(store.close())).to.equal(broken)
      expect(closed).to.equal(1)
    } finally {
      await fresh.dispose()
    }
  })
})
