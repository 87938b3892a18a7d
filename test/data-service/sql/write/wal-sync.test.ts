import { type FileHandle, mkdtemp, open, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { WalSync } from '../../../../data-service/sql/engines/sqlite/sqlite-sessions.js'
import { failure } from './failure.js'
import { entity, type FreshWriteStore, freshWriteStore, never } from './fresh-write-store.js'
import { insertPlan } from './write-plan-by-hand.js'

/** The syncs of this process: each waits for the test to let it end. */
class HeldSyncs {
  readonly #methods: FileHandle
  readonly #datasync: FileHandle['datasync']
  readonly #held: { readonly succeed: () => void; readonly fail: (error: Error) => void }[] = []
  #begun = 0
  #ended = 0

  private constructor(methods: FileHandle) {
    this.#methods = methods
    this.#datasync = methods.datasync
    methods.datasync = () =>
      new Promise<void>((resolve, reject) => {
        this.#begun += 1
        this.#held.push({ succeed: resolve, fail: reject })
      }).finally(() => (this.#ended += 1))
  }

  static async hold(file: string): Promise<HeldSyncs> {
    const handle = await open(file, 'w')
    await handle.close()
    // Every handle has its methods from here.
    return new HeldSyncs(Object.getPrototypeOf(handle) as FileHandle)
  }

  /** How many began and how many of them ended. */
  get counts(): readonly [begun: number, ended: number] {
    return [this.#begun, this.#ended]
  }

  /** Resolves when a sync has begun that has not ended. */
  async begun(): Promise<void> {
    while (this.#held.length === 0) await new Promise((resolve) => setImmediate(resolve))
  }

  /** Ends the sync that has run longest. */
  end(error?: Error): void {
    const one = this.#held.shift()
    if (one === undefined) throw new Error('No sync runs')
    if (error === undefined) one.succeed()
    else one.fail(error)
  }

  /** Ends those that run, and gives the real method back. */
  release(): void {
    this.#methods.datasync = this.#datasync
    for (const { succeed } of this.#held.splice(0)) succeed()
  }
}

/** Turns of the event loop in which whatever does not wait would have come to its end. */
async function someTurns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1))
}

describe('syncs of the write-ahead log', () => {
  let folder: string
  let sync: WalSync
  let syncs: HeldSyncs
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'wal-'))
    sync = new WalSync(join(folder, 'store.sqlite'))
    syncs = await HeldSyncs.hold(join(folder, 'any'))
    await rm(join(folder, 'any'))
  })
  afterEach(async () => {
    syncs.release()
    await sync.close()
    await rm(folder, { recursive: true })
  })

  it('are shared by those that ask at the same time, and not with those that ask during one', async () => {
    await writeFile(join(folder, 'store.sqlite-wal'), 'frames')
    const ended: string[] = []
    const noted = (name: string): Promise<void> => sync.flush().then(() => void ended.push(name))
    const together = [noted('first'), noted('second')]
    await syncs.begun()
    const later = noted('later')
    await someTurns()
    expect([syncs.counts, ended], 'while the first sync runs').to.deep.equal([[1, 0], []])
    syncs.end()
    await Promise.all(together)
    await syncs.begun()
    await someTurns()
    expect([syncs.counts, ended], 'while the second sync runs').to.deep.equal([
      [2, 1],
      ['first', 'second']
    ])
    syncs.end()
    await later
    expect(ended).to.deep.equal(['first', 'second', 'later'])
  })

  it('are none where SQLite keeps no such log, and make no file', async () => {
    await sync.flush()
    expect(syncs.counts).to.deep.equal([0, 0])
    expect(await readdir(folder)).to.deep.equal([])
  })

  it('that fail are told to all who wait for them, and tried again the next time', async () => {
    await writeFile(join(folder, 'store.sqlite-wal'), 'frames')
    const broken = new Error('EIO')
    const both = [failure(sync.flush()), failure(sync.flush())]
    await syncs.begun()
    syncs.end(broken)
    expect(await Promise.all(both)).to.deep.equal([broken, broken])
    const again = sync.flush()
    await syncs.begun()
    syncs.end()
    await again
    expect(syncs.counts).to.deep.equal([2, 2])
  })

  it('fail where the log cannot be opened, each time anew', async () => {
    const elsewhere = new WalSync(join(folder, 'missing', '\0'))
    for (const time of ['first', 'second']) {
      expect(await failure(elsewhere.flush()), time).to.include({ code: 'ERR_INVALID_ARG_VALUE' })
    }
    await elsewhere.close()
  })
})

describe('a COMMIT on SQLite', () => {
  let fresh: FreshWriteStore
  let folder: string
  let syncs: HeldSyncs
  beforeEach(async () => {
    fresh = await freshWriteStore('sqlite')
    folder = await mkdtemp(join(tmpdir(), 'wal-'))
    syncs = await HeldSyncs.hold(join(folder, 'any'))
  })
  afterEach(async () => {
    syncs.release()
    await rm(folder, { recursive: true })
    await fresh.dispose()
  })

  const insert = (slug: string): Promise<unknown> =>
    fresh.store.transaction(never, (unit) => unit.insert(insertPlan(entity('categories'), { name: slug, slug })))

  it('is told to its caller after the write-ahead log is on the disk, and not before', async () => {
    let told = false
    const writing = insert('leaf').then(() => (told = true))
    await syncs.begun()
    await someTurns()
    expect(told, 'told while the sync still runs').to.equal(false)
    syncs.end()
    await writing
    expect(syncs.counts).to.deep.equal([1, 1])
  })

  it('whose sync fails is told as one that may have been made, and is not made again', async () => {
    const writing = failure(insert('leaf'))
    await syncs.begun()
    syncs.end(new Error('EIO'))
    const error = await writing
    expect(error).to.include({ code: 'upstream.unavailable' })
    expect(String(error)).to.contain('may have been made')
    expect(syncs.counts).to.deep.equal([1, 1])
    expect(await fresh.byHand.run('SELECT slug FROM categories')).to.have.length(1)
  })

  it('lets the next transaction go on while its sync runs, which shares no sync that began before it', async () => {
    const first = insert('leaf')
    await syncs.begun()
    const second = insert('twig')
    while ((await fresh.byHand.run('SELECT slug FROM categories')).length < 2) await someTurns()
    expect(syncs.counts, 'syncs while the first runs').to.deep.equal([1, 0])
    syncs.end()
    await first
    await syncs.begun()
    syncs.end()
    await second
    expect(syncs.counts).to.deep.equal([2, 2])
  })
})
