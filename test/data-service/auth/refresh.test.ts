import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { eachDatabase } from '../../harness/database.js'
import { withTestDatabase } from '../../oracle/test-database.js'
import { AuthHarness, DAY, GRACE, MINUTE, rejectionOf, type Replica, START } from './auth-harness.js'

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
      const rejection = await rejectionOf(replica.refresh(token))
      expect(rejection).to.include({ code: 'auth.invalid-token', message: 'The session is over. Log in again.' })
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

    it('name their session in the claim sid, which each login makes anew and refreshing keeps', async () => {
      const sidOf = ({ accessToken }: { accessToken: string }): unknown => {
        const claims: unknown = JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString())
        return typeof claims === 'object' && claims !== null && 'sid' in claims ? claims.sid : undefined
      }
      const session = await one.login(kim)
      expect(sidOf(session)).to.match(/^[0-9a-f]{32}$/)
      const second = await other.refresh(session.refreshToken)
      const within = await one.refresh(session.refreshToken)
      for (const later of [second, within]) expect(sidOf(later), JSON.stringify(later)).to.equal(sidOf(session))
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
      for (const [at, replica] of [one, other].entries())
        expect(await tokenOf(replica.refresh(first)), `replica ${at}`).to.equal(second)
      const third = await tokenOf(other.refresh(second))
      const fourth = await tokenOf(one.refresh(third))
      for (const [at, replica] of [one, other].entries()) {
        expect(await tokenOf(replica.refresh(first)), `replica ${at}`).to.equal(fourth)
        expect(await tokenOf(replica.refresh(second)), `replica ${at}`).to.equal(fourth)
      }
    })

    it('honour a token that came within the grace window and waited beyond it for the refresh that used it', async () => {
      const second = await tokenOf(one.refresh(first))
      const waiting = harness.replica({}, (own) => ({
        classifyError: (error) => own.classifyError(error),
        flushed: () => own.flushed(),
        close: () => own.close(),
        begin: (beginning) => {
          harness.now += GRACE
          return own.begin(beginning)
        }
      }))
      harness.now += GRACE
      expect(await tokenOf(waiting.refresh(first))).to.equal(second)
      await isOver(first)
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
      const rows = await withTestDatabase(harness.url, (db) => db.run('SELECT issued_at FROM ur_refresh_tokens'))
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
      const others = [43, 63, 64, 65].flatMap((length) => ['A', 'ä'].map((letter) => letter.repeat(length)))
      for (const text of ['', 'x', `${first}=`, ` ${first}`, first.slice(0, 43), ...others]) await isOver(text)
      await one.refresh(first)
    })

    it('keep one token while they live, know all before it for used, and end for them', async () => {
      let newest = first
      for (let i = 0; i < 5; i++) newest = await tokenOf(one.refresh(newest))
      const { store } = one.by
      harness.now += GRACE + MINUTE - 1
      expect(await store.purgeUsedTokens(harness.now, 10)).to.equal(0)
      harness.now += 1
      for (const deleted of [2, 2, 1, 0])
        expect(await store.purgeUsedTokens(harness.now, 2), `deleted ${deleted}`).to.equal(deleted)
      newest = await tokenOf(other.refresh(newest))
      await isOver(first, other)
      await isOver(newest)
      const [revoked] = harness.logs.filter(({ msg }) => msg === 'refresh family revoked')
      expect(revoked).to.include({ outcome: 'reuse', code: 'auth.invalid-token' })
    })

    it('are ended by a token that was purged', async () => {
      const second = await tokenOf(one.refresh(first))
      harness.now += GRACE + MINUTE
      expect(await one.by.store.purgeUsedTokens(harness.now, 10)).to.equal(1)
      await other.revoke(first)
      await isOver(second)
    })

    it('of an earlier version go on, and keep their used tokens, which name no family', async () => {
      const old = Buffer.alloc(32, 7)
      await withTestDatabase(harness.url, async (db) => {
        const hash = createHash('sha256').update(old).digest()
        await db.run('UPDATE ur_refresh_tokens SET token_hash = ?', [hash])
        await db.run('UPDATE ur_refresh_families SET ref_hash = NULL')
      })
      // Its last character of 43 has two bits to spare.
      await isOver(`${old.toString('base64url').slice(0, -1)}d`)
      const second = await tokenOf(one.refresh(old.toString('base64url')))
      expect(await tokenOf(other.refresh(old.toString('base64url')))).to.equal(second)
      const third = await tokenOf(one.refresh(second))
      harness.now += GRACE + MINUTE
      expect(await one.by.store.purgeUsedTokens(harness.now, 10)).to.equal(1)
      await isOver(old.toString('base64url'), other)
      await isOver(third)
      expect(harness.logs.filter(({ msg }) => msg === 'refresh family revoked')).to.have.length(1)
    })

    it('are given sixty tokens a minute at most, over replicas, and live on', async () => {
      let newest = first
      for (let i = 0; i < 59; i++) {
        harness.now += i === 30 ? 10_000 : 0
        newest = await tokenOf((i % 2 === 0 ? one : other).refresh(newest))
      }
      for (const [at, replica] of [one, other].entries()) {
        expect(await rejectionOf(replica.refresh(newest)), `replica ${at}`).to.include({
          code: 'quota-exceeded',
          retryAfter: 50
        })
      }
      harness.now += 50_000 - 1
      expect(await rejectionOf(one.refresh(newest))).to.include({ code: 'quota-exceeded', retryAfter: 1 })
      await one.by.store.purgeUsedTokens(harness.now, 100)
      harness.now += 1
      await one.refresh(newest)
    })

    it('end when another login takes their place, and with no rejected one', async () => {
      const used = first
      const second = await tokenOf(one.refresh(used))
      const elsewhere = await tokenOf(one.login(kim))
      const replacedRefreshTokens = [used, 'x', 'A'.repeat(64)]
      await rejectionOf(one.login({ ...kim, password: 'wrong', replacedRefreshTokens }))
      const third = await tokenOf(one.refresh(second))
      const after = await tokenOf(other.login({ ...kim, replacedRefreshTokens }))
      await isOver(third)
      await one.refresh(elsewhere)
      await one.refresh(after)
    })

    it('leave nothing readable in the database', async () => {
      const tokens = [first]
      for (let i = 0; i < 3; i++) tokens.push(await tokenOf(one.refresh(tokens.at(-1) ?? '')))
      const dump = await withTestDatabase(harness.url, async (database) => [
        ...(await database.run('SELECT HEX(token_hash) AS a, HEX(successor) AS b FROM ur_refresh_tokens')),
        ...(await database.run('SELECT HEX(id) AS a FROM ur_refresh_families')),
        ...(await database.run('SELECT attempts AS a, HEX(key_hash) AS b FROM ur_login_attempts'))
      ])
      const text = JSON.stringify(dump).toLowerCase()
      expect(dump.length).to.be.greaterThan(5)
      for (const token of tokens) {
        const bytes = Buffer.from(token, 'base64url')
        for (const form of [token.toLowerCase(), bytes.toString('hex'), Buffer.from(token).toString('hex')]) {
          expect(text, `${token}, ${form}`).to.not.include(form)
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
      for (const deleted of [2, 1, 1, 0])
        expect(await store.purgeSessions(harness.now, 2), `deleted ${deleted}`).to.equal(deleted)
      await isOver(second)
      await one.refresh(alive)
    })
  })
})
