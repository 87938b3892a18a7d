import { expect } from 'chai'
import { BlobStore, VaultEncryption } from '../../../gateway/key-ring/azure.js'
import { type BlobServer, startBlobServer } from '../../gateway/key-ring/blob-server.js'
import { FakeVault } from '../../gateway/key-ring/fake-vault.js'
import { DAYS } from '../../gateway/key-ring/manual-clock.js'
import { type FakeRenderer, startRenderer } from '../../gateway/renderer/renderer-fixture.js'
import { type Antiforgery, type ReplicaGateway, startReplicaGateway } from './replica-gateway.js'

const MINUTE = 60_000

describe('two gateways on one ring, in a blob, wrapped by a vault', () => {
  let server: BlobServer
  let vault: FakeVault
  let renderer: FakeRenderer
  let gateways: ReplicaGateway[]
  let blob: URL
  let blobs = 0

  before(async () => {
    server = await startBlobServer()
    renderer = await startRenderer()
  })

  beforeEach(async () => {
    gateways = []
    vault = await FakeVault.start()
    blob = await server.blobUrl(`faults-${++blobs}.json`)
  })

  afterEach(async () => {
    for (const gateway of gateways) await gateway.close()
    await vault.stop()
  })

  after(async () => {
    await renderer[Symbol.asyncDispose]()
    await server.dispose()
  })

  const start = async (at = blob): Promise<ReplicaGateway> => {
    const gateway = await startReplicaGateway({
      rendererUrl: renderer.url,
      store: await BlobStore.at(at),
      encryption: new VaultEncryption({
        key: { vault: vault.url, name: 'ring', version: undefined },
        credential: vault.credential
      })
    })
    gateways.push(gateway)
    return gateway
  }

  const stored = async (): Promise<string | undefined> => (await (await BlobStore.at(blob)).read())?.text
  const troubles = ({ replica }: ReplicaGateway): unknown[] =>
    replica.lines.map(({ troubles, msg }) =>
      Array.isArray(troubles) ? troubles.map(({ at }: { at: string }) => at) : msg
    )

  /** Whether each of the tokens gets through at the gateway. */
  async function accepted(gateway: ReplicaGateway, ...tokens: readonly Antiforgery[]): Promise<boolean[]> {
    const answers = await Promise.all(tokens.map((token) => gateway.post(token)))
    for (const answer of answers) {
      if (answer.status !== 200) expect(answer.json()).to.include({ status: 403, code: 'antiforgery.invalid' })
    }
    return answers.map(({ status }) => status === 200)
  }

  const allServed = async (): Promise<void> => {
    for (const gateway of gateways) expect(await gateway.others()).to.deep.equal([200, 200, 200])
  }

  it('accept each other, and store nothing unwrapped', async () => {
    const [one, other] = await Promise.all([start(), start()])
    const tokens = [await one.antiforgery(), await other.antiforgery()]
    expect(await accepted(one, ...tokens)).to.deep.equal([true, true])
    expect(await accepted(other, ...tokens)).to.deep.equal([true, true])
    expect(JSON.parse((await stored()) ?? '')).to.have.nested.property('keys[0].wrapped')
    expect(await stored()).to.not.include('secret')
    expect((await stored())?.match(/"id"/g)).to.have.length(1)
    await allServed()
  })

  it('without a shared ring do not accept each other, and the log says why', async () => {
    const one = await start()
    const other = await start(await server.blobUrl(`faults-${++blobs}.json`))
    expect(await accepted(other, await one.antiforgery())).to.deep.equal([false])
    const line = other.lines.find(({ msg }) => msg === 'antiforgery token refused')
    expect(line?.['why']).to.match(/^cookie: its key is not in this ring: there is no such key in http:.*\.json$/)
  })

  it('serve alone and store nothing while the vault rejects from the start, and share once it does not', async () => {
    vault.rejection = { status: 403, code: 'Forbidden' }
    const [one, other] = [await start(), await start()]
    const early = await one.antiforgery()
    expect(await accepted(one, early)).to.deep.equal([true])
    expect(await accepted(other, early)).to.deep.equal([false])
    expect(await stored()).to.equal(undefined)
    await allServed()
    vault.rejection = undefined
    for (const { replica } of gateways) {
      await replica.clock.pass(1000)
      await replica.upkeep.lookAgain()
    }
    const later = await one.antiforgery()
    expect(await accepted(other, later)).to.deep.equal([true])
    expect(await accepted(one, early)).to.deep.equal([true])
    expect(troubles(one)).to.deep.equal([['wrap'], 'the key ring is in order again'])
    expect(await stored()).to.not.include('secret')
  })

  it('go on when the vault starts to reject later, a new one alone, and roll over when it is back', async () => {
    const [one, other] = [await start(), await start()]
    vault.rejection = { status: 403, code: 'Forbidden' }
    const late = await start()
    for (const { replica } of gateways) {
      await replica.clock.pass(80 * DAYS)
      await replica.upkeep.lookAgain()
    }
    const token = await one.antiforgery()
    expect(await accepted(other, token)).to.deep.equal([true])
    expect(await accepted(late, token)).to.deep.equal([false])
    expect(await accepted(late, await late.antiforgery())).to.deep.equal([true])
    expect(troubles(one)).to.deep.equal([['wrap']])
    expect(troubles(late)).to.deep.equal([['unwrap'], ['unwrap', 'wrap']])
    expect((await stored())?.match(/"id"/g)).to.have.length(1)
    await allServed()
    vault.rejection = undefined
    for (const { replica } of gateways) {
      await replica.clock.pass(20_000)
      await replica.upkeep.lookAgain()
    }
    expect(await accepted(late, token, await one.antiforgery())).to.deep.equal([true, true])
    expect((await stored())?.match(/"id"/g)).to.have.length(2)
    expect((await stored())?.match(/"wrapped"/g)).to.have.length(2)
  })

  it('go on while the blob server is gone, and share again when it is back', async () => {
    const early = await start()
    const token = await early.antiforgery()
    await server.relay.cut()
    let late: ReplicaGateway
    try {
      late = await start()
      await early.replica.clock.pass(MINUTE)
      await early.replica.upkeep.lookAgain()
      expect(await accepted(early, token)).to.deep.equal([true])
      expect(await accepted(late, token)).to.deep.equal([false])
      expect(await accepted(late, await late.antiforgery())).to.deep.equal([true])
      expect([troubles(early), troubles(late)]).to.deep.equal([[['store']], [['store']]])
      await allServed()
    } finally {
      await server.relay.mend()
    }
    for (const { replica } of gateways) {
      await replica.clock.pass(20_000)
      await replica.upkeep.lookAgain()
    }
    expect(await accepted(late, token, await early.antiforgery())).to.deep.equal([true, true])
    expect(await accepted(early, await late.antiforgery())).to.deep.equal([true])
    expect(troubles(late).at(-1)).to.equal('the key ring is in order again')
  })
})
