import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { GrpcCaller, isFailure } from '../../stack/grpc-caller.js'
import { describeApi } from '../api-store.js'
import { type Answer, json } from '../http-call.js'
import { rowIn, send, sendTo, type Write } from '../writes/send.js'
import { count, select } from '../writes/stored.js'
import { oddTokens } from './claims.js'

type Row = Readonly<Record<string, unknown>>

const tokens = await oddTokens()
after(() => tokens.dispose())

/** domain.md: storekeepers see all stock, and change that of the warehouses in their claim. The rows are the sample. */
describeApi(
  'storekeepers',
  (store) => {
    let own: readonly string[] = []
    let elsewhere = ''
    let keeper = ''
    let clerk = ''
    before(async () => {
      const sorted = await store.as('admin', '/warehouses/paged?sortColumn=name&pageSize=3')
      const ids = (json(sorted) as Row[]).map(({ id }) => String(id))
      own = ids.slice(0, 2)
      elsewhere = ids[2] ?? ''
      keeper = await store.stack.token('keeper@example.com')
      clerk = await store.stack.token('clerk@example.com')
    })

    const by = (token: string, line: string, write: Write = {}): Promise<Answer> => {
      const [method = '', target = ''] = line.split(' ')
      return sendTo(store.url, { method, target, token }, write)
    }
    const bodyOf = (warehouseId: string) => ({ warehouseId, productId: 1, onHand: 10 })
    const stockIn = async (warehouseId: string): Promise<{ readonly path: string; readonly ifMatch: string }> => {
      const made = await by(clerk, 'POST /stock-items', { body: bodyOf(warehouseId) })
      expect(made.status, made.text).to.equal(201)
      return { path: `/stock-items/${String(rowIn(made)['id'])}`, ifMatch: String(made.headers.etag) }
    }
    /** Of the sample, whose other tables would take long to compare. */
    const changesNoStock = async (work: () => Promise<void>): Promise<void> => {
      const state = async () => [
        await select(store, 'SELECT * FROM stock_items ORDER BY id'),
        await count(store, 'ur_audit_entries')
      ]
      const before = await state()
      await work()
      expect(await state()).to.deep.equal(before)
    }
    /** Without what names the request. */
    const textOf = (answer: Answer): object => {
      const { instance: _path, requestId: _id, ...rest } = rowIn(answer)
      return rest
    }

    it('log in with the ids of the first two warehouses by name', async () => {
      const body = { email: 'keeper@example.com', password: 'demo-password' }
      const { accessToken } = rowIn(await send(store, '- POST /auth/login', { body }))
      const payload = Buffer.from(String(accessToken).split('.')[1] ?? '', 'base64url').toString('utf8')
      const { role, warehouses, customer_id: owner } = JSON.parse(payload) as Row
      expect([role, warehouses, owner]).to.deep.equal(['Storekeeper', own, undefined])
    })

    it('read all stock, and what else is public', async () => {
      for (const route of ['', '/paged?sortColumn=onHand', '/export', '/lookup', '/1']) {
        const [seen, all] = [
          await store.as('keeper', `/stock-items${route}`),
          await store.as('clerk', `/stock-items${route}`)
        ]
        expect([seen.status, seen.text], route).to.deep.equal([200, all.text])
      }
      const [item] = json(await store.as('keeper', '/stock-items/paged?pageSize=1&includeFKs=true')) as Row[]
      expect(item?.['product']).to.be.an('object')
      expect(item?.['warehouse'], 'which takes warehouses:manage').to.equal(null)
      for (const path of ['/warehouses', '/reports/stock', '/suppliers', '/customers']) {
        store.problem(await store.as('keeper', path), { status: 403, code: 'capability.denied' })
      }
      store.problem(await store.as('ada', '/stock-items'), { status: 403, code: 'capability.denied' })
      store.problem(await store.call('/stock-items'), { status: 401, code: 'auth.required' })
    })

    it('change and delete the stock of their two warehouses', async () => {
      for (const warehouseId of own) {
        const { path, ifMatch } = await stockIn(warehouseId)
        let tag = ifMatch
        for (const [action, body, sets] of [
          ['adjust', { delta: 5 }, { onHand: 15, reserved: 0 }],
          ['reserve', { quantity: 3 }, { onHand: 15, reserved: 3 }],
          ['release', { quantity: 3 }, { onHand: 15, reserved: 0 }]
        ] as const) {
          const answer = await by(keeper, `PUT ${path}/${action}`, { body, ifMatch: tag })
          expect(answer.status, answer.text).to.equal(200)
          expect(rowIn(answer)).to.include({ warehouseId, ...sets })
          tag = String(answer.headers.etag)
        }
        expect((await by(keeper, `DELETE ${path}`, { ifMatch: tag })).status).to.equal(204)
      }
    })

    it('find no stock elsewhere that they could change or delete', async () => {
      const { path, ifMatch } = await stockIn(elsewhere)
      await changesNoStock(async () => {
        for (const [method, action, body] of [
          ['PUT', '/adjust', { delta: 5 }],
          ['PUT', '/reserve', { quantity: 3 }],
          ['PUT', '/release', { quantity: 3 }],
          ['DELETE', '', undefined]
        ] as const) {
          const write = { ifMatch, ...(body && { body }) }
          const answer = await by(keeper, `${method} ${path}${action}`, write)
          store.problem(answer, { status: 404, code: 'not-found' })
          const absent = await by(keeper, `${method} /stock-items/999999${action}`, write)
          expect(textOf(answer)).to.deep.equal(textOf(absent))
        }
      })
      expect((await by(clerk, `PUT ${path}/adjust`, { body: { delta: 5 }, ifMatch })).status).to.equal(200)
    })

    it('create stock in their warehouses alone, one by one and in batches', async () => {
      for (const warehouseId of [own[0] ?? '', (own[1] ?? '').toUpperCase()]) {
        const made = await by(keeper, 'POST /stock-items', { body: bodyOf(warehouseId) })
        expect(made.status, made.text).to.equal(201)
        expect(rowIn(made)).to.include({ warehouseId: warehouseId.toLowerCase(), onHand: 10 })
      }
      await changesNoStock(async () => {
        for (const body of [bodyOf(elsewhere), bodyOf('00000000-0000-4000-8000-ffffffffffff')]) {
          store.problem(await by(keeper, 'POST /stock-items', { body }), { status: 403, code: 'ownership.denied' })
        }
        const body = [bodyOf(own[0] ?? ''), bodyOf(elsewhere)]
        const batch = await by(keeper, 'POST /stock-items/batch', { body })
        store.problem(batch, { status: 403, code: 'ownership.denied' })
      })
    })

    for (const [about, claim] of [
      ['missing', () => undefined],
      ['null', () => null],
      ['a text and no list', () => own[0]],
      ['an object', () => ({ 0: own[0] })],
      ['an empty list', () => []],
      ['a list without a Guid', () => ['', 'x', 1, null, true, [own[0]], `${own[0]} `, '%']]
    ] as const) {
      it(`have no warehouse where the claim is ${about}`, async () => {
        const token = tokens.change(keeper, { warehouses: claim() })
        expect((await by(token, 'GET /stock-items/paged')).status).to.equal(200)
        const { path, ifMatch } = await stockIn(own[0] ?? '')
        await changesNoStock(async () => {
          const adjusted = await by(token, `PUT ${path}/adjust`, { body: { delta: 1 }, ifMatch })
          store.problem(adjusted, { status: 404, code: 'not-found' })
          store.problem(await by(token, `DELETE ${path}`, { ifMatch }), { status: 404, code: 'not-found' })
          const made = await by(token, 'POST /stock-items', { body: bodyOf(own[0] ?? '') })
          store.problem(made, { status: 403, code: 'ownership.denied' })
        })
      })
    }

    it('have the warehouses of a list that holds other things too, in any letter case', async () => {
      const token = tokens.change(keeper, { warehouses: [null, 'x', elsewhere.toUpperCase()] })
      const { path, ifMatch } = await stockIn(elsewhere)
      expect((await by(token, `PUT ${path}/adjust`, { body: { delta: 1 }, ifMatch })).status).to.equal(200)
    })

    it('need both permissions to write', async () => {
      const { path, ifMatch } = await stockIn(own[0] ?? '')
      const adjust = (permissions: readonly string[]): Promise<Answer> =>
        by(tokens.change(keeper, { role: [], permissions }), `PUT ${path}/adjust`, { body: { delta: 1 }, ifMatch })
      for (const permissions of [['stock:read'], ['stock:write'], []]) {
        store.problem(await adjust(permissions), { status: 403, code: 'capability.denied' })
      }
      expect((await adjust(['stock:read', 'stock:write'])).status).to.equal(200)
    })

    it('are answered alike over gRPC', async () => {
      const rpc = new GrpcCaller(store.stack.dataAddress)
      try {
        const body = (value: object) => Buffer.from(JSON.stringify(value))
        const adjust = async (warehouseId: string) => {
          const { path, ifMatch } = await stockIn(warehouseId)
          const version = Buffer.from(/"(.*)"/.exec(ifMatch)?.[1] ?? '', 'base64')
          const request = {
            resource: 'stock-items',
            id: path.split('/').at(-1),
            action: 'adjust',
            body: body({ delta: 5 }),
            precondition: { kind: 'PRECONDITION_KIND_TAGS', versions: [version] }
          }
          return rpc.unary('Act', request, { token: keeper })
        }
        const done = await adjust(own[1] ?? '')
        expect(isFailure(done), JSON.stringify(done)).to.equal(false)
        const create = (warehouseId: string) =>
          rpc.unary('Create', { resource: 'stock-items', body: body(bodyOf(warehouseId)) }, { token: keeper })
        expect(isFailure(await create(own[0] ?? ''))).to.equal(false)
        for (const [answer, expected, reason] of [
          [await adjust(elsewhere), status.NOT_FOUND, 'not-found'],
          [await create(elsewhere), status.PERMISSION_DENIED, 'ownership.denied']
        ] as const) {
          if (!isFailure(answer)) throw new Error('It was answered')
          expect([answer.status, answer.details.reason]).to.deep.equal([expected, reason])
        }
      } finally {
        rpc.close()
      }
    })
  },
  { on: 'mysql', rows: 'sample', env: () => ({ JWT_PRIVATE_KEY_FILE: tokens.keyFile }) }
)
