import { expect } from 'chai'
import type { StoredRow, UnitOfWork } from '../../../../data-service/plan/model/stores.js'
import { eachDatabase } from '../../../harness/database.js'
import { failure } from './failure.js'
import { entity, type FreshWriteStore, freshWriteStore, never } from './fresh-write-store.js'
import {
  findPlan,
  findReferencingPlan,
  findByUniquePlan,
  insertPlan,
  lockPlan,
  updatePlan,
  version
} from './write-plan-by-hand.js'

const categories = entity('categories')

/** A point that as many runs as named have to reach before any goes on; later ones pass. */
function barrier(count: number): () => Promise<void> {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  let left = count
  return () => {
    left -= 1
    if (left <= 0) open()
    return opened
  }
}

eachDatabase((kind) => {
  describe(`races of two processes on ${kind}`, () => {
    let fresh: FreshWriteStore
    beforeEach(async () => {
      fresh = await freshWriteStore(kind)
      await fresh.store.transaction(never, async (unit) => {
        await unit.insert(insertPlan(categories, { name: 'A', slug: 'a' }))
        await unit.insert(insertPlan(categories, { name: 'B', slug: 'b' }))
      })
    })
    afterEach(() => fresh.dispose())

    const versionOf = async (id: number): Promise<Buffer | undefined> =>
      (await fresh.store.transaction(never, (unit) => unit.lock(lockPlan(categories, id))))?.version

    it('over one version have one winner', async () => {
      const stores = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? fresh.store : fresh.other))
      const won = await Promise.all(
        stores.map((store, index) =>
          store.transaction(never, async (unit) => {
            await unit.lock(lockPlan(categories, 1))
            return await unit.update(updatePlan(categories, 1, { name: `N${index}` }))
          })
        )
      )
      expect(won.filter(Boolean)).to.have.length(1)
      expect(await versionOf(1)).to.deep.equal(version(2))
      const [row] = await fresh.byHand.run('SELECT name FROM categories WHERE id = 1')
      expect(row?.['name']).to.equal(`N${won.indexOf(true)}`)
    })

    it('lose no update: who waited for the lock sees what the other made', async () => {
      const increment = (unit: UnitOfWork): Promise<boolean> => counted(unit)
      async function counted(unit: UnitOfWork): Promise<boolean> {
        const row = await unit.lock(lockPlan(categories, 1))
        if (row?.version === undefined) throw new Error('It is gone')
        const { version: seen } = row
        const slug = `${String(row.values.get('slug'))}x`
        return await unit.update(updatePlan(categories, 1, { slug }, { expected: [seen] }))
      }
      const done = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 === 0 ? fresh.store : fresh.other).transaction(never, increment)
        )
      )
      expect(done).to.not.include(false)
      const [row] = await fresh.byHand.run('SELECT slug FROM categories WHERE id = 1')
      expect(row?.['slug']).to.equal(`a${'x'.repeat(20)}`)
      expect(await versionOf(1)).to.deep.equal(version(21))
    })

    it('end an aborted wait, with its reason and without a trace', async () => {
      const gone = new Error('gone')
      const caller = new AbortController()
      const holding = barrier(1)
      let aborted: Promise<unknown> = Promise.resolve()
      await fresh.store.transaction(never, async (unit) => {
        await unit.lock(lockPlan(categories, 1))
        aborted = failure(
          fresh.other.transaction(caller.signal, async (waiting) => {
            await waiting.insert(insertPlan(categories, { name: 'C', slug: 'c' }))
            await holding()
            await waiting.lock(lockPlan(categories, 1))
          })
        )
        if (kind === 'mysql') await holding()
        setTimeout(() => caller.abort(gone), 20)
        expect(await aborted).to.equal(gone)
        await unit.update(updatePlan(categories, 1, { name: 'AA' }))
      })
      const all = await fresh.other.transaction(never, async (unit) => {
        await unit.lock(lockPlan(categories, 1))
        return await unit.find(findPlan(categories, [1, 2, 3, 4]))
      })
      expect([...all.values()].map(({ values }) => values.get('name'))).to.deep.equal(['AA', 'B'])
    })

    it('roll back what was aborted before its COMMIT', async () => {
      const gone = new Error('gone')
      const caller = new AbortController()
      const error = await failure(
        fresh.store.transaction(caller.signal, async (unit) => {
          await unit.update(updatePlan(categories, 1, { name: 'AA' }))
          caller.abort(gone)
        })
      )
      expect(error).to.equal(gone)
      expect(await versionOf(1)).to.deep.equal(version(1))
    })

    it('answer a circle of locks with one more try', async () => {
      const together = barrier(kind === 'sqlite' ? 1 : 2)
      let tries = 0
      const move = (ids: readonly [number, number]) => async (unit: UnitOfWork) => {
        tries += 1
        await unit.lock(lockPlan(categories, ids[0]))
        await together()
        await unit.lock(lockPlan(categories, ids[1]))
        return true
      }
      await Promise.all([fresh.store.transaction(never, move([1, 2])), fresh.other.transaction(never, move([2, 1]))])
      expect(tries).to.equal(kind === 'sqlite' ? 2 : 3)
    })

    const LOOKS: Readonly<Record<string, (unit: UnitOfWork, id: number) => Promise<StoredRow | undefined>>> = {
      'by id': async (unit, id) => (await unit.find(findPlan(categories, [id]))).get(String(id)),
      'by what refers to a row': async (unit, id) =>
        (await unit.findReferencing(findReferencingPlan(categories, 'parentId', { id: id + 2 })))?.[0],
      'by a unique value': (unit, id) => unit.findByUnique(findByUniquePlan(categories, 'slug', id === 1 ? 'A' : 'B'))
    }
    it('let one row in where many see that none refers to another yet', async () => {
      const inserted = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 === 0 ? fresh.store : fresh.other).transaction(never, async (unit) => {
            await unit.lock(lockPlan(categories, 1))
            const found = await unit.findReferencing(findReferencingPlan(categories, 'parentId', { id: 1 }))
            if (found?.length !== 0) return false
            await unit.insert(insertPlan(categories, { name: `C${index}`, slug: `c${index}`, parentId: 1 }))
            return true
          })
        )
      )
      expect(inserted.filter(Boolean)).to.have.length(1)
    })

    if (kind === 'mysql') {
      it('hold up no lookup of the rows that they do not touch', async () => {
        await fresh.byHand.run('UPDATE categories SET parent_id = 1 WHERE id = 2')
        await fresh.store.transaction(never, async (unit) => {
          await unit.lock(lockPlan(categories, 1))
          const seen = await fresh.other.transaction(never, async (other) => {
            const one = await other.findByUnique(findByUniquePlan(categories, 'slug', 'b'))
            const all = await other.findReferencing(findReferencingPlan(categories, 'parentId', { id: 1 }))
            return [one, ...(all ?? [])].map((row) => row?.values.get('name'))
          })
          expect(seen).to.deep.equal(['B', 'B'])
        })
      })
    }

    for (const [by, look] of Object.entries(LOOKS)) {
      it(`keep what is looked up ${by} as it is: of two that look at the other first, one sees the other`, async () => {
        for (const id of [1, 2]) {
          const parentId = await fresh.store.transaction(never, (unit) =>
            unit.insert(insertPlan(categories, { name: `of ${id}`, slug: `of-${id}` }))
          )
          await fresh.byHand.run('UPDATE categories SET parent_id = ? WHERE id = ?', [Number(parentId), id])
        }
        const together = barrier(kind === 'sqlite' ? 1 : 2)
        const light = (id: number, other: number) => async (unit: UnitOfWork) => {
          await unit.lock(lockPlan(categories, id))
          await together()
          const seen = await look(unit, other)
          if (String(seen?.values.get('name')).startsWith('on')) return 'refused'
          await unit.update(updatePlan(categories, id, { name: `on ${id}` }))
          return 'moved'
        }
        const outcomes = await Promise.all([
          fresh.store.transaction(never, light(1, 2)),
          fresh.other.transaction(never, light(2, 1))
        ])
        expect(outcomes.toSorted()).to.deep.equal(['moved', 'refused'])
      })
    }
  })
})
