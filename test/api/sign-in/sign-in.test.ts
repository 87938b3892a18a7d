import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { GATEWAY, listening, startProcess } from '../../stack/service-process.js'
import type { LogEntry } from '../../stack/server-log.js'
import { withTestDatabase } from '../../oracle/test-database.js'
import { AuthCaller, opened, rejected } from '../auth/auth-caller.js'
import { expectProblem } from '../expect-problem.js'
import { type Answer, call, json } from '../http-call.js'
import { claimsOf, describeSignIn } from './sign-in-stack.js'
import { CONFIDENTIAL } from './test-provider.js'
import { Visitor } from './visitor.js'

const COOKIE = 'app_auth_sign_in'
const CLEARED = `${COOKIE}=; Max-Age=0; Path=/auth; HttpOnly; SameSite=Lax`

function setCookies({ headers }: Answer): readonly string[] {
  return headers['set-cookie'] ?? []
}

function namesSet(answer: Answer): readonly string[] {
  return setCookies(answer).map((line) => line.split('=')[0] ?? '')
}

describeSignIn(
  'sign-in at an OpenID provider',
  {},
  (stack) => {
    /** Everything of all flows that no log may hold. */
    const secrets = new Set<string>()
    const keep = (visitor: Visitor, callback: URL): URL => {
      for (const part of (visitor.cookie(stack.url, COOKIE) ?? '').split('.')) secrets.add(part)
      for (const value of ['code', 'state']) secrets.add(callback.searchParams.get(value) ?? '')
      return callback
    }
    const begin = async (visitor: Visitor, person: string, query = ''): Promise<URL> =>
      keep(visitor, await stack.begin(visitor, person, query))
    const problem = (answer: Answer, status: number, code: string): void =>
      void expectProblem(answer, { status, code, base: stack.url })

    before(async () => {
      await stack.link('Ada@example.com', 'ada at the provider')
    })
    after(() => {
      const log = JSON.stringify(stack.stack.logs())
      expect(secrets.size).to.be.greaterThan(20)
      for (const secret of secrets) if (secret.length > 20) expect(log.includes(secret), secret).to.equal(false)
      expect(log.includes('eyJ'), 'a token in a log').to.equal(false)
      expect(log.includes(CONFIDENTIAL.client_secret), 'the secret of the client in a log').to.equal(false)
    })

    it('leads to the provider with state, nonce and PKCE, bound to a cookie', async () => {
      const answer = await call(stack.url, '/auth/sign-in?returnTo=/orders')
      expect(answer.status).to.equal(303)
      const to = new URL(answer.headers.location ?? '')
      expect(to.origin + to.pathname).to.equal(`${stack.provider.issuer}/auth`)
      const [cookie = '', ...others] = setCookies(answer)
      expect(others).to.deep.equal([])
      const [, value = ''] =
        /^app_auth_sign_in=([^;]+); Max-Age=600; Path=\/auth; HttpOnly; SameSite=Lax$/.exec(cookie) ?? []
      const [state, nonce, verifier = '', path = ''] = value.split('.')
      const { code_challenge: challenge, claims, ...params } = Object.fromEntries(to.searchParams)
      expect(params).to.deep.equal({
        client_id: CONFIDENTIAL.client_id,
        response_type: 'code',
        redirect_uri: `${stack.url}/auth/callback`,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge_method: 'S256'
      })
      expect(challenge).to.equal(createHash('sha256').update(verifier).digest('base64url'))
      expect(claims).to.equal('{"id_token":{"email":null,"email_verified":null,"name":null}}')
      expect(new Set([state, nonce, verifier]).size).to.equal(3)
      for (const one of [state, nonce, verifier]) expect(one).to.match(/^[\w-]{43}$/)
      expect(Buffer.from(path, 'base64url').toString()).to.equal('/orders')
      expect(answer.headers).to.include({
        'cache-control': 'private, no-store',
        vary: 'Cookie',
        'referrer-policy': 'no-referrer'
      })
    })

    it('opens a session for the linked account', async () => {
      const visitor = new Visitor()
      const callback = await begin(visitor, 'ada at the provider', '?returnTo=/orders%3Fpage=2')
      const answer = await stack.finish(visitor, callback, { 'x-request-id': 'ada-signs-in' })
      expect(answer.status, answer.text).to.equal(200)
      const { accessToken, ...others } = json(answer) as Record<string, unknown>
      expect(Object.keys(others)).to.deep.equal(['accessTokenExpiry', 'returnTo'])
      expect(others['returnTo']).to.equal('/orders?page=2')
      expect(namesSet(answer)).to.deep.equal([COOKIE, 'app_auth_access', 'app_auth_refresh'])
      expect(setCookies(answer)[0]).to.equal(CLEARED)
      expect(setCookies(answer)[1]).to.equal(
        `app_auth_access=${String(accessToken)}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax`
      )
      expect(answer.headers).to.include({ 'cache-control': 'private, no-store', vary: 'Cookie' })
      const refresh = visitor.cookie(stack.url, 'app_auth_refresh') ?? ''
      secrets.add(refresh)
      expect(answer.text).to.not.contain(refresh)

      expect(claimsOf(answer)).to.include({
        iss: 'uniform-rest',
        sub: 'ada@example.com',
        name: 'Ada',
        role: 'Customer'
      })
      expect((await call(stack.url, '/orders', { token: String(accessToken) })).status).to.equal(200)
      const token = await visitor.send(`${stack.url}/auth/session/token`, { method: 'POST' })
      expect(token.status, token.text).to.equal(200)
      expect((await visitor.send(`${stack.url}/auth/logout`, { method: 'POST' })).status).to.equal(204)

      const isSignIn = (one: LogEntry): boolean => one['event'] === 'sign-in' && one['requestId'] === 'ada-signs-in'
      const line = await stack.stack.dataService.logged(isSignIn)
      expect(line).to.include({
        outcome: 'success',
        session: claimsOf(answer)['sid'],
        account: createHash('sha256').update('uniform-rest\nada@example.com').digest('hex').slice(0, 16),
        clientAddress: '127.0.0.1'
      })
    })

    it('ends the session that it replaces', async () => {
      const first = new Visitor()
      await stack.finish(first, await begin(first, 'ada at the provider'))
      const refresh = first.cookie(stack.url, 'app_auth_refresh') ?? ''
      await stack.finish(first, await begin(first, 'ada at the provider'))
      const old = await call(stack.url, '/auth/session/token', {
        method: 'POST',
        headers: { cookie: `app_auth_refresh=${refresh}` }
      })
      expect(old.status).to.equal(401)
    })

    it('is finished by another replica than it was begun with', async () => {
      const other = startProcess(GATEWAY, {
        GATEWAY_PORT: '0',
        DATA_SERVICE_ADDRESS: stack.stack.dataAddress,
        PUBLIC_BASE_URL: stack.url,
        COOKIE_SECURE: 'false',
        OIDC_ISSUER: stack.provider.issuer,
        OIDC_CLIENT_ID: CONFIDENTIAL.client_id,
        OIDC_CLIENT_SECRET: CONFIDENTIAL.client_secret,
        OIDC_CLIENT_AUTHENTICATION: 'client_secret_basic'
      })
      try {
        const visitor = new Visitor()
        const callback = await begin(visitor, 'ada at the provider')
        const answer = await call(await listening(other, 'url'), '/auth/callback', {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            cookie: `${COOKIE}=${visitor.cookie(stack.url, COOKIE) ?? ''}`
          },
          body: JSON.stringify(Object.fromEntries(callback.searchParams))
        })
        // The listener has another origin than PUBLIC_BASE_URL, but nothing in the request says so.
        expect(answer.status, answer.text).to.equal(200)
      } finally {
        await other.stop()
      }
    })

    it('rejects a person without a linked account, and sets no session cookie', async () => {
      for (const person of ['eve', 'ADA at the provider', 'ada at the provider ']) {
        const { answer } = await stack.signIn(person)
        problem(answer, 401, 'auth.invalid-credentials')
        expect(json(answer)).to.include({
          detail: 'No account is linked to this sign-in. Ask an administrator to link one.'
        })
        expect(namesSet(answer)).to.deep.equal([COOKIE])
      }
    })

    it('rejects a person whose account is disabled', async () => {
      await stack.link('ben@example.com', 'ben at the provider')
      expect((await stack.signIn('ben at the provider')).answer.status).to.equal(200)
      const setBen = (column: string, value: string): Promise<unknown> =>
        withTestDatabase(stack.databaseUrl, (database) =>
          database.run(`UPDATE ur_accounts SET ${column} = ${value} WHERE email = 'ben@example.com'`)
        )
      await setBen('disabled_at', '1')
      const { answer } = await stack.signIn('ben at the provider')
      problem(answer, 401, 'auth.invalid-credentials')
      expect(namesSet(answer)).to.deep.equal([COOKIE])
      await setBen('disabled_at', 'NULL')
      expect((await stack.signIn('ben at the provider')).answer.status).to.equal(200)
    })

    it('goes by links that a command makes, shows and takes away', async () => {
      const { issuer } = stack.provider
      const identity = ['--issuer', issuer, '--subject', 'Cy at the provider'] as const
      const said = async (...args: readonly string[]): Promise<string> => {
        const { output, errors } = await stack.account(...args)
        return errors === '' ? output : errors
      }
      expect((await stack.signIn('Cy at the provider')).answer.status).to.equal(401)
      expect(await said('link', 'nobody-here@example.com', ...identity)).to.equal(
        'There is no account "nobody-here@example.com".\n'
      )
      expect(await said('link', 'clerk@example.com', '--issuer', issuer)).to.match(/^--issuer and --subject are needed/)
      expect(await said('link', 'clerk@example.com', '--issuer', 'x', '--subject', 'y')).to.match(
        /^The issuer must be a URL/
      )
      expect(await said('link', 'clerk@example.com', '--issuer', issuer, '--subject', 'y'.repeat(256))).to.match(
        /^The subject must be/
      )
      const text = `"Cy at the provider" at ${issuer}`
      expect(await said('link', 'Clerk@example.com', ...identity)).to.equal(
        `Clerk@example.com is now linked to ${text}.\n`
      )
      expect(await said('link', 'clerk@example.com', ...identity)).to.contain('was already linked')
      expect(await said('link', 'ben@example.com', ...identity)).to.match(/linked to another account already/)
      const { answer, visitor } = await stack.signIn('Cy at the provider')
      expect(claimsOf(answer)).to.include({ sub: 'clerk@example.com' })
      expect(await said('list')).to.match(/^clerk@example\.com .* linked to "Cy at the provider" at http/m)
      const listed = JSON.parse(await said('list', '--json')) as readonly { email: string; identities: unknown }[]
      expect(listed.find(({ email }) => email === 'clerk@example.com')?.identities).to.deep.equal([
        { issuer, subject: 'Cy at the provider' }
      ])
      expect(listed.find(({ email }) => email === 'admin@example.com')?.identities).to.deep.equal([])
      expect(await said('unlink', 'ben@example.com', ...identity)).to.equal(
        'This person is not linked to the account.\n'
      )
      expect(await said('unlink', 'clerk@example.com', ...identity)).to.contain('is no longer linked to')
      expect((await stack.signIn('Cy at the provider')).answer.status).to.equal(401)
      const session = await visitor.send(`${stack.url}/auth/session/token`, { method: 'POST' })
      expect(session.status, 'sessions go on').to.equal(200)
    })

    it('is finished once: neither the cookie, nor the code, nor the state is good again', async () => {
      const visitor = new Visitor()
      const callback = await begin(visitor, 'ada at the provider')
      const cookie = visitor.cookie(stack.url, COOKIE) ?? ''
      expect((await stack.finish(visitor, callback)).status).to.equal(200)
      expect(visitor.cookie(stack.url, COOKIE)).to.equal(undefined)
      problem(await stack.finish(visitor, callback), 401, 'auth.invalid-credentials')
      visitor.setCookie(stack.url, COOKIE, cookie)
      problem(await stack.finish(visitor, callback), 401, 'auth.invalid-credentials')
    })

    it('rejects another state, and goes on with the right one', async () => {
      const visitor = new Visitor()
      const callback = await begin(visitor, 'ada at the provider')
      for (const state of ['x'.repeat(43), 'x']) {
        const forged = new URL(callback)
        forged.searchParams.set('state', state)
        const answer = await stack.finish(visitor, forged)
        problem(answer, 401, 'auth.invalid-credentials')
        expect(setCookies(answer), state).to.deep.equal([])
      }
      expect((await stack.finish(visitor, callback)).status).to.equal(200)
    })

    it('rejects a callback in a browser that began none, or another one', async () => {
      const attacker = new Visitor()
      const callback = await begin(attacker, 'ada at the provider')
      problem(await stack.finish(new Visitor(), callback), 401, 'auth.invalid-credentials')
      const victim = new Visitor()
      await begin(victim, 'ada at the provider')
      problem(await stack.finish(victim, callback), 401, 'auth.invalid-credentials')
      const cookies = [attacker, victim].map((one) => `${COOKIE}=${one.cookie(stack.url, COOKIE) ?? ''}`).join('; ')
      const ambiguous = await call(stack.url, '/auth/callback', {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie: cookies },
        body: JSON.stringify(Object.fromEntries(callback.searchParams))
      })
      problem(ambiguous, 401, 'auth.invalid-credentials')
    })

    it('rejects a code with the PKCE verifier or the nonce of another sign-in', async () => {
      for (const place of [1, 2]) {
        const visitor = new Visitor()
        const callback = await begin(visitor, 'ada at the provider')
        const parts = (visitor.cookie(stack.url, COOKIE) ?? '').split('.')
        parts[place] = 'A'.repeat(43)
        visitor.setCookie(stack.url, COOKIE, parts.join('.'))
        const answer = await stack.finish(visitor, callback)
        problem(answer, 401, 'auth.invalid-credentials')
        expect(namesSet(answer)).to.deep.equal([COOKIE])
      }
    })

    it('rejects an answer that names another issuer, or none (RFC 9207)', async () => {
      for (const iss of ['https://other.example', undefined]) {
        const visitor = new Visitor()
        const callback = await begin(visitor, 'ada at the provider')
        if (iss === undefined) callback.searchParams.delete('iss')
        else callback.searchParams.set('iss', iss)
        problem(await stack.finish(visitor, callback), 401, 'auth.invalid-credentials')
      }
    })

    it('answers the way back with a page that sets no cookie and repeats nothing of the query', async () => {
      const answer = await call(stack.url, '/auth/callback?code=the-code&state=the-state&iss=%3Cb%3E', {
        headers: { 'sec-fetch-site': 'cross-site', origin: 'https://provider.example' }
      })
      expect(answer.status).to.equal(200)
      expect(setCookies(answer)).to.deep.equal([])
      expect(answer.text).to.not.match(/the-code|the-state|<b>/)
      const { 'content-security-policy': policy = '' } = answer.headers as Record<string, string>
      const [, script = ''] = /<script>([\s\S]*)<\/script>/.exec(answer.text) ?? []
      expect(policy).to.contain(`script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`)
      expect(policy).to.contain("default-src 'none'").and.to.contain("frame-ancestors 'none'")
      expect(answer.headers).to.include({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer'
      })
      problem(await call(stack.url, '/auth/callback'), 401, 'auth.invalid-credentials')
    })

    it('shows an error of the provider without a word of it', async () => {
      const visitor = new Visitor()
      const begun = await visitor.send(`${stack.url}/auth/sign-in`)
      const login = await visitor.send(begun.headers.location ?? '')
      const abort = await visitor.send(`${stack.provider.issuer}${login.headers.location ?? ''}/abort`)
      const back = new URL((await visitor.send(abort.headers.location ?? '')).headers.location ?? '')
      expect(back.searchParams.get('error')).to.equal('access_denied')
      const cancelled = await visitor.send(back.href, { headers: { 'sec-fetch-site': 'cross-site' } })
      expect(cancelled.status).to.equal(200)
      expect(cancelled.text).to.contain('cancelled').and.not.contain('aborted interaction').and.not.contain('<script')
      expect(setCookies(cancelled)).to.deep.equal([])

      const other = await call(stack.url, '/auth/callback?error=%3Cscript%3Ealert(1)&error_description=%3Cscript%3E')
      expect(other.status).to.equal(200)
      expect(other.text).to.contain('could not sign you in').and.not.contain('<script').and.not.contain('alert')
    })

    it('leads from the way back to where the sign-in began, for the browser and the state that began it alone', async () => {
      const visitor = new Visitor()
      const callback = await begin(visitor, 'ada at the provider', '?returnTo=/admin/%23/orders%3Fa=%22%26')
      const { searchParams: query } = callback
      const hrefs = async (who: Visitor, search: string): Promise<readonly string[]> => {
        const { text } = await who.send(`${stack.url}/auth/callback?${search}`)
        return Array.from(text.matchAll(/<a href="([^"]*)"/g), ([, href = '']) => href)
      }
      const known = [
        `/auth/sign-in?returnTo=${encodeURIComponent('/admin/#/orders?a="&')}`,
        '/admin/#/orders?a=&quot;&amp;'
      ]
      const state = query.get('state') ?? ''
      expect(await hrefs(visitor, query.toString())).to.deep.equal(known)
      expect(await hrefs(visitor, `error=access_denied&state=${state}`)).to.deep.equal(known)
      const unknown = ['/auth/sign-in']
      expect(await hrefs(visitor, `code=a&state=${state.slice(1)}`)).to.deep.equal(unknown)
      expect(await hrefs(visitor, 'error=access_denied')).to.deep.equal(unknown)
      expect(await hrefs(new Visitor(), query.toString())).to.deep.equal(unknown)
    })

    it('takes nothing from other sites, but for the way back', async () => {
      const headers = { 'sec-fetch-site': 'cross-site' }
      problem(await call(stack.url, '/auth/sign-in', { headers }), 403, 'request.cross-site')
      const visitor = new Visitor()
      const callback = await begin(visitor, 'ada at the provider')
      problem(await stack.finish(visitor, callback, headers), 403, 'request.cross-site')
      problem(await stack.finish(visitor, callback, { origin: 'null' }), 403, 'request.cross-site')
      problem(await stack.finish(visitor, callback, { origin: 'https://evil.example' }), 403, 'request.cross-site')
      problem(await call(stack.url, '/auth/callback', { method: 'OPTIONS', headers }), 403, 'request.cross-site')
      problem(await call(stack.url, '/auth/callback', { method: 'DELETE' }), 405, 'method.not-allowed')
      expect((await stack.finish(visitor, callback, { origin: stack.url })).status).to.equal(200)
    })

    it('takes JSON alone', async () => {
      const visitor = new Visitor()
      const callback = await begin(visitor, 'ada at the provider')
      const post = (body: string, type: string): Promise<Answer> =>
        visitor.send(`${stack.url}/auth/callback`, { method: 'POST', headers: { 'content-type': type }, body })
      for (const type of ['application/x-www-form-urlencoded', 'text/plain']) {
        problem(await post(callback.searchParams.toString(), type), 415, 'media-type.unsupported')
      }
      for (const body of [
        '{}',
        '{"code":1,"state":"x"}',
        '{"code":"","state":"x"}',
        '{"code":"x","state":"x","iss":7}',
        '[]'
      ]) {
        problem(await post(body, 'application/json'), 400, 'body.invalid')
      }
    })

    it('leads on to paths of this origin alone', async () => {
      for (const path of [
        '//evil.example',
        '/\\evil.example',
        '\\\\evil.example',
        'https://evil.example/',
        'javascript:alert(1)',
        'orders',
        '/\t/evil.example',
        '/\n/evil.example',
        '/.//evil.example',
        '/x/..//evil.example',
        ' /orders',
        `/${'x'.repeat(2048)}`,
        ''
      ]) {
        const visitor = new Visitor()
        await visitor.send(`${stack.url}/auth/sign-in?returnTo=${encodeURIComponent(path)}`)
        const [, , , kept = ''] = (visitor.cookie(stack.url, COOKIE) ?? '').split('.')
        expect(Buffer.from(kept, 'base64url').toString(), path).to.equal('/')
      }
      // A neighbour on the domain may have written the cookie.
      const visitor = new Visitor()
      const callback = await begin(visitor, 'ada at the provider')
      const parts = (visitor.cookie(stack.url, COOKIE) ?? '').split('.')
      parts[3] = Buffer.from('//evil.example').toString('base64url')
      visitor.setCookie(stack.url, COOKIE, parts.join('.'))
      const answer = await stack.finish(visitor, callback)
      expect(json(answer)).to.include({ returnTo: '/' })
    })

    describe('at the data service, which anybody may call,', () => {
      let caller: AuthCaller
      before(() => {
        caller = new AuthCaller(stack.stack.dataAddress)
      })
      after(() => caller.close())
      let count = 0
      /** Each from an address of its own, so that no limit is reached. */
      const signIn = (idToken: string, nonce = 'the-nonce'): ReturnType<AuthCaller['signIn']> =>
        caller.signIn({ idToken, nonce, clientAddress: `203.0.113.${(count += 1)}`, replacedRefreshTokens: [] })
      const now = (): number => Math.floor(Date.now() / 1000)
      const ADA = { sub: 'ada at the provider' }

      it('opens a session for a valid ID token, once', async () => {
        const idToken = stack.provider.idToken({ ...ADA, nonce: 'once' })
        await opened(signIn(idToken, 'once'))
        const again = await rejected(signIn(idToken, 'once'))
        expect(again.details).to.include({ reason: 'auth.invalid-credentials' })
      })

      it('takes several audiences if the token was issued to this client', async () => {
        const aud = [CONFIDENTIAL.client_id, 'another']
        const idToken = stack.provider.idToken({ ...ADA, nonce: 'several', aud, azp: CONFIDENTIAL.client_id })
        await opened(signIn(idToken, 'several'))
      })

      const forged: Readonly<Record<string, () => string>> = {
        'another nonce': () => stack.provider.idToken({ ...ADA, nonce: 'other' }),
        'no nonce': () => stack.provider.idToken(ADA),
        'a signature by another key': () => stack.provider.idToken({ ...ADA, nonce: 'the-nonce' }, { stranger: true }),
        'a key that the provider does not have': () =>
          stack.provider.idToken({ ...ADA, nonce: 'the-nonce' }, { kid: 'another-key' }),
        'no key id': () => stack.provider.idToken({ ...ADA, nonce: 'the-nonce' }, { kid: undefined }),
        'alg none': () => stack.provider.idToken({ ...ADA, nonce: 'the-nonce' }, { alg: 'none' }),
        'HS256 with the secret of the client': () =>
          stack.provider.idToken({ ...ADA, nonce: 'the-nonce' }, { alg: 'HS256' }),
        'another audience': () => stack.provider.idToken({ ...ADA, nonce: 'the-nonce', aud: 'another' }),
        'several audiences without azp': () =>
          stack.provider.idToken({ ...ADA, nonce: 'the-nonce', aud: [CONFIDENTIAL.client_id, 'another'] }),
        'another azp': () => stack.provider.idToken({ ...ADA, nonce: 'the-nonce', azp: 'another' }),
        'another issuer': () => stack.provider.idToken({ ...ADA, nonce: 'the-nonce', iss: 'https://other.example' }),
        'an expiry that is over': () => stack.provider.idToken({ ...ADA, nonce: 'the-nonce', exp: now() - 31 }),
        'no expiry': () => stack.provider.idToken({ ...ADA, nonce: 'the-nonce', exp: undefined }),
        'a time of issue long ago': () =>
          stack.provider.idToken({ ...ADA, nonce: 'the-nonce', iat: now() - 660, exp: now() + 3000 }),
        'a time of issue to come': () => stack.provider.idToken({ ...ADA, nonce: 'the-nonce', iat: now() + 60 }),
        'no time of issue': () => stack.provider.idToken({ ...ADA, nonce: 'the-nonce', iat: undefined }),
        'no subject': () => stack.provider.idToken({ ...ADA, nonce: 'the-nonce', sub: undefined }),
        'an access token of ours': () => ourToken,
        'no JWT': () => 'no.jwt.at-all'
      }
      let ourToken = ''
      before(async () => {
        ourToken = (json((await stack.signIn('ada at the provider')).answer) as { accessToken: string }).accessToken
      })
      for (const [what, idToken] of Object.entries(forged)) {
        it(`rejects ${what}`, async () => {
          const { details, message } = await rejected(signIn(idToken()))
          expect(details).to.include({ reason: 'auth.invalid-credentials' })
          expect(message).to.equal('The sign-in is not valid, or not any more. Begin again.')
        })
      }

      it('counts failures of an address, and of an identity from an address, as those of logins', async () => {
        const attempt = (idToken: string, nonce: string): ReturnType<AuthCaller['signIn']> =>
          caller.signIn({ idToken, nonce, clientAddress: '198.51.100.7', replacedRefreshTokens: [] })
        const unlinked = (): string => stack.provider.idToken({ sub: 'mallory', nonce: 'n' })
        for (let failures = 0; failures < 10; failures += 1) {
          expect((await rejected(attempt(unlinked(), 'n'))).details).to.include({ reason: 'auth.invalid-credentials' })
        }
        const throttled = await rejected(attempt(unlinked(), 'n'))
        expect(throttled.details).to.include({ reason: 'quota-exceeded' })
        await opened(attempt(stack.provider.idToken({ ...ADA, nonce: 'still' }), 'still'))
        for (let failures = 0; failures < 10; failures += 1) await rejected(attempt('no.jwt.at-all', 'n'))
        expect((await rejected(attempt('no.jwt.at-all', 'n'))).details).to.include({ reason: 'quota-exceeded' })
      })
    })
  },
  { on: 'sqlite' }
)
