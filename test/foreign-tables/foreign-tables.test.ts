import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { isSoak } from '../harness/in-soak.js'
import { outputRoot } from '../harness/package-root.js'
import { openTestDatabase, type RawRow, type TestDatabase } from '../oracle/test-database.js'
import { eachDatabase, type FreshDatabase, freshDatabase } from '../stack/databases.js'
import { call as sendTo } from '../stack/http-call.js'
import { startDataServiceHere, startGatewayHere } from '../stack/in-process.js'
import { type Pair, startPair } from '../stack/pair.js'
import { type Stack, type StackAnswer, startStack } from '../stack/stack.js'
import { TokenMint } from '../stack/token-mint.js'

const VERSION = {
  sqlite: "BLOB NOT NULL DEFAULT x'0000000000000000'",
  mysql: "BINARY(8) NOT NULL DEFAULT x'0000000000000000'"
}
const NUMBERED = { sqlite: 'INTEGER PRIMARY KEY AUTOINCREMENT', mysql: 'INT NOT NULL AUTO_INCREMENT PRIMARY KEY' }

const RULED = (kind: 'sqlite' | 'mysql'): readonly string[] => [
  `CREATE TABLE ruled (id ${NUMBERED[kind]}, amount INT NOT NULL CHECK (amount > 0), label VARCHAR(20) NOT NULL,
    parent_id INT, row_version ${VERSION[kind]}, FOREIGN KEY (parent_id) REFERENCES ruled (id) ON DELETE RESTRICT)`,
  ...(kind === 'sqlite'
    ? [
        `CREATE TRIGGER no_sundays BEFORE INSERT ON ruled WHEN NEW.label = 'sunday'
          BEGIN SELECT RAISE(ABORT, 'secret reason'); END`,
        `CREATE TRIGGER no_saturdays BEFORE INSERT ON ruled WHEN NEW.label = 'saturday'
          BEGIN SELECT RAISE(ROLLBACK, 'secret reason'); END`
      ]
    : [
        `CREATE TRIGGER no_sundays BEFORE INSERT ON ruled FOR EACH ROW IF NEW.label IN ('sunday', 'saturday')
          THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'secret reason'; END IF`
      ])
]

const code = ({ body }: StackAnswer): unknown => (body as Record<string, unknown>)['code']

eachDatabase((kind) => {
  describe(`rules and changes of somebody else's tables on ${kind}`, () => {
    let database: FreshDatabase
    let stack: Stack
    let sql: TestDatabase
    const mint = new TokenMint()

    before(async () => {
      database = await freshDatabase(kind)
      sql = await openTestDatabase(database.url)
      for (const statement of RULED(kind)) await sql.run(statement)
      await sql.run(
        `CREATE TABLE codes (no ${NUMBERED[kind]}, code VARCHAR(20) NOT NULL UNIQUE, name VARCHAR(40) NOT NULL,
          alias VARCHAR(20) UNIQUE, row_version ${VERSION[kind]})`
      )
      const app = join(outputRoot, 'test/foreign-tables')
      stack = await startStack({ app, database, amongTables: true, env: { SCHEMA_MISMATCH: 'stop' }, mint })
    })
    after(async () => {
      await sql?.close()
      await stack?.stop()
      await database?.dispose()
    })

    const send = (method: string, target: string, body?: unknown, headers = {}): Promise<StackAnswer> =>
      stack.call(target, { method, body, headers, token: stack.token({ sub: 'kim', role: 'Keeper' }) })
    /** The id of a new row. */
    const made = async (body: object): Promise<string> => {
      const answer = await send('POST', '/ruled', body)
      expect(answer.status, answer.text).to.equal(201)
      return String((answer.body as RawRow)['id'])
    }
    const etagOf = async (target: string): Promise<string> => String((await stack.call(target)).headers['etag'])
    const logged = (requestId: string): Promise<Readonly<Record<string, unknown>>> =>
      stack.dataService.logged(
        (entry) => entry['requestId'] === requestId && /call (?:refused|failed)/.test(String(entry['msg']))
      )

    it('answer 422 where a CHECK or a trigger forbids the write, and tell the reason in the log alone', async () => {
      const headers = { 'x-request-id': `forbidden-${kind}` }
      for (const label of ['sunday', 'saturday']) {
        const answer = await send('POST', '/ruled', { amount: 1, label }, headers)
        expect([answer.status, code(answer)], answer.text).to.deep.equal([422, 'state.invalid'])
        expect(answer.text).to.not.include('secret')
      }
      expect(String((await logged(headers['x-request-id']))['reason'])).to.include('secret reason')
      const negative = await send('POST', '/ruled', { amount: -1, label: 'x' })
      expect([negative.status, code(negative)]).to.deep.equal([422, 'state.invalid'])
      const id = await made({ amount: 1, label: 'monday' })
      const spent = await send('PUT', `/ruled/${id}/spend`, {}, { 'if-match': await etagOf(`/ruled/${id}`) })
      expect([spent.status, code(spent)]).to.deep.equal([422, 'state.invalid'])
      const batch = await send('POST', '/ruled/batch', [
        { amount: 1, label: 'tuesday' },
        { amount: 1, label: 'sunday' }
      ])
      expect([batch.status, code(batch)]).to.deep.equal([422, 'state.invalid'])
      expect(await sql.run('SELECT label FROM ruled ORDER BY id')).to.deep.equal([{ label: 'monday' }])
      expect((await sql.run('SELECT action FROM ur_audit_entries')).map(({ action }) => action)).to.deep.equal([
        'create'
      ])
    })

    it('answer 409 where a foreign key that says RESTRICT forbids a delete', async () => {
      const parent = await made({ amount: 1, label: 'parent' })
      await made({ amount: 1, label: 'child', parentId: Number(parent) })
      const answer = await send('DELETE', `/ruled/${parent}`)
      expect([answer.status, code(answer)], answer.text).to.deep.equal([409, 'conflict'])
      const orphan = await send('POST', '/ruled', { amount: 1, label: 'orphan', parentId: 999_999 })
      expect([orphan.status, code(orphan)]).to.deep.equal([409, 'conflict'])
    })

    /** A pair over the same database that isolates, as tables of others have it, and looks every `lookEvery` milliseconds. */
    const isolating = async (lookEvery: number): Promise<Pair & { call: Stack['call']; readonly admin: string }> => {
      const app = join(outputRoot, 'test/foreign-tables')
      const pair = await startPair({
        launcher: {
          dataService: (env) => startDataServiceHere(app, env, { lookEvery }),
          gateway: (env) => startGatewayHere(env, app)
        },
        settings: async (dataDir) => ({
          ...(await mint.settings(dataDir)),
          DATA_DIR: dataDir,
          DATABASE_URL: database.url,
          ADMIN_PORT: '0'
        })
      })
      const { port } = await pair.gateway.logged(({ msg }) => msg === 'health is told on the admin port')
      const call: Stack['call'] = async (target, { token, body } = {}) => {
        const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
        const json = { 'content-type': 'application/json' }
        const answer = await sendTo(pair.url, target, { token, headers: json, ...sent })
        const { text, status, headers } = answer
        return { status, headers, text, body: JSON.parse(text) as unknown }
      }
      return { ...pair, call, admin: `http://127.0.0.1:${String(port)}/health` }
    }

    it('serve the other tables while one does not fit, say why to operators alone, and serve it again when it fits', async () => {
      const id = await made({ amount: 7, label: 'isolated' })
      await sql.run('ALTER TABLE ruled RENAME COLUMN amount TO sum')
      await using pair = await isolating(30)
      try {
        for (const target of [`/ruled/${id}`, '/ruled/paged', '/ruled/export', '/ruled/lookup']) {
          const answer = await pair.call(target)
          expect([answer.status, code(answer)], target).to.deep.equal([503, 'upstream.unavailable'])
          expect(answer.headers['retry-after']).to.equal('60')
          expect(answer.text).to.not.match(/amount|column|table/)
        }
        expect((await pair.call('/codes')).status).to.equal(200)
        const told = await pair.dataService.logged(({ msg }) => /do not fit/.test(String(msg)))
        expect(told['resource']).to.equal('ruled')
        expect(String(told['reason'])).to.include('has no column amount')
        expect((await pair.call('/health')).body).to.deep.equal({ status: 'ok', isolatedResources: 1 })
        const health: unknown = await (await fetch(pair.admin)).json()
        expect(health).to.deep.equal({ status: 'ok', isolatedResources: 1, reasons: { ruled: told['reason'] } })
      } finally {
        await sql.run('ALTER TABLE ruled RENAME COLUMN sum TO amount')
      }
      while ((await pair.call(`/ruled/${id}`)).status !== 200) await sleep(20)
      await sql.run('ALTER TABLE codes RENAME TO gone')
      try {
        while ((await pair.call('/codes')).status !== 503) await sleep(20)
      } finally {
        await sql.run('ALTER TABLE gone RENAME TO codes')
      }
    })

    it('are looked at after the first 500 of a resource', async () => {
      await using pair = await isolating(3_600_000)
      await sql.run('ALTER TABLE codes RENAME COLUMN alias TO nick')
      try {
        expect((await pair.call('/codes')).status).to.equal(500)
        while ((await pair.call('/codes')).status !== 503) await sleep(20)
        expect((await pair.call('/ruled')).status).to.equal(200)
      } finally {
        await sql.run('ALTER TABLE codes RENAME COLUMN nick TO alias')
      }
      await sql.run('ALTER TABLE ruled RENAME TO gone')
      try {
        expect((await pair.call('/ruled/paged')).status).to.equal(500)
        while ((await pair.call('/ruled/paged')).status !== 503) await sleep(20)
        const told = await pair.dataService.logged(
          ({ resource, reason }) => resource === 'ruled' && reason !== undefined
        )
        expect(String(told['reason'])).to.include('there is no table ruled')
      } finally {
        await sql.run('ALTER TABLE gone RENAME TO ruled')
      }
    })

    it('are looked at where a create has to fill a column that is new, and stay as they are where it need not', async () => {
      await using pair = await isolating(3_600_000)
      const token = mint.sign({ sub: 'kim', role: 'Keeper' })
      const create = (id: string): Promise<StackAnswer> =>
        pair.call('/codes', { token, body: { id, name: 'x', alias: null } })
      await sql.run('ALTER TABLE codes ADD COLUMN hint VARCHAR(20)')
      expect((await create('hinted')).status).to.equal(201)
      await sql.run("DELETE FROM codes WHERE code = 'hinted'")
      await sql.run('ALTER TABLE codes ADD COLUMN must VARCHAR(20) NOT NULL')
      try {
        expect((await pair.call('/codes')).status, 'reads need nothing of it').to.equal(200)
        const failed = await create('missing')
        expect([failed.status, code(failed)], failed.text).to.deep.equal([500, 'internal'])
        expect(failed.text).to.not.match(/must|default|NOT NULL/i)
        while ((await create('missing')).status !== 503) await sleep(20)
        expect((await pair.call('/codes')).status).to.equal(503)
        expect((await pair.call('/ruled')).status).to.equal(200)
        const told = await pair.dataService.logged(
          ({ resource, reason }) => resource === 'codes' && reason !== undefined
        )
        expect(String(told['reason'])).to.include('codes.must is NOT NULL without a default')
      } finally {
        await sql.run('ALTER TABLE codes DROP COLUMN must')
        await sql.run('ALTER TABLE codes DROP COLUMN hint')
      }
    })

    it('answer 500 under SCHEMA_MISMATCH=stop while somebody has altered or renamed a table, with the cause in the log, and serve it again afterwards', async () => {
      const id = await made({ amount: 7, label: 'lasting' })
      const alter = async (there: string, back: string, work: (what: string) => Promise<void>): Promise<void> => {
        await sql.run(there)
        try {
          await work(there)
        } finally {
          await sql.run(back)
        }
        expect((await stack.call(`/ruled/${id}`)).status, `after ${back}`).to.equal(200)
      }
      const fails = async (target: string, reason: RegExp, request = {}): Promise<void> => {
        const headers = { 'x-request-id': `altered-${kind}-${Math.random()}` }
        const token = stack.token({ sub: 'kim', role: 'Keeper' })
        const answer = await stack.call(target, { ...request, token, headers })
        expect([answer.status, code(answer)], target).to.deep.equal([500, 'internal'])
        expect(answer.text).to.not.match(/no such|doesn't exist|Unknown column|Data too|SELECT|INSERT/)
        expect(JSON.stringify(await logged(headers['x-request-id']))).to.match(reason)
      }
      const body = { amount: 2, label: 'x' }
      await alter(
        'ALTER TABLE ruled RENAME COLUMN amount TO sum',
        'ALTER TABLE ruled RENAME COLUMN sum TO amount',
        async () => {
          await fails(`/ruled/${id}`, /amount/)
          await fails('/ruled/paged', /amount/)
          await fails('/ruled', /amount/, { body })
        }
      )
      await alter('ALTER TABLE ruled RENAME TO gone', 'ALTER TABLE gone RENAME TO ruled', async () => {
        await fails(`/ruled/${id}`, /ruled/)
        await fails('/ruled/export', /ruled/)
        await fails('/ruled', /ruled/, { body })
        expect((await stack.call('/codes')).status, 'of another table').to.equal(200)
      })
      if (kind === 'mysql') {
        await sql.run('UPDATE ruled SET label = LEFT(label, 5)')
        await alter(
          'ALTER TABLE ruled MODIFY label VARCHAR(5) NOT NULL',
          'ALTER TABLE ruled MODIFY label VARCHAR(20) NOT NULL',
          () => fails('/ruled', /Data too long/, { body: { amount: 1, label: 'much longer' } })
        )
        await alter(
          'ALTER TABLE ruled MODIFY amount TINYINT NOT NULL',
          'ALTER TABLE ruled MODIFY amount INT NOT NULL',
          () => fails('/ruled', /Out of range/, { body: { amount: 300, label: 'x' } })
        )
      }
    })
  })

  // The other character sets are a part of `npm run soak`. test/schema/introspect/other-texts.test.ts reads them in each run.
  const texts: Readonly<Record<string, string>> =
    kind === 'sqlite'
      ? { NOCASE: 'COLLATE NOCASE', RTRIM: 'COLLATE RTRIM' }
      : {
          latin1: 'CHARACTER SET latin1 COLLATE latin1_swedish_ci',
          utf8mb4_bin: 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
          ...(isSoak
            ? {
                utf8mb3: 'CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci',
                utf16: 'CHARACTER SET utf16 COLLATE utf16_general_ci'
              }
            : {})
        }
  for (const [name, collation] of Object.entries(texts)) {
    describe(`texts in ${name} and a key that is not the primary one, on ${kind}`, () => {
      let database: FreshDatabase
      let stack: Stack
      let sql: TestDatabase

      before(async () => {
        database = await freshDatabase(kind)
        sql = await openTestDatabase(database.url)
        for (const statement of RULED(kind)) await sql.run(statement)
        await sql.run(
          `CREATE TABLE codes (no ${NUMBERED[kind]}, code VARCHAR(20) ${collation} NOT NULL UNIQUE,
            name VARCHAR(40) ${collation} NOT NULL, alias VARCHAR(20) ${collation} UNIQUE, row_version ${VERSION[kind]})`
        )
        for (const [at, text] of ['Größe', 'zebra', 'ähre', 'Apfel', 'öl/€'].entries()) {
          await sql.run(`INSERT INTO codes (code, name, alias) VALUES ('${text}', 'Name ${text}', 'a${at}')`)
        }
        stack = await startStack({ app: join(outputRoot, 'test/foreign-tables'), database, amongTables: true })
      })
      after(async () => {
        await sql?.close()
        await stack?.stop()
        await database?.dispose()
      })

      const send = (method: string, target: string, body?: unknown, headers = {}): Promise<StackAnswer> =>
        stack.call(target, { method, body, headers, token: stack.token({ sub: 'kim', role: 'Keeper' }) })
      const at = (id: string): string => `/codes/${encodeURIComponent(id)}`
      const ids = async (query: string): Promise<unknown[]> => {
        const answer = await stack.call(`/codes/paged?${query}`)
        expect(answer.status, answer.text).to.equal(200)
        return (answer.body as RawRow[]).map(({ id }) => id)
      }
      const by = (property: string, operator: string, value: string): string =>
        `filters[${property}].operator=${encodeURIComponent(operator)}&filters[${property}].value=${encodeURIComponent(value)}`

      it('are read by id to the character, filtered, searched, sorted and paged', async () => {
        for (const id of ['Größe', 'ähre', 'öl/€']) {
          const answer = await stack.call(at(id))
          expect([answer.status, (answer.body as RawRow)['id']], id).to.deep.equal([200, id])
        }
        for (const id of ['größe', 'GRÖSSE', 'Grosse', 'Größe ', 'zebr', '日本']) {
          expect((await stack.call(at(id))).status, id).to.equal(404)
        }
        expect(await ids(by('id', 'equals', 'Größe'))).to.deep.equal(['Größe'])
        expect(await ids(by('name', 'contains', 'öl'))).to.deep.equal(['öl/€'])
        expect(await ids(by('name', 'starts with', 'Name Gr'))).to.deep.equal(['Größe'])
        for (const operator of ['equals', 'contains', 'starts with', 'ends with']) {
          expect(await ids(by('name', operator, '日本')), operator).to.deep.equal([])
          expect(await ids(by('id', operator, '😀')), operator).to.deep.equal([])
        }
        expect((await ids(by('name', 'not equals', '日本'))).length).to.equal(5)
        expect(await ids('search=zebra')).to.deep.equal(['zebra'])
        expect(await ids('search=%E6%97%A5')).to.deep.equal([])
        for (const sort of ['id', 'name']) {
          const all = await ids(`sortColumn=${sort}`)
          expect(all).to.have.members(['Größe', 'zebra', 'ähre', 'Apfel', 'öl/€'])
          const walked: unknown[] = []
          for (let next: string | undefined = `/codes/paged?sortColumn=${sort}&pageSize=2`; next !== undefined;) {
            const answer: StackAnswer = await stack.call(next)
            walked.push(...(answer.body as RawRow[]).map(({ id }) => id))
            const [, target = ''] = /<([^>]+)>; rel="next"/.exec(String(answer.headers['link'] ?? '')) ?? []
            next = target === '' ? undefined : target.replace(/^https?:\/\/[^/]+/, '')
          }
          expect(walked, sort).to.deep.equal(all)
          expect(await ids(`sortColumn=${sort}&sortDirection=desc`)).to.deep.equal(all.toReversed())
        }
      })

      it('are created, changed and deleted by the key that requests know', async () => {
        const body = { id: 'Ünïque', name: 'ß', alias: 'Alias' }
        const made = await send('POST', '/codes', body)
        expect(made.status, made.text).to.equal(201)
        expect(made.body).to.include(body)
        for (const other of [
          { ...body, alias: null },
          { id: 'free', name: 'x', alias: 'Alias' }
        ]) {
          const answer = await send('POST', '/codes', other)
          expect([answer.status, code(answer)], answer.text).to.deep.equal([409, 'conflict'])
        }
        const renamed = await send(
          'PUT',
          `${at('Ünïque')}/rename`,
          { name: 'é' },
          { 'if-match': String(made.headers['etag']) }
        )
        expect(renamed.status, renamed.text).to.equal(200)
        expect(renamed.body).to.include({ name: 'Ünïque é' })
        const stale = await send(
          'PUT',
          at('Ünïque'),
          { name: 'x', alias: null },
          { 'if-match': String(made.headers['etag']) }
        )
        expect(stale.status).to.equal(412)
        const tag = { 'if-match': String(renamed.headers['etag']) }
        expect((await send('PATCH', at('Ünïque'), undefined, tag)).status).to.be.oneOf([200, 400, 415])
        expect((await send('PUT', at('Ünïque'), { name: 'x', alias: null }, tag)).status).to.equal(200)
        expect((await send('DELETE', at('ünïque'))).status).to.equal(404)
        expect((await send('DELETE', at('Ünïque'))).status).to.equal(204)
        const entries = await sql.run(
          "SELECT action, row_id FROM ur_audit_entries WHERE resource = 'codes' ORDER BY id"
        )
        expect(entries.map((one) => `${String(one['action'])} ${String(one['row_id'])}`)).to.deep.equal([
          'create Ünïque',
          'rename Ünïque',
          'update Ünïque',
          'delete Ünïque'
        ])
      })

      it('reject characters that the column does not have, and store none of them as another', async () => {
        for (const text of ['日本', '😀']) {
          const answer = await send('POST', '/codes', { id: `n${text}`, name: text, alias: null })
          const isHeld = name !== 'latin1' && (name !== 'utf8mb3' || text !== '😀')
          if (!isHeld) expect([answer.status, code(answer)], answer.text).to.deep.equal([400, 'body.invalid'])
          else {
            expect(answer.status, answer.text).to.equal(201)
            expect((await stack.call(at(`n${text}`))).body).to.include({ id: `n${text}`, name: text })
            expect((await send('DELETE', at(`n${text}`))).status).to.equal(204)
          }
        }
        expect(await ids('')).to.have.length(5)
      })
    })
  }
})
