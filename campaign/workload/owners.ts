import type { Call, Client } from '../client.js'
import { Meetings } from './meetings.js'
import { callerOf, type MadeRow, STALE, trespass } from './trespass.js'
import type { Workload } from './workload.js'

const OWNERS = ['ada', 'ben'] as const
type Owner = (typeof OWNERS)[number]

/** So many rows are asked for again. */
const REMEMBERED = 60

const COLLECTIONS = [
  '/orders?includeFKs=true&includeChildren=true',
  '/orders/paged?pageSize=100&sortColumn=id&sortDirection=desc',
  '/orders/export?fields=id,customerId,trackingCode',
  '/orders/lookup',
  '/orders?search=of-',
  '/bookmarks?userId=1',
  '/bookmarks?userId=2',
  '/bookmarks/paged?pageSize=100&search=of-',
  '/bookmarks/export?fields=id,userId',
  '/bookmarks/session-ids?userId=2',
  '/subscriptions?includeFKs=true',
  '/subscriptions/paged?pageSize=50&sortColumn=plan&sortDirection=desc',
  '/subscriptions/lookup?search=of-',
  '/subscriptions/export?fields=id,customerId,plan',
  '/subscriptions?filters[plan].operator=contains&filters[plan].value=of-',
  '/shopping-carts?includeChildren=true',
  '/shopping-carts/paged?customerId=1',
  '/shopping-carts/lookup',
  '/returns?includeChildren=true',
  '/invoices/paged?includeFKs=true',
  '/tickets?includeFKs=true',
  '/customers/1?includeChildren=true',
  '/customers/2?includeChildren=true',
  '/orders/paged?customerId=2&fields=id&pageSize=100',
  '/orders?customerId=1&fields=id,number',
  '/orders/export?fields=id,number',
  '/bookmarks/paged?fields=id,sessionId&pageSize=100',
  '/bookmarks',
  '/bookmarks/session-ids?userId=1',
  '/shopping-carts/lookup?customerId=2',
  '/shopping-carts/export?fields=id,currency',
  '/shopping-carts/export?customerId=1&fields=id',
  '/subscriptions/paged?fields=id&pageSize=1',
  '/returns/paged?fields=id',
  '/invoices/lookup',
  '/invoices/export?fields=id,number',
  '/customers/paged?pageSize=3',
  '/customers/lookup',
  '/suppliers?fields=id',
  '/coupons/lookup',
  '/audit-entries/paged',
  '/audit-entries/export?fields=id,rowId'
]

const PAGES = ['/orders/paged', '/bookmarks/paged', '/subscriptions/paged', '/shopping-carts/paged', '/invoices/paged']

const LOOKUPS = COLLECTIONS.filter((target) => target.includes('/lookup'))

/** Customers who make rows that say whose they are, and everybody asks for everybody's. */
export function owners(): Workload {
  const made: MadeRow[] = []
  const meetings = new Meetings<string>()
  let productId = 0

  function creation(client: Client, owner: Owner): Call {
    const tag = `of-${owner}.${client.tag()}`
    return client.pick<Call>([
      { target: '/bookmarks', body: { sessionId: client.whole(1, 2_000_000_000), note: tag } },
      { target: '/subscriptions', body: { plan: tag, renewsAt: '2030-01-01T00:00:00.000Z' } },
      { target: '/orders', body: { trackingCode: tag, lines: [{ productId, quantity: 1 }] } },
      { target: '/shopping-carts', body: { currency: 'EUR', items: [{ productId, quantity: 1 }] } }
    ])
  }

  async function create(client: Client): Promise<void> {
    const owner = client.pick(OWNERS)
    const headers = { 'idempotency-key': client.key() }
    const call = { ...creation(client, owner), headers }
    const account = `${owner}@example.com`
    const { answer } = await client.insist({ ...call, account })
    if (answer?.status !== 201) return
    const { location = '', etag = STALE } = answer.headers
    made.push({ target: new URL(location).pathname, account, etag, body: call.body })
    // Lists would grow for as long as a run lasts, and its history with their square.
    const oldest = made.length > REMEMBERED ? made.shift() : undefined
    if (oldest !== undefined) await client.send({ method: 'DELETE', target: oldest.target, account: oldest.account })
    // The same key and the same path: whoever else sends them gets a row of their own, or none.
    const other = owner === 'ada' ? 'ben' : 'ada'
    if (client.random() < 0.3) {
      const body = bodyOf(call.target, other, client)
      await client.insist({ target: call.target, body, headers, account: `${other}@example.com` })
    }
  }

  function bodyOf(target: string, owner: Owner, client: Client): unknown {
    for (;;) {
      const { target: found, body } = creation(client, owner)
      if (found === target) return body
    }
  }

  async function meddle(client: Client): Promise<void> {
    if (made.length === 0) return
    const row = client.pick(made)
    const by = callerOf(client)
    const what = client.random()
    if (what < 0.4) {
      await trespass(client, { row, productId }, by.account)
      return
    }
    const { answer } = await client.send({ target: `${row.target}?includeFKs=true`, ...by })
    const headers = { 'if-match': answer?.headers['etag'] ?? STALE }
    const owner = by.account?.startsWith('ben') === true ? 'ben' : 'ada'
    const tag = `of-${owner}.${client.tag()}`
    if (what < 0.6) await client.send({ method: 'DELETE', target: row.target, ...by })
    else if (what < 0.8 && row.target.startsWith('/subscriptions/')) {
      await client.send({ method: 'PUT', target: `${row.target}/change-plan`, headers, body: { plan: tag }, ...by })
    } else if (what < 0.8 && row.target.startsWith('/bookmarks/')) {
      await client.send({ method: 'PUT', target: `${row.target}/annotate`, headers, body: { note: tag }, ...by })
    }
  }

  /** Whoever comes in time asks for the same at the same moment, as one of all callers. */
  async function meet(client: Client): Promise<void> {
    const by = callerOf(client)
    const target = await meetings.join(
      'reads',
      client.pick(client.random() < 0.5 ? made.map((one) => one.target) : LOOKUPS)
    )
    await client.send({ target, ...by })
  }

  /** The cursor of one caller is no key to the rows of another. */
  async function goOn(client: Client): Promise<void> {
    const target = `${client.pick(PAGES)}?pageSize=${client.whole(1, 5)}`
    const { answer } = await client.send({ target, ...callerOf(client) })
    const cursor = answer?.headers['x-next-cursor']
    if (cursor !== undefined)
      await client.send({ target: `${target}&after=${encodeURIComponent(cursor)}`, ...callerOf(client) })
  }

  return {
    name: 'owners',
    clients: 3,
    async prepare(client) {
      const body = { name: client.tag(), sku: client.tag(), categoryId: 1, price: '9.90' }
      const { answer } = await client.insist({ target: '/products', account: 'clerk@example.com', body })
      productId = Number((JSON.parse(answer?.body ?? '{}') as { readonly id?: unknown }).id)
    },
    async step(client) {
      const what = client.random()
      if (what < 0.25) await create(client)
      else if (what < 0.5) await meddle(client)
      else if (what < 0.75 && made.length > 0) await meet(client)
      else if (what < 0.8) await goOn(client)
      else await client.send({ target: client.pick(COLLECTIONS), ...callerOf(client) })
      await client.think()
    }
  }
}
