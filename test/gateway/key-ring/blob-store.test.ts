import { expect } from 'chai'
import { BlobStore } from '../../../gateway/key-ring/azure.js'
import { describeFailure, parseRing } from '../../../gateway/key-ring/ring-document.js'
import { BLOB_SERVERS, type BlobServer, startBlobServer } from './blob-server.js'
import { ManualClock } from './manual-clock.js'
import { type Replica, startReplica } from './replica.js'

for (const kind of BLOB_SERVERS)
  describe(`blob store of the key ring, on ${kind}`, () => {
    let server: BlobServer
    let replicas: Replica[]
    let blobs = 0
    let name = ''

    before(async function () {
      this.timeout(600_000)
      server = await startBlobServer(kind)
    })

    beforeEach(() => {
      replicas = []
      name = `ring-${++blobs}.json`
    })

    afterEach(() => {
      for (const { upkeep } of replicas) upkeep.close()
    })

    after(() => server.dispose())

    const store = async (permissions?: 'rcw' | 'r'): Promise<BlobStore> =>
      BlobStore.at(await server.blobUrl(name, permissions))
    const start = async (clock = new ManualClock()): Promise<Replica> => {
      const replica = await startReplica({ store: await store(), clock })
      replicas.push(replica)
      return replica
    }

    it('holds nothing at first, then what was written', async () => {
      const [one, other] = [await store(), await store()]
      expect(await one.read()).to.equal(undefined)
      expect(await one.write('one ü', undefined)).to.equal(true)
      const found = await other.read()
      expect(found?.text).to.equal('one ü')
      expect(await other.write('two', found?.version)).to.equal(true)
      expect((await one.read())?.text).to.equal('two')
    })

    it('reads no more than a ring can have', async () => {
      const one = await store()
      await one.write('x'.repeat(256 * 1024 + 1), undefined)
      const said = await one.read().catch(String)
      expect(said).to.include('larger than 262144 bytes')
    })

    it('writes over what was read only', async () => {
      const [one, other] = [await store(), await store()]
      expect(await one.write('one', undefined)).to.equal(true)
      expect(await other.write('other', undefined)).to.equal(false)
      const version = (await one.read())?.version
      expect(await one.write('two', version)).to.equal(true)
      expect(await other.write('other', version)).to.equal(false)
      expect((await other.read())?.text).to.equal('two')
    })

    it('lets one of many writers at once win', async () => {
      const stores = await Promise.all(Array.from({ length: 10 }, () => store()))
      for (const round of ['first', 'second']) {
        const version = (await stores[0]?.read())?.version
        const writes = await Promise.all(stores.map((one, at) => one.write(`${round} ${at}`, version)))
        expect(writes.filter(Boolean), round).to.have.length(1)
        expect((await stores[0]?.read())?.text, round).to.equal(`${round} ${writes.indexOf(true)}`)
      }
    })

    it('makes one ring of replicas that start at the same moment', async () => {
      const started = await Promise.all(Array.from({ length: 6 }, () => start()))
      for (const one of started)
        for (const [at, other] of started.entries()) expect(await one.accepts(other), `case ${at}`).to.equal(true)
      expect(parseRing((await (await store()).read())?.text ?? '')).to.have.length(1)
    })

    it('never shows its signature', async () => {
      const reader = await store('r')
      expect(reader.place).to.equal(`${new URL(server.container.url).href}/${name}`)
      const failure: unknown = await reader.write('one', undefined).catch((error: unknown) => error)
      expect(describeFailure(failure)).to.match(/^403 AuthorizationPermissionMismatch /)
      expect(describeFailure(failure)).to.not.match(/sig=|sv=/)
    })

    it('says of a signature that has ended when it ended, and serves without the ring', async () => {
      const early = await start()
      const ended = await BlobStore.at(await server.blobUrl(name, 'rcw', new Date('2026-01-02T03:04:05Z')))
      const late = await startReplica({ store: ended })
      replicas.push(late)
      expect([await late.accepts(late), await late.accepts(early), await early.accepts(late)]).to.deep.equal([
        true,
        false,
        false
      ])
      expect(late.lines[0]?.['msg']).to.match(/not to be had; a key of this process alone serves/)
      const why =
        /^403 AuthorizationFailure The signature in DATA_PROTECTION_BLOB_STORAGE_URI ended at 2026-01-02T03:04:05\.000Z\. /
      const failures = [ended.read(), ended.write('one', undefined)]
      for (const failure of failures) {
        const described = describeFailure(await failure.catch((error: unknown) => error))
        expect(described).to.match(why)
        expect(described).to.not.match(/sig=|sv=/)
      }
      expect(late.lines[0]?.['troubles']).to.have.property('0').with.property('detail').that.matches(why)
    })

    it('says nothing of a signature that is good and does not permit what was tried', async () => {
      const reader = await BlobStore.at(await server.blobUrl(name, 'r', new Date(Date.now() + 3_600_000)))
      const failure: unknown = await reader.write('one', undefined).catch((error: unknown) => error)
      expect(describeFailure(failure)).to.match(/^403 AuthorizationPermissionMismatch /)
      expect(describeFailure(failure)).to.not.match(/ended/)
    })

    it('serves on while the blob server is gone, and takes the ring up again when it is back', async () => {
      const early = await start()
      await server.relay.cut()
      const late = await start()
      try {
        await early.clock.pass(60_000)
        expect(await late.accepts(late)).to.equal(true)
        expect(await late.accepts(early)).to.equal(false)
        expect(await early.accepts(early)).to.equal(true)
        expect(late.lines[0]?.['msg']).to.match(/not to be had; a key of this process alone serves/)
      } finally {
        await server.relay.mend()
      }
      await late.clock.pass(1000)
      await late.upkeep.lookAgain()
      expect(await early.accepts(late)).to.equal(true)
      expect(await late.accepts(early)).to.equal(true)
      expect(late.lines.at(-1)?.['msg']).to.equal('the key ring is in order again')
    })
  })
