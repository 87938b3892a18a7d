import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { PRODUCTS, rowOf, VARIANTS, versionOf } from '../fixture.js'
import type { Answer } from '../http-call.js'
import { StatementLog, statements } from '../statement-log.js'
import { MALFORMED, MATCHING, REQUIRED, STALE, withVersion, type Precondition } from './preconditions.js'
import { everything } from './stored.js'
import { etagOf, rowIn, send, tagOf } from './send.js'

const VERSION = versionOf(rowOf(PRODUCTS, 1))
const PUT_BODY = { name: 'Hammer', sku: 'HM-001', categoryId: 2, price: '19.90', isActive: true }

/** A guarded write of each kind on product 1. */
const GUARDED: readonly (readonly [line: string, body: object | undefined])[] = [
  ['clerk PUT /products/1', PUT_BODY],
  ['clerk PUT /products/1/unpublish', undefined],
  [
    'clerk PUT /products/1/adjust-variant-stock',
    { variantId: 1, delta: 1, variantRowVersion: versionOf(rowOf(VARIANTS, 1)) }
  ]
]

describeApi(
  'If-Match',
  (store) => {
    let stored: unknown
    before(async () => (stored = await everything(store)))

    const guarded = (line: string, { ifMatch }: Precondition, body?: object, rowVersion = VERSION): Promise<Answer> =>
      send(store, line, { ...(body && { body }), headers: { 'if-match': withVersion(ifMatch, rowVersion) } })

    /** Runs the requests, of which the database must hear nothing. */
    async function unheard(requests: () => Promise<void>): Promise<void> {
      if (store.kind === 'sqlite') await requests()
      else {
        const log = await StatementLog.open(store.databaseUrl)
        try {
          // The log would show a statement: a read has some.
          expect(statements(await log.during(() => store.call('/products/1')))).not.to.be.empty
          expect(statements(await log.during(requests))).to.deep.equal([])
        } finally {
          await log.close()
        }
      }
      expect(await everything(store)).to.deep.equal(stored)
    }

    it('absent, blank or * is 428, and nothing runs', async () => {
      await unheard(async () => {
        for (const precondition of REQUIRED) {
          for (const [line, body] of GUARDED) {
            const rejected = await guarded(line, precondition, body)
            store.problem(rejected, {
              status: 428,
              code: 'precondition.required',
              says: 'If-Match',
              violations: [{ code: 'precondition.required', header: 'If-Match' }]
            })
            expect(rejected.headers, `${precondition.title}, ${line}`).not.to.have.any.keys('etag')
          }
        }
      })
    })

    it('malformed is 400, and nothing runs', async () => {
      await unheard(async () => {
        for (const precondition of MALFORMED) {
          for (const [line, body] of [...GUARDED, ['clerk DELETE /products/12', undefined] as const]) {
            const rejected = await guarded(line, precondition, body)
            expect(rejected.status, `${line} ${precondition.title} ${rejected.text}`).to.equal(400)
            store.problem(rejected, {
              status: 400,
              code: 'precondition.malformed',
              says: 'If-Match',
              violations: [{ code: 'precondition.malformed', header: 'If-Match' }]
            })
          }
        }
      })
    })

    for (const precondition of STALE) {
      it(`${precondition.title} is 412 and changes nothing`, async () => {
        for (const [line, body] of [...GUARDED, ['clerk DELETE /products/12', undefined] as const]) {
          const rejected = await guarded(line, precondition, body)
          const { title, detail } = store.problem(rejected, { status: 412, code: 'conflict' })
          expect([title, detail], line).to.deep.equal([
            'Conflict',
            'A data conflict occurred. Please retry or contact support.'
          ])
          expect(rejected.headers, line).not.to.have.any.keys('etag')
        }
        expect(await everything(store)).to.deep.equal(stored)
      })
    }

    it('comes after who and may, before query, id, body and the row', async () => {
      for (const precondition of [REQUIRED[0], MALFORMED[0]]) {
        if (precondition === undefined) throw new Error('the tables are not empty')
        const status = precondition === REQUIRED[0] ? 428 : 400
        const code = status === 428 ? 'precondition.required' : 'precondition.malformed'
        for (const line of [
          'clerk PUT /products/x',
          'clerk PUT /products/999',
          'clerk PUT /products/1',
          'clerk PUT /products/1?x=1'
        ]) {
          const headers = { 'if-match': withVersion(precondition.ifMatch, VERSION), prefer: 'handling=strict' }
          store.problem(await send(store, line, { body: { name: 1 }, headers }), { status, code })
        }
        store.problem(await guarded('ada PUT /products/1', precondition, {}), {
          status: 403,
          code: 'capability.denied'
        })
        store.problem(await guarded('- PUT /products/1', precondition, {}), { status: 401, code: 'auth.required' })
        // The gateway's own come first of all.
        const text = await send(store, 'clerk PUT /products/1', {
          body: '{}',
          headers: { 'content-type': 'text/plain' }
        })
        store.problem(text, { status: 415, code: 'media-type.unsupported' })
        const malformed = { body: '{', headers: { 'if-match': withVersion(precondition.ifMatch, VERSION) } }
        store.problem(await send(store, 'clerk PUT /products/1', malformed), { status: 400, code: 'body.malformed' })
        const version = await send(store, 'clerk PUT /products/1', { body: {}, headers: { 'api-version': '2' } })
        store.problem(version, { status: 400, code: 'version.unsupported' })
        const key = await send(store, 'clerk PUT /products/1', { body: {}, key: 'a b' })
        store.problem(key, { status: 400, code: 'idempotency.key.invalid' })
      }
    })

    it('body and id come before the row, the row before its version, the version before its state', async () => {
      const stale = 'W/"AAAAAAAAAAA="'
      store.problem(await send(store, 'clerk PUT /products/999', { body: {}, ifMatch: stale }), {
        status: 400,
        code: 'body.invalid'
      })
      store.problem(await send(store, 'clerk PUT /products/999', { body: PUT_BODY, ifMatch: stale }), {
        status: 404,
        code: 'not-found'
      })
      store.problem(await send(store, 'clerk PUT /products/999/publish', { ifMatch: stale }), {
        status: 404,
        code: 'not-found'
      })
      store.problem(await send(store, 'clerk PUT /products/1/publish', { ifMatch: stale }), {
        status: 412,
        code: 'conflict'
      })
      store.problem(await send(store, 'clerk PUT /products/1/publish', { ifMatch: tagOf(VERSION) }), {
        status: 422,
        code: 'state.invalid'
      })
      for (const id of ['x', '1.5', '0x1', '%20', '2147483648', '9'.repeat(5000)]) {
        store.problem(await send(store, `clerk PUT /products/${id}`, { body: PUT_BODY, ifMatch: stale }), {
          status: 400,
          code: 'id.invalid'
        })
        store.problem(await send(store, `clerk PUT /products/${id}/publish`, { ifMatch: stale }), {
          status: 400,
          code: 'id.invalid'
        })
        store.problem(await send(store, `clerk DELETE /products/${id}`), { status: 400, code: 'id.invalid' })
      }
      expect(await everything(store)).to.deep.equal(stored)
    })

    it('matches weak and strong, and any member of a list; every match advances the version', async () => {
      let rowVersion = VERSION
      for (const precondition of MATCHING) {
        const answer = await guarded('clerk PUT /products/1', precondition, PUT_BODY, rowVersion)
        expect(answer.status, `${precondition.title}: ${answer.text}`).to.equal(200)
        const now = String(rowIn(answer)['rowVersion'])
        expect(now, precondition.title).not.to.equal(rowVersion)
        expect(etagOf(answer), precondition.title).to.equal(tagOf(now))
        rowVersion = now
      }
    })

    it('of a DELETE is honoured where it is sent', async () => {
      const created = await send(store, 'clerk POST /categories', { body: { name: 'Short-lived', slug: 'short' } })
      const path = `/categories/${String(rowIn(created)['id'])}`
      const put = await send(store, `clerk PUT ${path}`, {
        body: { name: 'Short-lived', slug: 'short' },
        ifMatch: etagOf(created)
      })
      store.problem(await send(store, `clerk DELETE ${path}`, { ifMatch: etagOf(created) }), {
        status: 412,
        code: 'conflict'
      })
      expect((await send(store, `clerk DELETE ${path}`, { ifMatch: etagOf(put) })).status).to.equal(204)
      store.problem(await send(store, `clerk DELETE ${path}`, { ifMatch: etagOf(put) }), {
        status: 404,
        code: 'not-found'
      })
      store.problem(await send(store, `clerk DELETE ${path}`, { ifMatch: '*' }), { status: 404, code: 'not-found' })
    })
  },
  { on: 'mysql' }
)
