import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { makeFolder } from '../../shared/files.js'

describe('folders made on first use', () => {
  let root = ''

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'folders-'))
  })

  afterEach(() => rm(root, { recursive: true, force: true }))

  it('can be made by many at the same moment', async () => {
    for (let round = 0; round < 50; round++) {
      const path = join(root, String(round), 'deep/er/still')
      await Promise.all(Array.from({ length: 20 }, () => makeFolder(path, 0o700)))
      expect((await stat(path)).mode & 0o777).to.equal(0o700)
    }
  })

  it('cannot be made below a file', async () => {
    const outcome = await makeFolder(join(import.meta.filename, 'deep/er')).catch((error: unknown) => error)
    expect(outcome).to.have.property('code', 'ENOTDIR')
  })
})
