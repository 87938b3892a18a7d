import { expect } from 'chai'
import { describeApi } from '../api-store.js'
import { created, did, linesOf, rejected } from './back-office.js'
import { etagOf, rowIn, send } from './send.js'
import { count, select } from './stored.js'

describeApi(
  'rules of coupons, returns and invoices',
  (store) => {
    describe('coupons', () => {
      const body = {
        code: 'SPRING',
        percent: 15,
        startsAt: '2026-03-01T00:00:00+01:00',
        endsAt: '2026-04-01T00:00:00Z'
      }
      const invalid = (says: string) => ({ status: 400, code: 'body.invalid', says }) as const

      it('are created whole, and end after they start', async () => {
        const row = rowIn(await created(store, { account: 'clerk', resource: 'coupons', body }))
        const { id, rowVersion, ...rest } = row
        expect(rest).to.deep.equal({
          code: 'SPRING',
          percent: 15,
          startsAt: '2026-02-28T23:00:00.000Z',
          endsAt: '2026-04-01T00:00:00.000Z',
          isActive: true
        })
        expect([typeof id, typeof rowVersion]).to.deep.equal(['number', 'string'])
        for (const endsAt of ['2026-02-28T23:00:00Z', '2026-02-28T22:59:59.999Z', '0001-01-01T00:00:00Z']) {
          const answer = await send(store, 'clerk POST /coupons', { body: { ...body, code: 'NEVER', endsAt } })
          store.problem(answer, invalid('endsAt must be after startsAt.'))
        }
        for (const percent of [0, 101, -1]) {
          const answer = await send(store, 'clerk POST /coupons', { body: { ...body, code: 'NEVER', percent } })
          store.problem(answer, invalid('percent must be at'))
        }
        expect(await count(store, "coupons WHERE code = 'NEVER'")).to.equal(0)
        const taken = await send(store, 'clerk POST /coupons', { body: { ...body, code: 'spring' } })
        store.problem(taken, { status: 409, code: 'conflict' })
      })

      it('keep their order of dates through a PUT', async () => {
        const first = await created(store, { account: 'clerk', resource: 'coupons', body: { ...body, code: 'PUT' } })
        const path = `/coupons/${String(rowIn(first)['id'])}`
        const put = (change: object) =>
          send(store, `clerk PUT ${path}`, {
            body: { ...body, code: 'PUT', isActive: false, ...change },
            ifMatch: etagOf(first)
          })
        const answer = await put({ startsAt: body.endsAt })
        store.problem(answer, invalid('endsAt must be after startsAt.'))
        const done = await put({ endsAt: null })
        expect(done.status, done.text).to.equal(200)
        expect(rowIn(done)).to.include({ endsAt: null, isActive: false })
      })

      it('extend moves the end later, never earlier, and not where there is none', async () => {
        const first = await created(store, { account: 'clerk', resource: 'coupons', body: { ...body, code: 'EXTEND' } })
        const path = `/coupons/${String(rowIn(first)['id'])}`
        const actor = { account: 'clerk', path }
        for (const endsAt of ['2026-04-01T00:00:00Z', '2026-03-31T23:59:59.999Z']) {
          const problem = store.problem(await rejected(store, actor, { name: 'extend', body: { endsAt } }), {
            status: 422,
            code: 'state.invalid'
          })
          expect(problem.detail, endsAt).to.equal(
            'The coupon ends at 2026-04-01T00:00:00.000Z; extend needs a later endsAt.'
          )
        }
        for (const endsAt of [undefined, null, '2026-05-01', 7]) {
          const answer = await rejected(store, actor, { name: 'extend', body: { endsAt } })
          store.problem(answer, invalid('endsAt'))
        }
        const after = await did(store, actor, { name: 'extend', body: { endsAt: '2026-04-01T00:00:00.001Z' } })
        expect(after).to.deep.equal({
          ...rowIn(first),
          endsAt: '2026-04-01T00:00:00.001Z',
          rowVersion: after['rowVersion']
        })
        const endless = { code: 'ENDLESS', percent: 1, startsAt: '2026-01-01T00:00:00Z' }
        const other = rowIn(await created(store, { account: 'clerk', resource: 'coupons', body: endless }))
        const answer = await rejected(
          store,
          { account: 'clerk', path: `/coupons/${String(other['id'])}` },
          { name: 'extend', body: { endsAt: '2027-01-01T00:00:00Z' } }
        )
        store.problem(answer, {
          status: 422,
          code: 'state.invalid',
          says: 'The coupon has no end that could be extended.'
        })
      })
    })

    describe('returns', () => {
      const body = { orderId: 3, reason: 'Too small', lines: [{ productId: 3, quantity: 2 }] }
      const none = { status: 400, code: 'body.invalid', says: 'orderId must be an order of the customer.' } as const

      // Every test has the whole order to return.
      afterEach(() => select(store, 'DELETE FROM returns'))

      it('are created by the owner of a delivered order', async () => {
        const answer = await created(store, { account: 'ada', resource: 'returns', body })
        const { id, rowVersion: _version, requestedAt, ...rest } = rowIn(answer)
        expect(rest).to.deep.equal({ orderId: 3, customerId: 1, reason: 'Too small', status: 'requested' })
        expect(Date.parse(String(requestedAt))).to.be.closeTo(Date.now(), 30_000)
        const [line, ...more] = await linesOf(store, `/returns/${String(id)}`)
        expect(more).to.be.empty
        expect(line).to.deep.include({ productId: 3, variantId: null, quantity: 2 })
        store.problem(await store.as('ben', `/returns/${String(id)}`), { status: 404, code: 'not-found' })
      })

      it("tell another's order from none by nothing", async () => {
        const rejections = new Set<string>()
        // Order 2 is Ben's, 4 a third customer's; there is no 999.
        for (const orderId of [2, 4, 999, -1]) {
          const answer = await send(store, 'ada POST /returns', { body: { ...body, orderId } })
          const { title, detail } = store.problem(answer, none)
          rejections.add(`${title} ${detail}`)
        }
        expect(rejections.size).to.equal(1)
        // The bypass role names the customer, whose order it must be as well.
        store.problem(await send(store, 'admin POST /returns', { body: { ...body, customerId: 2 } }), none)
        const named = await send(store, 'admin POST /returns', { body: { ...body, customerId: 1 } })
        expect(named.status, named.text).to.equal(201)
        const foreign = await send(store, 'ada POST /returns', { body: { ...body, customerId: 2 } })
        store.problem(foreign, { status: 403, code: 'ownership.denied' })
      })

      it('are of orders that were delivered alone', async () => {
        const answer = await send(store, 'ada POST /returns', {
          body: { ...body, orderId: 1, lines: [{ productId: 1, variantId: 1, quantity: 1 }] }
        })
        const problem = store.problem(answer, { status: 422, code: 'state.invalid' })
        expect(problem.detail).to.equal('The order is paid; a return needs it to be delivered.')
      })

      for (const [title, lines, says] of [
        ['no lines', [], 'lines must'],
        ['a product that was not ordered', [{ productId: 1, quantity: 1 }], 'lines/0/productId must be in a line'],
        [
          'a variant that was not ordered',
          [{ productId: 3, variantId: 3, quantity: 1 }],
          'lines/0/productId must be in a line'
        ],
        [
          'more than was ordered, over two lines',
          [
            { productId: 3, quantity: 9_999 },
            { productId: 3, quantity: 2 }
          ],
          'lines/1/quantity must be at most 1: '
        ],
        ['more than a line takes', [{ productId: 3, quantity: 10_001 }], 'quantity must be at most 10000'],
        ['nothing', [{ productId: 3, quantity: 0 }], 'quantity must be at least 1']
      ] as const) {
        it(`reject ${title}`, async () => {
          const before = await count(store, 'returns')
          const answer = await send(store, 'ada POST /returns', { body: { ...body, lines } })
          store.problem(answer, { status: 400, code: 'body.invalid', says })
          expect(await count(store, 'returns')).to.equal(before)
        })
      }

      it('may be of all that was ordered, over several lines', async () => {
        const lines = [
          { productId: 3, quantity: 9_999 },
          { productId: 3, quantity: 1 }
        ]
        const row = rowIn(await created(store, { account: 'ada', resource: 'returns', body: { ...body, lines } }))
        const kept = await select(
          store,
          'SELECT product_id, quantity FROM return_lines WHERE return_id = ? ORDER BY id',
          [Number(row['id'])]
        )
        expect(kept.map((line) => [line['product_id'], line['quantity']].map(Number))).to.deep.equal([
          [3, 9_999],
          [3, 1]
        ])
      })

      it('keep why they were rejected, and need to be told why', async () => {
        const row = rowIn(await created(store, { account: 'ada', resource: 'returns', body }))
        const actor = { account: 'admin', path: `/returns/${String(row['id'])}` }
        for (const reason of [undefined, null, 5, 'x'.repeat(2001)]) {
          const answer = await rejected(store, actor, { name: 'reject', body: { reason } })
          store.problem(answer, { status: 400, code: 'body.invalid', says: 'reason' })
        }
        const after = await did(store, actor, { name: 'reject', body: { reason: 'x'.repeat(2000) } })
        expect(after).to.deep.equal({ ...row, status: 'rejected', rowVersion: after['rowVersion'] })
        const [kept] = await select(store, 'SELECT reject_reason FROM returns WHERE id = ?', [Number(row['id'])])
        expect(kept?.['reject_reason']).to.equal('x'.repeat(2000))
      })

      it('go with their lines when their owner deletes them, whose order stays', async () => {
        const row = rowIn(await created(store, { account: 'ada', resource: 'returns', body }))
        const path = `/returns/${String(row['id'])}`
        store.problem(await send(store, 'ada DELETE /orders/3'), {
          status: 422,
          code: 'state.invalid',
          says: 'delivered'
        })
        store.problem(await send(store, `ben DELETE ${path}`), { status: 404, code: 'not-found' })
        store.problem(await send(store, `nobody DELETE ${path}`), { status: 403, code: 'ownership.denied' })
        expect((await send(store, `ada DELETE ${path}`)).status).to.equal(204)
        expect(await count(store, 'return_lines WHERE return_id = ?', [Number(row['id'])])).to.equal(0)
      })
    })

    describe('invoices', () => {
      it('take number and total from the order, of which there is one', async () => {
        const body = { orderId: 1, customerId: 1 }
        const row = rowIn(await created(store, { account: 'admin', resource: 'invoices', body }))
        const { id: _id, rowVersion: _version, ...rest } = row
        expect(rest).to.deep.equal({ ...body, number: 'I-00001', total: '37.90', status: 'draft', issuedAt: null })
        store.problem(await send(store, 'admin POST /invoices', { body }), { status: 409, code: 'conflict' })
        expect((await store.as('ada', `/invoices/${String(row['id'])}`)).status).to.equal(200)
        store.problem(await store.as('ben', `/invoices/${String(row['id'])}`), { status: 404, code: 'not-found' })
      })

      it("need the order's customer, and an order that stands", async () => {
        for (const body of [
          { orderId: 2, customerId: 1 },
          { orderId: 999, customerId: 1 }
        ]) {
          const answer = await send(store, 'admin POST /invoices', { body })
          store.problem(answer, {
            status: 400,
            code: 'body.invalid',
            says: 'orderId must be an order of the customer.'
          })
        }
        store.problem(await send(store, 'admin POST /invoices', { body: {} }), {
          status: 400,
          code: 'body.invalid',
          violations: ['/orderId', '/customerId'].map((pointer) => ({ code: 'body.invalid', pointer }))
        })
        await did(store, { account: 'ben', path: '/orders/5' }, { name: 'cancel' })
        const cancelled = await send(store, 'admin POST /invoices', { body: { orderId: 5, customerId: 2 } })
        store.problem(cancelled, { status: 422, code: 'state.invalid', says: 'The order is cancelled' })
        for (const who of ['ada', 'clerk']) {
          const answer = await send(store, `${who} POST /invoices`, { body: { orderId: 3, customerId: 1 } })
          store.problem(answer, { status: 403, code: 'capability.denied' })
        }
      })

      const invoiced = async () => {
        const order = rowIn(await send(store, 'ben POST /orders', { body: { lines: [{ productId: 1, quantity: 1 }] } }))
        const invoice = rowIn(
          await created(store, {
            account: 'admin',
            resource: 'invoices',
            body: { orderId: order['id'], customerId: 2 }
          })
        )
        return {
          number: String(invoice['number']),
          order: { account: 'ben', path: `/orders/${String(order['id'])}` },
          invoice: { account: 'admin', path: `/invoices/${String(invoice['id'])}` }
        }
      }

      it('are not issued once the order is cancelled, only voided', async () => {
        const { order, invoice } = await invoiced()
        await did(store, order, { name: 'cancel' })
        const { detail } = store.problem(await rejected(store, invoice, { name: 'issue' }), {
          status: 422,
          code: 'state.invalid'
        })
        expect(detail).to.equal('The order is cancelled; there is nothing to invoice.')
        await did(store, invoice, { name: 'void' })
      })

      it('keep their order from being cancelled while they are issued', async () => {
        const { order, invoice, number } = await invoiced()
        await did(store, invoice, { name: 'issue' })
        const { detail } = store.problem(await rejected(store, order, { name: 'cancel' }), {
          status: 422,
          code: 'state.invalid'
        })
        expect(detail).to.equal(`The invoice ${number} of the order is issued; cancel needs it to be void.`)
        await did(store, invoice, { name: 'void' })
        expect(await did(store, order, { name: 'cancel' })).to.include({ status: 'cancelled' })
      })

      it('are issued or lose their order, never both, when both are asked for at once', async () => {
        const { order, invoice } = await invoiced()
        const act = async ({ account, path }: typeof order, name: string): Promise<number> => {
          const ifMatch = etagOf(await store.as('admin', path))
          return (await send(store, `${account} PUT ${path}/${name}`, { ifMatch })).status
        }
        const statuses = await Promise.all([act(order, 'cancel'), act(invoice, 'issue')])
        expect(statuses).to.have.members([200, 422])
      })

      it('keep when they were issued once they are void', async () => {
        const row = rowIn(
          await created(store, { account: 'admin', resource: 'invoices', body: { orderId: 3, customerId: 1 } })
        )
        const actor = { account: 'admin', path: `/invoices/${String(row['id'])}` }
        const issued = await did(store, actor, { name: 'issue' })
        const voided = await did(store, actor, { name: 'void' })
        expect(voided).to.deep.equal({ ...issued, status: 'void', rowVersion: voided['rowVersion'] })
        expect(issued['issuedAt']).to.be.a('string')
      })
    })
  },
  { on: 'mysql' }
)
