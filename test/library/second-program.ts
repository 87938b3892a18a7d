import { parentPort, workerData } from 'node:worker_threads'
import { openTestDatabase } from '../oracle/test-database.js'

// A program that knows of no versions: it adds one to the weight of each fitting that it is told, in a thread of its own,
// since the driver of SQLite waits for a lock without letting anything else run.

const database = await openTestDatabase((workerData as { readonly url: string }).url)
let last: Promise<unknown> = Promise.resolve()

parentPort?.on('message', (id: number | 'end') => {
  last = last.then(async () => {
    if (id === 'end') {
      await database.close()
      parentPort?.close()
    } else {
      await database.run('UPDATE fitting SET weight = COALESCE(weight, 0) + 1 WHERE id = ?', [id])
      parentPort?.postMessage(id)
    }
  })
})
