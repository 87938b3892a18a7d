import type { Call, Client } from '../client.js'
import type { Workload } from './workload.js'

const CLERK = 'clerk@example.com'
const ADMIN = 'admin@example.com'
const CUSTOMERS = { 1: 'ada@example.com', 2: 'ben@example.com' } as const
const PRODUCTS = 3
const VARIANTS = 2
/** How often somebody tries again whose version was stale. */
const MOST_TRIES = 8

/** Where stock is. */
interface Place {
  readonly product: number
  readonly variantId: number
}

interface Variant {
  readonly id: number
  readonly stock: number
  readonly rowVersion: string
}

interface Row {
  readonly id: number
  readonly rowVersion: string
  readonly status?: string
  readonly variants?: readonly Variant[]
}

/** Stock that is moved between variants, ordered by customers, and put back when they cancel. */
export function stock(): Workload {
  const products: { readonly id: number; readonly variants: readonly number[] }[] = []

  async function makeProduct(client: Client): Promise<void> {
    const keyed = () => ({ 'idempotency-key': client.key() })
    const body = { name: client.tag(), sku: client.tag(), categoryId: 1, price: '12.50' }
    const made = await client.insist({ target: '/products', account: CLERK, headers: keyed(), body })
    const { id } = rowOf(made.answer?.body)
    let etag = made.answer?.headers['etag'] ?? ''
    for (let n = 0; n < VARIANTS; n++) {
      const variant = { name: client.tag(), sku: client.tag(), price: `${n + 1}.25`, stock: 500 }
      const target = `/products/${id}/add-variant`
      const headers = { ...keyed(), 'if-match': etag }
      const { answer } = await client.insist({ method: 'PUT', target, account: CLERK, headers, body: variant })
      etag = answer?.headers['etag'] ?? ''
    }
    const { answer } = await client.insist({ target: `/products/${id}?includeChildren=true`, account: CLERK })
    products.push({ id, variants: (rowOf(answer?.body).variants ?? []).map((variant) => variant.id) })
  }

  /** Resolves with whether it was done: a rejection that is not about versions is none, and neither is an outcome that stays unknown. */
  async function adjust(client: Client, { product, variantId }: Place, delta: number): Promise<boolean> {
    for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
      const { answer } = await client.insist({ target: `/products/${product}?includeChildren=true`, account: CLERK })
      const variant = rowOf(answer?.body).variants?.find(({ id }) => id === variantId)
      if (variant === undefined) return false
      const headers = { 'if-match': answer?.headers['etag'] ?? '', 'idempotency-key': client.key() }
      const body = { variantId, delta, variantRowVersion: variant.rowVersion }
      const target = `/products/${product}/adjust-variant-stock`
      const done = await client.insist({ method: 'PUT', target, account: CLERK, headers, body })
      if (done.answer?.status !== 412) return done.answer?.status === 200
      await client.think()
    }
    return false
  }

  function place(client: Client): Place {
    const { id, variants } = client.pick(products)
    return { product: id, variantId: client.pick(variants) }
  }

  /** Two halves; where the second is rejected, the first is taken back. */
  async function move(client: Client): Promise<void> {
    const [from, to] = [place(client), place(client)]
    const count = client.whole(1, 5)
    // What orders take for good is bought anew.
    if (client.random() < 0.1) await adjust(client, from, client.whole(20, 60))
    if (!(await adjust(client, from, -count))) return
    if (await adjust(client, to, count)) return
    await adjust(client, from, count)
  }

  function lines(client: Client): { productId: number; variantId: number; quantity: number }[] {
    return [client.pick(products), client.pick(products)]
      .filter((product, n, all) => all.indexOf(product) === n)
      .map(({ id, variants }) => ({ productId: id, variantId: client.pick(variants), quantity: client.whole(1, 4) }))
  }

  async function act(client: Client, account: string, path: string): Promise<void> {
    const target = path.slice(0, path.lastIndexOf('/'))
    const { answer } = await client.insist({ target: `${target}?includeChildren=true`, account })
    const headers = { 'if-match': answer?.headers['etag'] ?? '', 'idempotency-key': client.key() }
    if (answer?.status === 200) await client.insist({ method: 'PUT', target: path, account, headers, body: {} })
  }

  async function order(client: Client, owner: 1 | 2): Promise<void> {
    const account = CUSTOMERS[owner]
    const headers = { 'idempotency-key': client.key() }
    const { answer } = await client.insist({ target: '/orders', account, headers, body: { lines: lines(client) } })
    if (answer?.status !== 201) return
    const { id } = rowOf(answer.body)
    const target = `/orders/${id}`
    if (client.random() < 0.3) await invoice(client, { orderId: id, customerId: owner })
    if (client.random() < 0.4) await act(client, account, `${target}/pay`)
    const end = client.random()
    if (end < 0.5) await act(client, account, `${target}/cancel`)
    else if (end < 0.65) await client.insist({ method: 'DELETE', target, account })
    else await client.send({ target: `${target}?includeChildren=true`, account })
  }

  async function invoice(client: Client, body: Call['body']): Promise<void> {
    const call = { target: '/invoices', account: ADMIN, headers: { 'idempotency-key': client.key() }, body }
    await client.insist(call)
  }

  async function checkOut(client: Client, owner: 1 | 2): Promise<void> {
    const account = CUSTOMERS[owner]
    const headers = { 'idempotency-key': client.key() }
    const body = { currency: 'EUR', items: lines(client) }
    const { answer } = await client.insist({ target: '/shopping-carts', account, headers, body })
    if (answer?.status !== 201) return
    const target = `/shopping-carts/${rowOf(answer.body).id}`
    await act(client, account, `${target}/checkout`)
    // Without a key nothing but the cart's own state keeps it from becoming a second order.
    if (client.random() < 0.5) await act(client, account, `${target}/checkout`)
  }

  return {
    name: 'stock',
    clients: 3,
    async prepare(client) {
      for (let n = 0; n < PRODUCTS; n++) await makeProduct(client)
    },
    async step(client) {
      const what = client.random()
      const owner = client.random() < 0.5 ? 1 : 2
      if (what < 0.35) await move(client)
      else if (what < 0.75) await order(client, owner)
      else await checkOut(client, owner)
      await client.think()
    }
  }
}

function rowOf(body: string | undefined): Row {
  return JSON.parse(body ?? '{}') as Row
}
