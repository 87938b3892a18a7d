import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { expectProblem } from '../api/expect-problem.js'
import { type Answer, call, type CallOptions, json } from '../api/http-call.js'
import { AuthCaller } from '../api/auth/auth-caller.js'
import { createClient, isProblem } from '../../clients/typescript/src/client.js'
import { operationsOf } from '../../data-service/operations/calls/account-operations.js'
import { runCommand } from '../harness/command.js'
import { eachDatabase } from '../harness/database.js'
import { outputRoot } from '../harness/package-root.js'
import { examplesOf } from '../readme/readme-examples.js'
import { VARIANTS } from '../harness/variant.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'
import { type FreshDatabase, freshDatabase } from '../stack/databases.js'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { type Stack, startStack } from '../stack/stack.js'
import { MailServer, tokenIn } from './mail-server.js'
import bank from './own-names/uniform-rest.config.js'
import app from './uniform-rest.config.js'

const APP = join(outputRoot, 'test/accounts')
const PASSWORD = 'correct horse battery'

interface Told {
  readonly id: string
  readonly email: string
  readonly roles: readonly string[]
  readonly owner: string | null
  readonly claims: object
  readonly disabledAt: string | null
  readonly secrets: readonly { readonly number: number }[]
  readonly rowVersion: string
}

/** As `client-types` writes them. */
interface ClientTypes {
  readonly resources: object
  readonly operations: {
    'GET /accounts/{id}': { path: { id: string }; query: object; body: never; answer: Told }
    'PUT /accounts/{id}/owner': { path: { id: string }; query: object; body: { owner: string | null }; answer: Told }
  }
}

/** What of its rights an account has, as its tokens say it. */
const CLERK = { roles: ['Clerk'], owner: '5', claims: { department: 'north' } }

describe('the operations that manage accounts', () => {
  const served = (of: Partial<Parameters<typeof operationsOf>[0]>): readonly [paths: number, told: number] => {
    let told = 0
    const { length } = operationsOf({ ...app, ...of }, () => {
      told += 1
    })
    return [length, told]
  }

  it('are there where a role may call them, and nothing of the application is in their place', () => {
    expect(served({})).to.deep.equal([14, 0])
    expect(served({ roles: { Clerk: ['notes:read'] } })).to.deep.equal([0, 0])
    const [notes] = app.entities
    expect(served({ entities: notes === undefined ? [] : [{ ...notes, name: 'accounts' }] })).to.deep.equal([0, 1])
    expect(served({ operations: bank.operations ?? [] })).to.deep.equal([2, 1])
  })
})

eachDatabase(
  (kind) => {
    it('Operations of an application may have the names of those that manage accounts, and stay its own.', async () => {
      const database = await freshDatabase(kind)
      const stack = await startStack({ app: join(APP, 'own-names'), database })
      try {
        const token = stack.token({ sub: 'anybody@example.com' })
        const shown = await call(stack.url, '/bank/1', { token })
        const closed = await call(stack.url, '/bank/1/disable', { method: 'PUT', token })
        expect([json(shown), json(closed)]).to.deep.equal([
          { id: 1, name: 'savings' },
          { id: 1, name: 'closed' }
        ])
        const none = await call(stack.url, '/accounts', { token: stack.token({ sub: 'admin', role: 'Admin' }) })
        expectProblem(none, { status: 404, code: 'route.not-found', base: stack.url })
      } finally {
        await stack.stop()
        await database.dispose()
      }
    })
  },
  { on: 'sqlite' }
)

/** docs/accounts.md. Every account but those of managers is made over HTTP. */
eachDatabase(
  (kind) => {
    describe(`the management of accounts on ${kind}`, () => {
      let database: FreshDatabase
      let stack: Stack
      let sql: TestDatabase
      let mails: MailServer
      const env = (): Readonly<Record<string, string>> => ({ DATABASE_URL: database.url })
      const command = async (line: string, ...args: string[]): Promise<void> => {
        const { code, stderr } = await runCommand(['account', ...args, '--app', APP], { env: env(), line })
        expect(code, stderr).to.equal(0)
      }

      before(async () => {
        database = await freshDatabase(kind)
        mails = await MailServer.start()
        // A proxy says which client it calls for.
        const settings = { ...mails.settings, SIGN_UP_ROLES: 'Guest', TRUSTED_PROXIES: '127.0.0.1' }
        stack = await startStack({ app: APP, database, env: settings })
        sql = await openTestDatabase(database.url)
        await command('', 'add', 'admin@example.com', '--no-password', '--role', 'Admin')
        const rights = ['--role', 'Keeper', '--role', 'Clerk', '--owner', '5', '--claim', 'department=north']
        await command(PASSWORD, 'add', 'keeper@example.com', ...rights)
      })
      after(async () => {
        await mails.stop()
        await sql.close()
        await stack.stop()
        await database.dispose()
      })

      const TOKENS = {
        admin: { sub: 'admin@example.com', role: 'Admin' },
        keeper: { sub: 'keeper@example.com', role: ['Keeper', 'Clerk'], customer_id: 5, department: 'north' },
        clerk: { sub: 'clerk@example.com', role: 'Clerk' }
      } as const
      type Who = keyof typeof TOKENS

      const send = (who: Who | undefined, route: string, body?: unknown, headers: Record<string, string> = {}) => {
        const [method = '', target = ''] = route.split(' ')
        const options: CallOptions = {
          method,
          token: who && stack.token(TOKENS[who]),
          headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        }
        return call(stack.url, target, options)
      }
      const told = (answer: Answer, status = 200): Told => {
        expect(answer.status, answer.text).to.equal(status)
        return json(answer) as Told
      }
      const problem = (answer: Answer, status: number, code: string): void => {
        expectProblem(answer, { status, code, base: stack.url })
      }
      const read = async (id: string): Promise<Told> => told(await send('admin', `GET /accounts/${id}`))
      const idOf = async (email: string): Promise<string> => {
        const { accounts } = json(await send('admin', `GET /accounts?email=${email}`)) as { accounts: Told[] }
        return accounts[0]?.id ?? expect.fail(`no account ${email}`)
      }
      /** With the version that the account has. */
      const change = async (who: Who, id: string, path: string, body?: unknown): Promise<Answer> => {
        const { rowVersion } = await read(id)
        return send(who, `PUT /accounts/${id}/${path}`, body, { 'if-match': `W/"${rowVersion}"` })
      }
      let made = 0
      const add = async (more: object = {}): Promise<Told> => {
        const email = `one${(made += 1)}@example.com`
        return told(await send('admin', 'POST /accounts', { email, ...CLERK, ...more }), 201)
      }
      const login = async (email: string) => {
        const answer = await send(undefined, 'POST /auth/login', { email, password: PASSWORD })
        expect(answer.status, answer.text).to.equal(200)
        const cookies = [answer.headers['set-cookie'] ?? []].flat().map((one) => one.split(';')[0])
        return { cookie: cookies.join('; ') }
      }
      const isOver = async (session: { readonly cookie: string }): Promise<boolean> => {
        // The refresh token alone: an access token outlives its session.
        const cookie = session.cookie
          .split('; ')
          .filter((one) => /refresh/i.test(one))
          .join('; ')
        expect(cookie).to.not.equal('')
        return (await send(undefined, 'POST /auth/session/token', undefined, { cookie })).status === 401
      }

      it('is for callers with the permission alone, shows a page at a time, and never a hash', async () => {
        problem(await send(undefined, 'GET /accounts'), 401, 'auth.required')
        problem(await send('clerk', 'GET /accounts'), 403, 'capability.denied')
        const { id, email } = await add()
        const seen: string[] = []
        for (let next: string | null = '0'; next !== null;) {
          const page = json(await send('keeper', `GET /accounts?limit=2&after=${next}`)) as {
            accounts: Told[]
            next: string | null
          }
          expect(page.accounts.length).to.be.within(1, 2)
          seen.push(...page.accounts.map((one) => one.email))
          next = page.next
        }
        const stored = await sql.run('SELECT email FROM ur_accounts ORDER BY id')
        expect(seen).to.deep.equal(stored.map((row) => row['email']))
        const answer = await send('keeper', `GET /accounts/${id}`)
        expect(answer.headers['etag']).to.equal(`W/"${told(answer).rowVersion}"`)
        expect(told(answer)).to.include({ email, owner: '5', hasPassword: false, isMachine: false, disabledAt: null })
        const keeper = await send('admin', `GET /accounts/${await idOf('KEEPER@example.com')}`)
        expect(keeper.text)
          .to.include('"hasPassword":true')
          .and.not.match(/argon2|hash/i)
        problem(await send('keeper', 'GET /accounts/999999'), 404, 'not-found')
        problem(await send('keeper', 'GET /accounts/x'), 400, 'id.invalid')
      })

      it('changes an account in the version that was read, and leaves an entry of the trail', async () => {
        const { id, rowVersion } = await add()
        const roles = { roles: ['guest', 'CLERK'] }
        problem(await send('admin', `PUT /accounts/${id}/roles`, roles), 428, 'precondition.required')
        const tag = { 'if-match': `W/"${rowVersion}"` }
        const changed = await send('admin', `PUT /accounts/${id}/roles`, roles, { ...tag, 'idempotency-key': `r${id}` })
        expect(told(changed)).to.deep.include({ roles: ['Guest', 'Clerk'], owner: '5' })
        expect(changed.headers['etag']).to.equal(`W/"${told(changed).rowVersion}"`)
        problem(await send('admin', `PUT /accounts/${id}/owner`, { owner: '7' }, tag), 412, 'conflict')
        const again = await send('admin', `PUT /accounts/${id}/roles`, roles, { ...tag, 'idempotency-key': `r${id}` })
        expect([again.text, again.headers['idempotent-replayed']]).to.deep.equal([changed.text, 'true'])
        expect(told(await change('admin', id, 'owner', { owner: '-7' })).owner).to.equal('-7')
        for (const path of ['owner', 'roles', 'claims'])
          problem(await change('admin', id, path, {}), 400, 'body.invalid')
        problem(await change('admin', id, 'roles', { roles: ['Gest'] }), 400, 'body.invalid')
        problem(await change('admin', id, 'roles', { roles: 'Clerk' }), 400, 'body.invalid')
        problem(await change('admin', id, 'claims', { claims: { sub: 'admin@example.com' } }), 400, 'body.invalid')
        const claims = { department: 'south', levels: [1, 2] }
        expect(told(await change('admin', id, 'claims', { claims })).claims).to.deep.equal(claims)
        expect(await read(id)).to.deep.include({ roles: ['Guest', 'Clerk'], owner: '-7', claims })
        const entries = await sql.run(
          `SELECT action, subject, changes FROM ur_audit_entries WHERE resource = 'service.accounts' AND row_id = '${id}' ORDER BY id`
        )
        expect(entries.map(({ action }) => action)).to.deep.equal([
          'add-account',
          'set-account-roles',
          'set-account-owner',
          'set-account-claims'
        ])
        expect(entries[1]?.['subject']).to.match(/ admin@example.com$/)
        expect(entries[1]?.['changes']).to.equal('{"roles":["[\\"Clerk\\"]","[\\"Guest\\",\\"Clerk\\"]"]}')
      })

      it('gives nobody more than the one who gives it holds, and changes no account that holds more', async () => {
        const like = await add()
        const admin = await idOf('admin@example.com')
        const others = [
          await add({ owner: '6' }),
          await add({ claims: { department: 'south' } }),
          await add({ roles: ['Guest'] })
        ]
        const before = await sql.run('SELECT * FROM ur_accounts ORDER BY id')
        const refused = async (answer: Promise<Answer>): Promise<void> =>
          problem(await answer, 403, 'capability.denied')
        for (const id of [like.id, await idOf('keeper@example.com')]) {
          await refused(change('keeper', id, 'roles', { roles: ['Keeper', 'Clerk', 'Admin'] }))
          await refused(change('keeper', id, 'owner', { owner: '6' }))
          await refused(change('keeper', id, 'claims', { claims: { department: 'north', level: 9 } }))
        }
        for (const id of [admin, ...others.map((one) => one.id)]) {
          await refused(change('keeper', id, 'roles', { roles: [] }))
          await refused(change('keeper', id, 'disable'))
          await refused(send('keeper', `DELETE /accounts/${id}/sessions`))
        }
        await refused(send('keeper', 'POST /accounts', { email: 'boss@example.com', roles: ['Admin'] }))
        await refused(send('keeper', 'POST /accounts', { email: 'boss', isMachine: true, roles: ['Guest'] }))
        expect(await sql.run('SELECT * FROM ur_accounts ORDER BY id')).to.deep.equal(before)
        const boss = told(
          await send('admin', 'POST /accounts', { email: 'boss', isMachine: true, roles: ['Admin'] }),
          201
        )
        await refused(send('keeper', `POST /accounts/${boss.id}/secrets`, {}))
        // What it holds it may give, and take away.
        expect(told(await change('keeper', like.id, 'roles', { roles: ['keeper'] })).roles).to.deep.equal(['Keeper'])
        expect(told(await change('keeper', like.id, 'owner', { owner: null })).owner).to.equal(null)
        expect(told(await change('admin', like.id, 'owner', { owner: '0' })).owner).to.equal('0')
        expect(told(await change('admin', like.id, 'owner', { owner: '7' })).owner).to.equal('7')
        expect((await add({ owner: '0' })).owner).to.equal('0')
      })

      it('leaves whoever manages accounts to do so, and believes no token of an account that no longer does', async () => {
        for (const [path, body] of [['disable'], ['roles', { roles: ['Guest'] }]] as const) {
          problem(await change('admin', await idOf('admin@example.com'), path, body), 422, 'state.invalid')
        }
        const keeper = await idOf('keeper@example.com')
        const { id } = await add()
        expect(told(await change('admin', keeper, 'disable')).disabledAt).to.be.a('string')
        problem(await change('keeper', keeper, 'enable'), 403, 'capability.denied')
        problem(await change('keeper', id, 'disable'), 403, 'capability.denied')
        problem(await send('keeper', `GET /accounts/${id}`), 403, 'capability.denied')
        expect(told(await change('admin', keeper, 'enable')).disabledAt).to.equal(null)
        // A machine keeps the last secret that it manages them by.
        const warden = { email: 'warden', isMachine: true, ...CLERK, roles: ['Admin'] }
        const { id: wardenId } = told(await send('admin', 'POST /accounts', warden), 201)
        const dropSecret = async (): Promise<Answer> => {
          const headers = { 'if-match': `W/"${(await read(wardenId)).rowVersion}"` }
          const token = stack.token({ sub: 'warden', role: 'Admin' })
          return call(stack.url, `/accounts/${wardenId}/secrets/1`, { method: 'DELETE', token, headers })
        }
        problem(await dropSecret(), 422, 'state.invalid')
        await send('admin', `POST /accounts/${wardenId}/secrets`, {})
        expect(told(await dropSecret()).secrets.map(({ number }) => number)).to.deep.equal([2])
        // Two that disable each other at once: one of them is left.
        const admin = await add({ roles: ['Admin'] })
        const token = stack.token({ sub: admin.email, role: 'Admin' })
        const first = await read(await idOf('admin@example.com'))
        const disable = ({ id: one, rowVersion }: Told, by: string): Promise<Answer> =>
          call(stack.url, `/accounts/${one}/disable`, {
            method: 'PUT',
            token: by,
            headers: { 'if-match': `W/"${rowVersion}"` }
          })
        const outcomes = await Promise.all([disable(admin, stack.token(TOKENS.admin)), disable(first, token)])
        expect(outcomes.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 403])
        await command('', 'enable', 'admin@example.com')
      })

      it('shows the sessions of an account, and ends one, all, and those of who is disabled', async () => {
        const { id, email } = await add()
        await command(PASSWORD, 'set-password', email)
        const open = [await login(email), await login(email), await login(email)]
        const listed = async (): Promise<string[]> => {
          const { sessions } = json(await send('keeper', `GET /accounts/${id}/sessions`)) as {
            sessions: { id: string }[]
          }
          return sessions.map((one) => one.id)
        }
        const [first = ''] = await listed()
        expect(await listed()).to.have.length(3)
        problem(
          await send('admin', `DELETE /accounts/${await idOf('keeper@example.com')}/sessions/${first}`),
          404,
          'not-found'
        )
        for (const wrong of ['x', first.toUpperCase()])
          problem(await send('admin', `DELETE /accounts/${id}/sessions/${wrong}`), 404, 'not-found')
        expect(await listed()).to.have.length(3)
        expect((await send('keeper', `DELETE /accounts/${id}/sessions/${first}`)).status).to.equal(204)
        problem(await send('keeper', `DELETE /accounts/${id}/sessions/${first}`), 404, 'not-found')
        expect(await listed()).to.have.length(2)
        const over = await Promise.all(open.map(isOver))
        expect(over.filter(Boolean)).to.have.length(1)
        const ended = await send('keeper', `DELETE /accounts/${id}/sessions`)
        expect(json(ended)).to.deep.equal({ sessions: 2 })
        expect(await Promise.all(open.map(isOver))).to.deep.equal([true, true, true])
        const last = await login(email)
        expect(await listed()).to.have.length(1)
        told(await change('keeper', id, 'disable'))
        expect([await isOver(last), await listed()]).to.deep.equal([true, []])
        const refused = await send(undefined, 'POST /auth/login', { email, password: PASSWORD })
        problem(refused, 401, 'auth.invalid-credentials')
      })

      it('shows the secret of a machine once, and stores it nowhere', async () => {
        const token = async (secret: string): Promise<number> => {
          const body = `grant_type=client_credentials&client_id=exporter&client_secret=${secret}`
          const headers = { 'content-type': 'application/x-www-form-urlencoded' }
          return (await call(stack.url, '/auth/token', { method: 'POST', headers, body })).status
        }
        type Secret = { readonly number: number; readonly secret: string | null }
        const wanted = { email: 'exporter', isMachine: true, ...CLERK }
        const key = { 'idempotency-key': `secret-${kind}` }
        const made = await send('keeper', 'POST /accounts', wanted, key)
        const { id, secrets } = told(made, 201)
        const { secret: first } = json(made) as Secret
        expect(secrets.map(({ number }) => number)).to.deep.equal([1])
        expect(await token(first ?? '')).to.equal(200)
        const retried = await send('keeper', 'POST /accounts', wanted, key)
        expect([told(retried, 201).id, (json(retried) as Secret).secret]).to.deep.equal([id, null])
        const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
        const second = json(await send('keeper', `POST /accounts/${id}/secrets`, { expiresAt }, key)) as Secret
        expect(second).to.deep.include({ number: 2, expiresAt })
        problem(await send('keeper', `POST /accounts/${id}/secrets`, {}), 422, 'state.invalid')
        const tooLate = new Date(Date.now() + 3654 * 24 * 60 * 60_000).toISOString()
        for (const wrong of ['2020-01-01T00:00:00Z', tooLate]) {
          problem(await send('keeper', `POST /accounts/${id}/secrets`, { expiresAt: wrong }), 400, 'body.invalid')
        }
        const { rowVersion } = await read(id)
        const remove = (tag: string) =>
          send('keeper', `DELETE /accounts/${id}/secrets/1`, undefined, { 'if-match': `W/"${tag}"` })
        problem(await remove(told(made, 201).rowVersion), 412, 'conflict')
        expect(told(await remove(rowVersion)).secrets.map(({ number }) => number)).to.deep.equal([2])
        expect([await token(first ?? ''), await token(second.secret ?? '')]).to.deep.equal([401, 200])
        const kept = await sql.run('SELECT answer FROM ur_idempotency_keys')
        const entries = await sql.run("SELECT changes FROM ur_audit_entries WHERE resource = 'service.accounts'")
        expect(kept.length).to.be.greaterThan(1)
        expect(JSON.stringify([kept.map(({ answer }) => String(answer)), entries])).to.not.include('ur_machine_')
      })

      it('invites people, who choose their password by a link that is in their mail alone', async () => {
        const { id, email } = await add()
        const seen = { ...(await sql.run('SELECT COUNT(*) AS n FROM ur_outbox'))[0] }
        const key = { 'idempotency-key': `invitation-${kind}` }
        problem(await send('clerk', `POST /accounts/${id}/invitation`, {}), 403, 'capability.denied')
        const boss = await idOf('admin@example.com')
        problem(await send('keeper', `POST /accounts/${boss}/invitation`, {}), 403, 'capability.denied')
        const tried = await send('keeper', `POST /accounts/${id}/invitation`, {}, { prefer: 'tx=rollback' })
        expect([tried.status, (await sql.run('SELECT COUNT(*) AS n FROM ur_outbox'))[0]]).to.deep.equal([200, seen])
        const invited = await send('keeper', `POST /accounts/${id}/invitation`, {}, key)
        expect(invited.status, invited.text).to.equal(200)
        const again = await send('keeper', `POST /accounts/${id}/invitation`, {}, key)
        expect([again.text, again.headers['idempotent-replayed']]).to.deep.equal([invited.text, 'true'])
        const mail = await mails.to(email)
        expect(mail)
          .to.match(/^Subject: Choose the password of your account$/m)
          .and.match(/^Auto-Submitted: auto-generated$/m)
        const token = tokenIn(mail)
        const use = (newPassword: string) => send(undefined, 'POST /auth/one-time-link', { token, newPassword })
        problem(await use('password1'), 400, 'body.invalid')
        // Two at once, and two after them.
        const uses = [...(await Promise.all([use(PASSWORD), use(PASSWORD)])), await use(PASSWORD), await use(PASSWORD)]
        expect(uses.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([204, 401, 401, 401])
        await login(email)
        const entries = await sql.run(
          `SELECT action FROM ur_audit_entries WHERE resource = 'service.accounts' AND row_id = '${id}' ORDER BY id`
        )
        expect(entries.map(({ action }) => action)).to.deep.equal(['add-account', 'invite-account'])
        told(await change('admin', id, 'disable'))
        problem(await send('admin', `POST /accounts/${id}/invitation`, {}), 422, 'state.invalid')
        const stored = JSON.stringify([await sql.run('SELECT payload, last_error FROM ur_outbox'), stack.logs()])
        expect(stored).to.not.include(token).and.not.include('#token')
      })

      it('answers alike whether or not there is an account, and lets nobody go on asking', async () => {
        const { email } = await add()
        const ask = (path: string, body: object, headers = {}) => send(undefined, `POST /auth/${path}`, body, headers)
        const answers = [
          await ask('forgotten-password', { email }),
          await ask('forgotten-password', { email: 'nobody@example.com' }),
          await ask('sign-up', { email }),
          await ask('sign-up', { email: 'new@example.com' })
        ]
        const shown = answers.map(({ status, text, headers }) => [status, text, Object.keys(headers).toSorted()])
        for (const one of shown) expect(one).to.deep.equal([202, '', shown[0]?.[2]])
        const host = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
        expect((await ask('forgotten-password', { email }, host)).status).to.equal(202)
        for (const subject of ['Choose another password', 'You have an account already', 'Choose another password']) {
          const mail = await mails.to(email)
          expect(mail).to.include(`Subject: ${subject}\n`).and.include(mails.settings['ONE_TIME_LINK_URL'])
        }
        expect(await mails.to('new@example.com')).to.include('Subject: Confirm your address\n')
        for (const body of [{ email: 'x' }, { email: 'a@b.example\r\nBcc: c@d.example' }, { email: 7 }, {}]) {
          problem(await ask('forgotten-password', body), 400, 'body.invalid')
        }
        problem(await ask('sign-up', { email }, { 'sec-fetch-site': 'cross-site' }), 403, 'request.cross-site')
        const from = { 'x-forwarded-for': '192.0.2.7' }
        const statuses: number[] = []
        for (let asked = 0; asked < 11; asked += 1) statuses.push((await ask('sign-up', { email }, from)).status)
        expect(statuses).to.deep.equal([...Array<number>(10).fill(202), 429])
        const pending = "SELECT COUNT(*) AS n FROM ur_outbox WHERE due_at IS NOT NULL AND type = 'one-time-link'"
        while (Number((await sql.run(pending))[0]?.['n']) > 0) await pause(20)
        // Five links in all, three of which were sent before.
        expect([mails.waiting(email), mails.waiting('nobody@example.com')]).to.deep.equal([2, 0])
      })

      it('lets people sign up by the commands of docs/one-time-links.md', async () => {
        const [, ask, use, ...others] = examplesOf('docs/one-time-links.md')
        expect(others).to.deep.equal([])
        const run = async (command = '', more: Readonly<Record<string, string>> = {}): Promise<string> => {
          const { PATH } = process.env
          const script = command.replaceAll('http://127.0.0.1:3000', stack.url)
          return (await promisify(execFile)('bash', ['-c', script], { env: { PATH, ...more } })).stdout
        }
        expect((await run(ask?.command)).trimEnd()).to.equal(ask?.output)
        const TOKEN = tokenIn(await mails.to('grace@example.com'))
        expect((await run(use?.command, { TOKEN })).trimEnd()).to.equal(use?.output)
        const grace = await read(await idOf('grace@example.com'))
        expect(grace).to.deep.include({ name: 'Grace', roles: ['Guest'], owner: null, claims: {} })
      })

      it('is what the typed client calls, with the version of what it was answered', async () => {
        const { id } = await add()
        const client = createClient<ClientTypes>({ baseUrl: stack.url, token: () => stack.token(TOKENS.admin) })
        const account = await client.call('GET /accounts/{id}', { path: { id } })
        const write = (version: Told) =>
          client.call('PUT /accounts/{id}/owner', { path: { id }, body: { owner: '9' } }, { ifMatch: version })
        expect(await write(account)).to.deep.include({ id, owner: '9' })
        const status = await write(account).then(
          () => 200,
          (error: unknown) => isProblem(error) && error.problem.status
        )
        expect(status).to.equal(412)
        const { code, stdout } = await runCommand(['client-types', '--app', APP], { env: env() })
        expect([code, stdout.match(/'[A-Z]+ \/accounts[^']*'/g)?.length]).to.deep.equal([0, 14])
      })

      it('is the same over gRPC', async () => {
        const asking = new AuthCaller(stack.dataAddress)
        const reason = 'LINK_REASON_FORGOTTEN_PASSWORD'
        expect(await asking.requestOneTimeLink({ reason, email: 'keeper@example.com' })).to.deep.equal({})
        const token = tokenIn(await mails.to('keeper@example.com'))
        const used = await asking.useOneTimeLink({ token, newPassword: PASSWORD })
        const over = await asking.useOneTimeLink({ token, newPassword: PASSWORD })
        expect([used, 'details' in over && over.details.reason]).to.deep.equal([{}, 'auth.invalid-credentials'])
        asking.close()
        const { id, rowVersion } = await add()
        const rpc = new GrpcCaller(stack.dataAddress)
        const set = (more: object) =>
          rpc.unary(
            'Call',
            { operation: 'set-account-owner', path: { id }, body: Buffer.from('{"owner":"8"}'), ...more },
            { token: stack.token(TOKENS.admin) }
          )
        const unguarded = await set({})
        expect(isFailure(unguarded) && unguarded.details.reason).to.equal('precondition.required')
        const versions = [Buffer.from(rowVersion, 'base64')]
        const answer = await set({ precondition: { kind: 'PRECONDITION_KIND_TAGS', versions } })
        if (isFailure(answer)) expect.fail(answer.message)
        const { json: told, rowVersion: version } = answer as { readonly json: Buffer; readonly rowVersion: Buffer }
        const account = JSON.parse(told.toString('utf8')) as Told
        expect([account.owner, account.rowVersion]).to.deep.equal(['8', version.toString('base64')])
        rpc.close()
      })
    })
  },
  { never: VARIANTS }
)
