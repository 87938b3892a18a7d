import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import type { UnitOfWork } from '../../../../data-service/plan/model/stores.js'
import { SqlReadStore } from '../../../../data-service/sql/entity-rows/reads.js'
import { entities } from '../../../../examples/store/entities/index.js'
import { eachWay } from '../each-way.js'
import { condition, everything, getPlan, path, valuesOfRow } from '../plan-by-hand.js'
import { failure } from './failure.js'
import { entity, type FreshWriteStore, freshWriteStore, never } from './fresh-write-store.js'
import {
  anyVersion,
  assign,
  childPlan,
  children,
  deletePlan,
  findPlan,
  findReferencingPlan,
  findByUniquePlan,
  insertPlan,
  lockPlan,
  lookPlan,
  newChild,
  updatePlan,
  version,
  writeScope
} from './write-plan-by-hand.js'

const categories = entity('categories')
const products = entity('products')
const customers = entity('customers')
const warehouses = entity('warehouses')
const orders = entity('orders')
const variants = children(products, 'variants')
const lines = children(orders, 'lines')

const TEA = {
  name: 'Tea “Ω” = ',
  sku: 'T-1',
  categoryId: 1,
  price: '19.90',
  weightGrams: null,
  barcode: '9007199254740993',
  isActive: true,
  releasedAt: '2026-01-31T08:00:00.120Z',
  externalId: '0f8fad5b-d9cb-469f-a165-70867728950e',
  description: ''
}

eachWay(({ kind, name, open }) => {
  describe(`a unit of work on ${name}`, () => {
    let fresh: FreshWriteStore
    const work = <Result>(of: (unit: UnitOfWork) => Promise<Result>): Promise<Result> =>
      fresh.store.transaction(never, of)
    const names = async (): Promise<unknown[]> =>
      (await fresh.byHand.run('SELECT name FROM categories ORDER BY id')).map(({ name }) => name)

    beforeEach(async () => {
      fresh = await freshWriteStore(kind, { open })
      await work((unit) => unit.insert(insertPlan(categories, { name: 'Root', parentId: null, slug: 'root' })))
    })

    afterEach(() => fresh.dispose())

    it('stores every type to the digit, with children in the order given, and numbers them', async () => {
      const rows = Array.from({ length: 13 }, (_, index) =>
        newChild(variants, { name: `v${index}`, sku: `T-1-${index}`, price: '0.05', stock: index }, index + 1)
      )
      const { id, locked, seen } = await work(async (unit) => {
        const newId = await unit.insert(insertPlan(products, TEA, { children: [{ children: variants, rows }] }))
        return {
          id: newId,
          locked: await unit.lock(lockPlan(products, newId, { children: [variants] })),
          seen: await unit.get(getPlan(products, newId, { projection: everything(products) }))
        }
      })
      expect(id).to.deep.equal([1])
      expect(Object.fromEntries(locked?.values ?? [])).to.deep.equal({
        id: 1,
        ...TEA,
        costPrice: null,
        reorderLevel: null
      })
      expect(locked?.version).to.deep.equal(version(1))
      const found = locked?.children.get('variants') ?? []
      expect(found.map(({ values }) => values.get('stock'))).to.deep.equal(rows.map((_, index) => index))
      expect(Object.fromEntries(found[12]?.values ?? [])).to.deep.equal({
        id: 13,
        productId: 1,
        name: 'v12',
        sku: 'T-1-12',
        price: '0.05',
        stock: 12
      })
      expect(found[12]?.version).to.deep.equal(version(13))
      const reads = new SqlReadStore({ primary: open(fresh.url), second: open(fresh.url) }, entities)
      try {
        const read = await reads.get(getPlan(products, 1, { projection: everything(products) }), never)
        expect(valuesOfRow(read)).to.deep.equal(valuesOfRow(seen))
        expect(seen?.values).to.include.members(Object.values(TEA))
      } finally {
        await reads.close()
      }
    })

    it('locks with hidden columns, and nothing outside the scope', async () => {
      const values = { name: 'Ada', email: 'a@b.c', isSuspended: false, createdAt: '2026-01-01T00:00:00.000Z' }
      await work((unit) => unit.insert(insertPlan(customers, { ...values, riskNote: 'late' })))
      const locked = (name: string) =>
        work((unit) =>
          unit.lock(
            lockPlan(customers, 1, {
              scope: { kind: 'rows-where', conditions: [condition(path(customers, 'name'), 'equals', name)] }
            })
          )
        )
      expect((await locked('ada'))?.values.get('riskNote')).to.equal('late')
      expect(await locked('Ben')).to.equal(undefined)
      expect(await work((unit) => unit.lock(lockPlan(customers, 2)))).to.equal(undefined)
    })

    it('updates a row that meets id, scope, version and state alone, and always its version', async () => {
      const root = path(categories, 'slug')
      const misses = [
        updatePlan(categories, 2, { name: 'No' }),
        updatePlan(categories, 1, { name: 'No' }, { expected: [version(3)] }),
        updatePlan(categories, 1, { name: 'No' }, { expected: [anyVersion(Buffer.alloc(1))] }),
        updatePlan(categories, 1, { name: 'No' }, { expected: [anyVersion(Buffer.alloc(9)), version(9), version(8)] }),
        updatePlan(categories, 1, { name: 'No' }, { required: [condition(root, 'in', 'leaf', 'twig', 'bud')] }),
        updatePlan(
          categories,
          1,
          { name: 'No' },
          { scope: writeScope({ kind: 'rows-where', conditions: [condition(root, 'equals', 'leaf')] }) }
        )
      ]
      for (const [at, plan] of misses.entries())
        expect(await work((unit) => unit.update(plan)), `plan ${at}`).to.equal(false)
      expect(await names()).to.deep.equal(['Root'])
      const hit = updatePlan(categories, 1, { name: 'New' }, { expected: [version(7), version(8), version(1)] })
      expect(await work((unit) => unit.update(hit))).to.equal(true)
      expect(await work((unit) => unit.update(hit))).to.equal(false)
      const same = updatePlan(categories, 1, {}, { expected: [version(2)] })
      expect(await work((unit) => unit.update(same))).to.equal(true)
      const row = await work((unit) => unit.lock(lockPlan(categories, 1)))
      expect(row?.version).to.deep.equal(version(3))
      expect(row?.values.get('name')).to.equal('New')
      const seen = await work((unit) => unit.look(lookPlan(categories, 1)))
      expect([seen?.values, seen?.version]).to.deep.equal([row?.values, version(3)])
      expect(await work((unit) => unit.look(lookPlan(categories, 2)))).to.equal(undefined)
      const leaf = { kind: 'rows-where', conditions: [condition(root, 'equals', 'leaf')] } as const
      expect(await work((unit) => unit.look(lookPlan(categories, 1, { scope: leaf })))).to.equal(undefined)
    })

    /** Puts a version there by hand, writes the row with it, and answers the version that the row has then. */
    const versionAfter = async (stored: string): Promise<string | undefined> => {
      await fresh.byHand.run(`UPDATE categories SET row_version = X'${stored}' WHERE id = 1`)
      const expected = [anyVersion(Buffer.from(stored, 'hex'))] as const
      const written = await work((unit) => unit.update(updatePlan(categories, 1, { name: 'New' }, { expected })))
      const row = await work((unit) => unit.look(lookPlan(categories, 1)))
      return written ? row?.version?.toString('hex') : undefined
    }

    it('derives the version after any stored one: one more, and 0 after the highest', async () => {
      for (const [stored, next] of [
        ['0000000000000000', '0000000000000001'],
        ['00000000000000ff', '0000000000000100'],
        ['00000000ffffffff', '0000000100000000'],
        ['001fffffffffffff', '0020000000000000'],
        ['123456789abcdeff', '123456789abcdf00'],
        ['7fffffffffffffff', '8000000000000000'],
        ['8000000000000000', '8000000000000001'],
        ['fffffffffffffffe', 'ffffffffffffffff'],
        ['ffffffffffffffff', '0000000000000000']
      ] as const) {
        expect(await versionAfter(stored), stored).to.equal(next)
      }
    })

    it('matches no part of a stored version, no stored version of another length, and never an empty one', async () => {
      if (kind === 'mysql') await fresh.byHand.run('ALTER TABLE categories MODIFY row_version VARBINARY(16) NOT NULL')
      for (const [stored, sent] of [
        ['', '00'],
        ['', '0000000000000000'],
        ['', '2020202020202020'],
        ['00', '0000000000000000'],
        ['0102030400000000', '01020304'],
        ['0102030420202020', '01020304'],
        ['01020304', '0102030400000000'],
        ['01020304', '0102030420202020'],
        ['0102030405060708', '010203040506070800'],
        ['0102030405060708', '010203040506070820'],
        ['6162636465666768', '4142434445464748'],
        ['c3a9c3a9c3a9c3a9', 'c389c389c389c389'],
        ['3132333435363738', '0000000000bc614e']
      ] as const) {
        await fresh.byHand.run(`UPDATE categories SET row_version = X'${stored}' WHERE id = 1`)
        const expected = [anyVersion(Buffer.from(sent, 'hex'))] as const
        const title = `${stored} by ${sent}`
        expect(
          await work((unit) => unit.update(updatePlan(categories, 1, { name: 'No' }, { expected }))),
          title
        ).to.equal(false)
        expect(await work((unit) => unit.delete(deletePlan(categories, 1, { expected }))), title).to.equal(false)
      }
      expect(await names()).to.deep.equal(['Root'])
    })

    it('matches one of 8192 versions', async () => {
      const expected = [version(1), ...Array.from({ length: 8191 }, (_, index) => version(index + 2))] as const
      const written = await work((unit) => unit.update(updatePlan(categories, 1, { name: 'New' }, { expected })))
      expect(written).to.equal(true)
    })

    it('writes children of their root alone', async () => {
      const rows = [newChild(variants, { name: 'big', sku: 'B', price: '1.00', stock: 1 })]
      await work((unit) => unit.insert(insertPlan(products, TEA, { children: [{ children: variants, rows }] })))
      const of = { children: variants, rootKey: [1] } as const
      const expected = [version(1)] as const
      const change = {
        ...of,
        key: [1] as const,
        expected,
        values: assign(variants, { stock: 5 })
      }
      const write = (plan: Parameters<typeof childPlan>[0]) => work((unit) => unit.writeChild(childPlan(plan)))
      expect(await write({ ...change, kind: 'update', rootKey: [2] } as const)).to.equal(false)
      expect(await write({ ...change, kind: 'update' } as const)).to.equal(true)
      expect(await write({ ...change, kind: 'update' } as const)).to.equal(false)
      const small = newChild(variants, { name: 'small', sku: 'S', price: '1.00', stock: 0 })
      expect(await write({ ...of, kind: 'insert', row: small })).to.equal(true)
      expect(await write({ ...of, kind: 'delete', key: [1], expected: [version(1)] })).to.equal(false)
      expect(await write({ ...of, kind: 'delete', key: [1], expected: [version(2)] })).to.equal(true)
      const left = await work((unit) => unit.lock(lockPlan(products, 1, { children: [variants] })))
      expect(left?.children.get('variants')?.map(({ values }) => values.get('name'))).to.deep.equal(['small'])
    })

    it('finds rows and children by id', async () => {
      const rows = ['a', 'b', 'c'].map((name) => newChild(variants, { name, sku: name, price: '1.00', stock: 1 }))
      await work((unit) => unit.insert(insertPlan(products, TEA, { children: [{ children: variants, rows }] })))
      const found = await work((unit) => unit.find(findPlan(products, [3, 1, 2])))
      expect([...found.keys()]).to.deep.equal(['1'])
      expect(found.get('1')?.values.get('barcode')).to.equal(TEA.barcode)
      const some = await work((unit) => unit.find(findPlan(products, [1, 3, 9], variants)))
      expect([...some.keys()].toSorted()).to.deep.equal(['1', '3'])
      expect(some.get('3')?.values.get('productId')).to.equal(1)
      expect((await work((unit) => unit.find(findPlan(products, [])))).size).to.equal(0)
      const tooMany = Array.from({ length: 1001 }, (_, index) => index)
      expect(await failure(work((unit) => unit.find(findPlan(products, tooMany))))).to.be.instanceOf(RangeError)
    })

    it('inserts rows together where they have their keys, or where the database answers their numbers', async () => {
      const rows = Array.from({ length: 45 }, (_, n) => ({ name: `c${n}`, slug: `c-${n}` }))
      const keys = await work((unit) => unit.insertAll(rows.map((row) => insertPlan(categories, row))))
      expect(keys?.length).to.equal(kind === 'mysql' ? rows.length : undefined)
      expect(await names()).to.have.length(1 + (keys?.length ?? 0))
      for (const [at, key] of (keys ?? []).entries()) {
        const row = await work((unit) => unit.look(lookPlan(categories, key)))
        expect(row?.values.get('slug')).to.equal(rows[at]?.slug)
      }
      const ids = rows.map(() => randomUUID())
      const places = ids.map((id, n) => insertPlan(warehouses, { id, name: `w${n}`, city: 'Kiel', isOpen: true }))
      expect(await work((unit) => unit.insertAll(places))).to.deep.equal(ids.map((id) => [id]))
      const found = await fresh.byHand.run('SELECT name FROM warehouses')
      expect(found.map(({ name: one }) => String(one)).toSorted()).to.deep.equal(ids.map((_, n) => `w${n}`).toSorted())
    })

    it('finds a row by a unique value as the column tells values apart: letter case aside, and nothing else', async () => {
      for (const [index, sku] of ['Ab-É', 'ab-e', 'ab-e '].entries()) {
        await work((unit) => unit.insert(insertPlan(products, { ...TEA, name: `tea ${index}`, sku })))
      }
      const found = async (sku: string): Promise<unknown> =>
        (await work((unit) => unit.findByUnique(findByUniquePlan(products, 'sku', sku))))?.values.get('sku')
      for (const sku of ['Ab-É', 'ab-e', 'ab-e ']) expect(await found(sku), sku).to.equal(sku)
      expect(await found('AB-E')).to.equal('ab-e')
      for (const sku of ['', 'ab', 'ab-_', '%', 'ab-e  ', ' ab-e']) expect(await found(sku), sku).to.equal(undefined)
    })

    it('finds the rows that refer to one with children of theirs, in order, and no more than it may', async () => {
      await work((unit) => unit.insert(insertPlan(categories, { name: 'Leaf', slug: 'leaf' })))
      const rows = ['b', 'a'].map((name) => newChild(variants, { name, sku: name, price: '1.00', stock: 1 }))
      for (const [sku, categoryId, all] of [
        ['one', 1, rows],
        ['two', 2, []],
        ['three', 1, []]
      ] as const) {
        const values = { ...TEA, name: sku, sku, categoryId }
        await work((unit) =>
          unit.insert(insertPlan(products, values, { children: [{ children: variants, rows: all }] }))
        )
      }
      const found = (id: number, maxRows?: number) =>
        work((unit) =>
          unit.findReferencing(
            findReferencingPlan(products, 'categoryId', { id, children: [variants], ...(maxRows && { maxRows }) })
          )
        )
      const seen = (await found(1, 2))?.map(({ values, children: all }) => [
        values.get('sku'),
        (all.get('variants') ?? []).map((child) => [child.values.get('productId'), child.values.get('name')])
      ])
      expect(seen).to.deep.equal([
        [
          'one',
          [
            [1, 'b'],
            [1, 'a']
          ]
        ],
        ['three', []]
      ])
      expect(await found(1, 1)).to.equal(undefined)
      expect(await found(2)).to.have.length(1)
      expect(await found(3)).to.deep.equal([])
      expect(await failure(found(1, 1001))).to.be.instanceOf(RangeError)
    })

    it('deletes a root with its children, of the version expected', async () => {
      const rows = [newChild(variants, { name: 'big', sku: 'B', price: '1.00', stock: 1 })]
      await work((unit) => unit.insert(insertPlan(products, TEA, { children: [{ children: variants, rows }] })))
      const stale = deletePlan(products, 1, { expected: [version(2)] })
      expect(await work((unit) => unit.delete(stale))).to.equal(false)
      const unpublished = deletePlan(products, 1, {
        required: [condition(path(products, 'isActive'), 'equals', false)]
      })
      expect(await work((unit) => unit.delete(unpublished))).to.equal(false)
      expect(await work((unit) => unit.delete(deletePlan(products, 1)))).to.equal(true)
      expect(await work((unit) => unit.delete(deletePlan(products, 1)))).to.equal(false)
      expect(await fresh.byHand.run('SELECT id FROM product_variants')).to.deep.equal([])
    })

    it('calls unique and foreign keys a conflict at once, with the cause for the log alone', async () => {
      await work((unit) => unit.insert(insertPlan(products, TEA)))
      const order = { number: 'O-1', customerId: 9, status: 'placed', total: '1.00', placedAt: TEA.releasedAt }
      const line = newChild(lines, { productId: 9, variantId: null, quantity: 1, unitPrice: '1.00' })
      const broken: ((unit: UnitOfWork) => Promise<unknown>)[] = [
        (unit) => unit.insert(insertPlan(products, TEA)),
        (unit) => unit.insert(insertPlan(categories, { name: 'ROOT', slug: 'other' })),
        (unit) => unit.insert(insertPlan(orders, order)),
        (unit) => unit.writeChild(childPlan({ kind: 'insert', children: lines, rootKey: [1], row: line })),
        (unit) => unit.update(updatePlan(products, 1, { categoryId: 9 })),
        (unit) => unit.delete(deletePlan(categories, 1))
      ]
      for (const [at, one] of broken.entries()) {
        let tries = 0
        const error = await failure(
          work((unit) => {
            tries += 1
            return one(unit)
          })
        )
        expect(error, `case ${at}`).to.include({
          name: 'DomainError',
          code: 'conflict',
          message: 'A data conflict occurred. Please retry or contact support.'
        })
        expect(error, `case ${at}`).to.have.property('cause').that.is.instanceOf(Error)
        expect(tries, `case ${at}`).to.equal(1)
      }
    })

    it('leaves an audit entry', async () => {
      const at = '2026-01-31T08:00:00.120Z'
      const entry = { at, subject: 'issuer ada', resource: 'products', rowId: '1', action: 'publish', requestId: 'r-1' }
      await work((unit) => unit.audit(entry))
      const [row] = await fresh.byHand.run(
        'SELECT id, at, subject, resource, row_id, action, request_id FROM ur_audit_entries'
      )
      expect({
        ...row,
        id: Number(row?.['id']),
        at: String(row?.['at']).replace(' ', 'T').replace('Z', '')
      }).to.deep.equal({
        id: 1,
        at: at.replace('Z', ''),
        subject: 'issuer ada',
        resource: 'products',
        row_id: '1',
        action: 'publish',
        request_id: 'r-1'
      })
    })

    it('leaves nothing behind when its work throws, which is passed on', async () => {
      const reason = new Error('changed my mind')
      const error = await failure(
        work(async (unit) => {
          await unit.insert(insertPlan(categories, { name: 'Leaf', slug: 'leaf' }))
          throw reason
        })
      )
      expect(error).to.equal(reason)
      expect(await names()).to.deep.equal(['Root'])
    })

    it('commits nothing after a statement that failed, though its work went on', async () => {
      const error = await failure(
        work(async (unit) => {
          await unit.insert(insertPlan(categories, { name: 'Leaf', slug: 'leaf' }))
          await unit.insert(insertPlan(categories, { name: 'Leaf', slug: 'leaf' })).catch(() => undefined)
          await unit.insert(insertPlan(categories, { name: 'Twig', slug: 'twig' })).catch(() => undefined)
        })
      )
      expect(error).to.include({ code: 'conflict' })
      expect(await names()).to.deep.equal(['Root'])
    })

    it('commits nothing while a statement was not waited for, and takes none after its end', async () => {
      let leaked: UnitOfWork | undefined
      let forgotten: Promise<unknown> = Promise.resolve()
      const leaf = insertPlan(categories, { name: 'Leaf', slug: 'leaf' })
      const error = await failure(
        work((unit) => {
          leaked = unit
          forgotten = unit.insert(leaf).catch(() => undefined)
          return Promise.resolve()
        })
      )
      await forgotten
      expect(String(error)).to.contain('not waited for')
      expect(await names()).to.deep.equal(['Root'])
      await work((unit) => {
        leaked = unit
        return unit.lock(lockPlan(categories, 1))
      })
      expect(String(await failure(leaked?.insert(leaf) ?? Promise.resolve()))).to.contain('once its transaction ended')
      expect(await names()).to.deep.equal(['Root'])
    })
  })
})
