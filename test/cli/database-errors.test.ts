import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { connect } from '../../data-service/sql/connect.js'
import { migrateDatabase } from '../../schema/migrations/migrate.js'
import { createLogger } from '../../shared/logger.js'
import { runCommand } from '../harness/command.js'
import { outputRoot } from '../harness/package-root.js'
import { OWN } from '../harness/own-tables.js'
import { primaryMigrations } from '../harness/primary-migrations.js'
import { openTestDatabase, withTestDatabase } from '../oracle/test-database.js'
import { type FreshDatabase, freshDatabase } from '../stack/databases.js'

describe('what commands say of a database that fails', () => {
  let folder = ''
  let sqlite: FreshDatabase
  let mysql: FreshDatabase
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'errors-'))
    sqlite = await freshDatabase('sqlite')
    mysql = await freshDatabase('mysql')
    for (const { url } of [sqlite, mysql]) {
      const database = connect(url)
      await migrateDatabase(database, primaryMigrations, {
        own: OWN,
        log: createLogger({ name: 'test', level: 'silent' })
      })
      await database.sequelize.close()
    }
  })
  after(async () => {
    await sqlite?.dispose()
    await mysql?.dispose()
    await rm(folder, { recursive: true, force: true })
  })

  /** What a command that must fail prints: one message in words, without a stack and without the password. */
  async function told(url: string, ...command: readonly string[]): Promise<string> {
    const env = { DATA_DIR: folder, DATABASE_URL: url }
    const ran = await runCommand([...command, '--app', join(outputRoot, 'examples/store')], { env })
    expect(ran.code, ran.stderr).to.equal(1)
    expect(ran.stderr)
      .to.match(/^Cannot start: DATABASE_URL, /m)
      .and.not.match(/\n {4}at /)
    const { password } = new URL(url)
    if (password !== '') expect(ran.stderr).to.not.include(password)
    return ran.stderr
  }
  const at = (change: (url: URL) => void): string => {
    const url = new URL(mysql.url)
    change(url)
    return url.href
  }

  for (const command of [['migrate'], ['migrate', 'status'], ['account', 'list'], ['outbox', 'list'], ['sample']]) {
    it(`names a file that is no database, for ${command.join(' ')}`, async () => {
      expect(await told(`sqlite:${fileURLToPath(import.meta.url)}`, ...command)).to.include(
        'the file is no SQLite database'
      )
    })
  }

  it('names a damaged file', async () => {
    const copy = await freshDatabase('sqlite')
    try {
      await withTestDatabase(copy.url, async ({ run }) => {
        await run('CREATE TABLE large (text TEXT)')
        await run('CREATE TABLE ur_schema_migrations (name TEXT NOT NULL PRIMARY KEY)')
      })
      const file = await open(copy.url.slice('sqlite:'.length), 'r+')
      await file.write(Buffer.alloc(700, 7), 0, 700, 3396)
      await file.close()
      expect(await told(copy.url, 'migrate'))
        .to.include('the file is damaged')
        .and.include('SQLITE_CORRUPT')
    } finally {
      await copy.dispose()
    }
  })

  it('names a file that another process holds', async () => {
    const other = await freshDatabase('sqlite')
    const holder = await openTestDatabase(other.url)
    try {
      await holder.run('CREATE TABLE held (id INT)')
      await holder.run('BEGIN EXCLUSIVE')
      expect(await told(other.url, 'account', 'list')).to.include('another process holds the file')
    } finally {
      await holder.close()
      await other.dispose()
    }
  })

  it('names a database that is not there, and a password that is wrong', async () => {
    expect(
      await told(
        at((url) => (url.pathname = '/nowhere')),
        'migrate'
      )
    ).to.match(/the server has no database of this name|this user may not use the database/)
    expect(
      await told(
        at((url) => (url.password = 'wrong-password')),
        'account',
        'list'
      )
    ).to.include('the server refuses this user or password')
  })

  it('names a table that is gone, and a right that is missing', async () => {
    await withTestDatabase(mysql.url, async ({ run }) => {
      const name = new URL(mysql.url).pathname.slice(1)
      await run('RENAME TABLE ur_account_links TO gone')
      expect(await told(mysql.url, 'account', 'list')).to.match(
        /tables are not as the migrations made them.*ur_account_links/
      )
      await run('RENAME TABLE gone TO ur_account_links')
      await run("CREATE USER IF NOT EXISTS 'reader'@'%' IDENTIFIED BY 'reader-password'")
      await run(`GRANT SELECT ON ${name}.* TO 'reader'@'%'`)
      try {
        const reading = at((url) => {
          url.username = 'reader'
          url.password = 'reader-password'
        })
        const add = ['account', 'add', 'a@example.com', '--no-password']
        expect(await told(reading, ...add)).to.match(/the account has not the right to it: INSERT.*--grants/)
      } finally {
        await run("DROP USER 'reader'@'%'")
      }
    })
  })
})
