import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { QueryTypes } from 'sequelize'
import type { Entity } from '../../../data-service/entity/entity.js'
import { entities } from '../../harness/own-tables.js'
import { sampleStore } from '../../../examples/store/sample/sample-store.js'
import { loadSampleRows } from '../../../schema/sample-rows.js'
import { eachDatabase } from '../../harness/database.js'
import { type FreshStores, freshStores } from '../../schema/fresh-stores.js'
import { type ReadTable, type StoredRow, storedRows } from './stored-rows.js'

/** Of all rows of a resource, row versions included: the same on every database, machine and version of Node. */
const DIGESTS: Readonly<Record<string, string>> = {
  categories: '8b3334b611494af8',
  products: 'e008586dcefdba35',
  customers: '09553a82466246fd',
  orders: '344ed8b60ee4f8ae',
  coupons: 'ab243185016d5775',
  suppliers: 'd4292bb511435fe2',
  warehouses: 'fb3a4438352173c3',
  'stock-items': 'ce43e1415db37662',
  'purchase-orders': '942b845f6d8cd911',
  returns: '4b117c93af6d6a19',
  invoices: '6cb7d8fcc7416eee',
  venues: '6bc35829ff3916c3',
  events: 'e7c6742071e4ef2b',
  speakers: '25a8f5ab179868dc',
  tickets: 'b5a75dc72447d142',
  bookmarks: '2f4cdc4ca58734c7',
  subscriptions: '8da0e474b34cd383',
  'shopping-carts': '885605576fca66f8'
}

interface Checked {
  readonly resource: string
  readonly store: 'primary' | 'second'
  readonly table: ReadTable
  /** The rows as they were made. */
  readonly made: readonly object[]
}

/** Making it takes a second, and it is the same each time. */
const SAMPLE = sampleStore()

function tables(sample: ReturnType<typeof sampleStore>): Checked[] {
  return entities.flatMap((entity): Checked[] => {
    const aggregates = sample.get(entity.name) ?? []
    return [
      { resource: entity.name, store: 'primary', table: entity, made: aggregates.map(({ root }) => root) },
      ...entity.children.map(({ name, table, store: where, foreignKey, columns }): Checked => ({
        resource: entity.name,
        store: where,
        table: { table, columns: [...columns, { ...foreignKey[0], name: 'rootId' }] },
        made: aggregates.flatMap(({ root, children }) =>
          (children[name] ?? []).map((row) => ({ ...row, rootId: root['id'] }))
        )
      }))
    ]
  })
}

const TABLES = tables(SAMPLE)

/** The first rows of a resource that has children in the second database, and of what they refer to. */
const FEW = new Map(['categories', 'products'].map((name) => [name, SAMPLE.get(name)?.slice(0, 40) ?? []]))

const withoutVersion = ({ rowVersion: _version, ...row }: StoredRow): object => row

eachDatabase((kind) => {
  describe(`sample store on ${kind}`, () => {
    let stores: FreshStores
    /** By resource, of those that have sample rows; 64 bits of it are plenty. */
    const digestsOf = (rows: readonly StoredRow[][]): Readonly<Record<string, string>> => {
      const found: Record<string, string> = {}
      for (const resource of SAMPLE.keys()) {
        const hash = createHash('sha256')
        for (const [at, one] of TABLES.entries()) if (one.resource === resource) hash.update(JSON.stringify(rows[at]))
        found[resource] = hash.digest('hex').slice(0, 16)
      }
      return found
    }
    const allRows = async (): Promise<StoredRow[][]> => {
      const all: StoredRow[][] = []
      for (const { store, table } of TABLES) all.push(await storedRows(stores[store], table))
      return all
    }

    /** Of each table. Reading the rows again would cost as much as loading them. */
    const counts = async (): Promise<number[]> => {
      const all: number[] = []
      for (const { store, table } of TABLES) {
        const sql = `SELECT COUNT(*) AS n FROM ${table.table}`
        const rows = await stores[store].query<{ n: unknown }>(sql, { type: QueryTypes.SELECT })
        all.push(Number(rows[0]?.n))
      }
      return all
    }

    /** Of the primary store, what refers to others first. */
    const deleteAll = async (chosen: (entity: Entity) => boolean): Promise<void> => {
      for (const resource of [...SAMPLE.keys()].toReversed()) {
        const entity = entities.find(({ name }) => name === resource)
        if (entity !== undefined && chosen(entity)) await stores.primary.query(`DELETE FROM ${entity.table}`)
      }
    }

    before(async () => {
      stores = await freshStores(kind)
      await stores.migrate()
    })
    after(() => stores.dispose())

    let loaded: readonly StoredRow[][] = []
    it('is loaded into empty databases', async () => {
      expect(await loadSampleRows(stores.databases, entities, () => SAMPLE)).to.equal(true)
      loaded = await allRows()
    })

    it('holds the rows as they were made', () => {
      for (const [at, { table, made }] of TABLES.entries()) {
        expect(loaded[at]?.map(withoutVersion), table.table).to.deep.equal(made)
      }
    })

    it('has the same rows on every database', () => {
      expect(digestsOf(loaded)).to.deep.equal(DIGESTS)
    })

    it('gives each row eight bytes of version, no two of a table alike', () => {
      for (const [at, rows] of loaded.entries()) {
        const versions = rows.map(({ rowVersion }) => String(rowVersion))
        expect(
          versions.filter((version) => !/^[0-9a-f]{16}$/.test(version)),
          `rows ${at}`
        ).to.deep.equal([])
        expect(new Set(versions).size, `rows ${at}`).to.equal(rows.length)
      }
    })

    it('is left alone once there is any row', async () => {
      const before = await counts()
      expect(await loadSampleRows(stores.databases, entities, () => SAMPLE)).to.equal(false)
      expect(await counts()).to.deep.equal(before)
      await deleteAll(({ name }) => name !== 'customers' && name !== 'categories')
      expect(await loadSampleRows(stores.databases, entities, () => SAMPLE)).to.equal(false)
    })

    it('is loaded whole after a process was cut off between the two databases', async () => {
      for (const { store, table } of TABLES)
        if (store === 'second') await stores.second.query(`DELETE FROM ${table.table}`)
      for (const _ of ['the first time', 'cut off before the rows of the primary store']) {
        await stores.primary.query('UPDATE categories SET parent_id = NULL')
        await deleteAll(() => true)
        expect(await loadSampleRows(stores.databases, entities, () => FEW)).to.equal(true)
      }
      expect(await counts()).to.deep.equal(tables(FEW).map(({ made }) => made.length))
    })
  })
})
