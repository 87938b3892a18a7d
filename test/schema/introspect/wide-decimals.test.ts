import { expect } from 'chai'
import { compareDecimals } from '../../../data-service/entity/fields/numbers.js'
import { type DatabaseKind, eachDatabase } from '../../harness/database.js'
import { isSoak } from '../../harness/in-soak.js'
import { filter } from '../../public/testing.js'
import type { Stack } from '../../stack/stack.js'
import { IntrospectedApp } from './introspected-app.js'

// Decimals of more than 18 digits, such as every SUM of a view is.

/** Of the table, in which SQLite has whole numbers of cents. */
const STORED: Record<DatabaseKind, readonly string[]> = {
  mysql: [
    '-999999999999999999999999999999.99',
    '-9007199254740993.01',
    '-0.01',
    '0.00',
    '0.10',
    '9007199254740993.00',
    '9007199254740993.01',
    '92233720368547758.08',
    '999999999999999999999999999999.98',
    '999999999999999999999999999999.99'
  ],
  sqlite: [
    '-92233720368547758.08',
    '-92233720368547758.07',
    '-0.01',
    '0.00',
    '0.10',
    '90071992547409.93',
    '90071992547409.94',
    '92233720368547758.06',
    '92233720368547758.07'
  ]
}

const OPERANDS = [
  '-1000000000000000000000000000000000000000',
  '-92233720368547758.09',
  '-92233720368547758.08',
  '-0.011',
  '0',
  '0.1',
  '0.105',
  '90071992547409.935',
  '9007199254740993.01',
  '92233720368547758.07',
  '92233720368547758.08',
  '999999999999999999999999999999.99',
  '999999999999999999999999999999.991',
  '1000000000000000000000000000000'
]

const OPERATORS: Readonly<Record<string, (order: number) => boolean>> = {
  equals: (order) => order === 0,
  'not equals': (order) => order !== 0,
  'greater than': (order) => order > 0,
  'greater than or equal': (order) => order >= 0,
  'less than': (order) => order < 0,
  'less than or equal': (order) => order <= 0,
  in: (order) => order === 0
}

const TABLES: Record<DatabaseKind, readonly string[]> = {
  mysql: [
    'CREATE TABLE ledger (id INT AUTO_INCREMENT PRIMARY KEY, amount DECIMAL(32,2), row_version BINARY(8) NOT NULL)',
    'CREATE VIEW ledger_sum AS SELECT id, SUM(CAST(amount AS DECIMAL(32,2))) AS total FROM ledger GROUP BY id'
  ],
  sqlite: [
    'CREATE TABLE ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, amount INTEGER, row_version BLOB NOT NULL)',
    'CREATE VIEW ledger_sum AS SELECT id, SUM(amount) AS total FROM ledger GROUP BY id'
  ]
}

const CONFIG = `
import { column, decimal, defineApplication, defineEntity, everyone, int, optional, permission, readOnly } from 'uniform-rest'
const ledger = defineEntity({
  name: 'ledger', description: 'Amounts.', fields: { id: readOnly(int()), amount: optional(decimal(32, 2)) },
  label: 'id', filterable: ['id', 'amount'], sortable: ['id', 'amount'],
  access: { read: everyone, write: permission('ledger:write') }, writes: ['create', 'update']
})
const sums = defineEntity({
  name: 'sums', table: 'ledger_sum', description: 'Sums.', rowVersion: 'none',
  fields: { id: readOnly(int()), amount: column('total', optional(decimal(54, 2))) },
  label: 'id', filterable: ['id', 'amount'], sortable: ['id', 'amount'], access: { read: everyone }
})
export default defineApplication({
  entities: [ledger, sums], roles: { Admin: ['ledger:write'] }, settings: { OWNER_BYPASS_ROLE: 'Admin' }, migrations: []
})
`

interface Row {
  readonly id: number
  readonly amount: string
}

eachDatabase((kind) => {
  describe(`decimals of more than 18 digits on ${kind}`, () => {
    const stored = STORED[kind]
    let app: IntrospectedApp
    let stack: Stack
    let token = ''
    before(async () => {
      const literal = (value: string): string =>
        kind === 'mysql' ? value : value.replace('.', '').replace(/^(-?)0+(?=\d)/, '$1')
      const rows = stored.toReversed().map((value) => `(${literal(value)}, x'0000000000000001')`)
      const insert = `INSERT INTO ledger (amount, row_version) VALUES ${rows.join(', ')}`
      app = await IntrospectedApp.make(kind, [...TABLES[kind], insert])
      await app.write('uniform-rest.config.mjs', CONFIG)
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

    for (const resource of ['ledger', 'sums']) {
      it(`${resource} shows, sorts and exports every digit`, async () => {
        const sorted = await rowsOf(`/${resource}/paged?pageSize=50&sortColumn=amount`)
        expect(sorted.map(({ amount }) => amount)).to.deep.equal(stored)
        for (const [direction, expected] of [
          ['asc', stored],
          ['desc', stored.toReversed()]
        ] as const) {
          const walked: string[] = []
          for (let cursor = ''; ;) {
            const page = await stack.call(
              `/${resource}/paged?pageSize=2&sortColumn=amount&sortDirection=${direction}${cursor}`,
              { token }
            )
            walked.push(...(page.body as Row[]).map(({ amount }) => amount))
            const next = page.headers['x-next-cursor']
            if (next === undefined) break
            cursor = `&after=${String(next)}`
          }
          expect(walked).to.deep.equal(expected)
        }
        const csv = await stack.call(`/${resource}/export?bom=false&fields=amount`, { token })
        expect(csv.text).to.equal(['amount', ...stored.toReversed(), ''].join('\r\n'))
      })

      it(`${resource} is filtered by every digit`, async () => {
        const all = await rowsOf(`/${resource}`)
        for (const [at, [operator, keeps]] of Object.entries(OPERATORS).entries()) {
          // `npm run soak` asks each operator for all of them.
          for (const operand of OPERANDS.filter((_, number) => isSoak || number % 3 === at % 3)) {
            const found = await rowsOf(`/${resource}/paged?pageSize=50&${filter('amount', operator, operand)}`)
            const expected = all.filter(({ amount }) => keeps(compareDecimals(amount, operand)))
            expect(found, `${operator} ${operand}`).to.deep.equal(expected)
          }
        }
      })
    }

    it('stores every digit that a request sends, and rounds and cuts none', async () => {
      for (const amount of [stored[0], stored.at(-1)]) {
        const created = await stack.call('/ledger', { token, body: { amount } })
        expect(created.status, created.text).to.equal(201)
        expect(created.body).to.include({ amount })
      }
      const tooLong = ['0.001', '1000000000000000000000000000000']
      if (kind === 'sqlite') tooLong.push('92233720368547758.08')
      for (const amount of tooLong) {
        const rejected = await stack.call('/ledger', { token, body: { amount } })
        expect(rejected.status, rejected.text).to.equal(400)
        expect(rejected.body).to.include({ code: 'body.invalid' })
      }
    })

    it('shows no value of more digits than the field has, and says so', async () => {
      if (kind === 'sqlite') return
      await app.sql.query('ALTER TABLE ledger MODIFY amount DECIMAL(40,2)')
      await app.sql.query("INSERT INTO ledger (id, amount, row_version) VALUES (999, 1e30, x'0000000000000001')")
      const answer = await stack.call('/ledger/999', { token })
      expect([answer.status, answer.headers['x-unshown-values']]).to.deep.equal([200, '999; property=amount'])
      expect(stack.logs().some((one) => JSON.stringify(one).includes('ledger.amount'))).to.equal(true)
      expect((await stack.call('/ledger/1', { token })).status).to.equal(200)
    })
  })
})
