import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import type { Aggregate } from '../../../data-service/entity/action.js'
import type { Operand } from '../../../data-service/entity/fields/field.js'
import { makeCatalogue } from '../../../data-service/plan/model/catalogue.js'
import type { UnitOfWork } from '../../../data-service/plan/model/stores.js'
import { countReferencingIn, findReferencingIn } from '../../../data-service/operations/writes/rule-tools.js'
import { entities } from '../../../examples/store/entities/index.js'
import { eachDatabase } from '../../harness/database.js'
import { failure } from '../sql/write/failure.js'
import { entity, type FreshWriteStore, freshWriteStore, never } from '../sql/write/fresh-write-store.js'
import { children, insertPlan, newChild } from '../sql/write/write-plan-by-hand.js'

const catalogue = makeCatalogue(entities)
const products = entity('products')
const variants = children(products, 'variants')

eachDatabase((kind) => {
  describe(`findReferencing on ${kind}`, () => {
    let fresh: FreshWriteStore
    before(async () => {
      fresh = await freshWriteStore(kind)
      for (const name of ['Few', 'Many', 'None', 'Other']) {
        const plan = insertPlan(entity('categories'), { name, parentId: null, slug: name.toLowerCase() })
        await fresh.store.transaction(never, (unit) => unit.insert(plan))
      }
    })
    after(() => fresh.dispose())

    const all = (resource: string, property: string, id: Operand): Promise<readonly Aggregate[]> =>
      fresh.store.transaction(never, (unit) => findReferencingIn(unit, catalogue)(resource, property, id))
    const product = (sku: string, categoryId: number, sizes: readonly string[] = []) => {
      const values = { name: sku, sku, categoryId, price: '1.00', isActive: true }
      const rows = sizes.map((size) =>
        newChild(variants, { name: size, sku: `${sku}-${size}`, price: '1.00', stock: 1 })
      )
      return insertPlan(products, values, { children: [{ children: variants, rows }] })
    }

    it('answers what refers to the row, with the children in its database', async () => {
      await fresh.store.transaction(never, async (unit) => {
        await unit.insert(product('shirt', 1, ['small', 'large']))
        await unit.insert(product('hammer', 4))
        await unit.insert(product('saw', 1))
      })
      const found = await all('products', 'categoryId', 1)
      expect(found.map(({ root }) => root['sku'])).to.deep.equal(['shirt', 'saw'])
      expect(found.map((one) => Object.keys(one.children))).to.deep.equal([['variants'], ['variants']])
      expect(found.map((one) => one.children['variants']?.map(({ name }) => name))).to.deep.equal([
        ['small', 'large'],
        []
      ])
      expect(await all('products', 'categoryId', 3)).to.deep.equal([])
    })

    it('rejects more than a thousand, and answers so many', async () => {
      await fresh.store.transaction(never, async (unit) => {
        for (let number = 0; number < 1000; number++) await unit.insert(product(`p${number}`, 2))
      })
      expect(await all('products', 'categoryId', 2)).to.have.length(1000)
      await fresh.store.transaction(never, (unit) => unit.insert(product('p1000', 2)))
      expect(await failure(all('products', 'categoryId', 2))).to.include({
        code: 'state.invalid',
        message: 'There are more than 1000 products with the same categoryId.'
      })
    })

    const looks: Readonly<Record<string, (unit: UnitOfWork) => Promise<unknown>>> = {
      findReferencing: (unit) => findReferencingIn(unit, catalogue)('products', 'categoryId', 3),
      countReferencing: (unit) => countReferencingIn(unit, catalogue)('products', 'categoryId', { id: 3 })
    }
    for (const [name, look] of Object.entries(looks)) {
      it(`keeps further rows from referring to the row until the transaction of ${name} ends`, async () => {
        const ended: string[] = []
        let inserting: Promise<unknown> = Promise.resolve()
        await fresh.store.transaction(never, async (unit) => {
          await look(unit)
          const insert = fresh.other.transaction(never, (other) => other.insert(product(`late-${name}`, 3)))
          inserting = insert.then(() => ended.push('insert'))
          await Promise.race([inserting, sleep(500)])
          ended.push('find')
        })
        await inserting
        expect(ended).to.deep.equal(['find', 'insert'])
      })
    }

    it('counts as well, without a limit, what has one of the values of each further column', async () => {
      const counted = (...of: Parameters<ReturnType<typeof countReferencingIn>>): Promise<number> =>
        fresh.store.transaction(never, (unit) => countReferencingIn(unit, catalogue)(...of))
      expect(await counted('products', 'categoryId', { id: 1 })).to.equal(2)
      expect(await counted('products', 'categoryId', { id: 2 })).to.equal(1001)
      expect(await counted('products', 'categoryId', { id: 999 })).to.equal(0)
      expect(await counted('products', 'categoryId', { id: 1, where: { sku: ['saw'] } })).to.equal(1)
      expect(
        await counted('products', 'categoryId', { id: 1, where: { sku: ['saw', 'shirt', 'hammer'], price: ['1.00'] } })
      ).to.equal(2)
      expect(await counted('products', 'categoryId', { id: 1, where: { isActive: [false] } })).to.equal(0)
      expect(await failure(counted('products', 'categoryId', { id: 1, where: { colour: ['red'] } })))
        .to.be.instanceOf(TypeError)
        .with.property('message', 'products has no colour')
    })

    it('goes by declared references alone', async () => {
      expect(await failure(all('products', 'sku', 'saw')))
        .to.be.instanceOf(TypeError)
        .with.property('message', 'products has no reference by sku')
    })
  })
})
