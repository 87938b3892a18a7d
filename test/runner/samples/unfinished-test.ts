import { expect } from 'chai'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freshDatabase } from '../../harness/database.js'
import { startStack } from '../../harness/stack.js'
import { startPrivateServer } from '../database-server.js'

// runner.test.ts interrupts it. It leaves all that a test may have open: a database server of its own, a data service
// and a gateway, and folders.
describe('a test that is interrupted', function () {
  this.timeout(600_000)

  it('passes', async () => {
    await mkdtemp(join(tmpdir(), 'left-by-a-test-'))
    await startPrivateServer()
    await startStack({ database: await freshDatabase('sqlite') })
  })

  it('fails', () => {
    expect(1, 'seen before the interruption').to.equal(2)
  })

  it('has no end', async () => {
    await new Promise(() => undefined)
  })
})
