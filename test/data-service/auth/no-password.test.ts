import { expect } from 'chai'
import { accountKey } from '../../../data-service/auth/accounts/accounts.js'
import { openFamily, sessionOf } from '../../../data-service/auth/sessions.js'
import { eachDatabase } from '../../harness/database.js'
import { AuthHarness, rejectionOf, START } from './auth-harness.js'

const EMAIL = 'outsider@example.com'

eachDatabase((kind) => {
  describe(`an account without a password on ${kind}`, () => {
    let harness: AuthHarness
    beforeEach(async () => {
      harness = await AuthHarness.over(kind)
      await harness.replica().by.store.transaction(new AbortController().signal, (unit) =>
        unit.insertAccount({
          email: EMAIL,
          emailKey: accountKey(EMAIL),
          name: 'Outsider',
          roles: ['customer'],
          owner: null,
          claims: {},
          passwordHash: null,
          isSample: false,
          createdAt: START
        })
      )
    })
    afterEach(() => harness[Symbol.asyncDispose]())

    it('takes no login, and one hash is verified for it as for an account that does not exist', async () => {
      const replica = harness.replica()
      const rejections = []
      for (const email of [EMAIL, 'nobody@example.com']) {
        for (const password of ['decoy', 'right']) {
          const { code, message } = await rejectionOf(replica.login({ email, password }))
          rejections.push({ code, message })
        }
      }
      expect(harness.verified).to.deep.equal(['decoy', 'decoy', 'decoy', 'decoy'])
      for (const one of rejections) expect(one).to.deep.equal(rejections[0])
      // Even a password that matches the decoy opens nothing.
      const open = harness.replica({
        passwords: { hash: () => Promise.resolve(''), verify: () => Promise.resolve(true) }
      })
      expect(await rejectionOf(open.login({ email: EMAIL, password: 'any' }))).to.include({
        code: 'auth.invalid-credentials'
      })
    })

    it('cannot change a password that it does not have', async () => {
      const replica = harness.replica()
      const session = await replica.by.store.transaction(new AbortController().signal, async (unit) => {
        const account = await unit.findAccount(accountKey(EMAIL))
        if (account === undefined) throw new Error('The account is gone')
        return sessionOf(account, await openFamily(unit, account, replica.by), replica.by)
      })
      const changed = replica.changePassword(session.refreshToken, 'decoy', 'a new passphrase')
      expect(await rejectionOf(changed)).to.include({ code: 'auth.invalid-credentials' })
    })
  })
})
