import { expect } from 'chai'
import { parseRing, ringText, type StoredKey, type WrappedKey } from '../../../gateway/key-ring/ring-document.js'
import { type RingState, SharedRing } from '../../../gateway/key-ring/shared-ring.js'
import { FakeEncryption } from './fake-encryption.js'
import { DAYS, ManualClock } from './manual-clock.js'
import { MemoryStore } from './memory-store.js'

describe('shared ring', () => {
  let store: MemoryStore
  let clock: ManualClock
  let encryption: FakeEncryption

  beforeEach(() => {
    store = new MemoryStore()
    clock = new ManualClock()
    encryption = new FakeEncryption()
  })

  const bare = (): SharedRing => new SharedRing({ store, now: clock.now })
  const wrapping = (by = encryption): SharedRing => new SharedRing({ store, encryption: by, now: clock.now })
  const ids = ({ keys }: RingState): string[] | undefined => keys?.map(({ id }) => id)
  const places = ({ problems }: RingState): string[] => problems.map(({ at }) => at)

  it('makes the first key, which the next replica reads', async () => {
    const first = await bare().look()
    const second = await bare().look()
    expect(first.keys).to.have.length(1)
    expect(first.keys?.[0]?.secret).to.have.length(32)
    expect(second.keys).to.deep.equal(first.keys)
    expect(store.writes).to.equal(1)
  })

  it('takes up the ring of whoever was faster', async () => {
    let other: RingState | undefined
    store.beforeWrite = async () => {
      other = await bare().look()
    }
    const mine = await bare().look()
    expect(mine.keys).to.have.length(1)
    expect(mine.keys).to.deep.equal(other?.keys)
    expect(store.writes).to.equal(1)
  })

  it('adds the next key before the last one expires, keeps old ones for reading, and drops them in the end', async () => {
    const [first] = ids(await bare().look()) ?? []
    await clock.pass(76 * DAYS - 1)
    expect(ids(await bare().look())).to.deep.equal([first])
    await clock.pass(1)
    const [, second] = ids(await bare().look()) ?? []
    await clock.pass(76 * DAYS)
    const [, , third] = ids(await bare().look()) ?? []
    expect(ids(await bare().look())).to.deep.equal([first, second, third])
    await clock.pass(76 * DAYS)
    expect(parseRing(store.stored?.text ?? '')).to.have.length(3)
    const last = ids(await bare().look()) ?? []
    expect(last.slice(0, 2)).to.deep.equal([second, third])
    expect(last).to.have.length(3)
    expect(parseRing(store.stored?.text ?? '')).to.have.length(3)
  })

  it('tells of a store out of reach, and keeps what could be read where it cannot be written', async () => {
    store.failure = new Error('gone')
    expect(await bare().look()).to.deep.equal({ keys: undefined, problems: [{ at: 'store', detail: 'gone' }] })
    store.failure = undefined
    const first = await bare().look()
    await clock.pass(80 * DAYS)
    store.writeFailure = new Error('read-only')
    const second = await bare().look()
    expect(second).to.deep.equal({ keys: first.keys, problems: [{ at: 'store', detail: 'read-only' }] })
  })

  it('never overwrites what is no ring, nor quotes it', async () => {
    for (const text of ['', 'secret', '[]', '{"format":2,"keys":[]}', '{"format":1,"keys":[{}]}', 'null']) {
      store.stored = { text, version: 'x' }
      const { keys, problems } = await bare().look()
      expect(keys, JSON.stringify(text)).to.equal(undefined)
      expect(problems[0]?.detail, JSON.stringify(text)).to.match(/^What is stored there is not a key ring \(\w+\)\.$/)
      expect(store.stored.text, JSON.stringify(text)).to.equal(text)
    }
  })

  describe('with a key-encryption key', () => {
    it('stores keys wrapped, which another replica unwraps once', async () => {
      const first = await wrapping().look()
      expect(places(first)).to.deep.equal([])
      const [key] = parseRing(store.stored?.text ?? '')
      expect(key?.secret).to.equal(undefined)
      expect(store.stored?.text).to.not.include(first.keys?.[0]?.secret.toString('base64') ?? '')
      const replica = wrapping()
      expect((await replica.look()).keys).to.deep.equal(first.keys)
      await replica.look()
      expect([encryption.unwraps, encryption.verifications]).to.deep.equal([1, 1])
    })

    it('stores nothing while it rejects', async () => {
      encryption.rejection = new Error('no grant')
      expect(await wrapping().look()).to.deep.equal({ keys: [], problems: [{ at: 'wrap', detail: 'no grant' }] })
      expect(store.stored).to.equal(undefined)
    })

    it('goes on with the keys that it knows when it rejects later', async () => {
      const ring = wrapping()
      const { keys } = await ring.look()
      encryption.rejection = new Error('no grant')
      expect(await ring.look()).to.deep.equal({ keys, problems: [] })
      await clock.pass(80 * DAYS)
      expect(await ring.look()).to.deep.equal({ keys, problems: [{ at: 'wrap', detail: 'no grant' }] })
      expect(await wrapping().look()).to.deep.equal({
        keys: [],
        problems: [
          { at: 'unwrap', detail: 'no grant' },
          { at: 'wrap', detail: 'no grant' }
        ]
      })
      expect(parseRing(store.stored?.text ?? '')).to.have.length(1)
    })

    it('uses no key that it finds in the clear, whoever put it there: it makes a wrapped one in its place', async () => {
      const [planted] = ids(await bare().look()) ?? []
      encryption.rejection = new Error('no grant')
      const rejected = await wrapping().look()
      expect(rejected.keys).to.deep.equal([])
      expect(places(rejected)).to.deep.equal(['unwrapped', 'wrap'])
      encryption.rejection = undefined
      const first = await wrapping().look()
      expect(first.keys).to.have.length(1)
      expect(ids(first)).to.not.include(planted)
      expect(first.problems).to.deep.equal([
        { at: 'unwrapped', detail: `keys that lie unwrapped in the ring are not used: ${planted}` }
      ])
      const [stored, ...others] = parseRing(store.stored?.text ?? '')
      expect([stored?.id, stored?.secret, others.length]).to.deep.equal([ids(first)?.[0], undefined, 0])
      expect(await wrapping().look()).to.deep.equal({ keys: first.keys, problems: [] })
    })

    it('does away with a key in the clear that is put beside wrapped ones, even one of the same id', async () => {
      const { keys } = await wrapping().look()
      const wrapped = parseRing(store.stored?.text ?? '')
      const planted = wrapped.map(({ wrapped: _wrapped, ...dates }) => ({ ...dates, secret: Buffer.alloc(32) }))
      store.stored = { text: ringText([...planted, ...wrapped]), version: 'planted' }
      store.writes = 7
      const looked = await wrapping().look()
      expect(looked.keys).to.deep.equal(keys)
      expect(places(looked)).to.deep.equal(['unwrapped'])
      expect(parseRing(store.stored.text)).to.deep.equal(wrapped)
    })

    it('lets nobody without it add a key in the clear', async () => {
      await wrapping().look()
      await clock.pass(200 * DAYS)
      const before = store.stored
      const { keys, problems } = await bare().look()
      expect(keys).to.deep.equal([])
      expect(store.stored).to.equal(before)
      expect(problems[0]?.detail).to.match(/wrapped, and DATA_PROTECTION_KEY_VAULT_KEY_URI is not set/)
    })

    it('adds a key of its own to those of another key-encryption key, once', async () => {
      const [old] = ids(await wrapping(new FakeEncryption('https://old.test/keys/ring')).look()) ?? []
      const first = await wrapping().look()
      expect(first.keys).to.have.length(1)
      expect(ids(first)).to.not.include(old)
      expect(places(first)).to.deep.equal(['foreign'])
      expect((await wrapping().look()).keys).to.deep.equal(first.keys)
      expect(parseRing(store.stored?.text ?? '')).to.have.length(2)
    })

    describe('whose store somebody else can write', () => {
      const far = new Date('9999-12-31')
      const entries = (): WrappedKey[] =>
        parseRing(store.stored?.text ?? '').map((key) => {
          if (key.wrapped === undefined) throw new Error('a key is stored in plain form')
          return key
        })
      const tamper = (keys: readonly StoredKey[]): void => {
        store.stored = { text: ringText(keys), version: 'tampered' }
        store.writes = 7
      }
      /** An entry of a key that its maker knows: wrapping takes no more than a public key. */
      const planted = async (): Promise<WrappedKey> => {
        const [{ signature: _signature, ...dates } = expect.fail()] = entries()
        const wrapped = await encryption.wrap(Buffer.alloc(32, 7))
        return { ...dates, id: 'A'.repeat(16), expires: far, wrapped }
      }

      it('uses no wrapped key that the vault has not signed, and makes one in its place', async () => {
        const { keys } = await wrapping().look()
        const [genuine] = entries()
        const without = await planted()
        const copied = { ...without, signature: genuine?.signature ?? Buffer.alloc(0) }
        for (const [at, entry] of [
          ['unsigned', without],
          ['forged', copied],
          ['forged', { ...without, signature: Buffer.alloc(32) }]
        ] as const) {
          tamper([entry])
          const looked = await wrapping().look()
          expect(places(looked), at).to.deep.equal([at])
          expect(looked.problems[0]?.detail, at).to.match(/ are not used: A{16}$/)
          expect(looked.keys, at).to.have.length(1)
          expect(ids(looked), at).to.not.include.members([entry.id, ...(keys ?? []).map(({ id }) => id)])
          expect(
            entries().map(({ id }) => id),
            at
          ).to.deep.equal(ids(looked))
          expect(places(await wrapping().look()), at).to.deep.equal([])
        }
      })

      it('lets nobody change the dates, the id or the wrapping of a signed key', async () => {
        await wrapping().look()
        const [genuine = expect.fail()] = entries()
        const changes: readonly Partial<WrappedKey>[] = [
          { expires: far },
          { activates: new Date(0) },
          { created: new Date(0) },
          { id: 'B'.repeat(16) },
          { wrapped: { ...genuine.wrapped, by: `${encryption.place}/2` } },
          { wrapped: await encryption.wrap(Buffer.alloc(32, 7)) }
        ]
        for (const change of changes) {
          tamper([{ ...genuine, ...change }])
          const looked = await wrapping().look()
          expect(places(looked), JSON.stringify(change)).to.deep.equal(['forged'])
          expect(looked.keys, JSON.stringify(change)).to.have.length(1)
          expect(ids(looked), JSON.stringify(change)).to.not.include(genuine.id)
        }
      })

      it('goes on with the keys that it has verified, and stores them again as they were', async () => {
        const ring = wrapping()
        const { keys } = await ring.look()
        const before = entries()
        const [genuine = expect.fail()] = before
        const { signature: _signature, ...unsigned } = genuine
        for (const tampered of [
          [{ ...genuine, expires: new Date(0) }],
          [unsigned],
          [unsigned, genuine],
          [genuine, await planted()]
        ]) {
          tamper(tampered)
          const looked = await ring.look()
          expect(looked.keys).to.deep.equal(keys)
          expect(looked.problems).to.have.length(1)
          expect(entries()).to.deep.equal(before)
        }
      })

      it('uses a key of which the vault does not say whether it is genuine once it says so, and leaves it stored', async () => {
        const { keys } = await wrapping().look()
        const before = store.stored
        const ring = wrapping()
        encryption.rejection = new Error('no grant')
        expect(await ring.look()).to.deep.equal({ keys: [], problems: [{ at: 'unwrap', detail: 'no grant' }] })
        encryption.rejection = undefined
        expect(await ring.look()).to.deep.equal({ keys, problems: [] })
        expect(store.stored).to.equal(before)
      })
    })

    describe('whose store holds more keys than a ring comes to have', () => {
      const entries = (): StoredKey[] => parseRing(store.stored?.text ?? '')
      const made = (count: number, by: string): StoredKey[] =>
        Array.from({ length: count }, (_, n) => ({
          id: `made-by-me-${String(n).padStart(5, '0')}`,
          created: new Date(0),
          activates: new Date(0),
          expires: new Date('9999-12-31'),
          wrapped: { by, bytes: Buffer.alloc(8) },
          signature: Buffer.alloc(32)
        }))
      const put = (keys: readonly StoredKey[]): void => {
        store.stored = { text: ringText(keys), version: 'tampered' }
        store.writes = 7
      }
      const countChecks = (): (() => number) => {
        const { hasSigned } = encryption
        let checks = 0
        encryption.hasSigned = (...of) => {
          checks += 1
          return hasSigned.apply(encryption, of)
        }
        return () => checks
      }

      it('looks at 50 of them, beside those that it knows, and tells one problem of each kind', async () => {
        const ring = wrapping()
        const { keys } = await ring.look()
        const genuine = entries()
        const by = genuine[0]?.wrapped?.by ?? ''
        put([...genuine, ...made(1000, by)])
        const checks = countChecks()
        const looked = await ring.look()
        expect(checks()).to.equal(50)
        expect(looked.keys).to.deep.equal(keys)
        expect(places(looked)).to.deep.equal(['forged', 'surplus'])
        expect(looked.problems[0]?.detail).to.match(/: (made-by-me-[0-9]{5}, ){4}made-by-me-[0-9]{5} and 45 more$/)
        expect(entries()).to.deep.equal(genuine)
        expect(places(await ring.look())).to.deep.equal([])
        // The newest are stored last, so a replica that knows none finds a genuine key there.
        put([...made(1000, by), ...genuine])
        expect((await wrapping().look()).keys).to.deep.equal(keys)
      })

      it('tells one problem for all keys of another vault, and stores no more than 50 of them', async () => {
        const ring = wrapping()
        const { keys } = await ring.look()
        put([...entries(), ...made(1000, 'https://other.test/keys/ring/1')])
        for (const expected of [['surplus', 'foreign'], ['foreign']]) {
          const looked = await ring.look()
          expect(looked.keys).to.deep.equal(keys)
          expect(places(looked)).to.deep.equal(expected)
          expect(entries()).to.have.length(51)
        }
      })

      it('tells one problem while the vault says of none whether it is genuine', async () => {
        await wrapping().look()
        const by = entries()[0]?.wrapped?.by ?? ''
        put(made(3, by))
        encryption.rejection = new Error('no grant')
        expect(places(await wrapping().look())).to.deep.equal(['unwrap'])
      })

      it('lets no key of another vault take the place of a genuine one with its id', async () => {
        const known = wrapping()
        const { keys } = await known.look()
        const genuine = entries()
        const [one = expect.fail()] = genuine
        const [other = expect.fail()] = made(1, 'https://other.test/keys/ring/1')
        const same = { ...other, id: one.id }
        for (const stored of [
          [one, same],
          [same, one]
        ]) {
          put(stored)
          expect((await wrapping().look()).keys).to.deep.equal(keys)
        }
        for (const stored of [[one, same], [same, one], [same]]) {
          put(stored)
          const looked = await known.look()
          expect(looked.keys).to.deep.equal(keys)
          expect(places(looked)).to.deep.equal(['forged'])
          expect(entries()).to.deep.equal(genuine)
        }
      })
    })

    it('takes nothing for a key that has another length', async () => {
      await wrapping().look()
      encryption.unwrap = () => Promise.resolve(Buffer.alloc(16))
      expect(places(await wrapping().look())).to.deep.equal(['unwrap'])
    })
  })
})
