import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'chai'
import application from '../../../examples/store/uniform-rest.config.js'
import { type Message, TypedClient } from '../../harness/typed-client.js'
import { GrpcCaller, isFailure } from '../../stack/grpc-caller.js'
import { describeApi } from '../api-store.js'
import { countsIn, csvOf, importOf, lines, many, NDJSON, product, stored } from './import-requests.js'
import { send } from './send.js'
import { changesNothing, count, select } from './stored.js'

describeApi('import', (store) => {
  it('creates the rows of a CSV file as creates of the same bodies would', async () => {
    const file = [
      '\uFEFFname,sku,categoryId,price,weightGrams,barcode,isActive,releasedAt,externalId,description',
      '"Jug ""ä"", large",CSV-1,1,19.90,12,9007199254740993,FALSE,2026-01-31T08:00:00+01:00,0A1B2C3D-0000-4000-8000-000000000001,"two',
      'lines"',
      '=1+1,CSV-2,2,0.10,,,true,,,""',
      "'quoted,CSV-3,1,1,,,true,,,"
    ].join('\r\n')
    const answer = await importOf(store, file)
    expect(countsIn(answer)).to.deep.equal({ rows: 3, created: 3, failed: 0, replayed: 0, errors: [] })
    expect(answer.headers).to.include({
      'content-type': 'application/json; charset=utf-8',
      'cache-control': 'no-store'
    })
    const rows = await select(
      store,
      "SELECT name, sku, weight_grams, barcode, is_active, released_at, external_id, description FROM products WHERE sku LIKE 'CSV-%' ORDER BY sku"
    )
    expect(rows.map(({ name }) => name)).to.deep.equal(['Jug "ä", large', '=1+1', "'quoted"])
    expect(rows.map((row) => (row['weight_grams'] === null ? null : Number(row['weight_grams'])))).to.deep.equal([
      12,
      null,
      null
    ])
    expect(rows.map((row) => String(row['barcode']))).to.deep.equal(['9007199254740993', 'null', 'null'])
    expect(rows.map((row) => Number(row['is_active']))).to.deep.equal([0, 1, 1])
    expect(rows.map(({ description }) => description)).to.deep.equal(['two\r\nlines', '', null])
    const entries =
      "ur_audit_entries WHERE resource = 'products' AND action = 'create' AND row_id IN (SELECT id FROM products WHERE sku LIKE 'CSV-%')"
    expect(await count(store, entries)).to.equal(3)
  })

  it('creates the rows of NDJSON, whatever ends its lines, with their digits and their children', async () => {
    const file = `${JSON.stringify(product('ND-1', { price: 7.25 }))}\r\n\n  \n${JSON.stringify(product('ND-2'))}`
    expect(countsIn(await importOf(store, file, { type: NDJSON }))).to.include({ rows: 2, created: 2 })
    const [first] = await select(store, "SELECT price FROM products WHERE sku = 'ND-1'")
    expect(['7.25', '725']).to.include(String(first?.['price']))
    const before = await count(store, 'order_lines')
    const order = {
      lines: [
        { productId: 1, quantity: 2 },
        { productId: 2, quantity: 1 }
      ]
    }
    const orders = await send(store, 'ada POST /orders/import', {
      body: lines([order, order]),
      key: 'orders',
      headers: { 'content-type': NDJSON }
    })
    expect(countsIn(orders)).to.include({ rows: 2, created: 2 })
    expect(await count(store, 'order_lines')).to.equal(before + 4)
  })

  it('takes nothing of a file with a wrong row, names the row, and leaves the key to the mended file', async () => {
    const rows = [...many(3, 'STOP'), product('STOP-3', { price: '-1', name: '' }), product('STOP-4', { price: 'x' })]
    const wrong = await changesNothing(store, () => importOf(store, lines(rows), { type: NDJSON, key: 'stop' }))
    const { errors = [] } = store.problem(wrong, { status: 400, code: 'body.invalid', says: 'Row 4' })
    expect(errors.map((one) => 'pointer' in one && one.pointer)).to.have.members(['/3/price', '/3/name', '/4/price'])
    const taken = await changesNothing(store, () =>
      importOf(store, lines([...many(2, 'STOP'), product('HM-001')]), { type: NDJSON, key: 'stop' })
    )
    store.problem(taken, { status: 409, code: 'conflict' })
    expect(taken.text).to.include('/2')
    expect(countsIn(await importOf(store, lines(many(3, 'STOP')), { type: NDJSON, key: 'stop' }))).to.include({
      created: 3
    })
  })

  it('takes nothing of a file of several parts of which the last row is wrong', async () => {
    const before = await count(store, 'products')
    const wrong = await importOf(store, lines([...many(520, 'PARTS'), product('PARTS-5')]), {
      type: NDJSON,
      key: 'parts'
    })
    store.problem(wrong, { status: 409, code: 'conflict' })
    expect(wrong.text).to.include('/520')
    expect(await count(store, 'products')).to.equal(before)
    const mended = lines(many(521, 'PARTS'))
    expect(countsIn(await importOf(store, mended, { type: NDJSON, key: 'parts' }))).to.include({
      rows: 521,
      created: 521
    })
    const again = await importOf(store, mended, { type: NDJSON, key: 'parts' })
    expect(countsIn(again)).to.include({ rows: 521, created: 0, replayed: 521 })
    expect(again.headers['idempotent-replayed']).to.equal('true')
    expect(await stored(store, 'PARTS')).to.equal(521)
    const other = await importOf(store, lines(many(520, 'PARTS')), { type: NDJSON, key: 'parts' })
    store.problem(other, { status: 422, code: 'idempotency.key.reused' })
    // Nobody waits for the deletion of the parts.
    while ((await count(store, 'ur_idempotency_keys WHERE LENGTH(answer) > 10000')) > 0) await delay(10)
  })

  it('is taken part by part from a caller over gRPC, and no row beyond the most of its kind', async () => {
    const grpc = new GrpcCaller(store.stack.dataAddress)
    const token = await store.stack.token('clerk@example.com')
    const part = async (onError: string, firstRow: number): Promise<unknown> => {
      const rows = [0, 1].map((n) => Buffer.from(JSON.stringify(product(`RPC-${onError}-${firstRow + n}`))))
      const request = { resource: 'products', rows, firstRow, onError, idempotencyKey: `rpc-${onError}-${firstRow}` }
      const answer = await grpc.unary('Import', request, { token })
      if (!isFailure(answer)) return (answer as { readonly created: number }).created
      return [answer.details.reason, answer.details.violations.map(({ field }) => field)]
    }
    try {
      for (const [onError, most] of [
        ['stop', 10_000],
        ['skip', 1_000_000]
      ] as const) {
        expect(await part(onError, most - 1), onError).to.deep.equal(['body.invalid', [`body:/${most}`]])
        expect(await part(onError, most), onError).to.deep.equal(['body.invalid', [`body:/${most}`]])
      }
      expect(await part('skip', 999_998)).to.equal(2)
      expect(await count(store, "products WHERE sku LIKE 'RPC-%'")).to.equal(2)
    } finally {
      grpc.close()
    }
  })

  it('is taken part by part in typed messages, and a part that is sent again writes no row twice', async () => {
    const products = new TypedClient(application, 'ProductService', store.stack.dataAddress)
    const token = await store.stack.token('clerk@example.com')
    const row = (n: number): Message => ({ name: 'x', sku: `TYPED-${n}`, category_id: 1, price: '1.00' })
    const rows = "products WHERE sku LIKE 'TYPED-%'"
    try {
      const file = { on_error: 'ON_ERROR_STOP', idempotency_key: 'typed' }
      const first = { ...file, products: [row(1), row(2)], more: true }
      const { continuation, ...kept } = await products.call('ImportProducts', first, token)
      expect(kept['created'] ?? 0).to.equal(0)
      expect(await count(store, rows)).to.equal(0)
      const last = { ...file, products: [row(3)], first_row: 2, continuation }
      expect(await products.call('ImportProducts', last, token)).to.include({ created: 3 })
      const again = await products.call('ImportProducts', last, token)
      expect([again['created'] ?? 0, again['created_before'], again['replayed']]).to.deep.equal([0, 3, true])
      expect(await count(store, rows)).to.equal(3)
      const skipping = {
        products: [row(3), row(4), { ...row(5), price: '-1' }],
        on_error: 'ON_ERROR_SKIP',
        by: 'BY_SKU',
        idempotency_key: 'typed-skip'
      }
      const skipped = await products.call('ImportProducts', skipping, token)
      expect(skipped).to.include({ created: 1, existing: 1, failed: 1 })
      expect(skipped).to.have.nested.property('errors[0]').that.includes({ row: 3, pointer: '/price' })
      expect((await products.failure('ImportProducts', { products: [row(6)] }, token)).reason).to.equal(
        'idempotency.key.missing'
      )
      const nobody = await store.stack.token('ada@example.com')
      expect((await products.failure('ImportProducts', skipping, nobody)).reason).to.equal('capability.denied')
      expect(await count(store, rows)).to.equal(4)
    } finally {
      products.close()
    }
  })

  it('skips wrong rows, and tells of each of them', async () => {
    const rows = many(520, 'SKIP').map((row, index) =>
      index === 0 || index === 250
        ? { ...row, sku: 'HM-001' }
        : index === 251
          ? { ...row, price: '-1', name: '' }
          : index === 519
            ? { ...row, categoryId: 999_999 }
            : row
    )
    const answer = await importOf(store, lines(rows), { type: NDJSON, key: 'skip', query: '?onError=skip' })
    const { errors, ...counts } = countsIn(answer)
    expect(counts).to.deep.equal({ rows: 520, created: 516, failed: 4, replayed: 0 })
    expect(errors.map(({ row, code, pointer }) => [row, code, pointer])).to.deep.equal([
      [1, 'conflict', '/sku'],
      [251, 'conflict', '/sku'],
      [252, 'body.invalid', '/name'],
      [252, 'body.invalid', '/price'],
      [520, 'conflict', '/categoryId']
    ])
    expect(await stored(store, 'SKIP')).to.equal(516)
    const again = await changesNothing(store, () =>
      importOf(store, lines(rows), { type: NDJSON, key: 'skip', query: '?onError=skip' })
    )
    expect(countsIn(again)).to.deep.equal({ rows: 520, created: 0, failed: 4, replayed: 516, errors })
    expect(again.headers['idempotent-replayed']).to.equal('true')
    const stop = await importOf(store, lines(rows.slice(1, 3)), { type: NDJSON, key: 'skip' })
    store.problem(stop, { status: 422, code: 'idempotency.key.reused' })
  })

  it('keeps no more errors than answers tell, and judges a row of too many values as a row', async () => {
    const wrong = Array.from({ length: 999 }, () => ({ name: '', price: 'x' }))
    const large = product('LARGE-1', { lines: Array.from({ length: 60_000 }, () => 1) })
    const keys = (which = ''): Promise<number> => count(store, `ur_idempotency_keys${which}`)
    const long = ' WHERE LENGTH(answer) > 10000'
    const before = [await keys(), await keys(long)] as const
    const answer = await importOf(store, lines([...wrong, large, product('LARGE-2')]), {
      type: NDJSON,
      query: '?onError=skip'
    })
    const { errors, ...counts } = countsIn(answer)
    expect(counts).to.deep.equal({ rows: 1001, created: 1, failed: 1000, replayed: 0 })
    expect(errors.length).to.equal(1000)
    const few = await importOf(store, lines([large]), { type: NDJSON, query: '?onError=skip' })
    expect(countsIn(few).errors).to.have.length(1)
    expect([await keys(), await keys(long)]).to.deep.equal([before[0] + 5, before[1] + 1])
  })

  it('leaves rows alone whose value is there already', async () => {
    const file = csvOf(3, 'BY')
    const first = await importOf(store, `${file}\r\nN,BY-1,1,9.99\r\nN,HM-001,1,9.99`, { query: '?by=SKU' })
    expect(countsIn(first)).to.include({ rows: 5, created: 3, existing: 2, failed: 0 })
    const [row] = await select(store, "SELECT price FROM products WHERE sku = 'BY-1'")
    expect(['1.50', '150']).to.include(String(row?.['price']))
    const more = await importOf(store, csvOf(5, 'BY'), { query: '?by=sku&onError=skip' })
    expect(countsIn(more)).to.deep.equal({ rows: 5, created: 2, existing: 3, failed: 0, replayed: 0, errors: [] })
    for (const by of ['name', 'nothing', '']) {
      const refused = await importOf(store, file, { query: `?by=${by}` })
      store.problem(refused, { status: 400, code: 'request.malformed' })
    }
  })
})
