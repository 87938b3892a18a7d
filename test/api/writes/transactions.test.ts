import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { PRODUCTS, rowOf, VARIANTS, versionOf } from '../fixture.js'
import { StatementLog, statements } from '../statement-log.js'
import { changesNothing, count, select } from './stored.js'
import { rowIn, send, tagOf } from './send.js'

/** `INSERT orders` of each statement that the data service ran, `COMMIT` among them. */
async function run(databaseUrl: string, work: () => Promise<unknown>): Promise<string[]> {
  const log = await StatementLog.open(databaseUrl)
  try {
    const lines = await log.during(work)
    // A statement may come with a setting of its own: SET STATEMENT innodb_lock_wait_timeout = 2 FOR INSERT …
    const bare = lines.map(({ text, ...line }) => ({ ...line, text: text.replace(/^SET STATEMENT .+? FOR /, '') }))
    // The probe of the health asks `SHOW STATUS` at any moment.
    const ran = bare.filter(({ command, text }) => command !== 'Prepare' && !text.startsWith('SHOW '))
    return statements(ran).map(({ text }) => {
      const [verb = ''] = text.split(' ')
      const [, table] = /\b(?:INTO|UPDATE|FROM)\s+`?(\w+)/.exec(text) ?? []
      return table === undefined ? verb : `${verb} ${table}`
    })
  } finally {
    await log.close()
  }
}

/** Deadlocks of the same write that a transaction survives. */
const DEADLOCKS = 3

describeApi('the transaction of a write', (store) => {
  const order = { body: { lines: [{ productId: 1, quantity: 2 }] } }

  it('leaves nothing when its last statement fails, its key included', async () => {
    await select(
      store,
      store.kind === 'sqlite'
        ? "CREATE TRIGGER lost BEFORE UPDATE ON ur_idempotency_keys BEGIN SELECT RAISE(ABORT, 'lost'); END"
        : "CREATE TRIGGER lost BEFORE UPDATE ON ur_idempotency_keys FOR EACH ROW SIGNAL SQLSTATE '45000'"
    )
    const failed = await changesNothing(store, () => send(store, 'ada POST /orders', { ...order, key: 'lost' }))
    store.problem(failed, { status: 500, code: 'internal' })
    await select(store, 'DROP TRIGGER lost')
    const made = await send(store, 'ada POST /orders', { ...order, key: 'lost' })
    expect(made.status, made.text).to.equal(201)
    expect(made.headers).not.to.have.any.keys('idempotent-replayed')
  })

  // What the statements are and what a deadlock does is up to the data service, and MariaDB lets a test see both.
  if (store.kind === 'sqlite') return

  it('takes the key first, and keeps the answer last', async () => {
    const ran = await run(store.databaseUrl, () => send(store, 'ada POST /orders', { ...order, key: 'ordered' }))
    expect(ran.slice(0, 2)).to.deep.equal(['START', 'INSERT ur_idempotency_keys'])
    expect(ran.filter((one) => /^(INSERT|UPDATE|BEGIN|COMMIT)/.test(one))).to.deep.equal([
      'INSERT ur_idempotency_keys',
      'INSERT orders',
      'INSERT order_lines',
      'INSERT ur_audit_entries',
      'INSERT ur_outbox',
      'UPDATE ur_idempotency_keys',
      'BEGIN'
    ])
    // The COMMIT is one of a statement that looks whether the answer was kept.
    expect(ran.slice(-3)).to.deep.equal(['SELECT orders', 'UPDATE ur_idempotency_keys', 'BEGIN'])
  })

  it('writes a root before its children', async () => {
    const body = { variantId: 1, delta: 1, variantRowVersion: versionOf(rowOf(VARIANTS, 1)) }
    const ifMatch = tagOf(versionOf(rowOf(PRODUCTS, 1)))
    const ran = await run(store.databaseUrl, () =>
      send(store, 'clerk PUT /products/1/adjust-variant-stock', { body, ifMatch })
    )
    expect(ran.filter((one) => /^(INSERT|UPDATE|COMMIT)/.test(one))).to.deep.equal([
      'UPDATE products',
      'UPDATE product_variants',
      'INSERT ur_audit_entries',
      'COMMIT'
    ])
  })

  it(`is run again from the start after each of ${DEADLOCKS} deadlocks, and leaves one row`, async () => {
    // Its rows stay when the transaction is rolled back.
    await select(store, 'CREATE TABLE deadlocks (at INT AUTO_INCREMENT PRIMARY KEY) ENGINE=MyISAM')
    await select(
      store,
      `CREATE TRIGGER deadlock BEFORE INSERT ON ur_audit_entries FOR EACH ROW
       IF (SELECT COUNT(*) FROM deadlocks) < ${DEADLOCKS} THEN
         INSERT INTO deadlocks VALUES ();
         SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = 1213, MESSAGE_TEXT = 'Deadlock found when trying to get lock';
       END IF`
    )
    try {
      const orders = await count(store, 'orders')
      const audits = await count(store, 'ur_audit_entries')
      const made = await send(store, 'ada POST /orders', { ...order, key: 'again' })
      expect(made.status, made.text).to.equal(201)
      expect(await count(store, 'deadlocks')).to.equal(DEADLOCKS)
      expect(await count(store, 'orders')).to.equal(orders + 1)
      expect(await count(store, 'order_lines WHERE order_id = ?', [Number(rowIn(made)['id'])])).to.equal(1)
      expect(await count(store, 'ur_audit_entries')).to.equal(audits + 1)
      const again = await send(store, 'ada POST /orders', { ...order, key: 'again' })
      expect(again.headers['idempotent-replayed'], again.text).to.equal('true')
      expect(again.bytes).to.deep.equal(made.bytes)
    } finally {
      await select(store, 'DROP TRIGGER deadlock')
      await select(store, 'DROP TABLE deadlocks')
    }
  })
})
