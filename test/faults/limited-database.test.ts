import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { connect } from '../../data-service/sql/connect.js'
import { migrateDatabase } from '../../schema/migrations/migrate.js'
import { OWN } from '../harness/own-tables.js'
import { primaryMigrations } from '../harness/primary-migrations.js'
import { secondMigrations } from '../../examples/store/schema/reviews.js'
import { createLogger } from '../../shared/logger.js'
import { expectProblem } from '../api/expect-problem.js'
import { insertFixture } from '../api/fixture.js'
import type { Answer } from '../api/http-call.js'
import { sendTo, type Write } from '../api/writes/send.js'
import { runCommand } from '../harness/command.js'
import type { FreshDatabase } from '../harness/database.js'
import { storeDatabase } from '../harness/store-database.js'
import { outputRoot, packageRoot } from '../harness/package-root.js'
import { StartError } from '../../shared/start-error.js'
import { startDataServiceHere } from '../stack/in-process.js'
import { type Stack, startStack } from '../harness/stack.js'
import { openTestDatabase, type TestDatabase, withTestDatabase } from '../oracle/test-database.js'
import { type PrivateServer, startPrivateServer } from '../runner/database-server.js'

const RIGHTS = 'SELECT, INSERT, UPDATE, DELETE'

/** An application over a table that somebody else made. */
const SHOP = `import { createTable, defineApplication } from 'uniform-rest'
const columns = (t) => ({ columns: [t.int('id').autoIncrement(), t.varchar('name', 40).nullable()] })
const shop = { name: '001-shop', baseline: true, steps: [createTable('customers', columns)] }
export default defineApplication({ entities: [], migrations: [shop] })
`

/** Starts a data service alone on a free port, in this process, and stops it. */
async function startAndStop(env: Readonly<Record<string, string>>): Promise<void> {
  const settings = { DATA_SERVICE_ADDRESS: '127.0.0.1:0', OWNER_BYPASS_ROLE: 'Admin', ...env }
  const { server } = await startDataServiceHere(join(outputRoot, 'examples/store'), settings)
  await server.stop()
}

/** What an operator is told of a data service that does not start. */
async function rejectionOf(env: Readonly<Record<string, string>>): Promise<string> {
  const error: unknown = await startAndStop(env).catch((thrown: unknown) => thrown)
  if (!(error instanceof StartError)) throw new Error(`It is not what an operator can mend: ${String(error)}`)
  return error.message
}

describe('a MariaDB account with the rights of daily work', () => {
  let server: PrivateServer
  let admin: TestDatabase
  let dataDir: string
  let name: string
  let databases: { readonly url: string; readonly reviewsUrl: string }

  before(async () => {
    // The server of TEST_MYSQL_URL is others' as well, and its settings are changed here.
    server = await startPrivateServer()
    admin = await openTestDatabase(`${server.url}/mysql`)
    dataDir = await mkdtemp(join(tmpdir(), 'limited-'))
    name = `limited_${randomBytes(4).toString('hex')}`
    await admin.run(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`)
    const own = new URL(`${server.url}/${name}`)
    const all = { url: own.href, reviewsUrl: `sqlite:${join(dataDir, 'reviews.sqlite')}` }
    for (const [url, migrations] of [
      [all.url, primaryMigrations],
      [all.reviewsUrl, secondMigrations]
    ] as const) {
      const database = connect(url)
      await migrateDatabase(database, migrations, { own: OWN, log: createLogger({ name: 'test', level: 'silent' }) })
      await database.sequelize.close()
    }
    await insertFixture({ database: all.url, reviews: all.reviewsUrl })
    await admin.run("CREATE USER 'clerk'@'127.0.0.1' IDENTIFIED BY 'clerk'")
    own.username = 'clerk'
    own.password = 'clerk'
    databases = { ...all, url: own.href }
  })
  after(async () => {
    await admin?.close()
    await server?.stop()
    if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true })
  })

  const settings = (): Readonly<Record<string, string>> => ({
    DATA_DIR: dataDir,
    DATABASE_URL: databases.url,
    REVIEWS_DATABASE_URL: databases.reviewsUrl
  })
  const only = async (rights: string): Promise<void> => {
    await admin.run("REVOKE ALL PRIVILEGES, GRANT OPTION FROM 'clerk'@'127.0.0.1'")
    await admin.run(`GRANT ${rights} ON ${name}.* TO 'clerk'@'127.0.0.1'`)
  }

  it('starts where nothing is to be migrated, on a server that is read-only too', async () => {
    await only(RIGHTS)
    for (const readOnly of [0, 1]) {
      await admin.run(`SET GLOBAL read_only = ${readOnly}`)
      try {
        await startAndStop(settings())
      } finally {
        await admin.run('SET GLOBAL read_only = 0')
      }
    }
  })

  it('serves with exactly the grants that a command prints', async () => {
    await only('SELECT')
    const env = { ...settings(), DATABASE_URL: `${server.url}/${name}` }
    const command = ['migrate', '--grants', 'clerk@127.0.0.1', '--app', join(outputRoot, 'examples/store')]
    const { stdout } = await runCommand(command, { env })
    const [, migrating = '', serving = ''] =
      /for the account that migrates\n(.*?)\n\n-- DATABASE_URL: for the account that serves\n(.*?)\n\n/s.exec(stdout) ??
      []
    expect(migrating).to.equal(
      `GRANT ${RIGHTS}, CREATE, ALTER, DROP, INDEX, REFERENCES ON \`${name}\`.* TO 'clerk'@'127.0.0.1';`
    )
    expect(serving).to.include(`GRANT SELECT ON \`${name}\`.\`ur_schema_migrations\` TO 'clerk'@'127.0.0.1';`)
    await admin.run("REVOKE ALL PRIVILEGES, GRANT OPTION FROM 'clerk'@'127.0.0.1'")
    for (const grant of serving.split('\n')) await admin.run(grant.replace(/;$/, ''))
    await using stack = await startStack({
      database: databases,
      env: { ...settings(), SAMPLE_DATA: 'false', MIGRATE_AT_START: 'false' }
    })
    const token = await stack.token('clerk@example.com')
    const body = { name: 'n', sku: 'granted', categoryId: 1, price: '1.00', isActive: true }
    const made = await sendTo(stack.url, { method: 'POST', target: '/products', token }, { body })
    expect(made.status, made.text).to.equal(201)
    const location = String(made.headers['location']).replace(stack.url, '')
    const put = { body: { ...body, name: 'm' }, ifMatch: String(made.headers['etag']) }
    expect((await sendTo(stack.url, { method: 'PUT', target: location, token }, put)).status).to.equal(200)
    const auditor = await stack.token('admin@example.com')
    const trail = await sendTo(stack.url, { method: 'GET', target: '/audit-entries', token: auditor }, {})
    expect(trail.status).to.equal(200)
    await admin.run(`DELETE FROM ${name}.products WHERE sku = 'granted'`)
  })

  for (const missing of ['SELECT', 'UPDATE']) {
    it(`is told of the right to ${missing} that is missing, with the statement that grants it`, async () => {
      await only(
        RIGHTS.split(', ')
          .filter((right) => right !== missing)
          .join(', ')
      )
      const line = await rejectionOf(settings())
      expect(line)
        .to.include('DATABASE_URL')
        .and.include(`GRANT ${RIGHTS} ON \`${name}\`.* TO 'clerk'@'127.0.0.1'`)
        .and.include(missing)
    })
  }

  it('is told of the rights that migrations need, and of a server that is read-only', async () => {
    const migrating = { ...settings(), MIGRATE_AT_START: 'true' }
    await only(RIGHTS)
    const migration = '033-look-up-guards'
    await admin.run(`DELETE FROM ${name}.ur_schema_migrations WHERE name = ?`, [migration])
    await admin.run(`DROP TABLE ${name}.ur_look_up_guards`)
    expect(await rejectionOf(migrating))
      .to.include(migration)
      .and.match(
        /GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, ALTER, .* ON `limited_\w+`\.\* TO 'clerk'@'127\.0\.0\.1'/
      )
    await only('ALL PRIVILEGES')
    await admin.run('SET GLOBAL read_only = 1')
    expect(await rejectionOf(migrating))
      .to.include(migration)
      .and.match(/read-only/)
    await admin.run('SET GLOBAL read_only = 0')
    await startAndStop(migrating)
  })

  it('needs no right to make or alter tables beside those of others where the engine keeps its own elsewhere', async () => {
    const [shop, engine, folder] = [`${name}_shop`, `${name}_engine`, join(dataDir, 'shop')]
    await mkdir(join(folder, 'node_modules'), { recursive: true })
    await symlink(packageRoot, join(folder, 'node_modules/uniform-rest'))
    await writeFile(join(folder, 'uniform-rest.config.mjs'), SHOP)
    for (const one of [shop, engine]) await admin.run(`CREATE DATABASE ${one} CHARACTER SET utf8mb4`)
    await admin.run(`CREATE TABLE ${shop}.customers (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40))`)
    const command = async (url: string, ...args: string[]): Promise<string> => {
      const env = { DATABASE_URL: url, ENGINE_TABLE_PREFIX: `${engine}.ur_` }
      const { code, stdout, stderr } = await runCommand(args, { env, directory: folder })
      return code === 0 ? stdout : stderr
    }
    const url = databases.url.replace(`/${name}`, `/${shop}`)
    await only(RIGHTS)
    for (const one of [shop, engine]) await admin.run(`GRANT SELECT ON ${one}.* TO 'clerk'@'127.0.0.1'`)
    const told = await command(url, 'migrate')
    expect(told).to.match(
      new RegExp(`Grant them, for as long as they run: GRANT [^;]* ON \`${engine}\`\\.\\* TO [^;]*;\\n$`)
    )
    const printed = await command(`${server.url}/${shop}`, 'migrate', '--grants', 'clerk@127.0.0.1')
    const [, migrating = ''] = /for the account that migrates\n(.*?)\n\n/s.exec(printed) ?? []
    expect(migrating.split('\n')).to.deep.equal([
      `GRANT SELECT ON \`${shop}\`.* TO 'clerk'@'127.0.0.1';`,
      `GRANT ${RIGHTS}, CREATE, ALTER, DROP, INDEX, REFERENCES ON \`${engine}\`.* TO 'clerk'@'127.0.0.1';`
    ])
    await admin.run("REVOKE ALL PRIVILEGES, GRANT OPTION FROM 'clerk'@'127.0.0.1'")
    for (const grant of migrating.split('\n')) await admin.run(grant.replace(/;$/, ''))
    expect(await command(url, 'migrate')).to.include('ran 001-shop')
    expect(await command(url, 'migrate', 'status')).to.include('001-shop, whose tables stood there already')
  })

  describe('hears 503 of rejections that pass, and is served again afterwards:', () => {
    let stack: Stack
    let products = 0
    before(async () => {
      await only(RIGHTS)
      stack = await startStack({ database: databases, env: { SAMPLE_DATA: 'false' } })
    })
    after(() => stack?.stop())

    const send = async (line: string, write: Write = {}): Promise<Answer> => {
      const [account = '', method = '', target = ''] = line.split(' ')
      return sendTo(stack.url, { method, target, token: await stack.token(`${account}@example.com`) }, write)
    }
    const create = (): Promise<Answer> => {
      const sku = `limited-${products++}`
      return send('clerk POST /products', {
        body: { name: 'n', sku, categoryId: 1, price: '1.00', isActive: true }
      })
    }
    const rejected = async (request: () => Promise<Answer>, cause: number): Promise<void> => {
      const answer = await request()
      expectProblem(answer, { status: 503, code: 'upstream.unavailable', base: stack.url })
      expect(answer.headers['retry-after']).to.match(/^[1-9]\d*$/)
      const id = answer.headers['x-request-id']
      const { err } = await stack.dataService.logged((line) => line['requestId'] === id && line['err'] !== undefined)
      const error: object = typeof err === 'object' && err !== null ? err : {}
      expect(error).to.include({ errno: cause })
      expect(error).to.have.property('message').which.is.a('string').and.is.not.equal('')
    }

    it('a server made read-only, as in a fail-over', async () => {
      await admin.run('SET GLOBAL read_only = 1')
      try {
        await rejected(create, 1290)
        expect((await send('clerk GET /products/1')).status).to.equal(200)
      } finally {
        await admin.run('SET GLOBAL read_only = 0')
      }
      expect((await create()).status).to.equal(201)
    })

    it('no more prepared statements', async () => {
      const [before] = await admin.run('SELECT @@GLOBAL.max_prepared_stmt_count AS most')
      await admin.run('SET GLOBAL max_prepared_stmt_count = 0')
      try {
        // Neither was prepared before.
        await rejected(
          () =>
            send('clerk GET /products/paged?filterProperty=weightGrams&filterOperator=lt&filterValue=5&sortColumn=sku'),
          1461
        )
        await rejected(
          () =>
            send('clerk PUT /categories/5', {
              body: { name: 'trailing', slug: 'trailing', parentId: null },
              ifMatch: 'W/"AAAAAAAAAAA="'
            }),
          1461
        )
      } finally {
        await admin.run('SET GLOBAL max_prepared_stmt_count = ?', [Number(before?.['most'])])
      }
      expect((await create()).status).to.equal(201)
    })

    it('no room left for rows', async () => {
      // A table in memory is full at its limit: the error is that of a full disk.
      await admin.run('SET GLOBAL max_heap_table_size = 16384')
      await admin.run('SET SESSION max_heap_table_size = 16384')
      // One in memory holds no texts of any length.
      const texts = (type: string): string => `MODIFY changes ${type} NULL`
      await admin.run(`DELETE FROM ${name}.ur_audit_entries`)
      await admin.run(`ALTER TABLE ${name}.ur_audit_entries ${texts('VARCHAR(2000)')}, ENGINE = MEMORY`)
      const entry = `INSERT INTO ${name}.ur_audit_entries (at, subject, resource, row_id, action, row_version) VALUES (NOW(), '', '', '', '', 'xxxxxxxx')`
      try {
        for (let full = false; !full;) {
          full = await admin.run(entry).then(
            () => false,
            () => true
          )
        }
        await rejected(create, 1114)
      } finally {
        await admin.run(`DELETE FROM ${name}.ur_audit_entries`)
        await admin.run(`ALTER TABLE ${name}.ur_audit_entries ENGINE = InnoDB, ${texts('LONGTEXT')}`)
      }
      expect((await create()).status).to.equal(201)
    })

    it('a lock that is not had in time', async () => {
      await withTestDatabase(`${server.url}/${name}`, async (holder) => {
        await holder.run('START TRANSACTION')
        await holder.run('SELECT id FROM categories WHERE id = 5 FOR UPDATE')
        await rejected(() => send('admin DELETE /categories/5'), 1205)
        await holder.run('ROLLBACK')
      })
      expect((await send('admin DELETE /categories/5')).status).to.equal(204)
    })
  })
})

describe('a SQLite file that may only be read', () => {
  let database: FreshDatabase
  let dataDir: string
  before(async () => {
    database = await storeDatabase('sqlite', 'none')
    dataDir = await mkdtemp(join(tmpdir(), 'readonly-'))
  })
  after(async () => {
    await database.dispose()
    await rm(dataDir, { recursive: true, force: true })
  })

  it('is told with what to do about it', async () => {
    const env = {
      DATA_DIR: dataDir,
      DATABASE_URL: database.url,
      REVIEWS_DATABASE_URL: database.reviewsUrl,
      MIGRATE_AT_START: 'true'
    }
    // Root may write whatever the mode says. A write version that SQLite does not know holds for everybody.
    const file = await open(database.url.slice('sqlite:'.length), 'r+')
    await file.write(Buffer.from([3]), 0, 1, 18)
    await file.close()
    expect(await rejectionOf(env))
      .to.include('DATABASE_URL')
      .and.include('SQLITE_READONLY')
      .and.match(/may not (read and )?write/)
  })
})
