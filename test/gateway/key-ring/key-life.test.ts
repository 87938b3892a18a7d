import { expect } from 'chai'
import { isReadable, type KeyDates, keyToSignWith, nextKeyDates } from '../../../gateway/key-ring/ring-key.js'
import { DAYS } from './manual-clock.js'

const NOW = new Date('2031-02-03T04:05:06.789Z')

/** Activation and expiry in days from now. */
function key(id: string, activates: number, expires: number): KeyDates {
  const at = (days: number): Date => new Date(NOW.getTime() + days * DAYS)
  return { id, created: at(activates), activates: at(activates), expires: at(expires) }
}

describe('life of keys', () => {
  describe('the key to sign with', () => {
    const signsWith = (...keys: KeyDates[]): string | undefined => keyToSignWith(keys, NOW)?.id

    it('is the one in force', () => {
      expect(signsWith(key('a', -1, 89))).to.equal('a')
      expect(signsWith(key('a', 0, 90))).to.equal('a')
    })

    it('is the newest of several in force, in whatever order', () => {
      expect(signsWith(key('a', -80, 10), key('b', -2, 85))).to.equal('b')
      expect(signsWith(key('b', -2, 85), key('a', -80, 10))).to.equal('b')
    })

    it('is the same on every replica for two keys of one moment', () => {
      expect(signsWith(key('a', 0, 90), key('b', 0, 90))).to.equal(signsWith(key('b', 0, 90), key('a', 0, 90)))
    })

    it('is not the next one before its time, and is it where there is no other', () => {
      expect(signsWith(key('a', -80, 10), key('b', 2, 90))).to.equal('a')
      expect(signsWith(key('a', -91, -1), key('b', 2, 90), key('c', 3, 91))).to.equal('b')
    })

    it('is none that has expired', () => {
      expect(signsWith(key('a', -90, 0))).to.equal(undefined)
      expect(signsWith()).to.equal(undefined)
    })
  })

  describe('the next key', () => {
    const days = (...keys: KeyDates[]): number[] | undefined => {
      const dates = nextKeyDates(keys, NOW)
      return dates && [dates.created, dates.activates, dates.expires].map((at) => (at.getTime() - NOW.getTime()) / DAYS)
    }

    it('is made at once and in force at once where there is none', () => {
      expect(days()).to.deep.equal([0, 0, 90])
      expect(days(key('a', -91, -1))).to.deep.equal([0, 0, 90])
    })

    it('is made 14 days before the newest expires, and signs after 2', () => {
      expect(days(key('a', -75, 14.001))).to.equal(undefined)
      expect(days(key('a', -76, 14))).to.deep.equal([0, 2, 90])
      expect(days(key('a', -76, 14), key('b', 2, 90))).to.equal(undefined)
    })

    it('is in force at once where the newest would not last until then', () => {
      expect(days(key('a', -89, 1))).to.deep.equal([0, 0, 90])
    })
  })

  it('what a key has signed is accepted for 90 days after it expired', () => {
    expect(isReadable(key('a', -90, 0), NOW)).to.equal(true)
    expect(isReadable(key('a', -179, -89.999), NOW)).to.equal(true)
    expect(isReadable(key('a', -180, -90), NOW)).to.equal(false)
  })
})
