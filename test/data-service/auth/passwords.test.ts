import { expect } from 'chai'
import { argon2Passwords } from '../../../data-service/auth/accounts/passwords.js'

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
})
