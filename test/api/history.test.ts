import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { status } from '@grpc/grpc-js'
import { expect } from 'chai'
import { type Ran, runCommand } from '../harness/command.js'
import { outputRoot } from '../harness/package-root.js'
import { withTestDatabase } from '../oracle/test-database.js'
import { GrpcCaller, isFailure } from '../stack/grpc-caller.js'
import { describeApi } from './api-store.js'
import { type Answer, json } from './http-call.js'
import { etagOf, rowIn, send } from './writes/send.js'

interface Entry {
  readonly id: string
  readonly at: string
  readonly action: string
  readonly subject?: string
  readonly requestId?: string | null
  readonly changes: Readonly<Record<string, { before?: unknown; after?: unknown; omitted?: boolean }>>
}

const PRODUCT = {
  name: 'Clock',
  sku: 'CLK-1',
  categoryId: 1,
  price: '19.90',
  costPrice: '9.35',
  barcode: '9007199254740993'
}

/** contract.md section 10, history. */
describeApi(
  'the history of a row',
  (store) => {
    const historyOf = async (account: string, path: string): Promise<readonly Entry[]> => {
      const answer = await send(store, `${account} GET ${path}/history?pageSize=50`)
      expect(answer.status, answer.text).to.equal(200)
      return json(answer) as Entry[]
    }
    const written = async (line: string, write: Parameters<typeof send>[2] = {}): Promise<Answer> => {
      const answer = await send(store, line, write)
      expect(answer.status, answer.text).to.be.lessThan(300)
      return answer
    }
    const newProduct = async (members: object = {}): Promise<{ readonly path: string; readonly created: Answer }> => {
      const created = await written('clerk POST /products', { body: { ...PRODUCT, ...members } })
      return { path: `/products/${String(rowIn(created)['id'])}`, created }
    }
    const codeOf = ({ status: code, text }: Answer): string => `${code} ${(JSON.parse(text) as { code: string }).code}`

    it('has what each write changed, before and after, the newest first', async () => {
      const { path, created } = await newProduct({ sku: 'CLK-2' })
      const { costPrice: _kept, ...put } = { ...PRODUCT, sku: 'CLK-2', price: '21.90', barcode: null }
      const updated = await written(`clerk PUT ${path}`, {
        body: { ...put, costPrice: '9.35' },
        ifMatch: etagOf(created)
      })
      const patched = await written(`clerk PATCH ${path}`, {
        body: { name: 'Wall Clock' },
        ifMatch: etagOf(updated),
        headers: { 'content-type': 'application/merge-patch+json' }
      })
      const acted = await written(`clerk PUT ${path}/unpublish`, { ifMatch: etagOf(patched) })
      await written(`clerk PUT ${path}/change-category`, { body: { categoryId: 2 }, ifMatch: etagOf(acted) })
      const entries = await historyOf('clerk', path)
      expect(entries.map(({ action, changes }) => ({ action, changes }))).to.deep.equal([
        { action: 'change-category', changes: { categoryId: { before: 1, after: 2 } } },
        { action: 'unpublish', changes: { isActive: { before: true, after: false } } },
        { action: 'update', changes: { name: { before: 'Clock', after: 'Wall Clock' } } },
        {
          action: 'update',
          changes: { price: { before: '19.90', after: '21.90' }, barcode: { before: '9007199254740993', after: null } }
        },
        {
          action: 'create',
          changes: {
            name: { after: 'Clock' },
            sku: { after: 'CLK-2' },
            categoryId: { after: 1 },
            price: { after: '19.90' },
            barcode: { after: '9007199254740993' },
            isActive: { after: true },
            costPrice: { after: '9.35' }
          }
        }
      ])
      expect(entries.map(({ id }) => BigInt(id))).to.deep.equal(
        entries.map(({ id }) => BigInt(id)).toSorted((a, b) => (a < b ? 1 : -1))
      )
      expect(entries[0]).to.have.all.keys('id', 'at', 'action', 'changes')
    })

    it('has a batch of changes and an idempotent create, each once', async () => {
      const body = [{ ...PRODUCT, sku: 'CLK-3' }]
      const created = await written('clerk POST /products/batch', { body, key: 'history' })
      await written('clerk POST /products/batch', { body, key: 'history' })
      const [{ id, rowVersion }] = json(created) as [{ id: number; rowVersion: string }]
      await written('clerk PATCH /products/batch', {
        body: [{ id, rowVersion, weightGrams: 5 }],
        headers: { 'content-type': 'application/merge-patch+json' }
      })
      const entries = await historyOf('-', `/products/${id}`)
      expect(entries.map(({ action }) => action)).to.deep.equal(['update', 'create'])
      expect(entries[0]?.changes).to.deep.equal({ weightGrams: { before: null, after: 5 } })
    })

    it('has nothing of a write that failed, and nothing of a dry run', async () => {
      const { path, created } = await newProduct({ sku: 'CLK-4' })
      const body = { name: 'Tried' }
      const headers = { 'content-type': 'application/merge-patch+json' }
      await written(`clerk PATCH ${path}`, {
        body,
        ifMatch: etagOf(created),
        headers: { ...headers, prefer: 'tx=rollback' }
      })
      const stale = await send(store, `clerk PATCH ${path}`, { body, ifMatch: 'W/"AAAAAAAAAAA="', headers })
      expect(stale.status).to.equal(412)
      expect((await historyOf('clerk', path)).map(({ action }) => action)).to.deep.equal(['create'])
    })

    it('shows the columns that its reader may read today, and who wrote to those who read the audit trail', async () => {
      const { path, created } = await newProduct({ sku: 'CLK-5' })
      await written(`clerk PATCH ${path}`, {
        body: { costPrice: '8.00' },
        ifMatch: etagOf(created),
        headers: { 'content-type': 'application/merge-patch+json', 'x-request-id': 'history-5' }
      })
      const [byNobody, byClerk, byAdmin] = [
        await historyOf('-', path),
        await historyOf('clerk', path),
        await historyOf('admin', path)
      ]
      expect(byNobody[0]?.changes).to.deep.equal({})
      expect(byNobody[1]?.changes).to.not.have.property('costPrice')
      expect(byClerk[0]?.changes).to.deep.equal({ costPrice: { before: '9.35', after: '8.00' } })
      expect(byClerk[0]).to.not.have.any.keys('subject', 'requestId')
      expect(byAdmin[0]?.requestId).to.equal('history-5')
      expect(byAdmin[0]?.subject).to.be.a('string').that.is.not.equal('')
    })

    it('never has a hidden column, on whatever way it was written', async () => {
      const run = (sql: string): Promise<object[]> =>
        withTestDatabase(store.databaseUrl, (database) => database.run(sql))
      const made = await written('clerk POST /customers', { body: { name: 'Hidden', email: 'hidden@example.com' } })
      const id = String(rowIn(made)['id'])
      await run(`UPDATE customers SET risk_note = 'pays late' WHERE id = ${id}`)
      await written(`clerk PUT /customers/${id}/suspend`, { ifMatch: etagOf(made) })
      // Its entry has every column that is kept.
      await written(`clerk DELETE /customers/${id}`)
      const kept = await run('SELECT changes FROM ur_audit_entries WHERE changes IS NOT NULL')
      expect(JSON.stringify(kept)).to.include('isSuspended').and.not.include('riskNote').and.not.include('pays late')
    })

    it('is shown to whoever may read the row by its id, and 404 alike to all others', async () => {
      const absent = await send(store, 'ada GET /customers/1/history')
      expect(absent.status, absent.text).to.equal(200)
      for (const line of ['ben GET /customers/1/history', 'ben GET /customers/1']) {
        expect(codeOf(await send(store, line)), line).to.equal('403 ownership.denied')
      }
      const orders = (await written('ada GET /orders/paged?pageSize=1')).text
      const [{ id }] = JSON.parse(orders) as [{ id: number }]
      expect(await historyOf('ada', `/orders/${id}`)).to.deep.equal([])
      const [foreign, none] = [
        await send(store, `ben GET /orders/${id}/history`),
        await send(store, 'ben GET /orders/99999/history')
      ]
      expect(codeOf(foreign)).to.equal('404 not-found')
      expect(codeOf(none)).to.equal('404 not-found')
      expect(codeOf(await send(store, 'admin GET /orders/99999/history'))).to.equal('404 not-found')
      expect(codeOf(await send(store, '- GET /orders/1/history'))).to.equal('401 auth.required')
      expect(codeOf(await send(store, '- GET /products/x/history'))).to.equal('400 id.invalid')
    })

    it('has what a rule of another resource wrote', async () => {
      const cart = await written('ben POST /shopping-carts', {
        body: { currency: 'EUR', items: [{ productId: 1, quantity: 2 }] }
      })
      await written(`ben PUT /shopping-carts/${String(rowIn(cart)['id'])}/checkout`, { ifMatch: etagOf(cart) })
      const page = await written('ben GET /orders/paged?sortColumn=id&sortDirection=desc&pageSize=1')
      const [order] = json(page) as [Readonly<Record<string, unknown>>]
      const [entry, ...others] = await historyOf('ben', `/orders/${String(order['id'])}`)
      expect(others).to.deep.equal([])
      expect(entry?.action).to.equal('create')
      expect(entry?.changes['total']).to.deep.equal({ after: order['total'] })
      expect(entry?.changes['status']).to.deep.equal({ after: 'placed' })
    })

    it('of a deleted row is for those who read the audit trail and every row, and 404 to all others', async () => {
      const { path } = await newProduct({ sku: 'CLK-6' })
      await written(`clerk DELETE ${path}`)
      for (const account of ['-', 'clerk', 'ada']) {
        expect(codeOf(await send(store, `${account} GET ${path}/history`)), account).to.equal('404 not-found')
      }
      const [deleted, created] = await historyOf('admin', path)
      expect([deleted?.action, created?.action]).to.deep.equal(['delete', 'create'])
      expect(deleted?.changes['sku']).to.deep.equal({ before: 'CLK-6' })
      expect(deleted?.changes['costPrice']).to.deep.equal({ before: '9.35' })
    })

    it('is read in pages whose cursors belong to one row', async () => {
      const { path, created } = await newProduct({ sku: 'CLK-7' })
      let tag = etagOf(created)
      for (const weightGrams of [1, 2, 3, 4]) {
        const headers = { 'content-type': 'application/merge-patch+json' }
        tag = etagOf(await written(`clerk PATCH ${path}`, { body: { weightGrams }, ifMatch: tag, headers }))
      }
      const all = await historyOf('clerk', path)
      const found: Entry[] = []
      let next: string | undefined = `${store.url}${path}/history?pageSize=2`
      let cursor = ''
      while (next !== undefined) {
        const answer = await written(`clerk GET ${next.slice(store.url.length)}`)
        expect(answer.headers['cache-control']).to.equal('no-store')
        found.push(...(json(answer) as Entry[]))
        const last = answer.headers['x-next-cursor']
        if (last !== undefined) cursor = String(last)
        next = /^<([^>]+)>; rel="next"$/.exec(String(answer.headers['link'] ?? ''))?.[1]
        expect(next === undefined).to.equal(last === undefined)
      }
      expect(found).to.deep.equal(all).and.have.length(5)
      expect(codeOf(await send(store, `clerk GET /products/1/history?after=${cursor}`))).to.equal(
        '400 paging.cursor.invalid'
      )
      expect(codeOf(await send(store, `clerk GET ${path}/history?pageSize=0`))).to.equal('400 paging.invalid')
      const ignored = await written(`clerk GET ${path}/history?pageNumber=2`)
      expect(ignored.headers['x-ignored-parameters']).to.equal('pageNumber')
    })

    it('is a path of the resources that have one, with GET and HEAD beside the actions of the row', async () => {
      expect(codeOf(await send(store, 'admin GET /categories/1/history'))).to.equal('404 route.not-found')
      expect((await send(store, '- HEAD /products/1/history')).status).to.equal(200)
      const wrong = await send(store, 'clerk PUT /products/1/history', { body: {} })
      expect(codeOf(wrong)).to.equal('405 method.not-allowed')
      expect(wrong.headers.allow).to.equal('GET, HEAD, OPTIONS')
      expect(codeOf(await send(store, 'clerk GET /products/1/publish'))).to.equal('405 method.not-allowed')
    })

    it('loses old values by a purge, which archives them first and leaves the entries', async () => {
      const body = Array.from({ length: 120 }, (_, at) => ({ ...PRODUCT, sku: `PURGE-${at}` }))
      const created = json(await written('clerk POST /products/batch', { body })) as readonly { readonly id: number }[]
      const count = async (where: string): Promise<number> => {
        const sql = `SELECT COUNT(*) AS n FROM ur_audit_entries WHERE ${where}`
        const [row] = await withTestDatabase(store.databaseUrl, (database) => database.run(sql))
        return Number(row?.['n'])
      }
      const [all, kept] = [await count('1 = 1'), await count('changes IS NOT NULL')]
      expect(kept).to.be.at.least(120)
      const archive = join(store.dataDir, 'archive.ndjson')
      const purge = (...args: string[]): Promise<Ran> =>
        runCommand(['history', 'purge', ...args, '--app', join(outputRoot, 'examples/store')], {
          env: { DATABASE_URL: store.databaseUrl, DATA_DIR: store.dataDir }
        })
      for (const args of [[], ['--before', 'yesterday'], ['--before', '2026-02-30'], ['--before']]) {
        expect((await purge(...args)).code, args.join(' ')).to.equal(1)
      }
      expect((await purge('--before', '2000-01-01')).stdout).to.equal('Purged: 0.\n')
      expect(await count('changes IS NOT NULL')).to.equal(kept)
      // As in a process of its own: the purges before have set that of this one.
      process.umask(0o022)
      const ran = await purge('--before', '2999-01-01', '--archive', archive)
      expect([ran.code, ran.stdout]).to.deep.equal([0, `Purged: ${kept}.\n`])
      expect([await count('1 = 1'), await count('changes IS NOT NULL')]).to.deep.equal([all, 0])
      // It holds values of rows.
      expect(((await stat(archive)).mode & 0o777).toString(8)).to.equal('600')
      const lines = (await readFile(archive, 'utf8')).trimEnd().split('\n')
      const entries = lines.map((line) => JSON.parse(line) as Readonly<Record<string, string>>)
      expect(new Set(entries.map(({ id }) => id)).size).to.equal(kept)
      const last = entries.find(({ resource, rowId }) => resource === 'products' && rowId === String(created[119]?.id))
      expect(JSON.parse(last?.['changes'] ?? '')).to.deep.include({ sku: [null, '"PURGE-119"'] })
      expect(
        (await historyOf('clerk', `/products/${created[119]?.id}`)).map(({ action, changes }) => [action, changes])
      ).to.deep.equal([['create', {}]])
    })

    it('is the same over gRPC', async () => {
      const { path, created } = await newProduct({ sku: 'CLK-8' })
      const grpc = new GrpcCaller(store.stack.dataAddress)
      try {
        const id = String(rowIn(created)['id'])
        const answer = await grpc.unary('History', { resource: 'products', id })
        if (isFailure(answer)) throw new Error(answer.message)
        const { json: entries } = answer as { readonly json: Buffer }
        expect(JSON.parse(String(entries))).to.deep.equal(await historyOf('-', path))
        const refused = await grpc.unary('History', { resource: 'categories', id: '1' })
        expect(isFailure(refused) && refused.status).to.equal(status.NOT_FOUND)
      } finally {
        grpc.close()
      }
    })
  },
  { also: ['document'] }
)
