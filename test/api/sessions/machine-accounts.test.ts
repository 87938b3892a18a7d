import { setTimeout } from 'node:timers/promises'
import { expect } from 'chai'
import { expectProblem } from '../expect-problem.js'
import { type Answer, json } from '../http-call.js'
import { describeSessions } from './session-stack.js'

const SAMPLE = ['nightly-export', 'demo-secret-of-nightly-export'] as const
const GRANT = 'grant_type=client_credentials'

function basic(id: string, secret: string): string {
  const encoded = [id, secret].map((text) => encodeURIComponent(text)).join(':')
  return `Basic ${Buffer.from(encoded).toString('base64')}`
}

const inBody = (id: string, secret: string): string =>
  `${GRANT}&client_id=${id}&client_secret=${encodeURIComponent(secret)}`

describeSessions(
  'machine accounts',
  { TRUSTED_PROXIES: '127.0.0.1' },
  (stack) => {
    let clients = 0
    /** Each from an address of its own, unless one is given: failures are counted by it. */
    const ask = (body: string, { authorization, ...headers }: Readonly<Record<string, string>> = {}): Promise<Answer> =>
      stack.send('/auth/token', {
        body,
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-forwarded-for': `198.51.100.${(clients = (clients + 1) % 250)}`,
          ...(authorization === undefined ? {} : { authorization }),
          ...headers
        }
      })
    const problem = (answer: Answer, status: number, code: string): void => {
      expectProblem(answer, { status, code, base: stack.url() })
    }
    const tokenIn = (answer: Answer): string => {
      expect(answer.status, answer.text).to.equal(200)
      return (json(answer) as { access_token: string }).access_token
    }
    const fails = (answer: Answer, status: number, error: string): void => {
      expect([answer.status, answer.headers['content-type']], answer.text).to.deep.equal([status, 'application/json'])
      const body = json(answer) as { error: string; error_description: string }
      expect(Object.keys(body)).to.deep.equal(['error', 'error_description'])
      expect(body.error).to.equal(error)
      // The characters of RFC 6749 section 5.2.
      expect(body.error_description).to.match(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
      const challenge = status === 401 ? 'Basic realm="machine accounts", charset="UTF-8"' : undefined
      expect(answer.headers['www-authenticate']).to.equal(challenge)
    }
    const run = async (...args: string[]): Promise<string> => {
      const { code, output, errors } = await stack.account(args)
      expect(code, errors).to.equal(0)
      return output
    }
    const secretIn = (output: string): string => /^Client secret: (.*)$/m.exec(output)?.[1] ?? ''

    const secrets: string[] = [SAMPLE[1]]
    after(() => {
      const log = stack.logText()
      for (const secret of secrets) {
        expect(log.includes(secret), `${secret} in a log`).to.equal(false)
        expect(log.includes(basic(SAMPLE[0], secret).slice(6)), `${secret} in a log, in Base64`).to.equal(false)
      }
      for (const { headers } of stack.answers) expect(headers).to.not.have.property('set-cookie')
    })

    it('get a token by Basic and by the body, which no cache stores', async () => {
      for (const answer of [
        await ask(GRANT, { authorization: basic(...SAMPLE) }),
        await ask(`${GRANT}&client_id=nightly-export`, { authorization: basic(...SAMPLE) }),
        await ask(inBody(...SAMPLE)),
        await ask(`${inBody(...SAMPLE)}&unknown=1&empty=`)
      ]) {
        const body = json(answer) as { access_token: string; token_type: string; expires_in: number }
        expect(answer.status, answer.text).to.equal(200)
        expect(Object.keys(body)).to.deep.equal(['access_token', 'token_type', 'expires_in'])
        expect(body.token_type).to.equal('Bearer')
        expect(body.expires_in).to.be.within(890, 900)
        expect(answer.headers).to.include({ 'cache-control': 'no-store', pragma: 'no-cache' })
        const customers = await stack.send('/customers', { method: 'GET', token: body.access_token })
        expect(customers.status, customers.text).to.equal(200)
        const entries = await stack.send('/audit-entries', { method: 'GET', token: body.access_token })
        expect(entries.status, 'a Clerk').to.equal(403)
      }
    })

    it('are refused in the words of RFC 6749', async () => {
      const authorization = basic(...SAMPLE)
      for (const [status, error, body, headers] of [
        [400, 'invalid_request', ''],
        [400, 'invalid_request', 'grant_type=', { authorization }],
        [400, 'invalid_request', `${GRANT}&${GRANT}`, { authorization }],
        [400, 'invalid_request', `${inBody(...SAMPLE)}&x=1&x=2`],
        [400, 'invalid_request', `${GRANT}&client_id=%ff`],
        [400, 'invalid_request', `${GRANT}&client_id=%`],
        [400, 'invalid_request', inBody(...SAMPLE), { authorization }],
        [400, 'invalid_request', `${GRANT}&client_id=other`, { authorization }],
        [400, 'unsupported_grant_type', 'grant_type=password&username=a&password=b'],
        [400, 'unsupported_grant_type', 'grant_type=CLIENT_CREDENTIALS', { authorization }],
        [400, 'invalid_scope', `${GRANT}&scope=orders`, { authorization }],
        [401, 'invalid_client', GRANT],
        [401, 'invalid_client', `${GRANT}&client_id=nightly-export`],
        [401, 'invalid_client', `${GRANT}&client_secret=x`],
        [401, 'invalid_client', GRANT, { authorization: 'Basic' }],
        [401, 'invalid_client', GRANT, { authorization: 'Basic !!!' }],
        [401, 'invalid_client', GRANT, { authorization: 'Basic bmlnaHRseS1leHBvcnQ=' }],
        [401, 'invalid_client', GRANT, { authorization: `Basic ${Buffer.from('a:%').toString('base64')}` }],
        [401, 'invalid_client', GRANT, { authorization: 'Bearer e30.e30.AAAA' }],
        [401, 'invalid_client', GRANT, { authorization: basic(SAMPLE[0], 'wrong') }],
        [401, 'invalid_client', inBody(SAMPLE[0], 'wrong')],
        [401, 'invalid_client', inBody('nobody', SAMPLE[1])],
        [401, 'invalid_client', inBody('clerk@example.com', 'demo-password')],
        [401, 'invalid_client', inBody('x'.repeat(300), 'x')]
      ] as const) {
        fails(await ask(body, headers), status, error)
      }
      // An intermediary may have looked at the other line.
      const twice = {
        'content-type': 'application/x-www-form-urlencoded',
        Authorization: [authorization, basic('a', 'b')]
      }
      fails(await stack.send('/auth/token', { body: GRANT, headers: twice }), 401, 'invalid_client')
    })

    it('get problem documents for what RFC 6749 has no word for', async () => {
      const authorization = basic(...SAMPLE)
      const type = (text: string) => ask(GRANT, { authorization, 'content-type': text })
      problem(await type('application/json'), 415, 'media-type.unsupported')
      problem(await type('application/x-www-form-urlencoded; charset=latin1'), 415, 'media-type.unsupported')
      problem(await ask(`${GRANT}${'&'.repeat(17_000)}`, { authorization }), 413, 'body.too-large')
      problem(await stack.send('/auth/token', { method: 'GET' }), 405, 'method.not-allowed')
      for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://other.example' }]) {
        problem(await ask(GRANT, { authorization, ...headers }), 403, 'request.cross-site')
      }
    })

    it('are made and rotated by command, and a secret or an account ends at once on every replica', async () => {
      const added = await run('add', '--machine', 'stock-sync', '--role', 'Clerk', '--name', 'Stock sync')
      expect(added).to.match(/^Added stock-sync: Stock sync, role Clerk, no owner, no further claims\.$/m)
      expect(added).to.match(/^Client id: stock-sync$/m)
      const first = secretIn(added)
      const second = secretIn(await run('add-secret', 'stock-sync', '--expires', '90d'))
      secrets.push(first, second)
      for (const secret of [first, second]) tokenIn(await ask(inBody('stock-sync', secret)))
      const listed = await run('list')
      expect(listed).to.match(
        /stock-sync .*machine, secret 1 \(made .*, last used .*\), secret 2 \(made .*, expires .*\)$/m
      )
      expect(listed).to.not.include(first)
      await run('remove-secret', 'stock-sync', '1')
      for (const gateway of [0, 1]) {
        const headers = {
          authorization: basic('stock-sync', first),
          'content-type': 'application/x-www-form-urlencoded'
        }
        fails(await stack.send('/auth/token', { gateway, body: GRANT, headers }), 401, 'invalid_client')
      }
      tokenIn(await ask(inBody('stock-sync', second)))
      await run('disable', 'stock-sync')
      fails(await ask(inBody('stock-sync', second)), 401, 'invalid_client')
      await run('enable', 'stock-sync')
      tokenIn(await ask(inBody('stock-sync', second)))
      const wrong = [
        ['add', 'stock-sync', '--no-password'],
        ['add', '--machine', 'stock-sync'],
        ['add', '--machine', 'Stock_Sync'],
        ['add', '--machine', '42'],
        ['add', '--machine', 'a@example.com'],
        ['add-secret', 'ada@example.com'],
        ['add-secret', 'stock-sync', '--expires', 'soon'],
        ['add-secret', 'stock-sync', '--expires', '999999999d'],
        ['remove-secret', 'stock-sync', '1'],
        ['remove-secret', 'stock-sync', '3'],
        ['link', 'stock-sync', '--issuer', 'https://a.example', '--subject', 's']
      ]
      for (const args of wrong) expect((await stack.account(args)).code, args.join(' ')).to.equal(1)
      expect((await stack.account(['set-password', 'stock-sync'], 'a new passphrase')).errors).to.include(
        'e-mail address'
      )
    })

    it('are throttled as logins are, with a problem document', async () => {
      const from = { 'x-forwarded-for': '203.0.113.7' }
      for (let i = 0; i < 10; i++) fails(await ask(inBody('nightly-export', 'guess'), from), 401, 'invalid_client')
      const throttled = await ask(inBody(...SAMPLE), from)
      problem(throttled, 429, 'quota-exceeded')
      expect(Number(throttled.headers['retry-after'])).to.be.within(800, 900)
      tokenIn(await ask(inBody(...SAMPLE)))
    })

    it('have their name in the audit trail and in the lines of the logs', async () => {
      const token = tokenIn(await ask(inBody(...SAMPLE)))
      const made = await stack.send('/suppliers', {
        token,
        json: { name: 'Made by a machine', country: 'NO' },
        headers: { 'x-request-id': 'by-a-machine' }
      })
      expect(made.status, made.text).to.equal(201)
      const { code, output } = await stack.account(['list', '--json'])
      expect(code).to.equal(0)
      const listed = JSON.parse(output) as readonly { readonly email: string; readonly secrets: readonly object[] }[]
      const machine = listed.find(({ email }) => email === 'nightly-export')
      expect(machine).to.deep.include({ hasPassword: false, sample: true, roles: ['Clerk'] })
      expect(Object.keys(machine?.secrets[0] ?? {})).to.deep.equal(['number', 'createdAt', 'expiresAt', 'lastUsedAt'])
      const query =
        'filters%5Baction%5D.operator=equals&filters%5Baction%5D.value=create&sortColumn=id&sortDirection=desc'
      const admin = tokenIn(
        await ask(inBody('auditor', secretIn(await run('add', '--machine', 'auditor', '--role', 'Admin'))))
      )
      const audit = await stack.send(`/audit-entries/paged?${query}`, { method: 'GET', token: admin })
      expect((json(audit) as { subject: string; resource: string }[])[0], audit.text).to.include({
        subject: 'uniform-rest nightly-export',
        resource: 'suppliers'
      })
      for (const message of ['request', 'call']) {
        const isIt = (text: string): boolean => text.includes('"by-a-machine"') && text.includes(`"msg":"${message}"`)
        let line: string | undefined
        while (line === undefined) {
          await setTimeout(20)
          line = stack.logText().split('\n').find(isIt)
        }
        expect(JSON.parse(line), message).to.include({ machine: 'nightly-export' })
      }
    })
  },
  { on: 'mysql' }
)
