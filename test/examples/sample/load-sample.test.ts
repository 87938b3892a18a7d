import { createHash } from 'node:crypto'
import { expect } from 'chai'
import type { Entity } from '../../../data-service/entity/entity.js'
import { int } from '../../../data-service/entity/field.js'
import { entities } from '../../../examples/store/entities/index.js'
import { loadSample, sampleStore } from '../../../examples/store/sample/sample-store.js'
import { eachDatabase } from '../../harness/database.js'
import { type FreshStores, freshStores } from '../../data-service/sql/schema/fresh-stores.js'
import { type ReadTable, type StoredRow, storedRows } from './stored-rows.js'

/** Of all rows of a resource, row versions included: the same on every database, machine and version of Node. */
const DIGESTS: Readonly<Record<string, string>> = {
  categories: 'cf12427dd23ab861',
  products: '792e4e643ef65c56',
  customers: '2b25fc06a6c8b6c9',
  orders: '6ce90bb2de0ef381',
  coupons: 'd64ac096a65458d4',
  suppliers: '13a45677ea66d4ed',
  warehouses: 'e34362667fc9edf9',
  'stock-items': '9530334324c3cda9',
  'purchase-orders': 'c400015914b8e08a',
  returns: '0668b2aaca27b61d',
  invoices: 'b92fb29d1d094210',
  venues: '2a03e12c578a8634',
  events: 'e0a1974142074dbd',
  speakers: '3dc75afc6d141734',
  tickets: '12720f0ae48d668f',
  bookmarks: '7e30250ccbc73c65',
  subscriptions: '1423389c324de06d',
  'shopping-carts': '49a9188ae3b1afb8'
}

interface Checked {
  readonly resource: string
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
      { resource: entity.name, store: 'primary', table: entity, made: aggregates.map(({ root }) => root) },
      ...entity.children.map(({ name, table, store: where, foreignKey, columns }): Checked => ({
        resource: entity.name,
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
    /** By resource, of those that have sample rows; 64 bits of it are plenty. */
    const digests = async (): Promise<Readonly<Record<string, string>>> => {
      const found: Record<string, string> = {}
      for (const resource of sampleStore().keys()) {
        const hash = createHash('sha256')
        for (const { store, table } of tables().filter((one) => one.resource === resource)) {
          hash.update(JSON.stringify(await storedRows(stores[store], table)))
        }
        found[resource] = hash.digest('hex').slice(0, 16)
      }
      return found
    }
    const allRows = async (): Promise<StoredRow[][]> => {
      const all: StoredRow[][] = []
      for (const { store, table } of tables()) all.push(await storedRows(stores[store], table))
      return all
    }

    /** Of the primary store, what refers to others first. */
    const deleteAll = async (chosen: (entity: Entity) => boolean): Promise<void> => {
      for (const resource of [...sampleStore().keys()].toReversed()) {
        const entity = entities.find(({ name }) => name === resource)
        if (entity !== undefined && chosen(entity)) await stores.primary.query(`DELETE FROM ${entity.table}`)
      }
    }

    before(async () => {
      stores = await freshStores(kind)
      await stores.migrate()
    })
    after(() => stores.dispose())

    it('is loaded into empty databases', async () => {
      expect(await loadSample(stores.databases)).to.equal(true)
    })

    it('holds the rows as they were made', async () => {
      for (const { store, table, made } of tables()) {
        expect((await storedRows(stores[store], table)).map(withoutVersion), table.table).to.deep.equal(made)
      }
    })

    it('has the same rows on every database', async () => {
      expect(await digests()).to.deep.equal(DIGESTS)
    })

    it('gives each row eight bytes of version, no two of a table alike', async () => {
      for (const [at, rows] of (await allRows()).entries()) {
        const versions = rows.map(({ rowVersion }) => String(rowVersion))
        expect(
          versions.filter((version) => !/^[0-9a-f]{16}$/.test(version)),
          `rows ${at}`
        ).to.deep.equal([])
        expect(new Set(versions).size, `rows ${at}`).to.equal(rows.length)
      }
    })

    it('is left alone once there is any row', async () => {
      const before = await allRows()
      expect(await loadSample(stores.databases)).to.equal(false)
      expect(await allRows()).to.deep.equal(before)
      await deleteAll(({ name }) => name !== 'customers' && name !== 'categories')
      expect(await loadSample(stores.databases)).to.equal(false)
    })

    it('is loaded whole after a process was cut off between the two databases', async () => {
      await stores.primary.query('UPDATE categories SET parent_id = NULL')
      await deleteAll(() => true)
      expect(await loadSample(stores.databases)).to.equal(true)
      expect(await digests()).to.deep.equal(DIGESTS)
    })
  })
})
