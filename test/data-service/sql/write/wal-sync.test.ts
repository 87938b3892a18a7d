import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { WalSync } from '../../../../data-service/sql/write/wal-sync.js'
import { failure } from './failure.js'

describe('syncs of the write-ahead log', () => {
  let folder: string
  let sync: WalSync
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wal-'))
    sync = new WalSync(join(folder, 'store.sqlite'))
  })
  afterEach(async () => {
    await sync.close()
    await rm(folder, { recursive: true })
  })

  it('are shared by those that ask at the same time, and not with those that ask during one', async () => {
    await writeFile(join(folder, 'store.sqlite-wal'), 'frames')
    const [first, second] = [sync.flush(), sync.flush()]
    expect(second).to.equal(first)
    // The first sync has begun, the file is being opened.
    await Promise.resolve()
    await Promise.resolve()
    const later = sync.flush()
    expect(later).to.not.equal(first)
    await Promise.all([first, later])
  })

  it('are none where SQLite keeps no such log', () => sync.flush())

  it('that fail are told, and tried again the next time', async () => {
    const elsewhere = new WalSync(join(folder, 'missing', '\0'))
    expect(await failure(elsewhere.flush())).to.be.instanceOf(Error)
    expect(await failure(elsewhere.flush())).to.be.instanceOf(Error)
    await elsewhere.close()
  })
})
