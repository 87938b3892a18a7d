import { existsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'

// It fails in the first run of its file and passes when the runner runs it once more, alone.
describe('a test that depends on what runs beside it', () => {
  it('fails at first', () => {
    const mark = join(tmpdir(), 'may-be-flaky-has-run')
    const isAlone = existsSync(mark)
    writeFileSync(mark, '')
    process.stdout.write(isAlone ? 'printed alone\n' : 'printed among others\n')
    expect(isAlone, 'it is alone').to.equal(true)
  })
})
