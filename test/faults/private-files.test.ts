import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { type Stack, startStack } from '../harness/stack.js'

describe('the files under DATA_DIR', () => {
  let dataDir: string
  let stack: Stack | undefined
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'data-'))
    // As `mkdir` makes it.
    await chmod(dataDir, 0o755)
  })
  afterEach(async () => {
    await stack?.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  const start = async (folder: string): Promise<void> => {
    const database = {
      url: `sqlite:${join(folder, 'store.sqlite')}`,
      reviewsUrl: `sqlite:${join(folder, 'reviews.sqlite')}`
    }
    const ring = pathToFileURL(join(folder, 'key-ring.json')).href
    const env = { DATA_DIR: folder, DATA_PROTECTION_BLOB_STORAGE_URI: ring, SAMPLE_DATA: 'false' }
    stack = await startStack({ database, env })
  }
  /** Names with modes, the folder itself as `.`. */
  const modes = async (folder: string): Promise<Record<string, string>> => {
    const names = ['.', ...(await readdir(folder))]
    const found = await Promise.all(names.map(async (name) => [name, (await stat(join(folder, name))).mode] as const))
    return Object.fromEntries(found.map(([name, mode]) => [name, (mode & 0o777).toString(8)]))
  }
  const expectPrivate = async (folder: string): Promise<string[]> => {
    const found = await modes(folder)
    const names = Object.keys(found)
    expect(found).to.deep.equal(Object.fromEntries(names.map((name) => [name, name === '.' ? '700' : '600'])))
    return names
  }
  const MADE = ['.', 'signing-key.pem', 'store.sqlite', 'store.sqlite-wal', 'store.sqlite-shm', 'key-ring.json']

  it('are for the user of the processes alone', async () => {
    const folder = join(dataDir, 'made')
    await start(folder)
    expect(await expectPrivate(folder)).to.include.members(MADE)
  })

  it('are made so where they were for others too, which the log tells', async () => {
    await start(dataDir)
    await stack?.stop()
    for (const name of await readdir(dataDir)) await chmod(join(dataDir, name), 0o644)
    await chmod(dataDir, 0o755)
    await start(dataDir)
    expect(await expectPrivate(dataDir)).to.include.members(MADE)
    const told = stack?.logs().filter(({ msg }) => /is for this user alone now/.test(String(msg))) ?? []
    expect(told.map(({ path, mode }) => `${String(path)} ${String(mode)}`)).to.include.members([
      `${dataDir} 755`,
      `${join(dataDir, 'store.sqlite')} 644`
    ])
  })

  it('leave alone a directory of everybody, and what is not theirs', async () => {
    await chmod(dataDir, 0o1777)
    await writeFile(join(dataDir, 'notes.txt'), 'mine')
    await chmod(join(dataDir, 'notes.txt'), 0o644)
    await start(dataDir)
    expect(await modes(dataDir)).to.include({ '.': '777', 'notes.txt': '644', 'store.sqlite': '600' })
    expect(JSON.stringify(stack?.logs())).to.include('is a directory of everybody')
  })
})
