import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { pino } from 'pino'
import { withLinkSecrets } from '../../../data-service/auth/one-time-links.js'
import { isWebhook, oneTimeLink, onEvent, type OutboxEvent } from '../../../data-service/entity/event.js'
import { mailHandler } from '../../../data-service/outbox/mail-delivery.js'
import { eachDatabase } from '../../harness/database.js'
import { listenLocally } from '../../harness/local-server.js'
import { openTestDatabase, type TestDatabase } from '../../oracle/test-database.js'
import { AuthHarness, MINUTE, rejectionOf, type Replica } from './auth-harness.js'

const LINKS = { url: 'https://shop.example.com/password', signUpRoles: ['Customer'] }
const KIM = 'kim@example.com'
const NEW = 'a new passphrase'

/** What the handler of links was given. */
interface Sent {
  readonly purpose: string
  readonly email: string
  readonly token: string
}

eachDatabase((kind) => {
  describe(`one-time links on ${kind}`, () => {
    let harness: AuthHarness
    let sql: TestDatabase
    let replica: Replica
    beforeEach(async () => {
      harness = await AuthHarness.over(kind)
      sql = await openTestDatabase(harness.url)
      replica = harness.replica({ oneTimeLinks: LINKS })
    })
    afterEach(async () => {
      await sql.close()
      await harness[Symbol.asyncDispose]()
    })

    /** Delivers all events of the outbox, as often as it is called, to a handler; answers what that got. */
    const delivered = async (fail = (): void => undefined): Promise<Sent[]> => {
      const sent: Sent[] = []
      const handler = onEvent(oneTimeLink, ({ payload: { purpose, email, url } }) => {
        fail()
        const [page, token = ''] = url.split('#token=')
        expect(page).to.equal(LINKS.url)
        sent.push({ purpose, email, token })
      })
      const [target] = withLinkSecrets([handler], replica.by)
      if (target === undefined || isWebhook(target)) expect.fail('a handler is expected')
      const context = { signal: new AbortController().signal, log: pino({ level: 'silent' }) }
      for (const row of await sql.run('SELECT * FROM ur_outbox ORDER BY id')) {
        const event = {
          id: row['event_id'],
          type: row['type'],
          occurredAt: new Date(Number(row['occurred_at'])).toISOString(),
          payload: JSON.parse(String(row['payload'])) as object
        }
        await target.handle(event as unknown as OutboxEvent, context)
      }
      return sent
    }
    const count = async (table: string): Promise<number> =>
      Number((await sql.run(`SELECT COUNT(*) AS n FROM ${table}`))[0]?.['n'])
    const linkOf = async (email: string): Promise<string> => {
      await replica.ask(email)
      return (await delivered()).at(-1)?.token ?? expect.fail('no link')
    }
    const over = async (use: Promise<unknown>): Promise<void> => {
      expect(await rejectionOf(use)).to.include({ code: 'auth.invalid-credentials' })
    }

    it('are asked for alike for every address, and made for accounts that somebody can log in to', async () => {
      await replica.ask(KIM)
      await replica.ask('nobody@example.com')
      const rows = await sql.run('SELECT type, resource, payload FROM ur_outbox ORDER BY id')
      expect(rows.map((row) => ({ ...row, payload: JSON.parse(String(row['payload'])) as object }))).to.deep.equal(
        [KIM, 'nobody@example.com'].map((email) => ({
          type: 'one-time-link',
          resource: 'service.accounts',
          payload: { purpose: 'forgotten-password', email }
        }))
      )
      const sent = await delivered()
      expect(sent.map(({ purpose, email }) => [purpose, email])).to.deep.equal([
        ['forgotten-password', 'Kim@Example.com']
      ])
      const stored = JSON.stringify([
        await sql.run('SELECT payload FROM ur_outbox'),
        (await sql.run('SELECT email, account_state, link_hash FROM ur_one_time_links')).map((row) =>
          Object.values(row).map((value) => (Buffer.isBuffer(value) ? value.toString('base64url') : value))
        ),
        harness.logs
      ])
      expect(stored).to.not.include(sent[0]?.token)
      await sql.run('UPDATE ur_accounts SET disabled_at = 1')
      expect(await delivered()).to.deep.equal([])
    })

    it('set the password once, on whichever replica, and end the sessions and the other links', async () => {
      const other = harness.replica({ oneTimeLinks: LINKS })
      const session = await replica.login({ email: KIM, password: 'right' })
      const [second, token] = [await linkOf(KIM), await linkOf(KIM)]
      const uses = await Promise.allSettled(
        [replica, other, replica, other].map((one, at) => one.use(token, `${NEW} ${at}`))
      )
      const winners = uses.flatMap(({ status }, at) => (status === 'fulfilled' ? [at] : []))
      expect(winners).to.have.length(1)
      expect(await rejectionOf(replica.refresh(session.refreshToken))).to.include({ code: 'auth.invalid-token' })
      await over(replica.use(second, NEW))
      await replica.login({ email: KIM, password: `${NEW} ${winners[0]}` })
      expect(await count('ur_one_time_links')).to.equal(0)
    })

    it('are void after an hour, and once the account has another password, is disabled or its sessions ended', async () => {
      const late = await linkOf(KIM)
      harness.now += 60 * MINUTE
      await over(replica.use(late, NEW))
      expect(await delivered(), 'an event that waited for an hour').to.deep.equal([])
      const changes = [
        "UPDATE ur_accounts SET password_hash = 'hash of another'",
        'UPDATE ur_accounts SET session_generation = 7',
        'UPDATE ur_accounts SET disabled_at = 1'
      ]
      for (const change of changes) {
        const token = await linkOf(KIM)
        await sql.run(change)
        await over(replica.use(token, NEW))
      }
      expect(await replica.by.store.purgeOneTimeLinks(harness.now + 60 * MINUTE, 100)).to.be.greaterThan(3)
      expect(await count('ur_one_time_links')).to.equal(0)
    })

    it('are five at most for an address, however often it is asked and delivered, and requests are throttled', async () => {
      for (let asked = 0; asked < 10; asked += 1) await replica.ask(KIM)
      expect(await rejectionOf(replica.ask(KIM))).to.include({ code: 'quota-exceeded' })
      expect(await rejectionOf(replica.ask('KIM@example.com', 'LINK_REASON_SIGN_UP'))).to.include({
        code: 'quota-exceeded'
      })
      expect([await delivered(), await delivered()].map(({ length }) => length)).to.deep.equal([5, 5])
      // The links of the five are void then.
      await sql.run('UPDATE ur_accounts SET session_generation = 7')
      await sql.run('DELETE FROM ur_outbox WHERE event_id IN (SELECT event_id FROM ur_one_time_links)')
      expect(await delivered()).to.have.length(5)
      // Logins are counted apart.
      await replica.login({ email: KIM, password: 'right' })
    })

    it('of which the mail fails take no place of others, and are sent once it works', async () => {
      await replica.ask(KIM)
      let failed = 0
      const fail = (): void => {
        failed += 1
        throw new Error('the mail server is away')
      }
      for (let delivery = 1; delivery <= 7; delivery += 1) {
        expect(await delivered(fail).catch(String)).to.equal('Error: the mail server is away')
        expect(failed).to.equal(delivery)
      }
      expect(await delivered()).to.have.length(1)
      for (let asked = 0; asked < 4; asked += 1) await replica.ask(KIM)
      const sent = await delivered()
      expect(sent).to.have.length(5)
      await replica.use(sent.at(-1)?.token ?? '', NEW)
    })

    it('make accounts with the roles of the setting alone, and say so to an account that is there', async () => {
      const email = 'Lee@Example.com'
      for (const address of [email, KIM]) await replica.ask(address, 'LINK_REASON_SIGN_UP')
      const sent = await delivered()
      expect(sent.map(({ purpose, email: to }) => [purpose, to])).to.deep.equal([
        ['sign-up', email],
        ['account-exists', 'Kim@Example.com']
      ])
      const token = sent[0]?.token ?? ''
      const off = harness.replica({ oneTimeLinks: { ...LINKS, signUpRoles: [] } })
      expect(await rejectionOf(off.ask(email, 'LINK_REASON_SIGN_UP'))).to.include({ code: 'route.not-found' })
      await over(off.use(token, NEW))
      await replica.use(token, NEW, 'Lee\u0007 L.')
      const [row] = await sql.run("SELECT email, name, roles, owner, claims FROM ur_accounts WHERE email LIKE 'Lee%'")
      expect(row).to.deep.equal({ email, name: 'Lee  L.', roles: '["Customer"]', owner: null, claims: '{}' })
      await replica.login({ email: 'lee@example.com', password: NEW })
      await over(replica.use(token, NEW))
    })

    it('are none for an account that signs in with a provider alone, and none where no page is set', async () => {
      await sql.run("UPDATE ur_accounts SET password_hash = ''")
      const [{ id } = {}] = await sql.run('SELECT id FROM ur_accounts')
      const token = await linkOf(KIM)
      await sql.run(
        'INSERT INTO ur_account_links (identity_key, account_id, issuer, subject, created_at) ' +
          `VALUES (${kind === 'sqlite' ? "x'00'" : "REPEAT('a', 32)"}, ${String(id)}, 'https://p.example.com', 's', 1)`
      )
      expect(await delivered()).to.deep.equal([])
      const off = harness.replica()
      for (const call of [off.ask(KIM), off.use(token, NEW)]) {
        expect(await rejectionOf(call)).to.include({ code: 'route.not-found' })
      }
      expect(await rejectionOf(replica.use(token, 'password1'))).to.include({ code: 'body.invalid' })
      expect(await rejectionOf(replica.use(token, KIM))).to.include({ code: 'body.invalid' })
      await replica.use(token, NEW)
    })
  })
})

describe('a mail server of this machine that offers STARTTLS', () => {
  /** What it answers to the recipients, `silence@…` excepted. */
  const ANSWERS: Readonly<Record<string, string>> = {
    refused: '550 5.1.1 nobody',
    later: '451 4.2.1 later',
    taken: '250 yes'
  }
  const heard: string[] = []
  const sockets: Socket[] = []
  let isMail = false
  const answerTo = (line: string): string | undefined => {
    if (line.startsWith('EHLO')) return '250-here\r\n250 STARTTLS'
    if (line.startsWith('STARTTLS')) return '454 no certificate'
    if (line.startsWith('RCPT')) return ANSWERS[/<(\w+)@/.exec(line)?.[1] ?? '']
    isMail = line === 'DATA'
    return isMail ? '354 go on' : '250 yes'
  }
  const server = createServer((socket) => {
    sockets.push(socket.setEncoding('utf8'))
    socket.write('220 here\r\n')
    socket
      .on('error', () => undefined)
      .on('data', (chunk) => {
        for (const line of String(chunk).split('\r\n').slice(0, -1)) {
          if (isMail && line !== '.') continue
          heard.push(line)
          const answer = answerTo(line)
          if (answer !== undefined) socket.write(`${answer}\r\n`)
        }
      })
  })
  let port = 0
  before(async () => {
    port = await listenLocally(server)
  })
  after(() => server.close())

  it('gets mails without TLS, is not asked again after a refusal for good, and not kept waiting after the end', async () => {
    const logs: string[] = []
    const log = pino({}, { write: (line) => void logs.push(line) })
    const settings = { host: '127.0.0.1', port, secure: false, auth: undefined, from: 'shop@example.com' }
    const { handle } = await mailHandler(settings)
    const stop = new AbortController()
    const send = async (name: string): Promise<void> => {
      const payload = { purpose: 'sign-up', email: `${name}@example.com`, url: 'https://x/#token=s', expiresAt: '2030' }
      await handle({ id: name, payload } as unknown as OutboxEvent, { signal: stop.signal, log })
    }
    await send('taken')
    expect(heard).to.include('.').and.not.include('STARTTLS')
    await send('refused')
    expect(logs.map((line) => (JSON.parse(line) as { readonly answer: string }).answer)).to.deep.equal([
      'EENVELOPE 550'
    ])
    expect(String(await send('later').catch(String))).to.equal(
      'Error: The mail server did not take a mail: EENVELOPE 451'
    )
    const silent = send('silent').catch(String)
    while (!heard.includes('RCPT TO:<silent@example.com>')) await pause(5)
    stop.abort()
    expect(await silent).to.include('did not take a mail')
    for (const socket of sockets) if (!socket.closed) await once(socket, 'close')
  })
})
