import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { QueryTypes } from 'sequelize'
import { connect } from '../../../data-service/sql/connect.js'
import type { ColumnTypes } from '../../../schema/model/column-types.js'
import type { Introspected } from '../../../schema/introspect/record.js'
import { type DatabaseKind, eachDatabase } from '../../harness/database.js'
import { packageRoot } from '../../harness/package-root.js'
import type { Stack } from '../../stack/stack.js'
import { COLUMN_VALUES, type ValuePair } from './column-values.js'
import { IntrospectedApp } from './introspected-app.js'
import { schemaOf } from '../../../schema/kinds/kinds.js'

/** A table for each example of a column type, with rows that hand-written SQL put in. */
interface TypedTable {
  readonly table: string
  readonly example: string
  readonly outcome: string
  readonly values: readonly ValuePair[]
}

function typesOf(kind: DatabaseKind): ColumnTypes {
  const url = kind === 'sqlite' ? 'sqlite:nowhere.sqlite' : 'mysql://nobody@127.0.0.1/nothing'
  return schemaOf(connect(url)).columnTypes
}

function tablesOf(kind: DatabaseKind): TypedTable[] {
  const examples = typesOf(kind).rules.flatMap(({ examples: all, outcome }) =>
    all.map((example) => ({ example, outcome }))
  )
  return examples.map(({ example, outcome }, at) => ({
    table: `type_${String.fromCharCode(97 + Math.floor(at / 26))}${String.fromCharCode(97 + (at % 26))}_row`,
    example,
    outcome,
    values: COLUMN_VALUES[kind][example] ?? []
  }))
}

const quote = (kind: DatabaseKind, name: string): string => (kind === 'mysql' ? `\`${name}\`` : `"${name}"`)

function statementsOf(kind: DatabaseKind, { table, example, values }: TypedTable): string[] {
  const id = kind === 'mysql' ? 'id INT AUTO_INCREMENT PRIMARY KEY' : 'id INTEGER PRIMARY KEY AUTOINCREMENT'
  const version = kind === 'mysql' ? 'BINARY(8)' : 'BLOB'
  const options = kind === 'mysql' ? ' CHARACTER SET utf8mb4' : ''
  return [
    `CREATE TABLE ${table} (${id}, ${quote(kind, 'value')} ${example}, row_version ${version} NOT NULL)${options}`,
    ...values.map(
      ([literal]) =>
        `INSERT INTO ${table} (${quote(kind, 'value')}, row_version) VALUES (${literal}, x'0000000000000001')`
    )
  ]
}

const isRefused = ({ outcome }: TypedTable): boolean => outcome.startsWith('refused: ')
const wireText = (value: unknown): string => JSON.stringify(value)

eachDatabase((kind) => {
  describe(`every type of a column on ${kind}`, () => {
    const tables = tablesOf(kind)
    let app: IntrospectedApp
    let stack: Stack
    let token: string
    let state: Introspected
    const resourceOf = (table: string): string => state.tables[table]?.resource ?? `no resource of ${table}`

    before(async () => {
      app = await IntrospectedApp.make(
        kind,
        tables.flatMap((one) => statementsOf(kind, one))
      )
      const ran = await app.run('introspect')
      expect(ran.stderr).to.equal('')
      state = JSON.parse(await app.read('entities/introspected.json')) as Introspected
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

    it('has values here for each example that is served, so that nothing is left untried', () => {
      for (const one of tables) {
        expect(one.values.length > 0, one.example).to.equal(!isRefused(one))
      }
      expect(Object.keys(COLUMN_VALUES[kind]).toSorted()).to.deep.equal(
        tables
          .filter((one) => !isRefused(one))
          .map(({ example }) => example)
          .toSorted()
      )
    })

    for (const one of tables) {
      const { table, example, values } = one
      const shown = example === '' ? 'no type' : example
      if (isRefused(one)) {
        it(`${shown} is refused with the words of the table`, async () => {
          const report = await app.read('entities/introspected.md')
          const [, told = ''] = report.split(`- **${table}** `)
          expect(told.split('- **')[0])
            .to.include('- The column `value` (')
            .and.include(`is left out: ${one.outcome.slice('refused: '.length)}.`)
          expect(state.tables[table]?.columns).to.not.have.property('value')
        })
        continue
      }

      it(`${shown} shows what SQL wrote`, async () => {
        const answer = await stack.call(`/${resourceOf(table)}?fields=value`, { token })
        expect(answer.status, answer.text).to.equal(200)
        const rows = answer.body as { readonly value: unknown }[]
        expect(rows.map(({ value }) => wireText(value))).to.deep.equal(values.map(([, wire]) => wireText(wire)))
      })

      it(`${shown} stores what a request wrote, or is read-only`, async () => {
        const isReadOnly = state.tables[table]?.columns['value']?.includes('generated(') === true
        for (const [at, [literal, wire]] of values.entries()) {
          const answer = await stack.call(`/${resourceOf(table)}`, { token, body: { value: wire } })
          if (isReadOnly) {
            expect(answer.status, `${literal}: ${answer.text}`).to.equal(400)
            expect((answer.body as { readonly code: string }).code, 'is no member').to.equal('parameter.unknown')
            continue
          }
          expect(answer.status, `${literal}: ${answer.text}`).to.equal(201)
          expect(wireText((answer.body as { readonly value: unknown }).value)).to.equal(wireText(wire))
          const { id } = answer.body as { readonly id: number | string }
          expect(await isSame(table, String(id), at + 1), literal).to.equal(true)
        }
      })
    }

    /** Whether the row that a request wrote holds the same bytes, of the same type, as the one that SQL wrote. */
    async function isSame(table: string, id: string, written: number): Promise<boolean> {
      const column = quote(kind, 'value')
      const [row] = await app.sql.query<{ found: unknown }>(
        `SELECT COUNT(*) AS found FROM ${table} a JOIN ${table} b ON b.id = ${written} ` +
          `WHERE a.id = ${id} AND ${same(`a.${column}`, `b.${column}`)}`,
        { type: QueryTypes.SELECT }
      )
      return Number(row?.found) === 1
    }

    function same(one: string, other: string): string {
      if (kind === 'mysql') return `CAST(${one} AS BINARY) = CAST(${other} AS BINARY)`
      return `(${one} IS ${other} AND typeof(${one}) = typeof(${other}))`
    }
  })
})

describe('docs/column-types.md', () => {
  it('has the tables of the engines, row by row', async () => {
    const text = await readFile(join(packageRoot, 'docs/column-types.md'), 'utf8')
    for (const kind of ['mysql', 'sqlite'] as const) {
      const rows = typesOf(kind).rules.map(({ shown, outcome }) => `| ${shown} | ${outcome} |`)
      expect(text).to.include(['| declared type | in an entity file |', '|---|---|', ...rows, ''].join('\n'))
    }
  })
})
