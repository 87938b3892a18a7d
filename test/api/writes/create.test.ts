import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { json } from '../http-call.js'
import { changesNothing, count, select } from './stored.js'
import { etagOf, rowIn, send, tagOf } from './send.js'

/** A product as a create request may hold it, and as it is then shown. */
const WHOLE = {
  sent: {
    name: `Ünïcode 漢字 🎈 "quoted", O'Brien\r\n100%_ \\ end `,
    sku: 'NEW-2',
    categoryId: 2,
    price: '99999999.99',
    weightGrams: 2147483647,
    barcode: '-9223372036854775808',
    isActive: false,
    releasedAt: '2026-01-31T09:30:00.5+01:30',
    externalId: 'AAAAAAAA-BBBB-4CCC-8DDD-EEEEEEEEEEEE',
    description: ''
  },
  shown: {
    releasedAt: '2026-01-31T08:00:00.500Z',
    externalId: 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee'
  }
}

describeApi(
  'create',
  (store) => {
    it('answers 201, the full DTO, Location and ETag, as a read then shows them', async () => {
      const sent = { name: 'Anvil', sku: 'NEW-1', categoryId: 1, price: '19.90' }
      const created = await send(store, 'clerk POST /products', { body: sent })
      expect(created.status, created.text).to.equal(201)
      const { id, rowVersion } = rowIn(created)
      expect(rowIn(created)).to.deep.equal({
        ...sent,
        id,
        weightGrams: null,
        barcode: null,
        isActive: true,
        releasedAt: null,
        externalId: null,
        description: null,
        costPrice: null,
        reorderLevel: null,
        displayName: 'Anvil (NEW-1)',
        margin: null,
        rowVersion
      })
      expect(id).to.be.an('number')
      expect(Buffer.from(String(rowVersion), 'base64')).to.have.length(8)
      expect(created.headers).to.include({
        location: `${store.url}/products/${String(id)}`,
        etag: tagOf(rowVersion),
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'api-supported-versions': '1.0'
      })
      const read = await store.as('clerk', `/products/${String(id)}`)
      expect(created.bytes).to.deep.equal(read.bytes)
      expect(Object.keys(created.headers)).to.have.members([...Object.keys(read.headers), 'location'])
      expect(await select(store, 'SELECT name, category_id FROM products WHERE sku = ?', ['NEW-1'])).to.have.length(1)
    })

    it('keeps every value to the digit and to the character', async () => {
      const created = await send(store, 'clerk POST /products', { body: WHOLE.sent })
      expect(created.status, created.text).to.equal(201)
      const { id, rowVersion, displayName, ...rest } = rowIn(created)
      const unset = { costPrice: null, reorderLevel: null, margin: null }
      expect(rest).to.deep.equal({ ...WHOLE.sent, ...WHOLE.shown, ...unset })
      expect(displayName).to.equal(`${WHOLE.sent.name} (NEW-2)`)
      expect((await store.as('clerk', `/products/${String(id)}`)).bytes).to.deep.equal(created.bytes)
      const [row] = await select(store, 'SELECT name, barcode FROM products WHERE id = ?', [Number(id)])
      expect(row).to.deep.include({ name: WHOLE.sent.name })
      expect(String(row?.['barcode'])).to.equal(WHOLE.sent.barcode)
      expect(rowVersion).to.be.a('string')
    })

    for (const [title, members, shown] of [
      ['a long as a safe JSON number', '"barcode":9007199254740991', { barcode: '9007199254740991' }],
      ['a negative long as a JSON number', '"barcode":-9007199254740991', { barcode: '-9007199254740991' }],
      ['a decimal as a JSON number', '"price":19.9', { price: '19.90' }],
      ['a decimal with an exponent', '"price":1.00e1', { price: '10.00' }],
      ['a decimal in fewer digits than the column has', '"price":"7"', { price: '7.00' }],
      [
        'a date and time without an offset as UTC',
        '"releasedAt":"2026-02-28T23:59:59"',
        { releasedAt: '2026-02-28T23:59:59.000Z' }
      ],
      [
        'a date and time of the day before in UTC',
        '"releasedAt":"2026-01-01T00:30:00+01:00"',
        { releasedAt: '2025-12-31T23:30:00.000Z' }
      ],
      ['explicit nulls', '"barcode":null,"description":null', { barcode: null, description: null }],
      ['the last of 200 characters, each two UTF-16 units', `"name":"${'🎈'.repeat(200)}"`, { name: '🎈'.repeat(200) }],
      ['2000 characters of free text', `"description":"${'é'.repeat(2000)}"`, { description: 'é'.repeat(2000) }]
    ] as const) {
      it(`takes ${title}`, async () => {
        const sku = `T-${title}`.slice(0, 64)
        const base = `"name":"n","sku":${JSON.stringify(sku)},"categoryId":1,"price":"1.00"`
        // Of two members with one name the tests keep the latter by leaving the former out.
        const kept = base.split(',').filter((member) => !members.startsWith(member.split(':')[0] ?? member))
        const answer = await send(store, 'clerk POST /products', { body: `{${[...kept, members].join(',')}}` })
        expect(answer.status, answer.text).to.equal(201)
        expect(rowIn(answer)).to.deep.include(shown)
      })
    }

    it('ignores what a client may not set and says so', async () => {
      const body = {
        id: 4711,
        rowVersion: 'AAAAAAAAAAA=',
        displayName: 'mine',
        category: { id: 1 },
        variants: [{ sku: 'X' }],
        'näme,': 1,
        __proto__x: 1,
        name: 'Ignoring',
        sku: 'NEW-3',
        categoryId: 1,
        price: 1
      }
      const created = await send(store, 'clerk POST /products?colour=red', { body })
      expect(created.status, created.text).to.equal(201)
      expect(created.headers['x-ignored-parameters']?.toString().split(',')).to.have.members([
        'colour',
        'body.id',
        'body.rowVersion',
        'body.displayName',
        'body.category',
        'body.variants',
        'body.n%C3%A4me%2C',
        'body.__proto__x'
      ])
      const { id, rowVersion, displayName } = rowIn(created)
      expect(id).not.to.equal(4711)
      expect(rowVersion).not.to.equal(body.rowVersion)
      expect(displayName).to.equal('Ignoring (NEW-3)')
      expect(await count(store, 'product_variants WHERE product_id = ?', [Number(id)])).to.equal(0)
    })

    it('names at most 20 ignored members in X-Ignored-Parameters', async () => {
      const extra = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`extra${n}`, n]))
      const body = { ...extra, name: 'Many', sku: 'NEW-4', categoryId: 1, price: 1 }
      const created = await send(store, 'clerk POST /products', { body })
      const names = created.headers['x-ignored-parameters']?.toString().split(',') ?? []
      expect(names).to.deep.equal(Array.from({ length: 20 }, (_, n) => `body.extra${n}`))
    })

    it('rejects members that a client may not set where handling is strict', async () => {
      const body = { id: 1, rowVersion: 'x', 'a/b~c': 1, name: 'Strict', sku: 'NEW-5', categoryId: 1, price: '1.00' }
      const headers = { prefer: 'handling=strict' }
      const rejected = await changesNothing(store, () =>
        send(store, 'clerk POST /products?colour=red', { body, headers, key: 'strict' })
      )
      store.problem(rejected, {
        status: 400,
        code: 'parameter.unknown',
        violations: [
          { code: 'parameter.unknown', pointer: '/id' },
          { code: 'parameter.unknown', pointer: '/rowVersion' },
          { code: 'parameter.unknown', pointer: '/a~1b~0c' },
          { code: 'parameter.unknown', parameter: 'colour' }
        ]
      })
      const { name, sku, categoryId, price } = body
      const alone = await send(store, 'clerk POST /products', {
        body: { name, sku, categoryId, price, extra: 1 },
        headers
      })
      store.problem(alone, { status: 400, code: 'parameter.unknown', says: 'extra' })
      const taken = await send(store, 'clerk POST /products', { body: { name, sku, categoryId, price }, headers })
      expect(taken.status, taken.text).to.equal(201)
      expect(taken.headers['preference-applied']).to.equal('handling=strict')
    })

    it('of a customer makes the addresses, and sets what no request sets', async () => {
      const address = { line1: '1 Rue', city: 'Köln', postalCode: '50667', country: 'DE' }
      const before = Date.now()
      const created = await send(store, 'clerk POST /customers', {
        body: {
          name: 'Dora',
          email: 'dora@example.com',
          isSuspended: true,
          createdAt: '1999-01-01T00:00:00Z',
          riskNote: 'sneaked',
          addresses: [
            { ...address, id: 9 },
            { ...address, line1: '2 Rue', rowVersion: 'x' }
          ]
        }
      })
      expect(created.status, created.text).to.equal(201)
      expect(created.headers['x-ignored-parameters']?.toString().split(',').map(decodeURIComponent)).to.have.members([
        'body.isSuspended',
        'body.createdAt',
        'body.riskNote',
        'body.addresses/0/id',
        'body.addresses/1/rowVersion'
      ])
      const { id, rowVersion, createdAt, ...rest } = rowIn(created)
      expect(rest).to.deep.equal({ name: 'Dora', email: 'dora@example.com', phone: null, isSuspended: false })
      expect(Date.parse(String(createdAt))).to.be.within(before, Date.now())
      expect(created.text).not.to.include('riskNote')
      const read = rowIn(await store.as('admin', `/customers/${String(id)}?includeChildren=true`))
      const [first, second] = read['addresses'] as Record<string, unknown>[]
      expect(first).to.deep.equal({ ...address, id: first?.['id'], rowVersion: first?.['rowVersion'] })
      expect(second).to.deep.include({ ...address, line1: '2 Rue' })
      expect(first?.['id']).not.to.equal(9)
      expect(first?.['rowVersion']).not.to.equal(second?.['rowVersion'])
      const [row] = await select(store, 'SELECT risk_note FROM customers WHERE id = ?', [Number(id)])
      expect(row).to.deep.equal({ risk_note: null })
      expect(rowVersion).to.be.a('string')
    })

    it('of a customer asks for no addresses', async () => {
      const body = { name: 'Emil', email: 'emil@example.com' }
      const created = await send(store, 'clerk POST /customers', { body })
      expect(created.status, created.text).to.equal(201)
      const read = await store.as('admin', `/customers/${String(rowIn(created)['id'])}?includeChildren=true`)
      expect(rowIn(read)).to.deep.include({ ...body, phone: null, addresses: [] })
    })

    it('of an order computes number, prices, total, status and time', async () => {
      const before = Date.now()
      const created = await send(store, 'ada POST /orders', {
        body: {
          number: 'mine',
          status: 'paid',
          total: '0.01',
          placedAt: '1999-01-01T00:00:00Z',
          lines: [
            { productId: 1, variantId: 2, quantity: 3, unitPrice: '0.01' },
            { productId: 1, quantity: 2 },
            { productId: 9, quantity: 10000 }
          ]
        }
      })
      expect(created.status, created.text).to.equal(201)
      const { id, number, placedAt, rowVersion, ...rest } = rowIn(created)
      // 3 × 25.50 + 2 × 19.90 + 10000 × 0.01
      expect(rest).to.deep.equal({
        customerId: 1,
        status: 'placed',
        total: '216.30',
        paidAt: null,
        deliveredAt: null,
        trackingCode: null
      })
      expect(number)
        .to.match(/^[A-Z0-9-]{5,64}$/)
        .and.not.equal('mine')
      expect(Date.parse(String(placedAt))).to.be.within(before, Date.now())
      expect(rowVersion).to.be.a('string')
      expect(created.headers['x-ignored-parameters']?.toString().split(',').map(decodeURIComponent)).to.have.members([
        'body.number',
        'body.status',
        'body.total',
        'body.placedAt',
        'body.lines/0/unitPrice'
      ])
      const read = rowIn(await store.as('ada', `/orders/${String(id)}?includeChildren=true`))
      const lines = (read['lines'] as Record<string, unknown>[]).map(
        ({ id: _id, rowVersion: _version, ...line }) => line
      )
      expect(lines).to.deep.equal([
        { productId: 1, variantId: 2, quantity: 3, unitPrice: '25.50' },
        { productId: 1, variantId: null, quantity: 2, unitPrice: '19.90' },
        { productId: 9, variantId: null, quantity: 10000, unitPrice: '0.01' }
      ])
    })

    it('leaves an audit entry that its readers find, and none when rejected', async () => {
      const before = Date.now()
      const created = await send(store, 'clerk POST /categories', { body: { name: 'Audited', slug: 'audited' } })
      const id = String(rowIn(created)['id'])
      await send(store, 'clerk POST /categories', { body: { name: 'Audited', slug: 'other' } })
      await send(store, 'clerk POST /categories', { body: { name: '', slug: 'other' } })
      const found = json(await store.as('admin', `/audit-entries/paged?sortColumn=id&sortDirection=desc&pageSize=1`))
      const [entry = {}] = found as Record<string, unknown>[]
      expect(entry).to.deep.include({ resource: 'categories', rowId: id, action: 'create' })
      expect(entry['subject']).to.match(/ clerk@example\.com$/)
      expect(Date.parse(String(entry['at']))).to.be.within(before, Date.now())
      expect(await count(store, "ur_audit_entries WHERE resource = 'categories'")).to.equal(1)
      store.problem(await store.as('clerk', '/audit-entries'), { status: 403, code: 'capability.denied' })
      store.problem(await send(store, 'admin POST /audit-entries', { body: {} }), {
        status: 405,
        code: 'method.not-allowed'
      })
    })

    it('gives a tag that the next write takes without a read', async () => {
      const created = await send(store, 'clerk POST /categories', { body: { name: 'Chained', slug: 'chained' } })
      const { id } = rowIn(created)
      const put = await send(store, `clerk PUT /categories/${String(id)}`, {
        body: { name: 'Chained', slug: 'chained-2' },
        ifMatch: etagOf(created)
      })
      expect(put.status, put.text).to.equal(200)
    })
  },
  { also: ['cuts'] }
)

const BASE = 'https://shop.example/api'

describeApi(
  'create under PUBLIC_BASE_URL with a path',
  (store) => {
    it('gives a Location on the base, and so does its replay', async () => {
      const write = { body: { lines: [{ productId: 1, quantity: 1 }] }, key: 'based' }
      const created = await send(store, 'ada POST /api/orders', write)
      expect(created.status, created.text).to.equal(201)
      expect(created.headers.location).to.equal(`${BASE}/orders/${String(rowIn(created)['id'])}`)
      const replay = await send(store, 'ada POST /api/orders', write)
      expect(replay.headers).to.include({ 'idempotent-replayed': 'true', location: created.headers.location })
      expect((await store.as('ada', new URL(String(created.headers.location)).pathname)).bytes).to.deep.equal(
        created.bytes
      )
    })
  },
  { on: 'sqlite', env: () => ({ PUBLIC_BASE_URL: BASE }) }
)
