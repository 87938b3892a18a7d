import { expect } from 'chai'
import { type DatabaseKind, eachDatabase } from '../../harness/database.js'
import type { Stack } from '../../stack/stack.js'
import { IntrospectedApp } from './introspected-app.js'

// Values that a column can hold and that are none of its field's type: they came after the introspection, or a person knew
// better. Reads show null for each, and writes that read it are 422.

interface OddColumn {
  readonly type: string
  /** The word of entity files. */
  readonly word: string
  /** A value of the type, and those that are none. */
  readonly good: readonly [literal: string, wire: unknown]
  readonly odd: readonly string[]
}

const COLUMNS: Record<DatabaseKind, Readonly<Record<string, OddColumn>>> = {
  // Dates of zeros, times beyond a day and the like are values of their types there, and answered as they are stored.
  mysql: {
    document: { type: 'LONGTEXT', word: 'json()', good: ['\'{"a":1}\'', { a: 1 }], odd: ["'{'", "''"] }
  },
  sqlite: {
    flag: { type: 'BOOLEAN', word: 'bool()', good: ['7', true], odd: ["'yes'"] },
    count: {
      type: 'INTEGER',
      word: 'int()',
      good: ['5', 5],
      odd: ["'five'", '1.5', "x'00'", '9007199254740993']
    },
    big: {
      type: 'INTEGER',
      word: 'long()',
      good: ['9007199254740993', '9007199254740993'],
      odd: ["'five'", '1.5', '9e30']
    },
    amount: {
      type: 'INTEGER',
      word: 'decimal(4, 2)',
      good: ['199', '1.99'],
      odd: ['1.5', '10000', "'1.99'"]
    },
    title: { type: 'TEXT', word: 'text(20)', good: ["'a'", 'a'], odd: ["x'0001'"] },
    ratio: { type: 'REAL', word: 'double()', good: ['0.5', 0.5], odd: ['9e999', '-9e999', "'half'"] },
    bytes: { type: 'BLOB', word: 'binary(20)', good: ["x'00'", 'AA=='], odd: ["'text'", '5'] },
    day: {
      type: 'TEXT',
      word: 'date()',
      good: ["'2024-02-29'", '2024-02-29'],
      odd: ["'yesterday'", "'2024-00-10'", "'2024-02-30'"]
    },
    moment: {
      type: 'TEXT',
      word: 'dateTime()',
      good: ["'2024-02-29T00:00:00.000Z'", '2024-02-29T00:00:00.000Z'],
      odd: ["'2024-02-29 00:00:00'", "'2024-02-30T00:00:00.000Z'", "'2024-13-01T00:00:00.000Z'"]
    },
    clock: {
      type: 'TEXT',
      word: 'time()',
      good: ["'23:59:59'", '23:59:59'],
      odd: ["'24:00:00'", "'9:00'"]
    },
    document: { type: 'TEXT', word: 'json()', good: ["'[1]'", [1]], odd: ["'{'", "x'00'"] }
  }
}

function configOf(columns: Readonly<Record<string, OddColumn>>): string {
  const entities = Object.entries(columns).map(
    ([name, { word }]) =>
      `defineEntity({ name: '${name.toLowerCase()}s', table: 'odd_${name}', description: '${name}.', rowVersion: 'none', ` +
      `fields: { id: u.readOnly(u.int()), value: u.optional(u.${word}) }, label: 'id', filterable: ['id', 'value'], ` +
      `sortable: ['id'], access: { read: u.everyone } })`
  )
  return `import * as u from 'uniform-rest'
const { defineEntity } = u
const entities = [${[...entities, WRITTEN].join(', ')}]
export default u.defineApplication({ entities, migrations: [], roles: { Writer: ['letters:write'] } })
`
}

/** Rows that requests write, and whose documents came from elsewhere. */
const WRITTEN = `defineEntity({ name: 'letters', table: 'odd_letter', description: 'Letters.', rowVersion: 'content',
  fields: { id: u.onCreate(u.int()), note: u.text(20), code: u.unique(u.int()), value: u.optional(u.json()) },
  label: 'id', filterable: ['id', 'code'],
  sortable: ['id'], writes: ['create', 'update', 'delete'], access: { read: u.everyone, write: u.permission('letters:write') },
  actions: (action) => ({ mark: action({ description: 'Marks it.', when: {}, effect: { set: { note: 'marked' } } }),
    judge: action({ description: 'Judges it.', when: {}, change: ({ root }) => ({ set: { note: root.note } }) }) }) })`

eachDatabase((kind) => {
  describe(`stored values that are none of their type on ${kind}`, () => {
    const columns = COLUMNS[kind]
    let app: IntrospectedApp
    let stack: Stack
    let token = ''
    before(async () => {
      const id = kind === 'mysql' ? 'INT AUTO_INCREMENT PRIMARY KEY' : 'INTEGER PRIMARY KEY AUTOINCREMENT'
      const tables = Object.entries(columns).flatMap(([name, { type, good, odd }]) => [
        `CREATE TABLE odd_${name} (id ${id}, value ${type})`,
        ...[good[0], ...odd, good[0]].map((literal) =>
          kind === 'mysql'
            ? `INSERT IGNORE INTO odd_${name} (value) VALUES (${literal})`
            : `INSERT INTO odd_${name} (value) VALUES (${literal})`
        )
      ])
      const loose = kind === 'mysql' ? ["SET SESSION sql_mode = ''"] : []
      const letters = [
        `CREATE TABLE odd_letter (id INT NOT NULL PRIMARY KEY, note VARCHAR(20) NOT NULL, code INT NOT NULL UNIQUE, value ${kind === 'mysql' ? 'LONGTEXT' : 'TEXT'})`,
        `INSERT INTO odd_letter VALUES (1, 'good', 11, '{"a":1}'), (2, 'odd', 12, '{'), (3, 'odd', 13, '{')`
      ]
      app = await IntrospectedApp.make(kind, letters)
      // One connection, since the mode is that of a session.
      await app.sql.transaction(async (transaction) => {
        for (const statement of [...loose, ...tables]) await app.sql.query(statement, { transaction })
      })
      await app.write('uniform-rest.config.mjs', configOf(columns))
      const migrated = await app.run('migrate', '--among-tables-of', app.name)
      expect(migrated.stderr).to.equal('')
      stack = await app.start()
      token = stack.token({ sub: 'a', role: 'Writer' })
    })
    after(async () => {
      await stack?.stop()
      await app?.dispose()
    })

    for (const [name, { good, odd }] of Object.entries(columns)) {
      it(`${name}: such a value is null with a line of the log, and all rows are served`, async () => {
        const resource = `/${name.toLowerCase()}s`
        for (const id of [1, odd.length + 2]) {
          expect((await stack.call(`${resource}/${id}`, { token })).body).to.deep.include({ id, value: good[1] })
        }
        for (const [at, literal] of odd.entries()) {
          const answer = await stack.call(`${resource}/${at + 2}`, { token })
          expect(answer.body, literal).to.deep.equal({ id: at + 2, value: null })
          expect(answer.headers['x-unshown-values']).to.equal(`${at + 2}; property=value`)
          // The line comes after the answer.
          await stack.dataService.logged((entry) => JSON.stringify(entry).includes(`odd_${name}.value`))
        }
        const list = await stack.call(resource, { token })
        expect(list.body).to.have.lengthOf(odd.length + 2)
        const named = odd.map((_, at) => `${at + 2}; property=value`).join(', ')
        expect(list.headers['x-unshown-values']).to.equal(named)
      })
    }

    it('a write that would read such a value is refused as 422, writes nothing, and the log names the value', async () => {
      const path = '/letters/2'
      const { headers, body } = await stack.call(`${path}?fields=id,note,rowVersion`, { token })
      const ifMatch = headers.etag
      const batchItem = { id: 2, note: 'new', rowVersion: (body as { readonly rowVersion: string }).rowVersion }
      const good = await stack.call('/letters/1', { token })
      const goodItem = { ...(good.body as object), note: 'new' }
      const refused = {
        patch: await stack.call(path, { token, method: 'PATCH', ifMatch, body: { note: 'new' } }),
        action: await stack.call(`${path}/mark`, { token, method: 'PUT', ifMatch, body: {} }),
        'dry run': await stack.call(`${path}?dryRun=true`, { token, method: 'PATCH', ifMatch, body: { note: 'new' } })
      }
      for (const [what, answer] of Object.entries(refused)) {
        expect([answer.status, (answer.body as { readonly code: string }).code], what).to.deep.equal([
          422,
          'state.invalid'
        ])
        expect(answer.text, what).to.not.include('odd_letter').and.not.include('{"a"')
      }
      await stack.dataService.logged((entry) =>
        JSON.stringify(entry).includes('odd_letter.value of the row with the id 2')
      )
      const batch = await stack.call('/letters/batch', { token, method: 'PATCH', body: [goodItem, batchItem] })
      const { errors } = batch.body as { readonly errors: readonly object[] }
      expect([batch.status, errors.length]).to.deep.equal([422, 1])
      expect(errors[0]).to.include({ code: 'state.invalid', pointer: '/1' })
      const [rows] = await app.sql.query('SELECT id, note FROM odd_letter ORDER BY id')
      expect(rows).to.deep.equal([
        { id: 1, note: 'good' },
        { id: 2, note: 'odd' },
        { id: 3, note: 'odd' }
      ])
    })

    it('a stale write over such a value is 412, whatever would read the row, and writes nothing', async () => {
      const { body, headers } = await stack.call('/letters/1', { token })
      const ifMatch = headers.etag
      const { rowVersion } = body as { readonly rowVersion: string }
      const note = { note: 'new' }
      const refused = {
        patch: await stack.call('/letters/2', { token, method: 'PATCH', ifMatch, body: note }),
        'patch of JSON': await stack.call('/letters/2', { token, method: 'PATCH', ifMatch, body: { value: { b: 1 } } }),
        put: await stack.call('/letters/2', { token, method: 'PUT', ifMatch, body: { ...note, code: 12, value: [1] } }),
        action: await stack.call('/letters/2/mark', { token, method: 'PUT', ifMatch, body: {} }),
        'action that looks at the row': await stack.call('/letters/2/judge', {
          token,
          method: 'PUT',
          ifMatch,
          body: {}
        }),
        delete: await stack.call('/letters/2', { token, method: 'DELETE', ifMatch }),
        'dry run': await stack.call('/letters/2?dryRun=true', { token, method: 'PATCH', ifMatch, body: note })
      }
      for (const [what, answer] of Object.entries(refused)) {
        expect([answer.status, (answer.body as { readonly code: string }).code], what).to.deep.equal([412, 'conflict'])
      }
      const items = [3, 2].map((id) => ({ id, ...note, rowVersion }))
      const batch = await stack.call('/letters/batch', { token, method: 'PATCH', body: items })
      expect([batch.status, batch.body], batch.text).to.have.deep.nested.property('[1].code', 'conflict')
      const [rows] = await app.sql.query("SELECT id FROM odd_letter WHERE note = 'odd' AND value = '{' ORDER BY id")
      expect(rows).to.deep.equal([{ id: 2 }, { id: 3 }])
    })

    for (const onError of ['skip', 'stop']) {
      it(`an import with by and onError=${onError} takes a row with such a value for one that exists`, async () => {
        const id = onError === 'skip' ? 21 : 22
        const rows = [
          [
            { id: 2, code: 12, note: 'again' },
            { created: 0, existing: 1 }
          ],
          [
            { id, code: id, note: 'more' },
            { created: 1, existing: 0 }
          ]
        ] as const
        for (const [body, counts] of rows) {
          const answer = await stack.call(`/letters/import?by=code&onError=${onError}`, {
            token,
            method: 'POST',
            headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': `${onError}-${body.id}` },
            body
          })
          expect(answer.status, answer.text).to.equal(200)
          expect(answer.body).to.include({ rows: 1, failed: 0, ...counts })
        }
      })
    }

    it('a write that puts a value of the type in its place corrects the row, and a delete removes it', async () => {
      const tag = async (id: number) =>
        (await stack.call(`/letters/${id}?fields=id,note,rowVersion`, { token })).headers.etag
      const put = await stack.call('/letters/2', {
        token,
        method: 'PUT',
        ifMatch: await tag(2),
        body: { code: 12, note: 'new', value: [1] }
      })
      expect([put.status, put.body]).to.have.deep.nested.property('[1].value', [1])
      expect((await stack.call('/letters/3', { token, method: 'DELETE', ifMatch: await tag(3) })).status).to.equal(204)
    })
  })
})
