import { expect } from 'chai'
import { type DatabaseKind, eachDatabase } from '../../harness/database.js'
import { isSoak } from '../../harness/in-soak.js'
import { filter } from '../../public/testing.js'
import type { Stack } from '../../stack/stack.js'
import { IntrospectedApp } from './introspected-app.js'

// Texts that a server compares with nothing as it is: literals and expressions of views, and character sets that do not
// have every character.

const STATEMENTS: Record<DatabaseKind, readonly string[]> = {
  mysql: [
    `CREATE TABLE person (id INT PRIMARY KEY, plain VARCHAR(20) CHARACTER SET ascii, western VARCHAR(20) CHARACTER SET latin1,
     western_german VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_german2_ci, japanese TEXT CHARACTER SET sjis,
     three_bytes VARCHAR(20) CHARACTER SET utf8mb3, wide VARCHAR(20) CHARACTER SET utf16, any_text VARCHAR(20), INDEX (western))
     CHARACTER SET utf8mb4`,
    `CREATE VIEW person_list AS SELECT p.*, 'staff' AS kind, IF(id > 3, 'active', '') AS notes,
     CONCAT(western, ' ', id) AS joined, CONCAT('no ', id) AS numbered, CONCAT(plain, any_text) AS mixed,
     CASE WHEN id = 1 THEN NULL WHEN id = 2 THEN 'two' ELSE 'other' END AS chosen, UPPER('east') AS area,
     COALESCE(western, 'none') AS known, CAST(id AS CHAR) AS digits, _latin1'old' AS old_literal, DATABASE() AS place,
     (SELECT GROUP_CONCAT(q.western ORDER BY q.id) FROM person q WHERE q.id <= p.id) AS listed,
     (SELECT GROUP_CONCAT('x') FROM person q WHERE q.id <= p.id) AS marks FROM person p`,
    'CREATE TABLE code_row (code CHAR(10) CHARACTER SET ascii PRIMARY KEY, title VARCHAR(20) CHARACTER SET latin1, row_version BINARY(8) NOT NULL)'
  ],
  sqlite: [
    `CREATE TABLE person (id INTEGER PRIMARY KEY, plain TEXT, western TEXT, western_german TEXT, japanese TEXT,
     three_bytes TEXT, wide TEXT, any_text TEXT)`,
    `CREATE VIEW person_list AS SELECT p.*, 'staff' AS kind, iif(id > 3, 'active', '') AS notes,
     western || ' ' || id AS joined, 'no ' || id AS numbered, plain || any_text AS mixed,
     CASE WHEN id = 1 THEN NULL WHEN id = 2 THEN 'two' ELSE 'other' END AS chosen, UPPER('east') AS area,
     COALESCE(western, 'none') AS known, CAST(id AS TEXT) AS digits, 'old' AS old_literal, 'main' AS place,
     (SELECT GROUP_CONCAT(q.western) FROM person q WHERE q.id <= p.id) AS listed,
     (SELECT GROUP_CONCAT('x') FROM person q WHERE q.id <= p.id) AS marks FROM person p`,
    'CREATE TABLE code_row (code TEXT PRIMARY KEY NOT NULL, title TEXT, row_version BLOB NOT NULL)'
  ]
}

const ROWS = [
  "(1, 'b', 'ü', 'ü', 'a', 'ü', 'ü', '日本')",
  "(2, '?', '?', '?', '?', '?', '?', '?')",
  '(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL)',
  "(4, 'B', 'B', 'Bü', '日本', '日本', '😀', '😀')",
  "(5, '', '', '', '', '', '', '')",
  "(6, 'a?b', 'ÜBER', 'über', 'a', 'a日', 'a😀', 'ü')"
]

const TEXTS = [
  'plain',
  'western',
  'westernGerman',
  'japanese',
  'threeBytes',
  'wide',
  'anyText',
  'kind',
  'notes',
  'joined',
  'numbered',
  'mixed',
  'chosen',
  'area',
  'known',
  'digits',
  'oldLiteral',
  'place',
  'listed',
  'marks'
]
const TABLE_TEXTS = TEXTS.slice(0, 7)

const config = (): string => `
import { defineApplication, defineEntity, everyone, longText, onCreate, optional, permission, text, int, readOnly } from 'uniform-rest'
const person = (name, table, texts) =>
  defineEntity({
    name, table, description: name, rowVersion: 'none',
    fields: { id: readOnly(int()), ...Object.fromEntries(texts.map((one) => [one, optional(longText(65535))])) },
    label: 'id', filterable: ['id', ...texts], sortable: ['id', ...texts], searchable: texts, access: { read: everyone }
  })
const codes = defineEntity({
  name: 'codes', table: 'code_row', description: 'Codes.', fields: { id: { ...onCreate(text(10)), column: 'code' }, title: optional(text(20)) },
  label: 'id', filterable: ['id', 'title'], sortable: ['id'], access: { read: everyone, write: permission('codes:write') }, writes: ['create', 'update', 'delete']
})
export default defineApplication({
  entities: [person('people', 'person', ${JSON.stringify(TABLE_TEXTS)}), person('person-list', 'person_list', ${JSON.stringify(TEXTS)}), codes],
  roles: { Admin: ['codes:write'] },
  settings: { OWNER_BYPASS_ROLE: 'Admin' },
  migrations: []
})
`

/** What the operators mean, for texts of which no two are equal in one collation and different in another. */
const OPERATORS: Readonly<Record<string, (value: string | null, operand: string) => boolean>> = {
  equals: (value, operand) => value === operand,
  'not equals': (value, operand) => value !== operand,
  contains: (value, operand) => value?.includes(operand) === true,
  'not contains': (value, operand) => value?.includes(operand) !== true,
  'starts with': (value, operand) => value?.startsWith(operand) === true,
  'ends with': (value, operand) => value?.endsWith(operand) === true,
  in: (value, operand) => value === operand || value === 'b',
  'is empty': (value) => value === null || value === '',
  'is not empty': (value) => value !== null && value !== ''
}

const OPERANDS = ['ü', '日本', '😀', '?', 'active', 'b']

type Row = Readonly<Record<string, string | null>>

eachDatabase((kind) => {
  describe(`texts of views and of other character sets on ${kind}`, () => {
    let app: IntrospectedApp
    let stack: Stack
    let token = ''
    before(async () => {
      app = await IntrospectedApp.make(kind, [...STATEMENTS[kind], `INSERT INTO person VALUES ${ROWS.join(', ')}`])
      await app.write('uniform-rest.config.mjs', config())
      const migrated = await app.run('migrate', '--among-tables-of', app.name)
      expect(migrated.stderr).to.equal('')
      stack = await app.start()
      token = stack.token({ sub: 'a', role: 'Admin' })
    })
    after(async () => {
      await stack?.stop()
      await app?.dispose()
    })

    const rowsOf = async (target: string): Promise<Row[]> => {
      const answer = await stack.call(target, { token })
      expect(answer.status, `${target}: ${answer.text}`).to.equal(200)
      return answer.body as Row[]
    }
    const folded = (value: string | null): string | null => value?.toLowerCase() ?? null

    for (const [resource, texts] of [
      ['people', TABLE_TEXTS],
      ['person-list', TEXTS]
    ] as const) {
      it(`${resource} are filtered by every text, whatever its character set`, async () => {
        const all = await rowsOf(`/${resource}`)
        expect(all.length).to.equal(ROWS.length)
        for (const property of texts) {
          const every = Object.keys(OPERATORS).flatMap((operator) =>
            (operator.startsWith('is') ? [''] : OPERANDS).map((operand) => ({ operator, operand }))
          )
          // `npm run soak` asks every text all of them.
          const questions = every.filter((_, at) => isSoak || at % 6 === texts.indexOf(property) % 6)
          const answers = await Promise.all(
            questions.map(({ operator, operand }) => {
              const sent = operator === 'in' ? `b,${operand}` : operand
              return rowsOf(`/${resource}/paged?pageSize=50&${filter(property, operator, sent)}`)
            })
          )
          for (const [at, { operator, operand }] of questions.entries()) {
            const expected = all.filter((row) => OPERATORS[operator]?.(folded(row[property] ?? null), operand) === true)
            const found = answers[at]?.map(({ id }) => id)
            expect(found, `${property} ${operator} ${operand}`).to.deep.equal(expected.map(({ id }) => id))
          }
        }
        for (const word of ['日本', '😀', '?', 'ü', 'zz']) {
          const found = await rowsOf(`/${resource}/paged?pageSize=50&search=${encodeURIComponent(word)}`)
          const expected = all.filter((row) => texts.some((one) => folded(row[one] ?? null)?.includes(word) === true))
          expect(
            found.map(({ id }) => id),
            `search ${word}`
          ).to.deep.equal(expected.map(({ id }) => id))
        }
      })

      it(`${resource} are walked by cursors in the order of every text`, async () => {
        for (const [at, property] of texts.entries()) {
          const directions = ['asc', 'desc']
          for (const direction of isSoak ? directions : directions.slice(at % 2).slice(0, 1)) {
            const target = `/${resource}/paged?sortColumn=${property}&sortDirection=${direction}`
            const whole = (await rowsOf(`${target}&pageSize=50`)).map(({ id }) => id)
            const walked: unknown[] = []
            for (let cursor = ''; ;) {
              const page = await stack.call(`${target}&pageSize=2${cursor}`, { token })
              expect(page.status, `${target}: ${page.text}`).to.equal(200)
              walked.push(...(page.body as Row[]).map(({ id }) => id))
              const next = page.headers['x-next-cursor']
              if (next === undefined) break
              cursor = `&after=${String(next)}`
            }
            expect(walked, `${property} ${direction}`).to.deep.equal(whole)
            expect(whole.length).to.equal(ROWS.length)
          }
        }
      })
    }

    it('a key in a character set without the letter finds no row, and is no row to write', async () => {
      const created = await stack.call('/codes', { token, body: { id: 'a?', title: 'ü' } })
      expect(created.status, created.text).to.equal(201)
      expect((await stack.call('/codes/a%3F', { token })).status).to.equal(200)
      for (const id of ['aü', '日本', 'a😀']) {
        const path = `/codes/${encodeURIComponent(id)}`
        expect((await stack.call(path, { token })).status, id).to.equal(404)
        const etag = created.headers.etag
        const changed = await stack.call(path, { token, method: 'PUT', ifMatch: etag, body: { title: 'x' } })
        expect(changed.status, changed.text).to.equal(404)
        expect((await stack.call(path, { token, method: 'DELETE' })).status).to.equal(404)
      }
    })

    it('a text that the column cannot hold is no text of it', async () => {
      if (kind === 'sqlite') return
      for (const [body, name] of [
        [{ id: 'ü' }, 'id'],
        [{ id: 'b', title: 'a日' }, 'title']
      ] as const) {
        const answer = await stack.call('/codes', { token, body })
        expect(answer.status, answer.text).to.equal(400)
        expect(answer.body).to.include({ code: 'body.invalid' })
        expect(answer.text).to.include(`${name} has a character`)
      }
    })
  })
})
