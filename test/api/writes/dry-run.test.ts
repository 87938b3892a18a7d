import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { etagOf, rowIn, send, tagOf, type Write } from './send.js'
import { changesNothing, count } from './stored.js'

const DRY = { prefer: 'tx=rollback' }
const product = (sku: string, more: object = {}): object => ({ name: sku, sku, categoryId: 1, price: '1.50', ...more })
/** What differs between a write and its dry run. */
const VARYING = ['id', 'rowVersion', 'number', 'placedAt', 'requestId']
const shown = (answer: Answer): unknown =>
  JSON.parse(answer.text === '' ? 'null' : answer.text, (name, value: unknown) =>
    VARYING.includes(name) ? undefined : value
  )

describeApi('Prefer: tx=rollback', (store) => {
  /** The dry run, after which everything is as before, and then the write itself: both answer alike. */
  const tried = async (line: string, write: Write): Promise<Answer> => {
    const dry = await changesNothing(store, () =>
      send(store, line, { ...write, headers: { ...DRY, ...write.headers } })
    )
    expect(dry.headers['preference-applied'], dry.text).to.equal('tx=rollback')
    expect(dry.headers).not.to.have.any.keys('location', 'idempotent-replayed')
    const real = await send(store, line, write)
    expect(real.headers).not.to.have.any.keys('preference-applied', 'idempotent-replayed')
    expect(dry.status, dry.text).to.equal(real.status)
    expect(shown(dry)).to.deep.equal(shown(real))
    expect(dry.headers['x-ignored-parameters']).to.equal(real.headers['x-ignored-parameters'])
    expect(dry.headers['etag'] === undefined).to.equal(real.headers['etag'] === undefined)
    return real
  }

  it('answers every write as it would be, and leaves nothing of it', async () => {
    const created = await tried('clerk POST /products?colour=red', { body: product('D-1', { extra: 1 }), key: 'dry-1' })
    expect([created.status, created.headers['location']]).to.deep.equal([
      201,
      `${store.url}/products/${String(rowIn(created)['id'])}`
    ])
    const path = `/products/${String(rowIn(created)['id'])}`
    const replaced = await tried(`clerk PUT ${path}`, {
      body: product('D-1', { name: 'Replaced', isActive: true }),
      ifMatch: etagOf(created),
      key: 'dry-2'
    })
    expect(replaced.status, replaced.text).to.equal(200)
    const patched = await tried(`clerk PATCH ${path}`, {
      body: { name: 'Patched' },
      ifMatch: etagOf(replaced),
      headers: { 'content-type': 'application/merge-patch+json' }
    })
    expect(rowIn(patched)).to.include({ name: 'Patched', sku: 'D-1' })
    const batch = await tried('clerk POST /products/batch', { body: [product('D-2'), product('D-3')], key: 'dry-3' })
    expect(batch.status, batch.text).to.equal(201)
    expect((await tried(`clerk DELETE ${path}`, { ifMatch: etagOf(patched) })).status).to.equal(204)
  })

  it('runs rules and hooks, and undoes the rows, entries and events that they make', async () => {
    const placed = await tried('ada POST /orders', {
      body: { lines: [{ productId: 1, quantity: 2 }] },
      key: 'dry-order'
    })
    expect(placed.status, placed.text).to.equal(201)
    expect(await count(store, "ur_outbox WHERE resource = 'orders'")).to.equal(1)
    const { id, rowVersion } = rowIn(placed)
    const cancelled = await tried(`ada PUT /orders/${String(id)}/cancel`, { body: {}, ifMatch: tagOf(rowVersion) })
    expect(rowIn(cancelled)).to.include({ status: 'cancelled' })
  })

  it('answers the rejections of the write: content, constraints, versions and rows that are not there', async () => {
    const made = await send(store, 'clerk POST /products', { body: product('D-10') })
    const path = `/products/${String(rowIn(made)['id'])}`
    const stale = { body: product('D-10', { isActive: true }), ifMatch: 'W/"AAAAAAAAAAA="' }
    const cases: readonly (readonly [line: string, write: Write, status: number, reason: string | undefined])[] = [
      ['clerk POST /products', { body: product('') }, 400, undefined],
      ['ada POST /products', { body: product('D-11') }, 403, undefined],
      ['clerk POST /products', { body: product('D-10') }, 409, 'unique; property="sku"'],
      [
        'clerk POST /products',
        { body: product('D-11', { categoryId: 4711 }) },
        409,
        'reference; property="categoryId"'
      ],
      ['clerk POST /products/batch', { body: [product('D-12'), product('D-12')] }, 409, 'unique; property="sku"'],
      [`clerk PUT ${path}`, stale, 412, 'stale'],
      [`clerk PUT ${path}`, { body: stale.body }, 428, undefined],
      ['clerk DELETE /products/4711', {}, 404, undefined],
      ['clerk DELETE /categories/1', {}, 409, 'referenced']
    ]
    for (const [line, write, status, reason] of cases) {
      const answer = await tried(line, write)
      expect([answer.status, answer.headers['conflict-reason']], `${line} ${answer.text}`).to.deep.equal([
        status,
        reason
      ])
    }
  })

  it('tells versions that no row will have', async () => {
    const created = await send(store, 'clerk POST /products', { body: product('D-V') })
    const path = `/products/${String(rowIn(created)['id'])}`
    const put = (name: string, ifMatch: string, more: object = {}): Promise<Answer> =>
      send(store, `clerk PUT ${path}`, { body: product('D-V', { name, isActive: true }), ifMatch, ...more })
    const tries = [
      await put('Tried', etagOf(created), { headers: DRY }),
      await put('Again', etagOf(created), { headers: DRY })
    ]
    expect(tries.map(({ status }) => status)).to.deep.equal([200, 200])
    const written = await put('By another', etagOf(created))
    expect(written.status, written.text).to.equal(200)
    for (const one of tries) {
      expect(etagOf(one)).to.match(/^W\/"[A-Za-z0-9+/]{11}="$/)
      expect(rowIn(one)['rowVersion']).to.equal(etagOf(one).slice(3, -1))
      store.problem(await put('Lost update', etagOf(one)), { status: 412, code: 'conflict' })
    }
    expect(rowIn(await store.call(path))).to.include({ name: 'By another' })
  })

  it('neither claims a key nor answers past one that was used', async () => {
    const body = product('D-20')
    const retry = (write: object): Promise<Answer> =>
      send(store, 'clerk POST /products', { body, key: 'used', ...write })
    for (const time of ['first', 'second']) {
      const dry = await changesNothing(store, () => retry({ headers: DRY }))
      expect([dry.status, dry.headers['idempotent-replayed']], time).to.deep.equal([201, undefined])
    }
    const first = await retry({})
    expect([first.status, first.headers['idempotent-replayed']]).to.deep.equal([201, undefined])
    // The write would be a replay now.
    const replay = await changesNothing(store, () => retry({ headers: DRY }))
    expect(replay.headers).to.include({ 'idempotent-replayed': 'true', 'preference-applied': 'tx=rollback' })
    expect(replay.headers).not.to.have.any.keys('location')
    expect(replay.bytes).to.deep.equal(first.bytes)
    const other = await changesNothing(store, () => retry({ body: product('D-21'), headers: DRY }))
    store.problem(other, { status: 422, code: 'idempotency.key.reused' })
  })

  it('goes together with strict handling, in one header or two', async () => {
    for (const prefer of [
      'handling=strict, tx=rollback',
      ['tx=rollback', 'handling=strict'],
      'TX="rollback"; x=1,handling=strict'
    ]) {
      const headers = { prefer }
      const taken = await changesNothing(store, () =>
        send(store, 'clerk POST /products', { body: product('D-30'), headers })
      )
      expect([taken.status, taken.headers['preference-applied']], String(prefer)).to.deep.equal([
        201,
        'handling=strict, tx=rollback'
      ])
      const body = product('D-30', { extra: 1 })
      const rejected = await changesNothing(store, () => send(store, 'clerk POST /products', { body, headers }))
      store.problem(rejected, { status: 400, code: 'parameter.unknown', says: 'extra' })
    }
  })

  it('is no other value of tx, which is carried out, and no preference of a read', async () => {
    const others = [
      'tx=commit',
      'tx=rollback-allow-override',
      'tx=roll',
      'tx',
      'x="tx=rollback"',
      'tx=commit, tx=rollback',
      'tx=rollback=1'
    ]
    for (const [index, prefer] of others.entries()) {
      const sku = `D-4${index}`
      const answer = await send(store, 'clerk POST /products', { body: product(sku), headers: { prefer } })
      expect([answer.status, answer.headers['preference-applied']], prefer).to.deep.equal([201, undefined])
      expect(await count(store, 'products WHERE sku = ?', [sku]), prefer).to.equal(1)
    }
    expect((await store.call('/products/1', { headers: DRY })).headers).not.to.have.any.keys('preference-applied')
  })
})
