import { expect } from 'chai'
import type { HttpContext } from '../../gateway/data/calls.js'
import { grpcDataClient } from '../../gateway/data/data-client.js'
import { NEVER } from '../../shared/transport/cancellation.js'
import { gatewayPool } from '../harness/gateway-pool.js'
import type { LogEntry } from '../stack/server-log.js'
import { describeApi } from './api-store.js'
import { type Answer, filter, ids } from './http-call.js'
import { etagOf, rowIn, send, type Write } from './writes/send.js'

/** Texts and a number that stand nowhere else, so that the log can be searched for them. */
const MARK = 'marked-value'
const MARKED_ID = 1987654321

const product = { name: `${MARK} name`, sku: `${MARK}-1`, categoryId: 1, price: '19.90', description: `${MARK} text` }

/** Literals that stand in the code itself, and so in the texts of requests. */
const OWN_LITERALS: readonly string[] = [
  // Of comparisons: by a function of SQLite, by LIKE, and one that is never true, for the optimizer.
  '1',
  "'!'",
  '0',
  // Of the type that the bounds of a price are cast to.
  '12',
  // Of the next row version, which MariaDB computes.
  '16',
  '10',
  // Seconds that the claim of a key waits for a lock.
  '2',
  // Of conditions that a transaction is open.
  "'not in its transaction'",
  "'45000'",
  "'The transaction was rolled back'",
  // Of the record of log-in attempts, and of the report on stock.
  "'[[],[]]'",
  '1000'
]

/** A text, or a number that is no part of a name. */
const LITERAL = /'[^']*'|(?<![\w`.])\d+/g

const idOf = (answer: Answer): string => String(rowIn(answer)['id'])

describeApi(
  'the log of SQL statements',
  (store) => {
    const isSql = ({ msg }: LogEntry): boolean => msg === 'sql'
    const log = (): readonly LogEntry[] => store.stack.dataService.logs()

    /** Sends a request with an id of its own, and answers the lines of its statements. They come before that of its call. */
    let count = 0
    const logged = async (
      line: string,
      write: Write = {}
    ): Promise<{ readonly answer: Answer; readonly lines: readonly LogEntry[] }> => {
      const requestId = `sql-${++count}`
      const answer = await send(store, line, { ...write, headers: { ...write.headers, 'x-request-id': requestId } })
      await store.stack.dataService.logged((one) => one['msg'] === 'call' && one['requestId'] === requestId)
      return { answer, lines: log().filter((one) => isSql(one) && one['requestId'] === requestId) }
    }

    /** The first words of each statement, with what the line says of its parameters, rows and failure. */
    const summaries = (lines: readonly LogEntry[]): unknown[] =>
      lines.map(({ sql, parameters, rows, code, durationMs, level, name }) => {
        expect([level, name]).to.deep.equal(['info', 'data-service'])
        expect(durationMs).to.be.a('number').and.be.greaterThan(0)
        const [words = 'no text'] = /^(?:SET STATEMENT \S+ = \d+ FOR )?\w+(?: INTO)?(?: `?\w+)?/.exec(String(sql)) ?? []
        return [words, parameters, rows, code].filter((one) => one !== undefined)
      })

    const INSERTED = {
      sqlite: ['text*2', 'integer*2', 'null*2', 'integer', 'null*2', 'text', 'null*2', 'bytes'],
      mysql: ['text*4', 'null*2', 'text', 'null*2', 'text', 'null*2', 'bytes']
    }[store.kind]

    it('A create is logged with its transaction: the text of each statement, the types of its parameters, its rows.', async () => {
      const { answer, lines } = await logged('clerk POST /products', { body: product, key: `${MARK}-key` })
      expect(answer.status, answer.text).to.equal(201)
      const key = ['INSERT INTO ur_idempotency_keys', ['bytes*2', 'integer*2'], 1]
      const row = ['INSERT INTO `products', INSERTED, 1]
      const kept = ['UPDATE ur_idempotency_keys', ['bytes*2'], 1]
      expect(summaries(lines)).to.have.deep.members(
        {
          sqlite: [
            ['BEGIN IMMEDIATE'],
            key,
            row,
            ['INSERT INTO ur_audit_entries', ['text*6', 'bytes', 'text'], 1],
            ['SELECT `products', ['integer'], 1],
            kept,
            ['COMMIT']
          ],
          // INSERT answers the row, and what commits is sent before the answer of the last change.
          mysql: [
            ['START TRANSACTION'],
            ['SET STATEMENT innodb_lock_wait_timeout = 2 FOR INSERT INTO ur_idempotency_keys', ...key.slice(1)],
            row,
            ['INSERT INTO ur_audit_entries', ['text*5', 'bytes', 'text'], 1],
            kept,
            ['BEGIN NOT']
          ]
        }[store.kind]
      )
    })

    it('A page is logged with a text that has a placeholder in the place of each value.', async () => {
      const { answer, lines } = await logged(
        `clerk GET /products/paged?pageSize=2&fields=id,name&${filter('description', 'startsWith', MARK)}`
      )
      expect(ids(answer)).to.have.length(1)
      // On a server the total is a part of the same statement.
      const parameters = { sqlite: ['text', 'integer*2'], mysql: ['text*2', 'integer*2'] }[store.kind]
      expect(summaries(lines)).to.deep.equal([['SELECT `products', parameters, 1]])
      expect(lines[0]?.['sql']).to.match(/^SELECT `products`\.`id` AS `c0`.* WHERE .*\?.* LIMIT \?, \?$/s)
    })

    it('A batch of changes reads the rows of a resource with a history in one statement before it changes them.', async () => {
      const made = await Promise.all(
        ['c', 'a', 'b'].map((one) =>
          send(store, 'clerk POST /products', { body: { ...product, sku: `${MARK}-${one}` } })
        )
      )
      const body = made.map(rowIn).map(({ id, rowVersion }) => ({ id, rowVersion, weightGrams: 7 }))
      const sorted = body.toSorted((one, other) => Number(one.id) - Number(other.id))
      const headers = { 'content-type': 'application/merge-patch+json' }
      const { answer, lines } = await logged('clerk PATCH /products/batch', { body: sorted, headers })
      expect(answer.status, answer.text).to.equal(200)
      const selects = summaries(lines).filter((one) => JSON.stringify(one).startsWith('["SELECT `products'))
      // Each row is also read after its change, and once more for the answer.
      const read = ['SELECT `products', ['integer'], 1]
      expect(selects).to.deep.equal([['SELECT `products', ['integer*4'], 3], ...Array.from({ length: 6 }, () => read)])
    })

    it('A statement that fails is logged with the code of the driver, and without its message.', async () => {
      const { answer, lines } = await logged('clerk POST /products', { body: product })
      store.problem(answer, { status: 409, code: 'conflict' })
      expect(summaries(lines)).to.have.deep.members(
        {
          sqlite: [['BEGIN IMMEDIATE'], ['INSERT INTO `products', INSERTED, 'SQLITE_CONSTRAINT'], ['ROLLBACK']],
          // The entry of the audit trail is sent together with the row.
          mysql: [
            ['START TRANSACTION'],
            ['INSERT INTO `products', INSERTED, 'ER_DUP_ENTRY'],
            ['INSERT INTO ur_audit_entries', ['text*5', 'bytes', 'text'], 1],
            ['ROLLBACK']
          ]
        }[store.kind]
      )
      expect(JSON.stringify(lines)).to.not.match(/duplicate entry|constraint failed/i)
    })

    it('An export is logged, on a server with the transaction of its snapshot.', async () => {
      const { answer, lines } = await logged('clerk GET /categories/export')
      expect(answer.status).to.equal(200)
      const rows = ['SELECT `categories', ['integer'], 5]
      expect(summaries(lines)).to.deep.equal(
        {
          // A thread begins and ends the snapshot of a file, and has no log.
          sqlite: [rows],
          mysql: [['SET SESSION'], ['START TRANSACTION'], rows]
        }[store.kind]
      )
    })

    it('A statement that reads rows for several calls is logged once, with the ids of all their requests.', async () => {
      // Past the gateway: what is asked for in one tick goes in one message, and is one statement.
      const pool = await gatewayPool(store.stack.dataAddress)
      const data = grpcDataClient(pool)
      const get = (requestId: string, id: number): Promise<unknown> => {
        const context: HttpContext = { authorization: undefined, requestId, traceparent: undefined, signal: NEVER }
        return data.get(context, { resource: 'products', id: String(id) })
      }
      // Until the stream is open calls go one by one.
      while (!pool.states().some(({ hasStream }) => hasStream)) await get('before', 1)
      const requestIds = ['gathered-1', 'gathered-2', 'gathered-3', 'gathered-4']
      await Promise.all(requestIds.map((requestId, n) => get(requestId, n + 1)))
      pool.close()
      const of = await store.stack.dataService.logged((one) => isSql(one) && Array.isArray(one['requestIds']))
      expect(of).to.not.have.property('requestId')
      expect(of['requestIds']).to.deep.equal(requestIds)
      expect(summaries([of])).to.deep.equal([['SELECT `products', ['integer*4'], 4]])
    })

    it('A statement of the engine itself is logged without the id of a request.', async () => {
      const recorded = /^SELECT `name` FROM `?ur_schema_migrations\b/
      const outbox = /^SELECT .* FROM ur_outbox\b/
      const texts = {
        // The first write opens a connection, and so does a request on a server.
        sqlite: [recorded, outbox, /^PRAGMA journal_mode = WAL$/],
        mysql: [recorded, outbox, /^SET NAMES utf8mb4 /, /^SHOW VARIABLES /, /^SELECT VERSION\(\)/]
      }[store.kind]
      for (const text of texts) {
        await store.stack.dataService.logged((one) => isSql(one) && text.test(String(one['sql'])))
        const lines = log().filter((one) => isSql(one) && text.test(String(one['sql'])))
        for (const line of lines) expect(line, String(text)).to.not.have.any.keys('requestId', 'requestIds')
      }
    })

    it('No value of a request or of a row is in any line, and no literal in a text but those of the code.', async () => {
      const create = (sku: string): Promise<Answer> =>
        send(store, 'clerk POST /products', { body: { ...product, sku: `${MARK}-${sku}` } })
      const [patched, acted] = [await create('patched'), await create('acted')]
      const paged = 'clerk GET /products/paged?fields=id,name'
      const first = await send(store, `${paged}&pageSize=1&sortColumn=name,sku`)
      const sent: readonly (readonly [status: number, line: string, write?: Write])[] = [
        [404, `clerk GET /products/${MARKED_ID}`],
        [200, 'clerk GET /products'],
        [200, `clerk GET /products/lookup?search=${MARK}`],
        [200, `clerk GET /products/export?${filter('sku', 'ne', MARK)}&${filter('id', 'lt', String(MARKED_ID))}`],
        [200, `clerk GET /products/paged?search=${MARK}+name&includeChildren=true&includeFKs=true`],
        [200, `${paged}&${filter('sku', 'in', `${MARK}-1,${MARK}-2,${MARK}-3`)}&sortColumn=price&sortDirection=desc`],
        [200, `${paged}&${filter('price', 'between', `1.5,${MARKED_ID}`)}`],
        [200, `${paged}&sortColumn=name,sku&after=${String(first.headers['x-next-cursor'])}`],
        [
          200,
          `clerk PATCH /products/${idOf(patched)}`,
          {
            body: { description: `${MARK} again`, barcode: MARKED_ID },
            ifMatch: etagOf(patched),
            headers: { 'content-type': 'application/merge-patch+json' }
          }
        ],
        [200, `clerk PUT /products/${idOf(acted)}/unpublish`, { ifMatch: etagOf(acted) }],
        [201, 'clerk POST /products/batch', { body: [{ ...product, sku: `${MARK}-batch` }], key: `${MARK}-batch` }],
        [204, `clerk DELETE /products/${idOf(patched)}`, { ifMatch: '*' }],
        [404, `clerk DELETE /products/${MARKED_ID}`, { ifMatch: '*' }],
        [200, 'admin GET /reports/stock'],
        [401, '- POST /auth/login', { body: { email: `${MARK}@example.com`, password: `${MARK}-password` } }]
      ]
      const literals = new Set<string>()
      for (const [status, line, write] of sent) {
        const { answer, lines } = await logged(line, write)
        expect(answer.status, `${line} ${answer.text.slice(0, 300)}`).to.equal(status)
        expect(lines, line).to.not.be.empty
        for (const { sql } of lines) for (const [literal] of String(sql).matchAll(LITERAL)) literals.add(literal)
      }
      expect(OWN_LITERALS).to.include.members([...literals])
      // Other lines of a refused call tell its reason in the words of the driver, and the row.
      const lines = log().filter(({ msg }) => msg !== 'call refused')
      for (const value of [MARK, String(MARKED_ID)]) {
        expect(lines.filter((line) => JSON.stringify(line).includes(value))).to.deep.equal([])
      }
    })
  },
  { never: ['cuts'], env: () => ({ LOG_SQL: 'true' }) }
)
