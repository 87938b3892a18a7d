import { expect } from 'chai'
import { makeCatalogue } from '../../../data-service/plan/model/catalogue.js'
import { describeCatalogue } from '../../../data-service/operations/describe/describe.js'
import { entities } from '../../../examples/store/entities/index.js'
import type { Resource } from '../../../shared/gen/entity/v1/Resource.js'

const ownership = { bypassRole: undefined, parameterName: 'id' }
const resources = describeCatalogue(makeCatalogue(entities), ownership)('gateway').resources ?? []
const resource = (name: string): Resource => resources.find((one) => one.name === name) ?? {}
const settable = (name: string, when: 'setOnCreate' | 'setOnUpdate'): (string | undefined)[] =>
  (resource(name).properties ?? []).filter((one) => one[when]).map((one) => one.name)
const TOKEN = /rowversion|etag|concurrency|token/i

describe('registry', () => {
  // source.md, "Create and update requests": the precondition travels in If-Match alone.
  it('has no update request that carries a concurrency token', () => {
    const carried = resources.flatMap(({ name = '', properties = [], actions = [] }) => [
      ...properties
        .filter((one) => one.setOnUpdate && (TOKEN.test(one.name ?? '') || one.type === 'bytes'))
        .map((one) => `${name}.${one.name}`),
      ...actions.flatMap(({ name: action, input = [] }) =>
        input
          .filter((one) => TOKEN.test(one.name ?? '') || one.type === 'bytes')
          .map((one) => `${name}/${action}.${one.name}`)
      )
    ])
    expect(carried).to.deep.equal([])
  })

  it('has child preconditions where an action is conditioned on a child, and names them for it', () => {
    const guarded = resources.flatMap(({ name, actions = [] }) =>
      actions.filter((one) => one.childPrecondition !== '').map((one) => `${name}/${one.name} ${one.childPrecondition}`)
    )
    expect(guarded).to.include.members([
      'products/change-variant-price variantRowVersion',
      'products/adjust-variant-stock variantRowVersion'
    ])
    expect(guarded.filter((one) => !/ [a-z][A-Za-z]*RowVersion$/.test(one))).to.deep.equal([])
  })

  // domain.md, "What a request may set".
  const NEVER = ['id', 'rowVersion', 'number', 'status', 'total', 'isSuspended', 'reserved', 'riskNote']
  const DATES = ['releasedAt', 'startsAt', 'endsAt', 'expectedAt', 'renewsAt']
  const CREATE_ONLY = ['customerId', 'userId', 'orderId', 'supplierId', 'warehouseId', 'requestedBy']

  it('lets no request set what the service sets', () => {
    const set = resources.flatMap(({ name, properties = [] }) =>
      properties
        .filter((one) => one.setOnCreate || one.setOnUpdate)
        .map((one) => one.name ?? '')
        .filter((one) => NEVER.includes(one) || (one.endsWith('At') && !DATES.includes(one)))
        .map((one) => `${name}.${one}`)
    )
    expect(set).to.deep.equal([])
  })

  it('tells who may what, and the states of actions and deletes', () => {
    const orders = resource('orders')
    const own = { kind: 'ACCESS_KIND_OWN_ROWS', property: 'customerId' }
    expect(orders.readAccess).to.deep.equal([
      { operations: ['list', 'paged', 'export', 'lookup', 'totals', 'get'], access: own }
    ])
    expect(orders.writeAccess).to.deep.equal(own)
    expect(orders.deleteStates).to.deep.equal([{ property: 'status', values: ['"placed"', '"cancelled"'] }])
    const rules = orders.actions?.map(({ name, permission, states, becomes }) => [name, permission, states, becomes])
    const status = (...values: string[]) => [{ property: 'status', values: values.map((one) => `"${one}"`) }]
    expect(rules).to.deep.equal([
      ['pay', '', status('placed'), status('paid')],
      ['ship', 'orders:manage', status('paid'), status('shipped')],
      ['update-shipment', 'orders:manage', status('shipped'), []],
      ['deliver', 'orders:manage', status('shipped'), status('delivered')],
      ['cancel', '', status('placed', 'paid'), status('cancelled')]
    ])
    const publish = resource('products').actions?.find(({ name }) => name === 'publish')
    expect([publish?.states, publish?.becomes]).to.deep.equal([
      [{ property: 'isActive', values: ['false'] }],
      [{ property: 'isActive', values: ['true'] }]
    ])
  })

  it('tells which members a create request must hold', () => {
    const required = ({ properties = [] }: Pick<Resource, 'properties'>): (string | undefined)[] =>
      properties.filter((one) => one.requiredOnCreate).map((one) => one.name)
    expect(required(resource('products'))).to.deep.equal(['name', 'sku', 'categoryId', 'price'])
    // The owner comes from the caller's token, and lines are priced by the service.
    expect(required(resource('orders'))).to.deep.equal([])
    const lines = resource('orders').navigations?.find(({ name }) => name === 'lines')
    expect(required(lines ?? {})).to.deep.equal(['productId', 'quantity'])
  })

  it('tells the short names of the operators that a property has', () => {
    const price = resource('products').properties?.find(({ name }) => name === 'price')
    expect(price?.operatorAliases).to.deep.equal(['eq', 'ne', 'gt', 'gte', 'lt', 'lte'])
  })

  it('lets no PUT set what is set on create alone', () => {
    for (const { name = '' } of resources) {
      expect(
        settable(name, 'setOnUpdate').filter((one) => CREATE_ONLY.includes(one ?? '')),
        name
      ).to.deep.equal([])
    }
  })

  it('lets create and PUT set every other property', () => {
    const product = ['name', 'sku', 'categoryId', 'price', 'weightGrams', 'barcode', 'isActive', 'releasedAt']
    const internal = ['costPrice', 'reorderLevel']
    expect(settable('products', 'setOnCreate')).to.deep.equal([...product, 'externalId', 'description', ...internal])
    expect(settable('products', 'setOnUpdate')).to.deep.equal(settable('products', 'setOnCreate'))
    expect(settable('categories', 'setOnUpdate')).to.deep.equal(['name', 'parentId', 'slug'])
    expect(settable('customers', 'setOnUpdate')).to.deep.equal(['name', 'email', 'phone', 'creditLimit'])
    expect(settable('orders', 'setOnCreate')).to.deep.equal(['customerId', 'trackingCode'])
    expect(settable('orders', 'setOnUpdate')).to.deep.equal([])
  })

  it('sets of the back office what domain.md says, and no more', () => {
    const members = Object.fromEntries(
      ['coupons', 'returns', 'invoices', 'suppliers', 'purchase-orders', 'warehouses', 'stock-items'].map((name) => [
        name,
        [settable(name, 'setOnCreate'), settable(name, 'setOnUpdate'), resource(name).createdChildren]
      ])
    )
    const coupon = ['code', 'percent', 'startsAt', 'endsAt', 'isActive']
    const supplier = ['name', 'country', 'isActive']
    const warehouse = ['name', 'city', 'isOpen']
    expect(members).to.deep.equal({
      coupons: [coupon, coupon, []],
      returns: [['orderId', 'customerId', 'reason'], [], ['lines']],
      invoices: [['orderId', 'customerId'], [], []],
      suppliers: [supplier, supplier, []],
      'purchase-orders': [['supplierId', 'expectedAt', 'requestedBy'], [], ['lines']],
      warehouses: [warehouse, warehouse, []],
      'stock-items': [['warehouseId', 'productId', 'onHand'], [], []]
    })
  })

  it('tells operations, actions and created children', () => {
    const reads = ['list', 'paged', 'export', 'lookup', 'totals', 'get', 'history']
    const writes = (name: string) => resource(name).operations?.filter((one) => !reads.includes(one))
    expect(resource('products').operations?.slice(0, 7)).to.deep.equal(reads)
    expect(resource('audit-entries').operations).to.not.include('totals').and.not.include('history')
    expect(writes('products')).to.deep.equal([
      'create',
      'batch',
      'import',
      'update',
      'updateBatch',
      'delete',
      'deleteBatch'
    ])
    expect(writes('orders')).to.deep.equal(['create', 'batch', 'import', 'delete', 'deleteBatch'])
    expect(writes('audit-entries')).to.deep.equal([])
    expect(resource('orders').createdChildren).to.deep.equal(['lines'])
    expect(resource('customers').createdChildren).to.deep.equal(['addresses'])
    expect(resource('products').createdChildren).to.deep.equal([])
    const actions = (name: string) => resource(name).actions?.map((one) => one.name)
    expect(actions('orders')).to.deep.equal(['pay', 'ship', 'update-shipment', 'deliver', 'cancel'])
    expect(actions('categories')).to.deep.equal(['move'])
    const [lines] = resource('orders').navigations?.filter((one) => one.name === 'lines') ?? []
    const set = lines?.properties?.filter((one) => one.setOnCreate).map((one) => one.name)
    expect(set).to.deep.equal(['productId', 'variantId', 'quantity'])
  })

  it('has another digest with another action', () => {
    const [first, ...others] = entities
    const changed = { ...first, actions: new Map() } as (typeof entities)[number]
    const orders = others.find((one) => one.name === 'orders')
    const without = entities.map((one) => (one === orders ? { ...one, actions: changed.actions } : one))
    const digest = (of: typeof entities) => describeCatalogue(makeCatalogue(of), ownership)('gateway').digest
    expect(digest(without)).not.to.equal(digest(entities))
    expect(digest([...entities])).to.equal(digest(entities))
  })
})
