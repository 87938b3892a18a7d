import { join } from 'node:path'
import { expect } from 'chai'
import { type Answer, call, ids, json } from '../api/http-call.js'
import { eachDatabase } from '../harness/database.js'
import { outputRoot } from '../harness/package-root.js'
import { type FreshDatabase, freshDatabase } from '../stack/databases.js'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { type Stack, startStack } from '../stack/stack.js'

type Claims = Readonly<Record<string, unknown>>
type Row = Readonly<Record<string, unknown>>

const ADMIN: Claims = { sub: 'root', role: 'Admin' }
const BIG = '9007199254740993'
const RIDER: Claims = { sub: 'rita', rider_id: 1 }
const BIG_RIDER: Claims = { sub: 'bea', rider_id: BIG }
const DRIVER: Claims = { sub: 'dora', driver_id: 1 }

/** contract.md section 6: several kinds of owners, each a number space of its own. The entity file is owners/rides.ts. */
eachDatabase((kind) => {
  describe(`owners of several kinds on ${kind}`, () => {
    let database: FreshDatabase
    let stack: Stack
    const rows = new Map<string, { readonly id: number; readonly tag: string }>()

    const send = (
      claims: Claims,
      [method, target]: readonly [string, string],
      body?: unknown,
      headers = {}
    ): Promise<Answer> =>
      call(stack.url, target, {
        method,
        token: stack.token(claims),
        headers: { 'content-type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
    const code = (answer: Answer): unknown[] => [answer.status, (json(answer) as Row)['code']]
    const rowOf = (name: string): { readonly id: number; readonly tag: string } => {
      const found = rows.get(name)
      if (found === undefined) throw new Error(`no row ${name}`)
      return found
    }

    before(async () => {
      database = await freshDatabase(kind)
      stack = await startStack({
        app: join(outputRoot, 'test/library/owners'),
        database,
        env: { OWNER_BYPASS_ROLE: 'Admin', DOCS_PUBLIC: 'true' }
      })
      const make = async (name: string, claims: Claims, body: object): Promise<void> => {
        const answer = await send(claims, ['POST', '/rides'], body)
        expect(answer.status, answer.text).to.equal(201)
        rows.set(name, { id: (json(answer) as { id: number }).id, tag: String(answer.headers['etag']) })
      }
      await make('of 1 with 2', RIDER, { driverId: 2, place: 'a' })
      await make('of 2 with 1', ADMIN, { riderId: 2, driverId: 1, place: 'b' })
      await make('of the large number', BIG_RIDER, { driverId: 3, place: 'c' })
    })
    after(async () => {
      await stack.stop()
      await database.dispose()
    })

    it('see the rows of their own kind alone, whatever the number', async () => {
      const [first, second, third] = ['of 1 with 2', 'of 2 with 1', 'of the large number'].map((one) => rowOf(one).id)
      const seen = async (claims: Claims): Promise<unknown[]> => ids(await send(claims, ['GET', '/rides']))
      expect(await seen(RIDER), 'rider 1').to.deep.equal([first])
      expect(await seen(DRIVER), 'driver 1').to.deep.equal([second])
      expect(await seen(BIG_RIDER), 'rider 2^53+1').to.deep.equal([third])
      expect(await seen({ ...RIDER, ...DRIVER }), 'both').to.deep.equal([first, second])
      expect(await seen(ADMIN), 'bypass').to.deep.equal([first, second, third])
      expect((await send(DRIVER, ['GET', `/rides/${first}`])).status).to.equal(404)
    })

    for (const claims of [{ member_id: 1 }, { rider_id: 'one' }, { rider_id: 1.5 }, { rider: 1 }, {}]) {
      it(`are not named by ${JSON.stringify(claims)}`, async () => {
        const caller = { sub: 'x', ...claims }
        expect(code(await send(caller, ['GET', '/rides']))).to.deep.equal([403, 'ownership.denied'])
        const body = { driverId: 1, place: 'd' }
        expect(code(await send(caller, ['POST', '/rides'], body))).to.deep.equal([403, 'ownership.denied'])
      })
    }

    it('are named by their kind where the token names an owner of another kind', async () => {
      const told = async (claims: Claims): Promise<unknown> => {
        const body = { driverId: 1, place: 'd' }
        return (json(await send(claims, ['POST', '/rides'], body)) as Row)['detail']
      }
      expect(await told(DRIVER)).to.equal('The access token names no owner of the kind rider.')
      expect(await told({ sub: 'x' })).to.equal('The access token names no owner.')
    })

    it('own what they create by the claim of the kind that writes', async () => {
      const created = json(await send(BIG_RIDER, ['GET', `/rides/${rowOf('of the large number').id}`]))
      expect(created).to.include({ riderId: BIG, askedBy: `rider ${BIG}` })
      const same = await send({ ...RIDER, ...DRIVER }, ['POST', '/rides'], { riderId: '1', driverId: 9, place: 'e' })
      expect(same.status, same.text).to.equal(201)
      const other = await send(RIDER, ['POST', '/rides'], { riderId: '2', driverId: 9, place: 'e' })
      expect(code(other)).to.deep.equal([403, 'ownership.denied'])
      expect(code(await send(DRIVER, ['POST', '/rides'], { driverId: 1, place: 'e' }))[0]).to.equal(403)
    })

    it('write no row of another kind with the same number', async () => {
      const { id, tag } = rowOf('of 2 with 1')
      const put = (claims: Claims): Promise<Answer> =>
        send(claims, ['PUT', `/rides/${id}`], { driverId: 1, place: 'f' }, { 'if-match': tag })
      expect((await put(RIDER)).status, 'rider 1').to.equal(404)
      expect((await put(DRIVER)).status, 'driver 1').to.equal(403)
      expect((await send(RIDER, ['DELETE', `/rides/${id}`])).status).to.equal(404)
      expect((await put({ sub: 'r', rider_id: 2 })).status, 'rider 2').to.equal(200)
    })

    it('get no stored answer under another owner claim', async () => {
      const key = { 'idempotency-key': 'ride-1' }
      const body = { driverId: 9, place: 'g' }
      const first = await send(RIDER, ['POST', '/rides'], body, key)
      const again = await send(RIDER, ['POST', '/rides'], body, key)
      expect([again.status, again.headers['idempotent-replayed'], again.text]).to.deep.equal([201, 'true', first.text])
      const other = await send({ ...RIDER, rider_id: 2 }, ['POST', '/rides'], body, key)
      expect(code(other)).to.deep.equal([403, 'ownership.denied'])
    })

    it('are the same over gRPC', async () => {
      const rpc = new GrpcCaller(stack.dataAddress)
      try {
        const list = async (claims: Claims): Promise<unknown> => {
          const answer = await rpc.unary('List', { resource: 'rides' }, { token: stack.token(claims) })
          if (isFailure(answer)) return answer.details.reason
          const { records } = answer as { records: { json: Buffer }[] }
          return records.map((one) => (JSON.parse(one.json.toString()) as Row)['id'])
        }
        expect(await list(DRIVER)).to.deep.equal([rowOf('of 2 with 1').id])
        expect(await list({ sub: 'x', member_id: 1 })).to.equal('ownership.denied')
        const body = Buffer.from('{"driverId":9,"place":"h"}')
        const created = (await rpc.unary('Create', { resource: 'rides', body }, { token: stack.token(RIDER) })) as {
          record: { json: Buffer }
        }
        expect(JSON.parse(created.record.json.toString())).to.include({ riderId: '1' })
      } finally {
        rpc.close()
      }
    })
  })
})
