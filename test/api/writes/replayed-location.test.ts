import { join } from 'node:path'
import { expect } from 'chai'
import { outputRoot } from '../../harness/package-root.js'
import { type Stack, startStack } from '../../harness/stack.js'
import { eachDatabase, type FreshDatabase } from '../../harness/database.js'
import { VARIANTS } from '../../harness/variant.js'
import { startGatewayHere } from '../../stack/in-process.js'
import type { Server } from '../../stack/server-log.js'
import { storeDatabase } from '../../harness/store-database.js'
import { GrpcCaller } from '../../stack/grpc-caller.js'
import { sendTo } from './send.js'

const FIRST = 'https://first.example/api'
const SECOND = 'http://second.example:8080'
const category = (slug: string) => ({ name: slug, slug, parentId: null })

eachDatabase(
  (kind) => {
    describe(`Location through two gateways over one data service on ${kind}`, () => {
      let database: FreshDatabase
      let stack: Stack
      let other: Server
      let otherUrl: string
      let token: string

      before(async () => {
        database = await storeDatabase(kind, 'fixture')
        stack = await startStack({ database, env: { PUBLIC_BASE_URL: FIRST } })
        const gateway = await startGatewayHere(
          {
            GATEWAY_PORT: '0',
            COOKIE_SECURE: 'false',
            PUBLIC_BASE_URL: SECOND,
            DATA_SERVICE_ADDRESS: stack.dataAddress
          },
          join(outputRoot, 'examples/store')
        )
        other = gateway.server
        otherUrl = gateway.address
        token = await stack.token('clerk@example.com')
      })
      after(async () => {
        await other.stop()
        await stack.stop()
        await database.dispose()
      })

      const create = (gateway: string, slug: string, key?: string) =>
        sendTo(
          gateway,
          { method: 'POST', target: `${gateway === stack.url ? '/api' : ''}/categories`, token },
          { body: category(slug), ...(key === undefined ? {} : { key }) }
        )

      it('is on the base of the gateway that made the row', async () => {
        const [here, there] = [await create(stack.url, 'here'), await create(otherUrl, 'there')]
        expect([here.status, here.headers.location], here.text).to.deep.equal([
          201,
          `${FIRST}/categories/${idIn(here.text)}`
        ])
        expect(there.headers.location).to.equal(`${SECOND}/categories/${idIn(there.text)}`)
      })

      it('is the first answer’s on a replay, whichever gateway that came through', async () => {
        for (const [made, retried] of [
          [stack.url, otherUrl],
          [otherUrl, stack.url]
        ] as const) {
          const key = `to ${made}`.replace(/[^a-z0-9]/g, '')
          const first = await create(made, key, key)
          const again = await create(retried, key, key)
          expect(again.headers['idempotent-replayed'], again.text).to.equal('true')
          expect([again.status, again.bytes, again.headers.etag], `${made}, ${retried}`).to.deep.equal([
            201,
            first.bytes,
            first.headers.etag
          ])
          expect(again.headers.location, `${made}, ${retried}`).to.equal(first.headers.location)
        }
      })

      it('of a row made over gRPC without a base is on the base of the retry', async () => {
        const caller = new GrpcCaller(stack.dataAddress)
        try {
          const body = Buffer.from(JSON.stringify(category('inside')))
          const made = await caller.unary(
            'Create',
            { resource: 'categories', body, idempotencyKey: 'inside' },
            { token }
          )
          const again = await create(otherUrl, 'inside', 'inside')
          expect(again.headers['idempotent-replayed'], again.text).to.equal('true')
          expect(again.headers.location).to.equal(`${SECOND}/categories/${idIn(again.text)}`)
          expect(made).to.have.property('location', `/categories/${idIn(again.text)}`)
        } finally {
          caller.close()
        }
      })
    })
  },
  { on: 'sqlite', never: VARIANTS }
)

function idIn(text: string): string {
  const [, id = ''] = /"id":(\d+)/.exec(text) ?? []
  return id
}
