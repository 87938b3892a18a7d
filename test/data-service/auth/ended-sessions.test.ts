import { expect } from 'chai'
import {
  accountKey,
  type AccountChange,
  type AuthUnit,
  type StoredAccount
} from '../../../data-service/auth/accounts/accounts.js'
import { eachDatabase } from '../../harness/database.js'
import { withTestDatabase } from '../../oracle/test-database.js'
import { AuthHarness, GRACE, MINUTE, rejectionOf, type Replica } from './auth-harness.js'

const kim = { email: 'kim@example.com', password: 'right' }
const NEW = 'a new passphrase'

eachDatabase((kind) => {
  describe(`sessions that end together on ${kind}`, () => {
    let harness: AuthHarness
    let one: Replica
    let other: Replica
    let first: string
    let elsewhere: string
    beforeEach(async () => {
      harness = await AuthHarness.over(kind)
      one = harness.replica()
      other = harness.replica()
      first = (await one.login(kim)).refreshToken
      elsewhere = (await other.login(kim)).refreshToken
    })
    afterEach(() => harness[Symbol.asyncDispose]())

    const signal = new AbortController().signal
    const inTransaction = <Result>(work: (unit: AuthUnit, account: StoredAccount) => Promise<Result>) =>
      one.by.store.transaction(signal, async (unit) => {
        const account = await unit.findAccount(accountKey(kim.email))
        if (account === undefined) throw new Error('Kim is gone')
        return await work(unit, account)
      })
    const change = (to: AccountChange): Promise<void> =>
      inTransaction((unit, account) => unit.changeAccount(account.id, to))
    const isOver = async (token: string, replica = one): Promise<void> => {
      expect(await rejectionOf(replica.refresh(token))).to.include({ code: 'auth.invalid-token' })
    }
    const claimsOf = ({ accessToken }: { readonly accessToken: string }): unknown =>
      JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString())
    const lines = (event: string) => harness.logs.filter((line) => line['event'] === event)

    it('are those beyond a hundred of an account, the least used one first', async () => {
      harness.now += MINUTE
      const used = (await one.refresh(first)).refreshToken
      const open = 2
      for (let sessions = open; sessions < 100; sessions++) await one.login(kim)
      const counted = async (): Promise<number> => {
        const account = await inTransaction((_, found) => Promise.resolve(found))
        return (await one.by.store.sessionsOf(signal, account, harness.now)).length
      }
      expect(await counted()).to.equal(100)
      const newest = (await other.login(kim)).refreshToken
      expect(await counted()).to.equal(100)
      await isOver(elsewhere)
      for (const token of [used, newest]) await one.refresh(token)
    })

    describe('by a password change', () => {
      it('are all but the one that made it, which has a new token', async () => {
        const changed = await one.changePassword(first, 'right', NEW)
        await isOver(elsewhere)
        expect(changed.refreshToken).to.not.equal(first)
        const [before, after] = [claimsOf(await other.refresh(changed.refreshToken)), claimsOf(changed)]
        expect(after).to.have.property('sid', (before as { sid: string }).sid)
        expect(await rejectionOf(one.login(kim))).to.include({ code: 'auth.invalid-credentials' })
        await one.login({ ...kim, password: NEW })
        const [line] = lines('password')
        expect(line).to.include({ outcome: 'success', sessions: 1, level: 30 })
        expect(JSON.stringify(harness.logs)).to.not.include(NEW).and.not.include('right').and.not.include(first)
      })

      it('go on after a wrong one, which counts together with failed logins', async () => {
        const hash = await storedHash()
        for (let i = 0; i < 10; i++) {
          const call =
            i % 2 === 0 ? one.changePassword(first, 'wrong', NEW) : other.login({ ...kim, password: 'wrong' })
          expect(await rejectionOf(call), `time ${i}`).to.include({ code: 'auth.invalid-credentials' })
        }
        expect(await rejectionOf(other.changePassword(first, 'right', NEW))).to.include({ code: 'quota-exceeded' })
        expect(await rejectionOf(one.login(kim))).to.include({ code: 'quota-exceeded' })
        expect(await storedHash()).to.equal(hash)
        for (const token of [first, elsewhere]) await one.refresh(token)
        expect(lines('password').map(({ outcome, reason }) => `${String(outcome)}: ${String(reason)}`)).to.deep.equal([
          ...Array.from({ length: 5 }, () => 'failure: wrong password'),
          'throttled: too many log-ins failed of late'
        ])
      })

      it('is not made by a session that is over', async () => {
        const hash = await storedHash()
        await one.revoke(first)
        const revoked = await rejectionOf(one.changePassword(first, 'right', NEW))
        expect(revoked).to.include({ code: 'auth.invalid-token', message: 'The session is over. Log in again.' })
        for (const text of ['', 'x', 'A'.repeat(64)]) {
          expect(await rejectionOf(one.changePassword(text, 'right', NEW)), text).to.include({ code: revoked.code })
        }
        expect(harness.verified, 'only the two logins').to.have.length(2)
        expect(await storedHash()).to.equal(hash)
        await one.refresh(elsewhere)
      })

      it('is made with a token used within the grace window, and revokes the family of one used before', async () => {
        const second = (await one.refresh(first)).refreshToken
        const changed = await other.changePassword(first, 'right', NEW)
        expect([first, second]).to.not.include(changed.refreshToken)
        harness.now += GRACE + 1
        const hash = await storedHash()
        expect(await rejectionOf(one.changePassword(first, NEW, 'right again'))).to.include({
          code: 'auth.invalid-token'
        })
        expect(await storedHash()).to.equal(hash)
        await isOver(changed.refreshToken)
        expect(lines('password').at(-1)).to.include({ outcome: 'reuse' })
      })

      it('is made once when two sessions ask at the same moment', async () => {
        const outcomes = await Promise.allSettled([
          one.changePassword(first, 'right', NEW),
          other.changePassword(elsewhere, 'right', `${NEW} of the other`)
        ])
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1)
        const [won] = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
        await one.refresh(won?.refreshToken ?? '')
        await isOver(outcomes[0]?.status === 'fulfilled' ? elsewhere : first)
      })

      it('replaces no password but the one that was verified', async () => {
        const { verify } = one.by.passwords
        const hash = async (): Promise<string> => {
          await inTransaction((unit, account) => unit.setPassword(account.id, 'set meanwhile'))
          return 'too late'
        }
        const slow = harness.replica({ passwords: { hash, verify } })
        const rejection = await rejectionOf(slow.changePassword(first, 'right', NEW))
        expect(rejection).to.include({ code: 'auth.invalid-credentials' })
        expect(await storedHash()).to.equal('set meanwhile')
        for (const token of [first, elsewhere]) await one.refresh(token)
      })

      it('is made once where the COMMIT was done and had no answer, so that it is repeated', async () => {
        const { store } = one.by
        let times = 0
        const transaction: typeof store.transaction = async (until, work) => {
          const result = await store.transaction(until, (unit) =>
            work({
              ...unit,
              setPassword: (...values) => {
                times += 1
                return unit.setPassword(...values)
              }
            })
          )
          return times === 0 ? result : await store.transaction(until, work)
        }
        const repeated = harness.replica({ store: { ...store, transaction } })
        const changed = await repeated.changePassword(first, 'right', NEW)
        expect(times).to.equal(1)
        await one.refresh(changed.refreshToken)
        await isOver(elsewhere)
        await one.login({ ...kim, password: NEW })
      })

      it('takes a new one of 8 to 1024 characters alone, and counts no attempt for others', async () => {
        const wrong: readonly (readonly [text: string, says: string])[] = [
          ['', 'must not be blank'],
          [' '.repeat(9), 'must not be blank'],
          ['1234567', 'at least 8'],
          ['🙂'.repeat(7), 'at least 8'],
          ['12345678\uD800', 'half a surrogate pair'],
          ['\uDE42\uD83D345678', 'half a surrogate pair'],
          ['12345678\uFFFD', 'U+FFFD'],
          ['x'.repeat(1025), 'at most 1024'],
          ['Trustno1', 'none of the 10,000 most common'],
          ['qwertyuiop', 'none of the 10,000 most common'],
          [' iloveyou ', 'none of the 10,000 most common'],
          ['ｐassword1', 'none of the 10,000 most common'],
          [` ${kim.email.toUpperCase()}`, 'must not be the address']
        ]
        for (const [text, says] of wrong) {
          const rejection = await rejectionOf(one.changePassword(first, 'wrong', text))
          expect(rejection, says).to.include({ code: 'body.invalid' })
          const [violation] = rejection.violations
          expect(violation?.place, says).to.deep.equal({ in: 'pointer', name: '/newPassword' })
          expect(violation?.detail).to.include(says)
        }
        for (const again of ['long enough', 'LONG enough ']) {
          const same = await rejectionOf(one.changePassword(first, 'long enough', again))
          expect(same.violations[0]?.detail).to.include('must differ from the current one')
        }
        const both = await rejectionOf(one.changePassword(first, ' ', ''))
        expect(both.violations.map(({ place }) => place.name)).to.deep.equal(['/currentPassword', '/newPassword'])
        const attempts = await withTestDatabase(harness.url, (db) => db.run('SELECT attempts FROM ur_login_attempts'))
        for (const { attempts: stored } of attempts) expect(stored).to.equal('[[],[]]')
        await one.changePassword(first, 'right', '🙂'.repeat(8))
      })
    })

    describe('by a log-out everywhere', () => {
      it('are all of the account', async () => {
        await one.revokeAll(first)
        for (const token of [first, elsewhere]) await isOver(token, other)
        await one.login(kim)
        expect(lines('logout-everywhere')).to.have.length(1)
        expect(lines('logout-everywhere')[0]).to.include({ outcome: 'success', sessions: 2 })
      })

      it('are none for a token of no live session', async () => {
        const revoked = (await one.login(kim)).refreshToken
        await one.revoke(revoked)
        for (const text of ['', 'x', 'A'.repeat(64), revoked]) {
          expect(await rejectionOf(one.revokeAll(text))).to.include({ code: 'auth.invalid-token' })
        }
        for (const token of [first, elsewhere]) await one.refresh(token)
        expect(new Set(lines('logout-everywhere').map(({ outcome }) => outcome))).to.deep.equal(new Set(['failure']))
      })
    })

    it('end with a login that was under way, which had found the account before', async () => {
      const slow = harness.replica({
        passwords: {
          hash: () => Promise.reject(new Error('unused')),
          verify: async () => {
            await one.revokeAll(first)
            return true
          }
        }
      })
      const { refreshToken } = await slow.login(kim)
      await isOver(refreshToken)
      await one.login(kim)
    })

    it('cannot be opened or refreshed by a disabled account, which is told like any other failure', async () => {
      await change({ disabledAt: harness.now })
      harness.verified.length = 0
      const rejection = await rejectionOf(one.login(kim))
      const wrong = await rejectionOf(one.login({ ...kim, password: 'wrong' }))
      expect(rejection).to.include({ code: 'auth.invalid-credentials', message: wrong.message })
      expect(harness.verified, 'each attempt costs a verification').to.have.length(2)
      expect(new Set(harness.verified).size).to.equal(1)
      expect(lines('login').map(({ reason }) => reason))
        .to.include('disabled account')
        .and.include('wrong password')
      for (const token of [first, elsewhere]) await isOver(token)
      await change({ disabledAt: null })
      await one.login(kim)
    })

    it('show changed roles, claims and owner at their next refresh', async () => {
      expect(claimsOf(await one.refresh(elsewhere))).to.include({ role: 'Customer' })
      await change({ roles: ['Clerk', 'Customer'] })
      await change({ claims: { department: 'north', level: 3, nested: { a: [1] } } })
      await change({ owner: null })
      const several = claimsOf(await one.refresh(first))
      expect(several).to.deep.include({
        role: ['Clerk', 'Customer'],
        department: 'north',
        level: 3,
        nested: { a: [1] }
      })
      expect(several).to.not.have.property('customer_id')
      await change({ roles: [] })
      expect(claimsOf(await one.refresh(first)), 'in the grace window too').to.not.have.property('role')
    })

    it('never show a claim in the place of one that the service makes', async () => {
      const sub = 'mallory@example.com'
      await change({ owner: null })
      await change({ claims: { sub, role: 'Admin', customer_id: 7, permissions: ['a:b'], exp: 1, sid: 'x', free: 1 } })
      const claims = claimsOf(await one.refresh(first)) as Record<string, unknown>
      expect(claims).to.include({ sub: 'Kim@Example.com', role: 'Customer', free: 1 })
      for (const name of ['customer_id', 'permissions']) expect(claims).to.not.have.property(name)
      expect(claims['exp']).to.equal(harness.now / 1000 + MINUTE / 1000)
      expect(claims['sid']).to.match(/^[0-9a-f]{32}$/)
    })

    it('of the version before have one role and no generation', async () => {
      await withTestDatabase(harness.url, async (db) => {
        await db.run('UPDATE ur_accounts SET roles = NULL, claims = NULL, session_generation = NULL')
        await db.run('UPDATE ur_refresh_families SET session_generation = NULL')
      })
      expect(claimsOf(await one.refresh(first))).to.include({ role: 'Customer' })
      await other.revokeAll(elsewhere)
      await isOver(first)
    })

    async function storedHash(): Promise<unknown> {
      const [row] = await withTestDatabase(harness.url, (db) => db.run('SELECT password_hash FROM ur_accounts'))
      return row?.['password_hash']
    }
  })
})
