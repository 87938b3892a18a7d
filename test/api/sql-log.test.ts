import { expect } from 'chai'
import type { LogEntry } from '../stack/server-log.js'
import { describeApi } from './api-store.js'
import { type Answer, filter } from './http-call.js'
import { send, type Write } from './writes/send.js'

/** In every value that the tests send, and in no text of a statement. */
const MARK = 'a4mark7'
const ID = '1987654321'

describeApi(
  'the log of SQL statements',
  (store) => {
    let count = 0
    /** Sends a request, and answers the lines of its statements when the line of its call is there. */
    const logged = async (
      line: string,
      write: Write = {}
    ): Promise<{ readonly answer: Answer; readonly lines: readonly LogEntry[] }> => {
      const requestId = `sql-${++count}`
      const answer = await send(store, line, { ...write, headers: { ...write.headers, 'x-request-id': requestId } })
      const { dataService } = store.stack
      await dataService.logged(({ msg, requestId: id }) => msg === 'call' && id === requestId)
      return { answer, lines: dataService.logs().filter((one) => isSql(one) && one['requestId'] === requestId) }
    }

    it('A page is logged with the text, the types of the parameters, the rows and the time of each statement.', async () => {
      const { answer } = await logged(`clerk GET /products/paged?pageSize=2&${filter('weightGrams', 'gte', '100')}`)
      expect(answer.status).to.equal(200)
      const { dataService } = store.stack
      const select = (of: string): Promise<LogEntry> =>
        dataService.logged((one) => isSql(one) && one['requestId'] === 'sql-1' && String(one['sql']).startsWith(of))
      // One row more than the page shows that there is a next page.
      const rows = await select('SELECT `products`.`id`')
      expect(rows).to.include({ level: 'info', rows: 3 }).and.not.to.have.property('code')
      // MariaDB and MySQL count within the statement of the page.
      const total = store.kind === 'sqlite' ? await select('SELECT COUNT(*)') : undefined
      if (total !== undefined) expect(total).to.deep.include({ level: 'info', rows: 1, parameters: ['integer'] })
      expect(rows['parameters']).to.deep.equal([store.kind === 'sqlite' ? 'integer*3' : 'integer*4'])
      for (const { sql, durationMs } of [rows, ...(total === undefined ? [] : [total])]) {
        expect(String(sql)).to.contain('`weight_grams` >= ?')
        expect(durationMs).to.be.a('number').greaterThan(0)
      }
    })

    it('A write is logged with its transaction, and the statements of the service itself name no request.', async () => {
      const product = { name: `${MARK} of a body`, sku: `${MARK}-1`, categoryId: 1, price: '19.90', isActive: true }
      const { answer, lines } = await logged('clerk POST /products', { body: product, key: `${MARK}-key` })
      expect(answer.status, answer.text).to.equal(201)
      const texts = lines.map(({ sql }) => String(sql))
      expect(
        texts.some((text) => /^(?:BEGIN IMMEDIATE|START TRANSACTION)$/.test(text)),
        'its begin'
      ).to.equal(true)
      expect(
        texts.some((text) => /\bCOMMIT\b/.test(text)),
        'its end'
      ).to.equal(true)
      const insert = lines.find(({ sql }) => /INSERT INTO .?products/.test(String(sql)))
      expect(insert?.['rows']).to.equal(1)
      const own = store.stack.dataService.logs().filter((one) => isSql(one) && one['requestId'] === undefined)
      expect(own).to.not.have.length(0)
    })

    it('A statement that fails is logged with the code of the driver, and without its message.', async () => {
      const product = { name: 'again', sku: `${MARK}-1`, categoryId: 1, price: '19.90', isActive: true }
      const { answer, lines } = await logged('clerk POST /products', { body: product })
      expect(answer.status, answer.text).to.equal(409)
      const failed = lines.filter(({ code }) => code !== undefined)
      expect(failed).to.have.length(1)
      expect(failed[0]?.['code']).to.match(/^(ER_DUP_ENTRY|SQLITE_CONSTRAINT\w*)$/)
    })

    it('No value of a request or of a row is in any line.', async () => {
      await logged(`clerk GET /products/paged?${filter('name', 'contains', MARK)}`)
      await logged(`clerk GET /products/paged?${filter('sku', 'in', `${MARK}-1,${MARK}-2`)}`)
      await logged(`clerk GET /products/${ID}`)
      await logged(`clerk GET /products/export?${filter('name', 'contains', MARK)}`)
      await logged('ada GET /orders/paged?includeChildren=true')
      const lines = store.stack.dataService.logs().filter(isSql)
      expect(lines.length).to.be.greaterThan(20)
      for (const line of lines) {
        const text = JSON.stringify(line)
        expect(text).to.not.contain(MARK)
        expect(text).to.not.contain(ID)
      }
    })
  },
  { env: () => ({ LOG_SQL: 'true' }) }
)

function isSql({ msg }: LogEntry): boolean {
  return msg === 'sql'
}
