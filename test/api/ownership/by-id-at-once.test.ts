import { expect } from 'chai'
import type { ApiStore } from '../api-store.js'
import { describeApi } from '../api-store.js'
import { type Answer, json } from '../http-call.js'
import { describeLogged } from '../statement-log.js'
import { rowIn, send } from '../writes/send.js'

const OWNERS = ['ada', 'ben'] as const
const OF_EACH = 6

interface Order {
  readonly id: number
  readonly owner: (typeof OWNERS)[number]
}

async function placeOrders(store: ApiStore): Promise<Order[]> {
  const orders: Order[] = []
  for (const owner of OWNERS) {
    for (let count = 0; count < OF_EACH; count++) {
      const body = { lines: [{ productId: 1, quantity: 1 }] }
      const created = await send(store, `${owner} POST /orders`, { body })
      expect(created.status, created.text).to.equal(201)
      orders.push({ id: Number(rowIn(created)['id']), owner })
    }
  }
  return orders
}

/** Everybody asks for every order at the same time. */
async function askAtOnce(
  store: ApiStore,
  orders: readonly Order[],
  query = ''
): Promise<readonly { readonly caller: string; readonly order: Order; readonly answer: Answer }[]> {
  const asking = orders.flatMap((order) =>
    [...OWNERS, 'admin'].map(async (caller) => {
      const answer = await store.as(caller, `/orders/${order.id}${query}`)
      return { caller, order, answer }
    })
  )
  return Promise.all(asking)
}

describeApi('rows by id that several owners ask for at the same time', (store) => {
  let orders: Order[]
  before(async () => {
    orders = await placeOrders(store)
  })

  for (const query of ['', '?fields=id,customerId', '?includeFKs=true&includeChildren=true']) {
    it(`are shown to their owner and the bypass role, and to nobody else, with ${query || 'no parameters'}`, async () => {
      for (let round = 0; round < 5; round++) {
        for (const { caller, order, answer } of await askAtOnce(store, orders, query)) {
          const isTheirs = caller === 'admin' || caller === order.owner
          expect([caller, order, answer.status]).to.deep.equal([caller, order, isTheirs ? 200 : 404])
          if (!isTheirs) store.problem(answer, { status: 404, code: 'not-found' })
          else expect(json(answer)).to.include({ id: order.id, customerId: OWNERS.indexOf(order.owner) + 1 })
        }
      }
    })
  }
})

describeLogged('the statements of rows by id that several owners ask for at the same time', (store, during) => {
  let orders: Order[]
  before(async () => {
    orders = await placeOrders(store)
  })

  it('read rows of both owners, each with its owner beside its key', async () => {
    const pairsOf = ({ text }: { readonly text: string }): string[] =>
      Array.from(
        text.matchAll(/`id` = (?:CAST\()?'?(\d+)'?[^=]*`customer_id` = (?:CAST\()?'?(\d+)/g),
        ([, id, owner]) => [id, owner].join(' of ')
      )
    const ownersIn = (line: { readonly text: string }): number =>
      new Set(pairsOf(line).map((pair) => pair.split(' of ')[1])).size
    const reads: { readonly text: string }[] = []
    // Reads are gathered that arrive in one tick: requests that are sent together need not be so every time.
    for (let asked = 0; asked < 20 && !reads.some((line) => ownersIn(line) === 2); asked++) {
      const lines = await during(() => askAtOnce(store, orders))
      reads.push(
        ...lines.filter(
          ({ command, text }) => command === 'Execute' && text.includes('`orders`.`id` =') && text.includes('IFNULL(')
        )
      )
    }
    expect(Math.max(0, ...reads.map(ownersIn))).to.equal(2)
    for (const line of reads) {
      const pairs = new Set(pairsOf(line))
      const ids = [...pairs].map((pair) => pair.split(' of ')[0])
      // No row is read for two owners by one statement.
      expect(ids).to.deep.equal([...new Set(ids)])
    }
  })
})
