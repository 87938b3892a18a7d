import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { GrpcCaller } from '../../stack/grpc-caller.js'
import { withTestDatabase } from '../../oracle/test-database.js'
import { describeApi } from '../api-store.js'
import { PRODUCTS, productItem, rowOf, versionOf } from '../fixture.js'
import type { Answer } from '../http-call.js'
import { gathered } from './hold.js'
import { etagOf, rowIn, send, tagOf } from './send.js'
import { changesNothing, count, select } from './stored.js'
import { describeWriters, together } from './writers.js'

/** For the request to come to the row that the transaction holds. */
const GATHERING_MS = 300

const tag = (id: number): string => tagOf(versionOf(rowOf(PRODUCTS, id)))
const stale = tagOf(Buffer.from('STALETAG').toString('base64'))

/** A whole body but for the sku. */
const body = { name: 'By sku', categoryId: 3, price: '20.00', isActive: true }

describeApi('PUT /{resource}/by/{property}/{value}', (store) => {
  it('is the PUT of the row that has the value, whose spelling stays where the body leaves it out', async () => {
    const answer = await send(store, 'clerk PUT /products/by/SKU/hm-001', { body, ifMatch: tag(1) })
    expect(answer.status, answer.text).to.equal(200)
    expect(rowIn(answer)).to.include({ ...body, id: 1, sku: 'HM-001', description: null })
    const read = await store.as('clerk', '/products/1')
    expect(answer.bytes).to.deep.equal(read.bytes)
    expect(etagOf(answer)).to.equal(etagOf(read))
    expect(answer.headers).to.not.have.property('x-ignored-parameters')
    const [entry] = await select(store, 'SELECT row_id, action FROM ur_audit_entries ORDER BY id DESC LIMIT 1')
    expect(entry).to.deep.equal({ row_id: '1', action: 'update' })
    const again = await send(store, 'clerk PUT /products/by/sku/hm-001', {
      body: { ...body, id: 1, sku: 'hm-001' },
      ifMatch: etagOf(answer)
    })
    expect(rowIn(again)).to.include({ id: 1, sku: 'hm-001' })
  })

  it('takes back what GET of the same path answered, in whatever spelling the path is', async () => {
    const { sku } = productItem(9)
    const path = `/products/by/sku/${String(sku).toLowerCase()}`
    const read = await store.as('clerk', path)
    expect(rowIn(read)).to.include({ id: 9, sku })
    const answer = await send(store, `clerk PUT ${path}`, { body: rowIn(read), ifMatch: etagOf(read) })
    expect(answer.status, answer.text).to.equal(200)
    expect({ ...rowIn(answer), rowVersion: '', updatedAt: '' }).to.deep.equal({
      ...rowIn(read),
      rowVersion: '',
      updatedAt: ''
    })
    const other = { ...rowIn(answer), sku: `${String(sku)}-other` }
    const refused = await send(store, `clerk PUT ${path}`, { body: other, ifMatch: etagOf(answer) })
    store.problem(refused, {
      status: 400,
      code: 'id.mismatch',
      violations: [{ code: 'id.mismatch', pointer: '/sku' }]
    })
  })

  it('logs a conflict with the property, and with neither the value nor an id', async () => {
    const { headers, status } = await send(store, 'clerk PUT /products/by/sku/ct-100', { body, ifMatch: stale })
    expect(status).to.equal(412)
    const line = await store.stack.dataService.logged(
      ({ requestId, msg }) => requestId === headers['x-request-id'] && msg === 'call refused'
    )
    expect(line).to.include({ code: 'conflict', resource: 'products', property: 'sku' }).and.not.have.property('id')
    expect(JSON.stringify(line).toLowerCase()).to.not.include('ct-100')
  })

  it('rejects another value in the body, and another id, and writes nothing', async () => {
    for (const [more, pointers] of [
      [{ sku: 'CT-101' }, ['/sku']],
      [{ sku: 'ct-100' }, ['/sku']],
      [{ sku: null }, ['/sku']],
      [{ sku: 5 }, ['/sku']],
      [{ id: 4 }, ['/id']]
    ] as const) {
      const answer = await changesNothing(store, () =>
        send(store, 'clerk PUT /products/by/sku/CT-100', { body: { ...body, ...more }, ifMatch: tag(3) })
      )
      const violations = pointers.map((pointer) => ({ code: 'id.mismatch', pointer }))
      store.problem(answer, { status: 400, code: 'id.mismatch', violations })
    }
  })

  for (const [title, line, write, expected] of [
    ['needs If-Match', 'clerk PUT /products/by/sku/CT-100', {}, [428, 'precondition.required']],
    ['does not take *', 'clerk PUT /products/by/sku/CT-100', { ifMatch: '*' }, [428, 'precondition.required']],
    ['rejects a malformed tag', 'clerk PUT /products/by/sku/CT-100', { ifMatch: 'x' }, [400, 'precondition.malformed']],
    ['answers 412 of a stale tag', 'clerk PUT /products/by/sku/CT-100', { ifMatch: stale }, [412, 'conflict']],
    ['never creates', 'clerk PUT /products/by/sku/CT-101', { ifMatch: stale }, [404, 'not-found']],
    ['rejects a malformed value', 'clerk PUT /products/by/sku/a%00b', { ifMatch: stale }, [400, 'id.invalid']],
    ['knows no other property', 'clerk PUT /products/by/name/Hammer', { ifMatch: stale }, [404, 'route.not-found']],
    ['needs a token', '- PUT /products/by/sku/CT-100', { ifMatch: stale }, [401, 'auth.required']],
    ['needs the permission', 'ada PUT /products/by/sku/CT-100', { ifMatch: stale }, [403, 'capability.denied']],
    [
      'is not where there is no PUT',
      'admin PUT /orders/by/number/O-00001',
      { ifMatch: stale },
      [405, 'method.not-allowed']
    ]
  ] as const) {
    it(`${title}, and writes nothing`, async () => {
      const answer = await changesNothing(store, () => send(store, line, { body, ...write }))
      const [status, code] = expected
      store.problem(answer, { status, code })
      if (status === 412) expect(answer.headers['conflict-reason']).to.equal('stale')
    })
  }

  it('says which unique value is taken, and lets the row keep its own', async () => {
    const { slug } = rowIn(await store.call('/categories/1'))
    const ifMatch = etagOf(await store.call('/categories/1'))
    const taken = { name: 'Power Tools', slug }
    const answer = await send(store, `clerk PUT /categories/by/slug/${String(slug)}`, { body: taken, ifMatch })
    store.problem(answer, { status: 412, code: 'conflict' })
    expect(answer.headers['conflict-reason']).to.equal('unique; property="name"')
    const other = await send(store, 'clerk PUT /categories/by/name/tools', { body: { slug: 'tools-2' }, ifMatch })
    expect(rowIn(other)).to.include({ id: 1, name: 'Tools', slug: 'tools-2' })
  })

  it('replays its answer under its own path, also when the value is gone', async () => {
    const write = { body, ifMatch: tag(6), key: 'by-sku' }
    const first = await send(store, 'clerk PUT /products/by/sku/FX-1', write)
    expect(first.status, first.text).to.equal(200)
    // The same key under the path of the id is another write.
    const byId = await send(store, 'clerk PUT /products/6', {
      ...write,
      body: { ...body, sku: 'FX-2' },
      ifMatch: etagOf(first)
    })
    expect([byId.status, byId.headers['idempotent-replayed']]).to.deep.equal([200, undefined])
    const retry = await send(store, 'clerk PUT /products/by/sku/FX-1', write)
    expect(retry.bytes).to.deep.equal(first.bytes)
    expect([retry.status, retry.headers.etag, retry.headers['idempotent-replayed']]).to.deep.equal([
      200,
      first.headers.etag,
      'true'
    ])
    store.problem(await send(store, 'clerk PUT /products/by/sku/FX-1', { ...write, key: 'other' }), {
      status: 404,
      code: 'not-found'
    })
  })

  it('is the rpc Update with a property', async () => {
    const rpc = new GrpcCaller(store.stack.dataAddress)
    try {
      const token = await store.stack.token('clerk@example.com')
      const precondition = {
        kind: 'PRECONDITION_KIND_TAGS',
        versions: [Buffer.from(versionOf(rowOf(PRODUCTS, 7)), 'base64')]
      }
      const update = { resource: 'products', id: 'un-1', body: Buffer.from(JSON.stringify(body)), precondition }
      expect(await rpc.unary('Update', update, { token })).to.have.nested.property('details.reason', 'id.invalid')
      expect(await rpc.unary('Update', { ...update, property: 'name' }, { token })).to.have.nested.property(
        'details.reason',
        'route.not-found'
      )
      const answer = await rpc.unary('Update', { ...update, property: 'sku' }, { token })
      expect(answer)
        .to.have.nested.property('record.json')
        .that.deep.equals((await store.as('clerk', '/products/7')).bytes)
    } finally {
      rpc.close()
    }
  })

  it('writes no row that has lost the value meanwhile, though its version stayed', async () => {
    const { sku } = productItem(10)
    await withTestDatabase(store.databaseUrl, async (database) => {
      await database.run(database.kind === 'sqlite' ? 'BEGIN IMMEDIATE' : 'START TRANSACTION')
      await database.run("UPDATE products SET sku = 'TAKEN-AWAY' WHERE id = 10")
      const writing = send(store, `clerk PUT /products/by/sku/${String(sku)}`, { body, ifMatch: tag(10) })
      await Promise.race([writing, sleep(GATHERING_MS)])
      await database.run('COMMIT')
      const answer = await writing
      expect([404, 412], answer.text).to.include(answer.status)
    })
    const [row] = await select(store, 'SELECT name, sku FROM products WHERE id = 10')
    expect(row).to.deep.equal({ name: productItem(10)['name'], sku: 'TAKEN-AWAY' })
  })
})

describeWriters('PUTs by a unique property at the same time', (writers) => {
  const product = (sku: string): object => ({ ...body, sku })

  it('of one row with one tag: one 200, the others 412, and one row', async () => {
    const made = await writers.send(0, 'clerk POST /products', { body: product('RACED') })
    const rows = await count(writers, 'products')
    const put = (n: number): Promise<Answer> =>
      writers.send(n, 'clerk PUT /products/by/sku/raced', {
        body: { ...body, description: `client ${n}` },
        ifMatch: etagOf(made)
      })
    const answers = await gathered(writers, "SELECT id FROM products WHERE sku = 'RACED' FOR UPDATE", () =>
      together(20, put)
    )
    const won = answers.filter(({ status }) => status === 200)
    expect(won, answers.map(({ status }) => status).join()).to.have.length(1)
    for (const answer of answers.filter((one) => !won.includes(one))) {
      writers.problem(answer, { status: 412, code: 'conflict' })
    }
    const stored = await select(writers, "SELECT description FROM products WHERE sku = 'RACED'")
    expect(stored).to.deep.equal([{ description: `client ${won[0] === undefined ? '' : answers.indexOf(won[0])}` }])
    expect(await count(writers, 'products')).to.equal(rows)
  })

  it('beside one that takes the value away: one of both, no row twice and none lost', async () => {
    const rows = await count(writers, 'products')
    for (let round = 1; round <= 5; round++) {
      const sku = `AWAY-${round}`
      const made = await writers.send(0, 'clerk POST /products', { body: product(sku) })
      const { id } = rowIn(made)
      const ifMatch = etagOf(made)
      const lines = [`clerk PUT /products/by/sku/${sku}`, `clerk PUT /products/${String(id)}`]
      const bodies = [
        { ...body, name: 'By sku' },
        { ...product(`GONE-${round}`), name: 'By id' }
      ]
      const answers = await gathered(writers, `SELECT id FROM products WHERE sku = '${sku}' FOR UPDATE`, () =>
        together(2, (n) => writers.send(n, lines[n] ?? '', { body: bodies[n] ?? {}, ifMatch }))
      )
      const [byValue, byId] = answers.map(({ status }) => status)
      expect([byValue, byId], `round ${round}`).to.be.deep.oneOf([
        [200, 412],
        [412, 200],
        [404, 200]
      ])
      const stored = await select(writers, 'SELECT name, sku FROM products WHERE id = ?', [Number(id)])
      expect(stored).to.deep.equal([
        byValue === 200 ? { name: 'By sku', sku } : { name: 'By id', sku: `GONE-${round}` }
      ])
    }
    expect(await count(writers, 'products')).to.equal(rows + 5)
  })

  it('beside imports of the same rows with `by`: each row once, and no update is lost', async () => {
    const [ROWS, IMPORTS, EDITORS, UPDATES] = [30, 4, 3, 8]
    const skus = Array.from({ length: ROWS }, (_, n) => `MEET-${n}`)
    /** What is busy or has met another write is sent again, as clients do. */
    const importRows = async (n: number): Promise<Readonly<Record<string, number>>> => {
      const order = n % 2 === 0 ? skus : skus.toReversed()
      const file = order
        .map((sku) => JSON.stringify({ ...product(sku), name: `import ${n}`, weightGrams: 0 }))
        .join('\n')
      for (;;) {
        const answer = await writers.send(
          n,
          `clerk POST /products/import?by=sku&onError=${n < IMPORTS / 2 ? 'skip' : 'stop'}`,
          { body: file, key: `meet-${n}`, headers: { 'content-type': 'application/x-ndjson' } }
        )
        if (answer.status === 200) return rowIn(answer) as Readonly<Record<string, number>>
        expect([409, 503], answer.text).to.include(answer.status)
        // A row that is there is no conflict of an import with `by`.
        expect(String(answer.headers['conflict-reason']), answer.text).not.to.contain('unique')
      }
    }
    /** One more in each of some rows. Returns the skus of the updates that were acknowledged. */
    const edit = async (n: number): Promise<readonly string[]> => {
      const done: string[] = []
      while (done.length < UPDATES) {
        const sku = skus[(done.length * 2) % 8] ?? ''
        const path = `/products/by/sku/${sku.toLowerCase()}`
        const read = await writers.read(n, path)
        expect([200, 404], read.text).to.include(read.status)
        if (read.status === 404) continue
        const row = rowIn(read)
        const answer = await writers.send(n, `clerk PUT ${path}`, {
          body: { ...row, weightGrams: Number(row['weightGrams']) + 1 },
          ifMatch: etagOf(read)
        })
        expect([200, 412, 503], answer.text).to.include(answer.status)
        if (answer.status === 200) done.push(sku)
      }
      return done
    }
    const [counts, updates] = await Promise.all([together(IMPORTS, importRows), together(EDITORS, edit)])
    const sum = (name: string): number => counts.reduce((all, one) => all + Number(one[name]), 0)
    // A request that was sent again may find what its first try has created.
    expect([sum('created') + sum('replayed'), sum('failed')]).to.deep.equal([ROWS, 0])
    expect(counts.map(({ rows }) => rows)).to.deep.equal(counts.map(() => ROWS))
    const stored = await select(
      writers,
      "SELECT sku, weight_grams, name FROM products WHERE sku LIKE 'MEET-%' ORDER BY id"
    )
    expect(stored.map(({ sku }) => sku)).to.have.members(skus)
    const acknowledged = updates.flat()
    for (const row of stored) {
      const times = acknowledged.filter((sku) => sku === row['sku']).length
      expect(Number(row['weight_grams']), `updates of ${String(row['sku'])}`).to.equal(times)
    }
  })

  it('never write the row that got the value in between', async () => {
    const [first, second] = await together(2, (n) =>
      writers.send(n, 'clerk POST /products', { body: product(`SWAP-${n}`) })
    )
    if (first === undefined || second === undefined) throw new Error('not made')
    // The value moves to the other row, in two steps; the PUT knows the version of the first row.
    const moved = await writers.send(0, `clerk PUT /products/${String(rowIn(first)['id'])}`, {
      body: product('SWAP-OLD'),
      ifMatch: etagOf(first)
    })
    const [taken, put] = await Promise.all([
      writers.send(0, `clerk PUT /products/${String(rowIn(second)['id'])}`, {
        body: { ...product('SWAP-0'), name: 'Second' },
        ifMatch: etagOf(second)
      }),
      writers.send(1, 'clerk PUT /products/by/sku/SWAP-0', { body: { ...body, name: 'Lost' }, ifMatch: etagOf(first) })
    ])
    expect([moved.status, taken.status]).to.deep.equal([200, 200])
    expect([404, 412]).to.include(put.status)
    expect(await count(writers, "products WHERE name = 'Lost'")).to.equal(0)
    expect(await count(writers, "products WHERE sku = 'SWAP-0'")).to.equal(1)
  })
})
