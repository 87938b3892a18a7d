import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { format } from 'oxfmt'
import { packageRoot } from '../../harness/package-root.js'
import type { Stack, StackAnswer } from '../../stack/stack.js'
import { databaseKinds } from '../../stack/databases.js'
import { IntrospectedApp } from './introspected-app.js'

// Stored procedures: `introspect --routines`, `check`, and the calls of operations over HTTP. SQLite has none.

const PAGE = readFileSync(join(packageRoot, 'docs/procedures.md'), 'utf8')

/** The first block of a language on the page. */
const shown = (language: string): string => new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(PAGE)?.[1] ?? ''

const DIGITS = '(SELECT 0 AS d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5)'

const SCHEMA = [
  ...shown('sql')
    .split(/;\n/)
    .filter((one) => one !== ''),
  `CREATE PROCEDURE add_part (label VARCHAR(20), price DECIMAL(8,2)) BEGIN
    IF label = 'sunday' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret reason', MYSQL_ERRNO = 5001; END IF;
    INSERT INTO part (label, price) VALUES (label, price); SET @part = LAST_INSERT_ID();
    CREATE TEMPORARY TABLE IF NOT EXISTS left_over (n INT); END`,
  'CREATE PROCEDURE two_sets () BEGIN SELECT 1 AS a; SELECT 2 AS b; END',
  `CREATE PROCEDURE many (n INT, width INT) SELECT REPEAT('x', width) AS a FROM ${[...'abcdef'].map((one) => `${DIGITS} ${one}`).join()} LIMIT n`,
  "CREATE PROCEDURE ends_it () BEGIN COMMIT; START TRANSACTION; INSERT INTO part (label, price) VALUES ('ended', 1); END",
  "CREATE PROCEDURE ends_and_fails () BEGIN INSERT INTO part (label, price) VALUES ('lost', 1); COMMIT; SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = 1205; END",
  'CREATE PROCEDURE waits () DO SLEEP(60)',
  'CREATE PROCEDURE gives (OUT a INT) SET a = 1'
]

const OWN = `import { dateTime, decimal, defineOperation, everyone, int, list, optional, permission, text } from 'uniform-rest'

const part = { id: int(), label: text(20), price: decimal(8, 2), made: optional(dateTime()) }
const many = { parameters: { n: int(), width: int() }, columns: { a: text(1000) } }
const added = { parameters: { label: text(20), price: decimal(8, 2) } }
const read = { description: 'Reads.', access: everyone } as const
const write = { description: 'Writes.', access: permission('add-part:call') } as const

export const own = [
  defineOperation({
    ...read, name: 'sets', route: 'GET /own/sets', procedures: { two_sets: { columns: { a: int() } } },
    handle: async ({ callProcedure }) => { await callProcedure('two_sets', {}) }
  }),
  defineOperation({
    ...read, name: 'rows', route: 'GET /own/rows', query: { n: int(), width: int() }, answer: { rows: int() }, procedures: { many },
    handle: async ({ query, callProcedure }) => ({ rows: (await callProcedure('many', query)).length })
  }),
  defineOperation({
    ...read, name: 'written', route: 'GET /own/written', procedures: { add_part: added, ends_it: {} },
    query: { ends: optional(text(1)) },
    async handle({ query, callProcedure }) {
      if (query.ends === null) await callProcedure('add_part', { label: 'read', price: '1.00' })
      else await callProcedure('ends_it', {})
    }
  }),
  defineOperation({
    ...read, name: 'own-waits', route: 'GET /own/waits', procedures: { waits: {} },
    handle: ({ callProcedure }) => callProcedure('waits', {})
  }),
  defineOperation({
    ...read, name: 'left', route: 'GET /own/left', answer: list({ part: optional(int()) }),
    handle: ({ select }) => select('SELECT @part', {}, { part: optional(int()) })
  }),
  defineOperation({
    ...write, name: 'part-and-end', route: 'POST /own/ends', procedures: { add_part: added, ends_it: {} },
    body: { ends: int() }, answer: list(part), 
    async handle({ body, callProcedure, select }) {
      await callProcedure('add_part', { label: 'own', price: '2.00' })
      if (body.ends === 1) await callProcedure('ends_it', {})
      return await select("SELECT id, label, price, made FROM part WHERE label = 'own'", {}, part)
    }
  }),
  defineOperation({
    ...write, name: 'fails-behind', route: 'POST /own/fails-behind', procedures: { ends_and_fails: {} },
    handle: ({ callProcedure }) => callProcedure('ends_and_fails', {})
  }),
  defineOperation({
    ...write, name: 'left-alone', route: 'POST /own/left-alone', procedures: { add_part: added },
    async handle({ callProcedure, select }) {
      await select('SELECT 1 AS one', {}, { one: int() })
      const called = callProcedure('add_part', { label: 'alone', price: '1.00' })
      called.catch(() => undefined)
      throw new Error('not waited for')
    }
  }),
  defineOperation({
    ...write, name: 'unknown', route: 'POST /own/unknown', procedures: { no_such: {} },
    handle: ({ callProcedure }) => callProcedure('no_such', {})
  })
]
`

const config = (operations: string): string => `import { defineApplication, migrationsIn } from 'uniform-rest'
import { introspected, introspectedPermissions } from './entities/introspected.js'
import { calledProcedures, callPermissions } from './operations/introspected.js'
import { own } from './own.js'

export default defineApplication({
  entities: introspected,
  operations: ${operations},
  roles: { Admin: [...introspectedPermissions, ...callPermissions] },
  settings: { OWNER_BYPASS_ROLE: 'Admin', DATABASE_POOL_SIZE: '2' },
  migrations: await migrationsIn(new URL('./migrations', import.meta.url))
})
`

if (databaseKinds().includes('mysql')) {
  describe('procedures of a database server', () => {
    let app: IntrospectedApp
    let stack: Stack | undefined
    before(async () => {
      app = await IntrospectedApp.make('mysql', SCHEMA)
    })
    after(async () => {
      await app.sql.query(`DROP USER IF EXISTS '${app.name}'`)
      await stack?.stop()
      await app.dispose()
    })

    it('become operations, for those that the account may call and that have parameters of the mode IN alone', async () => {
      const ran = await app.run('introspect', '--routines')
      expect([ran.code, ran.stderr]).to.deep.equal([0, ''])
      expect(ran.stdout).to.include('gives is left out: `a` is OUT').and.include('calledProcedures')
      const read = await app.read('operations/parts-from.ts')
      expect(read)
        .to.include("route: 'GET /procedures/parts-from'")
        .and.include("description: 'Parts from a price on.'")
      expect(read).to.include('pLeast: decimal(8, 2)').and.include('callPartsFrom = ')
      const text = await app.read('operations/add-part.ts')
      expect(
        (await format('add-part.ts', text, { semi: false, singleQuote: true, trailingComma: 'none', printWidth: 120 }))
          .code
      ).to.equal(text)
      expect(await app.read('operations/many.ts')).to.include("route: 'POST /procedures/many'")
      await app.write('own.ts', OWN)
      await app.write('uniform-rest.config.ts', config('[...calledProcedures, ...own]'))
      expect(await app.compile()).to.equal('')
      await app.write('operations/parts-from.ts', shown('ts'))
      const again = await app.run('introspect', '--routines')
      expect([again.code, again.stdout.includes('Wrote')]).to.deep.equal([0, false])
    })

    it('are looked for by check, which says what is missing and how it is granted', async () => {
      const missing = 'operation `unknown`: there is no procedure `no_such` that the account may call.'
      const ran = await app.run('check')
      expect([ran.code, ran.stdout.match(/operation `.*/g)?.length], ran.stdout).to.deep.equal([1, 1])
      expect(ran.stdout).to.include(missing).and.include(`GRANT EXECUTE ON PROCEDURE \`${app.name}\`.\`no_such\` TO `)
      await app.sql.query(`CREATE USER '${app.name}' IDENTIFIED BY 'few'`)
      await app.sql.query(`GRANT SELECT ON \`${app.name}\`.* TO '${app.name}'`)
      await app.sql.query(`GRANT ALTER ROUTINE ON PROCEDURE \`${app.name}\`.waits TO '${app.name}'`)
      await app.sql.query(`GRANT EXECUTE ON PROCEDURE \`${app.name}\`.many TO '${app.name}'`)
      const few = await app.runAs({ user: app.name, password: 'few' }, 'check')
      expect(few.stdout).to.include('the account may not call the procedure `waits`. Run: GRANT EXECUTE')
      expect(few.stdout).to.include('`add_part`').and.not.include('procedure `many`')
      await app.sql.query('CREATE OR REPLACE PROCEDURE many (n INT, m INT) SELECT n')
      expect((await app.run('check')).stdout).to.include('takes (n, m), and `parameters` says (n, width)')
      await app.sql.query(
        SCHEMA.find((one) => one.includes('PROCEDURE many'))?.replace('CREATE', 'CREATE OR REPLACE') ?? ''
      )
      const grants = await app.run('migrate', '--grants', 'app')
      expect(grants.stdout).to.include(`GRANT EXECUTE ON PROCEDURE \`${app.name}\`.\`parts_from\` TO 'app'@'%';`)
    })

    const call = (target: string, body?: unknown, headers = {}): Promise<StackAnswer> => {
      if (stack === undefined) throw new TypeError('The stack has not started')
      return stack.call(target, { body, headers, token: stack.token({ sub: 'kim', role: 'Admin' }) })
    }
    const code = ({ body }: StackAnswer): unknown => (body as Record<string, unknown>)['code']
    const labels = async (): Promise<unknown> =>
      (await app.sql.query('SELECT label FROM part ORDER BY id', { plain: false }))[0]
    /** That a request is answered 500, with the reason in the log alone. */
    const fails = async (target: string, reason: RegExp, body?: unknown): Promise<void> => {
      const id = `procedures-${Math.random()}`
      const answer = await call(target, body, { 'x-request-id': id })
      expect([answer.status, code(answer)], target).to.deep.equal([500, 'internal'])
      const entry = await stack?.dataService.logged(
        ({ requestId, msg }) => requestId === id && /call failed/.test(String(msg))
      )
      expect(JSON.stringify(entry)).to.match(reason)
    }

    it('answer typed rows, bound parameters and null', async () => {
      expect((await app.run('migrate', '--among-tables-of', app.name)).code).to.equal(0)
      stack = await app.start()
      const found = await call('/procedures/parts-from?least=1.00')
      expect([found.status, `${found.text}\n`]).to.deep.equal([200, shown('json')])
      const odd = encodeURIComponent("' OR 1 = 1 -- $p0")
      expect((await call(`/procedures/parts-from?least=0.10&word=${odd}`)).body).to.deep.equal([])
    })

    it('fail where they answer more than a set of rows, or too many rows, and leave the connection in order', async () => {
      expect((await call('/own/rows?n=900&width=1000')).body).to.deep.equal({ rows: 900 })
      await fails('/own/sets', /more than one set of rows/)
      await fails('/own/rows?n=10001&width=1', /more than 10000 rows/)
      await fails('/own/rows?n=9000&width=1000', /more than 8 MiB/)
      await fails('/procedures/many', /selects 1 columns, not 0/, { n: 1, width: 1 })
      await fails('/own/unknown', /no_such does not exist/, {})
      expect((await call('/own/rows?n=7&width=0')).body).to.deep.equal({ rows: 7 })
    })

    it('write in the transaction of a write, with its key, and leave nothing to the next caller of the connection', async () => {
      const key = { 'idempotency-key': 'part-1' }
      const body = { label: 'made', price: '3.00' }
      expect((await call('/procedures/add-part', body, key)).status).to.equal(204)
      const again = await call('/procedures/add-part', body, key)
      expect([again.status, again.headers['idempotent-replayed']]).to.deep.equal([204, 'true'])
      const own = await call('/own/ends', { ends: 0 })
      expect((own.body as readonly object[]).map((one) => ({ ...one, id: 0 }))).to.deep.equal([
        { id: 0, label: 'own', price: '2.00', made: null }
      ])
      for (let times = 0; times < 4; times++) expect((await call('/own/left')).body).to.deep.equal([{ part: null }])
      const sunday = await call('/procedures/add-part', { label: 'sunday', price: '1.00' })
      expect([sunday.status, code(sunday)]).to.deep.equal([422, 'state.invalid'])
      expect(sunday.text).to.not.include('secret')
      expect(await labels()).to.deep.equal(['bolt', 'nut', 'made', 'own'].map((label) => ({ label })))
    })

    it('write nothing in a GET, and may not end the transaction of a write', async () => {
      await fails('/own/written', /add_part changes something, which a GET may not/)
      await fails('/own/written?ends=y', /ends_it changes something, which a GET may not/)
      expect(await labels()).to.have.length(4)
      await fails('/own/ends', /ends_it has ended the transaction of its operation/, { ends: 1 })
      expect((await call('/own/rows?n=1&width=1')).status).to.equal(200)
      const before = (await labels()) as readonly unknown[]
      await fails('/own/fails-behind', /ends_and_fails has ended the transaction of its operation/, {})
      expect(await labels(), 'tried once').to.deep.equal([...before, { label: 'lost' }])
      await fails('/own/left-alone', /not waited for/, {})
      for (let times = 0; times < 4; times++) expect((await call('/own/left')).status).to.equal(200)
      expect(await labels()).to.have.length(before.length + 1)
    })

    it('are stopped when the caller goes away', async () => {
      const running = async (): Promise<number> =>
        (await app.sql.query("SELECT 1 FROM information_schema.PROCESSLIST WHERE INFO LIKE 'DO SLEEP(60)%'"))[0].length
      const leaving = new AbortController()
      expect(stack).to.not.equal(undefined)
      const gone = fetch(`${String(stack?.url)}/own/waits`, { signal: leaving.signal }).catch(() => undefined)
      while ((await running()) === 0) await sleep(20)
      leaving.abort()
      await gone
      while ((await running()) > 0) await sleep(20)
    })
  })
}

describe('procedures on a database without any', () => {
  it('are a mistake of check, and end the start', async () => {
    const app = await IntrospectedApp.make('sqlite', [])
    try {
      await app.write('own.ts', OWN)
      await app.write('entities/introspected.ts', 'export const [introspected, introspectedPermissions] = [[], []]')
      await app.write(
        'operations/introspected.ts',
        "export const [calledProcedures, callPermissions] = [[], ['add-part:call']]"
      )
      await app.write('migrations/readme.txt', '')
      await app.write('uniform-rest.config.ts', config('own'))
      const mistake =
        'operation `sets`: the procedure `two_sets` cannot be called: this kind of database has no procedures.'
      expect((await app.run('migrate')).code).to.equal(0)
      expect((await app.run('introspect', '--routines')).stderr).to.include('has no procedures')
      const ran = await app.run('check')
      expect([ran.code, ran.stdout.includes(mistake)], ran.stdout + ran.stderr).to.deep.equal([1, true])
      const started = await app.start().then(
        () => 'started',
        (error: unknown) => String(error)
      )
      expect(started).to.include(mistake)
    } finally {
      await app.dispose()
    }
  })
})
