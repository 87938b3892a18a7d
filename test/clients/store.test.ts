import { expect } from 'chai'
import {
  type Client,
  createClient,
  ExportIncompleteError,
  isProblem,
  ProblemError
} from '../../clients/typescript/src/client.js'
import type { Application } from '../../examples/store/client-types.js'
import { eachDatabase, type FreshDatabase } from '../harness/database.js'
import { storeDatabase } from '../harness/store-database.js'
import { type Stack, startStack } from '../harness/stack.js'
import { openTestDatabase, type TestDatabase } from '../oracle/test-database.js'
import { type CutConnection, cutConnectionTo } from './cut-connection.js'

const EXPORT_LIMIT = 25

/** What was sent: method, path and the headers that the client chooses. */
interface Sent {
  readonly method: string
  readonly path: string
  readonly key: string | null
  readonly ifMatch: string | null
}

// A client meets no database.
const ONE = { on: 'sqlite' } as const

eachDatabase((kind) => {
  describe(`the typed client on ${kind}`, () => {
    let database: FreshDatabase
    let stack: Stack
    let sql: TestDatabase
    let connection: CutConnection
    const sent: Sent[] = []

    const recording: typeof fetch = async (input, init) => {
      const request = new Request(input, init)
      const { pathname } = new URL(request.url)
      const [key, ifMatch] = ['idempotency-key', 'if-match'].map((name) => request.headers.get(name))
      sent.push({ method: request.method, path: pathname, key: key ?? null, ifMatch: ifMatch ?? null })
      return await fetch(input, init)
    }
    const clientOf = async (email?: string): Promise<Client<Application>> => {
      const token = email === undefined ? undefined : await stack.token(email)
      return createClient<Application>({
        baseUrl: connection.url,
        fetch: recording,
        retry: { baseDelay: 1 },
        token: () => token
      })
    }
    const newProduct = (sku: string) => ({ name: `Pan ${sku}`, sku, categoryId: 1, price: '19.90' })
    const idsOf = async (text: string): Promise<unknown[]> => (await sql.run(text)).map((row) => Number(row['id']))

    before(async () => {
      database = await storeDatabase(kind, 'sample')
      stack = await startStack({ database, env: { MAX_EXPORT_ROWS: String(EXPORT_LIMIT) } })
      sql = await openTestDatabase(database.url)
      connection = await cutConnectionTo(stack.url)
    })
    beforeEach(() => {
      sent.length = 0
    })
    after(async () => {
      await connection?.[Symbol.asyncDispose]()
      await sql?.close()
      await stack?.stop()
      await database?.dispose()
    })

    it('A machine account exports with a client id and a secret, and a wrong secret is told.', async () => {
      const machine = (secret: string): Client<Application> =>
        createClient<Application>({
          baseUrl: connection.url,
          fetch: recording,
          machine: { id: 'nightly-export', secret }
        })
      const nightly = machine('demo-secret-of-nightly-export')
      const exported = await nightly.resource('customers').export({ fields: ['id'], sort: ['id'] })
      const found: (string | null)[] = []
      for await (const { id } of exported) found.push(id)
      const expected = await idsOf(`SELECT id FROM customers ORDER BY id LIMIT ${EXPORT_LIMIT}`)
      expect(found.map(Number)).to.deep.equal(expected)
      await nightly.resource('customers').list({ fields: ['id'] })
      expect(sent.map(({ path }) => path)).to.deep.equal(['/auth/token', '/customers/export', '/customers'])
      const error: unknown = await machine('guess')
        .resource('customers')
        .list()
        .catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(ProblemError)
      expect(error).to.have.property('message').which.includes('The client id or the secret is wrong.')
    })

    it('Totals have the names that were asked for, in the order that was asked for.', async () => {
      const token = await stack.token('admin@example.com')
      const orders = createClient<Application>({ baseUrl: connection.url, token: () => token }).resource('orders')
      const query = { by: ['status'], measures: ['count', 'sum.total'], sort: '-count' } as const
      const { rows, isTruncated } = await orders.totals({ ...query, where: { id: { in: [1, 2, 3, 4, 5] } } })
      expect(isTruncated).to.equal(false)
      expect(rows.map(Object.keys)).to.deep.equal(rows.map(() => ['status', 'count', 'sum.total']))
      expect(rows.reduce((sum, { count }) => sum + count, 0)).to.equal(5)
      expect(rows.map(({ count }) => count)).to.deep.equal(rows.map(({ count }) => count).toSorted((a, b) => b - a))
    })

    it('A history is read page by page, with the values that each write changed.', async () => {
      const token = await stack.token('clerk@example.com')
      const products = createClient<Application>({ baseUrl: connection.url, token: () => token }).resource('products')
      const made = await products.create({ name: 'Old', sku: 'HISTORY-1', categoryId: 1, price: '1.00' })
      await products.patch(made, { name: 'New', price: 2 })
      const { entries, nextCursor = '' } = await products.history(made.id, { pageSize: 1 })
      expect(entries.map(({ action, changes }) => [action, changes])).to.deep.equal([
        ['update', { name: { before: 'Old', after: 'New' }, price: { before: '1.00', after: '2.00' } }]
      ])
      const older = await products.history(made.id, { after: nextCursor })
      expect(older.entries.map(({ changes }) => changes.sku)).to.deep.equal([{ after: 'HISTORY-1' }])
      expect(older.nextCursor).to.equal(undefined)
    })

    it('mirrors each new token into the session cookie where it is asked to, once', async () => {
      const [first, second] = [await stack.token('ada@example.com'), await stack.token('clerk@example.com')]
      const cookies: string[] = []
      let token = first
      const mirroring: typeof fetch = async (input, init) => {
        const answer = await recording(input, init)
        cookies.push(...answer.headers.getSetCookie())
        return answer
      }
      const options = { baseUrl: connection.url, fetch: mirroring, retry: { baseDelay: 1 }, token: () => token }
      const client = createClient<Application>({ ...options, mirrorToken: true })
      await client.token()
      await client.resource('products').get(1)
      expect(sent.map(({ method, path }) => `${method} ${path}`)).to.deep.equal([
        'POST /auth/session-cookie',
        'GET /products/1'
      ])
      token = second
      await client.resource('orders').list()
      const mirrors = (): number => sent.filter(({ path }) => path === '/auth/session-cookie').length
      expect(mirrors()).to.equal(1)
      const other = createClient<Application>({ ...options, mirrorToken: true })
      await other.token()
      expect(cookies.map((one) => one.split(';')[0])).to.deep.equal([
        `app_auth_access=${first}`,
        `app_auth_access=${second}`
      ])
      await createClient<Application>(options).resource('products').get(1)
      expect(mirrors()).to.equal(2)
    })

    it('filters, sorts and pages as SQL does', async () => {
      const products = (await clientOf()).resource('products')
      const page = await products.page({
        where: {
          name: [{ startsWith: 'C' }, { contains: 'pa' }],
          price: { between: ['1', 300] },
          isActive: { is: true },
          categoryId: { in: [1, 2, 3, 4, 5, 6, 7, 8] }
        },
        sort: ['-price', 'name'],
        pageSize: 4,
        fields: ['id', 'price']
      })
      const where = `FROM products WHERE name LIKE 'C%' AND name LIKE '%pa%' AND price BETWEEN ${kind === 'sqlite' ? '100 AND 30000' : '1 AND 300'} AND is_active = 1 AND category_id BETWEEN 1 AND 8`
      const all = await idsOf(`SELECT id ${where} ORDER BY price DESC, name, id`)
      expect(all.length).to.be.greaterThan(4)
      expect(page.rows.map(({ id }) => id)).to.deep.equal(all.slice(0, 4))
      expect(Object.keys(page.rows[0] ?? {})).to.deep.equal(['id', 'price'])
      const { totalCount, pageSize, currentPage, hasNext, hasPrevious } = page
      expect({ totalCount, pageSize, currentPage, hasNext, hasPrevious }).to.deep.equal({
        totalCount: all.length,
        pageSize: 4,
        currentPage: 1,
        hasNext: true,
        hasPrevious: false
      })
      const next = await products.page({ where: { name: { startsWith: 'C' } }, pageSize: 3 })
      const behind = await products.page({
        where: { name: { startsWith: 'C' } },
        pageSize: 3,
        ...(next.nextCursor === undefined ? {} : { after: next.nextCursor })
      })
      expect([...next.rows, ...behind.rows].map(({ id }) => id)).to.deep.equal(
        await idsOf("SELECT id FROM products WHERE name LIKE 'C%' ORDER BY id LIMIT 6")
      )
    })

    it('takes groups of conditions, of which one at least must hold in each', async () => {
      const products = (await clientOf()).resource('products')
      const found: number[] = []
      const query = {
        where: { isActive: { is: true } },
        anyOf: [
          { price: { lt: 2 }, categoryId: [{ eq: 3 }, { eq: 4 }] },
          { name: { startsWith: 'n' }, sku: { contains: '1' } }
        ],
        fields: ['id']
      } as const
      for await (const { id } of products.rows(query)) found.push(id)
      const price = kind === 'sqlite' ? 200 : 2
      expect(found).to.deep.equal(
        await idsOf(
          `SELECT id FROM products WHERE is_active = 1 AND (price < ${price} OR category_id = 3 OR category_id = 4) ` +
            "AND (name LIKE 'n%' OR sku LIKE '%1%') ORDER BY id"
        )
      )
      expect(found.length).to.be.greaterThan(10)
    })

    it('takes names of navigations, also of those within others', async () => {
      const products = (await clientOf()).resource('products')
      const [stored] = await sql.run(
        'SELECT p.id, c.name, r.name AS above FROM products p JOIN categories c ON c.id = p.category_id ' +
          'JOIN categories r ON r.id = c.parent_id ORDER BY p.id'
      )
      const row = await products.get(Number(stored?.['id']), { include: ['category.parent', 'variants'] })
      expect([row.category?.name, row.category?.parent?.name]).to.deep.equal([stored?.['name'], stored?.['above']])
      const skus = await sql.run('SELECT sku FROM product_variants WHERE product_id = ? ORDER BY id', [row.id])
      expect(row.variants.map(({ sku }) => sku)).to.deep.equal(skus.map(({ sku }) => sku))
      expect(row).to.not.have.property('reviews')
      expect(await products.get(row.id, { include: [] })).to.not.have.property('category')
    })

    it('quotes what a list of values would be split at', async () => {
      const clerk = (await clientOf('clerk@example.com')).resource('products')
      const names = ['a, b', 'say "so"', ' blank ']
      for (const [index, name] of names.entries()) await clerk.create({ ...newProduct(`Q-${index}`), name })
      const { rows } = await clerk.page({ where: { name: { in: names } }, fields: ['name'], sort: 'id' })
      expect(rows).to.deep.equal(names.map((name) => ({ name })))
      expect(await rejected(clerk.page({ where: { name: { in: [] } } }))).to.be.instanceOf(TypeError)
    })

    it('iterates over all rows by cursors, and stops when the caller does', async () => {
      const products = (await clientOf()).resource('products')
      const found: number[] = []
      for await (const { id } of products.rows({ sort: '-name', pageSize: 500, fields: ['id'] })) found.push(id)
      expect(found).to.have.length(Number((await sql.run('SELECT COUNT(*) AS n FROM products'))[0]?.['n']))
      expect(new Set(found).size).to.equal(found.length)
      expect(sent.length).to.equal(Math.ceil(found.length / 500))
      sent.length = 0
      let pages = 0
      for await (const page of products.pages({ pageSize: 2 })) {
        expect([page.rows.length, page.totalCount]).to.deep.equal([2, undefined])
        if (++pages === 2) break
      }
      expect(sent.length).to.equal(2)
    })

    it('reads lists, lookups, rows with what belongs to them, and operations', async () => {
      const clerk = await clientOf('clerk@example.com')
      const list = await clerk.resource('products').list({ fields: ['id'] })
      expect([list.rows.length, list.isTruncated]).to.deep.equal([1000, true])
      const lookup = await clerk.resource('warehouses').lookup()
      const names = (await sql.run('SELECT name FROM warehouses')).map(({ name }) => String(name)).toSorted()
      expect(lookup.items.map(({ name }) => name ?? '').toSorted()).to.deep.equal(names)
      const row = await clerk.resource('products').get(7, { includeFKs: true, includeChildren: true })
      const [variants] = await sql.run('SELECT COUNT(*) AS n FROM product_variants WHERE product_id = 7')
      expect([row.category?.id, row.variants.length]).to.deep.equal([row.categoryId, Number(variants?.['n'])])
      const { warehouses } = await clerk.call('GET /reports/stock', { query: { least: 1 } })
      expect(warehouses.map(({ name }) => name).toSorted()).to.deep.equal(names)
    })

    it('sends the version of what it read with every guarded write', async () => {
      const products = (await clientOf('clerk@example.com')).resource('products')
      const made = await products.create(newProduct('V-1'))
      const patched = await products.patch(made.id, { price: '20.00' })
      const replaced = await products.replace(made.id, { ...newProduct('V-1'), isActive: false })
      const published = await products.act(made.id, 'publish')
      expect(published).to.include({ isActive: true, price: '19.90' })
      const [variant] = (
        await products
          .act(made.id, 'add-variant', { body: { name: 'Red', sku: 'V-1-R', price: 3, stock: 5 } })
          .then(() => products.get(made.id, { includeChildren: true }))
      ).variants
      await products.act(made.id, 'change-variant-price', {
        body: { variantId: variant?.id ?? 0, price: '4.00', variantRowVersion: variant?.rowVersion ?? '' }
      })
      const last = products.versionOf(made.id)
      await products.delete(made.id)
      expect(products.versionOf(made.id)).to.equal(undefined)
      const tags = sent.filter(({ method }) => method !== 'GET').map(({ ifMatch }) => ifMatch)
      const tag = ({ rowVersion }: { readonly rowVersion: string }): string => `W/"${rowVersion}"`
      expect(tags.slice(0, 5)).to.deep.equal([null, tag(made), tag(patched), tag(replaced), tag(published)])
      expect(tags.at(-1)).to.equal(last)
      expect(await idsOf("SELECT id FROM products WHERE sku = 'V-1'")).to.deep.equal([])
    })

    it('leaves nothing of a dry run, nor remembers its versions', async () => {
      const products = (await clientOf('clerk@example.com')).resource('products')
      const dryRun = true
      const tried = await products.create(newProduct('R-1'), { dryRun })
      expect(products.versionOf(tried.id)).to.equal(undefined)
      expect(await products.createBatch([newProduct('R-1')], { dryRun })).to.have.length(1)
      expect(await idsOf("SELECT id FROM products WHERE sku LIKE 'R-%'")).to.deep.equal([])
      const made = await products.create(newProduct('R-1'))
      expect(await products.patch(made, { price: '20.00' }, { dryRun })).to.include({ price: '20.00' })
      expect(await products.replace(made, { ...newProduct('R-1'), isActive: false }, { dryRun })).to.include({
        isActive: false
      })
      expect(await products.act(made, 'unpublish', { dryRun })).to.include({ isActive: false })
      await products.delete(made, { dryRun })
      expect(products.versionOf(made.id)).to.equal(`W/"${made.rowVersion}"`)
      expect(await products.get(made.id)).to.deep.equal(made)
    })

    it('reads and replaces rows by a unique property', async () => {
      const products = (await clientOf('clerk@example.com')).resource('products')
      const made = await products.create(newProduct('By/1 %'))
      expect(await products.by('sku', 'by/1 %')).to.deep.equal(made)
      expect(await products.by('sku', 'By/1 %', { fields: ['id'] })).to.deep.equal({ id: made.id })
      const { sku: _sku, ...others } = newProduct('')
      const replaced = await products.replaceBy('sku', 'By/1 %', { body: { ...others, name: 'By sku' }, ifMatch: made })
      expect(replaced).to.include({ id: made.id, sku: 'By/1 %', name: 'By sku' })
      expect(products.versionOf(made.id)).to.equal(`W/"${replaced.rowVersion}"`)
      const [ifMatch, dryRun] = [replaced, true]
      expect(await products.replaceBy('sku', 'By/1 %', { body: others, ifMatch, dryRun })).to.include({ name: 'Pan ' })
      expect(await products.get(made.id)).to.deep.equal(replaced)
      const stale = await rejected(products.replaceBy('sku', 'By/1 %', { body: others, ifMatch: made }))
      expect(isProblem(stale, 'conflict')).to.equal(true)
      const absent = await rejected(products.by('sku', 'none'))
      expect(isProblem(absent, 'not-found')).to.equal(true)
      await products.delete(made.id)
    })

    it('imports the rows of a file, and tells which could not be created', async () => {
      const products = (await clientOf('clerk@example.com')).resource('products')
      const rows = ['F-1', 'F-2', 'F-1'].map((sku) => JSON.stringify(newProduct(sku)))
      const options = { format: 'ndjson', onError: 'skip', idempotencyKey: 'file' } as const
      const { errors, ...counts } = await products.import(rows.join('\n'), options)
      expect(counts).to.deep.equal({ rows: 3, created: 2, failed: 1, replayed: 0 })
      expect(errors.map(({ row, code, pointer }) => [row, code, pointer])).to.deep.equal([[3, 'conflict', '/sku']])
      expect(await products.import(rows.join('\n'), options)).to.include({ created: 0, replayed: 2 })
      const more = ['name,sku,categoryId,price', 'N,F-2,1,1.50', 'N,F-3,1,1.50'].join('\n')
      const left = await products.import(new Blob([more]), { format: 'csv', by: 'sku' })
      expect(left).to.include({ created: 1, existing: 1 })
    })

    it('changes and deletes several rows by the versions that it knows, all or none', async () => {
      const products = (await clientOf('clerk@example.com')).resource('products')
      const [first, second] = await products.createBatch([newProduct('B-1'), newProduct('B-2')])
      if (first === undefined || second === undefined) throw new Error('no rows')
      const changed = await products.updateMany([
        { id: second.id, price: '2.00' },
        { id: first.id, rowVersion: first.rowVersion, price: '1.00' }
      ])
      expect(changed.map(({ id, price }) => [id, price])).to.deep.equal([
        [second.id, '2.00'],
        [first.id, '1.00']
      ])
      expect(products.versionOf(first.id)).to.equal(`W/"${changed[1]?.rowVersion}"`)
      const stale = await rejected(products.deleteMany([second.id, first]))
      if (!isProblem(stale, 'conflict')) throw stale
      expect([stale.problem.status, stale.problem.conflict?.kind]).to.deep.equal([412, 'stale'])
      expect(stale.problem.errors.map(({ pointer }) => pointer)).to.deep.equal(['/1'])
      expect(await idsOf("SELECT id FROM products WHERE sku LIKE 'B-%' ORDER BY id")).to.deep.equal([
        first.id,
        second.id
      ])
      await products.deleteMany([second.id, first.id])
      expect(products.versionOf(first.id)).to.equal(undefined)
      expect(await idsOf("SELECT id FROM products WHERE sku LIKE 'B-%'")).to.deep.equal([])
      expect(sent.map(({ method, key }) => [method, key !== null])).to.deep.include.members([['PATCH', true]])
    })

    it('tells of a stale version as a problem, by the row that the caller saw and not by a later read', async () => {
      const [mine, theirs] = await Promise.all([clientOf('clerk@example.com'), clientOf('clerk@example.com')])
      const seen = await mine.resource('products').create(newProduct('S-1'))
      const now = await theirs.resource('products').get(seen.id)
      await theirs.resource('products').patch(now, { price: '1.00' })
      // The list is read anew, while the form still shows what was read before.
      await mine.resource('products').page({ where: { id: { equals: seen.id } } })
      const error = await rejected(mine.resource('products').patch(seen, { name: 'Mine' }))
      if (!isProblem(error, 'conflict')) throw error
      const { type, instance, requestId, ...problem } = error.problem
      expect(problem).to.deep.equal({
        code: 'conflict',
        givenCode: 'conflict',
        status: 412,
        title: 'Conflict',
        detail: 'A data conflict occurred. Please retry or contact support.',
        errors: [],
        conflict: { kind: 'stale', detail: 'Somebody else has changed it meanwhile.' },
        members: {}
      })
      expect(error.message).to.equal('412 conflict: Somebody else has changed it meanwhile.')
      expect([type, instance]).to.deep.equal([`${stack.url}/problems/conflict`, `/products/${seen.id}`])
      expect(requestId).to.match(/^[\w.-]+$/)
      const again = await mine.resource('products').get(seen.id)
      expect(again).to.include({ price: '1.00', name: 'Pan S-1' })
      expect(await mine.resource('products').patch(again, { name: 'Mine' })).to.include({ name: 'Mine', price: '1.00' })
      const explicit = await rejected(
        mine.resource('products').patch(seen.id, { name: 'Old' }, { ifMatch: `W/"${seen.rowVersion}"` })
      )
      expect(isProblem(explicit, 'conflict')).to.equal(true)
    })

    it('gives the members that an action adds to a problem, and all faults of a request', async () => {
      const ada = await clientOf('ada@example.com')
      const carts = ada.resource('shopping-carts')
      const cart = await carts.create({ currency: 'EUR', items: [{ productId: 7, quantity: 1 }] })
      const closed = await carts.act(cart, 'checkout')
      const error = await rejected(carts.act(closed, 'checkout'))
      const orders = await sql.run('SELECT number FROM orders ORDER BY id DESC LIMIT 1')
      expect(error).to.be.instanceOf(ProblemError)
      if (!isProblem(error, 'conflict')) throw error
      expect([error.problem.status, error.problem.title, error.problem.members]).to.deep.equal([
        412,
        'Cart checked out',
        { orderNumber: orders[0]?.['number'] }
      ])
      const faults = await rejected(
        (await clientOf('clerk@example.com'))
          .resource('products')
          .create({ name: '', sku: '', categoryId: 1, price: '-1.001' })
      )
      if (!isProblem(faults, 'body.invalid')) throw faults
      expect(faults.problem.errors.map(({ code, pointer }) => [code, pointer])).to.deep.include([
        'body.invalid',
        '/price'
      ])
    })

    it('creates once although the connection is cut, with one key for all attempts', async () => {
      const products = (await clientOf('clerk@example.com')).resource('products')
      const cuts = connection.cuts
      connection.cutNext('nothing')
      const made = await products.create(newProduct('K-1'))
      connection.cutNext(20)
      const second = await products.create(newProduct('K-2'))
      expect(connection.cuts - cuts).to.equal(2)
      expect(await idsOf("SELECT id FROM products WHERE sku IN ('K-1', 'K-2') ORDER BY sku")).to.deep.equal([
        made.id,
        second.id
      ])
      const keys = sent.filter(({ method }) => method === 'POST').map(({ key }) => key)
      expect(keys).to.have.length(4)
      expect([keys[0] === keys[1], keys[2] === keys[3], keys[0] === keys[2]]).to.deep.equal([true, true, false])
      expect(keys.every((key) => key !== null && /^[0-9a-f]{32}$/.test(key))).to.equal(true)
    })

    it('sends an action again too, and a PATCH never', async () => {
      const products = (await clientOf('clerk@example.com')).resource('products')
      const made = await products.create({ ...newProduct('A-1'), isActive: false })
      connection.cutNext('nothing')
      expect(await products.act(made, 'publish')).to.include({ isActive: true })
      connection.cutNext('nothing')
      sent.length = 0
      const error = await rejected(products.patch(made.id, { price: '5.00' }))
      expect(error).to.include({ name: 'ConnectionError' })
      expect(sent).to.have.length(1)
    })

    it('gets a new token once for all calls whose token was rejected, and repeats each once', async () => {
      const token = await stack.token('ada@example.com')
      const asked: (string | undefined)[] = []
      const client = createClient<Application>({
        baseUrl: connection.url,
        fetch: recording,
        token: (rejected) => {
          asked.push(rejected)
          return rejected === undefined ? 'a.stale.token' : token
        }
      })
      const pages = await Promise.all(Array.from({ length: 6 }, () => client.resource('orders').page({ pageSize: 1 })))
      const [own] = await sql.run('SELECT COUNT(*) AS n FROM orders WHERE customer_id = 1')
      expect(new Set(pages.map(({ totalCount }) => totalCount))).to.deep.equal(new Set([Number(own?.['n'])]))
      expect(asked).to.deep.equal([undefined, 'a.stale.token'])
      expect(sent).to.have.length(12)
    })

    it('takes tokens of the session cookies, asks once for concurrent calls, and logs in and out', async () => {
      let cookies = ''
      const browser: typeof fetch = async (input, init) => {
        const headers = new Headers(init?.headers)
        if (cookies !== '') headers.set('cookie', cookies)
        const answer = await recording(input, { ...init, headers })
        const set = answer.headers.getSetCookie().map((one) => one.split(';')[0] ?? '')
        if (set.length > 0) cookies = set.filter((one) => !one.endsWith('=')).join('; ')
        return answer
      }
      const inPage = (): Client<Application> =>
        createClient<Application>({ baseUrl: connection.url, fetch: browser, token: 'session', retry: { attempts: 0 } })
      const anonymous = await rejected(inPage().resource('orders').page())
      expect(isProblem(anonymous, 'auth.required')).to.equal(true)
      const first = inPage()
      await first.login({ email: 'ada@example.com', password: 'demo-password' })
      sent.length = 0
      await first.resource('orders').page()
      expect(sent.map(({ path }) => path)).to.deep.equal(['/orders/paged'])
      sent.length = 0
      const second = inPage()
      const ids = await Promise.all([1, 2, 3].map(() => second.resource('orders').page({ pageSize: 1 })))
      expect(ids.map(({ rows }) => rows[0]?.customerId)).to.deep.equal([1, 1, 1])
      expect(sent.filter(({ path }) => path === '/auth/session/token')).to.have.length(1)
      await second.logout()
      expect(cookies).to.equal('')
      expect(isProblem(await rejected(second.resource('orders').page()), 'auth.required')).to.equal(true)
    })

    it('reads exports row by row, and says whether they were truncated', async () => {
      const products = (await clientOf()).resource('products')
      const few = await products.export({ where: { id: { lte: 3 } }, fields: ['id', 'description'] })
      const rows = await collected(few)
      const expected = await sql.run('SELECT id, description FROM products WHERE id <= 3 ORDER BY id')
      expect(rows).to.deep.equal(
        expected.map(({ id, description }) => ({ id: String(id), description: description ?? null }))
      )
      expect([few.rows, few.isTruncated, few.rowLimit]).to.deep.equal([expected.length, false, EXPORT_LIMIT])
      expect(few.fileName).to.match(/^products-\d{8}T\d{6}Z\.csv$/)
      const exact = await products.export({ where: { id: { in: await first(EXPORT_LIMIT) } } })
      expect([(await collected(exact)).length, exact.isTruncated]).to.deep.equal([EXPORT_LIMIT, false])
      const many = await products.export({ fields: ['name', 'id'] })
      expect(many.isTruncated).to.equal(undefined)
      expect((await collected(many)).map(({ id }) => Number(id))).to.deep.equal(await first(EXPORT_LIMIT))
      expect([many.rows, many.isTruncated]).to.deep.equal([EXPORT_LIMIT, true])
      const file = await products.export({ fields: ['id'] })
      const text = await new Response(file.file()).text()
      expect(text.split('\r\n').slice(-2)).to.deep.equal([`# export truncated at ${EXPORT_LIMIT} rows`, ''])
      expect([file.rows, file.isTruncated]).to.deep.equal([EXPORT_LIMIT, true])
    })

    const first = (count: number): Promise<number[]> =>
      idsOf(`SELECT id FROM products ORDER BY id LIMIT ${count}`) as Promise<number[]>

    it('breaks off where an export did', async () => {
      const products = (await clientOf()).resource('products')
      connection.cutNext(60)
      const error = await rejected(collected(await products.export({ fields: ['id', 'name'] })))
      expect(error).to.be.instanceOf(ExportIncompleteError)
    })

    it('ends a call, its waits and its retries by a signal', async () => {
      const products = (await clientOf()).resource('products')
      const reason = new Error('No longer wanted.')
      expect(await rejected(products.get(1, {}, { signal: AbortSignal.abort(reason) }))).to.equal(reason)
      const controller = new AbortController()
      const pending = rejected(products.page({ pageSize: 500 }, { signal: controller.signal }))
      controller.abort(reason)
      expect(await pending).to.equal(reason)
    })
  })
}, ONE)

async function collected<One>(rows: AsyncIterable<One>): Promise<One[]> {
  const all: One[] = []
  for await (const row of rows) all.push(row)
  return all
}

/** What a promise is rejected with. */
async function rejected(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
  } catch (error) {
    return error
  }
  throw new Error('It was not rejected.')
}
