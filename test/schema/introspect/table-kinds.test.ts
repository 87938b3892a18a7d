import { expect } from 'chai'
import { type DatabaseKind, eachDatabase } from '../../harness/database.js'
import type { Stack } from '../../stack/stack.js'
import { IntrospectedApp } from './introspected-app.js'

// Tables of every kind that the databases have: storage engines, histories, partitions, tables without rowids, virtual ones.

const VERSION = { mysql: 'row_version BINARY(8) NOT NULL', sqlite: 'row_version BLOB NOT NULL' }

const STATEMENTS: Record<DatabaseKind, readonly string[]> = {
  mysql: [
    `CREATE TABLE plain_row (id INT PRIMARY KEY, note VARCHAR(20), ${VERSION.mysql})`,
    `CREATE TABLE myisam_row (id INT PRIMARY KEY, note VARCHAR(20), ${VERSION.mysql}) ENGINE=MyISAM`,
    `CREATE TABLE aria_row (id INT PRIMARY KEY, note VARCHAR(20), ${VERSION.mysql}) ENGINE=Aria`,
    `CREATE TABLE memory_row (id INT PRIMARY KEY, note VARCHAR(20), ${VERSION.mysql}) ENGINE=MEMORY`,
    `CREATE TABLE parted_row (id INT PRIMARY KEY, note VARCHAR(20), ${VERSION.mysql}) PARTITION BY HASH(id) PARTITIONS 2`,
    `CREATE TABLE hidden_row (id INT PRIMARY KEY, note VARCHAR(20) INVISIBLE DEFAULT 'unseen', ${VERSION.mysql})`,
    `CREATE TABLE history_row (id INT PRIMARY KEY, note VARCHAR(20), ${VERSION.mysql}) WITH SYSTEM VERSIONING`,
    `CREATE TABLE period_row (id INT PRIMARY KEY, note VARCHAR(20), since TIMESTAMP(6) GENERATED ALWAYS AS ROW START,
     until TIMESTAMP(6) GENERATED ALWAYS AS ROW END, PERIOD FOR SYSTEM_TIME (since, until), ${VERSION.mysql})
     WITH SYSTEM VERSIONING`,
    'CREATE SEQUENCE numbers',
    "CREATE TABLE bin (id INT PRIMARY KEY, kind ENUM('b','a') NOT NULL, flags SET('x','y') NOT NULL) CHARSET=binary",
    "INSERT INTO bin VALUES (1, 'a', 'x,y'), (2, 'b', '')",
    `CREATE TABLE page (id INT PRIMARY KEY, title VARBINARY(40) NOT NULL, stamp BINARY(14) NOT NULL, body MEDIUMBLOB NULL,
     hash VARBINARY(20) NOT NULL, flags VARBINARY(9) NOT NULL, redirect ENUM('','404','301') NOT NULL, INDEX (title)) CHARSET=binary`,
    `INSERT INTO page VALUES (1, 'Ähre', '20260102030405', 'Some\\ntext', x'ff00', x'01', ''),
     (2, 'Zebra', '20250102030405', NULL, x'41', x'02', '404'), (3, 'apple', '20240102030405', '', x'42', '', '301')`,
    'CREATE TABLE flag (id INT PRIMARY KEY, lost TINYINT(1) NOT NULL)',
    'CREATE TABLE flag_key (a INT NOT NULL, is_digest TINYINT(1) NOT NULL, PRIMARY KEY (a, is_digest))',
    'INSERT INTO flag_key VALUES (1, 0), (1, 1)',
    'CREATE TABLE time_key (a INT NOT NULL, at DATETIME NOT NULL, lasts TIME, PRIMARY KEY (a, at))',
    "INSERT INTO time_key VALUES (1, '2026-01-02 03:04:05', '25:00:00'), (1, '2026-01-02 03:04:06', '-00:30:00'), (2, '2025-01-02 03:04:05', NULL)",
    'CREATE TABLE dec_key (d DECIMAL(10,2) PRIMARY KEY, v INT NOT NULL)',
    'INSERT INTO dec_key VALUES (1.50, 1), (10, 2), (9.99, 3)',
    'CREATE TABLE bin_key (k VARBINARY(32) PRIMARY KEY, v INT NOT NULL)',
    "INSERT INTO bin_key VALUES ('b/ä', 1), ('B', 2)",
    'INSERT INTO flag VALUES (1, 0), (2, 1)',
    `CREATE TABLE own_flag (id INT NOT NULL PRIMARY KEY, active TINYINT(1) NOT NULL, ${VERSION.mysql}, INDEX (active))`,
    "SET STATEMENT sql_mode = '' FOR CREATE TABLE zero_key (at DATETIME PRIMARY KEY)",
    "SET STATEMENT sql_mode = '' FOR INSERT INTO zero_key VALUES ('0000-00-00 00:00:00'), ('2026-01-02 03:04:05')",
    'CREATE TABLE zero_note (id INT PRIMARY KEY, at DATETIME NOT NULL, FOREIGN KEY (at) REFERENCES zero_key (at))',
    "SET STATEMENT sql_mode = '' FOR INSERT INTO zero_note VALUES (1, '0000-00-00 00:00:00'), (2, '2026-01-02 03:04:05')",
    "SET STATEMENT sql_mode = '' FOR INSERT INTO time_key VALUES (0, '0000-00-00 00:00:00', NULL)",
    'CREATE TABLE time_note (id INT PRIMARY KEY, a INT NOT NULL, at DATETIME NOT NULL, FOREIGN KEY (a, at) REFERENCES time_key (a, at))',
    "SET STATEMENT sql_mode = '' FOR INSERT INTO time_note VALUES (1, 0, '0000-00-00 00:00:00'), (2, 1, '2026-01-02 03:04:05')",
    `SET STATEMENT sql_mode = '' FOR CREATE TABLE zero (id INT PRIMARY KEY, d DATE NOT NULL DEFAULT '0000-00-00', redirect ENUM('301') NOT NULL, ${VERSION.mysql})`,
    "SET STATEMENT sql_mode = '' FOR INSERT INTO zero VALUES (1, '0000-00-00', '404', x'0000000000000001'), (2, '2026-01-02', '301', x'0000000000000001')",
    ...['myisam', 'aria', 'memory'].map((one) => `INSERT INTO ${one}_row VALUES (1, 'a', x'0000000000000001')`)
  ],
  sqlite: [
    `CREATE TABLE plain_row (id INTEGER NOT NULL PRIMARY KEY, note TEXT, ${VERSION.sqlite})`,
    `CREATE TABLE without_row (id INT NOT NULL PRIMARY KEY, note TEXT, ${VERSION.sqlite}) WITHOUT ROWID`,
    `CREATE TABLE strict_row (id INTEGER NOT NULL PRIMARY KEY, note TEXT, ${VERSION.sqlite}) STRICT`,
    `CREATE TABLE own_flag (id INT NOT NULL PRIMARY KEY, active BOOLEAN NOT NULL, ${VERSION.sqlite})`,
    'CREATE INDEX own_flag_active ON own_flag (active)',
    'CREATE TABLE keyless_row (note TEXT)',
    'CREATE VIRTUAL TABLE letters USING fts5(note)'
  ]
}

function codeOf(n: number): string {
  return `c${String(n).padStart(3, '0')}`
}

/** The least of what strangers' schemas have: long names, a key of a date, a column that no row can do without and nobody serves. */
const STRANGERS = (kind: DatabaseKind): readonly string[] => [
  'CREATE TABLE p (borrower_message_preference_id INT NOT NULL PRIMARY KEY)',
  `CREATE TABLE borrower_message_transport_preferences (id INT NOT NULL PRIMARY KEY,
     borrower_message_preference_id INT NOT NULL, borrower_message_preference_idea INT NOT NULL,
     FOREIGN KEY (borrower_message_preference_id) REFERENCES p (borrower_message_preference_id),
     FOREIGN KEY (borrower_message_preference_idea) REFERENCES p (borrower_message_preference_id))`,
  'CREATE TABLE d_only (d DATE NOT NULL PRIMARY KEY, n INT NULL)',
  "INSERT INTO d_only VALUES ('2026-01-02', 1), ('2025-03-04', 2)",
  `CREATE TABLE placed_row (id INT NOT NULL PRIMARY KEY, note VARCHAR(20),
     ${kind === 'mysql' ? '`a``b`' : '"a`b"'} INT NOT NULL, ${VERSION[kind]})`,
  'CREATE TABLE likely (id INT NOT NULL PRIMARY KEY, likes INT NOT NULL)',
  'INSERT INTO likely VALUES (1, 5), (2, 0), (3, -1)',
  `CREATE TABLE odd_row (id INT NOT NULL PRIMARY KEY, amount INT NOT NULL, note VARCHAR(20), code ${kind === 'mysql' ? 'VARBINARY(9)' : 'BLOB'} NOT NULL)`,
  `INSERT INTO odd_row (id, amount, note, code) VALUES (1, 10, 'first', ${kind === 'mysql' ? "'ten'" : "x'74656e'"}), (2, 20, 'second', ${kind === 'mysql' ? "'two'" : "x'74776f'"})`,
  "INSERT INTO own_flag VALUES (1, 1, x'0000000000000001'), (2, 1, x'0000000000000001'), (3, 1, x'0000000000000001'), (4, 0, x'0000000000000001')",
  `CREATE TABLE bytes_row (id ${kind === 'mysql' ? 'BINARY(16)' : 'BLOB'} NOT NULL PRIMARY KEY, name VARCHAR(20) NOT NULL)`,
  "INSERT INTO bytes_row VALUES (x'fffffffffffffffffffffffffffffffb', 'last'), (x'00000000000000000000000000000001', 'first')",
  `CREATE TABLE bytes_note (id INT NOT NULL PRIMARY KEY, bytes_row_id ${kind === 'mysql' ? 'BINARY(16)' : 'BLOB'}, FOREIGN KEY (bytes_row_id) REFERENCES bytes_row (id))`,
  `CREATE TABLE bytes_part (code ${kind === 'mysql' ? 'VARBINARY(40)' : 'BLOB'} NOT NULL, n INT NOT NULL, PRIMARY KEY (code, n))`,
  "INSERT INTO bytes_part VALUES (x'ff', 1), (x'ffee', 1), (x'ffee', 2)",
  'CREATE TABLE twice_row (code VARCHAR(20) NOT NULL, n INT NOT NULL)',
  `INSERT INTO twice_row VALUES ${Array.from({ length: 450 }, (_, at) => `('${codeOf(at + 1)}', ${at + 1})`).join()}`,
  'CREATE TABLE wide_row (code INT NOT NULL, body TEXT NOT NULL)',
  'CREATE TABLE twice_note (id INT NOT NULL PRIMARY KEY, code VARCHAR(20) NOT NULL)',
  "INSERT INTO twice_note VALUES (1, 'c001'), (2, 'c100')",
  "INSERT INTO placed_row VALUES (1, 'there', 0, x'0000000000000001')"
]

const WRITTEN: Record<DatabaseKind, readonly string[]> = {
  mysql: ['plain', 'parted', 'hidden', 'history', 'period'],
  sqlite: ['plain', 'without', 'strict']
}

const LEFT_OUT: Record<DatabaseKind, readonly string[]> = {
  mysql: ['- **numbers**: it is a sequence'],
  sqlite: [
    '- **letters**: it is a virtual table',
    'Its rows have no key, so that no request names one: it has no primary key'
  ]
}

eachDatabase((kind) => {
  describe(`every kind of a table on ${kind}`, () => {
    let app: IntrospectedApp
    let stack: Stack
    let token = ''
    before(async () => {
      app = await IntrospectedApp.make(kind, [...STATEMENTS[kind], ...STRANGERS(kind)])
      const named = [
        '--key',
        'twice_row=code',
        '--key',
        'wide_row=code',
        '--reference',
        'twice_note.code=twice_row.code'
      ]
      const ran = await app.run('introspect', ...named)
      expect(ran.stderr).to.equal('')
      // A key of a date is a text on SQLite, which may be a label.
      const dates = await app.read('entities/d-onlies.ts')
      expect(dates.includes('  label: ')).to.equal(kind === 'sqlite')
      await app.write('entities/d-onlies.ts', dates.replace("  label: 'id',\n", ''))
      const likely = await app.read('entities/likelies.ts')
      const flagged = likely
        .replace('import {', 'import { bool,')
        .replace(/likes: \w+\(\)/, 'likes: bool()')
        .replace("sortable: ['id']", "sortable: ['id', 'likes']")
      await app.write('entities/likelies.ts', flagged)
      const own = await app.read('entities/own-flags.ts')
      const ownFlag = own
        .replace('import {', 'import { bool,')
        .replace('bool, bool,', 'bool,')
        .replace(/active: \w+\(\)/, 'active: bool()')
        .replace('  access:', "  totals: { dimensions: ['active'], measures: { count: true } },\n  access:")
      await app.write('entities/own-flags.ts', ownFlag)
      const odd = await app.read('entities/odd-rows.ts')
      const [label, measures] =
        kind === 'mysql' ? ['code', ''] : ['amount', ", sum: ['amount'], average: ['amount'], max: ['amount']"]
      const oddRow = odd
        .replace(/label: '\w+'/, `label: '${label}'`)
        .replace(
          '  access:',
          `  totals: { dimensions: ['${label}'], measures: { count: true${measures} } },\n  access:`
        )
      await app.write('entities/odd-rows.ts', oddRow)
      await app.writeConfig()
      const migrated = await app.run('migrate', '--among-tables-of', app.name)
      expect(migrated.stderr).to.equal('')
      stack = await app.start()
      token = stack.token({ sub: 'a', role: 'Admin' })
    })
    after(async () => {
      await stack?.stop()
      await app?.dispose()
    })

    it('says of those that are left out what they are', async () => {
      const report = await app.read('entities/introspected.md')
      for (const line of LEFT_OUT[kind]) expect(report).to.include(line)
      expect(report).to.not.include('letters_')
    })

    for (const name of WRITTEN[kind]) {
      it(`${name}: a row is created, changed once for each version, and deleted`, async () => {
        const resource = `/${name}-rows`
        // A numbered key of SQLite is no member of the request.
        const headers = { prefer: 'handling=lenient' }
        const created = await stack.call(resource, { token, headers, body: { id: 5, note: 'first' } })
        expect(created.status, created.text).to.equal(201)
        const path = `${resource}/${String((created.body as { readonly id: unknown }).id)}`
        const put = (ifMatch: string | undefined) =>
          stack.call(path, { token, method: 'PUT', ifMatch, body: { note: 'second' } })
        expect((await put(created.headers.etag)).status).to.equal(200)
        expect((await put(created.headers.etag)).status).to.equal(412)
        expect((await stack.call(path, { token })).body).to.deep.include({ note: 'second' })
        expect((await stack.call(path, { token, method: 'DELETE' })).status).to.equal(204)
        expect((await stack.call(path, { token })).status).to.equal(404)
      })
    }

    it('a foreign key whose name would be too long gets the beginning of it, and another one a number', async () => {
      const [cut] = 'borrower_message_transport_preferences_borrower_message_preference_id_fk'.match(/^.{64}/) ?? []
      const baseline = await app.read('migrations/001-baseline.ts')
      expect(baseline)
        .to.include(`name: '${cut}'`)
        .and.include(`name: '${cut?.slice(0, 61)}_2'`)
      expect((await stack.call('/borrower-message-transport-preferences', { token })).status).to.equal(200)
    })

    it('a lookup of rows that no column can be the label of shows their ids, and finds whole ones', async () => {
      const item = (id: string): object => ({ id, name: id })
      const lookup = async (query: string) => (await stack.call(`/d-onlies/lookup${query}`, { token })).body
      expect(await lookup('')).to.deep.equal({ items: [item('2025-03-04'), item('2026-01-02')] })
      expect(await lookup('?search=2026-01-02')).to.deep.equal({ items: [item('2026-01-02')] })
      const none = kind === 'mysql' ? { status: 400, code: 'filter.value.invalid' } : { items: [] }
      expect(await lookup('?search=2026')).to.deep.include(none)
    })

    it('requests create no rows that need a column which is left out, and change those that are there', async () => {
      expect((await stack.call('/placed-rows', { token, body: { note: 'new' } })).status).to.equal(405)
      const { headers } = await stack.call('/placed-rows/1', { token })
      const changed = await stack.call('/placed-rows/1', {
        token,
        method: 'PUT',
        ifMatch: headers.etag,
        body: { note: 'changed' }
      })
      expect(changed.status, changed.text).to.equal(200)
      expect(await app.read('entities/introspected.md')).to.include('Requests create no row of it: `a`b` is left out')
    })

    const body = async (target: string): Promise<unknown> => (await stack.call(target, { token })).body
    const where = (name: string, operator: string, value: string): string =>
      `filters[${name}].operator=${operator}&filters[${name}].value=${value}`

    it('a flag over a column of numbers is true for everything but 0, in filters and in orders', async () => {
      // A whole number of SQLite has 64 bits.
      const row = (id: number, likes: boolean): object => ({ id: kind === 'mysql' ? id : String(id), likes })
      const all = [row(1, true), row(2, false), row(3, true)]
      expect(await body('/likelies')).to.deep.equal(all)
      expect(await body(`/likelies/paged?${where('likes', 'equals', 'true')}`)).to.deep.equal([all[0], all[2]])
      expect(await body(`/likelies/paged?${where('likes', 'equals', 'false')}`)).to.deep.equal([all[1]])
      const sorted = '/likelies/paged?sortColumn=likes&pageSize=2'
      const first = await stack.call(sorted, { token })
      const cursor = String(first.headers['x-next-cursor'])
      expect([first.body, await body(`${sorted}&after=${cursor}`)]).to.deep.equal([[all[1], all[0]], [all[2]]])
    })

    it('a number that is no flag is not shown where an index serves the flag, and no page goes round in a circle', async () => {
      await app.sql.query('UPDATE own_flag SET active = 2 WHERE id < 3')
      const list = await stack.call('/own-flags?fields=id,active', { token })
      const id = (one: number): unknown => (kind === 'mysql' ? one : String(one))
      expect(list.body).to.deep.equal([
        { id: id(1), active: null },
        { id: id(2), active: null },
        { id: id(3), active: true },
        { id: id(4), active: false }
      ])
      expect(list.headers['x-unshown-values']).to.equal('1; property=active, 2; property=active')
      expect(await body(`/own-flags/paged?fields=id&${where('active', 'equals', 'true')}`)).to.deep.equal([
        { id: id(3) }
      ])
      const found: unknown[] = []
      let status = 200
      for (let after = ''; status === 200 && found.length < 9;) {
        const page = await stack.call(`/own-flags/paged?sortColumn=active&pageSize=1&fields=id${after}`, { token })
        status = page.status
        if (status === 200) found.push(...(page.body as { readonly id: unknown }[]).map((one) => one.id))
        after = `&after=${String(page.headers['x-next-cursor'])}`
      }
      expect([status, found]).to.deep.equal([500, [id(4), id(3)]])
      const totals = await stack.call('/own-flags/totals?by=active&measures=count', { token })
      expect([totals.status, totals.headers['x-unshown-values']]).to.deep.equal([200, '; property=active'])
      expect(totals.body).to.deep.include({ active: null, count: 2 })
    })

    it('a value that its type cannot show is null, and the answer and the log name its row', async () => {
      // A server keeps no text in a column of numbers.
      const property = kind === 'mysql' ? 'code' : 'amount'
      await app.sql.query(
        kind === 'mysql'
          ? "UPDATE odd_row SET code = x'fffe' WHERE id = 1"
          : "UPDATE odd_row SET amount = 'ten' WHERE id = 1"
      )
      const [list, page, one] = await Promise.all(
        ['/odd-rows', '/odd-rows/paged', '/odd-rows/1'].map((target) => stack.call(target, { token }))
      )
      for (const answer of [list, page]) {
        const [first, ...others] = (answer?.body ?? []) as readonly object[]
        expect(first, answer?.text).to.include({ note: 'first', [property]: null })
        expect(others).to.have.lengthOf(1)
      }
      expect(one?.body).to.include({ note: 'first', [property]: null })
      for (const answer of [list, page, one]) {
        expect(answer?.headers['x-unshown-values']).to.equal(`1; property=${property}`)
      }
      const csv = await stack.call(`/odd-rows/export?fields=id,${property},note&bom=false`, { token })
      expect(csv.text.split('\r\n').slice(1, 2)).to.deep.equal(['1,,first'])
      expect(csv.text).to.include(`\r\n# export without values: 1=${property},,\r\n`)
      const lookup = await stack.call('/odd-rows/lookup', { token })
      expect([lookup.status, lookup.headers['x-unshown-values']], lookup.text).to.deep.equal([
        200,
        `1; property=${property}`
      ])
      const [first, second] = [1, 2].map((one) => (kind === 'mysql' ? one : String(one)))
      expect((lookup.body as { readonly items: unknown[] }).items).to.have.deep.members([
        { id: first, name: null },
        { id: second, name: kind === 'mysql' ? 'two' : '20' }
      ])
      const groups = await stack.call(`/odd-rows/totals?by=${property}&measures=count`, { token })
      expect([groups.status, groups.headers['x-unshown-values']], groups.text).to.deep.equal([
        200,
        `; property=${property}`
      ])
      expect(groups.body).to.have.deep.members([
        { [property]: null, count: 1 },
        { [property]: kind === 'mysql' ? 'two' : '20', count: 1 }
      ])
      if (kind === 'sqlite') {
        const totals = await stack.call('/odd-rows/totals', { token })
        expect(totals.body).to.deep.equal([
          { count: 2, 'sum.amount': null, 'average.amount': null, 'max.amount': null }
        ])
        expect(totals.headers['x-unshown-values']).to.equal(
          ['sum', 'average', 'max'].map((one) => `; property=${one}.amount`).join(', ')
        )
      }
      const place = `odd_row.${property} of the row with the id 1 is none of its type`
      expect(stack.logs().filter((line) => JSON.stringify(line).includes(place)).length).to.be.at.least(1)
    })

    it('bytes are keys, and refer to them, as base64url', async () => {
      const size = kind === 'mysql' ? '16, 16' : '1048576'
      expect(await app.read('entities/bytes-rows.ts')).to.include(`id: onCreate(base64url(${size}))`)
      // No row said what the column holds.
      expect(await app.read('entities/bytes-notes.ts')).to.include(`bytesRowId: optional(base64url(${size}))`)
      const [first, last] = [
        'AAAAAAAAAAAAAAAAAAAAAQ',
        Buffer.from('fffffffffffffffffffffffffffffffb', 'hex').toString('base64url')
      ]
      await app.sql.query("INSERT INTO bytes_note VALUES (1, x'fffffffffffffffffffffffffffffffb'), (2, NULL)")
      const rows = (await body('/bytes-rows')) as readonly { readonly id: string }[]
      expect(rows.map(({ id }) => id)).to.deep.equal([first, last])
      expect(await body(`/bytes-rows/${last}`)).to.deep.equal({ id: last, name: 'last' })
      expect(await body('/bytes-notes?include=bytesRow&fields=bytesRowId,bytesRow')).to.deep.equal([
        { bytesRowId: last, bytesRow: { id: last, name: 'last' } },
        { bytesRowId: null, bytesRow: null }
      ])
      expect(await body('/bytes-parts?fields=id')).to.deep.equal([{ id: '_w,1' }, { id: '_-4,1' }, { id: '_-4,2' }])
      expect(await body('/bytes-parts/_-4,2')).to.include({ id: '_-4,2', code: '_-4' })
      for (const id of [`${last}==`, '_-5', '/+4,2']) {
        const resource = id.includes(',') ? 'bytes-parts' : 'bytes-rows'
        const answer = await stack.call(`/${resource}/${encodeURIComponent(id)}`, { token })
        expect([answer.status, (answer.body as { readonly code: string }).code], id).to.deep.equal([400, 'id.invalid'])
      }
      expect((await app.run('introspect', '--check')).stdout).to.not.include('bytes')
    })

    it('rows that share a key which no index holds are all read, or the read is an error that the log explains', async () => {
      const page = (query: string) => stack.call(`/twice-rows/paged?${query}`, { token })
      const cursor = String((await page('pageSize=100')).headers['x-next-cursor'])
      const noteOf = async (id: number): Promise<number> =>
        (await stack.call(`/twice-notes/${id}?includeFKs=true`, { token })).status
      expect([await noteOf(1), await noteOf(2)]).to.deep.equal([200, 200])
      // At the end of a page of 100, and of the first 200 rows, which an export reads together.
      await app.sql.query("INSERT INTO twice_row VALUES ('c100', 1000), ('c199', 1990), ('C300', 3000)")

      const told = (code: string): boolean =>
        stack.logs().some((line) => JSON.stringify(line).includes(`rows of twice_row have the same code, ${code},`))
      expect((await stack.call('/twice-rows/c100', { token })).status).to.equal(500)
      await stack.dataService.logged((entry) => JSON.stringify(entry).includes('have the same code, c100,'))
      expect((await stack.call('/twice-rows/c101', { token })).status).to.equal(200)
      const both = await Promise.all(['c001', 'c199', 'c002'].map((id) => stack.call(`/twice-rows/${id}`, { token })))
      expect(both.map(({ status }) => status)).to.deep.equal([200, 500, 200])
      expect(told('c199')).to.equal(true)
      expect([await noteOf(1), await noteOf(2)]).to.deep.equal([200, 500])

      expect((await page('pageSize=100')).status, 'it would end between them').to.equal(500)
      expect((await page('pageSize=100&pageNumber=2')).status, 'it would begin between them').to.equal(500)
      const later = (await page(`pageSize=1&after=${cursor}`)).body as readonly { readonly id: string }[]
      expect(
        later.map(({ id }) => id),
        'as behind any row that came later'
      ).to.deep.equal(['c101'])
      const whole = await page('pageSize=101')
      expect([whole.status, whole.headers['x-total-count']]).to.deep.equal([200, '453'])
      const last = (whole.body as readonly { readonly n: unknown }[]).slice(-2).map(({ n }) => Number(n))
      expect(last).to.have.members([100, 1000])
      const behind = await page(`pageSize=1&after=${String(whole.headers['x-next-cursor'])}`)
      expect((behind.body as readonly { readonly id: string }[]).map(({ id }) => id)).to.deep.equal(['c101'])
      const again = await page(`pageSize=101&before=${String(behind.headers['x-previous-cursor'])}`)
      expect(again.body).to.have.deep.members(whole.body as unknown[])
      expect(again.headers).to.not.have.property('x-previous-cursor')

      const cased: unknown[] = []
      for (let after = '', pages = 0; pages < 4; pages++) {
        const one = await page(`${where('id', 'in', 'c299,c300,c301')}&pageSize=1${after}`)
        cased.push(...(one.body as readonly { readonly id: string }[]).map(({ id }) => id))
        after = `&after=${String(one.headers['x-next-cursor'])}`
      }
      expect(cased).to.deep.equal(['c299', 'C300', 'c300', 'c301'])

      const { status, text } = await stack.call('/twice-rows/export?fields=n&bom=false', { token })
      expect(status).to.equal(200)
      const wanted = [...Array.from({ length: 450 }, (_, at) => at + 1), 1000, 1990, 3000]
      expect(text.trimEnd().split('\r\n').slice(1).map(Number)).to.have.members(wanted).and.have.lengthOf(453)
      expect((await app.run('check')).stdout).to.include(
        'twice-rows: 2 of its values of code are those of several rows'.replace('2', kind === 'mysql' ? '3' : '2')
      )

      // More than an export reads first, all with one key.
      const alike = Array.from({ length: 300 }, (_, at) => 10_000 + at)
      await app.sql.query(`INSERT INTO twice_row VALUES ${alike.map((n) => `('c010', ${n})`).join()}`)
      const all = await stack.call('/twice-rows/export?fields=n&bom=false', { token })
      expect(all.status).to.equal(200)
      expect(all.text.trimEnd().split('\r\n').slice(1).map(Number)).to.have.members([...wanted, ...alike])
      expect((await stack.call('/twice-rows/c010', { token })).status).to.equal(500)
    })

    it('a joined property over a key that two rows may share is refused, since it would show a row for each of them', async () => {
      const file = 'entities/twice-notes.ts'
      const before = await app.read(file)
      // The integer of SQLite has 64 bits.
      const word = /\bn: (\w+)\(/.exec(await app.read('entities/twice-rows.ts'))?.[1] ?? ''
      const joined = `  joined: { n: { through: 'twiceRow', property: 'n', field: uniform.optional(uniform.${word}()) } },\n  access:`
      const text = before.replace('  access:', joined)
      await app.write(file, `import * as uniform from 'uniform-rest'\n${text}`)
      const checked = await app.run('check')
      await app.write(file, before)
      expect([checked.code, checked.stderr + checked.stdout].join(' ')).to.match(/^1 /)
      expect(checked.stderr + checked.stdout).to.include(
        'twice-notes: joined `n` reads twice_row, where no unique key keeps two rows from the same code'
      )
    })

    it('rows of a named key without an index are exported whole where their sizes differ', async () => {
      const insert = (codes: readonly number[], body: string): Promise<unknown> =>
        app.sql.query(`INSERT INTO wide_row VALUES ${codes.map((code) => `(${code}, '${body}')`).join()}`)
      const codes = (from: number, count: number): number[] => Array.from({ length: count }, (_, at) => from + at)
      await insert(codes(1, 300), 'x')
      for (let from = 1000; from < 2500; from += 100) await insert(codes(from, 100), 'x'.repeat(10_000))
      const { status, text } = await stack.call('/wide-rows/export?bom=false', { token })
      expect(status, text.slice(0, 500)).to.equal(200)
      const found = text
        .trimEnd()
        .split('\r\n')
        .slice(1)
        .map((row) => parseInt(row, 10))
      expect(found).to.deep.equal([...codes(1, 300), ...codes(1000, 1500)])
    })

    if (kind === 'sqlite') return

    it('texts that are kept as bytes are texts, to filter and to sort, and other bytes stay bytes', async () => {
      const file = await app.read('entities/pages.ts')
      for (const line of [
        'title: longText(40)',
        'stamp: generated(longText(14))',
        'body: optional(longText(16777215))',
        'hash: binary(20)',
        'flags: binary(9)',
        "redirect: oneOf(['', '404', '301'])"
      ]) {
        expect(file).to.include(line)
      }
      const titles = async (query: string): Promise<unknown> =>
        ((await body(`/pages/paged?${query}`)) as { readonly title: string }[]).map(({ title }) => title)
      expect(await titles(where('title', 'equals', '%C3%84hre'))).to.deep.equal(['Ähre'])
      expect(await titles(where('title', 'contains', 'e&sortColumn=title'))).to.deep.equal(['Zebra', 'apple', 'Ähre'])
      expect(await titles(where('body', 'startsWith', 'Some'))).to.deep.equal(['Ähre'])
      expect(await titles(where('redirect', 'equals', ''))).to.deep.equal(['Ähre'])
      expect(await titles(where('redirect', 'in', '404,301'))).to.deep.equal(['Zebra', 'apple'])
      expect(await body('/pages/1?fields=title,body,hash,redirect')).to.deep.equal({
        title: 'Ähre',
        body: 'Some\ntext',
        hash: '/wA=',
        redirect: ''
      })
    })

    it('words of a table in CHARSET=binary are shown and filtered', async () => {
      const [one, other] = [
        { id: 1, kind: 'a', flags: ['x', 'y'] },
        { id: 2, kind: 'b', flags: [] }
      ]
      expect(await body('/bins')).to.deep.equal([one, other])
      expect(await body(`/bins/paged?${where('kind', 'equals', 'b')}`)).to.deep.equal([other])
      expect(await body(`/bins/paged?${where('flags', 'contains', 'y')}`)).to.deep.equal([one])
    })

    it('moments, decimals, flags and texts that are kept as bytes are keys, of reads by id and of pages', async () => {
      const ids: Readonly<Record<string, readonly string[]>> = {
        'flag-keys': ['1,0', '1,1'],
        'time-keys': [
          '0,0000-00-00T00:00:00.000Z',
          '1,2026-01-02T03:04:05.000Z',
          '1,2026-01-02T03:04:06.000Z',
          '2,2025-01-02T03:04:05.000Z'
        ],
        'zero-keys': ['0000-00-00T00:00:00.000Z', '2026-01-02T03:04:05.000Z'],
        'dec-keys': ['1.50', '9.99', '10.00'],
        'bin-keys': ['B', 'b/ä']
      }
      for (const [resource, wanted] of Object.entries(ids)) {
        const found: unknown[] = []
        let after = ''
        do {
          const page = await stack.call(`/${resource}/paged?pageSize=1${after}`, { token })
          expect(page.status, page.text).to.equal(200)
          found.push(...(page.body as { readonly id: unknown }[]).map(({ id }) => id))
          const { 'x-next-cursor': next } = page.headers
          after = next === undefined ? '' : `&after=${String(next)}`
        } while (after !== '' && found.length < 9)
        expect(found).to.deep.equal(wanted)
        // Reads by id that come together are one statement.
        const rows = await Promise.all(wanted.map((id) => body(`/${resource}/${encodeURIComponent(id)}`)))
        expect(rows.map((row) => (row as { readonly id: unknown }).id)).to.deep.equal(wanted)
      }
      const included = async (resource: string, name: string): Promise<unknown> => {
        const notes = (await body(`/${resource}?include=${name}`)) as readonly Record<
          string,
          { readonly id: unknown }
        >[]
        return notes.map((note) => note[name]?.id)
      }
      expect(await included('zero-notes', 'atZeroKey')).to.deep.equal(ids['zero-keys'])
      expect(await included('time-notes', 'timeKey')).to.deep.equal(ids['time-keys']?.slice(0, 2))
      expect((await stack.call('/dec-keys/%2B1.5', { token })).status).to.equal(400)
      expect((await stack.call('/time-keys/1,2026-01-02', { token })).status).to.equal(400)
      expect(await body('/time-keys?fields=lasts')).to.deep.equal(
        [null, '25:00:00', '-00:30:00', null].map((lasts) => ({ lasts }))
      )
      expect(await body(`/time-keys/paged?fields=lasts&${where('lasts', 'isAfter', '23:00:00')}`)).to.deep.equal([
        { lasts: '25:00:00' }
      ])
    })

    it('a TINYINT(1) is a number, whatever it holds later', async () => {
      expect(await body('/flags')).to.deep.equal([
        { id: 1, lost: 0 },
        { id: 2, lost: 1 }
      ])
      await app.sql.query('INSERT INTO flag VALUES (3, 2)')
      expect(await body(`/flags/paged?${where('lost', 'gte', '1')}`)).to.deep.equal([
        { id: 2, lost: 1 },
        { id: 3, lost: 2 }
      ])
    })

    it('dates of zeros and words that the server did not know are shown as they are stored, and no request makes one', async () => {
      const rows = [
        { id: 1, d: '0000-00-00', redirect: '' },
        { id: 2, d: '2026-01-02', redirect: '301' }
      ]
      const shown = (await body('/zeros?fields=id,d,redirect')) as unknown[]
      expect(shown).to.deep.equal(rows)
      const { headers } = await stack.call('/zeros/1', { token })
      const pages = await stack.call('/zeros/paged?sortColumn=id&pageSize=1&fields=d', { token })
      const cursor = String(pages.headers['x-next-cursor'])
      expect(await body(`/zeros/paged?sortColumn=id&pageSize=1&fields=d&after=${cursor}`)).to.deep.equal([
        { d: '2026-01-02' }
      ])
      for (const value of [
        { id: 3, d: '0000-00-00', redirect: '301' },
        { id: 3, redirect: '301' }
      ]) {
        const created = await stack.call('/zeros', { token, body: value })
        expect([created.status, (created.body as { code: string }).code]).to.deep.equal([400, 'body.invalid'])
      }
      const patched = await stack.call('/zeros/1', {
        token,
        method: 'PATCH',
        ifMatch: headers.etag,
        body: { redirect: '301' }
      })
      expect([patched.status, (patched.body as { d: string }).d], patched.text).to.deep.equal([200, '0000-00-00'])
    })

    for (const [name, engine] of [
      ['myisam', 'MyISAM'],
      ['aria', 'Aria'],
      ['memory', 'MEMORY']
    ] as const) {
      it(`${name}: it is only read, since its storage engine has no transactions`, async () => {
        expect((await stack.call(`/${name}-rows/1`, { token })).body).to.deep.equal({ id: 1, note: 'a' })
        expect((await stack.call(`/${name}-rows`, { token, body: { id: 2, note: 'b' } })).status).to.equal(405)
        const report = await app.read('entities/introspected.md')
        expect(report).to.include(`It is only read: ${engine}, which keeps it, has no transactions`)
      })
    }

    it('a table without transactions ends the start of an entity that writes it', async () => {
      const file = 'entities/myisam-rows.ts'
      const text = await app.read(file)
      const writing = text
        .replace("  rowVersion: 'none',\n", '')
        .replace(
          "access: { read: permission('myisam-rows:read') }",
          "access: { read: permission('myisam-rows:read'), write: permission('myisam-rows:read') }, writes: ['update']"
        )
      expect(writing).to.include("writes: ['update']")
      await app.write(file, writing)
      try {
        const checked = await app.run('check')
        expect(checked.code).to.equal(1)
        expect(`${checked.stdout}${checked.stderr}`)
          .to.include('the table myisam_row is kept by MyISAM, which has no transactions')
          .and.include('ALTER TABLE `myisam_row` ENGINE=InnoDB')
      } finally {
        await app.write(file, text)
      }
    })
  })
})
