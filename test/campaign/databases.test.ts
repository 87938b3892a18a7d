import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { type Connection, createConnection } from 'mysql2/promise'
import {
  DATABASE_KINDS,
  type Database,
  type DatabaseKind,
  type DatabaseNode
} from '../../campaign/databases/database.js'
import { startDatabase } from '../../campaign/databases/start-database.js'
import { insertFixture } from '../api/fixture.js'
import { call } from '../api/http-call.js'
import { sendTo } from '../api/writes/send.js'
import { startReplicas } from '../harness/cluster.js'
import { startStack } from '../harness/stack.js'

/** Others are fetched from Debian and take longer: `TEST_CAMPAIGN=mysql,mariadb-newest,galera npm test -- test/campaign` adds them. */
const KINDS: readonly DatabaseKind[] = ['mariadb', ...further()]

/** Nothing but root may mount a small disk. */
const ROOT = process.getuid?.() === 0

function further(): DatabaseKind[] {
  return DATABASE_KINDS.filter((kind) => isAsked(kind) && kind !== 'sqlite' && kind !== 'galera')
}

function isAsked(kind: DatabaseKind): boolean {
  return process.env['TEST_CAMPAIGN']?.split(',').includes(kind) === true
}

/** What every server can be hurt by. */
const EVERYWHERE = [
  'killed',
  'terminated',
  'frozen',
  'slowed',
  'read-only',
  'no-connections',
  'connections-killed',
  'writes-held',
  'table-locked',
  'table-rebuilt'
]

const quiet = (): void => undefined

/** Numbers from 0 to 1 that are the same in each run. */
function numbers(): () => number {
  let state = 20_251
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}

/** The code or the number of the error that a statement ends with; undefined where it ends well. */
async function failureOf(statement: Promise<unknown>): Promise<unknown> {
  return statement.then(
    () => undefined,
    (error: unknown) => (error instanceof Error && 'errno' in error ? (error.errno ?? error.message) : String(error))
  )
}

/** Whether it has no answer yet, although there was time for one. */
async function isPending(statement: Promise<unknown>): Promise<boolean> {
  return Promise.race([
    statement.then(
      () => false,
      () => false
    ),
    pause(200, true)
  ])
}

for (const kind of KINDS) {
  describe(`a database of the campaign of kind ${kind}`, () => {
    let folder: string
    let database: Database
    let node: DatabaseNode
    const random = numbers()

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'campaign-'))
      database = await startDatabase(kind, { folder, progress: quiet })
      const [first] = database.nodes
      if (first === undefined) throw new Error('There is no node')
      node = first
    })
    after(async () => {
      await database?.dispose()
      await rm(folder, { recursive: true, force: true })
    })

    /** As the service would, each time on a new connection. */
    const asService = async (sql: string, values: readonly string[] = []): Promise<unknown> => {
      const connection = await createConnection({ uri: database.urls(0).url, connectTimeout: 5_000 })
      connection.on('error', quiet)
      try {
        const [rows] = await connection.query(sql, [...values])
        return rows
      } finally {
        connection.destroy()
      }
    }
    const write = (): Promise<unknown> => asService("INSERT INTO notes (text) VALUES ('one')")
    /** Hurts it, does what the hurt is seen by, heals it, and sees that rows can be written again. */
    const during = async (name: string, see: () => Promise<void>): Promise<void> => {
      const heal = await database.hurts[name]?.(random)
      if (heal === undefined) throw new Error(`There is no hurt ${name}`)
      try {
        await see()
      } finally {
        await heal()
      }
      expect(await failureOf(write())).to.equal(undefined)
    }

    it('serves the service', async () => {
      await using stack = await startStack({ database: database.urls(0), env: { SAMPLE_DATA: 'false' } })
      const { url, reviewsUrl } = database.urls(0)
      await insertFixture({ database: url, reviews: reviewsUrl })
      const body = { name: 'Lamp', sku: 'CAMPAIGN-1', categoryId: 1, price: '1.00', isActive: true }
      const token = await stack.token('clerk@example.com')
      const made = await sendTo(stack.url, { method: 'POST', target: '/products', token }, { body })
      expect(made.status, made.text).to.equal(201)
      const found = await database.query("SELECT name, sku FROM products WHERE sku = 'CAMPAIGN-1'")
      expect(found).to.deep.equal([{ name: 'Lamp', sku: 'CAMPAIGN-1' }])
      expect(await database.query('SELECT COUNT(*) AS count FROM reviews.product_reviews')).to.have.length(1)
      expect((await call(stack.url, '/products/paged?pageSize=2&includeChildren=true')).status).to.equal(200)
    })

    it('knows these hurts', async () => {
      // Not before: the service makes nothing among tables that it did not make.
      await node.run('CREATE TABLE store.notes (id INT PRIMARY KEY AUTO_INCREMENT, text LONGTEXT NOT NULL)')
      expect(Object.keys(database.hurts).toSorted()).to.deep.equal(
        [...EVERYWHERE, ...(kind === 'mysql' ? [] : ['clock-skewed']), ...(ROOT ? ['disk-full'] : [])].toSorted()
      )
    })

    for (const name of ['killed', 'terminated']) {
      it(`is ${name}`, () =>
        during(name, async () => {
          expect(await failureOf(write())).to.equal(-111) // ECONNREFUSED
        }))
    }

    it('is frozen', async () => {
      const connection = await createConnection(database.urls(0).url)
      let asked: Promise<unknown> = Promise.resolve()
      await during('frozen', async () => {
        asked = connection.query('SELECT 1')
        expect(await isPending(asked)).to.equal(true)
      })
      await asked
      await connection.end()
    })

    it('is slowed: it runs and stands in turn', () =>
      during('slowed', async () => {
        const [file] = (await node.run('SELECT @@pid_file AS path')) as { readonly path: string }[]
        const pid = (await readFile(file?.path ?? '', 'utf8')).trim()
        const states = new Set<boolean>()
        while (states.size < 2) {
          const status = await readFile(`/proc/${pid}/status`, 'utf8')
          states.add(/^State:\s*T/m.test(status))
        }
      }))

    it('is read-only', () =>
      during('read-only', async () => {
        expect(await failureOf(write())).to.equal(1290)
        expect(await failureOf(asService('SELECT COUNT(*) FROM notes'))).to.equal(undefined)
      }))

    it('takes no connections, and those of before stay', async () => {
      const connection = await createConnection(database.urls(0).url)
      await during('no-connections', async () => {
        expect(await failureOf(write())).to.equal(1040)
        await connection.query('SELECT 1')
        expect(await node.run('SELECT 1 AS one')).to.deep.equal([{ one: 1 }])
      })
      await connection.end()
    })

    it('ends the connections of the service', async () => {
      const connection: Connection = await createConnection(database.urls(0).url)
      connection.on('error', quiet)
      await during('connections-killed', async () => {
        expect(await failureOf(connection.query('SELECT 1'))).to.not.equal(undefined)
      })
      connection.destroy()
    })

    it('holds all writes', async () => {
      let written: Promise<unknown> = Promise.resolve()
      await during('writes-held', async () => {
        written = write()
        expect(await isPending(written)).to.equal(true)
        expect(await failureOf(asService('SELECT COUNT(*) FROM notes'))).to.equal(undefined)
      })
      await written
    })

    it('holds those who read or write one table', async () => {
      let read: Promise<unknown> = Promise.resolve()
      const tables = (await database.query(
        "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'store'"
      )) as { readonly name: string }[]
      await during('table-locked', async () => {
        let answered = 0
        const reading = tables.map(async ({ name }) => {
          await asService(`SELECT COUNT(*) FROM \`${name}\``)
          answered++
        })
        while (answered < tables.length - 1) await pause(10)
        expect(await isPending(Promise.all(reading))).to.equal(true)
        read = Promise.all(reading)
      })
      await read
    })

    it('rebuilds a table', async () => {
      const catalogue = kind === 'mysql' ? 'INNODB_TABLES' : 'INNODB_SYS_TABLES'
      const ids = async (): Promise<string> =>
        JSON.stringify(
          await node.run(
            `SELECT name, table_id FROM information_schema.${catalogue} WHERE name LIKE 'store/%' AND name NOT LIKE '%#%' ORDER BY name`
          )
        )
      const before = await ids()
      await during('table-rebuilt', async () => {
        while ((await ids()) === before) await pause(10)
      })
    })

    if (kind !== 'mysql') {
      it('has a clock that is off', () =>
        during('clock-skewed', async () => {
          const off = async (): Promise<number> => {
            const [row] = await node.run('SELECT UNIX_TIMESTAMP() AS now')
            return Math.abs(Number(row?.['now']) - Date.now() / 1000)
          }
          expect(await off()).to.be.above(30)
        }))
    }

    if (ROOT) {
      it('has a full disk', async () => {
        await during('disk-full', async () => {
          let failure: unknown
          while (failure === undefined) {
            failure = await failureOf(asService('INSERT INTO notes (text) VALUES (?)', ['x'.repeat(1 << 20)]))
          }
          // MySQL says that the table is full. MariaDB tries again for seconds, and then may end itself.
          expect(failure).to.match(/^(1114|3|1021|1026|-111|.*Connection lost.*)$/)
        })
        await node.run('DELETE FROM store.notes')
      })
    }
  })
}

if (isAsked('galera')) {
  describe('a cluster of the campaign', function () {
    this.timeout(600_000)
    let folder: string
    let database: Database
    const random = numbers()

    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'campaign-'))
      database = await startDatabase('galera', { folder, progress: quiet })
      await database.nodes[0]?.run(
        'CREATE TABLE store.notes (id INT PRIMARY KEY AUTO_INCREMENT, text LONGTEXT NOT NULL)'
      )
    })
    after(async () => {
      await database?.dispose()
      await rm(folder, { recursive: true, force: true })
    })

    /** How many nodes each node says that its part of the cluster has, `away` if that is no majority or no node answers. */
    const parts = (): Promise<string[]> =>
      Promise.all(
        database.nodes.map(async (node) => {
          const sql = "SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_cluster_status', 'wsrep_cluster_size')"
          const rows = await node.run(sql).catch(() => [])
          const [size, status] = rows.map((row) => String(row['Value']))
          return status === 'Primary' ? String(size) : 'away'
        })
      )
    const cases: Readonly<Record<string, readonly string[]>> = {
      killed: ['2', '2', 'away'],
      frozen: ['2', '2', 'away'],
      'node-emptied': ['2', '2', 'away'],
      'node-partitioned': ['2', '2', 'away'],
      'no-majority': ['away', 'away', 'away'],
      'node-unreachable': ['3', '3', 'away'],
      'node-desynced': ['3', '3', '3']
    }
    for (const [name, expected] of Object.entries(cases)) {
      it(`is hurt by ${name} and is whole again afterwards`, async () => {
        const heal = await database.hurts[name]?.(random)
        if (heal === undefined) throw new Error(`There is no hurt ${name}`)
        let found: readonly string[] = []
        try {
          while (String(found) !== String(expected)) found = (await parts()).toSorted()
        } finally {
          await heal()
        }
        while (String(await parts()) !== '3,3,3') await pause(50)
        for (const node of database.nodes) await node.run("INSERT INTO store.notes (text) VALUES ('one')")
        const [row] = await database.query('SELECT COUNT(*) % 3 AS rest, COUNT(*) > 0 AS some FROM notes')
        expect(row).to.deep.equal({ rest: 0, some: 1 })
      })
    }

    it('serves two services on two nodes', async () => {
      await database.nodes[0]?.run('DROP TABLE store.notes')
      await using cluster = await startReplicas(
        [0, 1].map((node) => ({ database: database.urls(node), env: { SAMPLE_DATA: 'false' } }))
      )
      const { url, reviewsUrl } = database.urls(0)
      await insertFixture({ database: url, reviews: reviewsUrl })
      const token = await cluster.token('clerk@example.com')
      for (const [at, gateway] of cluster.urls.entries()) {
        const body = { name: 'Lamp', sku: `CAMPAIGN-${at}`, categoryId: 1, price: '1.00', isActive: true }
        const made = await sendTo(gateway, { method: 'POST', target: '/products', token }, { body })
        expect(made.status, made.text).to.equal(201)
      }
      expect(await database.query("SELECT sku FROM products WHERE name = 'Lamp' ORDER BY sku")).to.deep.equal([
        { sku: 'CAMPAIGN-0' },
        { sku: 'CAMPAIGN-1' }
      ])
    })
  })
}
