import type { Call, Client } from '../client.js'

/** The accounts that ask, `undefined` for nobody known. */
const CALLERS = ['ada@example.com', 'ben@example.com', 'nobody@example.com', undefined] as const
/** A version that no row has. */
export const STALE = 'W/"AAAAAAAAAAA="'
/** The path of a row that there is not, for as long as a run lasts. */
const ABSENT = '2147483000'

/** A row that a customer has made. */
export interface MadeRow {
  /** `/orders/7` */
  readonly target: string
  readonly account: string
  /** Of its first version. */
  readonly etag: string
  readonly body: unknown
}

/** What owners may do with a row, which nobody else may. */
const ACTIONS: Readonly<Record<string, readonly (readonly [name: string, body: (productId: number) => object])[]>> = {
  orders: [
    ['pay', () => ({})],
    ['cancel', () => ({})],
    ['ship', () => ({ trackingCode: 'T-1' })]
  ],
  'shopping-carts': [
    ['clear', () => ({})],
    ['add-item', (productId) => ({ productId, quantity: 1 })],
    ['checkout', () => ({})]
  ],
  subscriptions: [
    ['pause', () => ({})],
    ['change-plan', () => ({ plan: 'Gold' })]
  ],
  bookmarks: [['annotate', () => ({ note: null })]]
}

/** The member that says whose a row is, and what else a row of the kind needs. */
const OWNER_MEMBERS: Readonly<Record<string, string>> = { bookmarks: 'userId' }

export function callerOf(client: Client): Pick<Call, 'account'> {
  const account = client.pick(CALLERS)
  return account === undefined ? {} : { account }
}

/** Tries, as somebody, what only the owner of the row may do. Its owner asks for a row that there is not. */
export async function trespass(
  client: Client,
  { row, productId }: { readonly row: MadeRow; readonly productId: number },
  account: string | undefined
): Promise<void> {
  const [, resource = '', id = ''] = row.target.split('/')
  const isOwner = row.account === account
  const path = isOwner || client.random() < 0.2 ? `/${resource}/${ABSENT}` : row.target
  const by = account === undefined ? {} : { account }
  // Neither the right version nor a stale one may tell that there is a row.
  const headers = { 'if-match': client.random() < 0.5 ? row.etag : STALE }
  const [action, bodyOf] = client.pick(ACTIONS[resource] ?? [])
  const number = row.account.startsWith('ada') ? 1 : 2
  const calls: readonly Call[] = [
    { method: 'PUT', target: `${path}/${action}`, headers, body: bodyOf(productId) },
    { method: 'DELETE', target: path, headers: client.random() < 0.3 ? { 'if-match': '*' } : headers },
    { target: `${path}?customerId=${number}&userId=${number}&includeChildren=true` },
    { target: `/audit-entries/paged?filters[rowId].operator=equals&filters[rowId].value=${isOwner ? ABSENT : id}` },
    // For its owner it would be a row like any other.
    ...(isOwner ? [] : [{ target: `/${resource}`, body: named(row, OWNER_MEMBERS[resource] ?? 'customerId', number) }])
  ]
  await client.send({ ...client.pick(calls), ...by })
  // Somebody else may mark the same session.
  if (resource === 'bookmarks' && !isOwner && client.random() < 0.2) {
    const { sessionId } = row.body as { readonly sessionId?: unknown }
    const note = `of-${account?.startsWith('ben') === true ? 'ben' : 'ada'}.${client.tag()}`
    const key = { 'idempotency-key': client.key() }
    await client.send({ target: '/bookmarks', headers: key, body: { sessionId, note }, ...by })
  }
}

/** What the row was made of, and whose it is to be. */
function named({ body }: MadeRow, member: string, number: number): object {
  return { ...(body as object), [member]: number }
}
