import { expect } from 'chai'
import { eachDatabase } from '../../harness/database.js'
import { entity, type FreshReadStore, freshReadStore, never } from './fresh-read-store.js'
import { column, condition, lookupPlan, path } from './plan-by-hand.js'

eachDatabase((kind) => {
  describe(`labels that are no text on ${kind}`, () => {
    const bookmarks = entity('bookmarks')
    let fresh: FreshReadStore

    beforeEach(async () => {
      fresh = await freshReadStore(kind)
      for (const [id, userId, sessionId] of [
        [1, 1, 20],
        [2, 1, 3],
        [3, 2, 20]
      ] as const) {
        await fresh.primary.run(
          'INSERT INTO bookmarks (id, user_id, session_id, created_at, row_version) VALUES (?, ?, ?, ?, ?)',
          [id, userId, sessionId, kind === 'sqlite' ? '2026-01-01T00:00:00.000Z' : '2026-01-01', Buffer.alloc(8, id)]
        )
      }
    })
    afterEach(() => fresh.dispose())

    const found = async (of: Parameters<typeof lookupPlan>[0], more: object = {}): Promise<unknown[][]> =>
      (await fresh.store.lookup(lookupPlan(of, more), never)).items.map(({ key: [id], name }) => [id, name])

    it('come in their own order, then by id', async () => {
      expect(await found(bookmarks)).to.deep.equal([
        [2, 3],
        [1, 20],
        [3, 20]
      ])
    })

    it('are found by their whole value', async () => {
      const conditions = [condition(path(bookmarks, 'sessionId'), 'equals', 20)]
      expect(await found(bookmarks, { conditions })).to.deep.equal([
        [1, 20],
        [3, 20]
      ])
    })

    it('may be the id', async () => {
      expect(await found({ ...bookmarks, label: column(bookmarks, 'id') })).to.deep.equal([
        [1, 1],
        [2, 2],
        [3, 3]
      ])
    })
  })
})
