import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { FileStore } from '../../../gateway/key-ring/ring-stores.js'

describe('file store of the key ring', () => {
  let folder = ''
  let path = ''

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'key-ring-'))
    path = join(folder, 'deep/er/ring.json')
  })

  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('holds nothing at first, then what was written, also for another process', async () => {
    const store = new FileStore(path)
    expect(await store.read()).to.equal(undefined)
    expect(await store.write('one', undefined)).to.equal(true)
    const found = await new FileStore(path).read()
    expect(found?.text).to.equal('one')
    expect(await store.write('two', found?.version)).to.equal(true)
    expect((await new FileStore(path).read())?.text).to.equal('two')
  })

  it('writes over what was read only', async () => {
    const [one, other] = [new FileStore(path), new FileStore(path)]
    expect(await one.write('one', undefined)).to.equal(true)
    expect(await other.write('other', undefined)).to.equal(false)
    const found = await one.read()
    expect(await one.write('two', found?.version)).to.equal(true)
    expect(await other.write('other', found?.version)).to.equal(false)
    expect((await other.read())?.text).to.equal('two')
  })

  it('lets one of many writers at once win', async () => {
    for (const over of [undefined, '1', '2']) {
      const writes = await Promise.all(
        Array.from({ length: 20 }, (_, at) => new FileStore(path).write(`${over}-${at}`, over))
      )
      expect(writes.filter(Boolean), String(over)).to.have.length(1)
      expect((await new FileStore(path).read())?.text, String(over)).to.equal(`${over}-${writes.indexOf(true)}`)
    }
  })

  it('rejects a writer so late that its number is free again', async () => {
    const store = new FileStore(path)
    let version: string | undefined
    for (const text of ['one', 'two', 'three']) {
      await store.write(text, version)
      version = (await store.read())?.version
    }
    expect(await store.write('late', undefined)).to.equal(false)
    expect(await store.write('late', '1')).to.equal(false)
    expect((await store.read())?.text).to.equal('three')
  })

  it('reads the newest state after a crash before its name for people was made', async () => {
    const store = new FileStore(path)
    await store.write('one', undefined)
    const version = (await store.read())?.version
    await writeFile(`${path}.2`, 'two')
    expect((await store.read())?.text).to.equal('two')
    expect(await store.write('other', version)).to.equal(false)
  })

  it('reads a ring that was restored under its name alone', async () => {
    const path = join(folder, 'ring.json')
    await writeFile(path, 'restored')
    const store = new FileStore(path)
    const found = await store.read()
    expect(found?.text).to.equal('restored')
    expect(await store.write('next', found?.version)).to.equal(true)
    expect((await store.read())?.text).to.equal('next')
  })

  it('leaves the newest state under its name and nothing else, for its owner only', async () => {
    const store = new FileStore(path)
    await store.write('one', undefined)
    await store.write('two', '1')
    await store.write('lost', '1')
    expect(await readdir(join(path, '..'))).to.have.members(['ring.json', 'ring.json.2'])
    expect(await readFile(path, 'utf8')).to.equal('two')
    expect((await stat(path)).mode & 0o777).to.equal(0o600)
    expect((await stat(join(path, '..'))).mode & 0o777).to.equal(0o700)
  })

  it('rejects where the path leads through a file, and says so when reading as well', async () => {
    await writeFile(join(folder, 'deep'), '')
    const store = new FileStore(path)
    const failures = await Promise.allSettled([store.read(), store.write('one', undefined)])
    expect(failures.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
  })
})
