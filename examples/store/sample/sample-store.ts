import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import type { Database, Databases, Entity, StoreName } from 'uniform-rest'
import { entities } from '../entities/index.js'
import { sampleAccounts } from './accounts.js'
import { backOfficeSample } from './back-office.js'
import { frontOfficeSample } from './front-office.js'
import { childTarget, insertRows, rootTarget, type Target } from './insert-rows.js'
import { bulkMakers, loadMore, type LoadOrder } from './load-more.js'
import { orderMaker, sellablesOf } from './orders.js'
import { customerMaker, productMaker, sampleCategories } from './shop.js'
import { idsOf, numbered, type SampleAggregate, type SampleRow } from './values.js'

const PRODUCTS = 2000
const CUSTOMERS = 200
const ORDERS = 1500

/** The whole sample store: aggregates by resource. A resource comes after those that it refers to. */
export function sampleStore(): ReadonlyMap<string, readonly SampleAggregate[]> {
  const categories = sampleCategories()
  const products = numbered('products', PRODUCTS, productMaker(idsOf(categories)))
  const customers = numbered('customers', CUSTOMERS, customerMaker)
  const orders = numbered('orders', ORDERS, orderMaker(idsOf(customers), sellablesOf(products)))
  const backOffice = new Map(backOfficeSample(orders, products))
  const coupons = backOffice.get('coupons') ?? []
  return new Map([
    ['categories', categories],
    ['products', products],
    ['customers', customers],
    ['orders', orders],
    ...backOffice,
    ...frontOfficeSample({ products, customers, orders, coupons })
  ])
}

/**
 * Loads the sample store into migrated, empty databases. It does nothing if the primary one has any row. Each database
 * gets all of its rows or none, and two processes that start at the same time load them once. Returns whether it loaded.
 */
export async function loadSample({ primary, second }: Databases): Promise<boolean> {
  if (second === undefined) throw new TypeError('The store has a second database')
  if (!(await isEmpty(primary.sequelize, 'primary'))) return false
  const store = sampleStore()
  // The second store comes first: an empty primary store makes the next start load again if this one is interrupted.
  await loadStore(second, 'second', store)
  return loadStore(primary, 'primary', store)
}

/** What the service knows of the sample. */
export const sample = {
  ...sampleAccounts,
  loadRows: loadSample,
  moreOf: [...bulkMakers.keys()],
  addRows: ({ primary }: Databases, order: LoadOrder, progress: (loaded: number) => void) =>
    loadMore(primary, order, progress),
  welcome: ({ base, token }: { readonly base: string; readonly token: string }) => [
    `curl -gi '${base}/products/paged?filters[price].operator=lt&filters[price].value=20&sortColumn=name'`,
    `curl -i ${base}/orders/paged -H "Authorization: Bearer $(${token} ada@example.com)"`
  ]
}

async function loadStore(
  { sequelize, schema }: Database,
  name: StoreName,
  store: ReadonlyMap<string, readonly SampleAggregate[]>
): Promise<boolean> {
  return schema.withLock('sample', async (transaction) => {
    if (!(await isEmpty(sequelize, name, transaction))) return false
    for (const [resource, aggregates] of store) {
      for (const { target, rows } of tablesOf(entityNamed(resource), name, aggregates)) {
        await insertRows(sequelize, { target, rows, firstNumber: 1 }, transaction)
      }
    }
    return true
  })
}

function entityNamed(resource: string): Entity {
  const entity = entities.find(({ name }) => name === resource)
  if (entity === undefined) throw new TypeError(`There are sample rows of ${resource}, which is no entity`)
  return entity
}

/** The tables of an entity in the store with their rows, roots before children. */
function tablesOf(
  entity: Entity,
  store: StoreName,
  aggregates: readonly SampleAggregate[]
): { target: Target; rows: SampleRow[] }[] {
  const roots = { target: rootTarget(entity), rows: aggregates.map(({ root }) => root) }
  const children = entity.children
    .filter((one) => one.store === store)
    .map((one) => ({
      target: childTarget(one),
      rows: aggregates.flatMap(({ root, children: byName }) =>
        (byName[one.name] ?? []).map((row) => ({ ...row, rootId: root['id'] ?? null }))
      )
    }))
  return store === 'primary' ? [roots, ...children] : children
}

async function isEmpty(sequelize: Sequelize, store: StoreName, transaction?: Transaction): Promise<boolean> {
  const tables =
    store === 'primary'
      ? entities.map(({ table }) => table)
      : entities.flatMap(({ children }) => children.filter((one) => one.store === store).map(({ table }) => table))
  for (const table of tables) {
    const rows = await sequelize.query(`SELECT 1 FROM \`${table}\` LIMIT 1`, {
      type: QueryTypes.SELECT,
      ...(transaction === undefined ? {} : { transaction })
    })
    if (rows.length > 0) return false
  }
  return true
}
