import { expect } from 'chai'
import { AuthCaller, rejected } from '../auth/auth-caller.js'
import { describeApi } from '../api-store.js'
import { expectProblem } from '../expect-problem.js'
import { type Answer, call } from '../http-call.js'
import { describeSignIn } from './sign-in-stack.js'
import { Visitor } from './visitor.js'

function login(url: string): Promise<Answer> {
  return call(url, '/auth/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.com', password: 'demo-password' })
  })
}

describeSignIn(
  'sign-in at a provider that is away from the start',
  { isProviderUp: false },
  (stack) => {
    const expectUnavailable = (answer: Answer): void => {
      expectProblem(answer, { status: 503, code: 'upstream.unavailable', base: stack.url })
      expect(Number(answer.headers['retry-after'])).to.be.greaterThan(0)
    }

    it('is 503 with Retry-After, stops no login with a password, and works again with the provider', async () => {
      await stack.link('ada@example.com', 'ada')
      const answer = await call(stack.url, '/auth/sign-in')
      expectUnavailable(answer)
      expect(answer.headers['set-cookie']).to.equal(undefined)
      expect((await login(stack.url)).status).to.equal(200)

      await stack.provider.resume()
      const visitor = new Visitor()
      const callback = await stack.begin(visitor, 'ada')
      await stack.provider.pause()
      expectUnavailable(await stack.finish(visitor, callback))
      expect((await login(stack.url)).status).to.equal(200)

      await stack.provider.resume()
      expect((await stack.signIn('ada')).answer.status).to.equal(200)
    })
  },
  { on: 'sqlite', never: ['cuts'] }
)

describeSignIn(
  'sign-in with another secret than the provider has',
  { settings: { OIDC_CLIENT_SECRET: 'another secret' } },
  (stack) => {
    it('is 500 configuration, and the log says why', async () => {
      const { answer } = await stack.signIn('ada')
      expectProblem(answer, { status: 500, code: 'configuration', base: stack.url })
      const line = await stack.stack.gateway.logged(
        (one) => one['msg'] === 'the OIDC_ settings do not fit the provider'
      )
      expect(line['reason']).to.match(/rejects this client/)
    })
  },
  { on: 'sqlite', never: ['cuts'] }
)

describeApi(
  'sign-in without a provider',
  (store) => {
    it('is at no path', async () => {
      for (const path of ['/auth/sign-in', '/auth/callback', '/auth/anything']) {
        store.problem(await store.call(path), { status: 404, code: 'route.not-found' })
      }
      const posted = await store.call('/auth/callback', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"code":"x","state":"y"}'
      })
      expect(posted.status).to.equal(
        (
          await store.call('/auth/anything', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: '{}'
          })
        ).status
      )
    })

    it('is a configuration error at the data service', async () => {
      const caller = new AuthCaller(store.stack.dataAddress)
      try {
        const request = { idToken: 'a.b.c', nonce: 'n', clientAddress: '', replacedRefreshTokens: [] }
        expect((await rejected(caller.signIn(request))).details).to.include({ reason: 'configuration' })
      } finally {
        caller.close()
      }
    })
  },
  { on: 'sqlite', never: ['cuts'] }
)
