import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { expect } from 'chai'
import { UniqueConstraintError } from 'sequelize'
import { connect } from '../../../../data-service/sql/connect.js'
import { selectStatement, statementText } from '../../../../data-service/sql/engines/statement.js'
import type { Database } from '../../../../data-service/sql/engines/engine.js'

const never = new AbortController().signal
const ENDLESS = { signal: never, timeout: 60_000 }
/** Milliseconds, more than a transaction keeps the event loop for. */
const TURN = 20

/** Keeps the event loop. */
function spend(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

describe('writes to the embedded database', () => {
  let folder: string
  let file: string
  let one: Database
  let other: Database

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'writes-'))
    file = join(folder, 'deep', 'store.sqlite')
    one = connect(`sqlite:${file}`)
    other = connect(`sqlite:${file}`)
    await one.sequelize.query('CREATE TABLE counters (id INTEGER PRIMARY KEY, name TEXT, value INTEGER NOT NULL)')
    await one.sequelize.query('CREATE UNIQUE INDEX counters_name ON counters (sort_key(name))')
    await one.sequelize.query("INSERT INTO counters VALUES (1, 'a', 0)")
  })

  afterEach(async () => {
    await Promise.all([one.sequelize.close(), other.sequelize.close()])
    await rm(folder, { recursive: true })
  })

  /** Reads, then writes what it read plus one: lost unless the transaction is alone from its first statement. */
  function increment({ sequelize }: Database): Promise<void> {
    return sequelize.transaction(async (transaction) => {
      const [rows] = await sequelize.query('SELECT value FROM counters WHERE id = 1', { transaction })
      const [row] = rows as { value: number }[]
      await sequelize.query('UPDATE counters SET value = $value WHERE id = 1', {
        bind: { value: (row?.value ?? 0) + 1 },
        transaction
      })
    })
  }

  async function value(): Promise<unknown> {
    const [rows] = await one.sequelize.query('SELECT value FROM counters WHERE id = 1')
    return (rows as { value: number }[])[0]?.value
  }

  it('lose nothing, in one process and between two', async () => {
    await Promise.all(Array.from({ length: 50 }, (_, index) => increment(index % 2 === 0 ? one : other)))
    expect(await value()).to.equal(50)
  })

  it('wait for another process without holding up this one', async () => {
    const outside = new DatabaseSync(file)
    outside.function('sort_key', { deterministic: true }, (text: unknown) => text)
    outside.exec('BEGIN IMMEDIATE')
    let done = false
    const writing = increment(one).then(() => {
      done = true
    })
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1))
    expect(done).to.equal(false)
    outside.exec('COMMIT')
    await writing
    outside.close()
    expect(await value()).to.equal(1)
  })

  it('let reads come between their statements, and no statement of another transaction', async () => {
    const [transactions, reader] = [one.openTransactions(), one.openReader('the database')]
    const add = statementText('UPDATE counters SET value = value + 1')
    const count = selectStatement(
      'SELECT CAST(value AS BLOB) FROM counters',
      [{ name: 'counters.value', field: 'rowVersion' }],
      () => String
    )
    const order: string[] = []
    const long = async (): Promise<void> => {
      const transaction = await transactions.begin(ENDLESS)
      // Begun after the transaction, and before its next statement.
      setImmediate(
        () => void reader.read(never, ({ run }) => run(count, {})).then(([row]) => order.push(`read ${String(row)}`))
      )
      const other = transactions.begin(ENDLESS).then(async (next) => {
        await next.change(add, {})
        order.push('other')
        await next.commit()
      })
      for (let statement = 0; statement < 5; statement++) {
        await transaction.change(add, {})
        spend(TURN)
      }
      order.push('long')
      await transaction.commit()
      await other
    }
    await long()
    expect(order).to.deep.equal(['read 0', 'long', 'other'])
    expect(await value()).to.equal(6)
    await transactions.close()
    await reader.close()
  })

  it('run no statement that comes after their end', async () => {
    const transactions = one.openTransactions()
    const transaction = await transactions.begin(ENDLESS)
    const add = statementText('UPDATE counters SET value = value + 1')
    await transaction.change(add, {})
    spend(TURN)
    const late = transaction.change(add, {}).catch((error: unknown) => error)
    await transaction.rollback()
    expect(await late).to.be.instanceOf(Error)
    expect(await value()).to.equal(0)
    await transactions.close()
  })

  it('leave the queue when they fail', async () => {
    const failing = one.sequelize.transaction(async (transaction) => {
      await one.sequelize.query('UPDATE counters SET value = 99', { transaction })
      throw new Error('changed my mind')
    })
    expect(await failing.catch((error: unknown) => error)).to.have.property('message', 'changed my mind')
    await increment(one)
    expect(await value()).to.equal(1)
  })

  it('tell a unique violation, letter case ignored', async () => {
    const twice = one.sequelize.query("INSERT INTO counters VALUES (2, 'A', 0)")
    expect(await twice.catch((error: unknown) => error)).to.be.instanceOf(UniqueConstraintError)
  })

  it('keep integers of 64 bits, bytes and nulls, and reject text that the driver would cut', async () => {
    const { sequelize } = one
    await sequelize.query('CREATE TABLE things (id INTEGER PRIMARY KEY, big INTEGER, bytes BLOB, name TEXT) STRICT')
    const bind = { id: 1, big: 9007199254740993n, bytes: Buffer.from([0, 255]), name: null }
    await sequelize.query('INSERT INTO things VALUES ($id, $big, $bytes, $name)', { bind })
    const [rows] = await sequelize.query('SELECT * FROM things')
    expect(rows).to.deep.equal([{ id: 1, big: '9007199254740993', bytes: Buffer.from([0, 255]), name: null }])
    const cut = sequelize.query('UPDATE things SET name = $name', { bind: { name: 'a\0b' } })
    expect(await cut.catch((error: unknown) => error))
      .to.have.property('message')
      .that.includes('U+0000')
  })
})
