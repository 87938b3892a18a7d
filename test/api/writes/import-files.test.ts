import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import { describeApi, type ApiStore } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { PRODUCTS } from '../fixture.js'
import { countsIn, CSV, csvOf, importOf, lines, many, NDJSON, product, stored } from './import-requests.js'
import { send } from './send.js'
import { changesNothing, count, select } from './stored.js'

/** Sends the head and the beginning of a file, and breaks the connection off once the condition holds. */
async function sendBeginning(
  store: ApiStore,
  { key, body, onError = 'skip' }: { readonly key: string; readonly body: string; readonly onError?: string },
  condition: () => Promise<boolean>
): Promise<void> {
  const token = await store.stack.token('clerk@example.com')
  const sent = request(`${store.url}/products/import?onError=${onError}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': NDJSON,
      'idempotency-key': key,
      'content-length': body.length + 1000
    }
  })
  const closed = new Promise((resolve) => sent.once('error', resolve))
  sent.write(body)
  while (!(await condition())) await new Promise(setImmediate)
  sent.destroy()
  await closed
}

describeApi(
  'files to import',
  (store) => {
    const HEADER = 'name,sku,categoryId,price'
    const GOOD = `${HEADER}\r\nN,FILE-0,1,1.50\r\n`
    const REFUSED: readonly (readonly [
      what: string,
      file: string | Buffer,
      problem: { readonly status: number; readonly code: string; readonly says: string },
      type?: string
    ])[] = [
      ['a name with a line break', 'name,sku\rN,S\r', { status: 400, code: 'body.malformed', says: 'line break' }],
      ['a header row of more than 64 KiB', 'x'.repeat(70_000), { status: 400, code: 'body.malformed', says: '65536' }],
      [
        'many blank lines',
        `${HEADER}\n${'\n'.repeat(200_000)}`,
        { status: 400, code: 'body.malformed', says: 'blank lines' }
      ],
      [
        'many blank lines of NDJSON',
        '\n'.repeat(100_000),
        { status: 400, code: 'body.malformed', says: 'blank lines' },
        NDJSON
      ],
      ['no header row', '', { status: 400, code: 'body.malformed', says: 'header row' }],
      ['a name twice', 'sku,name,sku\r\n', { status: 400, code: 'body.malformed', says: 'twice' }],
      ['an empty name', 'sku,,name\r\n', { status: 400, code: 'body.malformed', says: 'empty name' }],
      [
        'a row of too few cells',
        `${GOOD}N,FILE-1\r\n`,
        { status: 400, code: 'body.malformed', says: 'Row 2 has 2 cells' }
      ],
      ['a quote within a cell', `${GOOD}N"x,FILE-1,1,1\r\n`, { status: 400, code: 'body.malformed', says: 'Row 2 ' }],
      [
        'a quote that is not closed',
        `${GOOD}"N,FILE-1,1,1\r\n`,
        { status: 400, code: 'body.malformed', says: 'Row 2 ' }
      ],
      [
        'bytes that are not UTF-8',
        Buffer.concat([Buffer.from(`${GOOD}N`), Buffer.from([0xe4]), Buffer.from(',FILE-1,1,1\r\n')]),
        { status: 400, code: 'body.malformed', says: 'Row 2 is not UTF-8' }
      ],
      [
        'the mark of an export that was cut',
        `${GOOD}# export truncated at 1 rows,,,\r\n`,
        { status: 400, code: 'body.malformed', says: 'Row 2 says that the file is not whole' }
      ],
      [
        'a line that is no JSON',
        `${lines(many(2, 'FILE'))}{"name":\n`,
        { status: 400, code: 'body.malformed', says: 'Row 3' },
        NDJSON
      ],
      [
        'a line that is not UTF-8',
        Buffer.concat([Buffer.from(lines(many(1, 'FILE'))), Buffer.from([0x22, 0xe4, 0x22])]),
        { status: 400, code: 'body.malformed', says: 'Row 2' },
        NDJSON
      ],
      ['a line that is no object', '[1]\n', { status: 400, code: 'body.invalid', says: 'Row 1' }, NDJSON],
      [
        'a line of more than 1 MiB',
        `{"name":"${'x'.repeat(1024 * 1024)}"}`,
        { status: 413, code: 'body.too-large', says: 'Row 1' },
        NDJSON
      ],
      [
        'a cell of more than 1 MiB',
        `${GOOD}${'x'.repeat(1024 * 1024 + 2)}`,
        { status: 413, code: 'body.too-large', says: 'Row 2' }
      ],
      [
        'a row of commas',
        `${GOOD}${','.repeat(1024 * 1024)}`,
        { status: 400, code: 'body.malformed', says: 'Row 2 has more than 4096 cells' }
      ],
      ['another type', '{}', { status: 415, code: 'media-type.unsupported', says: 'text/csv' }, 'application/json'],
      [
        'another charset',
        GOOD,
        { status: 415, code: 'media-type.unsupported', says: 'UTF-8' },
        'text/csv; charset=latin1'
      ]
    ]
    for (const [what, file, problem, type = CSV] of REFUSED) {
      it(`with ${what} are refused, and nothing of them stays`, async () => {
        store.problem(await changesNothing(store, () => importOf(store, file, { type })), problem)
      })
    }

    it('need a key, and no dry run, a caller, and one who may create', async () => {
      const none = await changesNothing(store, () => importOf(store, GOOD, { key: '' }))
      store.problem(none, { status: 400, code: 'idempotency.key.missing' })
      const dry = await changesNothing(store, () => importOf(store, GOOD, { headers: { prefer: 'tx=rollback' } }))
      store.problem(dry, { status: 400, code: 'request.malformed', says: 'cannot be tried' })
      const word = await changesNothing(store, () => importOf(store, GOOD, { query: '?onError=never' }))
      store.problem(word, { status: 400, code: 'request.malformed', says: 'onError' })
      const file = { body: GOOD, key: 'who', headers: { 'content-type': CSV } }
      const anonymous = await changesNothing(store, () => send(store, '- POST /products/import', file))
      store.problem(anonymous, { status: 401, code: 'auth.required' })
      const ada = await changesNothing(store, () => send(store, 'ada POST /products/import', file))
      store.problem(ada, { status: 403, code: 'capability.denied' })
      const none2 = await changesNothing(store, () => send(store, 'clerk POST /audit-entries/import', file))
      store.problem(none2, { status: 405, code: 'method.not-allowed' })
      const read = await store.as('clerk', '/products/import')
      store.problem(read, { status: 400, code: 'id.invalid' })
    })

    it('name no owner but the caller, row by row', async () => {
      const order = (more: object = {}): object => ({ lines: [{ productId: 1, quantity: 1 }], ...more })
      const answer = await send(store, 'ada POST /orders/import?onError=skip', {
        body: lines([order(), order({ customerId: 2 }), order({ customerId: 1 })]),
        key: 'owners',
        headers: { 'content-type': NDJSON }
      })
      const { errors, ...counts } = countsIn(answer)
      expect(counts).to.deep.equal({ rows: 3, created: 2, failed: 1, replayed: 0 })
      expect(errors.map(({ row, code }) => [row, code])).to.deep.equal([[2, 'ownership.denied']])
    })

    it('name what was ignored of them once; strict handling refuses such rows', async () => {
      const file = `${HEADER},colour,id\r\nN,IGN-0,1,1,red,7\r\nN,IGN-1,1,1,,8`
      const lenient = await importOf(store, file, { query: '?x=1' })
      expect(countsIn(lenient)).to.include({ created: 2 })
      expect(String(lenient.headers['x-ignored-parameters']).split(',')).to.have.members([
        'x',
        'body.colour',
        'body.id'
      ])
      const strict = await changesNothing(store, () =>
        importOf(store, file, { headers: { prefer: 'handling=strict' } })
      )
      store.problem(strict, { status: 400, code: 'parameter.unknown', says: 'Row 1: colour' })
    })

    it('without rows are no rows', async () => {
      expect(countsIn(await importOf(store, HEADER))).to.deep.equal({
        rows: 0,
        created: 0,
        failed: 0,
        replayed: 0,
        errors: []
      })
      expect(countsIn(await importOf(store, '\n \r\n', { type: NDJSON }))).to.include({ rows: 0 })
    })

    it('of which the beginning was sent go on where they ended, and write no row twice', async () => {
      const rows = lines(many(700, 'CUT'))
      const isBegun = async (): Promise<boolean> => (await stored(store, 'CUT')) > 0
      await sendBeginning(store, { key: 'cut', body: rows.slice(0, rows.length - 100) }, isBegun)
      expect(await stored(store, 'CUT')).to.equal(500)
      const whole = await importOf(store, rows, { type: NDJSON, query: '?onError=skip', key: 'cut' })
      expect(countsIn(whole)).to.deep.equal({ rows: 700, created: 200, failed: 0, replayed: 500, errors: [] })
      expect(await stored(store, 'CUT')).to.equal(700)
    })

    it('of which the beginning was sent, and nothing may stay if a row fails, are kept encrypted, and deleted however they end', async () => {
      const keys = (): Promise<number> => count(store, 'ur_idempotency_keys')
      const rows = lines(many(700, 'KEPT'))
      const before = await keys()
      // Nobody waits for the deletion.
      const ended = async (answers: number): Promise<void> => {
        while ((await keys()) !== before + answers) await delay(10)
      }
      const beginning = { key: 'kept', body: rows.slice(0, rows.length - 100), onError: 'stop' }
      let kept: Readonly<Record<string, unknown>> = {}
      await sendBeginning(store, beginning, async () => {
        const found = await select(
          store,
          'SELECT answer, expires_at - created_at AS kept FROM ur_idempotency_keys ORDER BY created_at DESC'
        )
        kept = found[0] ?? {}
        return found.length > before
      })
      const answer = Buffer.from(kept['answer'] as Uint8Array) // a blob
      expect(answer.length).to.be.greaterThan(10_000)
      expect(answer.includes('KEPT')).to.equal(false)
      // The token of the upload lives for a quarter of an hour, and was made before.
      expect(Number(kept['kept'])).to.be.within(1, 15 * 60_000)
      await ended(0)
      const wrong = await importOf(store, `${rows}${lines([product('KEPT-9')])}`, { type: NDJSON, key: 'kept' })
      store.problem(wrong, { status: 409, code: 'conflict' })
      await ended(0)
      const cut = await importOf(store, `${rows}{"name"\n`, { type: NDJSON, key: 'kept' })
      store.problem(cut, { status: 400, code: 'body.malformed', says: 'Row 701' })
      await ended(0)
      for (const replayed of [0, 700]) {
        expect(countsIn(await importOf(store, rows, { type: NDJSON, key: 'kept' }))).to.include({ rows: 700, replayed })
        await ended(1)
      }
    })

    it('with a fault in a later part keep what came before it, and the mended file goes on there', async () => {
      const rows = lines(many(510, 'MEND'))
      const wrong = await importOf(store, `${rows}{"name"\n`, { type: NDJSON, query: '?onError=skip', key: 'mend' })
      store.problem(wrong, { status: 400, code: 'body.malformed', says: 'Row 511' })
      expect(await stored(store, 'MEND')).to.equal(500)
      const mended = await importOf(store, rows, { type: NDJSON, query: '?onError=skip', key: 'mend' })
      expect(countsIn(mended)).to.include({ rows: 510, created: 10, replayed: 500 })
    })

    it('with the same rows at one moment create each of them once', async () => {
      const file = csvOf(300, 'TWIN')
      // A data service with much to do refuses an import for now, and the same request goes on where it was.
      const sendOn = async (query: string, index: number): Promise<Answer> => {
        for (;;) {
          const answer = await importOf(store, file, { query, key: `twin-${index}` })
          if (answer.status !== 503) return answer
        }
      }
      const answers = await Promise.all(['?by=sku&onError=skip', '?by=sku', '?by=sku&onError=skip'].map(sendOn))
      const counts = answers.map(countsIn)
      for (const { created, existing = 0, failed, replayed } of counts) {
        expect([created + existing + replayed, failed]).to.deep.equal([300, 0])
      }
      expect(counts.reduce((sum, { created, replayed }) => sum + created + replayed, 0)).to.equal(300)
      expect(await stored(store, 'TWIN')).to.equal(300)
    })

    it('that were exported create the same rows again', async () => {
      // Those of the tests above are too many, and all alike.
      await select(store, "DELETE FROM products WHERE name = 'N' OR name LIKE 'N %'")
      const fields = 'name,sku,categoryId,price,weightGrams,barcode,isActive,releasedAt,externalId,description'
      const { bytes } = await store.as('clerk', `/products/export?fields=${fields}&escapeFormulas=false`)
      const columns =
        'name, sku, category_id, price, weight_grams, barcode, is_active, released_at, external_id, description'
      const all = (): Promise<unknown> => select(store, `SELECT ${columns} FROM products ORDER BY sku`)
      const before = await all()
      // Rows that nothing refers to are created anew.
      await select(store, "UPDATE products SET sku = CONCAT('OLD-', id)").catch(() =>
        select(store, "UPDATE products SET sku = 'OLD-' || id")
      )
      const again = countsIn(await importOf(store, bytes))
      expect(again).to.include({ created: again.rows, failed: 0 })
      expect(again.rows, 'those of the fixture').to.be.at.least(PRODUCTS.length)
      const now = (await all()) as readonly { readonly sku: unknown }[]
      expect(now.filter(({ sku }) => !String(sku).startsWith('OLD-'))).to.deep.equal(before)
      expect(await count(store, 'products')).to.equal(2 * again.rows)
    })
  },
  { on: 'mysql' }
)
