import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { openTestDatabase } from '../../oracle/test-database.js'
import { describeApi, type ApiStore } from '../api-store.js'
import { PRODUCTS, rowOf, versionOf } from '../fixture.js'
import { changesNothing, count } from './stored.js'
import { rowIn, send, tagOf } from './send.js'

/** As another request does that has claimed every key there can be; the embedded database has one lock for all. */
const KEYS = { mysql: 'SELECT key_hash FROM idempotency_keys FOR UPDATE', sqlite: undefined }
const PRODUCT = { mysql: 'SELECT id FROM products WHERE id = 1 FOR UPDATE', sqlite: undefined }

interface Lock {
  release(): Promise<void>
}

/** Takes a lock on a connection of the test's own. */
async function lock(store: ApiStore, what: Readonly<Record<'sqlite' | 'mysql', string | undefined>>): Promise<Lock> {
  const database = await openTestDatabase(store.databaseUrl)
  await database.run(store.kind === 'sqlite' ? 'BEGIN IMMEDIATE' : 'START TRANSACTION')
  const statement = what[store.kind]
  if (statement !== undefined) await database.run(statement)
  return {
    async release() {
      await database.run('ROLLBACK')
      await database.close()
    }
  }
}

describeApi('a key whose first request is still running', (store) => {
  const write = { body: { lines: [{ productId: 1, quantity: 1 }] }, key: 'first' }
  const ifMatch = tagOf(versionOf(rowOf(PRODUCTS, 1)))

  it('is 409 with Retry-After, on guarded writes too, and nothing is written', async () => {
    const held = await lock(store, KEYS)
    try {
      await changesNothing(store, async () => {
        const answers = await Promise.all([
          send(store, 'ada POST /orders', write),
          send(store, 'clerk PUT /products/1/unpublish', { ifMatch, key: 'first' })
        ])
        for (const answer of answers) {
          store.problem(answer, { status: 409, code: 'idempotency.in-flight' })
          expect(answer.headers['retry-after']).to.match(/^[1-9]\d*$/)
        }
      })
    } finally {
      await held.release()
    }
    const orders = await count(store, 'orders')
    expect((await send(store, 'ada POST /orders', write)).status).to.equal(201)
    expect(await count(store, 'orders')).to.equal(orders + 1)
  })

  it('is waited for', async () => {
    const held = await lock(store, KEYS)
    const first = send(store, 'ada POST /orders', { ...write, key: 'waits' })
    try {
      // Long enough for it to wait, and short of the two seconds that it does.
      await Promise.race([first, sleep(300)])
    } finally {
      await held.release()
    }
    expect((await first).status, (await first).text).to.equal(201)
    const again = await send(store, 'ada POST /orders', { ...write, key: 'waits' })
    expect(rowIn(again)).to.deep.equal(rowIn(await first))
    expect(again.headers['idempotent-replayed']).to.equal('true')
  })
})

describeApi('a row that another transaction will not let go', function (store) {
  it('is 412 for guarded writes and 409 for others, once the tries are over', async () => {
    const ifMatch = tagOf(versionOf(rowOf(PRODUCTS, 1)))
    const held = await lock(store, PRODUCT)
    try {
      await changesNothing(store, async () => {
        const [guarded, unguarded] = await Promise.all([
          send(store, 'clerk PUT /products/1/unpublish', { ifMatch }),
          send(store, 'clerk DELETE /products/1')
        ])
        store.problem(guarded, { status: 412, code: 'conflict' })
        store.problem(unguarded, { status: 409, code: 'conflict' })
      })
    } finally {
      await held.release()
    }
    expect((await send(store, 'clerk PUT /products/1/unpublish', { ifMatch })).status).to.equal(200)
  })
})
