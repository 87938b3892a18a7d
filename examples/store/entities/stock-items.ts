import {
  allOf,
  anyOf,
  defineEntity,
  example,
  guid,
  int,
  long,
  onCreate,
  permission,
  readOnly,
  reject
} from 'uniform-rest'

const MAX_ON_HAND = 2_147_483_647
const quantity = int({ min: 1, max: 10_000 })
const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const stockItems = defineEntity({
  name: 'stock-items',
  description: 'How much of a product a warehouse holds, and how much of that is promised.',
  group: 'Stock',

  fields: {
    id: readOnly(long()),
    warehouseId: onCreate(guid()),
    productId: int(),
    onHand: example(int({ min: 0 }), 25),
    reserved: example(readOnly(int({ min: 0 })), 0)
  },

  label: 'productId',
  filterable: ['id', 'warehouseId', 'productId', 'onHand', 'reserved'],
  sortable: ['id', 'warehouseId', 'productId', 'onHand', 'reserved'],
  totals: { dimensions: ['warehouseId'], measures: { count: true, sum: ['onHand', 'reserved'] } },

  references: {
    warehouse: { to: 'warehouses', via: 'warehouseId' },
    product: { to: 'products', via: 'productId' }
  },

  // Storekeepers see all stock, and change that of their own warehouses.
  access: ({ rows }) => ({
    read: anyOf(permission('warehouses:manage'), permission('stock:read')),
    write: anyOf(
      permission('warehouses:manage'),
      allOf(
        permission('stock:write'),
        rows(({ caller, where }) => where('warehouseId', 'in', warehousesOf(caller.claims['warehouses'])))
      )
    )
  }),
  writes: ['create', 'delete'],
  creates: { prepare: () => ({ values: { reserved: 0 } }) },

  // What is promised to somebody stays.
  deletes: { when: { reserved: [0] } },

  // 0 ≤ reserved ≤ onHand, always: what would break it is rejected.
  actions: (action) => ({
    adjust: action({
      description: 'Adds delta, which may be negative, to what is on hand.',
      input: { delta: int() },
      change({ root, input: { delta } }) {
        const onHand = root.onHand + delta
        if (onHand < root.reserved) {
          return reject.state(`${root.onHand} are on hand and ${root.reserved} reserved; it cannot lose ${-delta}.`)
        }
        if (onHand > MAX_ON_HAND) return reject.input('/delta', `delta must leave at most ${MAX_ON_HAND} on hand.`)
        return { set: { onHand } }
      }
    }),
    reserve: action({
      description: 'Promises some of what is on hand.',
      input: { quantity },
      change({ root, input: { quantity } }) {
        const free = root.onHand - root.reserved
        if (quantity > free) return reject.state(`${free} are free to reserve; ${quantity} is more than that.`)
        return { set: { reserved: root.reserved + quantity } }
      }
    }),
    release: action({
      description: 'Takes back some of what was promised.',
      input: { quantity },
      change({ root, input: { quantity } }) {
        if (quantity > root.reserved) {
          return reject.state(`${root.reserved} are reserved; ${quantity} is more than that.`)
        }
        return { set: { reserved: root.reserved - quantity } }
      }
    })
  })
})

/** Whatever else an issuer put into the claim is no warehouse: without a Guid in it there is none. */
function warehousesOf(claim: unknown): string[] {
  const all: readonly unknown[] = Array.isArray(claim) ? claim : []
  return all.filter((one): one is string => typeof one === 'string' && GUID.test(one))
}
