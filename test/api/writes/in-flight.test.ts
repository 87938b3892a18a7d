import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { PRODUCTS, rowOf, versionOf } from '../fixture.js'
import { EVERY_KEY, gathered, hold } from './hold.js'
import { changesNothing, count } from './stored.js'
import { rowIn, send, tagOf } from './send.js'

const PRODUCT = 'SELECT id FROM products WHERE id = 1 FOR UPDATE'

describeApi('a key whose first request is still running', (store) => {
  const write = { body: { lines: [{ productId: 1, quantity: 1 }] }, key: 'first' }
  const ifMatch = tagOf(versionOf(rowOf(PRODUCTS, 1)))

  it('is 409 with Retry-After, on guarded writes too, and nothing is written', async () => {
    const held = await hold(store, EVERY_KEY)
    try {
      await changesNothing(store, async () => {
        const answers = await Promise.all([
          send(store, 'ada POST /orders', write),
          send(store, 'clerk PUT /products/1/unpublish', { ifMatch, key: 'first' })
        ])
        for (const answer of answers) {
          store.problem(answer, { status: 409, code: 'idempotency.in-flight' })
          expect(answer.headers['retry-after'], answer.path).to.match(/^[1-9]\d*$/)
        }
      })
    } finally {
      await held.release()
    }
    const orders = await count(store, 'orders')
    expect((await send(store, 'ada POST /orders', write)).status).to.equal(201)
    expect(await count(store, 'orders')).to.equal(orders + 1)
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
  it('is 503 with Retry-After, and no conflict, once the tries are over', async () => {
    const ifMatch = tagOf(versionOf(rowOf(PRODUCTS, 1)))
    const held = await hold(store, PRODUCT)
    try {
      await changesNothing(store, async () => {
        const answers = await Promise.all([
          send(store, 'clerk PUT /products/1/unpublish', { ifMatch }),
          send(store, 'clerk DELETE /products/1')
        ])
        for (const answer of answers) {
          store.problem(answer, { status: 503, code: 'upstream.unavailable' })
          expect(answer.headers['retry-after'], answer.path).to.match(/^[1-9]\d*$/)
        }
      })
    } finally {
      await held.release()
    }
    expect((await send(store, 'clerk PUT /products/1/unpublish', { ifMatch })).status).to.equal(200)
  })
})
