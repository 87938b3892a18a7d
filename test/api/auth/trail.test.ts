import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { eachDatabase } from '../../harness/database.js'
import { VARIANTS } from '../../harness/variant.js'
import type { LogEntry } from '../../stack/server-log.js'
import { type Stack, startStack } from '../../harness/stack.js'
import { type Answer, call } from '../http-call.js'
import { DataServices } from './data-services.js'

const ADA = { email: 'ada@example.com', password: 'demo-password' }
const CLIENT = '203.0.113.9'

/** As docs/trail.md says it is made. */
function hashOf(email: string): string {
  return createHash('sha256').update(`uniform-rest\n${email}`).digest('hex').slice(0, 16)
}

function refreshCookie({ headers }: Answer): string {
  const lines = [headers['set-cookie'] ?? []].flat()
  return lines.map((line) => /^app_auth_refresh=([^;]+)/.exec(line)?.[1]).find((token) => token !== undefined) ?? ''
}

eachDatabase(
  (kind) => {
    describe(`the trail of sessions on ${kind}`, () => {
      let services: DataServices
      let stack: Stack
      before(async () => {
        services = await DataServices.over(kind)
        stack = await startStack({
          database: services.database,
          env: { TRUSTED_PROXIES: '127.0.0.1', REFRESH_GRACE: '1ms', LOG_LEVEL: 'debug' }
        })
      })
      after(async () => {
        await stack.stop()
        await services[Symbol.asyncDispose]()
      })

      const send = (requestId: string, method: string, path: string, more: Partial<Sent> = {}): Promise<Answer> =>
        call(stack.url, path, {
          method,
          headers: {
            'x-request-id': requestId,
            'x-forwarded-for': CLIENT,
            ...(more.body === undefined ? {} : { 'content-type': 'application/json' }),
            ...(more.refresh === undefined ? {} : { cookie: `app_auth_refresh=${more.refresh}` }),
            ...(more.token === undefined ? {} : { authorization: `Bearer ${more.token}` })
          },
          ...(more.body === undefined ? {} : { body: JSON.stringify(more.body) })
        })

      const isOfTrail = ({ event, requestId }: LogEntry, id: string): boolean => event !== undefined && requestId === id

      it('is told apart from what a rejected request sent, of which no line repeats names or values', async () => {
        const query =
          'filters%5Bid%5D.operator=equals&filters%5Bid%5D.value=sent-value&sent-name=1&sortColumn=sent-column'
        const rejected = await send('sent', 'GET', `/products/paged?${query}`)
        expect(rejected.status, rejected.text).to.equal(400)
        const jwt = `${Buffer.from('sent-header').toString('base64url')}.e30.AAAA`
        expect((await send('sent-token', 'GET', '/products', { token: jwt })).status).to.equal(401)
        for (const id of ['sent', 'sent-token']) {
          await stack.dataService.logged(({ requestId, msg }) => requestId === id && msg === 'call refused')
        }
        expect(JSON.stringify(stack.dataService.logs())).to.not.match(/sent-(value|name|column|header)/)
      })

      it('has a line for a session that a login over it ended, beside that of the login', async () => {
        const ben = { email: 'ben@example.com', password: 'demo-password' }
        const first = await send('over-1', 'POST', '/auth/login', { body: ADA })
        const second = await send('over-2', 'POST', '/auth/login', { body: ben, refresh: refreshCookie(first) })
        expect(second.status, second.text).to.equal(200)
        await send('over-3', 'POST', '/auth/login', { body: ben, refresh: refreshCookie(first) })
        await stack.dataService.logged((entry) => isOfTrail(entry, 'over-3'))
        const lines = stack.dataService.logs()
        const of = (id: string): readonly LogEntry[] => lines.filter((line) => isOfTrail(line, id))
        const session = of('over-1')[0]?.['session']
        expect(session).to.be.a('string')
        const ended = {
          event: 'logout',
          outcome: 'replaced',
          account: hashOf(ADA.email),
          clientAddress: CLIENT,
          session
        }
        expect(of('over-2').map(({ event }) => event)).to.have.members(['login', 'logout'])
        expect(of('over-2').find(({ event }) => event === 'logout')).to.include({ ...ended, level: 'info' })
        expect(of('over-3').map(({ event }) => event)).to.deep.equal(['login'])
      })

      it('is one line for each of them, with request, client, account and outcome, and no secret', async () => {
        const login = await send('login', 'POST', '/auth/login', { body: ADA })
        expect(login.status, login.text).to.equal(200)
        const first = refreshCookie(login)
        await send('wrong', 'POST', '/auth/login', { body: { ...ADA, password: 'demo-passworD' } })
        await send('nobody', 'POST', '/auth/login', { body: { ...ADA, email: 'Eve@example.com' } })
        await send('mistyped', 'POST', '/auth/login', { body: { ...ADA, email: 'a-secret-in-the-wrong-field' } })
        for (let i = 0; i < 10; i++) {
          await send(`guess-${i}`, 'POST', '/auth/login', { body: { email: 'ben@example.com', password: 'x' } })
        }
        await send('throttled', 'POST', '/auth/login', { body: { email: 'ben@example.com', password: 'x' } })
        const refreshed = await send('refresh', 'POST', '/auth/session/token', { refresh: first })
        const second = refreshCookie(refreshed)
        await passed(5)
        const reused = await send('reuse', 'POST', '/auth/session/token', { refresh: first })
        expect(reused.status).to.equal(401)
        await send('dead', 'POST', '/auth/session/token', { refresh: second })
        const again = await send('again', 'POST', '/auth/login', { body: ADA })
        await send('logout', 'POST', '/auth/logout', { refresh: refreshCookie(again) })
        const token = await stack.token(ADA.email)
        expect((await send('foreign', 'GET', '/customers/2', { token })).status).to.equal(403)
        await stack.dataService.logged((entry) => isOfTrail(entry, 'foreign'))

        const ada = hashOf(ADA.email)
        const expected: readonly (readonly [id: string, entry: object])[] = [
          ['login', { event: 'login', outcome: 'success', account: ada }],
          ['wrong', { event: 'login', outcome: 'failure', account: ada, reason: 'wrong password' }],
          [
            'nobody',
            { event: 'login', outcome: 'failure', account: hashOf('eve@example.com'), reason: 'no such account' }
          ],
          ['mistyped', { event: 'login', outcome: 'failure', reason: 'no such account' }],
          ['throttled', { event: 'login', outcome: 'throttled', account: hashOf('ben@example.com') }],
          ['refresh', { event: 'refresh', outcome: 'success', account: ada }],
          ['reuse', { event: 'refresh', outcome: 'reuse', account: ada }],
          ['dead', { event: 'refresh', outcome: 'failure', account: ada, reason: 'revoked session' }],
          ['logout', { event: 'logout', outcome: 'success', account: ada }],
          ['foreign', { event: 'ownership', outcome: 'refused', account: ada, code: 'ownership.denied' }]
        ]
        const lines = stack.dataService.logs()
        for (const [id, entry] of expected) {
          const found = lines.filter((line) => isOfTrail(line, id))
          expect(found, id).to.have.length(1)
          expect(found[0], id).to.include({ ...entry, clientAddress: CLIENT })
        }
        expect(lines.find((line) => isOfTrail(line, 'mistyped'))).to.not.have.property('account')
        const sessions = ['login', 'refresh', 'reuse'].map(
          (id) => lines.find((line) => isOfTrail(line, id))?.['session']
        )
        expect(new Set(sessions).size).to.equal(1)
        const log = JSON.stringify(stack.logs()).toLowerCase()
        for (const secret of [ADA.password, ADA.email, 'eve@', 'ben@', 'wrong-field', first, second, token]) {
          expect(log, secret).to.not.include(secret.toLowerCase())
        }
      })
    })
  },
  { on: 'mysql', never: VARIANTS }
)

interface Sent {
  readonly body: object
  readonly refresh: string
  readonly token: string
}

/** On the clock that the data service reads too. */
async function passed(milliseconds: number): Promise<void> {
  const end = Date.now() + milliseconds
  while (Date.now() <= end) await new Promise((resolve) => setImmediate(resolve))
}
