import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { describeApi } from './api-store.js'

// The calls of an account are counted in memory: no database has a part in it.
describeApi(
  'the calls of an account',
  (store) => {
    it('are counted over HTTP and gRPC together, and those of others and of nobody are not', async () => {
      const rpc = new GrpcCaller(store.stack.dataAddress)
      try {
        const token = await store.stack.token('ada@example.com')
        const read = (): Promise<object> => rpc.unary('Get', { resource: 'products', id: '1' }, { token })
        for (const route of ['/products/1', '/products', '/orders']) {
          expect((await store.as('ada', route)).status, route).to.equal(200)
        }
        expect(isFailure(await read())).to.equal(false)
        const refused = await store.as('ada', '/products/1')
        store.problem(refused, { status: 429, code: 'quota-exceeded' })
        expect(Number(refused.headers['retry-after'])).to.be.within(1, 3600)
        const failure = await read()
        if (!isFailure(failure)) throw new Error('The call was answered')
        expect(failure.status).to.equal(status.RESOURCE_EXHAUSTED)
        expect(failure.details.retryAfter).to.be.within(1, 3600)
        const write = await store.as('ada', '/products', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{}'
        })
        expect(write.status).to.equal(429)

        expect((await store.as('ben', '/products/1')).status).to.equal(200)
        for (let n = 0; n < 6; n++) expect((await store.call('/products/1')).status).to.equal(200)
        for (let n = 0; n < 6; n++) {
          expect((await store.call('/products/1', { token: `${token}x` })).status).to.equal(401)
        }
      } finally {
        rpc.close()
      }
    })

    it('are one for a file to import, however many parts it has', async () => {
      const lines = '{"name":1}\n'.repeat(2001)
      const send = (key: string) =>
        store.as('clerk', '/categories/import?onError=skip', {
          method: 'POST',
          headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': key },
          body: lines
        })
      for (const key of ['a', 'b', 'c', 'd']) expect((await send(key)).status).to.equal(200)
      expect((await send('e')).status).to.equal(429)
    })
  },
  { on: 'sqlite', env: () => ({ RATE_LIMIT_ACCOUNT: '4/3600' }) }
)
