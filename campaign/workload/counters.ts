import type { Client } from '../client.js'
import type { Exchange } from '../history.js'
import { Meetings } from './meetings.js'
import type { Workload } from './workload.js'

const CLERK = 'clerk@example.com'
/** Rows that all clients write, few enough that they collide. */
const VENUES = 6
const STOCK_ITEMS = 4
/** A version that no row ever has. */
const NO_VERSION = 'W/"//////////8="'
/** Pages of a walk at most: far more than there are venues. */
const MOST_PAGES = 60
/** Venues that stay, of those that come and go. */
const MOST_LEFT = 40

interface Row {
  readonly id: number | string
  readonly name?: string
  readonly capacity?: number
}

/** Rows that count their own updates: each one reads a number, adds one and writes it back, guarded by the version it read. */
export function counters(): Workload {
  const venues: string[] = []
  const stockItems: string[] = []
  /** Venues that their makers have left, the oldest first. */
  const left: string[] = []
  const meetings = new Meetings<undefined>()
  const filters = { venues: 'filters[name].operator=starts%20with&filters[name].value=counters-', stock: '' }

  async function createVenue(client: Client): Promise<string | undefined> {
    const { answer } = await client.insist({
      target: '/venues',
      account: CLERK,
      headers: { 'idempotency-key': client.key() },
      body: { name: `${client.tag()} #0`, city: 'Aarhus', capacity: 0 }
    })
    return answer?.status === 201 ? `/venues/${parse(answer.body).id}` : undefined
  }

  /** One more, by the whole row or by the member alone. */
  async function raiseVenue(client: Client, target: string): Promise<Exchange | undefined> {
    const { answer } = await client.send({ target })
    if (answer?.status !== 200) return undefined
    const { name = '', capacity = 0 } = parse(answer.body)
    const isKnown = client.random() < 0.97
    const headers = { 'if-match': isKnown ? (answer.headers['etag'] ?? '') : NO_VERSION }
    const body = { name: name.replace(/#\d+$/, `#${capacity + 1}`), capacity: capacity + 1 }
    // Of several who have read one version, one may write.
    if (client.random() < 0.5) await meetings.join(target, undefined)
    else await client.think()
    if (client.random() < 0.5) return client.send({ method: 'PATCH', target, account: CLERK, headers, body })
    return client.send({ method: 'PUT', target, account: CLERK, headers, body: { ...body, city: 'Aarhus' } })
  }

  /** One more, by an action with a key, which may be sent again. */
  async function raiseStockItem(client: Client, target: string): Promise<void> {
    const { answer } = await client.send({ target, account: CLERK })
    if (answer?.status !== 200) return
    const headers = { 'if-match': answer.headers['etag'] ?? '', 'idempotency-key': client.key() }
    await client.think()
    const call = { method: 'PUT', target: `${target}/adjust`, account: CLERK, headers, body: { delta: 1 } } as const
    await client.insist(call)
    if (client.random() < 0.1) await client.send(call)
  }

  /** Comes, is written a few times, and goes. */
  async function live(client: Client): Promise<void> {
    const target = await createVenue(client)
    if (target === undefined) return
    let last: Exchange | undefined
    for (let n = client.whole(0, 2); n > 0; n--) last = await raiseVenue(client, target)
    const etag = last?.answer?.headers['etag']
    const headers = etag === undefined || client.random() < 0.5 ? {} : { 'if-match': etag }
    if (client.random() < 0.95) await client.insist({ method: 'DELETE', target, account: CLERK, headers })
    else left.push(target)
    await client.send({ target })
    // Lists would grow for as long as a run lasts, and its history with their square.
    const oldest = left.length > MOST_LEFT ? left.shift() : undefined
    if (oldest !== undefined) await client.insist({ method: 'DELETE', target: oldest, account: CLERK })
  }

  /** All venues, a few at a time, while others come and go; some then back again. */
  async function walk(client: Client): Promise<void> {
    const sorting = client.pick(['', '&sortColumn=city&sortDirection=desc', '&sortColumn=id&sortDirection=desc'])
    const query = `/venues/paged?${filters.venues}&pageSize=${client.whole(4, 12)}${sorting}`
    let target: string | undefined = query
    let previous: string | undefined
    for (const [way, header] of [
      ['after', 'x-next-cursor'],
      ['before', 'x-previous-cursor']
    ] as const) {
      for (let n = 0; target !== undefined && n < MOST_PAGES; n++) {
        const { answer } = await client.insist({ target, account: CLERK })
        if (answer?.status !== 200) return
        const next = answer.headers[header]
        previous = answer.headers['x-previous-cursor']
        target = next === undefined ? undefined : `${query}&${way}=${encodeURIComponent(next)}`
      }
      if (previous === undefined || client.random() < 0.5) return
      target = `${query}&before=${encodeURIComponent(previous)}`
    }
  }

  async function read(client: Client): Promise<void> {
    const targets = [
      client.pick(venues),
      `/venues?${filters.venues}`,
      `/venues/paged?${filters.venues}&pageSize=500&sortColumn=capacity&sortDirection=desc`,
      '/venues/lookup?search=counters-',
      client.pick(stockItems),
      `/stock-items?${filters.stock}`
    ]
    const target = client.pick(targets)
    // Nobody is told that nothing has changed.
    const headers = /\d$/.test(target) && client.random() < 0.2 ? { 'if-none-match': '*' } : {}
    await client.send({ target, account: CLERK, headers })
  }

  return {
    name: 'counters',
    clients: 5,
    async prepare(client) {
      for (let n = 0; n < VENUES; n++) venues.push((await createVenue(client)) ?? '')
      const { answer } = await client.insist({
        target: '/warehouses',
        account: CLERK,
        body: { name: client.tag(), city: 'Aarhus' }
      })
      const warehouseId = parse(answer?.body).id
      filters.stock = `filters[warehouseId].operator=equals&filters[warehouseId].value=${warehouseId}`
      for (let n = 1; n <= STOCK_ITEMS; n++) {
        const headers = { 'idempotency-key': client.key() }
        const body = { warehouseId, productId: n, onHand: 0 }
        const created = await client.insist({ target: '/stock-items', account: CLERK, headers, body })
        stockItems.push(`/stock-items/${parse(created.answer?.body).id}`)
      }
    },
    async step(client) {
      const what = client.random()
      if (what < 0.25) await raiseVenue(client, client.pick(venues))
      else if (what < 0.4) await raiseStockItem(client, client.pick(stockItems))
      else if (what < 0.5) await live(client)
      else if (what < 0.53) await walk(client)
      // Most reads follow a write of the same client, through whichever gateway.
      await read(client)
      await client.think()
    }
  }
}

function parse(body: string | undefined): Row {
  return JSON.parse(body ?? '{}') as Row
}
