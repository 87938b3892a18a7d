import { expect } from 'chai'
import { isSoak } from '../../harness/in-soak.js'
import { expectProblem } from '../expect-problem.js'
import { type Answer, json } from '../http-call.js'
import { cookiesOf, describeSessions, type SessionCookies } from './session-stack.js'

const PASSWORD = 'correct horse'

describeSessions(
  'accounts made by command',
  { REFRESH_GRACE: '1m' },
  (stack) => {
    const run = async (args: readonly string[], line?: string, start?: boolean): Promise<string> => {
      const { code, output, errors } = await stack.account(args, line, start)
      expect(code, errors).to.equal(0)
      expect(errors).to.equal('')
      return output
    }
    const rejected = async (args: readonly string[], line?: string): Promise<string> => {
      const { code, output, errors } = await stack.account(args, line)
      expect(code, output).to.equal(1)
      expect(output).to.equal('')
      expect(errors).to.not.match(/\n {4}at /)
      return errors
    }
    const opened = async (account: string, password = PASSWORD, gateway = 0): Promise<SessionCookies> => {
      const answer = await stack.login(account, password, gateway)
      expect(answer.status, answer.text).to.equal(200)
      return cookiesOf(answer)
    }
    /** With the refresh cookie alone, so that the session is asked and not the access token. */
    const refreshed = ({ refresh = '' }: SessionCookies, gateway = 0): Promise<Answer> =>
      stack.send('/auth/session/token', { cookies: { refresh }, gateway })
    const tokenOf = async (cookies: SessionCookies): Promise<string> => {
      const answer = await refreshed(cookies)
      expect(answer.status, answer.text).to.equal(200)
      return (json(answer) as { accessToken: string }).accessToken
    }
    const isDead = async (cookies: SessionCookies): Promise<void> => {
      for (const gateway of [0, 1]) {
        const answer = await refreshed(cookies, gateway)
        expect(answer.status, answer.text).to.equal(401)
        expect(answer.text).to.equal('{"error":"no_session"}')
      }
    }
    const manages = async (token: string): Promise<number> =>
      (await stack.send('/customers', { method: 'GET', token })).status
    const statusOf = async (account: string, password: string): Promise<number> =>
      (await stack.login(account, password)).status

    /** A test of rejections, which cost many hashes, and which no database decides: here on SQLite alone. */
    const rejects = (title: string, test: () => Promise<void>): void => {
      if (isSoak || stack.kind === 'sqlite') it(title, test)
    }

    after(() => {
      const log = stack.logText()
      for (const secret of [PASSWORD, 'another horse', 'wrong-password', 'third horse']) {
        expect(log.includes(secret), `${secret} in a log`).to.equal(false)
      }
    })

    it('log in while the service runs, with their roles, owner and claims', async () => {
      const added = await run(
        ['add', 'Eve@Example.com', '--role', 'Customer', '--role', 'clerk', '--owner', '7', '--claim', 'floor:=3'],
        PASSWORD,
        true
      )
      expect(added).to.equal('Added Eve@Example.com: Eve, roles Customer Clerk, owner 7, claims {"floor":3}.\n')
      const { access = '' } = await opened('eve')
      expect(claims(access)).to.deep.include({
        sub: 'Eve@Example.com',
        name: 'Eve',
        role: ['Customer', 'Clerk'],
        customer_id: 7,
        floor: 3
      })
      expect(await manages(access)).to.equal(200)
      expect(await rejected(['add', 'eve@EXAMPLE.com'], PASSWORD)).to.equal(
        'There is an account Eve@Example.com already.\n'
      )
      const listed: unknown = JSON.parse(await run(['list', '--json']))
      expect(listed).to.be.an('array')
      const eve = (listed as { email: string }[]).find(({ email }) => email === 'Eve@Example.com')
      expect(eve).to.deep.include({
        name: 'Eve',
        roles: ['Customer', 'Clerk'],
        owner: '7',
        claims: { floor: 3 },
        hasPassword: true,
        sample: false,
        disabledAt: null
      })
      expect(JSON.stringify(listed)).to.not.match(/argon2|passwordHash/)
    })

    it('have new roles, claims and owners from the next refresh on', async () => {
      await run(['add', 'finn@example.com', '--role', 'customer', '--owner', '1'], PASSWORD)
      const cookies = await opened('finn')
      expect(claims(cookies.access ?? '')).to.include({ role: 'Customer', customer_id: 1 })
      expect(await manages(cookies.access ?? '')).to.equal(403)
      expect(await run(['roles', 'finn@example.com', 'clerk', 'customer'])).to.include(
        'has roles Clerk Customer; it had role Customer'
      )
      await run(['claims', 'finn@example.com', 'department=north', 'tags:=["a"]'])
      await run(['owner', 'finn@example.com', '--none'])
      expect(await manages(cookies.access ?? ''), 'an access token says what it said').to.equal(403)
      const token = await tokenOf(cookies)
      expect(claims(token)).to.deep.include({ role: ['Clerk', 'Customer'], department: 'north', tags: ['a'] })
      expect(claims(token)).to.not.have.property('customer_id')
      expect(await manages(token)).to.equal(200)
      await run(['roles', 'finn@example.com', '--none'])
      expect(await manages(await tokenOf(cookies))).to.equal(403)
    })

    it('are dead once disabled, at every gateway, and told like a wrong password', async () => {
      await run(['add', 'gus@example.com'], PASSWORD)
      const [one, other] = [await opened('gus'), await opened('gus', PASSWORD, 1)]
      expect(await run(['disable', 'gus@example.com'])).to.match(/^Disabled gus@example\.com, and ended 2 sessions\./)
      for (const cookies of [one, other]) await isDead(cookies)
      const [disabled, wrong] = [await stack.login('gus', PASSWORD), await stack.login('gus', 'wrong-password')]
      for (const answer of [disabled, wrong]) {
        expectProblem(answer, { status: 401, code: 'auth.invalid-credentials', base: stack.url() })
        expect(cookiesOf(answer)).to.deep.equal({})
      }
      expect(withoutId(disabled)).to.deep.equal(withoutId(wrong))
      expect(await run(['list'])).to.match(/gus@example\.com .*disabled since/)
      await run(['enable', 'gus@example.com'])
      await opened('gus')
      for (const cookies of [one, other]) await isDead(cookies)
    })

    it('have another password once it is set by command, and no session from before', async () => {
      await run(['add', 'hal@example.com'], PASSWORD)
      const [of, others] = [await opened('hal'), await opened('ben', 'demo-password')]
      expect(await run(['set-password', 'hal@example.com'], 'another horse')).to.include('ended 1 session.')
      await isDead(of)
      expect(await statusOf('hal', PASSWORD)).to.equal(401)
      await opened('hal', 'another horse')
      await tokenOf(others)
    })

    rejects('cannot be made or changed into what they cannot be', async () => {
      const before = await run(['list', '--json'])
      expect(await rejected(['add', 'ida@example.com', '--role', 'clrek'], PASSWORD)).to.equal(
        'There is no role "clrek". Did you mean "Clerk"? The roles are Admin, Clerk, Storekeeper, Customer.\n'
      )
      expect(await rejected(['add', 'ida@example.com'], 'short')).to.equal(
        'The password must be at least 8 characters long.\n'
      )
      for (const [password, says] of [
        ['Password1', 'none of the 10,000 most common ones'],
        ['Ida-Long@example.com', 'must not be the address of the account'],
        ['ida-long', 'must not be the address of the account']
      ] as const) {
        expect(await rejected(['add', 'ida-long@example.com'], password), password).to.include(says)
      }
      expect(await rejected(['set-password', 'ada@example.com'], 'iloveyou')).to.include('most common')
      expect(await rejected(['add', 'ida@example.com', '--claim', 'customer_id=1'], PASSWORD)).to.include('--owner')
      expect(await rejected(['claims', 'ada@example.com', 'sub=admin@example.com'])).to.include(
        'sub is one that the service'
      )
      expect(await rejected(['roles', 'ada@example.com'])).to.include('Usage: uniform-rest account roles')
      expect(await rejected(['disable', 'ida@example.com'])).to.equal('There is no account "ida@example.com".\n')
      expect(await run(['list', '--json'])).to.equal(before)
    })

    describe('change their password over HTTP', () => {
      const change = (cookies: SessionCookies, body: object, headers = {}): Promise<Answer> =>
        stack.send('/auth/password', { cookies, json: body, headers })
      const wanted = { currentPassword: PASSWORD, newPassword: 'third horse' }

      it('and keep the session that did it, with new cookies, and no other', async () => {
        await run(['add', 'joe@example.com'], PASSWORD)
        const [mine, other] = [await opened('joe'), await opened('joe', PASSWORD, 1)]
        const answer = await change(mine, wanted)
        expect(answer.status, answer.text).to.equal(204)
        expect(answer.headers).to.include({ 'cache-control': 'private, no-store', vary: 'Cookie' })
        const next = cookiesOf(answer)
        expect(next.refresh)
          .to.match(/^.{64}$/)
          .and.not.equal(mine.refresh)
        expect(claims(next.access ?? '')).to.have.property('sid', (claims(mine.access ?? '') as { sid: string }).sid)
        await tokenOf(next)
        await isDead(other)
        expect(await statusOf('joe', PASSWORD)).to.equal(401)
        await opened('joe', 'third horse')
      })

      rejects('not from another site, and not without a live session', async () => {
        await run(['add', 'kay@example.com'], PASSWORD)
        const mine = await opened('kay')
        const crossed = await change(mine, wanted, { 'sec-fetch-site': 'cross-site' })
        expectProblem(crossed, { status: 403, code: 'request.cross-site', base: stack.url() })
        const gone = await opened('kay')
        await stack.send('/auth/logout', { cookies: gone })
        const dead = await change(gone, wanted)
        expectProblem(dead, { status: 401, code: 'auth.invalid-token', base: stack.url() })
        expect(cookiesOf(dead)).to.deep.equal({ access: '', refresh: '' })
        const byAccess = await change({ access: mine.access ?? '' }, wanted)
        expectProblem(byAccess, { status: 401, code: 'auth.required', base: stack.url() })
        await opened('kay')
        await tokenOf(mine)
      })

      rejects('not into one that cannot be one', async () => {
        const mine = await opened('ben', 'demo-password')
        const answer = await change(mine, { currentPassword: ' ', newPassword: 'short' })
        expectProblem(answer, { status: 400, code: 'body.invalid', base: stack.url() })
        const { errors } = json(answer) as { errors: { pointer: string }[] }
        expect(errors.map(({ pointer }) => pointer)).to.deep.equal(['/currentPassword', '/newPassword'])
        await tokenOf(mine)
      })

      // JSON can hold half a surrogate pair, and UTF-8 cannot: all of them become the same character between the processes.
      rejects('not into one with half a surrogate pair, which is a wrong one to log in with', async () => {
        await run(['add', 'nell@example.com'], PASSWORD)
        const mine = await opened('nell')
        const answer = await change(mine, { ...wanted, newPassword: `${PASSWORD}\uD800` })
        expectProblem(answer, { status: 400, code: 'body.invalid', base: stack.url() })
        expect(answer.text).to.include('/newPassword must hold neither half a surrogate pair')
        for (const lost of ['\uD800', '\uD801', '\uFFFD']) expect(await statusOf('nell', PASSWORD + lost)).to.equal(401)
        expect(await statusOf('nell', PASSWORD)).to.equal(200)
      })

      rejects('not with a wrong one, which is throttled as logins are', async () => {
        await run(['add', 'lou@example.com'], PASSWORD)
        const mine = await opened('lou')
        for (let failures = 0; failures < 10; failures += 1) {
          const answer = await change(mine, { ...wanted, currentPassword: 'wrong-password' })
          expectProblem(answer, { status: 401, code: 'auth.invalid-credentials', base: stack.url() })
        }
        const throttled = await change(mine, wanted)
        expectProblem(throttled, { status: 429, code: 'quota-exceeded', base: stack.url() })
        expect(Number(throttled.headers['retry-after'])).to.be.within(1, 15 * 60)
        expect(await statusOf('lou', PASSWORD)).to.equal(429)
        await tokenOf(mine)
      })
    })

    it('log out everywhere, and nobody else', async () => {
      await run(['add', 'mia@example.com'], PASSWORD)
      const [one, other] = [await opened('mia'), await opened('mia', PASSWORD, 1)]
      const others = await opened('ben', 'demo-password')
      const crossed = await stack.send('/auth/logout-everywhere', {
        cookies: one,
        headers: { 'sec-fetch-site': 'cross-site' }
      })
      expectProblem(crossed, { status: 403, code: 'request.cross-site', base: stack.url() })
      await tokenOf(other)
      const answer = await stack.send('/auth/logout-everywhere', { cookies: one })
      expect(answer.status, answer.text).to.equal(204)
      expect(cookiesOf(answer)).to.deep.equal({ access: '', refresh: '' })
      for (const cookies of [one, other]) await isDead(cookies)
      await tokenOf(others)
      const again = await opened('mia')
      const dead = await stack.send('/auth/logout-everywhere', { cookies: one })
      expectProblem(dead, { status: 401, code: 'auth.invalid-token', base: stack.url() })
      await tokenOf(again)
    })
  },
  { on: 'mysql' }
)

function claims(token: string): unknown {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'))
}

function withoutId(answer: Answer): object {
  const { requestId: _, ...others } = json(answer) as { requestId: string }
  return others
}
