import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { PRODUCTS, rowOf, versionOf } from '../fixture.js'
import { GrpcCaller, isFailure, type Method, type RpcFailure } from '../../stack/grpc-caller.js'
import { changesNothing, count } from './stored.js'
import { send, tagOf } from './send.js'

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
const versions = (...found: readonly string[]): object => ({
  kind: 'PRECONDITION_KIND_TAGS',
  versions: found.map((one) => Buffer.from(one, 'base64'))
})

const VERSION = versionOf(rowOf(PRODUCTS, 1))
const FRESH = versions(VERSION)
const PRODUCT = { name: 'n', sku: 'RPC', categoryId: 1, price: '1.00', isActive: true }

interface Rejection {
  readonly title: string
  readonly method: Method
  readonly request: object
  readonly account?: string
  readonly status: status
  readonly reason: string
  /** What the metadata of a conflict says. */
  readonly conflict?: string
}

const update = (more: object): object => ({
  resource: 'products',
  id: '1',
  body: bytes(PRODUCT),
  precondition: FRESH,
  ...more
})
const act = (more: object): object => ({
  resource: 'products',
  id: '1',
  action: 'unpublish',
  precondition: FRESH,
  ...more
})
const conflict = { status: status.FAILED_PRECONDITION, reason: 'conflict' }
const invalid = { status: status.INVALID_ARGUMENT }

/** The data service is the boundary: what the gateway checks it checks as well. */
const REFUSALS: readonly Rejection[] = [
  {
    title: 'no token',
    method: 'Create',
    request: { resource: 'products', body: bytes(PRODUCT) },
    account: '',
    status: status.UNAUTHENTICATED,
    reason: 'auth.required'
  },
  {
    title: 'no permission',
    method: 'Update',
    request: update({}),
    account: 'ada',
    status: status.PERMISSION_DENIED,
    reason: 'capability.denied'
  },
  {
    title: 'no owner',
    method: 'Create',
    request: { resource: 'orders', body: bytes({ lines: [{ productId: 1, quantity: 1 }] }) },
    account: 'nobody',
    status: status.PERMISSION_DENIED,
    reason: 'ownership.denied'
  },
  {
    title: 'no owner and no precondition',
    method: 'Act',
    request: { resource: 'orders', id: '1', action: 'pay' },
    account: 'nobody',
    status: status.FAILED_PRECONDITION,
    reason: 'precondition.required'
  },
  {
    title: 'no owner and an invalid body',
    method: 'Act',
    request: { resource: 'orders', id: '1', action: 'pay', body: bytes([]), precondition: FRESH },
    account: 'nobody',
    ...invalid,
    reason: 'body.invalid'
  },
  {
    title: 'no owner for an action',
    method: 'Act',
    request: { resource: 'orders', id: '1', action: 'pay', precondition: FRESH },
    account: 'nobody',
    status: status.PERMISSION_DENIED,
    reason: 'ownership.denied'
  },
  {
    title: "another's order",
    method: 'Act',
    request: { resource: 'orders', id: '2', action: 'pay', precondition: FRESH },
    account: 'ada',
    status: status.NOT_FOUND,
    reason: 'not-found'
  },
  {
    title: 'a malformed body and no token',
    method: 'Create',
    request: { resource: 'products', body: Buffer.from('{') },
    account: '',
    status: status.UNAUTHENTICATED,
    reason: 'auth.required'
  },
  {
    title: 'a malformed body and no permission',
    method: 'Create',
    request: { resource: 'products', body: Buffer.from('{') },
    account: 'ada',
    status: status.PERMISSION_DENIED,
    reason: 'capability.denied'
  },
  {
    title: 'a resource that has no updates',
    method: 'Update',
    request: update({ resource: 'orders', precondition: null }),
    ...invalid,
    reason: 'method.not-allowed'
  },
  {
    title: 'a bad id, a malformed body and no precondition',
    method: 'Update',
    request: update({ id: 'x', body: Buffer.from('{'), precondition: null }),
    status: status.FAILED_PRECONDITION,
    reason: 'precondition.required'
  },
  {
    title: 'a bad id, a malformed body and no precondition',
    method: 'Act',
    request: act({ id: 'x', body: Buffer.from('{'), precondition: null }),
    status: status.FAILED_PRECONDITION,
    reason: 'precondition.required'
  },
  {
    title: 'versions of no kind',
    method: 'Update',
    request: update({ precondition: { ...FRESH, kind: 'PRECONDITION_KIND_UNSPECIFIED' } }),
    ...invalid,
    reason: 'precondition.malformed'
  },
  {
    title: 'versions of no kind',
    method: 'Delete',
    request: { resource: 'products', id: '12', precondition: { ...FRESH, kind: 'PRECONDITION_KIND_UNSPECIFIED' } },
    ...invalid,
    reason: 'precondition.malformed'
  },
  {
    title: 'no precondition',
    method: 'Update',
    request: update({ precondition: null }),
    status: status.FAILED_PRECONDITION,
    reason: 'precondition.required'
  },
  {
    title: 'any version',
    method: 'Act',
    request: act({ precondition: { kind: 'PRECONDITION_KIND_ANY' } }),
    status: status.FAILED_PRECONDITION,
    reason: 'precondition.required'
  },
  {
    title: 'a malformed one',
    method: 'Update',
    request: update({ precondition: { kind: 'PRECONDITION_KIND_MALFORMED' } }),
    ...invalid,
    reason: 'precondition.malformed'
  },
  {
    title: 'no version in it',
    method: 'Act',
    request: act({ precondition: versions() }),
    ...invalid,
    reason: 'precondition.malformed'
  },
  {
    title: 'an empty version',
    method: 'Update',
    request: update({ precondition: versions(VERSION, '') }),
    ...invalid,
    reason: 'precondition.malformed'
  },
  {
    title: 'an empty version',
    method: 'Delete',
    request: { resource: 'products', id: '12', precondition: versions('') },
    ...invalid,
    reason: 'precondition.malformed'
  },
  {
    title: 'a malformed body',
    method: 'Create',
    request: { resource: 'products', body: Buffer.from('{') },
    ...invalid,
    reason: 'body.malformed'
  },
  {
    title: 'an invalid body',
    method: 'Create',
    request: { resource: 'products', body: bytes({}) },
    ...invalid,
    reason: 'body.invalid'
  },
  {
    title: 'a key with a space',
    method: 'Create',
    request: { resource: 'products', body: bytes(PRODUCT), idempotencyKey: 'a b' },
    ...invalid,
    reason: 'idempotency.key.invalid'
  },
  {
    title: 'a key with a letter beyond ASCII',
    method: 'Create',
    request: { resource: 'products', body: bytes(PRODUCT), idempotencyKey: 'é' },
    ...invalid,
    reason: 'idempotency.key.invalid'
  },
  {
    title: 'a key with a line break at its end',
    method: 'Create',
    request: { resource: 'products', body: bytes(PRODUCT), idempotencyKey: 'a\n' },
    ...invalid,
    reason: 'idempotency.key.invalid'
  },
  {
    title: 'a key with the control character DEL',
    method: 'Update',
    request: update({ idempotencyKey: '\u007f' }),
    ...invalid,
    reason: 'idempotency.key.invalid'
  },
  {
    title: 'a key of 256 characters',
    method: 'Act',
    request: act({ idempotencyKey: 'x'.repeat(256) }),
    ...invalid,
    reason: 'idempotency.key.invalid'
  },
  {
    title: 'an unknown member, strictly',
    method: 'Create',
    request: { resource: 'products', body: bytes({ ...PRODUCT, id: 1 }), strict: true },
    ...invalid,
    reason: 'parameter.unknown'
  },
  { title: 'a bad id', method: 'Update', request: update({ id: 'x' }), ...invalid, reason: 'id.invalid' },
  {
    title: 'another id',
    method: 'Update',
    request: update({ body: bytes({ ...PRODUCT, id: 2 }) }),
    ...invalid,
    reason: 'id.mismatch'
  },
  { title: 'no row', method: 'Update', request: update({ id: '999' }), status: status.NOT_FOUND, reason: 'not-found' },
  {
    title: 'a wrong state',
    method: 'Act',
    request: act({ action: 'publish' }),
    status: status.FAILED_PRECONDITION,
    reason: 'state.invalid'
  },
  {
    title: 'no such action',
    method: 'Act',
    request: act({ action: 'nope' }),
    status: status.NOT_FOUND,
    reason: 'route.not-found'
  },
  {
    title: 'a stale version',
    method: 'Update',
    request: update({ precondition: versions('AAAAAAAAAAA=') }),
    ...conflict,
    conflict: 'stale'
  },
  {
    title: 'a unique value, guarded',
    method: 'Update',
    request: update({ body: bytes({ ...PRODUCT, sku: 'CT-100' }) }),
    ...conflict,
    conflict: 'unique; property="sku"'
  },
  {
    title: 'a foreign key, guarded',
    method: 'Update',
    request: update({ body: bytes({ ...PRODUCT, categoryId: 99 }) }),
    ...conflict,
    conflict: 'reference; property="categoryId"'
  },
  {
    title: 'a guarded DELETE of what is referred to',
    method: 'Delete',
    request: { resource: 'products', id: '1', precondition: FRESH },
    ...conflict,
    conflict: 'referenced'
  },
  {
    title: 'a unique value',
    method: 'Create',
    request: { resource: 'products', body: bytes({ ...PRODUCT, sku: 'CT-100' }) },
    status: status.ABORTED,
    reason: 'conflict',
    conflict: 'unique; property="sku"'
  },
  {
    title: 'a foreign key',
    method: 'Delete',
    request: { resource: 'categories', id: '1' },
    status: status.ABORTED,
    reason: 'conflict',
    conflict: 'referenced'
  }
]

describeApi(
  'gRPC writes',
  (store) => {
    let rpc: GrpcCaller
    before(() => (rpc = new GrpcCaller(store.stack.dataAddress)))
    after(() => rpc.close())

    const unary = async (method: Method, request: object, account = 'clerk'): Promise<object> =>
      rpc.unary(method, request, account === '' ? {} : { token: await store.stack.token(`${account}@example.com`) })

    /** `body.invalid body:/name` of each violation. */
    const violationsOf = async (method: Method, request: object, account?: string): Promise<string[]> => {
      const answer = await unary(method, request, account)
      if (!isFailure(answer)) throw new Error(`${JSON.stringify(answer)} is no failure`)
      return answer.details.violations.map(({ reason, field }) => `${reason} ${field}`)
    }

    const words = new Set<string>()
    for (const { title, method, request, account, conflict: why, ...expected } of REFUSALS) {
      it(`${method} with ${title} is ${expected.reason}`, async () => {
        const answer = await changesNothing(store, () => unary(method, request, account))
        if (!isFailure(answer)) throw new Error(`${JSON.stringify(answer)} is no failure`)
        expect({ status: answer.status, reason: answer.details.reason }).to.deep.equal(expected)
        expect(answer.details.metadata['conflict']).to.equal(why)
        if (expected.status === conflict.status && expected.reason === conflict.reason) words.add(toldBy(answer))
      })
    }

    it('stale, unique and foreign-key conflicts of guarded calls differ in their reason and in nothing else', () => {
      expect(words).to.have.property('size', 1)
    })

    const line = { productId: 9, quantity: 1 }
    for (const [lines, field] of [
      [undefined, '/lines'],
      [null, '/lines'],
      [{}, '/lines'],
      [[], '/lines'],
      [Array.from({ length: 1001 }, () => line), '/lines'],
      [[line, 7], '/lines/1'],
      [[{ productId: 1, quantity: 0 }], '/lines/0/quantity'],
      [[{ productId: 999, quantity: 1 }], '/lines/0/productId'],
      [[{ productId: 1, variantId: 999, quantity: 1 }], '/lines/0/variantId'],
      [[{ productId: 1, variantId: 3, quantity: 1 }], '/lines/0/variantId'],
      [Array.from({ length: 200 }, () => ({ productId: 5, quantity: 10000 })), '/lines']
    ] as const) {
      const brief = Array.isArray(lines) && lines.length > 2 ? `${lines.length} lines` : JSON.stringify(lines)
      it(`an order of ${brief} is rejected at ${field}`, async () => {
        expect(await violationsOf('Create', { resource: 'orders', body: bytes({ lines }) }, 'ada')).to.deep.equal([
          `body.invalid body:${field}`
        ])
      })
    }

    it('an order may have a thousand lines', async () => {
      const lines = Array.from({ length: 1000 }, () => line)
      const made = await unary('Create', { resource: 'orders', body: bytes({ lines }) }, 'ada')
      expect(made).to.have.property('id')
    })

    it('a create names all violations of its request at once', async () => {
      const request = {
        resource: 'orders',
        body: bytes({ lines: [{ productId: 1, quantity: 0 }, 7, { productId: 'x' }], customerId: null }),
        idempotencyKey: 'a b',
        linkBase: 'x',
        unplaced: { parameters: ['colour'] }
      }
      expect(await violationsOf('Create', request, 'admin')).to.deep.equal([
        'request.malformed query:linkBase',
        'body.invalid body:/customerId',
        'body.invalid body:/lines/0/quantity',
        'body.invalid body:/lines/1',
        'body.invalid body:/lines/2/productId',
        'body.invalid body:/lines/2/quantity',
        'idempotency.key.invalid header:Idempotency-Key',
        'parameter.unknown query:colour'
      ])
    })

    it('an update names a bad id and the violations of its body at once', async () => {
      expect(await violationsOf('Update', update({ id: 'x', body: bytes({ ...PRODUCT, name: '' }) }))).to.deep.equal([
        'id.invalid query:id',
        'body.invalid body:/name'
      ])
    })

    it('a blank key is none', async () => {
      const request = { resource: 'orders', body: bytes({ lines: [line] }), idempotencyKey: ' ' }
      for (const attempt of ['first', 'second']) {
        const made = await unary('Create', request, 'ada')
        expect(made, `${attempt}: ${JSON.stringify(made)}`).to.include({ replayed: false })
      }
    })

    it('a dry run of each write answers it with rolled_back and leaves nothing', async () => {
      const write = { body: bytes({ ...PRODUCT, sku: 'DRY' }), idempotencyKey: 'dry', dryRun: true }
      const made = { resource: 'products', body: bytes({ ...PRODUCT, sku: 'DRY-2' }) }
      const { id } = (await unary('Create', made)) as { readonly id: string }
      for (const [method, request] of [
        ['Create', { resource: 'products', ...write }],
        ['CreateBatch', { resource: 'products', ...write, body: bytes([{ ...PRODUCT, sku: 'DRY' }]) }],
        ['Update', update(write)],
        ['Act', act({ idempotencyKey: 'dry', dryRun: true })],
        ['Delete', { resource: 'products', id, dryRun: true }]
      ] as const) {
        const answer = await changesNothing(store, () => unary(method, request))
        expect(answer, `${method} ${JSON.stringify(answer)}`).to.include({ rolledBack: true })
        if (method === 'Create') expect(answer).to.include({ location: '', replayed: false })
      }
      expect(await unary('Delete', { resource: 'products', id })).to.include({ rolledBack: false })
    })

    it('batches of changes and of deletes as over HTTP', async () => {
      const made = await unary('CreateBatch', {
        resource: 'products',
        body: bytes([1, 2].map((n) => ({ ...PRODUCT, sku: `MANY-${n}` })))
      })
      const rows = JSON.parse(String((made as { json: Buffer }).json)) as { id: number; rowVersion: string }[]
      const items = rows.map(({ id, rowVersion }) => ({ id, rowVersion }))
      const change = (all: readonly object[]): object => ({ resource: 'products', body: bytes(all), strict: true })
      const [first, second] = items
      for (const method of ['UpdateBatch', 'DeleteBatch'] as const) {
        const unguarded = await changesNothing(store, () => unary(method, change([first ?? {}, { id: 1 }])))
        if (!isFailure(unguarded)) throw new Error(`${JSON.stringify(unguarded)} is no failure`)
        expect([unguarded.status, unguarded.details.reason]).to.deep.equal([
          status.FAILED_PRECONDITION,
          'precondition.required'
        ])
        const stale = await changesNothing(store, () =>
          unary(method, change([first ?? {}, { ...second, rowVersion: 'AAAAAAAAAAA=' }]))
        )
        if (!isFailure(stale)) throw new Error(`${JSON.stringify(stale)} is no failure`)
        const { reason, metadata, violations } = stale.details
        expect([stale.status, reason, metadata['conflict']]).to.deep.equal([
          status.FAILED_PRECONDITION,
          'conflict',
          'stale'
        ])
        expect(violations.map(({ field }) => field)).to.deep.equal(['body:/1'])
        expect(await unary(method, change(items), 'ada')).to.include({ status: status.PERMISSION_DENIED })
      }
      const changed = await unary('UpdateBatch', {
        ...change(items.map((one) => ({ ...one, price: '2.00' }))),
        idempotencyKey: 'many'
      })
      expect(changed).to.include({ replayed: false, rolledBack: false })
      const now = JSON.parse(String((changed as { json: Buffer }).json)) as typeof rows
      expect(now).to.deep.equal(rows.map((row, at) => ({ ...row, price: '2.00', rowVersion: now[at]?.rowVersion })))
      const gone = await unary('DeleteBatch', change(now.map(({ id, rowVersion }) => ({ id, rowVersion }))))
      expect(gone).to.deep.equal({ ignoredMembers: [], replayed: false, rolledBack: false })
      expect(await count(store, "products WHERE sku LIKE 'MANY-%'")).to.equal(0)
    })

    it('create, replay, update and delete as over HTTP', async () => {
      const request = { resource: 'products', body: bytes({ ...PRODUCT, extra: 1 }), idempotencyKey: 'rpc' }
      const created = await unary('Create', request)
      expect(created).to.deep.include({ ignoredMembers: ['extra'], replayed: false })
      const replayed = await unary('Create', request)
      expect(replayed).to.deep.equal({ ...created, replayed: true })
      const { id, record } = created as { id: string; record: { json: Buffer; rowVersion: Buffer } } // of the proto
      const http = await store.as('clerk', `/products/${id}`)
      expect(record.json).to.deep.equal(http.bytes)
      expect(record.rowVersion).to.have.length(8)
      // One key over both ways: it belongs to the caller, the method and the path.
      const again = await send(store, 'clerk POST /products', { body: { ...PRODUCT, extra: 1 }, key: 'rpc' })
      expect(again.headers).to.include({
        'idempotent-replayed': 'true',
        etag: tagOf(record.rowVersion.toString('base64'))
      })
      expect(again.bytes).to.deep.equal(record.json)
      const precondition = { kind: 'PRECONDITION_KIND_TAGS', versions: [record.rowVersion] }
      const updated = await unary('Update', {
        resource: 'products',
        id,
        body: bytes({ ...PRODUCT, name: 'm' }),
        precondition
      })
      expect(updated).to.have.nested.property('record.rowVersion').that.does.not.deep.equal(record.rowVersion)
      expect(await unary('Delete', { resource: 'products', id })).to.deep.equal({ rolledBack: false })
      expect(await count(store, 'products WHERE sku = ?', ['RPC'])).to.equal(0)
    })
  },
  { never: ['cuts', 'document'] }
)

function toldBy({ status: code, message, details }: RpcFailure): string {
  const { conflict: _reason, ...metadata } = details.metadata
  return JSON.stringify([code, message, { ...details, metadata }])
}
