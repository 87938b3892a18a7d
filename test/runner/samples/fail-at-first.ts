import { existsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'

/** Declares a test that fails in the first run of its file and passes when the runner runs it once more, alone. */
export function failAtFirst(file: string): void {
  describe('a test that depends on what runs beside it', () => {
    it('fails at first', () => {
      const mark = join(tmpdir(), `${file}-has-run`)
      const isAlone = existsSync(mark)
      writeFileSync(mark, '')
      process.stdout.write(isAlone ? 'printed alone\n' : 'printed among others\n')
      expect(isAlone, 'it is alone').to.equal(true)
    })
  })
}
