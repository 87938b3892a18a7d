import { expect } from 'chai'
import { FreshReads } from '../../../campaign/checkers/reads/reads.js'
import type { Injury } from '../../../campaign/history.js'
import { born, gone, lostUpdate, read, tag, update, venue, version } from './counted-venue.js'
import { violationsOf, type Written } from './written-history.js'

const replayed = { 'idempotent-replayed': 'true' }

describe('checker of reads', () => {
  const list = (items: readonly unknown[]): Written => ({ call: 'GET /venues', status: 200, answer: items })
  const lookup = (n: number): Written => ({
    call: 'GET /venues/lookup',
    status: 200,
    answer: { items: [{ id: 7, name: venue(n).name }] }
  })
  const PAGED = 'GET /venues/paged?filters[name].operator=starts%20with&filters[name].value=counters-'
  const exported = (n: number, more: Partial<Written> = {}): Written => ({
    call: 'GET /venues/export',
    status: 200,
    answer: `id,name,capacity\r\n7,${venue(n).name},${n}\r\n`,
    ...more
  })
  const missing: Written = { call: 'GET /venues/7', status: 404, answer: {} }

  const there = { venues: [{ id: 7 }] }
  const violations = (story: readonly (Written | Injury)[], rows = there) => violationsOf(new FreshReads(), story, rows)
  const killed: Injury = { fault: 'database killed, node 1', from: 32, until: 50 }
  const { status: _, ...lostDelete } = gone

  it('accepts what was acknowledged, what is newer, and what was under way', async () => {
    const story = [born, read(0), list([venue(0)]), update(0), read(1), list([venue(1)]), lookup(1), read(2)]
    expect(await violations(story)).to.deep.equal([])
    const early = read(0, { at: [30, 99] })
    expect(await violations([born, read(0), list([venue(0)]), update(0), early])).to.deep.equal([])
    expect(await violations([born, read(0), gone, missing, list([])], { venues: [] })).to.deep.equal([])
    const unasked = { ...list([]), call: `${PAGED}&after=x`, got: { 'x-previous-cursor': 'y' } }
    expect(await violations([born, read(0), unasked])).to.deep.equal([])
    const replay: Written = { ...update(0), got: { etag: tag(1), ...replayed } }
    expect(await violations([born, read(0), update(0), update(1), replay, read(2)])).to.deep.equal([])
  })

  it('accepts what overlaps, and what a database has forgotten that died', async () => {
    for (const story of [
      // A read that began before the other one had ended.
      [born, read(0), read(2, { at: [30, 39] }), read(1, { at: [35, 40] })],
      [born, read(0), exported(2, { at: [30, 39] }), read(1, { at: [35, 40] })],
      // The database dies after it was told to: what was read until then may be forgotten.
      [born, read(0), read(2), read(1, { at: [60, 65] }), killed],
      [born, read(0), read(2, { at: [33, 34] }), read(1, { at: [60, 65] }), killed],
      [born, read(0), lostDelete, missing, read(0, { at: [60, 65] }), killed]
    ] as const) {
      expect(await violations(story)).to.deep.equal([])
    }
    const going = [{ ...lostDelete, at: [11, 19] }, { ...missing, at: [12, 20] }, read(0, { at: [13, 40] })] as const
    expect(await violations([born, ...going], { venues: [] })).to.deep.equal([])
    const stranger = { ...venue(0), id: 9 }
    const created: Written = { call: 'POST /venues', body: { name: stranger.name } }
    const lasting = [born, created, list([venue(0), stranger]), list([venue(0), stranger])]
    expect(await violations(lasting, { venues: [{ id: 7 }, { id: 9 }] })).to.deep.equal([])
    // A page of the first rows by id says nothing of those after it.
    const first = { ...list([{ id: 3, name: 'counters-0.9 #0' }]), call: `${PAGED}&pageSize=1` }
    const third: Written = { call: 'POST /venues', body: { name: 'counters-0.9 #0' } }
    const page = { ...first, got: { 'x-next-cursor': 'c' } }
    expect(await violations([born, third, read(0), page], { venues: [{ id: 3 }, { id: 7 }] })).to.deep.equal([])
  })

  const bad: readonly (readonly [string, readonly Written[], RegExp])[] = [
    ['a stale row', [born, read(0), update(0), read(0)], /count 0; 1 had been/],
    ['a stale row of a list', [born, read(0), update(0), list([venue(0)])], /count 0; 1 had been/],
    ['a stale row of a lookup', [born, read(0), update(0), lookup(0)], /count 0; 1 had been/],
    ['a row that a list leaves out', [born, read(0), list([])], /does not show venues\/7/],
    ['a row that is not found', [born, read(0), missing], /does not show venues\/7/],
    ['a deleted row', [born, read(0), gone, read(0)], /had been deleted/],
    ['a row that is denied', [born, read(0), { ...missing, status: 403 }], /does not show venues\/7/],
    ['a row that a whole page leaves out', [born, read(0), { ...list([]), call: PAGED }], /does not show venues\/7/],
    [
      'a row between those of a page',
      [
        born,
        read(0),
        {
          ...list([3, 9].map((id) => ({ ...venue(0), id }))),
          call: `${PAGED}&pageSize=2`,
          got: { 'x-next-cursor': 'c' }
        }
      ],
      /does not show venues\/7/
    ],
    [
      'a version that is seen no more, of which nobody was told',
      [born, read(0), lostUpdate, read(2), read(1)],
      /count 1; r-4 had shown 2/
    ],
    ['a list behind a read', [born, read(0), lostUpdate, read(2), list([venue(1)])], /count 1; r-4 had shown 2/],
    ['an export behind a read', [born, read(0), lostUpdate, read(2), exported(1)], /count 1; r-4 had shown 2/],
    ['a read behind an export', [born, read(0), lostUpdate, exported(2), read(1)], /count 1; r-4 had shown 2/],
    ['a row that is there again', [born, read(0), lostDelete, missing, read(0)], /r-4 had been told that it is gone/],
    [
      'a row that is there again after a second delete found none',
      [born, read(0), lostDelete, { ...gone, status: 404 }, read(0)],
      /r-4 had been told that it is gone/
    ],
    ['a row that is gone and there in the end', [born, read(0), lostDelete, missing], /is there in the end; r-4/],
    [
      'a row that nobody was told of and that a later list lacks',
      [born, list([venue(0), { ...venue(0), id: 9 }]), list([venue(0)])],
      /does not show venues\/9/
    ],
    [
      'a row that was shown and is not there in the end',
      [born, list([venue(0), { ...venue(0), id: 9 }])],
      /venues\/9 is not there in the end, though r-2/
    ],
    [
      'a row that nobody has asked for',
      [born, list([venue(0), { ...venue(0), id: 8, name: 'counters-9.1 #0' }])],
      /nobody has asked/
    ]
  ]
  for (const [what, history, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violations(history)).join('\n')).to.match(expected)
    })
  }
})

describe('checker of reads of rows that have an owner', () => {
  const ADA = 'ada@example.com'
  const row = (n: number, more: object = {}) => ({
    id: 5,
    customerId: 1,
    status: n === 0 ? 'placed' : 'paid',
    rowVersion: version(n),
    ...more
  })
  const as = (call: string, status: number, answer: unknown, more: Partial<Written> = {}): Written => ({
    workload: 'owners',
    account: ADA,
    call,
    status,
    answer,
    ...more
  })
  const made = as('POST /orders', 201, row(0))
  const pay = as('PUT /orders/5/pay', 200, row(1), { headers: { 'if-match': tag(0) } })
  const { status: _, answer: __, ...lostPay } = pay
  const deleted = as('DELETE /orders/5', 204, undefined)
  const one = (n: number, more: object = {}) => as('GET /orders/5', 200, row(n, more))
  const all = (...items: readonly unknown[]) => as('GET /orders', 200, items)
  const none = as('GET /orders/5', 404, {})
  const csv = (...ids: readonly number[]) =>
    as('GET /orders/export?fields=id', 200, ['id', ...ids].map((line) => `${line}\r\n`).join(''), {
      got: { 'x-export-row-limit': '700' }
    })
  const violations = (story: readonly (Written | Injury)[], rows = { orders: [{ id: 5 }] }) =>
    violationsOf(new FreshReads(), story, rows)

  it('accepts each version in its turn, and rows that go', async () => {
    const other = { account: 'ben@example.com' }
    for (const [story, left] of [
      [[made, one(0), all(row(0)), csv(5), pay, one(1), all(row(1))], [5]],
      [[made, one(0), lostPay, one(0), one(1)], [5]],
      [[made, one(0), { ...none, ...other }, { ...all(), ...other }, { ...csv(), ...other }], [5]],
      [[made, one(0), deleted, none, all(), csv()], []],
      [[made, one(0), { ...deleted, ...other, status: 404 }, one(0)], [5]],
      // The answer of before, and a read that began before the update.
      [[made, pay, { ...made, got: { 'idempotent-replayed': 'true' } }, one(1)], [5]],
      [[made, pay, { ...one(0), at: [12, 40] }], [5]],
      // A filter of which the judge knows nothing, and rows of somebody else.
      [
        [
          made,
          one(0),
          { ...all(), call: 'GET /orders/paged?search=of-' },
          { ...all(), call: 'GET /orders?customerId=2' }
        ],
        [5]
      ]
    ] as const) {
      expect(await violations(story, { orders: left.map((id) => ({ id })) })).to.deep.equal([])
    }
    const killed = { fault: 'database killed', from: 22, until: 40 }
    const old: Written = { ...one(0), at: [50, 55] }
    // The version that was forgotten comes again, with another row.
    const again: Written = { ...one(1, { status: 'cancelled' }), at: [60, 65] }
    for (const story of [[old], [again], [old, again]] as const) {
      expect(await violations([made, lostPay, one(1), ...story, killed])).to.deep.equal([])
    }
    expect((await violations([made, lostPay, one(1), again])).join()).to.match(/the status "cancelled", and r-3/)
  })

  it('finds what comes back after a database has long written it, whatever dies then', async () => {
    const late = (written: Written): Written => ({ ...written, at: [80_000, 80_010] })
    const killed = { fault: 'database killed', from: 70_000, until: 71_000 }
    expect((await violations([made, lostPay, one(1), late(one(0)), killed])).join()).to.match(/had shown another one/)
    expect((await violations([made, one(0), late(none), killed], { orders: [] })).join()).to.match(/does not show/)
    const sixth = { ...one(0, { id: 6 }), call: 'GET /orders/6' }
    const story = [{ ...made, answer: row(0, { id: 6 }) }, sixth, one(0), late(none), killed]
    expect((await violations(story, { orders: [{ id: 6 }] })).join()).to.match(
      /r-4 does not show orders\/5, which nobody had deleted/
    )
  })

  it('accepts that a row is made with the id of one that was forgotten', async () => {
    const other: Written = { ...made, account: 'ben@example.com', answer: row(0, { customerId: 2 }), at: [50, 55] }
    const { status: _none, answer: _nothing, ...lostMade } = made
    const killed = { fault: 'database killed', from: 22, until: 40 }
    const replay: Written = { ...made, got: { 'idempotent-replayed': 'true' } }
    expect(await violations([lostMade, one(0), replay, one(0)])).to.deep.equal([])
    const story = [lostMade, one(0), other, { ...none, at: [60, 65] }] as const
    expect(
      await violations([...story, { ...one(0, { customerId: 2 }), account: 'ben@example.com', at: [70, 75] }, killed])
    ).to.deep.equal([])
    expect(
      (await violations([...story, { ...one(0, { customerId: 2 }), account: 'ben@example.com', at: [70, 75] }])).join()
    ).to.match(/has made orders\/5, which r-2 had shown before/)
  })

  const bad: readonly (readonly [string, readonly Written[], RegExp])[] = [
    ['a status of before a payment', [made, pay, one(0)], /which the acknowledged update r-2 had replaced/],
    ['an old version in a list', [made, pay, all(row(0))], /which the acknowledged update r-2 had replaced/],
    ['another status of one version', [made, pay, one(1, { status: 'placed' })], /the status "placed", and r-2/],
    ['a version that comes back', [made, one(0), lostPay, one(1), one(0)], /r-4 had shown another one after it/],
    ['a row that its owner does not find', [made, none], /does not show orders\/5/],
    ['a row that its owner is denied', [made, { ...none, status: 403 }], /does not show orders\/5/],
    ['a row that a list lacks', [made, all()], /does not show orders\/5/],
    ['a row that an export lacks', [made, csv()], /does not show orders\/5/],
    ['a row that a lookup lacks', [made, as('GET /orders/lookup', 200, { items: [] })], /does not show orders\/5/],
    ['a deleted row', [made, deleted, one(0)], /which had been deleted/],
    ['a deleted row of an export', [made, deleted, csv(5)], /which had been deleted/]
  ]
  for (const [what, history, expected] of bad) {
    it(`finds ${what}`, async () => {
      // The row is shown once, so that something was tried.
      const [first, ...rest] = history
      if (first === undefined) throw new Error('A history has a beginning')
      const tried = one(0)
      expect((await violations([first, { ...tried, at: [6, 9] }, ...rest.map(shifted)])).join('\n')).to.match(expected)
    })
  }

  /** With the number that it has without the exchange before it. */
  function shifted(written: Written, n: number): Written {
    return { id: `r-${n + 2}`, ...written }
  }
})
