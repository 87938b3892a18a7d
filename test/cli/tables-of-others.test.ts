import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { expect } from 'chai'
import { bytesOf, dumpOf, partOf } from '../harness/dump.js'
import { eachDatabase } from '../harness/database.js'
import { ApplicationFolder, runCommand } from '../harness/command.js'
import { outputRoot } from '../harness/package-root.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { type FreshDatabase, freshDatabase } from '../stack/databases.js'
import { startStack } from '../stack/stack.js'

const APP = `import {
  createTable, dateTime, defineApplication, defineEntity, everyone, int, long, permission, readOnly, text
} from 'uniform-rest'

const common = { description: 'Of a test.', filterable: [], sortable: [], access: { read: everyone } } as const
const customers = defineEntity({
  name: 'customers', ...common, rowVersion: 'none',
  fields: { id: readOnly(int()), name: text(40) }, label: 'name'
})
const notes = defineEntity({
  name: 'notes', ...common, access: { read: everyone, write: permission('notes:manage') }, fields: { id: readOnly(int()), title: text(40), customerId: int() }, label: 'title',
  references: { customer: { to: 'customers', via: 'customerId' } }, writes: ['create', 'update', 'delete']
})
const trail = defineEntity({
  name: 'audit-entries', ...common, rowVersion: 'none',
  fields: { id: readOnly(long()), at: readOnly(dateTime()), resource: readOnly(text(64)), action: readOnly(text(64)) },
  label: 'action'
})

const first = {
  name: '001-shop',
  baseline: true,
  steps: [createTable('customers', (t) => ({ columns: [t.int('id').autoIncrement(), t.varchar('name', 40)] }))]
}
const second = {
  name: '002-notes',
  steps: [
    createTable('notes', (t) => ({
      columns: [t.int('id').autoIncrement(), t.varchar('title', 40), t.int('customer_id'), t.rowVersion()],
      indexes: [t.index('customer_id')],
      foreignKeys: [{ column: 'customer_id', references: 'customers.id', onDelete: 'restrict' }]
    }))
  ]
}
export default defineApplication({ entities: [customers, notes, trail], migrations: [first, second], roles: { Editor: ['notes:manage'] } })
`

interface Ran {
  readonly code: number
  readonly out: string
}

eachDatabase((kind) => {
  describe(`the commands in a database full of somebody's tables, on ${kind}`, () => {
    let app: ApplicationFolder
    let fresh: FreshDatabase

    before(async () => {
      app = await ApplicationFolder.make({ 'uniform-rest.config.ts': APP })
      fresh = await freshDatabase(kind)
      const id =
        kind === 'sqlite' ? 'INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT' : 'INT NOT NULL AUTO_INCREMENT PRIMARY KEY'
      await withTestDatabase(fresh.url, async ({ run }) => {
        await run(`CREATE TABLE customers (id ${id}, name VARCHAR(40) NOT NULL)`)
        await run("INSERT INTO customers (name) VALUES ('Ada'), ('Ben')")
        await run('CREATE TABLE schema_migrations (version BIGINT NOT NULL PRIMARY KEY, dirty BOOLEAN NOT NULL)')
        await run('INSERT INTO schema_migrations VALUES (7, 0)')
        for (const name of ['accounts', 'outbox', 'sessions', 'audit_entries'])
          await run(`CREATE TABLE ${name} (id INT)`)
        await run('CREATE VIEW names AS SELECT name FROM customers')
      })
    })
    after(async () => {
      await fresh?.dispose()
      await app[Symbol.asyncDispose]()
    })

    const command = async (args: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<Ran> => {
      const env = { DATABASE_URL: fresh.url, DATA_SERVICE_ADDRESS: '127.0.0.1:0', LOG_LEVEL: 'silent', ...more }
      const { code, stdout, stderr } = await app.run(args, env)
      return { code, out: `${stdout}${stderr}` }
    }

    if (kind === 'mysql') {
      it('change nothing where the account has four rights alone, and print the grants that are missing', async () => {
        const user = `four_${randomBytes(4).toString('hex')}`
        const four = new URL(fresh.url)
        const name = four.pathname.slice(1)
        four.username = user
        four.password = 'four-password'
        const [bytes, dump] = [await bytesOf(fresh.url), await dumpOf(fresh.url)]
        await withTestDatabase(fresh.url, async ({ run }) => {
          await run(`CREATE USER '${user}'@'%' IDENTIFIED BY 'four-password'`)
          await run(`GRANT SELECT, INSERT, UPDATE, DELETE ON \`${name}\`.* TO '${user}'@'%'`)
          try {
            for (const [args, words, migrates] of [
              [['migrate'], /--among-tables-of/, 'false'],
              [
                ['migrate', '--among-tables-of', name, '--may-alter', 'customers'],
                /GRANT SELECT, .*CREATE, ALTER/,
                'false'
              ],
              [['start', 'data-service'], /migrations have not run/, 'false'],
              [['start', 'data-service'], /--among-tables-of/, 'true'],
              [['account', 'list'], /--among-tables-of/, 'false']
            ] as const) {
              const { code, out } = await command(args, { DATABASE_URL: four.href, MIGRATE_AT_START: migrates })
              expect(code, args.join(' ')).to.equal(1)
              expect(out, args.join(' '))
                .to.match(words)
                .and.match(/^Cannot start: DATABASE_URL, /m)
                .and.not.match(/\n {4}at /)
                .and.not.include('four-password')
            }
            expect((await command(['migrate', '--dry-run'], { DATABASE_URL: four.href })).code).to.equal(0)
          } finally {
            await run(`DROP USER '${user}'@'%'`)
          }
        })
        expect(await bytesOf(fresh.url)).to.equal(bytes)
        expect(await dumpOf(fresh.url)).to.deep.equal(dump)
      })
    }

    it('change nothing, and the words that they print are enough to go on', async () => {
      const [bytes, dump] = [await bytesOf(fresh.url), await dumpOf(fresh.url)]
      const started = await command(['start', 'data-service'])
      expect(started.code).to.equal(1)
      expect(started.out).to.match(/19 migrations have not run: .*Run them with `uniform-rest migrate`/)
      for (const [args, env] of [
        [['start', 'data-service'], { MIGRATE_AT_START: 'true' }],
        [['account', 'list'], { MIGRATE_AT_START: 'true' }],
        [['account', 'list'], {}],
        [['token', 'ada@example.com'], {}],
        [['outbox', 'list'], {}],
        [['migrate'], {}]
      ] as const) {
        const { code, out } = await command(args, env)
        expect(code, args.join(' ')).to.equal(1)
        expect(out, args.join(' '))
          .to.match(/^Cannot start: DATABASE_URL, /m)
          .and.not.match(/\n {4}at /)
        if (args[0] !== 'start') expect(out, args.join(' ')).to.include('uniform-rest migrate --among-tables-of ')
      }
      const dry = await command(['migrate', '--dry-run'])
      expect(dry.code).to.equal(0)
      expect(dry.out)
        .to.match(/^CREATE TABLE IF NOT EXISTS `ur_accounts`/m)
        .and.match(/^CREATE TABLE IF NOT EXISTS `notes`/m)
      expect(dry.out).to.include('-- its tables stand there already').and.not.include('EXISTS `customers`')
      expect((await command(['migrate', 'status'])).out).to.include('pending  001-shop')
      expect(await bytesOf(fresh.url)).to.equal(bytes)

      const { out } = await command(['migrate'])
      const [, words = ''] = /^ {2}uniform-rest (migrate .+)$/m.exec(out) ?? []
      expect(words).to.match(/^migrate --among-tables-of \S+ --may-alter customers$/)
      const ran = await command(words.split(' '))
      expect(ran.out).to.include('ran 001-shop').and.include('ran 002-notes')
      expect(ran.code).to.equal(0)
      expect(partOf(await dumpOf(fresh.url), dump)).to.deep.equal(dump)
      expect((await command(['migrate'])).out).to.include('all 19 migrations have run')
      expect((await command(['migrate', 'status'])).out).to.include('001-shop, whose tables stood there already')
    })

    it('serve it then, and leave its tables as they were', async () => {
      const dump = await dumpOf(fresh.url)
      const env = { MIGRATE_AT_START: 'false' }
      await using stack = await startStack({ app: app.path, database: fresh, env })
      expect((await stack.call('/customers/1')).body).to.deep.include({ name: 'Ada' })
      const body = { title: 'Call back', customerId: 1 }
      const token = stack.token({ sub: 'ada', role: 'Editor' })
      const made = await stack.call('/notes', { body, token })
      expect(made.status, made.text).to.equal(201)
      expect((await stack.call('/audit-entries')).body).to.have.length(1)
      const untouched = ['accounts', 'audit_entries', 'customers', 'names', 'outbox', 'schema_migrations', 'sessions']
      const after = await dumpOf(fresh.url)
      for (const name of untouched) expect(after[name], name).to.deep.equal(dump[name])
    })
  })
})

describe('ENGINE_TABLE_PREFIX with another database', () => {
  it('is an error in words where DATABASE_URL names a file', async () => {
    const env = { ENGINE_TABLE_PREFIX: 'engine.ur_' }
    const { stderr } = await runCommand(['migrate', '--app', join(outputRoot, 'examples/store')], { env })
    expect(stderr).to.match(/ENGINE_TABLE_PREFIX names another database.*leave `engine\.` out/)
  })
})
