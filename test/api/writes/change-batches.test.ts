import { expect } from 'chai'
import { openTestDatabase } from '../../oracle/test-database.js'
import { describeApi, type ApiStore } from '../api-store.js'
import type { Answer } from '../http-call.js'
import { hold } from './hold.js'
import { send, type Write } from './send.js'
import { changesNothing, count, select } from './stored.js'

type Row = Readonly<Record<string, unknown>>
interface Item extends Row {
  readonly id?: unknown
  readonly rowVersion?: unknown
}

const MERGE_PATCH = { 'content-type': 'application/merge-patch+json' }
const STALE = 'AAAAAAAAAAA='
const rowsIn = (answer: Answer): Row[] => JSON.parse(answer.text) as Row[]
const pointersIn = (problem: { readonly errors?: readonly { readonly pointer?: unknown }[] }): unknown[] =>
  (problem.errors ?? []).map(({ pointer }) => pointer)

/** contract.md section 5, batches of changes. */
describeApi(
  'batches of changes',
  (store) => {
    let made = 0
    /** New products, as a create answers them. */
    const products = async (length: number): Promise<Row[]> => {
      const body = Array.from({ length }, () => {
        const sku = `C-${(made += 1)}`
        return { name: sku, sku, categoryId: 1, price: '1.50' }
      })
      const answer = await send(store, 'clerk POST /products/batch', { body })
      expect(answer.status, answer.text).to.equal(201)
      return rowsIn(answer)
    }
    const of = ({ id, rowVersion }: Row): Item => ({ id, rowVersion })
    const patch = (body: object | string, write: Write = {}, account = 'clerk'): Promise<Answer> =>
      send(store, `${account} PATCH /products/batch`, { body, ...write, headers: { ...MERGE_PATCH, ...write.headers } })
    const remove = (body: object | string, write: Write = {}, account = 'clerk'): Promise<Answer> =>
      send(store, `${account} POST /products/batch/delete`, { body, ...write })
    const entries = (action: string, ids: readonly unknown[]): Promise<number> =>
      count(
        store,
        `ur_audit_entries WHERE resource = 'products' AND action = ? AND row_id IN (${ids.map(() => '?').join()})`,
        [action, ...ids.map(String)]
      )

    it('changes 500 rows in one transaction and answers them in order, as reads show them', async () => {
      const rows = await products(500)
      const asked = rows
        .toReversed()
        .map((row, at) => ({ ...of(row), price: `${at}.00`, ...(at === 3 && { description: 'ä,"\n' }) }))
      const answer = await patch(asked)
      expect(answer.status, answer.text.slice(0, 500)).to.equal(200)
      expect(answer.headers).to.include({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store'
      })
      expect(answer.headers).to.not.have.any.keys('etag', 'location', 'idempotent-replayed', 'x-ignored-parameters')
      const changed = rowsIn(answer)
      expect(changed.map(({ id, price }) => [id, price])).to.deep.equal(asked.map(({ id, price }) => [id, price]))
      expect(changed.map(({ name }) => name)).to.deep.equal(rows.toReversed().map(({ name }) => name))
      for (const at of [0, 3, 499]) {
        const read = await store.as('clerk', `/products/${String(changed[at]?.['id'])}`)
        expect(JSON.parse(read.text)).to.deep.equal(changed[at])
        expect(changed[at]?.['rowVersion']).not.to.equal(asked[at]?.rowVersion)
      }
      const ids = rows.slice(0, 50).map(({ id }) => id)
      expect(await entries('update', ids)).to.equal(50)
      const gone = await remove(changed.map(of))
      expect([gone.status, gone.text], gone.text).to.deep.equal([204, ''])
      expect(await count(store, `products WHERE id IN (${ids.join()})`)).to.equal(0)
      expect(await entries('delete', ids)).to.equal(50)
    })

    it('takes values from one row for another in the order of the body', async () => {
      const [low = {}, high = {}] = await products(2)
      const asked = [
        { ...of(high), sku: 'C-free' },
        { ...of(low), sku: high['sku'] }
      ]
      const answer = await patch(asked)
      expect(answer.status, answer.text).to.equal(200)
      expect(rowsIn(answer).map(({ sku }) => sku)).to.deep.equal(['C-free', high['sku']])
    })

    it('replays the first answer under a key, and refuses another body', async () => {
      const rows = await products(2)
      const asked = rows.map((row) => ({ ...of(row), name: 'Keyed' }))
      const first = await patch(asked, { key: 'change' })
      expect(first.status, first.text).to.equal(200)
      await changesNothing(store, async () => {
        const again = await patch(asked, { key: 'change' })
        expect([again.status, again.headers['idempotent-replayed']]).to.deep.equal([200, 'true'])
        expect(again.bytes).to.deep.equal(first.bytes)
        store.problem(await patch(asked.slice(1), { key: 'change' }), { status: 422, code: 'idempotency.key.reused' })
      })
      const items = rowsIn(first).map(of)
      expect((await remove(items, { key: 'change' })).status).to.equal(204)
      const again = await changesNothing(store, () => remove(items, { key: 'change' }))
      expect([again.status, again.text, again.headers['idempotent-replayed']]).to.deep.equal([204, '', 'true'])
    })

    it('leaves nothing of a dry run', async () => {
      const rows = await products(2)
      const headers = { prefer: 'tx=rollback' }
      const dry = await changesNothing(store, () =>
        patch(
          rows.map((row) => ({ ...of(row), name: 'Dry' })),
          { headers }
        )
      )
      expect([dry.status, dry.headers['preference-applied']], dry.text).to.deep.equal([200, 'tx=rollback'])
      expect(rowsIn(dry).map(({ name }) => name)).to.deep.equal(['Dry', 'Dry'])
      const gone = await changesNothing(store, () => remove(rows.map(of), { headers }))
      expect([gone.status, gone.headers['preference-applied']]).to.deep.equal([204, 'tx=rollback'])
    })

    it('runs nothing where a row has no version, and names each such row', async () => {
      const rows = await products(4)
      const [a = {}, b = {}, c = {}, d = {}] = rows
      const items = [
        of(a),
        { id: b['id'] },
        { ...of(c), rowVersion: null },
        { ...of(d), rowVersion: '', price: 'free' }
      ]
      for (const call of [patch, remove]) {
        const answer = await changesNothing(store, () => call(items))
        const problem = store.problem(answer, { status: 428, code: 'precondition.required' })
        expect(pointersIn(problem)).to.deep.equal(['/1/rowVersion', '/2/rowVersion', '/3/rowVersion'])
      }
    })

    it('rejects content with all its faults, and changes no row', async () => {
      const [a = {}, b = {}] = await products(2)
      const many = Array.from({ length: 501 }, (_, at) => ({ id: at, rowVersion: STALE }))
      const cases: readonly (readonly [
        body: object | string,
        code: string,
        pointers: readonly string[],
        both?: boolean
      ])[] = [
        [of(a), 'body.invalid', ['']],
        [[], 'body.invalid', ['']],
        [many, 'body.invalid', ['']],
        [[of(a), 7, null], 'body.invalid', ['/1', '/2']],
        [[{ rowVersion: STALE }, { ...of(b), id: null }], 'body.invalid', ['/0/id', '/1/id']],
        [
          [
            { ...of(a), id: 'x' },
            { ...of(b), id: {} },
            { ...of(b), id: 1.5 }
          ],
          'id.invalid',
          ['/0/id', '/1/id', '/2/id']
        ],
        [`[{"id":9007199254740993,"rowVersion":"${STALE}"}]`, 'id.invalid', ['/0/id']],
        [[of(a), of(b), { ...of(a), id: `0${String(a['id'])}` }], 'body.invalid', ['/2/id']],
        [
          [
            { ...of(a), rowVersion: '*' },
            { ...of(b), rowVersion: 7 }
          ],
          'body.invalid',
          ['/0/rowVersion', '/1/rowVersion']
        ]
      ]
      for (const [body, code, pointers] of cases) {
        for (const call of [patch, remove]) {
          const answer = await changesNothing(store, () => call(body))
          expect(pointersIn(store.problem(answer, { status: 400, code })), answer.text).to.deep.equal(pointers)
        }
      }
      const bad = await changesNothing(store, () =>
        patch([
          { ...of(a), price: '-1' },
          { ...of(b), name: '', categoryId: 'one' }
        ])
      )
      const problem = store.problem(bad, { status: 400, code: 'body.invalid' })
      expect(pointersIn(problem)).to.deep.equal(['/0/price', '/1/name', '/1/categoryId'])
    })

    it('names what it ignored by the place of its row; strict handling rejects it', async () => {
      const rows = await products(2)
      const items = rows.map((row) => ({ ...of(row), colour: 'red' }))
      for (const call of [patch, remove]) {
        const rejected = await changesNothing(store, () => call(items, { headers: { prefer: 'handling=strict' } }))
        const problem = store.problem(rejected, { status: 400, code: 'parameter.unknown' })
        expect(pointersIn(problem)).to.deep.equal(['/0/colour', '/1/colour'])
      }
      const answer = await patch(items)
      expect([answer.status, answer.headers['x-ignored-parameters']]).to.deep.equal([
        200,
        'body.0%2Fcolour,body.1%2Fcolour'
      ])
    })

    it('answers the error of the single write for a row that cannot be written, with its place, and writes none', async () => {
      const [a = {}, b = {}] = await products(2)
      const cases: readonly (readonly [
        call: typeof patch,
        items: Item[],
        status: number,
        code: string,
        reason?: string
      ])[] = [
        [
          patch,
          [
            { ...of(a), name: 'x' },
            { ...of(b), rowVersion: STALE }
          ],
          412,
          'conflict',
          'stale'
        ],
        [
          patch,
          [
            { ...of(a), name: 'x' },
            { ...of(b), rowVersion: 'AAAA' }
          ],
          412,
          'conflict',
          'stale'
        ],
        [
          patch,
          [
            { ...of(a), name: 'x' },
            { id: 999_999, rowVersion: STALE }
          ],
          404,
          'not-found'
        ],
        [
          patch,
          [
            { ...of(a), name: 'x' },
            { ...of(b), sku: a['sku'] }
          ],
          412,
          'conflict',
          'unique; property="sku"'
        ],
        [
          patch,
          [
            { ...of(a), name: 'x' },
            { ...of(b), categoryId: 4711 }
          ],
          412,
          'conflict',
          'reference; property="categoryId"'
        ],
        [remove, [of(a), { ...of(b), rowVersion: STALE }], 412, 'conflict', 'stale'],
        [remove, [of(a), { id: 999_999, rowVersion: STALE }], 404, 'not-found'],
        [remove, [of(a), { id: 1, rowVersion: await versionOf(store, 1) }], 412, 'conflict', 'referenced']
      ]
      for (const [call, items, status, code, reason] of cases) {
        const answer = await changesNothing(store, () => call(items, { key: 'none' }))
        const problem = store.problem(answer, { status, code })
        expect(pointersIn(problem), answer.text).to.deep.equal(['/1'])
        expect(answer.headers['conflict-reason']).to.equal(reason)
        if (code === 'conflict')
          expect(problem.detail).to.equal('A data conflict occurred. Please retry or contact support.')
      }
    })

    it('keeps the states and rules of deletes, and who may write which rows', async () => {
      const order = async (account: string): Promise<Item> => {
        const body = { lines: [{ productId: 1, variantId: 2, quantity: 1 }] }
        const answer = await send(store, `${account} POST /orders`, { body })
        return of(JSON.parse(answer.text) as Row)
      }
      const stock = async (): Promise<unknown> =>
        (await select(store, 'SELECT stock FROM product_variants WHERE id = 2'))[0]?.['stock']
      const [mine, mineToo, theirs] = [await order('ada'), await order('ada'), await order('ben')]
      const before = await stock()
      const foreign = await changesNothing(store, () =>
        send(store, 'ada POST /orders/batch/delete', { body: [mine, theirs] })
      )
      expect(pointersIn(store.problem(foreign, { status: 404, code: 'not-found' }))).to.deep.equal(['/1'])
      const [paid] = await select(store, "SELECT id, row_version FROM orders WHERE status = 'paid' AND customer_id = 1")
      const version = Buffer.from(paid?.['row_version'] as Uint8Array).toString('base64')
      const state = await changesNothing(store, () =>
        send(store, 'ada POST /orders/batch/delete', {
          body: [mine, { id: Number(paid?.['id']), rowVersion: version }]
        })
      )
      expect(pointersIn(store.problem(state, { status: 422, code: 'state.invalid' }))).to.deep.equal(['/1'])
      const gone = await send(store, 'ada POST /orders/batch/delete', { body: [mineToo, mine] })
      expect(gone.status, gone.text).to.equal(204)
      // The rule of a delete puts back what the orders have taken.
      expect(Number(await stock())).to.equal(Number(before) + 2)
      store.problem(await remove([mine], {}, '-'), { status: 401, code: 'auth.required' })
      store.problem(await remove([mine], {}, 'ada'), { status: 403, code: 'capability.denied' })
      store.problem(await patch([mine], {}, 'ada'), { status: 403, code: 'capability.denied' })
    })

    // The embedded database has one lock for everything.
    if (store.kind === 'mysql')
      it('locks its rows in the order of their ids, whatever the order of the body', async () => {
        const rows = await products(3)
        const [first, second, third] = rows.map(({ id }) => Number(id))
        const lock = (id: unknown): string => `SELECT id FROM products WHERE id = ${String(id)} FOR UPDATE`
        const held = await hold(store, lock(first))
        const waiting = patch(rows.toReversed().map((row) => ({ ...of(row), name: 'Ordered' })))
        const other = await openTestDatabase(store.databaseUrl)
        try {
          // INNODB_TRX would not change while it is read more often than every 100 ms.
          const waits = "SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'"
          await until(async () => Number((await other.run(waits))[0]?.['Value']) > 0)
          // It waits for the first row and holds none of the others.
          await other.run('START TRANSACTION')
          for (const id of [second, third]) await other.run(`${lock(id)} NOWAIT`)
          await other.run('ROLLBACK')
        } finally {
          await other.close()
          await held.release()
        }
        expect((await waiting).status).to.equal(200)
      })

    it('lets one of two batches over the same rows in opposite order win, each time', async () => {
      let rows = await products(20)
      for (let round = 0; round < 3; round++) {
        const items = rows.map((row) => ({ ...of(row), name: `Round ${round}` }))
        const answers = await Promise.all([patch(items), patch(items.toReversed())])
        const statuses = answers.map(({ status }) => status)
        expect(statuses, answers.map(({ text }) => text.slice(0, 300)).join()).to.have.members([200, 412])
        const won = answers.find(({ status }) => status === 200)
        rows = won === undefined ? [] : rowsIn(won)
      }
    })

    it('is a method of its paths alone', async () => {
      const allow = async (path: string): Promise<string[]> =>
        String((await store.call(path, { method: 'OPTIONS' })).headers['allow']).split(', ')
      expect(await allow('/products/batch')).to.deep.equal(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      expect(await allow('/products/batch/delete')).to.deep.equal(['POST', 'OPTIONS'])
      const body = [{ id: 1, rowVersion: STALE }]
      for (const [line, status, code] of [
        ['clerk POST /products/1/delete', 404, 'route.not-found'],
        ['clerk POST /audit-entries/batch/delete', 404, 'route.not-found'],
        ['clerk PUT /products/batch/delete', 405, 'method.not-allowed'],
        ['clerk PATCH /orders/batch', 405, 'method.not-allowed']
      ] as const) {
        store.problem(await send(store, line, { body, headers: MERGE_PATCH }), { status, code })
      }
      store.problem(await send(store, 'clerk PATCH /products/batch', { body }), {
        status: 415,
        code: 'media-type.unsupported'
      })
    })
  },
  { also: ['unary'] }
)

async function versionOf(store: ApiStore, id: number): Promise<string> {
  const [row] = await select(store, 'SELECT row_version FROM products WHERE id = ?', [id])
  return Buffer.from(row?.['row_version'] as Uint8Array).toString('base64')
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve))
}
