import { expect } from 'chai'
import { withTestDatabase } from '../../oracle/test-database.js'
import type { LogEntry } from '../../stack/server-log.js'
import { AuthCaller, opened } from '../auth/auth-caller.js'
import { expectProblem } from '../expect-problem.js'
import { type Answer, call, json } from '../http-call.js'
import { claimsOf, describeSignIn } from './sign-in-stack.js'
import { PUBLIC_CLIENT } from './test-provider.js'

const SETTINGS = { OIDC_CLIENT_ID: PUBLIC_CLIENT, OIDC_CLIENT_SECRET: '', OIDC_NEW_ACCOUNT_ROLE: 'CUSTOMER' }

describeSignIn(
  'sign-in with accounts for everybody, as a public client,',
  { settings: SETTINGS },
  (stack) => {
    const expectRejected = (answer: Answer, detail: RegExp): void => {
      const problem = expectProblem(answer, { status: 401, code: 'auth.invalid-credentials', base: stack.url })
      expect(problem.detail).to.match(detail)
      expect(answer.headers['set-cookie']?.map((line) => line.split('=')[0])).to.deep.equal(['app_auth_sign_in'])
    }
    const accounts = (): Promise<unknown> =>
      withTestDatabase(stack.databaseUrl, (database) => database.run('SELECT email FROM ur_accounts ORDER BY email'))

    it('makes an account with the role of the setting, as the application writes it, and finds it again', async () => {
      stack.provider.people.set('zoe', { email: 'Zoe@Example.com', email_verified: true, name: 'Zoe Zimmer' })
      const { answer } = await stack.signIn('zoe')
      expect(answer.status, answer.text).to.equal(200)
      const claims = claimsOf(answer)
      expect(claims).to.include({ sub: 'Zoe@Example.com', name: 'Zoe Zimmer', role: 'Customer' })
      expect(claims).to.not.have.any.keys('customer_id')
      const before = await accounts()
      // Not the address tells who it is: the provider may change it.
      stack.provider.people.set('zoe', { email: 'other@example.com', email_verified: true, name: 'Other' })
      const again = await stack.signIn('zoe')
      expect(claimsOf(again.answer)).to.include({ sub: 'Zoe@Example.com', name: 'Zoe Zimmer' })
      expect(await accounts()).to.deep.equal(before)
      const events = (): readonly LogEntry[] => stack.stack.logs().filter((one) => one['event'] === 'sign-in')
      // The log comes over a pipe of its own.
      await stack.stack.dataService.logged(() => events().length === 3)
      expect(events().map((one) => one['outcome'])).to.deep.equal(['created', 'success', 'success'])
    })

    it('makes one account for an identity that signs in at several places at once', async () => {
      const caller = new AuthCaller(stack.stack.dataAddress)
      try {
        // Each round is another chance for them to meet. Those of one address would wait for each other anyway.
        for (let round = 0; round < 10; round += 1) {
          const person = { sub: `many-${round}`, aud: PUBLIC_CLIENT, email: `many-${round}@example.com` }
          await Promise.all(
            [1, 2, 3].map((at) => {
              const nonce = `${round}-${at}`
              const idToken = stack.provider.idToken({ ...person, nonce })
              return opened(caller.signIn({ idToken, nonce, clientAddress: `203.0.113.${at}` }))
            })
          )
        }
      } finally {
        caller.close()
      }
      const { output } = await stack.account('list')
      expect(output.match(/^many-\d@example\.com /gm)).to.have.length(10)
    })

    it('gives such an account no password: a login answers as for a wrong one', async () => {
      stack.provider.people.set('pat', { email: 'pat@example.com' })
      const { answer } = await stack.signIn('pat')
      expect(claimsOf(answer)).to.include({ sub: 'pat@example.com', name: 'pat@example.com' })
      const login = (email: string, password: string): Promise<Answer> =>
        call(stack.url, '/auth/login', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ email, password })
        })
      const answers = [await login('pat@example.com', 'any'), await login('nobody@example.com', 'any')]
      const [ofPat, ofNobody] = answers.map((one) => ({ ...(json(one) as object), requestId: '' }))
      expect(ofPat).to.deep.equal(ofNobody)
      expectProblem(answers[0] as Answer, { status: 401, code: 'auth.invalid-credentials', base: stack.url })
    })

    it('never joins an identity to an account by its address', async () => {
      stack.provider.people.set('thief', { email: 'ADA@example.com', email_verified: true, name: 'Ada' })
      expectRejected((await stack.signIn('thief')).answer, /There is an account with your e-mail address already/)
      // Nothing was left behind that makes the next try another one.
      expectRejected((await stack.signIn('thief')).answer, /There is an account with your e-mail address already/)
      await stack.link('ada@example.com', 'thief')
      expect(claimsOf((await stack.signIn('thief')).answer)).to.include({ sub: 'ada@example.com' })
    })

    it('makes no account without an address that could be one, or that the provider has not checked', async () => {
      const before = await accounts()
      const people = [
        {},
        { email: 'no address' },
        { email: `${'x'.repeat(250)}@example.com` },
        // A terminal shows it as another address.
        { email: 'x\u202emoc.elpmaxe@example.com' },
        { email: 'x\u009b2J@example.com' },
        { email: 'x\u200b@example.com' }
      ]
      for (const [at, person] of people.entries()) {
        stack.provider.people.set(`nameless-${at}`, person)
        expectRejected((await stack.signIn(`nameless-${at}`)).answer, /names no e-mail address/)
      }
      for (const [at, email_verified] of [false, 'false', 'False', 'TRUE', '', 0, 1, null, [true]].entries()) {
        stack.provider.people.set(`unchecked-${at}`, { email: 'unchecked@example.com', email_verified })
        expectRejected((await stack.signIn(`unchecked-${at}`)).answer, /has not verified your e-mail address/)
      }
      expect(await accounts()).to.deep.equal(before)
    })

    it('takes the text "true" for an address that the provider has checked', async () => {
      stack.provider.people.set('text', { email: 'text@example.com', email_verified: 'true' })
      expect(claimsOf((await stack.signIn('text')).answer)).to.include({ sub: 'text@example.com' })
    })

    it('stores a name without the characters that cannot be seen, up to 200', async () => {
      for (const [at, [name, stored]] of (
        [
          ['\u001b[2JEve\u202e\u2028Zoë\u0085', '[2JEve  Zoë'],
          ['\u200b\u202e', 'name-1@example.com'],
          [`${'n'.repeat(199)}🎈`, 'n'.repeat(199)],
          ['n'.repeat(1000), 'n'.repeat(200)]
        ] as const
      ).entries()) {
        const email = `name-${at}@example.com`
        stack.provider.people.set(`name-${at}`, { email, name })
        expect(claimsOf((await stack.signIn(`name-${at}`)).answer)).to.include({ sub: email, name: stored })
      }
    })
  },
  { on: 'mysql' }
)
