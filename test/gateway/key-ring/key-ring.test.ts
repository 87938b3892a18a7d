import { expect } from 'chai'
import { KeyRing, type KeySource } from '../../../gateway/key-ring/key-ring.js'
import { newKey } from '../../../gateway/key-ring/ring-document.js'
import type { RingKey } from '../../../gateway/key-ring/ring-key.js'
import { DAYS, ManualClock } from './manual-clock.js'
import { MESSAGE, PURPOSE, verdictOn } from './replica.js'

const clock = new ManualClock()
const now = clock.now()
const key = newKey({ created: now, activates: now, expires: new Date(now.getTime() + 90 * DAYS) })

function ringOf(keys: readonly RingKey[], application = 'one', at = clock.now): KeyRing {
  return new KeyRing({ application, source: source(() => keys), now: at })
}

function source(keys: () => readonly RingKey[]): KeySource {
  return { keys, lookAgain: () => Promise.resolve(), whyUnknown: () => 'because' }
}

describe('key ring', () => {
  it('accepts what a ring of the same keys has signed', async () => {
    expect(await verdictOn(ringOf([key]), ringOf([key]))).to.deep.equal({ valid: true })
  })

  it('rejects another message, another purpose, another application and a signature cut or changed', async () => {
    const ring = ringOf([key])
    const { keyId, mac } = ring.sign(PURPOSE, MESSAGE)
    const wrong = { valid: false, why: 'the signature is wrong' }
    const changed = Buffer.from(mac)
    changed[0] = (changed[0] ?? 0) ^ 1
    expect(await ring.verify(PURPOSE, Buffer.from('other'), { keyId, mac })).to.deep.equal(wrong)
    expect(await ring.verify('other', MESSAGE, { keyId, mac })).to.deep.equal(wrong)
    expect(await verdictOn(ringOf([key], 'two'), ring)).to.deep.equal(wrong)
    expect(await ring.verify(PURPOSE, MESSAGE, { keyId, mac: changed })).to.deep.equal(wrong)
    expect(await ring.verify(PURPOSE, MESSAGE, { keyId, mac: mac.subarray(0, 31) })).to.deep.equal(wrong)
    expect(await ring.verify(PURPOSE, MESSAGE, { keyId, mac: Buffer.alloc(0) })).to.deep.equal(wrong)
  })

  it('accepts the tokens of before it had a name, and signs none that others accept', async () => {
    const [shop, library, unnamed] = [ringOf([key], 'shop'), ringOf([key], 'library'), ringOf([key], 'uniform-rest')]
    const wrong = { valid: false, why: 'the signature is wrong' }
    expect(await verdictOn(shop, unnamed)).to.deep.equal({ valid: true })
    expect(await verdictOn(shop, library)).to.deep.equal(wrong)
    expect(await verdictOn(library, shop)).to.deep.equal(wrong)
    expect(await verdictOn(unnamed, shop)).to.deep.equal(wrong)
  })

  it('signs with a key of its own while there is no common one, which nobody else accepts and the log can say why', async () => {
    const alone = ringOf([])
    expect(await verdictOn(alone, alone)).to.deep.equal({ valid: true })
    expect(await verdictOn(ringOf([]), alone)).to.deep.equal({
      valid: false,
      why: 'its key is not in this ring: because'
    })
  })

  it('accepts what its own key has signed once there is a common one, with which it signs then', async () => {
    let keys: RingKey[] = []
    const ring = new KeyRing({ application: 'one', source: source(() => keys), now: clock.now })
    const before = ring.sign(PURPOSE, MESSAGE)
    keys = [key]
    expect(ring.sign(PURPOSE, MESSAGE).keyId).to.equal(key.id)
    expect(await ring.verify(PURPOSE, MESSAGE, before)).to.deep.equal({ valid: true })
  })

  it('looks again for a key that it does not know', async () => {
    let keys: RingKey[] = []
    const late: KeySource = {
      ...source(() => keys),
      lookAgain: async () => {
        keys = [key]
        return Promise.resolve()
      }
    }
    const ring = new KeyRing({ application: 'one', source: late, now: clock.now })
    expect(await verdictOn(ring, ringOf([key]))).to.deep.equal({ valid: true })
  })

  it('rolls its own key, and accepts the old one for 90 days more', async () => {
    const clock = new ManualClock()
    const ring = ringOf([], 'one', clock.now)
    const first = ring.sign(PURPOSE, MESSAGE)
    await clock.pass(90 * DAYS - 1)
    expect(ring.sign(PURPOSE, MESSAGE).keyId).to.equal(first.keyId)
    await clock.pass(1)
    expect(ring.sign(PURPOSE, MESSAGE).keyId).to.not.equal(first.keyId)
    await clock.pass(90 * DAYS - 1)
    expect(await ring.verify(PURPOSE, MESSAGE, first)).to.deep.equal({ valid: true })
    await clock.pass(1)
    expect((await ring.verify(PURPOSE, MESSAGE, first)).valid).to.equal(false)
  })
})
