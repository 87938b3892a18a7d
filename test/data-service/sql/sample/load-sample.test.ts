import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { entities } from '../../../../data-service/entities/index.js'
import { int } from '../../../../data-service/entity/field.js'
import { loadSample } from '../../../../data-service/sql/sample/load-sample.js'
import { sampleStore } from '../../../../data-service/sql/sample/sample-store.js'
import { eachDatabase } from '../../../harness/database.js'
import { freshStores, type FreshStores } from '../migrations/fresh-stores.js'
import { storedRows, type ReadTable, type StoredRow } from './stored-rows.js'

/** Of all rows, row versions included: the same on every database, machine and version of Node. */
const DIGEST = '9ebc45e9420ea61b2aef686fa3a9397de3e537b53f5ae592ca91e37a82f91257'

interface Checked {
  readonly store: 'primary' | 'second'
  readonly table: ReadTable
  /** The rows as they were made. */
  readonly made: readonly object[]
}

function tables(): Checked[] {
  const store = sampleStore()
  return entities.flatMap((entity): Checked[] => {
    const aggregates = store.get(entity.name) ?? []
    return [
      { store: 'primary', table: entity, made: aggregates.map(({ root }) => root) },
      ...entity.children.map(({ name, table, store: where, foreignKey, columns }): Checked => ({
        store: where,
        table: { table, columns: [...columns, { name: 'rootId', column: foreignKey, field: int() }] },
        made: aggregates.flatMap(({ root, children }) =>
          (children[name] ?? []).map((row) => ({ ...row, rootId: root['id'] }))
        )
      }))
    ]
  })
}

const withoutVersion = ({ rowVersion: _version, ...row }: StoredRow): object => row

eachDatabase((kind) => {
  describe(`sample store on ${kind}`, () => {
    let stores: FreshStores
    /** Of the tables that have sample rows, so that an entity without any leaves it as it is. */
    const digest = async (): Promise<string> =>
      createHash('sha256')
        .update(JSON.stringify((await allRows()).filter((rows) => rows.length > 0)))
        .digest('hex')
    const allRows = async (): Promise<StoredRow[][]> => {
      const all: StoredRow[][] = []
      for (const { store, table } of tables()) all.push(await storedRows(stores[store], table))
      return all
    }

    before(async () => {
      stores = await freshStores(kind)
      await stores.migrate()
    })
    after(() => stores.dispose())

    it('is loaded into empty databases', async () => {
      expect(await loadSample(stores.primary, stores.second)).to.equal(true)
    })

    it('holds the rows as they were made', async () => {
      for (const { store, table, made } of tables()) {
        expect((await storedRows(stores[store], table)).map(withoutVersion), table.table).to.deep.equal(made)
      }
    })

    it('is the same everywhere', async () => {
      expect(await digest()).to.equal(DIGEST)
    })

    it('gives each row eight bytes of version, no two of a table alike', async () => {
      for (const rows of await allRows()) {
        const versions = rows.map(({ rowVersion }) => String(rowVersion))
        expect(versions.filter((version) => !/^[0-9a-f]{16}$/.test(version))).to.deep.equal([])
        expect(new Set(versions).size).to.equal(rows.length)
      }
    })

    it('is left alone once there is any row', async () => {
      const before = await allRows()
      expect(await loadSample(stores.primary, stores.second)).to.equal(false)
      expect(await allRows()).to.deep.equal(before)
      await stores.primary.query('DELETE FROM orders')
      await stores.primary.query('DELETE FROM products')
      expect(await loadSample(stores.primary, stores.second)).to.equal(false)
    })

    it('is loaded whole after a process was cut off between the two databases', async () => {
      await stores.primary.query('DELETE FROM customers')
      await stores.primary.query('UPDATE categories SET parent_id = NULL')
      await stores.primary.query('DELETE FROM categories')
      expect(await loadSample(stores.primary, stores.second)).to.equal(true)
      expect(await digest()).to.equal(DIGEST)
    })
  })
})
