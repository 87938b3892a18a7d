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
  describe(`rows of other resources in a create on ${kind}`, () => {
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

    // The entity files of crates and their parts are in aggregates/crates.ts.
    const parts = (claims: Readonly<Record<string, unknown>>) => {
      const create = (body: object, target = '/crates'): Promise<Answer> => send(['POST', target], body, {}, claims)
      return {
        create,
        refused: async (table: string, children: Readonly<Record<string, readonly object[]>>): Promise<void> => {
          const before = [await count('crates'), await count(table)]
          const one = await create({ name: 'x', ...children })
          const batch = await create([{ name: 'x' }, { name: 'x', ...children }], '/crates/batch')
          for (const answer of [one, batch]) {
            expect(violations(answer).slice(0, 2), answer.text).to.deep.equal([403, 'ownership.denied'])
          }
          expect([await count('crates'), await count(table)]).to.deep.equal(before)
        },
        taken: async (table: string, children: Readonly<Record<string, readonly object[]>>): Promise<void> => {
          const before = await count(table)
          const answer = await create({ name: 'x', ...children })
          expect(answer.status, answer.text).to.equal(201)
          expect(await count(table)).to.equal(before + Object.values(children).flat().length)
        }
      }
    }
    const guide = parts({ ...GUIDE, branch: 'berlin', area: 1 })
    const keeper = parts({ ...GUIDE, role: 'Keeper', branch: 'berlin', area: 1 })

    it('A row is not brought along where the database finds it outside of the scope.', async () => {
      await guide.refused('loose_parts', { looseParts: [{ price: '9.00' }, { price: '900.00' }] })
      await guide.taken('loose_parts', { looseParts: [{ price: '9.00' }, { price: '99.99' }] })
      for (const branch of ['berlin ', 'paris ', 'paris', 'Berlin']) {
        await guide.refused('branch_parts', { branchParts: [{ branch: 'berlin' }, { branch }] })
      }
      await guide.taken('branch_parts', { branchParts: [{ branch: 'berlin' }] })
    })

    it('A row is not brought along where the scope is about the key of its root.', () =>
      guide.refused('late_parts', { lateParts: [{ note: 'x' }] }))

    it('Rows that named the root before it was there do not stand for those that are brought along.', async () => {
      const [row] = await sql.run('SELECT MAX(id) AS n FROM crates')
      for (let id = Number(row?.['n']) + 1; id < Number(row?.['n']) + 30; id += 1) {
        await sql.run(`INSERT INTO loose_parts (crate_id, price, row_version) VALUES (${id}, 9, X'3132333435363738')`)
      }
      await guide.refused('loose_parts', { looseParts: [{ price: '900.00' }] })
      await guide.taken('loose_parts', { looseParts: [{ price: '9.00' }] })
    })

    it('The rows that `prepare` makes of those of the body are checked as they will be.', async () => {
      const before = [await count('crates'), await count('loose_parts')]
      const answer = await guide.create({ name: 'dearer', looseParts: [{ price: '9.00' }] })
      expect(violations(answer)).to.deep.equal([403, 'ownership.denied'])
      expect([await count('crates'), await count('loose_parts')]).to.deep.equal(before)
      expect((await guide.create({ name: 'made' })).status, 'without rows of the body').to.equal(201)
    })

    it('The rows of an access bind those who lack its permission too.', async () => {
      for (const caller of [guide, keeper]) {
        await caller.refused('area_parts', { areaParts: [{ areaId: 7 }] })
        await caller.taken('area_parts', { areaParts: [{ areaId: 1 }] })
        await caller.refused('kept_parts', { keptParts: [{ ownerId: 2 }] })
        await caller.taken('kept_parts', { keptParts: [{ ownerId: 1 }] })
      }
    })

    it('Whoever creates the root needs no permission of the resource whose rows it brings along.', () =>
      guide.taken('free_parts', { freeParts: [{ note: 'x' }] }))

    it('The reads of a resource that no request creates bind its rows.', async () => {
      for (const [table, name] of [
        ['fixed_parts', 'fixedParts'],
        ['sealed_parts', 'sealedParts']
      ] as const) {
        await guide.refused(table, { [name]: [{ ownerId: 1 }, { ownerId: 2 }] })
        await parts({ sub: 'gus', role: 'Guide' }).refused(table, { [name]: [{ ownerId: 1 }] })
        await guide.taken(table, { [name]: [{}, { ownerId: 1 }] })
        const owners = await sql.run(`SELECT DISTINCT owner_id FROM ${table}`)
        expect(owners.map((row) => Number(row['owner_id']))).to.deep.equal([1])
        await parts({ sub: 'ada', role: ['Guide', 'Admin'] }).taken(table, { [name]: [{ ownerId: 2 }] })
      }
    })

    it('A resource whose callers write unseen rows takes rows of other owners.', () =>
      guide.taken('unseen_parts', { unseenParts: [{ ownerId: 2 }] }))

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
