import { callApi } from './api.js'
import { ApiFailure } from './api-failure.js'
import { momentText } from './dates.js'
import { element } from './element.js'
import { euros } from './euros.js'
import { failureText } from './failure-text.js'
import { orderStatus } from './order-status.js'
import { fillPrivatePlace } from './private-place.js'
import { say } from './say.js'
import { soldThings } from './sold-things.js'
import type { Order } from './store-rows.js'
import { thingRow } from './thing-row.js'

const id = encodeURIComponent(decodeURIComponent(location.pathname.split('/').at(-1) ?? ''))
let busy = false
void show()

function show(): Promise<boolean> {
  return fillPrivatePlace(async () => {
    try {
      return await orderView(await callApi<Order>(`/orders/${id}?includeChildren=true`))
    } catch (error) {
      if (error instanceof ApiFailure && [400, 404].includes(error.status)) return [noOrder()]
      throw error
    }
  })
}

async function orderView(order: Order): Promise<readonly Node[]> {
  const { lines, number, status, total } = order
  const thingOf = await soldThings(lines)
  const rows = lines.map((line) => thingRow({ ...line, price: line.unitPrice, thing: thingOf(line) }))
  return [
    element('p', {}, element('b', {}, number), ' ', orderStatus(status)),
    element(
      'div',
      { class: 'two' },
      element('div', { class: 'card' }, element('ul', { class: 'lines' }, ...rows)),
      element(
        'aside',
        { class: 'card', 'aria-label': 'Summary' },
        element('p', { class: 'sum' }, element('span', {}, 'Total'), element('span', { class: 'price' }, euros(total))),
        milestones(order),
        element('div', { class: 'actions' }, ...actions(order))
      )
    )
  ]
}

function milestones({ placedAt, paidAt, deliveredAt, trackingCode }: Order): HTMLElement {
  const facts = [
    ['Placed', momentText(placedAt)],
    ['Paid', paidAt === null ? undefined : momentText(paidAt)],
    ['Tracking', trackingCode ?? undefined],
    ['Delivered', deliveredAt === null ? undefined : momentText(deliveredAt)]
  ] as const
  const told = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [element('dt', {}, name), element('dd', {}, value)]
  )
  return element('dl', { class: 'facts' }, ...told)
}

function actions(order: Order): HTMLElement[] {
  const { status } = order
  return [
    ...(status === 'placed' ? [actionButton(order, 'pay')] : []),
    ...(status === 'placed' || status === 'paid' ? [actionButton(order, 'cancel')] : [])
  ]
}

const ACTIONS = {
  pay: { label: 'Pay', style: 'main-button', done: 'Paid. Thank you!' },
  cancel: { label: 'Cancel the order', style: 'plain', done: 'The order is cancelled.' }
} as const

function actionButton({ rowVersion }: Order, action: keyof typeof ACTIONS): HTMLElement {
  const { label, style, done } = ACTIONS[action]
  const button = element('button', { type: 'button', class: style }, label)
  button.addEventListener('click', () => {
    if (busy) return
    busy = true
    // This is not repeated with a newer version, because the user must have seen what they pay or cancel.
    callApi(`/orders/${id}/${action}`, { method: 'PUT', body: {}, rowVersion })
      .then(
        () => done,
        (error: unknown) => failureText(error)
      )
      .then(async (message) => {
        if (await show()) say(message)
        document.getElementById('main')?.focus()
      })
      .finally(() => (busy = false))
      .catch((error: unknown) => say(failureText(error)))
  })
  return button
}

function noOrder(): HTMLElement {
  return element(
    'div',
    { class: 'empty card' },
    element('p', {}, 'There is no such order of yours.'),
    element('a', { class: 'main-button', href: '/orders' }, 'To your orders')
  )
}
