import { expect } from 'chai'
import { GrpcCaller, isFailure } from '../../stack/grpc-caller.js'
import { describeApi } from '../api-store.js'
import { type Answer, filter, ids, json } from '../http-call.js'
import { oddTokens } from '../ownership/claims.js'
import { created } from './back-office.js'
import { etagOf, rowIn, send, sendTo, type Write } from './send.js'
import { changesNothing, count } from './stored.js'

const tokens = await oddTokens()
after(() => tokens.dispose())
const env = (): Record<string, string> => ({ JWT_PRIVATE_KEY_FILE: tokens.keyFile })

/** domain.md, contract.md section 6: a preset and a column that takes a permission to write. */
describeApi(
  'who requested a purchase order',
  (store) => {
    let supplierId: unknown
    before(async () => {
      const supplier = { account: 'clerk', resource: 'suppliers', body: { name: 'S', country: 'DE' } }
      supplierId = rowIn(await created(store, supplier))['id']
    })
    const order = (more: object = {}) => ({ supplierId, lines: [{ productId: 1, quantity: 1 }], ...more })

    it('is the subject of whoever creates it, which the body may repeat', async () => {
      for (const [account, body] of [
        ['clerk', order()],
        ['admin', order()],
        ['clerk', order({ requestedBy: 'clerk@example.com' })]
      ] as const) {
        const answer = await created(store, { account, resource: 'purchase-orders', body })
        expect(rowIn(answer)).to.include({ requestedBy: `${account}@example.com` })
        expect(answer.headers).to.not.have.property('x-ignored-parameters')
      }
      const batch = await send(store, 'admin POST /purchase-orders/batch', { body: [order(), order()] })
      expect((json(batch) as { requestedBy: unknown }[]).map(({ requestedBy }) => requestedBy)).to.deep.equal([
        'admin@example.com',
        'admin@example.com'
      ])
    })

    it('takes no other value: 403, and nothing is written', async () => {
      const [own, other] = [order(), order({ requestedBy: 'admin@example.com' })]
      await changesNothing(store, async () => {
        for (const [path, body] of [
          ['/purchase-orders', other],
          ['/purchase-orders', order({ requestedBy: 'Clerk@example.com' })],
          ['/purchase-orders/batch', [own, other]]
        ] as const) {
          store.problem(await send(store, `clerk POST ${path}`, { body }), { status: 403, code: 'ownership.denied' })
        }
        const invalid = await send(store, 'clerk POST /purchase-orders', { body: order({ requestedBy: 7 }) })
        store.problem(invalid, { status: 400, code: 'body.invalid', says: 'requestedBy' })
      })
    })

    it('stays through every action, and is a filter and a sort', async () => {
      const first = await created(store, { account: 'clerk', resource: 'purchase-orders', body: order() })
      const path = `/purchase-orders/${String(rowIn(first)['id'])}`
      const submitted = await send(store, `admin PUT ${path}/submit`, { ifMatch: etagOf(first) })
      expect(rowIn(submitted)).to.include({ status: 'submitted', requestedBy: 'clerk@example.com' })
      const found = ids(
        await store.as('clerk', `/purchase-orders/paged?${filter('requestedBy', 'equals', 'clerk@example.com')}`)
      )
      expect(found).to.include(rowIn(first)['id'])
      expect(found).to.have.length(await count(store, "purchase_orders WHERE requested_by = 'clerk@example.com'"))
      const sorted = await store.as('clerk', '/purchase-orders/paged?sortColumn=requestedBy&sortDirection=desc')
      const names = (json(sorted) as { requestedBy: string }[]).map(({ requestedBy }) => requestedBy)
      expect(new Set(names).size).to.equal(2)
      expect(names).to.deep.equal(names.toSorted().toReversed())
    })

    it('is the same over gRPC', async () => {
      const rpc = new GrpcCaller(store.stack.dataAddress)
      try {
        const token = await store.stack.token('clerk@example.com')
        const create = (body: object) =>
          rpc.unary('Create', { resource: 'purchase-orders', body: Buffer.from(JSON.stringify(body)) }, { token })
        const answer = (await create(order())) as { record: { json: Buffer } }
        expect(JSON.parse(answer.record.json.toString())).to.include({ requestedBy: 'clerk@example.com' })
        const denied = await create(order({ requestedBy: 'admin@example.com' }))
        if (!isFailure(denied)) throw new Error('It was answered')
        expect(denied.details.reason).to.equal('ownership.denied')
      } finally {
        rpc.close()
      }
    })
  },
  { on: 'sqlite', env }
)

describeApi(
  'the phone of a customer',
  (store) => {
    const body = (email: string, more: object = {}) => ({ name: 'Eve', email, phone: '+1 2', ...more })
    /** Of a caller with these permissions and no role. */
    const by = async (permissions: readonly string[], line: string, write: Write): Promise<Answer> => {
      const [method = '', target = ''] = line.split(' ')
      const token = tokens.change(await store.stack.token('nobody@example.com'), { role: [], permissions })
      return sendTo(store.url, { method, target, token }, write)
    }
    const MANAGER = ['customers:manage']
    const stored = async (path: string): Promise<unknown> => rowIn(await store.as('admin', path))['phone']

    it('is written by clerks and admins', async () => {
      for (const account of ['clerk', 'admin']) {
        const email = `${account}-writes@example.com`
        const made = await send(store, `${account} POST /customers`, { body: body(email) })
        expect(rowIn(made), made.text).to.include({ phone: '+1 2' })
        const path = `/customers/${String(rowIn(made)['id'])}`
        const put = { body: body(email, { phone: '+3' }), ifMatch: etagOf(made) }
        expect((await send(store, `${account} PUT ${path}`, put)).status).to.equal(200)
        expect(await stored(path)).to.equal('+3')
      }
    })

    it('is an unknown member of the bodies of others, and keeps its value', async () => {
      const made = await by(MANAGER, 'POST /customers', { body: body('bare@example.com') })
      expect(made.status, made.text).to.equal(201)
      expect(made.headers['x-ignored-parameters']).to.equal('body.phone')
      const path = `/customers/${String(rowIn(made)['id'])}`
      expect(await stored(path)).to.equal(null)
      const given = { body: body('bare@example.com'), ifMatch: etagOf(made) }
      const kept = await by([...MANAGER, 'customers:contact'], `PUT ${path}`, given)
      expect(await stored(path)).to.equal('+1 2')
      const changed = { body: body('bare@example.com', { phone: '+3' }), ifMatch: etagOf(kept) }
      const put = await by(MANAGER, `PUT ${path}`, changed)
      expect(put.headers['x-ignored-parameters']).to.equal('body.phone')
      expect(await stored(path)).to.equal('+1 2')
      const strict = { ...changed, ifMatch: etagOf(put), headers: { prefer: 'handling=strict' } }
      store.problem(await by(MANAGER, `PUT ${path}`, strict), { status: 400, code: 'parameter.unknown' })
      const alone = await by(['customers:contact'], `PUT ${path}`, { ...changed, ifMatch: etagOf(put) })
      store.problem(alone, { status: 403, code: 'capability.denied' })
      expect(await stored(path)).to.equal('+1 2')
    })

    it('is read by whoever reads the customer', async () => {
      expect(rowIn(await store.as('ada', '/customers/1'))).to.include({ phone: '+44 1' })
      const listed = await by(MANAGER, `GET /customers/paged?${filter('phone', 'equals', '+44 1')}`, {})
      expect(ids(listed)).to.deep.equal([1])
    })
  },
  { on: 'sqlite', env }
)
