import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

// runner.test.ts interrupts it. It leaves what a test may have open: a process that nothing asks to end, and a folder.
describe('a test that is interrupted', function () {
  this.timeout(600_000)

  it('passes', async () => {
    await mkdtemp(join(tmpdir(), 'left-by-a-test-'))
    await once(spawn('sleep', ['600'], { stdio: 'ignore' }), 'spawn')
  })

  it('fails', () => {
    expect(1, 'seen before the interruption').to.equal(2)
  })

  it('has no end', async () => {
    await new Promise(() => setTimeout(() => undefined, 600_000))
  })
})
