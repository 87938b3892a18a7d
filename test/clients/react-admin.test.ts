import { expect } from 'chai'
import { join } from 'node:path'
import {
  type AuthProvider,
  type CreateParams,
  type DeleteManyParams,
  type DeleteParams,
  type GetListParams,
  type GetManyParams,
  type GetManyReferenceParams,
  type GetOneParams,
  HttpError,
  type QueryFunctionContext,
  type RaRecord,
  type UpdateManyParams,
  type UpdateParams
} from 'ra-core'
import type { Property } from '../../clients/admin/src/catalogue.js'
import { inWords } from '../../clients/admin/src/words.js'
import {
  type Condition,
  groupsIn,
  groupText,
  type ListFilter,
  withConditions,
  withoutGroup
} from '../../clients/admin/src/filter-conditions.js'
import {
  type AnyApplication,
  ConflictError,
  ManyError,
  type UniformRestDataProvider,
  uniformRestAuthProvider,
  uniformRestDataProvider
} from '../../clients/react-admin/src/react-admin.js'
import { type Client, createClient } from '../../clients/typescript/src/client.js'
import type { Application } from '../../examples/store/client-types.js'
import { eachDatabase, freshDatabase, type FreshDatabase } from '../harness/database.js'
import { storeDatabase } from '../harness/store-database.js'
import { outputRoot } from '../harness/package-root.js'
import { type Stack, startStack } from '../harness/stack.js'
import { openTestDatabase, type TestDatabase, withTestDatabase } from '../oracle/test-database.js'
import { startStack as startKeyed } from '../stack/stack.js'
import { type CutConnection, cutConnectionTo } from './cut-connection.js'

const EXPORT_LIMIT = 25
const MOST_ROWS = 40

/** A request as it was sent. */
interface Sent {
  readonly method: string
  readonly path: string
  readonly key: string | null
  readonly ifMatch: string | null
  readonly body: unknown
}

type Provider = UniformRestDataProvider<Application>

interface Row extends RaRecord {
  readonly id: number
  readonly rowVersion: string
}

interface Answer {
  readonly data: Row
}

interface Range {
  readonly data: readonly Row[]
  readonly total?: number
  readonly pageInfo?: object
}

/** The standard methods with records that are not `any`. */
interface Records {
  getList(resource: string, params: GetListParams & QueryFunctionContext): Promise<Range>
  getManyReference(resource: string, params: GetManyReferenceParams): Promise<Range>
  getOne(resource: string, params: GetOneParams & QueryFunctionContext): Promise<Answer>
  getMany(resource: string, params: GetManyParams & QueryFunctionContext): Promise<Range>
  create(resource: string, params: CreateParams): Promise<Answer>
  update(resource: string, params: UpdateParams): Promise<Answer>
  updateMany(resource: string, params: UpdateManyParams): Promise<{ readonly data?: readonly unknown[] }>
  delete(resource: string, params: DeleteParams): Promise<Answer>
  deleteMany(resource: string, params: DeleteManyParams): Promise<{ readonly data?: readonly unknown[] }>
}

// A client meets no database.
const ONE = { on: 'sqlite' } as const

eachDatabase((kind) => {
  describe(`the react-admin providers on ${kind}`, () => {
    let database: FreshDatabase
    let stack: Stack
    let sql: TestDatabase
    let connection: CutConnection
    const sent: Sent[] = []

    const recording: typeof fetch = async (input, init) => {
      const request = new Request(input, init)
      const { pathname } = new URL(request.url)
      const [key, ifMatch] = ['idempotency-key', 'if-match'].map((name) => request.headers.get(name))
      const text = await request.clone().text()
      const body: unknown = text === '' ? undefined : JSON.parse(text)
      sent.push({ method: request.method, path: pathname, key: key ?? null, ifMatch: ifMatch ?? null, body })
      return await fetch(input, init)
    }
    const clientOf = async (email?: string, attempts = 3): Promise<Client<Application>> => {
      const token = email === undefined ? undefined : await stack.token(email)
      return createClient<Application>({
        baseUrl: connection.url,
        fetch: recording,
        retry: { baseDelay: 1, attempts },
        token: () => token
      })
    }
    const providerOf = async (email?: string, attempts?: number): Promise<Provider> =>
      uniformRestDataProvider({ client: await clientOf(email, attempts) })
    const idsOf = async (text: string): Promise<number[]> => (await sql.run(text)).map((row) => Number(row['id']))
    const writes = (): Sent[] => sent.filter(({ method }) => method !== 'GET')
    const newProduct = (sku: string) => ({ name: `Pan ${sku}`, sku, categoryId: 1, price: '19.90' })

    before(async () => {
      database = await storeDatabase(kind, 'sample')
      const env = { MAX_EXPORT_ROWS: String(EXPORT_LIMIT), MAX_PAGE_SIZE: String(MOST_ROWS) }
      stack = await startStack({ database, env })
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

    it('lists by operators, sorted, page by page, with the total', async () => {
      const provider: Records = await providerOf()
      const list = await provider.getList('products', {
        filter: {
          name: [{ startsWith: 'C' }, { contains: 'pa' }],
          'price.gte': '1',
          price: { lt: 300, gt: '' },
          isActive: true,
          categoryId: [1, 2, 3, 4, 5, 6, 7, 8],
          barcode: { isEmpty: false },
          sku: '',
          weightGrams: []
        },
        sort: { field: 'price', order: 'DESC' },
        pagination: { page: 2, perPage: 2 }
      })
      const price = kind === 'sqlite' ? 'price >= 100 AND price < 30000' : 'price >= 1 AND price < 300'
      const where = `FROM products WHERE name LIKE 'C%' AND name LIKE '%pa%' AND ${price} AND is_active = 1 AND category_id BETWEEN 1 AND 8 AND barcode IS NOT NULL`
      const all = await idsOf(`SELECT id ${where} ORDER BY price DESC, id DESC`)
      expect(all.length).to.be.greaterThan(4)
      expect(idsIn(list.data)).to.deep.equal(all.slice(2, 4))
      const { total, pageInfo } = list
      expect({ total, pageInfo }).to.deep.equal({
        total: all.length,
        pageInfo: { hasNextPage: true, hasPreviousPage: true }
      })
      const empty = await provider.getList('products', { filter: { barcode: null, q: 'lamp' } })
      const [found] = await sql.run(
        "SELECT COUNT(*) AS n FROM products WHERE barcode IS NULL AND (name LIKE '%lamp%' OR sku LIKE '%lamp%' OR description LIKE '%lamp%')"
      )
      expect([empty.total, empty.data.length]).to.deep.equal([Number(found?.['n']), 10])
      const groups = await provider.getList('products', {
        filter: {
          isActive: true,
          anyOf: [
            { 'price.lt': 2, categoryId: 3 },
            { name: { startsWith: 'n' }, sku: '' }
          ]
        },
        pagination: { page: 1, perPage: 1000 }
      })
      expect(groups.data.map(({ id }) => id)).to.deep.equal(
        await idsOf(
          `SELECT id FROM products WHERE is_active = 1 AND (price < ${kind === 'sqlite' ? 200 : 2} OR category_id = 3) ` +
            "AND name LIKE 'n%' ORDER BY id"
        )
      )
      // What the filters of the admin make, of two groups and a condition beside them.
      const text = { name: 'name', type: 'string', operators: ['contains', 'starts with'] } as unknown as Property // What is read of it.
      const words = {
        labelOf: ({ name }: Property) => inWords(name),
        textOf: (_of: Property, value: unknown) => String(value)
      }
      const conditionsOf = (...values: readonly string[]): readonly Condition[] =>
        values.map((value) => ({ property: text, operator: 'contains', value }))
      const made = [conditionsOf('jug', 'pan'), conditionsOf('o'), conditionsOf('co', 'no')].reduce<ListFilter>(
        withConditions,
        {}
      )
      const filter = JSON.parse(JSON.stringify(made)) as ListFilter
      expect(groupsIn(filter).map((group) => groupText(group, [text], words))).to.deep.equal([
        'Name contains jug or Name contains pan',
        'Name contains co or Name contains no'
      ])
      const page = { filter, pagination: { page: 1, perPage: 1000 }, sort: { field: 'id', order: 'ASC' } } as const
      const ofAdmin = await (provider as unknown as UniformRestDataProvider<AnyApplication>).getList('products', page)
      const like = (value: string): string => `name LIKE '%${value}%'`
      expect(idsIn(ofAdmin.data)).to.deep.equal(
        await idsOf(
          `SELECT id FROM products WHERE (${like('jug')} OR ${like('pan')}) AND ${like('o')} AND (${like('co')} OR ${like('no')}) ORDER BY id`
        )
      )
      expect(withoutGroup(withoutGroup(filter, 1), 0)).to.deep.equal({ 'name.contains': 'o' })
      // Addresses that somebody wrote by hand.
      const textsOf = (...anyOf: readonly unknown[]): readonly string[] =>
        groupsIn({ anyOf }).map((group) => groupText(group, [text], words))
      for (const name of [null, 'jug', 7, [null], [['jug']], { contains: { jug: 1 }, is: 1 }]) {
        expect(textsOf({ name }), JSON.stringify(name)).to.have.lengthOf(1)
      }
      expect(textsOf({ name: [null, { contains: 'jug' }] }, { name: null })).to.deep.equal([
        'Name contains jug',
        'Other conditions'
      ])
      for (const group of [null, 'jug', []]) expect(textsOf(group), JSON.stringify(group)).to.deep.equal([])
      const uncounted = await provider.getList('products', {
        sort: { field: 'id', order: 'DESC' },
        pagination: { page: 1, perPage: 3 },
        meta: { includeTotal: false, fields: ['name'] }
      })
      const last = await sql.run('SELECT id, name FROM products ORDER BY id DESC LIMIT 3')
      expect(uncounted).to.deep.equal({
        data: last.map(({ id, name }) => ({ id: Number(id), name })),
        pageInfo: { hasNextPage: true, hasPreviousPage: false }
      })
      const count = Number((await sql.run('SELECT COUNT(*) AS n FROM products'))[0]?.['n'])
      const exact = await provider.getList('products', { meta: { totalLimit: count } })
      expect(exact.total).to.equal(count)
      const cut = await provider.getList('products', { meta: { totalLimit: count - 1 } })
      expect(cut).not.to.have.any.keys('total')
      expect(cut.pageInfo).to.deep.equal({ hasNextPage: true, hasPreviousPage: false })
    })

    it('puts pages together that are larger than the service allows', async () => {
      const provider: Records = await providerOf()
      const sort = { field: 'price', order: 'DESC' } as const
      const all = await idsOf('SELECT id FROM products ORDER BY price DESC, id DESC LIMIT 300')
      const [count] = await sql.run('SELECT COUNT(*) AS n FROM products')
      for (const [page, perPage] of [
        [1, 100],
        [2, 70],
        [3, 100]
      ] as const) {
        const list = await provider.getList('products', { sort, pagination: { page, perPage } })
        expect(idsIn(list.data), `${page} of ${perPage}`).to.deep.equal(all.slice((page - 1) * perPage, page * perPage))
        expect(list.total).to.equal(Number(count?.['n']))
        expect(list.pageInfo).to.deep.equal({ hasNextPage: true, hasPreviousPage: page > 1 })
      }
      const few = await provider.getList('products', {
        filter: { 'id.lte': 90 },
        sort: { field: 'id', order: 'ASC' },
        pagination: { page: 2, perPage: 60 }
      })
      expect(idsIn(few.data)).to.deep.equal(
        await idsOf('SELECT id FROM products WHERE id BETWEEN 61 AND 90 ORDER BY id')
      )
      expect(few.pageInfo).to.deep.equal({ hasNextPage: false, hasPreviousPage: true })
    })

    it('reads one row, many by one request for each 200, and those that refer to another', async () => {
      const provider: Records = await providerOf()
      const one = await provider.getOne('products', { id: '7', meta: { includeFKs: true } })
      const [row] = await sql.run('SELECT name, category_id FROM products WHERE id = 7')
      expect(one.data).to.include({ id: 7, name: row?.['name'] })
      expect(one.data).to.have.nested.property('category.id', Number(row?.['category_id']))
      const named = await provider.getOne('products', { id: '7', meta: { include: ['category.parent'] } })
      expect(named.data).to.have.nested.property('category.parent')
      expect(named.data).to.not.have.property('variants')
      sent.length = 0
      const some = await provider.getMany('products', { ids: [3, 1, 3, 999_999, '2'] })
      expect(idsIn(some.data)).to.have.members([1, 2, 3])
      expect(sent.map(({ path }) => path)).to.deep.equal(['/products/paged'])
      const many = await provider.getMany('products', { ids: Array.from({ length: 250 }, (_, at) => at + 1) })
      expect(idsIn(many.data)).to.have.members(Array.from({ length: 250 }, (_, at) => at + 1))
      const ofCategory = await provider.getManyReference('products', {
        target: 'categoryId',
        id: 3,
        filter: { isActive: true, categoryId: { gte: 1 } },
        sort: { field: 'id', order: 'ASC' },
        pagination: { page: 1, perPage: 5 }
      })
      const expected = await idsOf('SELECT id FROM products WHERE category_id = 3 AND is_active = 1 ORDER BY id')
      expect(idsIn(ofCategory.data)).to.deep.equal(expected.slice(0, 5))
      expect(ofCategory.total).to.equal(expected.length)
      const gone = await rejected(provider.getOne('products', { id: 999_999 }))
      expect(gone).to.be.instanceOf(HttpError)
      expect(gone).to.include({ status: 404 })
    })

    it('says what is wrong with a filter', async () => {
      const provider: Records = await providerOf()
      const several = await rejected(
        provider.getList('products', {
          filter: { colour: 'red', 'price.contains': '2' },
          sort: { field: 'taste', order: 'ASC' }
        })
      )
      expect(several).to.be.instanceOf(HttpError)
      expect(several).to.include({ status: 400 })
      expect(several).to.have.nested.property('body.errors').that.has.keys('colour', 'price', 'sortColumn')
      const nested = await rejected(provider.getList('products', { filter: { 'price.gte': { a: 1 } } }))
      expect(nested).to.be.instanceOf(TypeError)
      expect(nested).to.have.property('message').that.includes('price.gte')
    })

    it('creates once, however often the same form is sent while its outcome is not known', async () => {
      const provider: Records = await providerOf('clerk@example.com', 0)
      const data = { name: 'Once & Co', country: 'DE' }
      connection.cutNext(20)
      expect(await rejected(provider.create('suppliers', { data }))).to.include({ name: 'ConnectionError' })
      const again = await provider.create('suppliers', { data })
      const made = await idsOf("SELECT id FROM suppliers WHERE name = 'Once & Co'")
      expect(made).to.deep.equal([again.data.id])
      // Known: the next one is another supplier of that name. Sent twice at once, it is still one.
      const both = await Promise.all([provider.create('suppliers', { data }), provider.create('suppliers', { data })])
      expect(both[0].data.id).to.equal(both[1].data.id)
      expect(await idsOf("SELECT id FROM suppliers WHERE name = 'Once & Co'")).to.have.length(2)
      const keys = writes().map(({ key }) => key)
      expect([keys.length, new Set(keys).size, keys[0] === keys[1], keys[2] === keys[3]]).to.deep.equal([
        4,
        2,
        true,
        true
      ])
      const meta = { idempotencyKey: 'of-this-form' }
      const first = await provider.create('suppliers', { data: { name: 'Meta', country: 'FR' }, meta })
      const changed = await rejected(provider.create('suppliers', { data: { name: 'Other', country: 'FR' }, meta }))
      expect([first.data['name'], (changed as HttpError).status]).to.deep.equal(['Meta', 422])
    })

    it('updates what was changed, by the version that the form was opened with', async () => {
      const clerk: Records = await providerOf('clerk@example.com')
      const { data: made } = await clerk.create('products', { data: newProduct('U-1') })
      const { data: opened } = await clerk.getOne('products', { id: made.id })
      sent.length = 0
      const saved = await clerk.update('products', {
        id: opened.id,
        data: { ...opened, price: '18.50', description: null, barcode: '9007199254740993' },
        previousData: opened
      })
      expect(saved.data).to.include({ price: '18.50', barcode: '9007199254740993', name: 'Pan U-1' })
      expect(writes()).to.deep.equal([
        {
          method: 'PATCH',
          path: `/products/${String(opened.id)}`,
          key: null,
          ifMatch: `W/"${String(opened['rowVersion'])}"`,
          body: { price: '18.50', barcode: '9007199254740993' }
        }
      ])
      const partial = await clerk.update('products', { id: opened.id, data: { name: 'Pot' }, previousData: saved.data })
      expect(partial.data).to.include({ name: 'Pot', price: '18.50' })
      const replaced = await clerk.update('products', {
        id: opened.id,
        data: { ...newProduct('U-1'), rowVersion: String(partial.data['rowVersion']) },
        previousData: opened,
        meta: { replace: true }
      })
      expect(replaced.data).to.include({ name: 'Pan U-1', price: '19.90', barcode: null })
      const unseen = await rejected(
        clerk.update('products', { id: opened.id, data: { name: 'X' }, previousData: undefined })
      )
      expect(unseen).to.include({ status: 428 })
    })

    it('shows a stale save with what was sent, what the row is now and what it was', async () => {
      const [mine, theirs]: Records[] = await Promise.all([
        providerOf('clerk@example.com'),
        providerOf('clerk@example.com')
      ])
      if (mine === undefined || theirs === undefined) throw new Error('There are two.')
      const { data: made } = await mine.create('products', { data: newProduct('C-1') })
      const { data: opened } = await mine.getOne('products', { id: made.id })
      await theirs.update('products', { id: made.id, data: { price: '1.00' }, previousData: opened })
      // The list is read anew while the form still shows what was read before.
      await mine.getList('products', { filter: { id: made.id } })
      const edit = { ...opened, name: 'Mine' }
      const error = await rejected(mine.update('products', { id: made.id, data: edit, previousData: opened }))
      const { data: now } = await theirs.getOne('products', { id: made.id })
      if (!(error instanceof ConflictError)) throw error
      expect(error).to.be.instanceOf(HttpError)
      const { status, message, sent: changes, base, current, isStale } = error
      expect({ status, message, changes, base, current, isStale }).to.deep.equal({
        status: 412,
        message: 'Somebody else has changed it meanwhile.',
        changes: { name: 'Mine' },
        base: opened,
        current: now,
        isStale: true
      })
      // Without errors by field the message is shown, and not looked for at an input.
      expect(error.body).to.not.have.property('errors')
      const { data: merged } = await mine.update('products', { id: made.id, data: { name: 'Mine' }, previousData: now })
      expect(merged).to.include({ name: 'Mine', price: '1.00' })
      const late = await rejected(mine.delete('products', { id: made.id, previousData: opened }))
      expect(late).to.be.instanceOf(ConflictError)
      expect(late).to.deep.include({ sent: undefined, base: opened, current: merged, isStale: true })
      const deleted = await mine.delete('products', { id: made.id, previousData: merged })
      expect(deleted.data).to.deep.equal(merged)
      expect(await idsOf("SELECT id FROM products WHERE sku = 'C-1'")).to.deep.equal([])
      const gone = await rejected(mine.update('products', { id: made.id, data: edit, previousData: opened }))
      expect(gone).to.include({ status: 404 })
    })

    it('tells a value that another row has from a stale save', async () => {
      const clerk: Records = await providerOf('clerk@example.com')
      await clerk.create('products', { data: newProduct('T-1') })
      const { data: other } = await clerk.create('products', { data: newProduct('T-2') })
      const error = await rejected(
        clerk.update('products', { id: other.id, data: { ...other, sku: 'T-1' }, previousData: other })
      )
      expect(error).to.be.instanceOf(ConflictError)
      expect(error).to.deep.include({ sent: { sku: 'T-1' }, base: other, current: other, isStale: false })
      const message = 'Another row has this sku, which must be unique.'
      expect(error).to.include({ message })
      expect(error).to.have.deep.nested.property('body.errors', { sku: message, root: { serverError: message } })
    })

    it('names the fields that are wrong as forms look for them', async () => {
      const clerk: Records = await providerOf('clerk@example.com')
      const several = await rejected(
        clerk.create('products', { data: { name: '', sku: '', categoryId: 1, price: '-1.001' } })
      )
      expect(several).to.be.instanceOf(HttpError)
      expect(several).to.have.nested.property('body.errors').that.has.all.keys('name', 'sku', 'price')
      expect(several)
        .to.have.nested.property('body.errors.price')
        .that.matches(/^price must have at most 2 digits/)
      const one = await rejected(clerk.create('products', { data: { ...newProduct('E-1'), price: '-1' } }))
      const { detail } = (one as HttpError).body as { readonly detail: string }
      expect(one)
        .to.have.nested.property('body.errors')
        .that.deep.equals({ price: detail, root: { serverError: detail } })
      const ada: Records = await providerOf('ada@example.com')
      const lines = await rejected(
        ada.create('orders', { data: { lines: [{ productId: 7, quantity: 0 }, { productId: 8 }] } })
      )
      expect(lines).to.have.nested.property('body.errors.lines').that.has.all.keys('0', '1')
      expect(lines).to.have.nested.property('body.errors.lines.0.quantity').that.is.a('string')
      const forbidden = await rejected(ada.create('products', { data: newProduct('E-2') }))
      expect(forbidden).to.include({ status: 403 })
      expect(forbidden).to.have.property('body').that.does.not.have.property('errors')
    })

    /** Products as a list shows them to a first clerk, and a second clerk who changes some of them. */
    const listedProducts = async (prefix: string, names: readonly string[]) => {
      const clerk: Records = await providerOf('clerk@example.com')
      const other: Records = await providerOf('clerk@example.com')
      for (const name of names) await clerk.create('products', { data: newProduct(`${prefix}-${name}`) })
      const filter = { 'sku.startsWith': `${prefix}-` }
      const list = async () => (await clerk.getList('products', { filter, sort: { field: 'sku', order: 'ASC' } })).data
      const listed = await list()
      const change = (row: Row | undefined, name: string) =>
        other.update('products', { id: Number(row?.id), data: { name }, previousData: row })
      const stored = () => sql.run(`SELECT name, is_active FROM products WHERE sku LIKE '${prefix}-%' ORDER BY sku`)
      sent.length = 0
      return { clerk, other, listed, list, ids: idsIn(listed), change, stored }
    }
    const itemsOf = (rows: readonly Row[], members: object = {}) =>
      rows.map(({ id, rowVersion }) => ({ ...members, id, rowVersion }))

    it('writes many rows in one batch, by the versions of the list, or none and names those that others changed', async () => {
      const { clerk, other, listed, ids, change, list, stored } = await listedProducts('M', ['1', '2', '3', '4'])
      await change(listed[1], 'Theirs')
      await other.delete('products', { id: Number(ids[3]), previousData: listed[3] })
      const before = await stored()
      sent.length = 0
      const error = await rejected(clerk.updateMany('products', { ids, data: { isActive: false } }))
      if (!(error instanceof ManyError)) throw error
      expect([error.status, error.done, error.untried]).to.deep.equal([412, [], [ids[0], ids[2]]])
      const [stale, gone] = error.failed.map(({ error: reason }) => reason)
      if (!(stale instanceof ConflictError)) throw stale
      if (!(gone instanceof ConflictError)) throw gone
      expect(error.failed.map(({ id }) => id)).to.deep.equal([ids[1], ids[3]])
      expect([stale.isStale, stale.current?.['name'], stale.sent, gone.current]).to.deep.equal([
        true,
        'Theirs',
        { isActive: false },
        null
      ])
      expect(error.message).to.equal(
        `4 of 4 rows were not written. ${ids[1]}, ${ids[3]}: Somebody else has changed it meanwhile. ` +
          `Not written either: ${ids[0]}, ${ids[2]}.`
      )
      const [patch, ...others] = writes()
      expect(others).to.deep.equal([])
      expect(patch).to.deep.include({ method: 'PATCH', path: '/products/batch', ifMatch: null })
      expect(patch?.body).to.deep.equal(itemsOf(listed, { isActive: false }))
      expect(patch?.key).to.be.a('string')
      expect(await stored()).to.deep.equal(before)

      const now = (await list()).map(({ id }) => id)
      expect(await clerk.updateMany('products', { ids: now, data: { isActive: false } })).to.deep.equal({ data: now })
      expect((await stored()).map(({ name, is_active }) => [name, Number(is_active)])).to.deep.equal([
        ['Pan M-1', 0],
        ['Theirs', 0],
        ['Pan M-3', 0]
      ])
      // What the user saw comes before what was read last.
      const seen = listed.slice(0, 1)
      for (const write of [
        () => clerk.updateMany('products', { ids: now, data: { name: 'X' }, meta: { seen } }),
        () => clerk.deleteMany('products', { ids: now, meta: { seen } })
      ]) {
        expect(await rejected(write())).to.deep.include({ status: 412, done: [], untried: now.slice(1) })
      }
      await list()
      expect(await clerk.deleteMany('products', { ids: now })).to.deep.equal({ data: now })
      expect(await stored()).to.deep.equal([])
      const nobody: Records = await providerOf()
      const unauthorized = await rejected(nobody.deleteMany('products', { ids: [1, 2, 3] }))
      expect(unauthorized).to.deep.include({ status: 401, done: [], untried: [] })
    })

    it('says of each row of a batch what is wrong with it', async () => {
      const { clerk, listed, ids, stored } = await listedProducts('W', ['1', '2'])
      const before = await stored()
      const invalid = await rejected(clerk.updateMany('products', { ids, data: { price: '-1', name: '' } }))
      if (!(invalid instanceof ManyError)) throw invalid
      expect([invalid.status, invalid.failed.map(({ id }) => id), invalid.untried]).to.deep.equal([400, ids, []])
      for (const { error } of invalid.failed) {
        expect(error).to.have.nested.property('body.errors').that.has.all.keys('price', 'name')
      }
      const taken = await rejected(clerk.updateMany('products', { ids, data: { sku: 'W-1' } }))
      expect(taken)
        .to.be.instanceOf(ManyError)
        .and.to.deep.include({ status: 412, untried: ids.slice(0, 1) })
      expect(taken).to.have.nested.property('failed[0].error').that.includes({ isStale: false })
      expect(taken)
        .to.have.nested.property('failed[0].error.body.errors.sku')
        .that.matches(/must be unique/)
      const [other = ''] = await idsOf('SELECT MAX(id) + 1 AS id FROM products')
      const gone = await rejected(
        clerk.deleteMany('products', { ids: [...ids, other], meta: { seen: [...listed, { ...listed[0], id: other }] } })
      )
      expect(gone).to.be.instanceOf(ManyError).and.to.deep.include({ status: 404, untried: ids })
      expect(await stored()).to.deep.equal(before)
    })

    it('cuts more rows than a batch takes into several, and says which of them were written', async () => {
      const client = await clientOf('clerk@example.com')
      const records: Records = uniformRestDataProvider({ client })
      const rows: Row[] = []
      for (const length of [500, 2]) {
        const body = Array.from({ length }, () => ({ name: 'Of many', country: 'FR' }))
        rows.push(...((await client.resource('suppliers').createBatch(body)) as unknown as Row[]))
      }
      const ids = idsIn(rows)
      sent.length = 0
      expect(await records.updateMany('suppliers', { ids, data: { country: 'IT' } })).to.deep.equal({ data: ids })
      expect(writes().map(({ body }) => (body as object[]).length)).to.deep.equal([500, 2])
      expect(new Set(writes().map(({ key }) => key))).to.have.property('size', 2)
      const seen = rows.slice(-1)
      const error = await rejected(records.deleteMany('suppliers', { ids, meta: { seen } }))
      expect(error).to.deep.include({ status: 412, done: ids.slice(0, 500), untried: ids.slice(500, 501) })
      expect(await idsOf("SELECT id FROM suppliers WHERE name = 'Of many'")).to.deep.equal(ids.slice(500))
      // Where so many rows would make too large a body, half of them are sent.
      const sized: Records = uniformRestDataProvider({ client: await clientOf('clerk@example.com') })
      const products = (
        await sized.getList('products', { pagination: { page: 1, perPage: 501 }, meta: { includeTotal: false } })
      ).data
      const many = idsIn(products)
      sent.length = 0
      const description = 'ä'.repeat(2000)
      const { data } = await sized.updateMany('products', { ids: many, data: { description }, meta: { dryRun: true } })
      expect(data).to.deep.equal(many)
      expect(writes().map(({ body }) => (body as object[]).length)).to.deep.equal([500, 250, 250, 1])
    })

    it('writes a batch once, however often it is sent while its outcome is not known', async () => {
      const { ids, listed } = await listedProducts('K', ['1', '2'])
      const clerk: Records = await providerOf('clerk@example.com', 0)
      const update = () => clerk.updateMany('products', { ids, data: { name: 'Once' }, meta: { seen: listed } })
      connection.cutNext(20)
      const lost = await rejected(update())
      expect(lost).to.be.instanceOf(ManyError).and.to.have.nested.property('failed[0].error.name', 'ConnectionError')
      expect((lost as ManyError).message).to.match(/^The outcome of 2 of 2 rows is not known\. /)
      expect(await update()).to.deep.equal({ data: ids })
      const keys = writes().map(({ key }) => key)
      expect([keys.length, new Set(keys).size]).to.deep.equal([2, 1])
      const entries = await sql.run(
        `SELECT id FROM ur_audit_entries WHERE resource = 'products' AND action = 'update' AND row_id IN ('${ids.join("','")}')`
      )
      expect(entries).to.have.length(2)
    })

    it('tries writes without doing them', async () => {
      const { clerk, other, listed, ids, change, stored } = await listedProducts('D', ['1', '2'])
      const [first] = listed
      if (first === undefined) throw new Error('There are two.')
      const before = await stored()
      const meta = { dryRun: true, seen: listed }
      const sku = await clerk.create('products', { data: newProduct('D-3'), meta })
      expect(sku.data).to.include({ sku: 'D-3' })
      const edit = { id: first.id, data: { name: 'Dry' }, previousData: first, meta }
      expect((await clerk.update('products', edit)).data).to.include({ name: 'Dry' })
      await clerk.delete('products', { id: first.id, previousData: first, meta })
      expect(await clerk.updateMany('products', { ids, data: { name: 'Dry' }, meta })).to.deep.equal({ data: ids })
      expect(await clerk.deleteMany('products', { ids, meta })).to.deep.equal({ data: ids })
      expect(await stored()).to.deep.equal(before)
      await change(listed[1], 'Theirs')
      for (const many of [
        () => clerk.updateMany('products', { ids, data: { name: 'Dry' }, meta }),
        () => clerk.deleteMany('products', { ids, meta })
      ]) {
        expect(await rejected(many())).to.deep.include({ status: 412, done: [], untried: ids.slice(0, 1) })
      }
      expect(await rejected(clerk.create('products', { data: newProduct('D-1'), meta }))).to.include({ status: 409 })
      // The versions of a dry run are of no row, and nothing of it is remembered.
      await other.delete('products', { id: first.id, previousData: first })
    })

    it('writes row by row where the service takes no batches', async () => {
      const { listed, ids, change, stored } = await listedProducts('O', ['1', '2', '3'])
      await change(listed[1], 'Theirs')
      sent.length = 0
      // As a service of before, which takes the path of a batch for that of a row.
      const earlier: typeof fetch = (input, init) => {
        const { url } = new Request(input, init)
        return recording(url.replace('/products/batch', '/products/1'), init)
      }
      const token = await stack.token('clerk@example.com')
      const client = createClient<Application>({ baseUrl: connection.url, fetch: earlier, token: () => token })
      const clerk: Records = uniformRestDataProvider({ client })
      const meta = { seen: listed }
      const dry = await rejected(
        clerk.updateMany('products', { ids, data: { isActive: false }, meta: { ...meta, dryRun: true } })
      )
      expect(dry).to.be.instanceOf(ManyError).and.to.deep.include({ status: 428, done: [] })
      expect(writes()).to.have.length(1)
      const error = await rejected(clerk.updateMany('products', { ids, data: { isActive: false }, meta }))
      expect(error)
        .to.be.instanceOf(ManyError)
        .and.to.deep.include({ status: 412, done: [ids[0], ids[2]], untried: [] })
      expect(error).to.have.nested.property('failed[0].error').that.is.instanceOf(ConflictError)
      expect((await stored()).map(({ name, is_active }) => [name, Number(is_active)])).to.deep.equal([
        ['Pan O-1', 0],
        ['Theirs', 1],
        ['Pan O-3', 0]
      ])
      const { data: now } = await clerk.getList('products', { filter: { 'sku.startsWith': 'O-' } })
      expect(await clerk.deleteMany('products', { ids: idsIn(now) })).to.deep.equal({ data: idsIn(now) })
      expect(await stored()).to.deep.equal([])
    })

    it('reads totals of the rows that a filter lets through', async () => {
      const provider = await providerOf('admin@example.com')
      const { data, isTruncated } = await provider.getTotals('orders', {
        by: ['status'],
        measures: ['count', 'sum.total'],
        filter: { 'id.lte': 100 },
        sort: { field: 'count', order: 'DESC' }
      })
      const total = kind === 'sqlite' ? 'SUM(total) / 100.0' : 'SUM(total)'
      const expected = await sql.run(
        `SELECT status, COUNT(*) AS n, ${total} AS total FROM orders WHERE id <= 100 GROUP BY status ORDER BY n DESC, status DESC`
      )
      expect(isTruncated).to.equal(false)
      expect(data.map((row) => [row.status, row.count, row['sum.total']])).to.deep.equal(
        expected.map((row) => [row['status'], Number(row['n']), Number(row['total']).toFixed(2)])
      )
      const [all] = (await provider.getTotals('orders')).data
      expect(all).to.include({ count: (await idsOf('SELECT id FROM orders')).length })
      const ada = await providerOf('ada@example.com')
      expect((await ada.getTotals('orders', { measures: ['count'] })).data).to.deep.equal([
        { count: (await idsOf('SELECT id FROM orders WHERE customer_id = 1')).length }
      ])
      const unknown: unknown = 'colour'
      const wrong = await rejected(provider.getTotals('orders', { by: [unknown as 'status'] }))
      expect(wrong).to.be.instanceOf(HttpError).and.to.include({ status: 400 })
    })

    it('acts, once for each key, and shows a stale action as a conflict', async () => {
      const clerk = await providerOf('clerk@example.com')
      const records: Records = clerk
      const { data: row } = await records.create('products', { data: { ...newProduct('A-1'), isActive: false } })
      const published = await clerk.act('products', { id: row.id, previousData: row, action: 'publish' })
      expect(published.data).to.include({ isActive: true })
      const stale = await rejected(clerk.act('products', { id: row.id, previousData: row, action: 'unpublish' }))
      expect(stale).to.be.instanceOf(ConflictError)
      expect(stale).to.deep.include({ base: row, current: published.data, isStale: true })
      const meta = { includeChildren: true }
      const whole = await rejected(clerk.act('products', { id: row.id, previousData: row, action: 'unpublish', meta }))
      expect(whole).to.have.deep.property('current', { ...published.data, reviews: [], variants: [] })
      const moved = await clerk.act('products', { id: row.id, action: 'change-category', data: { categoryId: 2 } })
      expect(moved.data).to.include({ categoryId: 2 })
      const wrong = await rejected(clerk.act('products', { id: row.id, action: 'publish' }))
      expect(wrong).to.include({ status: 422 })
      const text: unknown = 'two'
      const invalid = await rejected(
        clerk.act('products', { id: row.id, action: 'change-category', data: { categoryId: text as number } })
      )
      expect(invalid).to.have.nested.property('body.errors.categoryId').that.is.a('string')
    })

    it('exports what a list shows, and says whether the file was cut', async () => {
      const provider = await providerOf()
      const few = await provider.exportCsv('products', {
        filter: { 'id.lte': 3 },
        sort: { field: 'id', order: 'DESC' },
        fields: ['id', 'name'],
        bom: false,
        escapeFormulas: false
      })
      const rows: unknown[] = []
      for await (const record of few) rows.push(record)
      const expected = await sql.run('SELECT id, name FROM products WHERE id <= 3 ORDER BY id DESC')
      expect(rows).to.deep.equal(expected.map(({ id, name }) => ({ id: String(id), name })))
      expect(few.isTruncated).to.equal(false)
      const all = await provider.exportCsv('products', { fields: ['id'] })
      expect(all.isTruncated).to.equal(undefined)
      const file = await new Response(all.file()).bytes()
      expect(Array.from(file.slice(0, 3))).to.deep.equal([0xef, 0xbb, 0xbf])
      expect([all.isTruncated, all.rows, all.rowLimit]).to.deep.equal([true, EXPORT_LIMIT, EXPORT_LIMIT])
      expect(all.fileName).to.match(/^products-\d{8}T\d{6}Z\.csv$/)
    })

    it('reads what writes changed of a row', async () => {
      const clerk = await providerOf('clerk@example.com')
      const records: Records = clerk
      const data = { name: 'Old', sku: 'CHANGES-1', categoryId: 1, price: '1.00' }
      const { data: made } = await records.create('products', { data })
      await records.update('products', { id: made.id, data: { name: 'New' }, previousData: made })
      const { entries, nextCursor } = await clerk.getChanges('products', { id: made.id, pageSize: 1 })
      expect(entries.map(({ changes }) => changes)).to.deep.equal([{ name: { before: 'Old', after: 'New' } }])
      const older = await clerk.getChanges('products', { id: made.id, after: nextCursor ?? '' })
      expect(older.entries.map(({ action }) => action)).to.deep.equal(['create'])
    })

    it('looks up choices, and reads who wrote a row', async () => {
      const clerk = await providerOf('clerk@example.com')
      const choices = await clerk.lookup('suppliers', { search: 'a' })
      const found = await sql.run("SELECT id, name FROM suppliers WHERE name LIKE '%a%'")
      expect(choices.isTruncated).to.equal(false)
      expect(choices.data).to.have.deep.members(found.map(({ id, name }) => ({ id: Number(id), name })))
      const records: Records = clerk
      const { data: made } = await records.create('suppliers', { data: { name: 'Traced', country: 'IT' } })
      await records.update('suppliers', { id: made.id, data: { name: 'Traced twice' }, previousData: made })
      const admin = await providerOf('admin@example.com')
      const { data, total } = await admin.history('suppliers', { id: made.id })
      expect(total).to.equal(2)
      expect(data.map(({ resource, rowId, action }) => [resource, rowId, action])).to.deep.equal([
        ['suppliers', String(made.id), 'update'],
        ['suppliers', String(made.id), 'create']
      ])
      expect(data.map(({ subject }) => subject.endsWith('clerk@example.com'))).to.deep.equal([true, true])
      expect(await rejected(clerk.history('suppliers', { id: made.id }))).to.include({ status: 403 })
    })

    it('ends a read by the signal of react-query', async () => {
      const provider: Records = await providerOf()
      const reason = new Error('The page was left.')
      const signal = AbortSignal.abort(reason)
      expect(await rejected(provider.getList('products', { signal }))).to.equal(reason)
      expect(await rejected(provider.getOne('products', { id: 1, signal }))).to.equal(reason)
      expect(await rejected(provider.getMany('products', { ids: [1], signal }))).to.equal(reason)
    })

    it('logs in, knows who that is, refreshes the session, and logs out', async () => {
      const jar = new Map<string, string>()
      const browser: typeof fetch = async (input, init) => {
        const headers = new Headers(init?.headers)
        if (jar.size > 0) headers.set('cookie', Array.from(jar, ([name, value]) => `${name}=${value}`).join('; '))
        const answer = await recording(input, { ...init, headers })
        for (const line of answer.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
          if (value === '') jar.delete(name)
          else jar.set(name, value)
        }
        return answer
      }
      const inPage = (): AuthProvider & { readonly data: Records } => {
        const options = { baseUrl: connection.url, fetch: browser, retry: { attempts: 0 } }
        const client = createClient<Application>({ ...options, token: 'session' })
        return { ...uniformRestAuthProvider({ client }), data: uniformRestDataProvider({ client }) }
      }
      const page = inPage()
      expect(await rejected(page.checkAuth({}))).to.include({ status: 401 })
      const wrong = await rejected(page.login({ username: 'clerk@example.com', password: 'no' }))
      expect(wrong).to.include({ status: 401 })
      await page.login({ username: 'clerk@example.com', password: 'demo-password' })
      await page.checkAuth({})
      expect(await page.getIdentity?.()).to.include({ id: 'clerk@example.com' })
      expect(await page.getPermissions?.({})).to.deep.equal({ roles: ['Clerk'], permissions: [] })
      expect((await page.data.getList('suppliers', {})).data).to.not.be.empty
      // A page that is opened later, when the access token is gone: the refresh token brings another.
      const names = [...jar.keys()]
      jar.delete(names.find((name) => !name.includes('refresh')) ?? '')
      const later = inPage()
      await later.checkAuth({})
      expect((await later.data.getList('suppliers', {})).data).to.not.be.empty
      expect([...jar.keys()]).to.have.members(names)
      connection.cutNext('nothing')
      await inPage().checkAuth({})
      await later.logout({})
      expect(jar.size).to.equal(0)
      expect(await rejected(inPage().checkAuth({}))).to.include({ status: 401 })
      const ended = await rejected(inPage().data.getList('suppliers', {}))
      expect(await rejected(later.checkError(ended))).to.equal(ended)
      await later.checkError(new HttpError('Not allowed.', 403))
      await later.checkError(new TypeError('Failed to fetch'))
    })
  })
}, ONE)

describe('a form of react-admin that is sent again', () => {
  it('keeps its Idempotency-Key while the outcome is not known, and has another one once it was rejected', async () => {
    const keys: (string | null)[] = []
    const answers = [
      [409, { code: 'idempotency.in-flight' }],
      [503, { code: 'upstream.unavailable' }],
      [400, { code: 'body.invalid', errors: [] }],
      [201, { id: 7 }]
    ] as const
    const answering: typeof fetch = (input, init) => {
      keys.push(new Request(input, init).headers.get('idempotency-key'))
      const [status, body] = answers[keys.length - 1] ?? [500, {}]
      return Promise.resolve(Response.json(body, { status }))
    }
    const client = createClient<AnyApplication>({
      baseUrl: 'http://a.example',
      fetch: answering,
      retry: { attempts: 0 }
    })
    const records: Records = uniformRestDataProvider({ client })
    for (const [status] of answers.slice(0, -1)) {
      expect(await rejected(records.create('countries', { data: { name: 'Long' } }))).to.include({ status })
    }
    await records.create('countries', { data: { name: 'Long' } })
    const [first, second, third, fourth] = keys
    expect([first === second, second === third, third === fourth]).to.deep.equal([true, true, false])
  })
})

describe('the react-admin providers of an application whose types are not known', () => {
  let database: FreshDatabase

  before(async () => {
    database = await freshDatabase('sqlite')
  })
  after(async () => database?.dispose())

  it('map keys of several columns to the one id of react-admin and back', async () => {
    const env = { NOTES_DATABASE_URL: database.reviewsUrl, SAMPLE_DATA: 'true' }
    await using stack = await startKeyed({ app: join(outputRoot, 'test/keyed'), database, env })
    const token = stack.token({ sub: 'kim', role: 'Keeper' })
    let asked = new URL(stack.url)
    const watching: typeof fetch = (input, init) => {
      asked = new URL(new Request(input, init).url)
      return fetch(input, init)
    }
    const client = createClient<AnyApplication>({ baseUrl: stack.url, token: () => token, fetch: watching })
    const provider = uniformRestDataProvider({ client, compositeKeys: { placements: ['copy', 'serial'] } })
    const records: Records = provider
    const stored = await withTestDatabase(database.url, (sql) =>
      sql.run('SELECT copy, serial, remark FROM placements ORDER BY copy DESC, serial DESC')
    )
    // SQLite has such numbers as texts with zeros before them.
    const ids = stored.map(({ copy, serial }) => `${String(copy)},${BigInt(String(serial))}`)
    expect(ids).to.have.length(2)
    const { data: listed } = await records.getList('placements', { sort: { field: 'id', order: 'DESC' } })
    expect(listed.map(({ id }) => id)).to.deep.equal(ids)
    const absent = `${ids[0]?.replace(/,.*/, '') ?? ''},1`
    const { data: some } = await records.getMany('placements', { ids: [...ids.toReversed(), absent] })
    expect(some.map(({ id }) => id)).to.deep.equal(ids.toReversed())
    const [first] = listed
    if (first === undefined) throw new Error('There are two.')
    const { data: opened } = await records.getOne('placements', { id: first.id })
    expect(opened).to.include({ id: ids[0], remark: stored[0]?.['remark'] })
    const edit = { ...opened, remark: 'Moved' }
    const { data: saved } = await records.update('placements', { id: first.id, data: edit, previousData: opened })
    expect(saved).to.include({ id: ids[0], remark: 'Moved' })
    const stale = await rejected(records.update('placements', { id: first.id, data: edit, previousData: opened }))
    expect(stale).to.be.instanceOf(ConflictError).and.to.deep.include({ current: saved, isStale: true })
    await records.delete('placements', { id: first.id, previousData: saved })
    expect((await records.getList('placements', {})).total).to.equal(1)
    // A key of more characters than an audit entry holds. This application serves its entries to nobody.
    const data = { id: 'ü'.repeat(90), name: 'Long' }
    const { data: country } = await records.create('countries', { data })
    expect(country.id).to.equal(data.id)
    const noEntries = await rejected(provider.history('countries', { id: country.id }))
    expect(noEntries).to.include({ status: 404 })
    const [entry] = await withTestDatabase(database.url, (sql) =>
      sql.run("SELECT row_id FROM ur_audit_entries WHERE resource = 'countries'")
    )
    expect(entry?.['row_id']).to.have.length(64)
    expect(asked.searchParams.getAll('filters[rowId].value')).to.deep.equal([entry?.['row_id']])
  })
})

function idsIn(rows: readonly { readonly id: unknown }[]): number[] {
  return rows.map(({ id }) => Number(id))
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
