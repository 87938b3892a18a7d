import { createHash } from 'node:crypto'
import { hashSync } from '@node-rs/argon2'
import { expect } from 'chai'
import { mintAccessTokenFor } from '../../../cli/application/databases.js'
import { connect } from '../../../data-service/sql/connect.js'
import { engineMigrations } from '../../../schema/migrations/engine-tables.js'
import { migrateDatabase } from '../../../schema/migrations/migrate.js'
import { UNPREFIXED } from '../../harness/own-tables.js'
import store from '../../../examples/store/uniform-rest.config.js'
import { createLogger } from '../../../shared/logger.js'
import { eachDatabase, freshDatabase, type FreshDatabase } from '../../harness/database.js'
import { runAccountCommand } from '../../harness/account-command.js'
import { type Stack, startStack } from '../../harness/stack.js'
import { withTestDatabase } from '../../oracle/test-database.js'
import { call, json } from '../http-call.js'

/** The migrations of accounts that a database of the version before lacks. */
const LATER = ['050-account-claims', '051-account-sessions', '060-machine-secrets']
const EMAIL = 'old@example.com'
const PASSWORD = 'an old password'
const REFRESH_TOKEN = Buffer.alloc(48, 9)

/** As the version before wrote them: an account with one role, and a session of it. */
async function fillAsBefore(url: string): Promise<void> {
  const database = connect(url)
  const all = [...engineMigrations(UNPREFIXED), ...store.migrations]
  const before = all.filter(({ name }) => !LATER.includes(name))
  expect(before).to.have.length(all.length - LATER.length)
  await migrateDatabase(database, before, { own: UNPREFIXED, log: createLogger({ name: 'test', level: 'silent' }) })
  await database.sequelize.close()
  const sha = (...parts: readonly (string | Buffer)[]): Buffer =>
    parts.reduce((hash, part) => hash.update(part), createHash('sha256')).digest()
  const now = Date.now()
  const later = now + 60 * 60_000
  await withTestDatabase(url, async (db) => {
    await db.run(
      'INSERT INTO accounts (id, email_key, email, name, password_hash, role, owner, is_sample, created_at) ' +
        "VALUES (1, ?, ?, 'Old', ?, 'clerk', 2, 0, ?)",
      [sha(EMAIL), EMAIL, hashSync(PASSWORD), now]
    )
    const family = Buffer.alloc(16, 1)
    await db.run(
      'INSERT INTO refresh_families (id, account_id, created_at, ends_at, expires_at, ref_hash) VALUES (?, 1, ?, ?, ?, ?)',
      [family, now, later, later, sha('family', REFRESH_TOKEN.subarray(0, 16))]
    )
    await db.run('INSERT INTO refresh_tokens (token_hash, family_id, issued_at, expires_at) VALUES (?, ?, ?, ?)', [
      sha(REFRESH_TOKEN),
      family,
      now,
      later
    ])
    // The sample store, which takes time, is loaded into an empty database alone.
    await db.run("INSERT INTO categories (id, name, slug, row_version) VALUES (1, 'Tools', 'tools', ?)", [
      Buffer.alloc(8)
    ])
  })
}

eachDatabase((kind) => {
  describe(`a database of the version before on ${kind}`, () => {
    let database: FreshDatabase
    let stack: Stack
    before(async () => {
      database = await freshDatabase(kind)
      await fillAsBefore(database.url)
      stack = await startStack({ database, env: { SAMPLE_DATA: 'false' } })
    })
    after(async () => {
      await stack.stop()
      await database.dispose()
    })

    const post = (path: string, headers: Record<string, string>, body?: object) =>
      call(stack.url, path, {
        method: 'POST',
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
    const canManage = async (accessToken: string): Promise<void> => {
      const payload = Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString()
      expect(JSON.parse(payload)).to.include({ sub: EMAIL, role: 'clerk', customer_id: 2 })
      expect((await call(stack.url, '/customers', { token: accessToken })).status).to.equal(200)
    }

    it('logs its accounts in with the role that they have', async () => {
      const login = await post('/auth/login', {}, { email: EMAIL, password: PASSWORD })
      expect(login.status, login.text).to.equal(200)
      await canManage((json(login) as { accessToken: string }).accessToken)
    })

    it('goes on with its sessions, and ends them together', async () => {
      const cookie = `app_auth_refresh=${REFRESH_TOKEN.toString('base64url')}`
      const answer = await post('/auth/session/token', { cookie })
      expect(answer.status, answer.text).to.equal(200)
      await canManage((json(answer) as { accessToken: string }).accessToken)
      const login = await post('/auth/login', {}, { email: EMAIL, password: PASSWORD })
      const [other = ''] = (login.headers['set-cookie'] ?? []).filter((line) => line.startsWith('app_auth_refresh='))
      expect((await post('/auth/logout-everywhere', { cookie: other.split(';')[0] ?? '' })).status).to.equal(204)
      expect((await post('/auth/session/token', { cookie })).status).to.equal(401)
    })

    it('gets a table for the secrets of machine accounts', async () => {
      const { DATABASE_URL = '', DATA_DIR = '' } = stack.env
      const made = await runAccountCommand(['add', '--machine', 'robot', '--role', 'Clerk'], {
        env: { DATABASE_URL, DATA_DIR },
        line: undefined
      })
      const [, secret = ''] = /^Client secret: (.*)$/m.exec(made.output) ?? []
      const answer = await call(stack.url, '/auth/token', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `grant_type=client_credentials&client_id=robot&client_secret=${secret}`
      })
      expect(answer.status, answer.text).to.equal(200)
      const { access_token: token } = json(answer) as { access_token: string }
      expect((await call(stack.url, '/customers', { token })).status).to.equal(200)
    })

    it('mints tokens for an account that is nobody’s sample', async () => {
      await canManage(await mintAccessTokenFor(store, { email: EMAIL, environment: stack.env }))
    })
  })
})
