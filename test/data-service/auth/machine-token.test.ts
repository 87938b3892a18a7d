import { expect } from 'chai'
import { accountKey } from '../../../data-service/auth/accounts/accounts.js'
import { AccountAdministration } from '../../../data-service/auth/administration.js'
import type { StatementText } from '../../../data-service/sql/engines/statement.js'
import type { OpenTransaction, Transactions } from '../../../data-service/sql/engines/sessions.js'
import { eachDatabase } from '../../harness/database.js'
import { AuthHarness, DAY, MINUTE, rejectionOf, type Replica } from './auth-harness.js'

const MACHINE = {
  email: 'robot-1',
  name: 'Robot',
  roles: ['Clerk', 'Auditor'],
  owner: 7n,
  claims: { region: 'north' }
}
const REJECTION = { code: 'auth.invalid-credentials', message: 'The client id or the secret is wrong.' }
const HALF_YEAR = 183 * DAY
const NEVER = new AbortController().signal

function claimsOf(token: string): Record<string, unknown> {
  const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return { ...(typeof claims === 'object' ? claims : {}) }
}

eachDatabase((kind) => {
  describe(`the token of a machine account on ${kind}`, () => {
    let harness: AuthHarness
    let one: Replica
    let other: Replica
    let accounts: AccountAdministration
    let secret: string
    beforeEach(async () => {
      harness = await AuthHarness.over(kind)
      one = harness.replica()
      other = harness.replica()
      const { store, passwords, now, randomBytes } = one.by
      const roles = ['Clerk', 'Auditor', 'Customer']
      const deps = { store, passwords, roles, ownerClaimType: 'customer_id', now, randomBytes, signal: NEVER }
      accounts = new AccountAdministration(deps)
      ;({ secret } = await accounts.addMachine(MACHINE, undefined))
    })
    afterEach(() => harness[Symbol.asyncDispose]())

    const rejected = async (clientId: string, clientSecret: string, replica = one): Promise<void> => {
      const { code, message } = await rejectionOf(replica.token(clientId, clientSecret))
      expect({ code, message }).to.deep.equal(REJECTION)
    }
    const lastReason = (): unknown => harness.logs.at(-1)?.['reason']
    const secretsOf = async (name: string) => (await accounts.list()).find(({ email }) => email === name)?.secrets ?? []

    it('has the name, roles, owner and claims of the account, and no session', async () => {
      expect(secret).to.match(/^ur_machine_[A-Za-z0-9_-]{43}$/)
      for (const replica of [one, other]) {
        const claims = claimsOf(await replica.token('robot-1', secret))
        expect(claims).to.deep.include({ sub: 'robot-1', client_id: 'robot-1', name: 'Robot', region: 'north' })
        expect(claims).to.deep.include({ role: ['Clerk', 'Auditor'], customer_id: 7 })
        expect(claims).to.not.have.property('sid')
      }
    })

    it('is refused alike for a wrong secret, an unknown client id, a person, and what is disabled', async () => {
      await rejected('robot-1', `${secret}x`)
      expect(lastReason()).to.equal('wrong secret')
      await rejected('robot-2', secret)
      expect(lastReason()).to.equal('no such machine account')
      for (const password of ['right', secret]) {
        await rejected('kim@example.com', password)
        expect(lastReason()).to.equal('no such machine account')
      }
      await accounts.disable('robot-1')
      await rejected('robot-1', secret, other)
      expect(lastReason()).to.equal('disabled account')
      await accounts.enable('robot-1')
      await one.token('robot-1', secret)
    })

    it('takes the same statements whether or not the client id exists', async () => {
      const texts: string[] = []
      const counted = harness.replica({}, (own) => logging(own, texts))
      const statements: string[][] = []
      for (const clientId of ['robot-1', 'robot-2', 'kim@example.com']) {
        texts.length = 0
        await rejected(clientId, 'no secret', counted)
        statements.push([...texts])
      }
      expect(statements[0]).to.not.deep.equal([])
      for (const later of statements) expect(later).to.deep.equal(statements[0])
    })

    it('comes by either of two secrets while they are rotated, and there is no third', async () => {
      const second = await accounts.addSecret('robot-1', HALF_YEAR)
      expect(second).to.include({ slot: 2, expiresAt: harness.now + HALF_YEAR })
      for (const text of [secret, second.secret]) await other.token('robot-1', text)
      const third = await accounts.addSecret('robot-1', undefined).catch((error: unknown) => error)
      expect(third).to.have.property('message', 'robot-1 has two secrets, and may have no more: remove one first.')
      await accounts.removeSecret('robot-1', 1)
      await rejected('robot-1', secret, other)
      await other.token('robot-1', second.secret)
      const again = await accounts.removeSecret('robot-1', 1).catch((error: unknown) => error)
      expect(again).to.have.property('message', 'robot-1 has no secret 1.')
      expect(await accounts.addSecret('robot-1', undefined)).to.include({ slot: 1, expiresAt: null })
    })

    it('gives two operators at once no third secret', async () => {
      const added = await Promise.allSettled([1, 2, 3].map(() => accounts.addSecret('robot-1', undefined)))
      expect(added.filter(({ status }) => status === 'fulfilled')).to.have.length(1)
      expect(await secretsOf('robot-1')).to.have.length(2)
    })

    it('ends with its secret, whose place a new one may take', async () => {
      const { secret: brief } = await accounts.addSecret('robot-1', MINUTE)
      harness.now += MINUTE - 1
      await one.token('robot-1', brief)
      harness.now += 1
      await rejected('robot-1', brief)
      expect(lastReason()).to.equal('expired secret')
      await one.token('robot-1', secret)
      expect(await accounts.addSecret('robot-1', undefined)).to.include({ slot: 2 })
      await rejected('robot-1', brief)
    })

    it('leaves the time of use in the secret that it came by, once a minute', async () => {
      await accounts.addSecret('robot-1', undefined)
      const begun = harness.now
      const used = async () => (await secretsOf('robot-1')).map(({ lastUsedAt }) => lastUsedAt)
      expect(await used()).to.deep.equal([null, null])
      await one.token('robot-1', secret)
      harness.now += MINUTE - 1
      await other.token('robot-1', secret)
      expect(await used()).to.deep.equal([begun, null])
      harness.now += 1
      await other.token('robot-1', secret)
      expect(await used()).to.deep.equal([begun + MINUTE, null])
    })

    it('is throttled after ten failures of a client id from an address, over replicas', async () => {
      for (let i = 0; i < 10; i++) await rejected('robot-1', 'wrong', i % 2 === 0 ? one : other)
      for (const replica of [one, other]) {
        const { code, retryAfter } = await rejectionOf(replica.token('ROBOT-1', secret))
        expect({ code, retryAfter }).to.deep.equal({ code: 'quota-exceeded', retryAfter: 900 })
      }
      await one.token('robot-1', secret, '192.0.2.2')
      await rejected('robot-2', 'wrong')
      harness.now += 15 * MINUTE
      await one.token('robot-1', secret)
    })

    it('is of an account that takes no password, even one that an earlier version has set', async () => {
      const byPassword = async () => (await rejectionOf(one.login({ email: 'robot-1', password: 'right' }))).code
      expect(await byPassword()).to.equal('auth.invalid-credentials')
      const [kim, robot] = await Promise.all(['kim@example.com', 'robot-1'].map((name) => accounts.get(name)))
      await one.by.store.transaction(NEVER, (unit) => unit.setPassword(robot?.id ?? '', kim?.passwordHash ?? ''))
      expect(await byPassword()).to.equal('auth.invalid-credentials')
      expect(lastReason()).to.equal('a machine account')
      await one.token('robot-1', secret)
    })

    it('has a line that says which machine, and no line holds a secret', async () => {
      harness.logs.length = 0
      await one.token('robot-1', secret)
      await rejected('robot-1', 'a wrong secret')
      await rejected(secret, 'robot-1')
      const lines = harness.logs.map(({ event, outcome, machine }) => [event, outcome, machine])
      expect(lines).to.deep.equal([
        ['token', 'success', 'robot-1'],
        ['token', 'failure', 'robot-1'],
        // Client id and secret in the place of each other.
        ['token', 'failure', undefined]
      ])
      const text = JSON.stringify(harness.logs)
      for (const hidden of [secret, 'a wrong secret']) expect(text).to.not.include(hidden)
      const stored = JSON.stringify(await secretsOf('robot-1'))
      expect(stored).to.not.include(secret)
    })

    it('is refused for a sample machine while SAMPLE_DATA is off', async () => {
      const { id: _, ...account } = await accounts.get('robot-1')
      const emailKey = accountKey('sample-1')
      await one.by.store.transaction(NEVER, async (unit) => {
        await unit.insertAccount({ ...account, email: 'sample-1', emailKey, isSample: true })
        const [robots] = await unit.secretsOf(accountKey('robot-1'))
        const sample = await unit.findAccount(emailKey)
        if (robots !== undefined && sample !== undefined) await unit.addSecret(sample.id, robots)
      })
      await rejected('sample-1', secret)
      await harness.replica({ sampleData: true }).token('sample-1', secret)
    })

    it('names members that are blank or too long', async () => {
      for (const [clientId, clientSecret, field] of [
        [' ', 'x', '/clientId'],
        ['x', '', '/clientSecret'],
        ['x'.repeat(255), 'x', '/clientId'],
        ['x', 'x'.repeat(1025), '/clientSecret']
      ] as const) {
        const { code, violations } = await rejectionOf(one.token(clientId, clientSecret))
        expect([code, violations.map(({ place }) => place?.name)]).to.deep.equal(['body.invalid', [field]])
      }
    })
  })
})

/** The transactions, with the texts of their statements in order. */
function logging(own: Transactions, texts: string[]): Transactions {
  const logged = (transaction: OpenTransaction): OpenTransaction =>
    new Proxy(transaction, {
      get: (target, name): unknown => {
        const member: unknown = Reflect.get(target, name, target)
        if (typeof member !== 'function') return member
        return (...args: readonly (StatementText | undefined)[]): unknown => {
          if (name === 'run' || name === 'change') texts.push(args[0]?.sql ?? '')
          return Reflect.apply(member, target, args)
        }
      }
    })
  return {
    classifyError: own.classifyError,
    flushed: () => own.flushed(),
    close: () => own.close(),
    begin: async (options) => logged(await own.begin(options))
  }
}
