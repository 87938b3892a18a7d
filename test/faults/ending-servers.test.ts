import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { createConnection } from 'mysql2/promise'
import { etagOf, rowIn, sendTo, type Write } from '../api/writes/send.js'
import { accepts } from '../harness/local-server.js'
import { startStack } from '../harness/stack.js'
import { storeDatabase } from '../harness/store-database.js'

// test/rolling/ ends and replaces processes under load, in the soak.
describe('a gateway and its data service that are told to end', () => {
  it('finish the writes that are under way, and accept nothing else', async () => {
    const database = await storeDatabase('mysql', 'fixture')
    const stack = await startStack({ database, env: { SAMPLE_DATA: 'false' } })
    // Reads go on while a table is locked for reading, and writes wait.
    const locking = await createConnection({ uri: database.url })
    try {
      const token = await stack.token('clerk@example.com')
      const send = (method: string, target: string, write: Write) => sendTo(stack.url, { method, target, token }, write)
      const read = await send('GET', '/products/1', {})
      const product = { name: 'Ending', sku: 'ENDING', categoryId: 1, price: '2.00', isActive: true }
      await locking.query('LOCK TABLES products READ')
      const writes = [
        send('POST', '/products', { body: product, key: 'ending' }),
        send('PUT', '/products/1', { body: { ...product, sku: 'ENDING-1' }, ifMatch: etagOf(read) })
      ]
      const waiting = async (): Promise<number> => {
        const [rows] = await locking.query(
          "SELECT id FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND STATE LIKE 'Waiting for table%'"
        )
        return (rows as readonly unknown[]).length
      }
      while ((await waiting()) < writes.length) await sleep(20)
      const ended = [stack.dataService.stop(), stack.gateway.stop()]
      for (const address of [stack.dataAddress, new URL(stack.url).host]) while (await accepts(address)) await sleep(20)
      await locking.query('UNLOCK TABLES')
      const answers = await Promise.all(writes)
      expect(answers.map(({ status }) => status)).to.deep.equal([201, 200])
      expect(answers.map((answer) => rowIn(answer)['sku'])).to.deep.equal(['ENDING', 'ENDING-1'])
      await Promise.all(ended)
    } finally {
      await locking.end()
      await stack.stop()
      await database.dispose()
    }
  })
})
