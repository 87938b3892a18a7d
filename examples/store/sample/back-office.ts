import {
  dateTimeOf,
  hardText,
  idsOf,
  moment,
  momentAfter,
  numbered,
  numberedGuid,
  type SampleAggregate,
  type SampleMaker,
  type SampleRandom,
  type SampleRow
} from './values.js'

const COUPONS = 40
const SUPPLIERS = 36
const WAREHOUSES = 24
const STOCK_ITEMS = 80
const PURCHASE_ORDERS = 48
const RETURNS = 48
const INVOICES = 60

/** The first rows belong to the customers 1 and 2, those of the sample accounts: this many for each. */
const ROWS_OF_ACCOUNT = 8
const ACCOUNTS = [1, 2]

/** The other rows belong to every eleventh order of the store. */
const SPREAD = 11

/** The resources of the back office, in an order in which what is referred to comes first. */
export function backOfficeSample(
  orders: readonly SampleAggregate[],
  products: readonly SampleAggregate[]
): [string, readonly SampleAggregate[]][] {
  const suppliers = numbered('suppliers', SUPPLIERS, supplierMaker)
  const warehouses = numbered('warehouses', WAREHOUSES, warehouseMaker)
  const warehouseIds = warehouses.map(({ root }) => String(root['id']))
  const productIds = idsOf(products)
  const delivered = orders.filter(({ root }) => root['status'] === 'delivered')
  return [
    ['coupons', numbered('coupons', COUPONS, couponMaker)],
    ['suppliers', suppliers],
    ['warehouses', warehouses],
    ['stock-items', numbered('stock-items', STOCK_ITEMS, stockItemMaker(warehouseIds, productIds))],
    ['purchase-orders', numbered('purchase-orders', PURCHASE_ORDERS, purchaseOrderMaker(idsOf(suppliers), productIds))],
    ['returns', numbered('returns', RETURNS, returnMaker(accountsFirst(delivered).map(deliveredOrder)))],
    ['invoices', numbered('invoices', INVOICES, invoiceMaker(accountsFirst(orders).map(invoicedOrder)))]
  ]
}

function accountsFirst(orders: readonly SampleAggregate[]): SampleAggregate[] {
  const of = (id: number) => orders.filter(({ root }) => root['customerId'] === id)
  const others = orders.filter(({ root }) => !ACCOUNTS.includes(Number(root['customerId'])))
  return [
    ...ACCOUNTS.flatMap((id) => of(id).slice(0, ROWS_OF_ACCOUNT)),
    ...others.filter((_, index) => index % SPREAD === 0)
  ]
}

function deliveredOrder({ root, children }: SampleAggregate): DeliveredOrder {
  return {
    id: Number(root['id']),
    customerId: Number(root['customerId']),
    deliveredAt: String(root['deliveredAt']),
    lines: (children['lines'] ?? []).map(({ productId, variantId, quantity }) => ({
      productId: Number(productId),
      variantId: variantId === null ? null : Number(variantId),
      quantity: Number(quantity)
    }))
  }
}

function invoicedOrder({ root }: SampleAggregate) {
  return {
    id: Number(root['id']),
    customerId: Number(root['customerId']),
    number: String(root['number']),
    total: String(root['total']),
    status: String(root['status']),
    placedAt: String(root['placedAt'])
  }
}

const WORDS = [
  'SAVE',
  'welcome',
  'Été',
  'ЗИМА',
  '春',
  '100%',
  '=SUM',
  '-10',
  'snake_case',
  "O'Deal",
  '"VIP"',
  'a,b',
  '@home'
]

/** Coupons for trials, by id: valid for ever, expired, inactive, and the lowest and highest percent. */
const KNOWN_COUPONS: Readonly<Record<number, SampleRow>> = {
  1: { code: 'WELCOME10', percent: 10, startsAt: '2024-01-01T00:00:00.000Z', endsAt: null, isActive: true },
  2: {
    code: 'EXPIRED20',
    percent: 20,
    startsAt: '2024-01-01T00:00:00.000Z',
    endsAt: '2024-06-30T23:59:59.999Z',
    isActive: true
  },
  3: { code: 'SWITCHEDOFF', percent: 30, startsAt: '2024-01-01T00:00:00.000Z', endsAt: null, isActive: false },
  4: { percent: 1 },
  5: { percent: 100 }
}

/** Coupons, half of which have an end. */
export const couponMaker: SampleMaker = (id, random) => ({
  root: { id, ...someCoupon(id, random), ...KNOWN_COUPONS[id] },
  children: {}
})

function someCoupon(id: number, random: SampleRandom): SampleRow {
  const starts = moment(random)
  return {
    // Unique in any letter case, since the number is unique.
    code: `${random.pick(WORDS)}-${String(id).padStart(4, '0')}`,
    percent: random.int(1, 18) * 5,
    startsAt: dateTimeOf(starts),
    endsAt: random.chance(50) ? null : dateTimeOf(momentAfter(random, starts, 400)),
    isActive: random.chance(75)
  }
}

/** The members of an order that its invoice copies. */
export interface InvoicedOrder {
  readonly id: number
  readonly customerId: number
  readonly number: string
  readonly total: string
  readonly status: string
  readonly placedAt: string
}

/** Invoices of the given orders, one for each. There must be at least as many orders as invoices. */
export function invoiceMaker(orders: readonly InvoicedOrder[]): SampleMaker {
  return (id, random) => {
    const order = orders[(id - 1) % orders.length] ?? random.pick(orders)
    const status = someStatus(order, random)
    const issued = dateTimeOf(momentAfter(random, Date.parse(order.placedAt), 3))
    const wasIssued = status === 'issued' || (status === 'void' && random.chance(50))
    return {
      root: {
        id,
        orderId: order.id,
        customerId: order.customerId,
        number: `I${order.number.slice(1)}`,
        total: order.total,
        status,
        issuedAt: wasIssued ? issued : null
      },
      children: {}
    }
  }
}

/** The invoice of a cancelled order is void. */
function someStatus({ status }: InvoicedOrder, random: SampleRandom): string {
  if (status === 'cancelled') return 'void'
  if (status === 'placed') return random.pick(['draft', 'draft', 'issued'])
  return random.pick(['issued', 'issued', 'issued', 'draft', 'void'])
}

const PURCHASE_STATUSES = ['draft', 'submitted', 'submitted', 'received', 'received', 'cancelled'] as const
type Status = (typeof PURCHASE_STATUSES)[number]

const REQUESTERS = ['clerk@example.com', 'clerk@example.com', 'admin@example.com']
const PURCHASE_REASONS = ['Too late', 'Found cheaper,\n"elsewhere"', '', null]

/** Purchase orders of the given suppliers. The received quantities fit the status. */
export function purchaseOrderMaker(supplierIds: readonly number[], productIds: readonly number[]): SampleMaker {
  return (id, random) => {
    const status = random.pick(PURCHASE_STATUSES)
    return {
      root: {
        id,
        supplierId: random.pick(supplierIds),
        status,
        expectedAt: random.chance(25) ? null : dateTimeOf(moment(random)),
        requestedBy: REQUESTERS[id % REQUESTERS.length] ?? null,
        cancelReason: status === 'cancelled' ? random.pick(PURCHASE_REASONS) : null
      },
      children: {
        lines: Array.from({ length: random.int(1, 4) }, (_, index) =>
          sampleLine(random, { productId: random.pick(productIds), status, isFirst: index === 0 })
        )
      }
    }
  }
}

/** The first line of a submitted order is never complete, or the order would be received. */
function sampleLine(
  random: SampleRandom,
  { productId, status, isFirst }: { readonly productId: number; readonly status: Status; readonly isFirst: boolean }
): SampleRow {
  const quantity = random.int(1, 500)
  const arrived = random.chance(50) ? 0 : random.int(0, isFirst ? quantity - 1 : quantity)
  const receivedQuantity = status === 'received' ? quantity : status === 'submitted' ? arrived : 0
  return { productId, quantity, receivedQuantity }
}

/** A delivered order, whose lines can be returned. */
export interface DeliveredOrder {
  readonly id: number
  readonly customerId: number
  readonly deliveredAt: string
  readonly lines: readonly OrderedLine[]
}

export interface OrderedLine {
  readonly productId: number
  readonly variantId: number | null
  readonly quantity: number
}

const RETURN_STATUSES = ['requested', 'approved', 'received', 'refunded', 'rejected'] as const

const RETURN_REASONS = [
  'Broken on arrival.',
  'Too small; "XL" is no XL.',
  '=HYPERLINK("x")',
  'Не подошёл размер',
  'サイズが違う',
  'Wrong colour,\nwrong size',
  '-',
  ''
]
const REJECT_REASONS = ['Worn.', 'Too late by 3 days, sorry', '100% used_up']

/** Returns of the given orders in turn, each with some of the order's lines. */
export function returnMaker(orders: readonly DeliveredOrder[]): SampleMaker {
  return (id, random) => {
    const order = orders[(id - 1) % orders.length] ?? random.pick(orders)
    const status = random.pick(RETURN_STATUSES)
    return {
      root: {
        id,
        orderId: order.id,
        customerId: order.customerId,
        reason: random.pick(RETURN_REASONS),
        status,
        requestedAt: dateTimeOf(momentAfter(random, Date.parse(order.deliveredAt), 30)),
        rejectReason: status === 'rejected' ? random.pick(REJECT_REASONS) : null
      },
      children: { lines: someOf(order.lines, random) }
    }
  }
}

function someOf(ordered: readonly OrderedLine[], random: SampleRandom): SampleRow[] {
  const first = random.int(0, ordered.length - 1)
  return ordered
    .filter((_, index) => index === first || random.chance(30))
    .map(({ productId, variantId, quantity }) => ({ productId, variantId, quantity: random.int(1, quantity) }))
}

/** Stock at the limits, by id: none, all of it reserved, the maximum. */
const KNOWN_STOCK: Readonly<Record<number, { readonly onHand: number; readonly reserved: number }>> = {
  1: { onHand: 0, reserved: 0 },
  2: { onHand: 25, reserved: 25 },
  3: { onHand: 2_147_483_647, reserved: 0 }
}

/** Stock of the products in turn, each in one of the warehouses. */
export function stockItemMaker(warehouseIds: readonly string[], productIds: readonly number[]): SampleMaker {
  return (id, random) => {
    const onHand = random.int(0, 1000)
    return {
      root: {
        id: String(id),
        warehouseId: random.pick(warehouseIds),
        productId: productIds[(id - 1) % productIds.length] ?? random.pick(productIds),
        onHand,
        reserved: random.chance(50) ? 0 : random.int(0, onHand),
        ...KNOWN_STOCK[id]
      },
      children: {}
    }
  }
}

const NAMES = [
  'Nordholz',
  'Fratelli Rossi',
  'Ткани Востока',
  '京都陶器',
  "O'Leary & Sons",
  'Łódź Glass',
  'Åkerlund',
  'La Forge'
]
const FORMS = ['GmbH', 'S.p.A.', 'Ltd., London', 'AB', '株式会社']
const COUNTRIES = ['CN', 'DE', 'FR', 'IE', 'IT', 'JP', 'PL', 'SE']

/** Every third supplier has a hard text as its name. */
const HARD_SUPPLIER_EVERY = 3

/** Suppliers, one in five of which is inactive. */
export const supplierMaker: SampleMaker = (id, random) => ({
  root: {
    id,
    name: hardText(id, HARD_SUPPLIER_EVERY) ?? `${random.pick(NAMES)} ${random.pick(FORMS)}`,
    country: random.pick(COUNTRIES),
    isActive: random.chance(80)
  },
  children: {}
})

const PLACES = ['Harbour', 'North', 'Old Mill', 'Airport', 'Ring Road', 'Südkreuz', 'Порт', '港北']
const CITIES = ['Gdańsk', 'Göteborg', 'Hamburg', 'Le Havre', "L'Aquila", 'Санкт-Петербург', '横浜']

/** Every fourth warehouse has a hard text as its name. */
const HARD_WAREHOUSE_EVERY = 4

/** Warehouses, whose id is the guid of the number. One in five is closed. */
export const warehouseMaker: SampleMaker = (number, random) => ({
  root: {
    id: numberedGuid(number),
    name: hardText(number, HARD_WAREHOUSE_EVERY) ?? `${random.pick(PLACES)} ${number}`,
    city: random.pick(CITIES),
    isOpen: random.chance(80)
  },
  children: {}
})
