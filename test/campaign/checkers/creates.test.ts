import { expect } from 'chai'
import { CreatedOnce } from '../../../campaign/checkers/writes/creates.js'
import type { Injury } from '../../../campaign/history.js'
import { entry, violationsOf, type Written } from './written-history.js'

const CLERK = 'clerk@example.com'
const ADMIN = 'admin@example.com'
const keyed = { 'idempotency-key': 'k-1' }
const replayed = { 'idempotent-replayed': 'true' }

const tag = (version: string): string => `W/"${version}"`

/** A speaker as an answer shows it: `creates-0.<id>`. */
const speaker = (id: number) => ({ id, name: `creates-0.${id}`, eventId: 3, rowVersion: `v-${id}` })
const at = (id: number) => ({ location: `http://gateway/speakers/${id}`, etag: tag(`v-${id}`) })
const bodyOf = (id: number) => ({ name: `creates-0.${id}`, eventId: 3 })

const create: Written = {
  id: 'r-1',
  account: CLERK,
  call: 'POST /speakers',
  headers: keyed,
  body: bodyOf(1),
  status: 201,
  answer: speaker(1),
  got: at(1)
}
const { status: _, ...lost } = create
const replay: Written = { ...create, id: 'r-2', got: { ...at(1), ...replayed } }
const turned: Written = { ...replay, body: { eventId: 3, name: 'creates-0.1' } }
const reused: Written = {
  ...create,
  id: 'r-3',
  body: bodyOf(2),
  status: 422,
  answer: { code: 'idempotency.key.reused' },
  got: {}
}
const ofAnother: Written = { ...create, id: 'r-4', account: ADMIN, body: bodyOf(3), answer: speaker(3), got: at(3) }

/** Speakers that are left, each with the request by which it came. */
function left(made: Readonly<Record<number, string>>) {
  const ids = Object.keys(made).map(Number)
  return {
    speakers: ids.map((id) => ({ id, name: `creates-0.${id}`, times: 1 })),
    ur_audit_entries: ids.map((id) => entry(`speakers/${id}`, 'create', made[id] ?? ''))
  }
}
const one = left({ 1: 'r-1' })

describe('checker of keys', () => {
  it('accepts replays, a reused key, another caller and a lost answer', async () => {
    const rows = left({ 1: 'r-1', 3: 'r-4' })
    expect(await violationsOf(new CreatedOnce(), [create, replay, turned, reused, ofAnother], rows)).to.deep.equal([])
    expect(await violationsOf(new CreatedOnce(), [lost, replay, replay], one)).to.deep.equal([])
    expect(await violationsOf(new CreatedOnce(), [create, { ...ofAnother, status: 503 }], one)).to.be.empty
  })

  const { location: _location, ...untold } = at(1)
  const { etag: _etag, ...untagged } = at(1)
  const bad: readonly (readonly [string, readonly Written[], RegExp])[] = [
    [
      'a new key that is called used',
      [create, { ...ofAnother, status: 422, answer: { code: 'idempotency.key.reused' }, got: {} }],
      /its key was used before/
    ],
    ['a replay with another body', [create, { ...replay, answer: { ...speaker(1), id: 2 } }], /differs/],
    ['a replay with another tag', [create, { ...replay, got: { ...at(1), ...replayed, etag: tag('x') } }], /differs/],
    ['a replay that does not say so', [create, { ...create, id: 'r-2' }], /done again/],
    ['a first answer that says it is a replay', [replay], /of nothing/],
    ['a retry that is rejected', [create, { ...replay, status: 422, got: {} }], /differs/],
    ['a retry in another order that is rejected', [create, { ...turned, status: 422, got: {} }], /differs/],
    ['a conflict as a replay', [create, { ...replay, status: 409, answer: { code: 'conflict' }, got: {} }], /differs/],
    [
      'a reused key that is told of a state',
      [create, { ...reused, answer: { code: 'state.invalid' } }],
      /another body/
    ],
    ['a reused key that creates', [create, { ...reused, status: 201 }], /another body/],
    ['an answer without Location', [{ ...create, got: untold }], /has the Location ""/],
    ['a relative Location', [{ ...create, got: { ...at(1), location: '/speakers/1' } }], /has the Location/],
    ['the Location of another row', [{ ...create, got: { ...at(2), etag: tag('v-1') } }], /has the Location/],
    ['an answer without ETag', [{ ...create, got: untagged }], /has the ETag undefined/],
    ['the ETag of another version', [{ ...create, got: { ...at(1), etag: tag('v-2') } }], /has the ETag/],
    ['an answer with the row of another', [{ ...create, answer: { ...speaker(1), eventId: 4 } }], /is shown 4/],
    ['an answer with fewer members', [{ ...create, answer: { id: 1, rowVersion: 'v-1' } }], /is shown undefined/],
    [
      'an answer with half a batch',
      [{ ...create, call: 'POST /speakers/batch', body: [bodyOf(1), bodyOf(2)], answer: [speaker(1)] }],
      /asked for 2 rows/
    ]
  ]
  for (const [what, history, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new CreatedOnce(), history, one)).join()).to.match(expected)
    })
  }

  it('finds a key that stays in flight where nothing is broken', async () => {
    const held = (sentAt: number): Written => ({
      ...create,
      id: 'r-0',
      status: 409,
      answer: { code: 'idempotency.in-flight' },
      at: [sentAt, sentAt + 2000]
    })
    const injury: Injury = { fault: 'SIGSTOP of data-service-0', from: 1000, until: 5000 }
    const during = [held(2000), create, injury]
    expect(await violationsOf(new CreatedOnce(), during, one)).to.deep.equal([])
    const after = [held(15_001), create, injury]
    expect(await violationsOf(new CreatedOnce(), after, one)).to.deep.equal([
      'r-0 is told that its key is in flight, while nothing was broken.'
    ])
    const elsewhere = { ...injury, fault: 'key vault rotated', touches: [] }
    expect(await violationsOf(new CreatedOnce(), [held(2000), create, elsewhere], one)).to.have.length(1)
    // A gateway without time has given up, and the data service has not.
    const late: Written = { ...lost, id: 'r-9', status: 504, at: [14_000, 15_000] }
    const { status: _late, ...cut } = late
    for (const unknown of [late, cut])
      expect(await violationsOf(new CreatedOnce(), [unknown, held(15_001), create], one)).to.deep.equal([])
    const settled: Written = { ...late, status: 422, answer: {} }
    expect(await violationsOf(new CreatedOnce(), [late, settled, held(15_001), create], one)).to.have.length(1)
    expect(await violationsOf(new CreatedOnce(), [late, held(75_001), create], one)).to.have.length(1)
    const ofAnotherKey = { ...late, headers: { 'idempotency-key': 'k-2' } }
    expect(await violationsOf(new CreatedOnce(), [ofAnotherKey, held(15_001), create], one)).to.have.length(1)
  })
})

describe('checker of created rows', () => {
  const venue = (id: number): Written => ({
    id: `v-${id}`,
    account: CLERK,
    call: 'POST /venues',
    headers: { 'idempotency-key': `venue-${id}` },
    body: { name: `x ${id}` },
    status: 201,
    answer: { id, name: `x ${id}`, rowVersion: 'A' },
    got: { location: `http://gateway/venues/${id}`, etag: tag('A') }
  })
  const { status: _status, ...lostVenue } = venue(8)
  const gone: Written = { id: 'd-8', account: CLERK, call: 'DELETE /venues/8', status: 204 }
  const { status: _gone, ...lostDelete } = gone
  const trail = (...entries: readonly (readonly [row: number, action: string, id: string])[]) =>
    entries.map(([row, action, id]) => entry(`venues/${row}`, action, id))
  const both = trail([7, 'create', 'v-7'], [8, 'create', 'v-8'])
  const tables = (ur_audit_entries: readonly object[], ...ids: readonly number[]) =>
    ({ ur_audit_entries, venues: ids.map((id) => ({ id })) }) as Parameters<typeof violationsOf>[2]

  it('accepts rows, what is deleted, what nobody was told of, and rows from before', async () => {
    const underWay: Written = { ...venue(8), status: 409, answer: { code: 'idempotency.in-flight' }, got: {} }
    const injury: Injury = { fault: 'SIGSTOP of data-service-0', from: 0 }
    const good: readonly (readonly [readonly (Written | Injury)[], Parameters<typeof violationsOf>[2]])[] = [
      [[venue(7), venue(8)], tables(both, 1, 2, 7, 8)],
      [[venue(7), lostVenue], tables(both, 7, 8)],
      // A COMMIT without an answer, after which the work is begun again, may have been done.
      [[venue(7), underWay, injury], tables(both, 7, 8)],
      [[venue(7), lostVenue], tables(trail([7, 'create', 'v-7']), 7)],
      [[venue(7), venue(8), gone], tables([...both, ...trail([8, 'delete', 'd-8'])], 7)],
      [[venue(7), venue(8), lostDelete], tables([...both, ...trail([8, 'delete', 'd-8'])], 7)],
      [[venue(7), venue(8), lostDelete], tables(both, 7, 8)]
    ]
    for (const [history, rows] of good) expect(await violationsOf(new CreatedOnce(), history, rows)).to.deep.equal([])
  })

  it('leaves imports to their checker: one that is sent again counts other rows', async () => {
    const file: Written = {
      workload: 'imports',
      call: 'POST /suppliers/import',
      headers: { 'idempotency-key': 'file' },
      body: 'not JSON',
      status: 200,
      answer: { created: 2 }
    }
    const replayed = { ...file, answer: { created: 0, replayed: 2 }, got: { 'idempotent-replayed': 'true' } }
    expect(await violationsOf(new CreatedOnce(), [create, file, replayed], one)).to.deep.equal([])
  })

  const again: Written = { ...venue(8), id: 'v-9', headers: { 'idempotency-key': 'venue-8' } }
  const rejected: Written = { ...venue(9), status: 403, answer: {}, got: {} }
  const batch: Written = { ...lostVenue, call: 'POST /venues/batch', body: [{ name: 'a' }, { name: 'b' }] }
  const bad: readonly (readonly [string, readonly Written[], Parameters<typeof violationsOf>[2], RegExp])[] = [
    [
      'an acknowledged row that is lost',
      [venue(7), venue(8)],
      tables(both, 7),
      /venues\/8 was created by v-8 and is gone/
    ],
    [
      'an acknowledged row that never was',
      [venue(7), venue(8)],
      tables(trail([7, 'create', 'v-7']), 7),
      /v-8 was acknowledged and has no audit entry/
    ],
    [
      'a row without an audit entry',
      [venue(7), venue(8)],
      tables(trail([7, 'create', 'v-7']), 7, 8),
      /venues\/8 is there, and has no audit entry/
    ],
    [
      'a second row of one request',
      [venue(7)],
      tables(trail([7, 'create', 'v-7'], [8, 'create', 'v-7']), 7, 8),
      /asked for 1 rows and has made 2/
    ],
    [
      'a second row of one key',
      [venue(7), lostVenue, again],
      tables([...both, ...trail([9, 'create', 'v-9'])], 7, 8, 9),
      /v-8 and v-9 have both created rows for one key/
    ],
    [
      'another row than the answer shows',
      [venue(7)],
      tables(trail([8, 'create', 'v-7']), 8),
      /answered with venues\/7/
    ],
    ['a row that nobody asked for', [venue(7)], tables(both, 7, 8), /created by v-8, which has not asked for it/],
    [
      'a row of a rejected create',
      [venue(7), rejected],
      tables(trail([7, 'create', 'v-7'], [9, 'create', 'v-9']), 7, 9),
      /v-9 was rejected/
    ],
    ['half a batch', [venue(7), batch], tables(both, 7, 8), /v-8 asked for 2 rows and has made 1/],
    [
      'a delete that did nothing',
      [venue(7), venue(8), gone],
      tables(both, 7, 8),
      /d-8 has deleted venues\/8 and has 0/
    ],
    [
      'a deleted row that is there',
      [venue(7), venue(8), gone],
      tables([...both, ...trail([8, 'delete', 'd-8'])], 7, 8),
      /was deleted by d-8 and is there/
    ],
    [
      'a rejected delete that happened',
      [venue(7), venue(8), { ...gone, status: 403 }],
      tables([...both, ...trail([8, 'delete', 'd-8'])], 7),
      /d-8 was rejected/
    ],
    [
      'a delete of another row than was asked for',
      [venue(7), venue(8), gone],
      tables([...both, ...trail([7, 'delete', 'd-8'])], 8),
      /venues\/7 was deleted by d-8, which has not/
    ],
    [
      'a row that came twice',
      [venue(7)],
      tables(trail([7, 'create', 'v-7'], [7, 'create', 'v-7']), 7),
      /two audit entries of a create/
    ]
  ]
  for (const [what, history, rows, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new CreatedOnce(), history, rows)).join('\n')).to.match(expected)
    })
  }

  /** A subscription of Ada, and what Ben or nobody known has sent for it or for the venues without an answer. */
  const subscribed: Written = {
    id: 's-1',
    account: 'ada@example.com',
    call: 'POST /subscriptions',
    headers: keyed,
    body: { plan: 'Gold' },
    status: 201,
    answer: { id: 5, plan: 'Gold', rowVersion: 'A' },
    got: { location: 'http://gateway/subscriptions/5', etag: tag('A') }
  }
  const subscription = entry('subscriptions/5', 'create', 's-1')
  const changed: Written = { id: 'x-1', call: 'PUT /subscriptions/5/change-plan', body: { plan: 'Silver' } }
  const removed: Written = { id: 'x-1', call: 'DELETE /subscriptions/5' }
  const trespasses: readonly (readonly [string, Written, readonly object[], readonly object[]])[] = [
    [
      'an action by another owner',
      { ...changed, account: 'ben@example.com' },
      [entry('subscriptions/5', 'change-plan', 'x-1')],
      [{ id: 5 }]
    ],
    [
      'an action by nobody known, told 503',
      { ...changed, status: 503 },
      [entry('subscriptions/5', 'change-plan', 'x-1')],
      [{ id: 5 }]
    ],
    [
      'a delete by another owner',
      { ...removed, account: 'ben@example.com' },
      [entry('subscriptions/5', 'delete', 'x-1')],
      []
    ],
    [
      'a create without the permission',
      { ...lostVenue, id: 'x-1', account: 'ada@example.com' },
      [entry('venues/8', 'create', 'x-1')],
      [{ id: 5 }]
    ],
    [
      'a row for another owner',
      { ...subscribed, id: 'x-1', body: { plan: 'Gold', customerId: 2 }, status: 503 },
      [entry('subscriptions/6', 'create', 'x-1')],
      [{ id: 5 }, { id: 6 }]
    ]
  ]
  for (const [what, sent, entries, subscriptions] of trespasses) {
    it(`finds ${what}, which nobody was told of`, async () => {
      const rows = (found: readonly object[], venues: readonly object[]) =>
        ({ ur_audit_entries: [subscription, ...found], subscriptions, venues }) as Parameters<typeof violationsOf>[2]
      const found = await violationsOf(new CreatedOnce(), [subscribed, sent], rows(entries, [{ id: 8 }]))
      expect(found.join('\n')).to.match(/x-1 (of ben@example.com )?has written/)
    })
  }

  it('accepts what the owner and the administrator have written, and trespasses that were not done', async () => {
    const subscriptions = [{ id: 5 }]
    for (const account of ['ada@example.com', 'admin@example.com']) {
      const ur_audit_entries = [subscription, entry('subscriptions/5', 'change-plan', 'x-1')]
      const history = [subscribed, { ...changed, account }]
      expect(await violationsOf(new CreatedOnce(), history, { subscriptions, ur_audit_entries })).to.deep.equal([])
    }
    const history = [subscribed, { ...changed, account: 'ben@example.com' }]
    expect(
      await violationsOf(new CreatedOnce(), history, { subscriptions, ur_audit_entries: [subscription] })
    ).to.deep.equal([])
  })

  it('knows which rows with a Guid were there before', async () => {
    const [sample, made, stray] = [
      '00000000-0000-4000-8000-00000000000e',
      'f6868e74-8ce8-4188-bbaf-955cea7e3cec',
      '06868e74-8ce8-4188-bbaf-955cea7e3cec'
    ]
    const warehouse: Written = {
      ...venue(7),
      call: 'POST /warehouses',
      answer: { id: made, name: 'x 7', rowVersion: 'A' },
      got: { location: `http://gateway/warehouses/${made}`, etag: tag('A') }
    }
    const rows = (...ids: readonly string[]) => ({
      ur_audit_entries: [{ ...entry('warehouses/0', 'create', 'v-7'), row_id: made }],
      warehouses: ids.map((id) => ({ id }))
    })
    expect(await violationsOf(new CreatedOnce(), [warehouse], rows(sample, made))).to.deep.equal([])
    expect(await violationsOf(new CreatedOnce(), [warehouse], rows(sample, made, stray))).to.deep.equal([
      `warehouses/${stray} is there, and has no audit entry of a create.`
    ])
  })

  it('finds two orders of one checkout', async () => {
    const checkout: Written = {
      id: 'c-1',
      account: 'ada@example.com',
      call: 'PUT /shopping-carts/3/checkout',
      headers: keyed,
      body: {},
      status: 200,
      answer: { id: 3 }
    }
    const orders = [{ id: 5 }, { id: 6 }]
    const entries = orders.map(({ id }) => entry(`orders/${id}`, 'create', 'c-1'))
    const rows = (count: number) => ({ orders: orders.slice(0, count), ur_audit_entries: entries.slice(0, count) })
    expect(await violationsOf(new CreatedOnce(), [checkout], rows(1))).to.deep.equal([])
    expect(await violationsOf(new CreatedOnce(), [checkout], rows(0))).to.deep.equal([
      'c-1 was acknowledged and has no audit entry of a create.'
    ])
    expect((await violationsOf(new CreatedOnce(), [checkout], rows(2))).join()).to.match(
      /asked for 1 rows and has made 2/
    )
  })
})

describe('checker of the names of speakers', () => {
  const names = (...found: readonly (readonly [string, number])[]) => ({
    ...one,
    speakers: found.map(([name, times], n) => ({ id: n + 1, name, times }))
  })

  const bad: readonly (readonly [string, readonly Written[], ReturnType<typeof names>, RegExp])[] = [
    ['a create that is gone', [create], names(), /acknowledged and does not exist/],
    [
      'a row that nobody asked for',
      [create],
      names(['creates-0.1', 1], ['creates-0.9', 1]),
      /Nobody asked for creates-0.9/
    ],
    [
      'a rejected create that happened',
      [create, reused],
      names(['creates-0.1', 1], ['creates-0.2', 1]),
      /was rejected and exists/
    ],
    ['a row that exists twice', [create], names(['creates-0.1', 2]), /exists 2 times/],
    [
      'half a batch',
      [create, { ...lost, id: 'r-5', call: 'POST /speakers/batch', body: [bodyOf(5), bodyOf(6)] }],
      names(['creates-0.1', 1], ['creates-0.5', 1]),
      /Some rows of the batch/
    ]
  ]
  for (const [what, history, rows, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new CreatedOnce(), history, rows)).join()).to.match(expected)
    })
  }
})
