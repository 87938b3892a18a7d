import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { describeApi, type ApiStore } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { oddTokens } from '../ownership/claims.js'
import { changesNothing, count, select } from './stored.js'
import { etagOf, rowIn, send, sendTo } from './send.js'

const HEADERS_OF_ONE_ANSWER = ['x-request-id', 'date', 'idempotent-replayed']

/** The first answer to the byte, and said to be a replay. */
function expectReplay(replay: Answer, first: Answer): void {
  expect(replay.status, replay.text).to.equal(first.status)
  expect(replay.bytes).to.deep.equal(first.bytes)
  expect(replay.headers['idempotent-replayed']).to.equal('true')
  const [again, once] = [replay, first].map(({ headers }) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => !HEADERS_OF_ONE_ANSWER.includes(name)))
  )
  expect(again).to.deep.equal(once)
  expect(replay.headers['x-request-id']).not.to.equal(first.headers['x-request-id'])
}

const tokens = await oddTokens()
after(() => tokens.dispose())

describeApi(
  'Idempotency-Key',
  (store) => {
    it('replays a create to the byte, also after the row was changed and after it was deleted', async () => {
      const body = { name: 'First', sku: 'K-1', categoryId: 1, price: '1.00', extra: 1 }
      const first = await send(store, 'clerk POST /products?colour=red', { body, key: 'k-1' })
      expect(first.status, first.text).to.equal(201)
      expect(first.headers).to.include({ 'x-ignored-parameters': 'colour,body.extra' })
      expect(first.headers).not.to.have.any.keys('idempotent-replayed')
      const retry = (): Promise<Answer> => send(store, 'clerk POST /products?colour=red', { body, key: 'k-1' })
      expectReplay(await changesNothing(store, retry), first)
      const { id } = rowIn(first)
      const changed = await send(store, `clerk PUT /products/${String(id)}`, {
        body: { ...body, name: 'Second', isActive: true },
        ifMatch: etagOf(first)
      })
      expect(changed.status, changed.text).to.equal(200)
      expectReplay(await changesNothing(store, retry), first)
      expect((await send(store, `clerk DELETE /products/${String(id)}`)).status).to.equal(204)
      expectReplay(await changesNothing(store, retry), first)
      expect((await store.call(`/products/${String(id)}`)).status).to.equal(404)
      expect(await count(store, 'products WHERE sku = ?', ['K-1'])).to.equal(0)
      expect(await count(store, "ur_audit_entries WHERE resource = 'products' AND action = 'create'")).to.equal(1)
    })

    it('replays an order that could be made again', async () => {
      const body = { lines: [{ productId: 1, quantity: 2 }] }
      const first = await send(store, 'ada POST /orders', { body, key: 'o-1' })
      expectReplay(await send(store, 'ada POST /orders', { body, key: 'o-1' }), first)
      const other = await send(store, 'ada POST /orders', { body, key: 'o-2' })
      expect(other.status).to.equal(201)
      expect(rowIn(other)['id']).not.to.equal(rowIn(first)['id'])
    })

    it('compares JSON by value', async () => {
      const first = await send(store, 'clerk POST /products', {
        body: '{"name":"Vülue","sku":"K-2","categoryId":1,"price":19.90,"barcode":100}',
        key: 'k-2'
      })
      expect(first.status, first.text).to.equal(201)
      for (const body of [
        '{ "price" : 19.9, "barcode":1e2,\n"categoryId":1.0, "sku":"K\\u002d2", "name":"V\\u00fclue" }',
        '{"name":"Vülue","sku":"K-2","categoryId":1,"price":1990e-2,"barcode":100}'
      ]) {
        expectReplay(await send(store, 'clerk POST /products', { body, key: 'k-2' }), first)
      }
      for (const body of [
        '{"name":"Vülue","sku":"K-2","categoryId":1,"price":"19.90","barcode":100}',
        '{"name":"Vülue","sku":"K-2","categoryId":1,"price":19.90,"barcode":100,"extra":null}',
        '{"name":"vülue","sku":"K-2","categoryId":1,"price":19.90,"barcode":100}',
        '{"name":"Vülue","sku":"K-2","categoryId":1,"price":19.90,"barcode":100.00000000000000001}',
        '{"sku":"K-2","categoryId":1,"price":19.90,"barcode":100,"name":"Vu\\u0308lue"}'
      ]) {
        const rejected = await changesNothing(store, () => send(store, 'clerk POST /products', { body, key: 'k-2' }))
        // The one whose barcode is no whole number is rejected as a body, before any replay.
        if (body.includes('100.0')) store.problem(rejected, { status: 400, code: 'body.invalid' })
        else store.problem(rejected, { status: 422, code: 'idempotency.key.reused' })
      }
    })

    it('keeps no 4xx: a corrected request takes the key', async () => {
      const good = { name: 'Corrected', sku: 'K-3', categoryId: 1, price: '1.00' }
      const wrongs = [
        { ...good, price: 'x' },
        { ...good, sku: 'HM-001' },
        { ...good, categoryId: 999 }
      ]
      for (const [at, status] of [400, 409, 409].entries()) {
        const answer = await changesNothing(store, () =>
          send(store, 'clerk POST /products', { body: wrongs[at] ?? {}, key: 'k-3' })
        )
        expect(answer.status, answer.text).to.equal(status)
      }
      const made = await send(store, 'clerk POST /products', { body: good, key: 'k-3' })
      expect(made.status, made.text).to.equal(201)
      expect(made.headers).not.to.have.any.keys('idempotent-replayed')
      expectReplay(await send(store, 'clerk POST /products', { body: good, key: 'k-3' }), made)
    })

    it('belongs to caller, method and concrete path', async () => {
      const body = { lines: [{ productId: 1, quantity: 1 }], customerId: 2 }
      const mine = await send(store, 'ben POST /orders', { body, key: 'shared' })
      const theirs = await send(store, 'admin POST /orders', { body, key: 'shared' })
      expect([mine.status, theirs.status]).to.deep.equal([201, 201])
      expect(rowIn(mine)['id']).not.to.equal(rowIn(theirs)['id'])
      // The same key on another path, and on other rows of one route.
      const category = await send(store, 'admin POST /categories', {
        body: { name: 'Shared', slug: 'sh' },
        key: 'shared'
      })
      expect(category.status).to.equal(201)
      for (const order of [mine, theirs]) {
        const paid = await send(store, `admin PUT /orders/${String(rowIn(order)['id'])}/pay`, {
          ifMatch: etagOf(order),
          key: 'shared'
        })
        expect(paid.status, paid.text).to.equal(200)
        expect(rowIn(paid), order.path).to.include({ id: rowIn(order)['id'], status: 'paid' })
        expect(paid.headers, order.path).not.to.have.any.keys('idempotent-replayed')
      }
      expectReplay(await send(store, 'ben POST /orders', { body, key: 'shared' }), mine)
    })

    it('is the same bare and quoted, and blank is none', async () => {
      const body = { lines: [{ productId: 1, quantity: 1 }] }
      const first = await send(store, 'ada POST /orders', { body, key: 'a"b' })
      for (const key of ['"a\\"b"', ' a"b ', ' "a\\"b"\t']) {
        expectReplay(await send(store, 'ada POST /orders', { body, key }), first)
      }
      for (const key of ['', ' ', '\t ']) {
        const [one, two] = [
          await send(store, 'ada POST /orders', { body, key }),
          await send(store, 'ada POST /orders', { body, key })
        ]
        expect([one.status, two.status], JSON.stringify(key)).to.deep.equal([201, 201])
        expect(rowIn(one)['id'], JSON.stringify(key)).not.to.equal(rowIn(two)['id'])
      }
      const longest = `${'~!'.repeat(127)}x`
      const kept = await send(store, 'ada POST /orders', { body, key: longest })
      expectReplay(await send(store, 'ada POST /orders', { body, key: `"${longest}"` }), kept)
      // 255 characters told apart to the last, and by letter case.
      for (const key of [`${'~!'.repeat(127)}y`, `${'~!'.repeat(127)}X`]) {
        expect((await send(store, 'ada POST /orders', { body, key })).headers, key).not.to.have.any.keys(
          'idempotent-replayed'
        )
      }
    })

    it('replays PUT and actions whatever version If-Match then names, which must still be one', async () => {
      const created = await send(store, 'clerk POST /products', {
        body: { name: 'Guarded', sku: 'K-4', categoryId: 1, price: '1.00' }
      })
      const path = `/products/${String(rowIn(created)['id'])}`
      const body = { name: 'Guarded 2', sku: 'K-4', categoryId: 1, price: '1.00', isActive: true }
      const put = await send(store, `clerk PUT ${path}`, { body, ifMatch: etagOf(created), key: 'g' })
      expect(put.status, put.text).to.equal(200)
      const action = await send(store, `clerk PUT ${path}/unpublish`, { ifMatch: etagOf(put), key: 'g' })
      expect(action.status, action.text).to.equal(200)
      for (const ifMatch of [etagOf(created), etagOf(action), 'W/"AAA="', '"AAAA", W/"BBBB"']) {
        expectReplay(
          await changesNothing(store, () => send(store, `clerk PUT ${path}`, { body, ifMatch, key: 'g' })),
          put
        )
        const again = await changesNothing(store, () =>
          send(store, `clerk PUT ${path}/unpublish`, { ifMatch, key: 'g' })
        )
        expectReplay(again, action)
        // No body and an empty object are one.
        expectReplay(await send(store, `clerk PUT ${path}/unpublish`, { body: {}, ifMatch, key: 'g' }), action)
      }
      for (const [ifMatch, status, code] of [
        [undefined, 428, 'precondition.required'],
        ['*', 428, 'precondition.required'],
        ['"', 400, 'precondition.malformed']
      ] as const) {
        const write = { key: 'g', ...(ifMatch === undefined ? {} : { ifMatch }) }
        store.problem(await send(store, `clerk PUT ${path}`, { body, ...write }), { status, code })
        store.problem(await send(store, `clerk PUT ${path}/unpublish`, write), { status, code })
      }
      const reused = await send(store, `clerk PUT ${path}`, {
        body: { ...body, price: '2.00' },
        ifMatch: etagOf(action),
        key: 'g'
      })
      store.problem(reused, { status: 422, code: 'idempotency.key.reused' })
      // A stale write keeps no key.
      const stale = await send(store, `clerk PUT ${path}`, { body, ifMatch: etagOf(created), key: 'g2' })
      store.problem(stale, { status: 412, code: 'conflict' })
      const fresh = await send(store, `clerk PUT ${path}`, { body, ifMatch: etagOf(action), key: 'g2' })
      expect(fresh.status, fresh.text).to.equal(200)
    })

    it('is not asked for where there is no create or guarded write', async () => {
      const created = await send(store, 'clerk POST /categories', { body: { name: 'Goes', slug: 'goes' }, key: 'd' })
      const path = `/categories/${String(rowIn(created)['id'])}`
      const deleted = await send(store, `clerk DELETE ${path}`, { key: 'd' })
      expect([deleted.status, deleted.text]).to.deep.equal([204, ''])
      expect(deleted.headers).not.to.have.any.keys('content-type', 'etag')
      store.problem(await send(store, `clerk DELETE ${path}`, { key: 'd' }), { status: 404, code: 'not-found' })
    })

    it('is not looked at on DELETE, and neither is a body', async () => {
      const created = await send(store, 'clerk POST /categories', { body: { name: 'Goes too', slug: 'goes-too' } })
      const deleted = await send(store, `clerk DELETE /categories/${String(rowIn(created)['id'])}?x=1`, {
        body: 'not JSON',
        key: 'a b',
        headers: { 'content-type': 'text/plain' }
      })
      expect(deleted.status, deleted.text).to.equal(204)
      expect(deleted.headers).to.include({ 'x-ignored-parameters': 'x' })
    })

    it('belongs to the owner claim of the first request: another one is rejected, and nothing runs', async () => {
      const good = await store.stack.token('ada@example.com')
      const write = { body: { lines: [{ productId: 1, quantity: 1 }] }, key: 'owner' }
      const as = (claim: unknown, more: object = {}): Promise<Answer> =>
        sendTo(
          store.url,
          { method: 'POST', target: '/orders', token: tokens.change(good, { customer_id: claim }) },
          { ...write, ...more }
        )
      const first = await as(1)
      expect(first.status, first.text).to.equal(201)
      for (const same of [1, '1', '01']) expectReplay(await as(same), first)
      for (const other of [2, '-1', undefined, 'x', 1.5]) {
        const rejected = await changesNothing(store, () => as(other))
        const violations = [{ code: 'ownership.denied', header: 'Idempotency-Key' }]
        store.problem(rejected, { status: 403, code: 'ownership.denied', violations })
      }
      // Who may comes before what is sent.
      const otherBody = { body: { lines: [{ productId: 2, quantity: 1 }] } }
      store.problem(await changesNothing(store, () => as(2, otherBody)), { status: 403, code: 'ownership.denied' })
      store.problem(await as(1, otherBody), { status: 422, code: 'idempotency.key.reused' })
      expectReplay(await as(1), first)
      // A guarded write likewise, and a caller without an owner has the owner "none".
      const clerk = await store.stack.token('clerk@example.com')
      const made = await send(store, 'clerk POST /categories', { body: { name: 'Kept', slug: 'kept' } })
      const put = (claims: object): Promise<Answer> =>
        sendTo(
          store.url,
          {
            method: 'PUT',
            target: `/categories/${String(rowIn(made)['id'])}`,
            token: tokens.change(clerk, { ...claims })
          },
          { body: { name: 'Kept 2', slug: 'kept' }, ifMatch: etagOf(made), key: 'owner' }
        )
      const once = await put({})
      expect(once.status, once.text).to.equal(200)
      const rejected = await changesNothing(store, () => put({ customer_id: 1 }))
      store.problem(rejected, { status: 403, code: 'ownership.denied' })
      expectReplay(await put({ customer_id: 'none' }), once)
    })

    it('replays what an earlier version kept, which wrote no owner beside it', async () => {
      await select(store, 'DELETE FROM ur_idempotency_keys')
      const write = { body: { lines: [{ productId: 1, quantity: 3 }] }, key: 'earlier' }
      const first = await send(store, 'ada POST /orders', write)
      expect(first.status, first.text).to.equal(201)
      const row = rowIn(first)
      const kept = [first.text, row['rowVersion'], String(row['id']), [], first.headers.location]
      const answer = Buffer.from(JSON.stringify(kept)).toString('hex')
      await select(store, `UPDATE ur_idempotency_keys SET answer = X'${answer}'`)
      expectReplay(await changesNothing(store, () => send(store, 'ada POST /orders', write)), first)
    })
  },
  { also: ['cuts'], env: () => ({ JWT_PRIVATE_KEY_FILE: tokens.keyFile }) }
)

describeApi(
  'Idempotency-Key where it is required',
  (store) => {
    it('400 without one on POST alone', async () => {
      const body = { name: 'Req', slug: 'req' }
      for (const key of [undefined, '', ' ']) {
        const write = key === undefined ? { body } : { body, key }
        const rejected = await changesNothing(store, () => send(store, 'clerk POST /categories', write))
        store.problem(rejected, { status: 400, code: 'idempotency.key.missing', says: 'Idempotency-Key' })
      }
      const faulty = await send(store, 'clerk POST /categories', { body: { name: 'Req' } })
      store.problem(faulty, {
        status: 400,
        code: 'body.invalid',
        violations: [
          { code: 'body.invalid', pointer: '/slug' },
          { code: 'idempotency.key.missing', header: 'Idempotency-Key' }
        ]
      })
      const made = await send(store, 'clerk POST /categories', { body, key: 'r' })
      expect(made.status, made.text).to.equal(201)
      const put = await send(store, `clerk PUT /categories/${String(rowIn(made)['id'])}`, {
        body,
        ifMatch: etagOf(made)
      })
      expect(put.status, put.text).to.equal(200)
      expect((await send(store, `clerk DELETE /categories/${String(rowIn(made)['id'])}`)).status).to.equal(204)
    })
  },
  { on: 'sqlite', env: () => ({ IDEMPOTENCY_REQUIRED: 'true' }) }
)

const RETENTION_MS = 1500

describeApi(
  'Idempotency-Key past its time',
  (store: ApiStore) => {
    it('makes another row, and no replay prolongs it', async () => {
      const write = { body: { lines: [{ productId: 1, quantity: 1 }] }, key: 'e' }
      const start = performance.now()
      const first = await send(store, 'ada POST /orders', write)
      const kept = performance.now()
      let sent = performance.now()
      let again = await send(store, 'ada POST /orders', write)
      while (again.headers['idempotent-replayed'] === 'true') {
        expectReplay(again, first)
        expect(performance.now() - kept, 'ms since the first answer').to.be.below(RETENTION_MS + 10_000)
        await sleep(100)
        sent = performance.now()
        again = await send(store, 'ada POST /orders', write)
      }
      expect(performance.now() - start, 'ms since the first request').to.be.at.least(RETENTION_MS)
      expect(again.status, again.text).to.equal(201)
      expect(rowIn(again)['id']).not.to.equal(rowIn(first)['id'])
      const last = await send(store, 'ada POST /orders', write)
      // On a slow machine the second answer may be past its time already.
      if (performance.now() - sent < RETENTION_MS) expectReplay(last, again)
      // Another body may take it over as well; its row stays the one row of the key.
      expect(await count(store, 'ur_idempotency_keys')).to.equal(1)
    })
  },
  { env: () => ({ IDEMPOTENCY_RETENTION: `${RETENTION_MS}ms` }) }
)
