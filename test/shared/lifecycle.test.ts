import { createServer } from 'node:net'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'chai'
import { type Lifecycle, lifecycle } from '../../shared/lifecycle.js'
import { freshDatabase } from '../harness/database.js'
import { outputRoot } from '../harness/package-root.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { startDataServiceHere } from '../stack/in-process.js'

/** A server of three parts that notes what happens to them. */
function noting(): { readonly server: Lifecycle; readonly notes: string[] } {
  const notes: string[] = []
  const server = lifecycle((opened, stopping) => {
    opened.add('first', (part) => notes.push(`closed ${part}`))
    opened.add('second', () => {
      notes.push('closed second')
      throw new Error('the second does not close')
    })
    opened.add('third', (part) => notes.push(`closed ${part}, stopping: ${stopping.aborted}`))
    return Promise.resolve('127.0.0.1:1')
  })
  return { server, notes }
}

describe('the life of a server', () => {
  it('A stopped server closes its parts in the opposite order, each one although another fails, and reports the failure.', async () => {
    const { server, notes } = noting()
    await server.start()
    expect(server.address).to.equal('127.0.0.1:1')
    const failed = await server.stop().catch((error: unknown) => error)
    expect(String(failed)).to.equal('Error: the second does not close')
    expect(notes).to.deep.equal(['closed third, stopping: true', 'closed second', 'closed first'])
  })

  it('A start that fails closes what was opened before, and rejects with its own failure.', async () => {
    const notes: string[] = []
    const server = lifecycle((opened) => {
      opened.add('first', (part) => notes.push(part))
      opened.add('second', (part) => {
        notes.push(part)
        throw new Error('the second does not close')
      })
      return Promise.reject(new Error('the third step fails'))
    })
    const failed = await server.start().catch((error: unknown) => error)
    expect(String(failed)).to.equal('Error: the third step fails')
    expect(notes).to.deep.equal(['second', 'first'])
    expect(() => server.address).to.throw('does not listen')
  })

  it('A server that is stopped while it starts closes what is open, and its start resolves.', async () => {
    const notes: string[] = []
    const server = lifecycle(async (opened, stopping) => {
      opened.add('first', (part) => notes.push(part))
      await once(stopping, 'abort')
      throw stopping.reason
    })
    const started = server.start()
    await server.stop()
    await started
    expect(notes).to.deep.equal(['first'])
  })

  it('A second start and a second stop wait for the first one.', async () => {
    let starts = 0
    let stops = 0
    const server = lifecycle((opened) => {
      starts += 1
      opened.add(undefined, () => (stops += 1))
      return Promise.resolve('here')
    })
    await Promise.all([server.start(), server.start()])
    await Promise.all([server.stop(), server.stop()])
    expect([starts, stops]).to.deep.equal([1, 1])
  })

  it('A data service that cannot listen closes all connections to its databases.', async () => {
    const database = await freshDatabase('mysql')
    const dataDir = await mkdtemp(join(tmpdir(), 'lifecycle-'))
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const address = taken.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const failed = await startDataServiceHere(join(outputRoot, 'examples/store'), {
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      REVIEWS_DATABASE_URL: database.reviewsUrl,
      MIGRATE_AT_START: 'true',
      DATA_SERVICE_ADDRESS: `127.0.0.1:${port}`
    }).catch((error: unknown) => error)
    expect(String(failed)).to.match(/StartError: cannot listen on DATA_SERVICE_ADDRESS/)
    for (const url of [database.url, database.reviewsUrl]) {
      // The server notices the end of a connection a moment later; one that stays open ends this test by its limit.
      await withTestDatabase(url, async (sql) => {
        const others = 'SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()'
        while ((await sql.run(others)).length > 0) await wait(20)
      })
    }
    taken.close()
    await database.dispose()
    await rm(dataDir, { recursive: true })
  })
})
