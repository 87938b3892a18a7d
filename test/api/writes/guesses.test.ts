import { expect } from 'chai'
import { GrpcCaller, isFailure } from '../../stack/grpc-caller.js'
import { startGatewayHere } from '../../stack/in-process.js'
import { describeApi } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { Cart, coupon } from './carts.js'
import { send, sendTo } from './send.js'

const CODE = 'PRIVATE-30'

describeApi(
  'codes of coupons',
  (store) => {
    before(() => coupon(store, { code: CODE }))

    /** The Retry-After of an answer that must be 429. */
    function refused(answer: Answer): number {
      store.problem(answer, { status: 429, code: 'quota-exceeded' })
      const seconds = Number(answer.headers['retry-after'])
      expect(seconds).to.be.within(1, 900)
      return seconds
    }

    it('are guessed ten times by one caller, over all gateways and gRPC, and not once more', async () => {
      const cart = await Cart.of(store)
      const token = await store.stack.token('ada@example.com')
      const key = 'right'
      const right = await send(store, `ada PUT ${cart.path}/apply-coupon`, {
        body: { code: CODE },
        ifMatch: cart.etag,
        key
      })
      expect(right.status, right.text).to.equal(200)
      const ifMatch = String(right.headers.etag)
      const other = await startGatewayHere({
        ...store.stack.env,
        DATA_SERVICE_ADDRESS: store.stack.dataAddress,
        GATEWAY_PORT: '0'
      })
      const rpc = new GrpcCaller(store.stack.dataAddress)
      try {
        const viaOther = (code: string): Promise<Answer> => {
          const at = { method: 'PUT', target: `${cart.path}/apply-coupon`, token }
          return sendTo(other.address, at, { body: { code }, ifMatch })
        }
        const overGrpc = async (code: string): Promise<string | undefined> => {
          const answer = await rpc.unary(
            'Act',
            {
              resource: 'shopping-carts',
              id: String(cart.id),
              action: 'apply-coupon',
              body: Buffer.from(JSON.stringify({ code })),
              precondition: {
                kind: 'PRECONDITION_KIND_TAGS',
                versions: [Buffer.from(ifMatch.slice(3, -1), 'base64')]
              }
            },
            { token }
          )
          return isFailure(answer) ? answer.details.reason : undefined
        }
        cart.etag = ifMatch
        for (let guess = 0; guess < 4; guess++) {
          store.problem(await cart.act('apply-coupon', { code: `NO-${guess}` }), {
            status: 400,
            code: 'body.invalid',
            violations: [{ code: 'body.invalid', pointer: '/code' }]
          })
        }
        for (let guess = 0; guess < 3; guess++) expect((await viaOther(`NO-4${guess}`)).status).to.equal(400)
        for (let guess = 0; guess < 3; guess++) expect(await overGrpc(`NO-7${guess}`)).to.equal('body.invalid')
        // Beyond, a right code is refused as a wrong one is.
        for (const code of ['NO-10', CODE]) {
          refused(await cart.act('apply-coupon', { code }))
          expect((await viaOther(code)).status).to.equal(429)
          expect(await overGrpc(code)).to.equal('quota-exceeded')
        }
        const again = await send(store, `ada PUT ${cart.path}/apply-coupon`, { body: { code: CODE }, ifMatch, key })
        expect([again.status, again.headers['idempotent-replayed']]).to.deep.equal([200, 'true'])
        expect((await cart.act('clear')).status).to.equal(200)
      } finally {
        rpc.close()
        await other.server.stop()
      }
    })

    it('are guessed ten times by creates too, of which those without a code are not refused', async () => {
      const create = (couponCode: string | undefined, account = 'ben'): Promise<Answer> =>
        send(store, `${account} POST /shopping-carts`, {
          body: { currency: 'EUR', ...(couponCode !== undefined && { couponCode }) }
        })
      for (let guess = 0; guess < 9; guess++) expect((await create(`NO-${guess}`)).status).to.equal(400)
      const batch = await send(store, 'ben POST /shopping-carts/batch', {
        body: Buffer.from(JSON.stringify([{ currency: 'EUR' }, { currency: 'EUR', couponCode: 'NO-9' }]))
      })
      expect(batch.status, batch.text).to.equal(400)
      refused(await create('NO-10'))
      refused(await create(CODE))
      expect((await create(undefined)).status).to.equal(201)
      expect((await create(CODE, 'ada')).status).to.equal(201)
    })
  },
  { on: 'sqlite' }
)
