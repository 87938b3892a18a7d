import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { argon2Passwords, decoyHash } from '../../../data-service/auth/accounts/passwords.js'

describe('argon2Passwords', () => {
  it('hashes with a salt of its own each time, and verifies any number at once', async () => {
    const passwords = argon2Passwords(2)
    const hashes = await Promise.all(Array.from({ length: 5 }, () => passwords.hash('pässword')))
    expect(new Set(hashes).size).to.equal(5)
    for (const hash of hashes) expect(hash).to.match(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    const verified = await Promise.all(
      hashes.flatMap((hash) => [passwords.verify(hash, 'pässword'), passwords.verify(hash, 'password')])
    )
    expect(verified).to.deep.equal(hashes.flatMap(() => [true, false]))
  })

  it('verifies further passwords after one whose stored hash is malformed', async () => {
    const passwords = argon2Passwords(1)
    const hash = await passwords.hash('x')
    const outcomes = await Promise.allSettled(['', 'nonsense', hash].map((one) => passwords.verify(one, 'x')))
    expect(outcomes.map((outcome) => outcome.status)).to.deep.equal(['rejected', 'rejected', 'fulfilled'])
  })

  it('starts a thread anew after one that had no work has ended', async () => {
    const passwords = argon2Passwords(1, 20)
    const hash = await passwords.hash('x')
    for (const pause of [0, 5, 19, 20, 21, 100, 500]) {
      await delay(pause)
      expect(await passwords.verify(hash, 'x')).to.equal(true)
    }
  })

  it('verify a decoy as they verify a hash of their own, and it is no hash of any password', async () => {
    const passwords = argon2Passwords(1)
    const own = await passwords.hash('a password')
    const decoy = decoyHash()
    const parts = (hash: string): unknown[] => {
      const [, variant, version, parameters, salt = '', digest = ''] = hash.split('$')
      return [variant, version, parameters, salt.length, digest.length]
    }
    // The time that a verification takes follows from these alone.
    expect(parts(decoy)).to.deep.equal(parts(own))
    expect(await passwords.verify(decoy, 'a password')).to.equal(false)
    expect(decoyHash()).to.not.equal(decoy)
  })
})
