import { callApi } from './api.js'
import { customerId } from './customer-id.js'
import { dayText } from './dates.js'
import { element } from './element.js'
import { euros } from './euros.js'
import { orderStatus } from './order-status.js'
import { fillPrivatePlace, noCustomer } from './private-place.js'
import { queryText } from './query-text.js'
import type { Order } from './store-rows.js'

const PAGE_SIZE = 20
const list = element('ul', { class: 'orders' })
const more = element('button', { type: 'button', hidden: true }, 'Older orders')
let page = 0

void fillPrivatePlace(async () => {
  const customer = await customerId()
  if (customer === undefined) return [noCustomer()]
  await showMore(customer)
  more.addEventListener('click', () => void fillPrivatePlace(() => showMore(customer)))
  return list.children.length === 0 ? [noOrders()] : [list, more]
})

async function showMore(customer: number): Promise<readonly Node[]> {
  page += 1
  const query = queryText([['customerId', 'equals', String(customer)]], {
    sortColumn: 'placedAt',
    sortDirection: 'desc',
    pageSize: String(PAGE_SIZE),
    pageNumber: String(page),
    includeTotal: 'false'
  })
  const orders = await callApi<Order[]>(`/orders/paged?${query}`)
  const rows = orders.map(orderRow)
  list.append(...rows)
  more.hidden = orders.length < PAGE_SIZE
  // The keyboard focus moves to the first of the new orders.
  if (page > 1) queueMicrotask(() => rows[0]?.querySelector('a')?.focus())
  return [list, more]
}

function orderRow({ id, number, status, total, placedAt }: Order): HTMLLIElement {
  return element(
    'li',
    {},
    element(
      'a',
      { href: `/orders/${id}` },
      element('b', {}, number),
      element('span', { class: 'price' }, euros(total)),
      element('span', { class: 'quiet' }, dayText(placedAt)),
      orderStatus(status)
    )
  )
}

function noOrders(): HTMLElement {
  return element(
    'div',
    { class: 'empty card' },
    element('p', {}, 'You have not ordered anything yet.'),
    element('a', { class: 'main-button', href: '/products' }, 'Look around')
  )
}
