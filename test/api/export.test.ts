import { expect } from 'chai'
import { describeApi } from './api-store.js'
import { parseCsv, values } from '../stack/csv.js'
import { PRODUCTS } from './fixture.js'
import { filter } from './http-call.js'

const BOM = '\uFEFF'
const COLUMNS = [
  'id',
  'name',
  'sku',
  'categoryId',
  'price',
  'weightGrams',
  'barcode',
  'isActive',
  'releasedAt',
  'externalId',
  'description'
]

describeApi(
  'GET /{resource}/export',
  (store) => {
    it('sends every column-backed property of every row, types as on the wire', async () => {
      const answer = await store.call('/products/export?escapeFormulas=false')
      expect(answer.status).to.equal(200)
      expect(answer.text.startsWith(BOM)).to.equal(true)
      const [header, ...rows] = parseCsv(answer.text.slice(1))
      const shown = values(header).filter((name) => name !== 'displayName')
      expect(shown).to.deep.equal(COLUMNS)
      const places = COLUMNS.map((name) => values(header).indexOf(name))
      expect(rows.map((row) => places.map((at) => row[at]?.value))).to.deep.equal(
        PRODUCTS.map((row) => COLUMNS.map((name) => (row[name] === null ? '' : String(row[name]))))
      )
    })

    it('announces itself in its headers', async () => {
      const { headers } = await store.call('/products/export')
      expect(headers['content-type']).to.equal('text/csv; charset=utf-8')
      expect(headers['content-disposition']).to.match(/^attachment; filename="?products-\d{8}T\d{6}Z\.csv"?$/)
      expect(headers).to.include({
        'x-export-row-limit': '100000',
        'cache-control': 'no-store',
        'api-supported-versions': '1.0'
      })
    })

    it('tells null from the empty string', async () => {
      const answer = await store.call(`/products/export?fields=id,description&${filter('id', 'in', '2,3,4')}`)
      expect(answer.text).to.equal(`${BOM}id,description\r\n2,\r\n3,""\r\n4,x\r\n`)
    })

    it('quotes commas, quotes and line breaks', async () => {
      const answer = await store.call(`/products/export?bom=false&fields=name,id&${filter('id', 'in', '8,12')}`)
      expect(answer.text).to.equal('name,id\r\n"two\r\nlines, ""quoted""",8\r\n"a,b",12\r\n')
    })

    it('escapes formulas in cells of strings and in no others', async () => {
      const query = `fields=name,description,barcode&${filter('id', 'in', '3,6,8,9,11')}&bom=false`
      const escaped = parseCsv((await store.call(`/products/export?${query}`)).text).map(values)
      expect(escaped).to.deep.equal([
        ['name', 'description', 'barcode'],
        ['100% cotton', '', '-9223372036854775808'],
        ["'=SUM(A1)", "'+1", ''],
        ['two\r\nlines, "quoted"', "'@home", ''],
        ["'-dash", "'\tindented", ''],
        ["O'Brien", '', '-1']
      ])
      const plain = parseCsv((await store.call(`/products/export?${query}&escapeFormulas=false`)).text).map(values)
      expect(plain.slice(2).map(([name]) => name)).to.deep.equal([
        '=SUM(A1)',
        'two\r\nlines, "quoted"',
        '-dash',
        "O'Brien"
      ])
    })

    const QUERIES: readonly (readonly [query: string, ids: readonly string[]])[] = [
      ['sortColumn=price&sortDirection=desc', ['5', '10', '11', '1', '12', '4', '3', '8', '7', '6', '9', '2']],
      ['sortColumn=barcode', ['2', '6', '8', '9', '10', '12', '3', '11', '5', '7', '1', '4']],
      ['sortColumn=barcode&sortDirection=desc', ['4', '1', '7', '5', '11', '3', '12', '10', '9', '8', '6', '2']],
      [filter('name', 'contains', 'hammer'), ['1', '2', '10']],
      [filter('id', 'gt', '100'), []]
    ]
    for (const [query, ids] of QUERIES) {
      it(`follows ${query}`, async () => {
        const answer = await store.call(`/products/export?fields=id&bom=false&${query}`)
        expect(parseCsv(answer.text).flatMap(values)).to.deep.equal(['id', ...ids])
      })
    }

    it('exports the joined name and sorts by it', async () => {
      const answer = await store.call('/categories/export?bom=false&sortColumn=parentName&sortDirection=desc')
      const [header, ...rows] = parseCsv(answer.text)
      const [id, parent] = ['id', 'parentName'].map((name) => values(header).indexOf(name))
      expect(rows.map((row) => row[id ?? -1]?.value)).to.deep.equal(['3', '2', '5', '4', '1'])
      if (parent !== -1) expect(rows[0]?.[parent ?? -1]?.value).to.equal('Tools')
    })

    it('is scoped as the list is', async () => {
      const ids = async (account: string): Promise<string[]> => {
        const answer = await store.as(account, '/orders/export?fields=id&bom=false')
        return parseCsv(answer.text).flatMap(values)
      }
      expect(await ids('ada')).to.deep.equal(['id', '1', '3'])
      expect(await ids('ben')).to.deep.equal(['id', '2', '5'])
      expect(await ids('admin')).to.deep.equal(['id', '1', '2', '3', '4', '5'])
      store.problem(await store.as('nobody', '/orders/export'), { status: 403, code: 'ownership.denied' })
      store.problem(await store.as('ada', '/customers/export'), { status: 403, code: 'capability.denied' })
      store.problem(await store.call('/orders/export'), { status: 401, code: 'auth.required' })
    })

    const REFUSED: readonly (readonly [query: string, code: string, parameter: string])[] = [
      ['includeChildren=true', 'parameter.unknown', 'includeChildren'],
      ['includeChildren=false', 'parameter.unknown', 'includeChildren'],
      ['fields=rowVersion', 'fields.invalid', 'fields'],
      ['fields=variants', 'fields.invalid', 'fields'],
      ['fields=nope', 'fields.invalid', 'fields'],
      ['sortColumn=nope', 'sort.property.unknown', 'sortColumn'],
      ['sortDirection=up', 'sort.direction.invalid', 'sortDirection'],
      [filter('id', 'eq', 'x'), 'filter.value.invalid', 'filters[id].value'],
      ['bom=no', 'request.malformed', 'bom'],
      ['escapeFormulas=true&escapeFormulas=false', 'request.malformed', 'escapeFormulas']
    ]
    for (const [query, code, parameter] of REFUSED) {
      it(`answers a problem document to ${query}`, async () => {
        const answer = await store.call(`/products/export?${query}`)
        store.problem(answer, { status: 400, code, violations: [{ code, parameter }] })
        expect(answer.headers).not.to.have.any.keys('content-disposition', 'x-export-row-limit')
      })
    }

    it('judges its options after who may, and together with what the data service finds', async () => {
      store.problem(await store.call('/orders/export?bom=no'), { status: 401, code: 'auth.required' })
      store.problem(await store.call('/products/export?bom=no&sortColumn=nope'), {
        status: 400,
        code: 'sort.property.unknown',
        violations: [
          { code: 'sort.property.unknown', parameter: 'sortColumn' },
          { code: 'request.malformed', parameter: 'bom' }
        ]
      })
    })
  },
  { also: ['cuts'] }
)

describeApi(
  'GET /{resource}/export at its limit',
  (store) => {
    it('leaves no marker when the rows are exactly the limit', async () => {
      const answer = await store.call(`/products/export?fields=id,name,price&bom=false&${filter('id', 'lte', '11')}`)
      expect(answer.headers['x-export-row-limit']).to.equal('11')
      const rows = parseCsv(answer.text)
      expect(rows).to.have.length(12)
      expect(values(rows.at(-1))).to.deep.equal(['11', "O'Brien", '19.99'])
    })

    it('ends a truncated file with the marker, padded to the columns', async () => {
      const answer = await store.call('/products/export?fields=id,name,price&bom=false')
      const rows = parseCsv(answer.text)
      expect(rows).to.have.length(13)
      expect(values(rows.at(-2))[0]).to.equal('11')
      expect(values(rows.at(-1))).to.deep.equal(['# export truncated at 11 rows', '', ''])
    })
  },
  { on: 'sqlite', env: () => ({ MAX_EXPORT_ROWS: '11' }) }
)
