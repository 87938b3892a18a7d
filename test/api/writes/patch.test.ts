import { expect } from 'chai'
import { startStack } from '../../harness/stack.js'
import { type ApiStore, describeApi } from '../api-store.js'
import { clerkProductItem, PRODUCTS, rowOf, versionOf } from '../fixture.js'
import type { Answer } from '../http-call.js'
import { MALFORMED, REQUIRED, withVersion } from './preconditions.js'
import { etagOf, rowIn, send, sendTo, tagOf, type Write } from './send.js'
import { changesNothing, count, select } from './stored.js'

const MERGE_PATCH = 'application/merge-patch+json'
const tag = (id: number): string => tagOf(versionOf(rowOf(PRODUCTS, id)))

/** `clerk /products/1`: a PATCH as an ordinary client sends it. */
function patch(store: ApiStore, line: string, body: object | string, write: Write = {}): Promise<Answer> {
  const [account = '', target = ''] = line.split(' ')
  const headers = { 'content-type': MERGE_PATCH, ...write.headers }
  return send(store, `${account} PATCH ${target}`, { ...write, body, headers })
}

describeApi('PATCH', (store) => {
  it('sets the members sent and keeps the others; the answer is the row with its new tag', async () => {
    const before = clerkProductItem(1)
    const answer = await patch(store, 'clerk /products/1', { price: '21.90', weightGrams: null }, { ifMatch: tag(1) })
    expect(answer.status, answer.text).to.equal(200)
    const { rowVersion, ...row } = rowIn(answer)
    const { rowVersion: old, ...kept } = before
    expect(row).to.deep.equal({ ...kept, price: '21.90', weightGrams: null })
    expect(rowVersion).to.not.equal(old)
    expect(etagOf(answer)).to.equal(tagOf(rowVersion))
    const read = await store.as('clerk', '/products/1')
    expect([read.bytes, read.headers.etag]).to.deep.equal([answer.bytes, answer.headers.etag])
    const [entry] = await select(
      store,
      'SELECT resource, row_id, action FROM ur_audit_entries ORDER BY id DESC LIMIT 1'
    )
    expect(entry).to.deep.equal({ resource: 'products', row_id: '1', action: 'update' })
  })

  it('of no member advances the version and nothing else', async () => {
    const answer = await patch(store, 'clerk /products/2', {}, { ifMatch: tag(2) })
    expect(answer.status, answer.text).to.equal(200)
    const { rowVersion: old, ...kept } = clerkProductItem(2)
    const { rowVersion, ...row } = rowIn(answer)
    expect(row).to.deep.equal(kept)
    expect(rowVersion).to.not.equal(old)
    store.problem(await patch(store, 'clerk /products/2', {}, { ifMatch: tag(2) }), { status: 412, code: 'conflict' })
    expect((await patch(store, 'clerk /products/2', {}, { ifMatch: etagOf(answer) })).status).to.equal(200)
  })

  it('may empty what may be null, and nothing else; every violation is named', async () => {
    const rejected = await changesNothing(store, () =>
      patch(
        store,
        'clerk /products/3',
        { name: null, price: 'x', isActive: null, description: null, categoryId: { id: 1 }, id: 4 },
        { ifMatch: tag(3) }
      )
    )
    store.problem(rejected, {
      status: 400,
      code: 'id.mismatch',
      violations: [
        { code: 'id.mismatch', pointer: '/id' },
        { code: 'body.invalid', pointer: '/name' },
        { code: 'body.invalid', pointer: '/categoryId' },
        { code: 'body.invalid', pointer: '/price' },
        { code: 'body.invalid', pointer: '/isActive' }
      ]
    })
  })

  for (const body of ['[]', '"name"', 'null', '5', '[{"op":"remove","path":"/name"}]']) {
    it(`that is ${body} and no object is 400`, async () => {
      const rejected = await changesNothing(store, () => patch(store, 'clerk /products/3', body, { ifMatch: tag(3) }))
      store.problem(rejected, { status: 400, code: 'body.invalid' })
    })
  }

  it('that is no JSON, or nothing, is 400', async () => {
    for (const body of ['{', '']) {
      const rejected = await changesNothing(store, () => patch(store, 'clerk /products/3', body, { ifMatch: tag(3) }))
      store.problem(rejected, { status: 400, code: 'body.malformed' })
    }
  })

  it('of another media type is 415 with the one that is taken', async () => {
    for (const type of ['application/json', 'application/json-patch+json', 'text/plain', `${MERGE_PATCH}2`, '']) {
      const headers = { 'content-type': type }
      const rejected = await changesNothing(store, () =>
        patch(store, 'clerk /products/3', '{}', { ifMatch: tag(3), headers })
      )
      store.problem(rejected, { status: 415, code: 'media-type.unsupported', says: MERGE_PATCH })
      expect(rejected.headers['accept-patch'], type).to.equal(MERGE_PATCH)
    }
    const put = await send(store, 'clerk PUT /products/3', { body: '{}', headers: { 'content-type': MERGE_PATCH } })
    store.problem(put, { status: 415, code: 'media-type.unsupported' })
    expect(put.headers).to.not.have.property('accept-patch')
    const headers = { 'content-type': 'Application/Merge-Patch+JSON; charset=UTF-8' }
    const answer = await patch(store, 'clerk /products/3', {}, { ifMatch: tag(3), headers })
    expect(answer.status, answer.text).to.equal(200)
    expect(answer.headers).to.not.have.property('accept-patch')
  })

  it('needs If-Match as PUT does', async () => {
    await changesNothing(store, async () => {
      for (const [preconditions, status, code] of [
        [REQUIRED, 428, 'precondition.required'],
        [MALFORMED, 400, 'precondition.malformed']
      ] as const) {
        for (const { ifMatch, title } of preconditions) {
          const headers = { 'if-match': withVersion(ifMatch, versionOf(rowOf(PRODUCTS, 4))) }
          const rejected = await patch(store, 'clerk /products/4', { name: 1 }, { headers })
          expect(rejected.status, title).to.equal(status)
          store.problem(rejected, { status, code })
        }
      }
      const stale = await patch(store, 'clerk /products/4', { name: 'n' }, { ifMatch: 'W/"AAAAAAAAAAA="' })
      store.problem(stale, { status: 412, code: 'conflict' })
      const taken = await patch(store, 'clerk /products/4', { sku: 'HM-001' }, { ifMatch: tag(4) })
      store.problem(taken, { status: 412, code: 'conflict' })
    })
  })

  it('is rejected for whoever may not PUT, and creates nothing', async () => {
    await changesNothing(store, async () => {
      const write = { ifMatch: tag(4) }
      store.problem(await patch(store, '- /products/4', {}, write), { status: 401, code: 'auth.required' })
      store.problem(await patch(store, 'ada /products/4', {}, write), { status: 403, code: 'capability.denied' })
      store.problem(await patch(store, 'clerk /products/999', {}, write), { status: 404, code: 'not-found' })
      store.problem(await patch(store, 'clerk /products/x', {}, write), { status: 400, code: 'id.invalid' })
    })
  })

  it('is there exactly where PUT is', async () => {
    for (const [line, status, allow] of [
      ['admin /orders/1', 405, 'GET, HEAD, DELETE, OPTIONS'],
      ['clerk /products', 405, 'GET, HEAD, POST, OPTIONS'],
      ['clerk /products/1/publish', 405, 'PUT, OPTIONS'],
      ['clerk /nothing/1', 404, undefined]
    ] as const) {
      const rejected = await patch(store, line, {}, { ifMatch: tag(1) })
      expect([rejected.status, rejected.headers['allow']], line).to.deep.equal([status, allow])
    }
    const options = await store.call('/products/1', { method: 'OPTIONS' })
    expect(options.headers['allow']).to.equal('GET, HEAD, PUT, PATCH, DELETE, OPTIONS')
    expect(options.headers['accept-patch']).to.equal(MERGE_PATCH)
  })

  it('ignores members that a client may not set and names them; strict rejects them', async () => {
    const body = { rowVersion: 'x', displayName: 'y', nope: { deep: null }, name: 'Patched' }
    const headers = { prefer: 'handling=strict' }
    const strict = await changesNothing(store, () =>
      patch(store, 'clerk /products/5', body, { ifMatch: tag(5), headers })
    )
    store.problem(strict, {
      status: 400,
      code: 'parameter.unknown',
      violations: ['/rowVersion', '/displayName', '/nope'].map((pointer) => ({ code: 'parameter.unknown', pointer }))
    })
    const answer = await patch(store, 'clerk /products/5', body, { ifMatch: tag(5) })
    expect(answer.status, answer.text).to.equal(200)
    expect(rowIn(answer)).to.deep.include({ name: 'Patched', sku: rowOf(PRODUCTS, 5)['sku'] })
    expect(answer.headers['x-ignored-parameters']).to.equal('body.rowVersion,body.displayName,body.nope')
  })

  it('is judged on the merged row by the rule of updates', async () => {
    const coupon = { code: 'MERGED', percent: 10, startsAt: '2026-01-01T00:00:00Z', endsAt: '2026-02-01T00:00:00Z' }
    const created = await send(store, 'clerk POST /coupons', { body: coupon })
    const path = `clerk /coupons/${String(rowIn(created)['id'])}`
    const ifMatch = etagOf(created)
    for (const body of [{ startsAt: '2026-03-01T00:00:00Z' }, { endsAt: '2025-12-31T00:00:00Z' }]) {
      const rejected = await changesNothing(store, () => patch(store, path, body, { ifMatch }))
      store.problem(rejected, { status: 400, code: 'body.invalid' })
    }
    const moved = await patch(store, path, { endsAt: '2026-01-02T00:00:00Z' }, { ifMatch })
    expect(rowIn(moved)).to.deep.include({
      ...coupon,
      startsAt: '2026-01-01T00:00:00.000Z',
      endsAt: '2026-01-02T00:00:00.000Z'
    })
    const endless = await patch(store, path, { endsAt: null }, { ifMatch: etagOf(moved) })
    expect(rowIn(endless)).to.include({ endsAt: null, percent: 10 })
  })

  it('keeps hidden and server-set columns, and those are no part of it', async () => {
    const read = await store.as('admin', '/customers/1')
    const body = { riskNote: 'x', isSuspended: true, phone: '12345' }
    const answer = await patch(store, 'clerk /customers/1', body, { ifMatch: etagOf(read) })
    expect(answer.status, answer.text).to.equal(200)
    // Clerks may not read the credit limit.
    const { creditLimit: _withheld, ...shown } = rowIn(read)
    expect(rowIn(answer)).to.deep.equal({
      ...shown,
      phone: '12345',
      rowVersion: rowIn(answer)['rowVersion']
    })
    expect(await select(store, 'SELECT risk_note FROM customers WHERE id = 1')).to.deep.equal([
      { risk_note: 'secret-alpha' }
    ])
  })

  it('is done once for a key, whose scope is the method too', async () => {
    const write = { ifMatch: tag(6), key: 'patch-6' }
    const first = await patch(store, 'clerk /products/6', { name: 'Once' }, write)
    expect(first.status, first.text).to.equal(200)
    const audits = await count(store, 'ur_audit_entries')
    const again = await patch(store, 'clerk /products/6', '{ "name" : "Once" }', write)
    expect([again.status, again.headers['idempotent-replayed']]).to.deep.equal([200, 'true'])
    expect([again.bytes, again.headers.etag]).to.deep.equal([first.bytes, first.headers.etag])
    const other = await patch(store, 'clerk /products/6', { name: 'Twice' }, write)
    store.problem(other, { status: 422, code: 'idempotency.key.reused' })
    const body = { name: 'Put', sku: 'PUT-6', categoryId: 1, price: '1.00', isActive: true }
    const put = await send(store, 'clerk PUT /products/6', { body, ifMatch: etagOf(first), key: 'patch-6' })
    expect([put.status, put.headers['idempotent-replayed']]).to.deep.equal([200, undefined])
    expect(await count(store, 'ur_audit_entries')).to.equal(audits + 1)
  })
})

describeApi('one tag in 50 PATCHes and PUTs at once, over two gateways and two data services', (store) => {
  it('is good for one of them', async () => {
    const env = { DATA_DIR: store.dataDir, SAMPLE_DATA: 'false' }
    await using second = await startStack({ database: store.database, env })
    const token = await store.stack.token('clerk@example.com')
    const ifMatch = tag(1)
    const put = { name: 'Put', sku: 'PUT-1', categoryId: 2, price: '1.00', isActive: true }
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => {
        const base = index % 4 < 2 ? store.url : second.url
        if (index % 2 === 0) {
          return sendTo(
            base,
            { method: 'PUT', target: '/products/1', token },
            { body: { ...put, weightGrams: index }, ifMatch }
          )
        }
        const headers = { 'content-type': MERGE_PATCH }
        return sendTo(
          base,
          { method: 'PATCH', target: '/products/1', token },
          { body: { weightGrams: index }, headers, ifMatch }
        )
      })
    )
    const won = answers.filter(({ status }) => status === 200)
    expect(won.map(({ text }) => text)).to.have.length(1)
    expect(answers.filter(({ status }) => status === 412)).to.have.length(49)
    expect((await store.as('clerk', '/products/1')).text).to.equal(won[0]?.text)
    expect(await count(store, "ur_audit_entries WHERE resource = 'products'")).to.equal(1)
  })
})
