import { join } from 'node:path'
import { expect } from 'chai'
import { outputRoot } from '../harness/package-root.js'
import { openTestDatabase, type RawRow, type TestDatabase } from '../oracle/test-database.js'
import { eachDatabase, type FreshDatabase, freshDatabase } from '../stack/databases.js'
import { type Stack, type StackAnswer, startStack } from '../stack/stack.js'

const TABLES = {
  mysql: [
    `CREATE TABLE harvests (field VARCHAR(20) COLLATE utf8mb4_bin NOT NULL, grade ENUM('fine', 'fair,dry') NOT NULL,
      day DATE NOT NULL, weight INT NOT NULL, row_version BINARY(8) NOT NULL DEFAULT x'0000000000000001',
      PRIMARY KEY (field, grade, day))`,
    `CREATE TABLE vintages (year YEAR NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL,
      row_version BINARY(8) NOT NULL DEFAULT x'0000000000000001')`,
    `CREATE TABLE receipts (id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, note VARCHAR(20),
      marks SET('paid', 'sent'), mood ENUM('calm?', 'very 😀'), device CHAR(36) CHARACTER SET latin1, row_version BINARY(8) NOT NULL)`
  ],
  sqlite: [
    `CREATE TABLE harvests (field TEXT NOT NULL, grade TEXT NOT NULL, day TEXT NOT NULL, weight INTEGER NOT NULL,
      row_version BLOB NOT NULL DEFAULT x'0000000000000001', PRIMARY KEY (field, grade, day))`,
    `CREATE TABLE vintages (year INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL,
      row_version BLOB NOT NULL DEFAULT x'0000000000000001')`,
    'CREATE TABLE receipts (id INTEGER PRIMARY KEY AUTOINCREMENT, note TEXT, marks TEXT, mood TEXT, device TEXT, row_version BLOB NOT NULL)'
  ]
}

/** Ids of rows that other programs wrote, with the parts of their keys. No request may write one of them. */
const ODD: Readonly<Record<string, readonly [string, string, string]>> = {
  'south,,2020-06-01': ['south', '', '2020-06-01'],
  'a%2Cb%2F%25,,2020-06-01': ['a,b/%', '', '2020-06-01']
}

/** SQLite answers no date that is none. */
const ODD_DAYS: typeof ODD = {
  'north,fine,0000-00-00': ['north', 'fine', '0000-00-00'],
  'north,fine,2020-00-00': ['north', 'fine', '2020-00-00'],
  'a%2Cb%2F%25,fair%2Cdry,2020-06-00': ['a,b/%', 'fair,dry', '2020-06-00'],
  ',,0000-00-00': ['', '', '0000-00-00']
}

eachDatabase((kind) => {
  describe(`rows with values that no request may write on ${kind}`, () => {
    let database: FreshDatabase
    let stack: Stack
    let sql: TestDatabase

    before(async () => {
      database = await freshDatabase(kind)
      sql = await openTestDatabase(database.url)
      if (kind === 'mysql') await sql.run("SET SESSION sql_mode = ''")
      for (const statement of TABLES[kind]) await sql.run(statement)
      stack = await startStack({ app: join(outputRoot, 'test/odd-rows'), database, amongTables: true })
    })
    after(async () => {
      await sql?.close()
      await stack?.stop()
      await database?.dispose()
    })

    const send = (method: string, target: string, body?: unknown, ifMatch?: string): Promise<StackAnswer> =>
      stack.call(target, { method, body, ifMatch, token: stack.token({ sub: 'kim', role: 'Keeper' }) })
    const at = (resource: string, id: string): string => `/${resource}/${encodeURIComponent(id)}`

    it('are found, changed and deleted by the ids that lists show', async () => {
      const odd = { ...ODD, ...(kind === 'mysql' ? ODD_DAYS : {}) }
      const ids = Object.keys(odd)
      for (const parts of Object.values(odd)) {
        await sql.run('INSERT INTO harvests (field, grade, day, weight) VALUES (?, ?, ?, 7)', parts)
      }
      const listed = (await stack.call('/harvests')).body as RawRow[]
      expect(listed.map(({ id }) => id)).to.have.members(ids)
      for (const id of ids) {
        const found = await stack.call(at('harvests', id))
        expect([found.status, (found.body as RawRow)['id']], `${id}: ${found.text}`).to.deep.equal([200, id])
        const patched = await send('PATCH', at('harvests', id), { weight: 8 }, found.headers['etag'])
        expect([patched.status, (patched.body as RawRow)['weight']], `${id}: ${patched.text}`).to.deep.equal([200, 8])
        const put = await send('PUT', at('harvests', id), patched.body, patched.headers['etag'])
        expect([put.status, (put.body as RawRow)['weight']], `${id}: ${put.text}`).to.deep.equal([200, 8])
        const other = await send('PATCH', at('harvests', id), { day: '2021-00-00' }, put.headers['etag'])
        expect([other.status, (other.body as RawRow)['code']], id).to.deep.equal([400, 'id.mismatch'])
        const emptied = await send('PUT', `${at('harvests', id)}/empty`, {}, put.headers['etag'])
        expect([emptied.status, (emptied.body as RawRow)['weight']], `${id}: ${emptied.text}`).to.deep.equal([200, 0])
        const stale = await send('PATCH', at('harvests', id), { weight: 9 }, patched.headers['etag'])
        expect(stale.status).to.equal(412)
      }
      const [counted] = await sql.run('SELECT COUNT(*) AS n FROM harvests WHERE weight = 0')
      expect(Number(counted?.['n'])).to.equal(ids.length)
      for (const id of ids) expect((await send('DELETE', at('harvests', id))).status, id).to.equal(204)
      expect(await sql.run('SELECT * FROM harvests')).to.deep.equal([])
    })

    it('have one id each: another spelling of it is none, and a request writes no such value', async () => {
      for (const id of [
        'north,fine,0000-0-0',
        'north,fine,0000-00-00T00:00:00.000Z',
        'north,FINE,0000-00-00',
        'a,,b'
      ]) {
        expect((await stack.call(at('harvests', id))).status, id).to.equal(400)
      }
      expect((await stack.call(at('harvests', 'north,fine,0000-00-00'))).status).to.equal(404)
      const made = await send('POST', '/harvests', { field: 'x', grade: 'fine', day: '0000-00-00', weight: 1 })
      expect([made.status, (made.body as RawRow)['code']]).to.deep.equal([400, 'body.invalid'])
      const graded = await send('POST', '/harvests', { field: 'x', grade: '', day: '2020-01-01', weight: 1 })
      expect(graded.status).to.equal(400)
    })

    it('are found by the year 0', async () => {
      await sql.run("INSERT INTO vintages (year, name) VALUES (0, 'unknown')")
      const found = await stack.call('/vintages/0')
      expect([found.status, (found.body as RawRow)['name']], found.text).to.deep.equal([200, 'unknown'])
      expect((await send('POST', '/vintages', { id: 0, name: 'none' })).status).to.equal(400)
      expect((await send('DELETE', '/vintages/0')).status).to.equal(204)
    })

    it('are created with numbers of the database beyond 2^53 and 2^63', async () => {
      const starts =
        kind === 'mysql'
          ? ['9007199254740993', '9223372036854775807', '9223372036854775808', '18446744073709551600']
          : ['9007199254740993', '9223372036854775800']
      for (const start of starts) {
        if (kind === 'mysql') await sql.run(`ALTER TABLE receipts AUTO_INCREMENT = ${start}`)
        else await sql.run(`INSERT INTO receipts (id, row_version) VALUES (${start} - 1, x'0000000000000001')`)
        const made = await send('POST', '/receipts', { note: start })
        expect(made.status, `${start}: ${made.text}`).to.equal(201)
        const { id } = made.body as RawRow
        expect(id).to.equal(start)
        expect(new URL(String(made.headers['location'])).pathname).to.equal(`/receipts/${start}`)
        expect((await stack.call(`/receipts/${start}`)).body).to.include({ id: start, note: start })
        const rows = await sql.run(`SELECT note FROM receipts WHERE id = ${start}`)
        expect(rows.map(({ note }) => note)).to.deep.equal([start])
      }
    })

    it('have words of characters that the catalogue of the server does not show', async () => {
      const made = await send('POST', '/receipts', { mood: 'very 😀' })
      expect([made.status, (made.body as RawRow)['mood']], made.text).to.deep.equal([201, 'very 😀'])
      const rows = await sql.run('SELECT id FROM receipts WHERE mood = ?', ['very 😀'])
      expect(rows.map(({ id }) => String(id))).to.deep.equal([(made.body as RawRow)['id']])
      const filter = `filters[mood].operator=in&filters[mood].value=${encodeURIComponent('very 😀')}`
      const found = await stack.call(`/receipts/paged?${filter}`)
      expect((found.body as RawRow[]).map(({ mood }) => mood)).to.deep.equal(['very 😀'])
      expect((await send('POST', '/receipts', { mood: 'very ?' })).status).to.equal(400)
    })

    it('show a text that is none of its type as it is', async () => {
      const device = 'none "yet", \\ or \u00e9'
      const made = await send('POST', '/receipts', { note: 'device' })
      const { id } = made.body as RawRow
      await sql.run('UPDATE receipts SET device = ? WHERE id = ?', [device, String(id)])
      const filter = 'filters[note].operator=eq&filters[note].value=device&fields=id,device'
      expect((await stack.call(`/receipts/${String(id)}?fields=id,device`)).body).to.deep.equal({ id, device })
      expect((await stack.call(`/receipts/paged?${filter}`)).body).to.deep.equal([{ id, device }])
      const { text } = await stack.call(`/receipts/export?${filter}&bom=false`)
      expect(text).to.equal(`id,device\r\n${String(id)},"${device.replaceAll('"', '""')}"\r\n`)
    })

    it('tell a set without words from null in exports', async () => {
      for (const marks of [null, [], ['paid'], ['paid', 'sent']]) {
        expect((await send('POST', '/receipts', { note: 'set', marks })).status).to.equal(201)
      }
      const fields = 'filters[note].operator=eq&filters[note].value=set&fields=note,marks&bom=false'
      const { text } = await stack.call(`/receipts/export?${fields}`)
      expect(text).to.equal('note,marks\r\nset,\r\nset,""\r\nset,paid\r\nset,"paid,sent"\r\n')
    })
  })
})
