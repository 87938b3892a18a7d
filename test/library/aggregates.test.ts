import { join } from 'node:path'
import { expect } from 'chai'
import { type Answer, call, json } from '../api/http-call.js'
import { eachDatabase } from '../harness/database.js'
import { outputRoot } from '../harness/package-root.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'
import { type FreshDatabase, freshDatabase } from '../stack/databases.js'
import { type Stack, startStack } from '../stack/stack.js'

const GUIDE = { sub: 'gita', role: 'Guide', customer_id: 1 }

// The entity files are in aggregates/trips.ts.
eachDatabase((kind) => {
  describe(`rows of other resources in a create on ${kind}`, function () {
    this.timeout(60_000)
    let database: FreshDatabase
    let stack: Stack
    let sql: TestDatabase

    const send = (
      [method, target]: readonly [string, string],
      body: unknown,
      headers: Readonly<Record<string, string>> = {},
      claims: Readonly<Record<string, unknown>> = GUIDE
    ): Promise<Answer> =>
      call(stack.url, target, {
        method,
        token: stack.token(claims),
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body)
      })
    const count = async (table: string): Promise<number> => {
      const [row] = await sql.run(`SELECT COUNT(*) AS n FROM ${table}`)
      return Number(row?.['n'])
    }
    const violations = (answer: Answer): unknown[] => {
      const { code, errors = [] } = json(answer) as { code: string; errors?: readonly { pointer?: string }[] }
      return [answer.status, code, ...errors.map(({ pointer }) => pointer)]
    }

    before(async () => {
      database = await freshDatabase(kind)
      stack = await startStack({
        app: join(outputRoot, 'test/library/aggregates'),
        database,
        env: { OWNER_BYPASS_ROLE: 'Admin' }
      })
      sql = await openTestDatabase(database.url)
    })
    after(async () => {
      await sql.close()
      await stack.stop()
      await database.dispose()
    })

    it('A caller brings no row of another owner along.', async () => {
      const before = await count('trips')
      const stop = { id: 'other', ownerId: 2, place: 'there' }
      const answer = await send(['POST', '/trips'], { name: 'a', stops: [{ id: 'own', place: 'here' }, stop] })
      expect(violations(answer)).to.deep.equal([403, 'ownership.denied', '/stops/1/ownerId'])
      expect(await count('trips')).to.equal(before)
      expect(await count('stops')).to.equal(0)
    })

    it('The claim of the caller fills the owner of a row that is brought along.', async () => {
      const stops = [
        { id: 'first', place: 'here' },
        { id: 'second', ownerId: 1, place: 'there' }
      ]
      expect((await send(['POST', '/trips'], { name: 'b', stops })).status).to.equal(201)
      const rows = await sql.run('SELECT id, owner_id FROM stops ORDER BY id')
      expect(rows.map((row) => [row['id'], Number(row['owner_id'])])).to.deep.equal([
        ['first', 1],
        ['second', 1]
      ])
    })

    it('A caller without an owner claim brings no row with an owner along.', async () => {
      const claims = { sub: 'gus', role: 'Guide' }
      const stops = [{ id: 'third', ownerId: 1, place: 'here' }]
      expect(violations(await send(['POST', '/trips'], { name: 'c', stops }, {}, claims))).to.deep.equal([
        403,
        'ownership.denied'
      ])
      expect((await send(['POST', '/trips'], { name: 'c' }, {}, claims)).status, 'without such a row').to.equal(201)
    })

    it('A row that no path could name is not brought along.', async () => {
      const stops = ['fine', 'paged', '..'].map((id) => ({ id, place: 'here' }))
      const answer = await send(['POST', '/trips'], { name: 'd', stops })
      expect(violations(answer)).to.deep.equal([400, 'body.invalid', '/stops/1/id', '/stops/2/id'])
    })

    it('A rule of the root makes no row that the hooks of its resource would not see.', async () => {
      const before = await count('trips')
      expect((await send(['POST', '/trips'], { name: 'checked' })).status).to.equal(500)
      expect(await count('trips')).to.equal(before)
      expect(await count('checks')).to.equal(0)
    })

    it('A key of the row `1/pay` is not one of the action `pay` of the row `1`.', async () => {
      for (const id of ['1', '1/pay']) {
        expect((await send(['POST', '/words'], { id, name: 'x' })).status).to.equal(201)
      }
      const tagOf = async (id: string): Promise<string> =>
        String((await call(stack.url, `/words/${encodeURIComponent(id)}`)).headers['etag'])
      const key = { 'idempotency-key': 'the-same-key' }
      const put = await send(['PUT', '/words/1%2Fpay'], { name: 'y' }, { ...key, 'if-match': await tagOf('1/pay') })
      expect([put.status, (json(put) as { name: string }).name]).to.deep.equal([200, 'y'])
      const paid = await send(['PUT', '/words/1/pay'], { name: 'y' }, { ...key, 'if-match': await tagOf('1') })
      expect([paid.status, paid.headers['idempotent-replayed']]).to.deep.equal([200, undefined])
      expect(json(paid)).to.include({ id: '1', paid: 'yes' })
    })

    it('An owner column takes its preset, and a row of another owner is not created.', async () => {
      const claims = { sub: 'pia', customer_id: 1, branch: 5 }
      for (const headers of [{}, { 'idempotency-key': 'a-pass' }]) {
        const answer = await send(['POST', '/passes'], { name: 'x' }, headers, claims)
        expect(violations(answer).slice(0, 2)).to.deep.equal([403, 'ownership.denied'])
      }
      expect(await count('passes')).to.equal(0)
      const own = await send(['POST', '/passes'], { name: 'x' }, {}, { ...claims, branch: 1 })
      expect([own.status, (json(own) as { branchId: number }).branchId]).to.deep.equal([201, 1])
    })
  })
})
