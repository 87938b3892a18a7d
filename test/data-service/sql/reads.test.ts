import { expect } from 'chai'
import type { Condition } from '../../../data-service/plan/model/plans.js'
import { insertRows, TABLES } from '../../harness/insert-rows.js'
import { eachWay } from './each-way.js'
import { entity, freshReadStore, type FreshReadStore, never } from './fresh-read-store.js'
import {
  condition,
  everything,
  getPlan,
  listPlan,
  lookupPlan,
  pagePlan,
  path,
  projection,
  reference,
  sortedBy,
  throughPath
} from './plan-by-hand.js'

const products = entity('products')
const categories = entity('categories')

const LONG = '9007199254740993'
const GUID = '0f8fad5b-d9cb-469f-a165-70867728950e'

eachWay(({ kind, name, open }) => {
  describe(`reads on ${name}`, () => {
    let fresh: FreshReadStore

    before(async () => {
      fresh = await freshReadStore(kind, open)
      await insertRows(fresh.primary, TABLES.categories, [
        { id: 1, name: 'Root', parentId: null, slug: 'root' },
        { id: 2, name: 'Leaf', parentId: 1, slug: 'leaf' }
      ])
      await insertRows(fresh.primary, TABLES.products, [
        {
          id: 1,
          name: 'Tea',
          sku: 'T-1',
          categoryId: 1,
          price: '19.90',
          weightGrams: 5,
          barcode: LONG,
          isActive: true,
          releasedAt: '2026-01-31T08:00:00.000Z',
          externalId: GUID,
          description: ''
        },
        { id: 2, name: 'coffee', sku: 'C-1', categoryId: 2, price: '0.05', isActive: false },
        { id: 3, name: 'Ähre', sku: 'A-1', categoryId: 2, price: '99999999.99', barcode: '-5', isActive: true }
      ])
      await insertRows(fresh.primary, TABLES.variants, [
        { id: 7, productId: 3, name: 'big', sku: 'A-1-B', price: '1.10', stock: 2 },
        { id: 4, productId: 3, name: 'small', sku: 'A-1-S', price: '1.00', stock: 0 }
      ])
      await insertRows(fresh.second, TABLES.reviews, [
        { id: 1, productId: 1, rating: 5, title: 'Good', authorName: 'Ada', createdAt: '2026-01-01T00:00:00.120Z' }
      ])
    })

    after(() => fresh.dispose())

    it('gives every type exactly, whatever the database stores it as', async () => {
      const plan = getPlan(products, 1, { projection: everything(products) })
      const row = await fresh.store.get(plan, never)
      expect(row?.values.slice(0, -1)).to.deep.equal([
        1,
        'Tea',
        'T-1',
        1,
        '19.90',
        5,
        LONG,
        true,
        '2026-01-31T08:00:00.000Z',
        GUID,
        '',
        null,
        null
      ])
      expect(row?.values.at(-1)).to.deep.equal(Buffer.from('0100000000000001', 'hex'))
    })

    it('gives null for every column without a value', async () => {
      const plan = getPlan(products, 2, {
        projection: projection(products, ['weightGrams', 'barcode', 'releasedAt', 'externalId', 'description'])
      })
      expect((await fresh.store.get(plan, never))?.values).to.deep.equal([null, null, null, null, null])
    })

    it('gives nothing for an id that is not there or not in scope', async () => {
      const others = condition(path(products, 'categoryId'), 'equals', 2)
      expect(await fresh.store.get(getPlan(products, 99), never)).to.equal(undefined)
      const scoped = getPlan(products, 1, { scope: { kind: 'rows-where', conditions: [others] } })
      expect(await fresh.store.get(scoped, never)).to.equal(undefined)
    })

    it('cuts a list at its limit and says so', async () => {
      const cut = await fresh.store.list(listPlan(products, { limit: 2 }), never)
      expect(cut.rows.map(({ values }) => values[0])).to.deep.equal([1, 2])
      expect(cut.truncated).to.equal(true)
      expect((await fresh.store.list(listPlan(products, { limit: 3 }), never)).truncated).to.equal(false)
    })

    it('counts a page, past the end too, and not where nobody asks', async () => {
      const page = (offset: number, withTotal = true) =>
        fresh.store.page(pagePlan(products, { limit: 2, start: { kind: 'offset', offset }, withTotal }), never)
      const at = (id: number) => ({ keys: [id], includesRow: false })
      expect(await page(0)).to.deep.include({ total: 3, next: at(2), previous: undefined })
      expect(await page(2)).to.deep.include({ total: 3, next: undefined, previous: at(3) })
      const past = { rows: [], total: 3, next: undefined, previous: undefined }
      expect(await page(2 ** 53 - 1)).to.deep.equal(past)
      expect(await page(0, false)).to.deep.include({ total: undefined, next: at(2) })
    })

    it('counts no further than one row beyond a limit', async () => {
      const total = async (totalLimit: number, offset = 0) => {
        const plan = pagePlan(products, { limit: 1, start: { kind: 'offset', offset }, totalLimit })
        return (await fresh.store.page(plan, never)).total
      }
      expect([await total(1), await total(2), await total(3), await total(4)]).to.deep.equal([2, 3, 3, 3])
      expect([await total(1, 2), await total(1, 9), await total(3, 9)]).to.deep.equal([2, 2, 3])
    })

    it('sorts and filters by a column of a referenced row, and selects it', async () => {
      const parentName = throughPath(categories, 'parent', categories, 'name')
      const field = parentName.column.field
      const joined = {
        name: 'parentName',
        through: reference(categories, 'parent'),
        further: [],
        showsUnseen: false,
        property: 'name',
        field
      }
      const shown = {
        key: 'id,parentName',
        selected: [
          { kind: 'joined', joined, through: joined.through, column: parentName.column },
          { kind: 'column', column: path(categories, 'id').column }
        ],
        shown: []
      } as const
      const sorted = await fresh.store.page(
        pagePlan(categories, { projection: shown, sort: sortedBy(categories, parentName, true) }),
        never
      )
      expect(sorted.rows.map(({ values }) => values)).to.deep.equal([
        ['Root', 2],
        [null, 1]
      ])
      const conditions = [condition(parentName, 'notEquals', 'ROOT')]
      const filtered = await fresh.store.page(pagePlan(categories, { conditions }), never)
      expect(filtered.rows.map(({ values }) => values)).to.deep.equal([[1]])
      expect(filtered.total).to.equal(1)
    })

    it('joins conditions by OR and AND, however deep, and binds the value of each', async () => {
      const price = (comparison: 'equals' | 'greaterThan', amount: string) =>
        condition(path(products, 'price'), comparison, amount)
      const inLeaf = condition(throughPath(products, 'category', categories, 'name'), 'equals', 'leaf')
      const ids = async (...conditions: Condition[]): Promise<unknown> => {
        const { rows, total } = await fresh.store.page(pagePlan(products, { limit: 1, conditions }), never)
        return [rows[0]?.values[0], total]
      }
      const cheapOrTea: Condition = { anyOf: [price('equals', '0.05'), price('equals', '19.90')] }
      expect(await ids(cheapOrTea)).to.deep.equal([1, 2])
      expect(await ids(cheapOrTea, inLeaf)).to.deep.equal([2, 1])
      expect(await ids({ anyOf: [{ allOf: [cheapOrTea, inLeaf] }, price('greaterThan', '20.00')] })).to.deep.equal([
        2, 2
      ])
      expect(await ids({ allOf: [cheapOrTea, { anyOf: [inLeaf] }] }, price('greaterThan', '1.00'))).to.deep.equal([
        undefined,
        0
      ])
    })

    it('looks up by name, then id', async () => {
      const result = await fresh.store.lookup(lookupPlan(products, { limit: 2 }), never)
      expect(result).to.deep.equal({
        items: [
          { key: [3], name: 'Ähre' },
          { key: [2], name: 'coffee' }
        ]
          .slice(kind === 'sqlite' ? 1 : 0)
          .concat(kind === 'sqlite' ? [{ key: [1], name: 'Tea' }] : []),
        truncated: true
      })
    })

    it('loads references within their scope, and children in order of id from both stores', async () => {
      const inScope = condition(path(categories, 'id'), 'equals', 2)
      const children = products.children.map((one) => ({ children: one, nested: [] }))
      const planned = {
        reference: reference(products, 'category'),
        target: categories,
        projection: projection(categories, ['id', 'name']),
        scope: { kind: 'rows-where', conditions: [inScope] }
      } as const
      const { rows } = await fresh.store.page(pagePlan(products, { references: [planned], children }), never)
      expect(rows.map(({ references }) => references.get('category')?.values ?? null)).to.deep.equal([
        null,
        [2, 'Leaf'],
        [2, 'Leaf']
      ])
      expect(
        rows.map((row) => row.children.get('variants')?.map(({ values: [id, name, , price] }) => [id, name, price]))
      ).to.deep.equal([
        [],
        [],
        [
          [4, 'small', '1.00'],
          [7, 'big', '1.10']
        ]
      ])
      expect(rows[0]?.children.get('reviews')?.map(({ values }) => values)).to.deep.equal([
        [1, 5, 'Good', null, 'Ada', '2026-01-01T00:00:00.120Z', Buffer.from('0100000000000001', 'hex')]
      ])
      const unseen = { ...planned, scope: null }
      const none = await fresh.store.page(pagePlan(products, { references: [unseen] }), never)
      expect(none.rows.map(({ references }) => references.get('category'))).to.deep.equal([null, null, null])
    })
  })
})
