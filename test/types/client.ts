import {
  type ApplicationTypes,
  createClient,
  isProblem,
  type Problem,
  type ProblemCode
} from '../../clients/typescript/src/client.js'
import type { Application } from '../../examples/store/client-types.js'
import type { ErrorCode } from '../../shared/errors.js'

// What must and must not compile with the generated types of the store. The compiler of the build is the judge: nothing
// here runs.

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
function same<A, B>(_: Equal<A, B>): void {}

const client = createClient<Application>({ baseUrl: 'http://127.0.0.1:3000' })
const products = client.resource('products')
const orders = client.resource('orders')
const stockItems = client.resource('stock-items')

/** The generated types are what a client takes. */
export const application: ApplicationTypes | Application = { resources: {}, operations: {} }
same<Application extends ApplicationTypes ? true : false, true>(true)

// @ts-expect-error there is no such resource
client.resource('prodcts')

export async function filters(): Promise<void> {
  await products.page({ where: { name: { contains: 'pan', startsWith: 'C' }, price: { gte: '2.00', lt: 10 } } })
  await products.page({ where: { isActive: { is: true }, releasedAt: { isOnOrAfter: new Date(0), isNotEmpty: true } } })
  await products.page({ where: { id: { in: [1, 2] }, price: { between: ['1', 2] }, barcode: { isEmpty: true } } })
  await products.page({ where: { name: [{ contains: 'a' }, { contains: 'b' }] } })
  // @ts-expect-error a number contains nothing
  await products.page({ where: { price: { contains: '2' } } })
  // @ts-expect-error a boolean is not greater than another
  await products.page({ where: { isActive: { greaterThan: true } } })
  // @ts-expect-error a text has no order
  await products.page({ where: { name: { greaterThan: 'a' } } })
  // @ts-expect-error a Guid starts with nothing
  await products.page({ where: { externalId: { startsWith: 'a' } } })
  // @ts-expect-error there is no such operator
  await products.page({ where: { name: { like: '%a%' } } })
  // @ts-expect-error there is no such property
  await products.page({ where: { colour: { equals: 'red' } } })
  // @ts-expect-error a computed property cannot be filtered
  await products.page({ where: { displayName: { equals: 'red' } } })
  // @ts-expect-error the value has another type
  await products.page({ where: { isActive: { is: 'yes' } } })
  // @ts-expect-error a list takes a list
  await products.page({ where: { id: { in: 1 } } })
  // @ts-expect-error a range has two ends
  await products.page({ where: { price: { between: ['1'] } } })
  // @ts-expect-error an operator without a value is on or not there
  await products.page({ where: { barcode: { isEmpty: false } } })
  await products.page({ anyOf: [{ name: { contains: 'pan' }, price: { lt: 10 } }, { isActive: { is: true } }] })
  // @ts-expect-error there is no such property
  await products.page({ anyOf: [{ colour: { equals: 'red' } }] })
  // @ts-expect-error a number contains nothing
  await products.page({ anyOf: [{ name: { contains: 'pan' } }, { price: { contains: '2' } }] })
  // @ts-expect-error the value has another type
  await products.page({ anyOf: [{ isActive: { is: 'yes' } }] })
  // @ts-expect-error list takes no filters
  await products.list({ where: { id: { equals: 1 } } })
  // @ts-expect-error the resource has nothing to search in
  await stockItems.page({ search: 'x' })
}

export async function shapes(): Promise<void> {
  await products.page({ sort: ['-price', 'name'] })
  await products.page({ sort: 'price' })
  // @ts-expect-error descriptions cannot be sorted by
  await products.page({ sort: 'description' })
  // @ts-expect-error there is no such property
  await products.page({ sort: ['-colour'] })
  // @ts-expect-error a computed property cannot be asked for
  await products.get(1, { fields: ['displayName'] })
  // @ts-expect-error the id of a product is a number
  await products.get('1')

  const [some] = (await products.page({ fields: ['id', 'price'] })).rows
  const idAndPrice: { readonly id: number; readonly price: string } | undefined = some
  void idAndPrice
  const whole = await products.get(1)
  const texts: readonly [string, string | null, boolean] = [whole.price, whole.barcode, whole.isActive]
  void texts
  // @ts-expect-error the category only comes with its include
  void whole.category
  // @ts-expect-error it was not asked for
  void some?.name
  const bySku = await products.by('sku', 'P-1', { fields: ['id', 'sku'] })
  void bySku.sku
  // @ts-expect-error it was not asked for
  void bySku.price
  void (await orders.by('number', 'O-1')).total
  void (await client.resource('invoices').by('orderId', 7)).total
  // @ts-expect-error an order has a number for its id
  await client.resource('invoices').by('orderId', 'seven')
  // @ts-expect-error names are not unique
  await products.by('name', 'Pan')
  const withCategory = await products.get(1, { includeFKs: true })
  void withCategory.category?.name
  // @ts-expect-error there may be none
  void withCategory.category.name
  const withChildren = await products.get(1, { includeChildren: true })
  const version: string | undefined = withChildren.variants[0]?.rowVersion
  void version
  const named = await products.get(1, { include: ['category.parent', 'variants'] })
  const parent: string | undefined = named.category?.parent?.name
  const variant: string | undefined = named.variants[0]?.sku
  void [parent, variant]
  // @ts-expect-error it was not named
  void named.reviews
  const flagged = await products.get(1, { includeFKs: true, include: ['reviews'] })
  void [flagged.category?.name, flagged.reviews[0]?.rating]
  // @ts-expect-error the parent was not named
  void flagged.category?.parent
  const both = await orders.get(1, { includeChildren: true, include: ['lines.product', 'customer'] })
  void [both.lines.map(({ product, quantity }) => [product?.price, quantity]), both.customer?.name]
  // @ts-expect-error there may be none
  void both.lines[0]?.product.price
  const listed = (await orders.page({ include: ['lines.product'], fields: ['id', 'lines'] })).rows
  void listed[0]?.lines[0]?.product?.name
  // @ts-expect-error it was not asked for
  void listed[0]?.total
  // @ts-expect-error there is no such navigation
  await products.get(1, { include: ['colour'] })
  // @ts-expect-error variants refer to nothing
  await products.get(1, { include: ['variants.product'] })
  // @ts-expect-error three levels are too many
  await products.get(1, { include: ['category.parent.parent'] })
  const chosen = await products.get(1, { includeFKs: true, fields: ['id', 'category'] })
  void chosen.category
  // @ts-expect-error a reader may lack the permission that it takes
  const cost: string | null = whole.costPrice
  void cost
  for await (const row of products.rows({ fields: ['name'] })) void row.name.length
  for await (const record of await products.export({ fields: ['id', 'name'] })) {
    same<typeof record, { readonly id: string | null; readonly name: string | null }>(true)
    // @ts-expect-error it was not asked for
    void record.price
  }
}

export async function writes(): Promise<void> {
  const product = { name: 'Pan', sku: 'P-1', categoryId: 1, price: '19.90' }
  const made = await products.create(product)
  await products.create({ ...product, releasedAt: new Date(0), description: null }, { idempotencyKey: 'one' })
  // @ts-expect-error a required member is missing
  await products.create({ name: 'Pan', sku: 'P-1', categoryId: 1 })
  // @ts-expect-error there is no such member
  await products.create({ ...product, colour: 'red' })
  // @ts-expect-error the service sets the id
  await products.create({ ...product, id: 7 })
  // @ts-expect-error a name is never null
  await products.create({ ...product, name: null })
  await products.replace(made, product)
  // @ts-expect-error PUT needs what a create needs
  await products.replace(made, { price: 1 })
  const { sku: _sku, ...others } = product
  await products.replaceBy('sku', 'P-1', { body: others, ifMatch: made })
  await products.replaceBy('sku', 'P-1', { body: product, ifMatch: 'W/"AAAAAAAAAAE="' })
  // @ts-expect-error PUT needs the version
  await products.replaceBy('sku', 'P-1', { body: product })
  // @ts-expect-error PUT needs what a create needs, but for the property
  await products.replaceBy('sku', 'P-1', { body: { name: 'Pan' }, ifMatch: made })
  // @ts-expect-error names are not unique
  await products.replaceBy('name', 'Pan', { body: product, ifMatch: made })
  // @ts-expect-error orders cannot be replaced
  await orders.replaceBy('number', 'O-1', { body: {}, ifMatch: made })
  await products.patch(made.id, { price: 1 }, { ifMatch: 'W/"AAAAAAAAAAE="' })
  // @ts-expect-error there is no such member
  await products.patch(made.id, { prise: 1 })
  await products.act(made, 'change-category', { body: { categoryId: 2 } })
  // @ts-expect-error the action needs a category
  await products.act(made, 'change-category', { body: {} })
  // @ts-expect-error the action needs a body
  await products.act(made, 'change-category')
  await products.act(made, 'publish')
  // @ts-expect-error there is no such action
  await products.act(made, 'recall')
  // @ts-expect-error the version of the variant is required
  await products.act(made, 'change-variant-price', { body: { variantId: 1, price: '1.00' } })
  await products.delete(made)
  const changed = await products.updateMany([
    { ...made, price: 1 },
    { id: 2, rowVersion: 'AAAAAAAAAAE=', name: 'Pot' }
  ])
  void changed[0]?.price
  // @ts-expect-error there is no such member
  await products.updateMany([{ id: 2, rowVersion: 'AAAAAAAAAAE=', prise: 1 }])
  // @ts-expect-error a name is never null
  await products.updateMany([{ id: 2, rowVersion: 'AAAAAAAAAAE=', name: null }])
  await products.deleteMany([made, { id: 2, rowVersion: 'AAAAAAAAAAE=' }], { dryRun: true })
  // @ts-expect-error audit entries cannot be deleted
  await client.resource('audit-entries').deleteMany([{ id: '1' }])
  await products.create(product, { dryRun: true })
  // @ts-expect-error it is on or off
  await products.create(product, { dryRun: 'yes' })
  // @ts-expect-error what came of an import cannot be undone
  await products.import('', { format: 'csv', dryRun: true })
  await orders.create({ lines: [{ productId: 1, quantity: 2 }] })
  // @ts-expect-error a line needs a quantity
  await orders.create({ lines: [{ productId: 1 }] })
  // @ts-expect-error orders cannot be replaced
  await orders.replace(1, {})
  // @ts-expect-error audit entries cannot be deleted
  await client.resource('audit-entries').delete('1')
  // @ts-expect-error audit entries cannot be created
  await client.resource('audit-entries').create({})
  // @ts-expect-error audit entries cannot be imported
  await client.resource('audit-entries').import('', { format: 'csv' })
  void (await products.import(new Blob(), { format: 'csv', by: 'sku', onError: 'skip' })).existing
  // @ts-expect-error names are not unique
  await products.import('', { format: 'csv', by: 'name' })
  // @ts-expect-error there is no such format
  await products.import('', { format: 'xml' })
}

export async function totals(): Promise<void> {
  const { rows } = await orders.totals({
    by: ['status', 'placedAt.month'],
    measures: ['count', 'sum.total'],
    sort: '-count'
  })
  same<(typeof rows)[number]['placedAt.month'], string>(true)
  same<(typeof rows)[number]['sum.total'], string | null>(true)
  // @ts-expect-error it was not asked for
  void rows[0]?.['max.total']
  const whole = await orders.totals()
  same<(typeof whole.rows)[number]['max.total'], string | null>(true)
  // @ts-expect-error there is no such dimension
  await orders.totals({ by: ['colour'] })
  // @ts-expect-error there is no such measure
  await orders.totals({ measures: ['sum.placedAt'] })
  // @ts-expect-error the order is one of what is answered
  await orders.totals({ by: ['status'], measures: ['count'], sort: 'sum.total' })
  // @ts-expect-error the resource has no totals
  await client.resource('categories').totals({ by: ['name'] })
}

export async function history(): Promise<void> {
  const { entries, nextCursor } = await orders.history(7, { pageSize: 50 })
  same<typeof nextCursor, string | undefined>(true)
  const status = entries[0]?.changes.status
  same<NonNullable<typeof status>['before'], 'placed' | 'paid' | 'shipped' | 'delivered' | 'cancelled' | undefined>(
    true
  )
  // @ts-expect-error there is no such property
  void entries[0]?.changes.colour
  // @ts-expect-error the resource has no history
  await client.resource('categories').history(1)
}

export async function operations(): Promise<void> {
  const report = await client.call('GET /reports/stock', { query: { least: 10 } })
  const names: readonly string[] = report.warehouses.map(({ name }) => name)
  void names
  // @ts-expect-error there is no such parameter
  await client.call('GET /reports/stock', { query: { most: 10 } })
  // @ts-expect-error there is no such operation
  await client.call('GET /reports/sales', {})
}

/** The codes are those of the service. */
same<ProblemCode, ErrorCode>(true)

export function problems(error: unknown, problem: Problem): void {
  if (isProblem(error, 'conflict')) same<typeof error.problem.status, 409 | 412>(true)
  if (isProblem(error, 'not-found')) same<typeof error.problem.status, 404>(true)
  // @ts-expect-error there is no such code
  isProblem(error, 'not-there')
  if (isProblem(error)) {
    switch (error.problem.code) {
      case 'state.invalid':
        same<typeof error.problem.status, 422>(true)
        break
      case 'conflict':
        same<typeof error.problem.status, 409 | 412>(true)
        break
      // @ts-expect-error there is no such code
      case 'not-there':
        break
      default:
        void error.problem.title
    }
  }
  if (problem.code === 'upstream.unavailable') same<typeof problem.status, 503>(true)
}
