import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { describeApi } from '../../api/api-store.js'
import { rowIn, send } from '../../api/writes/send.js'
import { count } from '../../api/writes/stored.js'
import { outputRoot } from '../../harness/package-root.js'
import { withTestDatabase } from '../../oracle/test-database.js'
import { startDataServiceHere } from '../../stack/in-process.js'

/** More than one batch. */
const EXPIRED = 450

describeApi('idempotency keys past their time', (store) => {
  it('are purged, and those in their time are not', async () => {
    const body = { lines: [{ productId: 1, quantity: 1 }] }
    const first = await send(store, 'ada POST /orders', { body, key: 'kept' })
    expect(first.status, first.text).to.equal(201)
    await withTestDatabase(store.databaseUrl, async (database) => {
      for (let from = 0; from < EXPIRED; from += 50) {
        const rows = Array.from({ length: 50 }, (_, n) => [hash(from + n), hash(0), Buffer.from('[]'), 1, from + n])
        const tuples = rows.map(() => '(?, ?, ?, ?, ?)').join(', ')
        await database.run(
          `INSERT INTO ur_idempotency_keys (key_hash, fingerprint, answer, created_at, expires_at) VALUES ${tuples}`,
          rows.flat()
        )
      }
    })
    const { databaseUrl: DATABASE_URL, database, dataDir: DATA_DIR } = store
    const env = { DATA_DIR, DATABASE_URL, REVIEWS_DATABASE_URL: database.reviewsUrl, SAMPLE_DATA: 'false' }
    const address = { DATA_SERVICE_ADDRESS: '127.0.0.1:0' }
    const { server } = await startDataServiceHere(
      join(outputRoot, 'examples/store'),
      { ...env, ...address },
      { purgeEvery: 50 }
    )
    while ((await count(store, 'ur_idempotency_keys')) > 1) await sleep(20)
    await server.stop()
    expect(await count(store, 'ur_idempotency_keys')).to.equal(1)
    const again = await send(store, 'ada POST /orders', { body, key: 'kept' })
    expect(again.headers['idempotent-replayed']).to.equal('true')
    expect(rowIn(again)).to.deep.equal(rowIn(first))
  })
})

function hash(n: number): Buffer {
  const bytes = Buffer.alloc(32, 0xab)
  bytes.writeUInt32BE(n)
  return bytes
}
