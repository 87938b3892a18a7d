import { expect } from 'chai'
import { eachDatabase } from '../../harness/database.js'
import { withTestDatabase } from '../../oracle/test-database.js'
import { AuthHarness, DAY, GRACE, MINUTE, refusalOf, type Replica, START } from './auth-harness.js'

const kim = { email: 'kim@example.com', password: 'right' }

eachDatabase((kind) => {
  describe(`refresh families on ${kind}`, () => {
    let harness: AuthHarness
    let one: Replica
    let other: Replica
    let first: string
    beforeEach(async () => {
      harness = await AuthHarness.over(kind)
      one = harness.replica()
      other = harness.replica()
      first = (await one.login(kim)).refreshToken
    })
    afterEach(() => harness[Symbol.asyncDispose]())

    const tokenOf = async (call: Promise<{ refreshToken: string }>): Promise<string> => (await call).refreshToken
    const isOver = async (token: string, replica = one): Promise<void> => {
      const refusal = await refusalOf(replica.refresh(token))
      expect(refusal).to.include({ code: 'auth.invalid-token', message: 'The session is over. Log in again.' })
    }

    it('rotate on every use, and slide', async () => {
      harness.now += 6 * DAY
      const session = await other.refresh(first)
      expect(session.refreshToken).to.not.equal(first)
      expect(session.refreshTokenExpiry).to.equal(new Date(START + 13 * DAY).toISOString())
      expect(session.accessTokenExpiry).to.equal(new Date(harness.now + MINUTE).toISOString())
      const claims: unknown = JSON.parse(Buffer.from(session.accessToken.split('.')[1] ?? '', 'base64url').toString())
      expect(claims).to.include({ sub: 'Kim@Example.com', role: 'Customer', customer_id: '9223372036854775807' })
      harness.now += 7 * DAY - 1
      await one.refresh(session.refreshToken)
    })

    it('name their session in the claim sid, which each log-in makes anew and refreshing keeps', async () => {
      const sidOf = ({ accessToken }: { accessToken: string }): unknown => {
        const claims: unknown = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString())
        return typeof claims === 'object' && claims !== null && 'sid' in claims ? claims.sid : undefined
      }
      const session = await one.login(kim)
      expect(sidOf(session)).to.match(/^[0-9a-f]{32}$/)
      const second = await other.refresh(session.refreshToken)
      const within = await one.refresh(session.refreshToken)
      for (const later of [second, within]) expect(sidOf(later)).to.equal(sidOf(session))
      expect(sidOf(await one.login(kim))).to.not.equal(sidOf(session))
    })

    it('end when no token is used in time', async () => {
      harness.now += 7 * DAY
      await isOver(first)
    })

    it('end after 30 days, however often they are refreshed', async () => {
      let token = first
      for (let day = 5; day < 30; day += 5) {
        harness.now = START + day * DAY
        token = await tokenOf(one.refresh(token))
      }
      harness.now = START + 30 * DAY - 1
      const last = await one.refresh(token)
      expect(last.refreshTokenExpiry).to.equal(new Date(START + 30 * DAY).toISOString())
      harness.now += 1
      await isOver(last.refreshToken)
      await isOver(token)
    })

    it('answer a token used within the grace window with the newest, on every replica', async () => {
      const second = await tokenOf(one.refresh(first))
      harness.now += GRACE
      for (const replica of [one, other]) expect(await tokenOf(replica.refresh(first))).to.equal(second)
      const third = await tokenOf(other.refresh(second))
      const fourth = await tokenOf(one.refresh(third))
      for (const replica of [one, other]) {
        expect(await tokenOf(replica.refresh(first))).to.equal(fourth)
        expect(await tokenOf(replica.refresh(second))).to.equal(fourth)
      }
    })

    it('die with all their tokens when one is used after the grace window', async () => {
      const elsewhere = await tokenOf(one.login(kim))
      const second = await tokenOf(one.refresh(first))
      const third = await tokenOf(one.refresh(second))
      harness.now += GRACE + 1
      await isOver(first, other)
      for (const token of [third, second, first]) await isOver(token)
      await one.refresh(elsewhere)
      const revoked = harness.logs.filter(({ msg }) => msg === 'refresh family revoked')
      expect(revoked).to.have.length(1)
      expect(revoked[0]).to.include({ reason: 'a refresh token was used again' })
    })

    it('have one successor of a token that forty present at once', async () => {
      const sessions = await Promise.all(
        Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? one : other).refresh(first))
      )
      expect(new Set(sessions.map(({ refreshToken }) => refreshToken)).size).to.equal(1)
      const rows = await withTestDatabase(harness.url, (db) => db.run('SELECT issued_at FROM refresh_tokens'))
      expect(rows).to.have.length(2)
    })

    it('are ended by any of their tokens, used ones too, and by none that nobody knows', async () => {
      const elsewhere = await tokenOf(one.login(kim))
      const second = await tokenOf(one.refresh(first))
      for (const unknown of ['', 'x', 'A'.repeat(43)]) await one.revoke(unknown)
      await one.refresh(second)
      await other.revoke(first)
      for (const token of [first, second]) await isOver(token)
      await one.revoke(second)
      await one.refresh(elsewhere)
    })

    it('know no token of another form', async () => {
      // The last character of 43 has two bits to spare.
      const last = first.at(-1) ?? ''
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
      const twin = first.slice(0, -1) + (alphabet[alphabet.indexOf(last) + 1] ?? 'B')
      expect(Buffer.from(twin, 'base64url').equals(Buffer.from(first, 'base64url'))).to.equal(true)
      for (const text of ['', 'x', twin, `${first}=`, ` ${first}`, 'A'.repeat(43), 'ä'.repeat(43)]) await isOver(text)
      await one.refresh(first)
    })

    it('leave nothing readable in the database', async () => {
      const tokens = [first]
      for (let i = 0; i < 3; i++) tokens.push(await tokenOf(one.refresh(tokens.at(-1) ?? '')))
      const dump = await withTestDatabase(harness.url, async (database) => [
        ...(await database.run('SELECT HEX(token_hash) AS a, HEX(successor) AS b FROM refresh_tokens')),
        ...(await database.run('SELECT HEX(id) AS a FROM refresh_families')),
        ...(await database.run('SELECT attempts AS a, HEX(key_hash) AS b FROM login_attempts'))
      ])
      const text = JSON.stringify(dump).toLowerCase()
      expect(dump.length).to.be.greaterThan(5)
      for (const token of tokens) {
        const bytes = Buffer.from(token, 'base64url')
        for (const form of [token.toLowerCase(), bytes.toString('hex'), Buffer.from(token).toString('hex')]) {
          expect(text).to.not.include(form)
        }
      }
      expect(text).to.not.include(Buffer.from('kim@example.com').toString('hex')).and.not.include('kim@')
    })

    it('are purged in batches once they are dead, tokens first', async () => {
      const second = await tokenOf(one.refresh(first))
      await one.refresh(second)
      const alive = await tokenOf(one.login(kim))
      await one.revoke(first)
      const { store } = one.by
      expect(await store.purgeSessions(harness.now - 1, 2)).to.equal(0)
      for (const deleted of [2, 1, 1, 0]) expect(await store.purgeSessions(harness.now, 2)).to.equal(deleted)
      await isOver(second)
      await one.refresh(alive)
    })
  })
})
