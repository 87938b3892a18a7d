import { expect } from 'chai'
import { describeApi, type ApiStore } from '../api-store.js'
import { created, did, linesOf, rejected } from './back-office.js'
import { rowIn, send, tagOf } from './send.js'
import { select } from './stored.js'

interface Step {
  readonly name: string
  readonly body?: object
}

/** A resource whose rows go from state to state, as its entity file says; written out by hand. */
interface Machine {
  readonly resource: string
  /** As rejections call a row. */
  readonly singular: string
  readonly account: string
  /** Makes a row in the first state and answers its by-id path. */
  readonly make: (store: ApiStore) => Promise<string>
  /** How a row gets into each state, as rejections name it. */
  readonly ways: Readonly<Record<string, readonly Step[]>>
  readonly actions: Readonly<
    Record<string, { readonly from: readonly string[]; readonly body?: object; readonly sets: object }>
  >
}

let serial = 0

async function path(
  store: ApiStore,
  row: { readonly account: string; readonly resource: string; readonly body: object }
): Promise<string> {
  return `/${row.resource}/${String(rowIn(await created(store, row))['id'])}`
}

/** Ada's order, placed just now. */
async function placedOrder(store: ApiStore): Promise<unknown> {
  const body = { lines: [{ productId: 1, quantity: 2 }] }
  return rowIn(await created(store, { account: 'ada', resource: 'orders', body }))['id']
}

const turns = (
  resource: 'coupons' | 'suppliers' | 'warehouses',
  body: () => object,
  [on, off, property, word]: readonly [string, string, string, string]
): Machine => ({
  resource,
  singular: resource.slice(0, -1),
  account: 'clerk',
  make: (store) => path(store, { account: 'clerk', resource, body: body() }),
  ways: { [word]: [], [`not ${word}`]: [{ name: off }] },
  actions: {
    [on]: { from: [`not ${word}`], sets: { [property]: true } },
    [off]: { from: [word], sets: { [property]: false } }
  }
})

const approve = { name: 'approve' }
const MACHINES: readonly Machine[] = [
  turns('coupons', () => ({ code: `TURN-${++serial}`, percent: 5, startsAt: '2026-01-01T00:00:00Z' }), [
    'activate',
    'deactivate',
    'isActive',
    'active'
  ]),
  turns('suppliers', () => ({ name: 'S', country: 'DE' }), ['activate', 'deactivate', 'isActive', 'active']),
  turns('warehouses', () => ({ name: 'W', city: 'Köln' }), ['open', 'close', 'isOpen', 'open']),
  {
    resource: 'returns',
    singular: 'return',
    account: 'admin',
    make: (store) =>
      path(store, {
        account: 'ada',
        resource: 'returns',
        body: { orderId: 3, reason: 'Too small', lines: [{ productId: 3, quantity: 2 }] }
      }),
    ways: {
      requested: [],
      approved: [approve],
      received: [approve, { name: 'receive' }],
      refunded: [approve, { name: 'receive' }, { name: 'refund' }],
      rejected: [{ name: 'reject', body: { reason: 'Worn' } }]
    },
    actions: {
      approve: { from: ['requested'], sets: { status: 'approved' } },
      reject: { from: ['requested'], body: { reason: '' }, sets: { status: 'rejected' } },
      receive: { from: ['approved'], sets: { status: 'received' } },
      refund: { from: ['received'], sets: { status: 'refunded' } }
    }
  },
  {
    resource: 'invoices',
    singular: 'invoice',
    account: 'admin',
    make: async (store) =>
      path(store, {
        account: 'admin',
        resource: 'invoices',
        body: { orderId: await placedOrder(store), customerId: 1 }
      }),
    ways: { draft: [], issued: [{ name: 'issue' }], void: [{ name: 'void' }] },
    actions: {
      issue: { from: ['draft'], sets: { status: 'issued', issuedAt: 'now' } },
      void: { from: ['draft', 'issued'], sets: { status: 'void' } }
    }
  },
  {
    resource: 'purchase-orders',
    singular: 'purchase order',
    account: 'clerk',
    make: async (store) => {
      const supplier = { account: 'clerk', resource: 'suppliers', body: { name: 'S', country: 'DE' } }
      const supplierId = rowIn(await created(store, supplier))['id']
      const body = { supplierId, expectedAt: '2026-05-01T00:00:00Z', lines: [{ productId: 1, quantity: 1 }] }
      return path(store, { account: 'clerk', resource: 'purchase-orders', body })
    },
    ways: {
      draft: [],
      submitted: [{ name: 'submit' }],
      received: [{ name: 'submit' }, { name: 'receive-line', body: { lineId: 'own', quantity: 1 } }],
      cancelled: [{ name: 'cancel' }]
    },
    actions: {
      submit: { from: ['draft'], sets: { status: 'submitted' } },
      'receive-line': { from: ['submitted'], body: { lineId: 'own', quantity: 1 }, sets: { status: 'received' } },
      cancel: { from: ['draft', 'submitted'], body: { reason: 'Found cheaper' }, sets: { status: 'cancelled' } }
    }
  }
]

/** With the row's own first line where a body names one. */
async function bodied(store: ApiStore, row: string, { name, body }: Step): Promise<Step> {
  if (body === undefined || !('lineId' in body)) return { name, ...(body && { body }) }
  const [line] = await linesOf(store, row)
  return { name, body: { ...body, lineId: line?.['id'] } }
}

async function inState(store: ApiStore, { make, ways, account }: Machine, state: string): Promise<string> {
  const row = await make(store)
  for (const step of ways[state] ?? []) await did(store, { account, path: row }, await bodied(store, row, step))
  return row
}

describeApi(
  'actions of the back office',
  (store) => {
    for (const machine of MACHINES) {
      const { resource, singular, account, ways, actions } = machine
      describe(resource, () => {
        for (const state of Object.keys(ways)) {
          for (const [name, { from, body, sets }] of Object.entries(actions)) {
            it(`${name} of one that is ${state} is ${from.includes(state) ? 'done' : 'rejected'}`, async () => {
              const row = await inState(store, machine, state)
              const step = await bodied(store, row, { name, ...(body && { body }) })
              if (!from.includes(state)) {
                const problem = store.problem(await rejected(store, { account, path: row }, step), {
                  status: 422,
                  code: 'state.invalid'
                })
                expect(problem.detail).to.equal(
                  `The ${singular} is ${state}; ${name} needs it to be ${from.join(' or ')}.`
                )
                return
              }
              const { rowVersion: before, ...rest } = rowIn(await store.as('admin', row))
              const earliest = Date.now()
              const after = await did(store, { account, path: row }, step)
              const { issuedAt } = after
              if ('issuedAt' in sets) expect(Date.parse(String(issuedAt))).to.be.within(earliest, Date.now())
              expect(after).to.deep.equal({
                ...rest,
                ...sets,
                ...('issuedAt' in sets ? { issuedAt } : {}),
                rowVersion: after['rowVersion']
              })
              const [entry] = await select(
                store,
                'SELECT resource, row_id, action FROM ur_audit_entries ORDER BY id DESC LIMIT 1'
              )
              expect(entry).to.deep.include({ resource, row_id: row.split('/').at(-1), action: name })
              // What was known before the action is stale now, whatever the state.
              const stale = await send(store, `${account} PUT ${row}/${name}`, {
                ...(step.body && { body: step.body }),
                ifMatch: tagOf(before)
              })
              store.problem(stale, { status: 412, code: 'conflict', says: 'A data conflict occurred.' })
            })
          }
        }

        it('need the permission and a precondition', async () => {
          const row = await machine.make(store)
          const [name = ''] = Object.keys(actions)
          for (const who of ['ada', 'ben', 'nobody']) {
            const answer = await rejected(store, { account: who, path: row }, { name })
            store.problem(answer, { status: 403, code: 'capability.denied' })
          }
          store.problem(await send(store, `- PUT ${row}/${name}`), { status: 401, code: 'auth.required' })
          store.problem(await send(store, `${account} PUT ${row}/${name}`), {
            status: 428,
            code: 'precondition.required'
          })
        })
      })
    }
  },
  { on: 'sqlite' }
)
