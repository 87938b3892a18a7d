import { expect } from 'chai'
import { DeliveredInOrder } from '../../../campaign/checkers/writes/deliveries.js'
import type { Delivery, Injury } from '../../../campaign/history.js'
import { entry } from './written-history.js'

/** The n-th delivery of a history: an event of an order, which is taken where the test does not say otherwise. */
interface Arrived extends Partial<Delivery> {
  readonly event: string
  readonly row?: string
}

const bodyOf = (type: string, rowId: string): string =>
  JSON.stringify({ type, timestamp: '2026-01-31T08:00:00.000Z', data: { resource: 'orders', rowId, payload: {} } })

/** `id` of an event is its type and its row unless the test says another one. */
function delivery({ event, row = '7', ...more }: Arrived, n: number): Delivery {
  const times = { at: 10 * n, answeredAt: 10 * n + 5 }
  const sent = { id: `${event} ${row}`, timestamp: '1', isSigned: true, body: bodyOf(event, row) }
  const lost = 'status' in more && more.status === undefined
  return { ...sent, ...times, ...(lost ? {} : { status: 204 }), ...more }
}

async function found(
  arrived: readonly Arrived[],
  trail: ReturnType<typeof entry>[],
  injuries: readonly Injury[] = []
): Promise<string> {
  const checker = new DeliveredInOrder()
  for (const [n, one] of arrived.entries()) checker.deliver(delivery(one, n))
  for (const injury of injuries) checker.hurt(injury)
  const { violations } = await checker.judge(() => Promise.resolve(trail))
  return violations.map(({ what }) => what).join('\n')
}

const trail = [
  entry('orders/7', 'create', 'r-1'),
  entry('orders/8', 'create', 'r-2'),
  entry('orders/7', 'pay', 'r-3'),
  entry('orders/8', 'delete', 'r-4'),
  entry('orders/7', 'cancel', 'r-5')
]
const story: readonly Arrived[] = [
  { event: 'order-placed', status: 500 },
  { event: 'order-placed', row: '8' },
  { event: 'order-placed' },
  { event: 'order-paid' },
  { event: 'order-placed' },
  { event: 'order-cancelled' }
]

describe('checker of deliveries', () => {
  it('finds nothing where each event was taken, some more than once, in the order of the writes of their row', async () => {
    expect(await found(story, trail)).to.equal('')
  })

  it('finds nothing where a database that died has forgotten the write of an event, and its row came again', async () => {
    const again = [{ event: 'order-placed', id: 'forgotten' }, ...story]
    const death: Injury = { fault: 'database killed', from: 2, until: 4 }
    expect(await found(again, trail, [death])).to.equal('')
    expect(await found([...story, { event: 'order-placed', row: '9' }], trail, [{ ...death, until: 99 }])).to.equal('')
    expect(await found(again, trail)).to.match(/order-placed of orders\/7 has come as forgotten and as order-placed 7/)
  })

  const without = (event: string): readonly Arrived[] => story.filter((one) => one.event !== event)
  const bad: readonly (readonly [what: string, arrived: readonly Arrived[], says: RegExp])[] = [
    [
      'an event that never came',
      without('order-cancelled'),
      /order-cancelled of orders\/7 has never been delivered, which r-5/
    ],
    [
      'an event that was never taken',
      [...without('order-paid'), { event: 'order-paid', status: 500 }],
      /order-paid of orders\/7 has never been taken/
    ],
    [
      'one whose only connection ended before the answer',
      [...without('order-paid'), { event: 'order-paid', status: undefined } as unknown as Arrived],
      /order-paid of orders\/7 has never been taken/
    ],
    [
      'a later event of a row that was taken first',
      [...without('order-paid').slice(0, 1), { event: 'order-paid' }, ...without('order-paid').slice(1)],
      /order-paid of orders\/7 was taken before order-placed of orders\/7/
    ],
    [
      'another id at a later attempt',
      [...story, { event: 'order-paid', id: 'other' }],
      /order-paid of orders\/7 has come as order-paid 7 and as other/
    ],
    [
      'another body at a later attempt',
      [...story, { event: 'order-paid', body: bodyOf('order-paid', '9') }],
      /The event order-paid 7 was delivered as .*"7".* and as .*"9"/
    ],
    [
      'an event of a write that never was',
      [...story, { event: 'order-paid', row: '8' }],
      /order-paid of orders\/8 was delivered, and there was no such write/
    ],
    ['what is no event', [...story, { event: 'x', body: 'x' }], /x was delivered, and there was no such write/],
    [
      'a delivery that is not signed',
      [...story, { event: 'order-paid', isSigned: false }],
      /A delivery of the event order-paid 7 has no valid signature/
    ]
  ]
  for (const [what, arrived, says] of bad) {
    it(`finds ${what}`, async () => {
      expect(await found(arrived, trail)).to.match(says)
    })
  }
})
