import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { type Ran, runCommand } from '../harness/command.js'
import { eachDatabase } from '../harness/database.js'
import { outputRoot } from '../harness/package-root.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { type FreshDatabase, freshDatabase } from '../stack/databases.js'

const ACCOUNT = 'operator@example.com'

eachDatabase((kind) => {
  describe(`commands in an empty database, before the first start, on ${kind}`, () => {
    let database: FreshDatabase
    let dataDir: string
    beforeEach(async () => {
      database = await freshDatabase(kind)
      dataDir = await mkdtemp(join(tmpdir(), 'before-'))
    })
    afterEach(async () => {
      await database.dispose()
      await rm(dataDir, { recursive: true, force: true })
    })

    const command = (...args: string[]): Promise<Ran> =>
      runCommand([...args, '--app', join(outputRoot, 'examples/store')], {
        env: { DATABASE_URL: database.url, DATA_DIR: dataDir, LOG_LEVEL: 'silent', OWNER_BYPASS_ROLE: 'Admin' },
        line: 'a password of this test'
      })

    it('make an account, list it and print its token', async () => {
      const added = await command('account', 'add', ACCOUNT, '--role', 'Admin')
      expect([added.code, added.stderr.includes('Cannot start')], added.stderr).to.deep.equal([0, false])
      expect((await command('account', 'list')).stdout).to.include(ACCOUNT)
      const { code, stdout } = await command('token', ACCOUNT)
      expect([code, stdout.split('.').length]).to.deep.equal([0, 3])
      const migrated = await command('migrate')
      expect([migrated.code, migrated.stderr]).to.deep.equal([0, ''])
      expect((await command('account', 'list')).stdout).to.include(ACCOUNT)
    })

    it('print the token of a sample account, and an empty outbox', async () => {
      expect((await command('token', 'ada@example.com')).stdout.split('.')).to.have.length(3)
      expect((await command('outbox', 'list')).code).to.equal(0)
    })

    it('name the migrations of an upgrade, and run none', async () => {
      expect((await command('account', 'list')).code).to.equal(0)
      const record = async (statement: string): Promise<number> =>
        withTestDatabase(database.url, async ({ run }) => (await run(statement)).length)
      const before = await record('SELECT name FROM ur_schema_migrations')
      await record(
        'DELETE FROM ur_schema_migrations WHERE name = (SELECT name FROM (SELECT MAX(name) AS name FROM ur_schema_migrations) AS one)'
      )
      const { code, stderr } = await command('account', 'list')
      expect(code).to.equal(1)
      expect(stderr).to.match(/a migration has not run: .*Run them with `uniform-rest migrate`/)
      expect(await record('SELECT name FROM ur_schema_migrations')).to.equal(before - 1)
    })
  })
})
