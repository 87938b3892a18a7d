import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import type { ErrorCode } from '../../../shared/errors.js'
import { describeApi } from '../api-store.js'
import type { LogEntry } from '../../stack/server-log.js'
import { GrpcCaller, isFailure } from '../../stack/grpc-caller.js'
import { PRODUCTS, rowOf, versionOf } from '../fixture.js'
import { EVERY_KEY, gathered, hold } from './hold.js'
import { changesNothing, count, select } from './stored.js'
import { rowIn, send, tagOf } from './send.js'

const PRODUCT = 'SELECT id FROM products WHERE id = 1 FOR UPDATE'

describeApi('a key whose first request is still running', (store) => {
  const write = { body: { lines: [{ productId: 1, quantity: 1 }] }, key: 'first' }
  const other = tagOf(versionOf(rowOf(PRODUCTS, 2)))

  /** Both writes, while every key there is and can be is locked. Another process holds the lock of an embedded database. */
  const whileHeld = async (expected: { readonly status: number; readonly code: ErrorCode }): Promise<void> => {
    const held = await hold(store, EVERY_KEY)
    try {
      await changesNothing(store, async () => {
        const answers = await Promise.all([
          send(store, 'ada POST /orders', write),
          send(store, 'clerk PUT /products/2/unpublish', { ifMatch: other, key: 'first' })
        ])
        for (const answer of answers) {
          store.problem(answer, expected)
          expect(answer.headers['retry-after'], answer.path).to.match(/^[1-9]\d*$/)
        }
      })
    } finally {
      await held.release()
    }
  }
  const unavailable = { status: 503, code: 'upstream.unavailable' } as const

  it('is not what a first request is told, whatever lock it waits for', () => whileHeld(unavailable))

  it('is 409 with Retry-After, on guarded writes too, and nothing is written', async () => {
    expect((await send(store, 'ada POST /orders', write)).status).to.equal(201)
    expect((await send(store, 'clerk PUT /products/2/unpublish', { ifMatch: other, key: 'first' })).status).to.equal(
      200
    )
    // As it is while the first request runs.
    await select(store, 'UPDATE ur_idempotency_keys SET answer = NULL')
    // Of an embedded database nobody can tell what the other process does.
    await whileHeld(store.kind === 'sqlite' ? unavailable : { status: 409, code: 'idempotency.in-flight' })
    const orders = await count(store, 'orders')
    expect((await send(store, 'ada POST /orders', write)).status).to.equal(201)
    expect(await count(store, 'orders')).to.equal(orders + 1)
  })

  it('is over once it has its answer, which needs no lock', async () => {
    const of = { ...write, key: 'over' }
    const first = await send(store, 'ada POST /orders', of)
    expect(first.status, first.text).to.equal(201)
    const held = await hold(store, EVERY_KEY)
    try {
      await changesNothing(store, async () => {
        const again = await send(store, 'ada POST /orders', of)
        expect([again.status, again.text]).to.deep.equal([201, first.text])
        expect(again.headers['idempotent-replayed']).to.equal('true')
      })
    } finally {
      await held.release()
    }
  })

  it('is waited for', async () => {
    const first = await gathered(store, EVERY_KEY, () => send(store, 'ada POST /orders', { ...write, key: 'waits' }))
    expect(first.status, first.text).to.equal(201)
    const again = await send(store, 'ada POST /orders', { ...write, key: 'waits' })
    expect(rowIn(again)).to.deep.equal(rowIn(first))
    expect(again.headers['idempotent-replayed']).to.equal('true')
  })
})

describeApi('a row that another transaction will not let go', (store) => {
  const version = versionOf(rowOf(PRODUCTS, 1))
  const ifMatch = tagOf(version)
  const body = { name: 'n', sku: 'HELD', categoryId: 1, price: '1.00', isActive: true }

  it('is 503 with Retry-After, and no conflict, once the tries are over, guarded or not', async () => {
    const held = await hold(store, PRODUCT)
    try {
      await changesNothing(store, async () => {
        const answers = await Promise.all([
          send(store, 'clerk PUT /products/1/unpublish', { ifMatch }),
          send(store, 'clerk PUT /products/1/remove-variant', { body: { variantId: 1 }, ifMatch }),
          send(store, 'clerk PUT /products/1', { body, ifMatch, key: 'held' }),
          send(store, 'clerk PATCH /products/1', {
            body: { price: '2.00' },
            ifMatch,
            headers: { 'content-type': 'application/merge-patch+json' }
          }),
          send(store, 'clerk DELETE /products/1', { ifMatch }),
          send(store, 'clerk DELETE /products/1')
        ])
        for (const answer of answers) {
          // The tries take eight seconds, and the gateway waits ten: on a slow machine its time may be over first. The
          // next test has no gateway.
          if (answer.status === 504) {
            store.problem(answer, { status: 504, code: 'upstream.timeout' })
            continue
          }
          store.problem(answer, { status: 503, code: 'upstream.unavailable' })
          expect(answer.headers['retry-after'], answer.path).to.match(/^[1-9]\d*$/)
          // The gateway sent the write once.
          const id = answer.headers['x-request-id']
          const isOfCall = (entry: LogEntry): boolean =>
            entry['requestId'] === id && 'code' in entry && entry['msg'] !== 'call'
          await store.stack.dataService.logged(isOfCall)
          expect(store.stack.dataService.logs().filter(isOfCall), answer.path).to.have.length(1)
        }
      })
    } finally {
      await held.release()
    }
    expect((await send(store, 'clerk PUT /products/1/unpublish', { ifMatch })).status).to.equal(200)
  })

  it('is UNAVAILABLE with RetryInfo over gRPC', async () => {
    const caller = new GrpcCaller(store.stack.dataAddress)
    const precondition = { kind: 'PRECONDITION_KIND_TAGS', versions: [Buffer.from(version, 'base64')] }
    const request = { resource: 'products', id: '1', body: Buffer.from(JSON.stringify(body)), precondition }
    const held = await hold(store, PRODUCT)
    try {
      const token = await store.stack.token('clerk@example.com')
      const failed = await changesNothing(store, () => caller.unary('Update', request, { token }))
      if (!isFailure(failed)) throw new Error('it was written')
      expect(failed.status).to.equal(status.UNAVAILABLE)
      expect(failed.details).to.deep.include({ reason: 'upstream.unavailable', retryAfter: 1 })
    } finally {
      await held.release()
      caller.close()
    }
  })
})
