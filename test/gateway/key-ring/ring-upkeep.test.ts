import { expect } from 'chai'
import { FakeEncryption } from './fake-encryption.js'
import { DAYS, ManualClock } from './manual-clock.js'
import { MemoryStore } from './memory-store.js'
import { MESSAGE, PURPOSE, startReplica, verdictOn, type Replica } from './replica.js'

const MINUTE = 60_000

describe('upkeep of the key ring', () => {
  let store: MemoryStore
  let replicas: Replica[]

  beforeEach(() => {
    store = new MemoryStore()
    replicas = []
  })

  afterEach(() => {
    for (const { upkeep } of replicas) upkeep.close()
  })

  const start = async (encryption?: FakeEncryption, clock = new ManualClock()): Promise<Replica> => {
    const replica = await startReplica({ store, encryption, clock })
    replicas.push(replica)
    return replica
  }
  const warnings = ({ lines }: Replica): unknown[] => lines.map(({ level, msg }) => `${String(level)}: ${String(msg)}`)

  it('makes replicas accept each other, those that start at the same moment included', async () => {
    const [one, other] = await Promise.all([start(), start()])
    expect([await one.accepts(other), await other.accepts(one)]).to.deep.equal([true, true])
    expect(store.writes).to.equal(1)
    expect(one.lines).to.deep.equal([])
  })

  it('looks every minute, and rolls the key over without a moment at which replicas differ', async () => {
    const clock = new ManualClock()
    const [one, other] = [await start(undefined, clock), await start(undefined, clock)]
    const old = one.ring.sign(PURPOSE, MESSAGE)
    expect(clock.next).to.equal(MINUTE)
    for (let day = 0; day < 100; day++) {
      await clock.pass(DAYS)
      expect([await one.accepts(other), await other.accepts(one)], `day ${day}`).to.deep.equal([true, true])
    }
    expect(one.ring.sign(PURPOSE, MESSAGE).keyId).to.not.equal(old.keyId)
    expect(one.ring.sign(PURPOSE, MESSAGE).keyId).to.equal(other.ring.sign(PURPOSE, MESSAGE).keyId)
    expect(await other.ring.verify(PURPOSE, MESSAGE, old)).to.deep.equal({ valid: true })
    expect(store.writes).to.equal(2)
  })

  it('says that it found unwrapped keys where they are wrapped, and uses them neither to sign nor to verify', async () => {
    const before = await start()
    const after = await start(new FakeEncryption())
    expect(await after.accepts(before)).to.equal(false)
    expect(after.ring.sign(PURPOSE, MESSAGE).keyId).to.not.equal(before.ring.sign(PURPOSE, MESSAGE).keyId)
    expect(warnings(after)[0]).to.equal(
      'warn: the key ring held keys that any writer of its store can have made, which are not used'
    )
    expect(after.lines[0]?.['troubles']).to.deep.equal([
      {
        at: 'unwrapped',
        detail: `keys that lie unwrapped in the ring are not used: ${before.ring.sign(PURPOSE, MESSAGE).keyId}`
      }
    ])
    expect(after.upkeep.failures).to.equal(0)
  })

  it('serves with a key of the process while the store is gone from the start, and takes the ring up when it is back', async () => {
    store.failure = new Error('gone')
    const [one, other] = [await start(), await start()]
    const early = one.ring.sign(PURPOSE, MESSAGE)
    expect(await verdictOn(other.ring, one.ring)).to.deep.equal({
      valid: false,
      why: 'its key is not in this ring: gone'
    })
    const delays: number[] = []
    for (let retry = 0; retry < 7; retry++) {
      delays.push(one.clock.next)
      await one.clock.pass(one.clock.next)
    }
    expect(delays).to.deep.equal([1000, 2000, 4000, 8000, 15_000, 15_000, 15_000])
    expect(one.upkeep.failures).to.equal(8)
    expect(warnings(one)).to.deep.equal([
      'warn: the key ring is not to be had; a key of this process alone serves meanwhile, and other replicas do not accept what it signs'
    ])
    store.failure = undefined
    for (const { clock } of [one, other]) await clock.pass(clock.next)
    expect([await one.accepts(other), await other.accepts(one)]).to.deep.equal([true, true])
    expect(await one.ring.verify(PURPOSE, MESSAGE, early)).to.deep.equal({ valid: true })
    expect(warnings(one)[1]).to.equal('info: the key ring is in order again')
    expect(one.lines[1]).to.include({ failures: 8, keys: 1 })
    expect(one.clock.next).to.equal(MINUTE)
  })

  it('goes on with the keys that it has when the store is gone later', async () => {
    const [one, other] = [await start(), await start()]
    store.failure = new Error('gone')
    for (const { clock } of [one, other]) await clock.pass(MINUTE)
    expect([await one.accepts(other), await other.accepts(one)]).to.deep.equal([true, true])
    expect(warnings(one)).to.deep.equal([
      'warn: the key ring is in trouble; the keys known from before serve meanwhile'
    ])
  })

  it('looks at once for a key that it does not know, but not for every one', async () => {
    const clock = new ManualClock()
    store.failure = new Error('gone')
    const one = await start(undefined, clock)
    store.failure = undefined
    const other = await start()
    expect(await one.accepts(other)).to.equal(false)
    const reads = store.reads
    const strange = { keyId: 'x'.repeat(16), mac: Buffer.alloc(32) }
    await Promise.all(Array.from({ length: 50 }, () => one.ring.verify(PURPOSE, MESSAGE, strange)))
    expect(store.reads).to.equal(reads)
    await clock.pass(999)
    expect(await one.accepts(other)).to.equal(false)
    await clock.pass(1)
    expect(await one.accepts(other)).to.equal(true)
  })

  it('asks once for all who wait for the same look', async () => {
    const one = await start()
    await one.clock.pass(2000)
    const reads = store.reads
    const strange = { keyId: 'x'.repeat(16), mac: Buffer.alloc(32) }
    await Promise.all(Array.from({ length: 50 }, () => one.ring.verify(PURPOSE, MESSAGE, strange)))
    expect(store.reads).to.equal(reads + 1)
  })

  it('waits neither at the start nor for a request longer than five seconds', async () => {
    const clock = new ManualClock()
    store.read = () => new Promise(() => undefined)
    const starting = start(undefined, clock)
    await clock.pass(5000)
    const one = await starting
    const verdict = one.ring.verify(PURPOSE, MESSAGE, { keyId: 'x'.repeat(16), mac: Buffer.alloc(32) })
    await clock.pass(5000)
    expect((await verdict).valid).to.equal(false)
    expect(await one.accepts(one)).to.equal(true)
  })

  it('tells in the log what of the vault fails, once for each change', async () => {
    const encryption = new FakeEncryption()
    encryption.rejection = new Error('no grant')
    const one = await start(encryption)
    for (let retry = 0; retry < 3; retry++) await one.clock.pass(one.clock.next)
    expect(store.stored).to.equal(undefined)
    expect(one.lines).to.have.length(1)
    expect(one.lines[0]).to.deep.include({ troubles: [{ at: 'wrap', detail: 'no grant' }], keys: 0 })
    encryption.rejection = undefined
    await one.clock.pass(one.clock.next)
    expect(await (await start(encryption)).accepts(one)).to.equal(true)
    expect(one.lines).to.have.length(2)
  })

  it('does not retry for keys that nobody here can ever unwrap', async () => {
    await start(new FakeEncryption('https://old.test/keys/ring'))
    const one = await start(new FakeEncryption())
    expect(one.lines[0]).to.deep.include({ level: 'warn', failures: 0 })
    expect(one.clock.next).to.equal(MINUTE)
    expect(await (await start(new FakeEncryption())).accepts(one)).to.equal(true)
  })

  it('looks no more once it is closed', async () => {
    const one = await start()
    one.upkeep.close()
    expect(one.clock.next).to.equal(Number.POSITIVE_INFINITY)
  })
})
