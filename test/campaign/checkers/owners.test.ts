import { expect } from 'chai'
import { OwnRowsOnly } from '../../../campaign/checkers/callers/owners.js'
import { violationsOf, type Written } from './written-history.js'

const CLERK = 'clerk@example.com'
const ADA = 'ada@example.com'
const BEN = 'ben@example.com'

describe('checker of owners', () => {
  const create: Written = {
    account: ADA,
    call: 'POST /bookmarks',
    body: { sessionId: 7 },
    status: 201,
    answer: { id: 5, userId: 1, note: 'of-ada.x-1' },
    got: { location: 'http://gateway/bookmarks/5' }
  }
  const shown = (account: string | undefined, answer: unknown, call = 'GET /orders'): Written => ({
    ...(account === undefined ? {} : { account }),
    call,
    status: 200,
    answer
  })

  const problem = (
    account: string | undefined,
    call: string,
    [status, code]: readonly [number, string],
    members: object = { detail: 'No.' }
  ): Written => ({
    ...(account === undefined ? {} : { account }),
    call,
    ...(call.startsWith('PUT') ? { body: {} } : {}),
    status,
    answer: { type: `http://gateway/problems/${code}`, status, code, ...members },
    got: status === 401 ? { 'www-authenticate': 'Bearer' } : {}
  })
  const paged = (account: string, rows: number, total: number): Written => ({
    ...shown(
      account,
      Array.from({ length: rows }, (_, n) => ({ id: n })),
      'GET /orders/paged'
    ),
    got: { 'x-total-count': String(total), 'x-pagination': JSON.stringify({ totalCount: total, pageSize: 10 }) }
  })

  it('accepts own rows, those that the administrator sees, and what the caller has written itself', async () => {
    const own = shown(ADA, [{ id: 5, customerId: 1, note: 'of-ada.x-1' }])
    const all = shown('admin@example.com', [{ customerId: 2, note: 'of-ben.x-1' }])
    const echo: Written = { account: BEN, call: 'GET /orders?search=of-ada.x-1', status: 200, answer: 'of-ada.x-1' }
    const cut = shown(ADA, 'id,customerId\r\n9,1\r\n# export truncated at 1 rows,\r\n', 'GET /orders/export')
    expect(await violationsOf(new OwnRowsOnly(), [create, own, all, echo, cut])).to.deep.equal([])
  })

  it('accepts that a forgotten row leaves its id to another owner', async () => {
    const killed = { fault: 'database killed', from: 22, until: 40 }
    const other: Written = {
      ...create,
      account: BEN,
      answer: { id: 6, userId: 2 },
      got: { location: 'http://gateway/bookmarks/6' },
      at: [50, 55]
    }
    const denied = { ...problem(ADA, 'PUT /bookmarks/6/annotate', [404, 'not-found']), at: [60, 65] } as const
    const story = [create, shown(ADA, [{ id: 6 }], 'GET /bookmarks/paged?fields=id'), other, denied]
    expect(await violationsOf(new OwnRowsOnly(), [...story, killed])).to.deep.equal([])
    expect(await violationsOf(new OwnRowsOnly(), story)).to.deep.equal([
      'ben@example.com has been given /bookmarks/6, which is of ada@example.com.'
    ])
  })

  it('reads what it can of an answer whose headers are none', async () => {
    const relative = { ...create, got: { location: '/bookmarks/6' } }
    const page = { ...paged(ADA, 1, 1), got: { 'x-total-count': '1', 'x-pagination': 'null' } }
    expect(await violationsOf(new OwnRowsOnly(), [create, relative, page])).to.deep.equal([])
  })

  it('accepts the rejections of the contract, and counts that grow meanwhile', async () => {
    const good: readonly Written[] = [
      problem(BEN, 'PUT /bookmarks/5/annotate', [404, 'not-found']),
      problem(BEN, 'DELETE /bookmarks/5', [503, 'upstream.unavailable']),
      problem(ADA, 'PUT /bookmarks/5/annotate', [412, 'conflict']),
      problem('nobody@example.com', 'DELETE /bookmarks/5', [403, 'ownership.denied']),
      problem(undefined, 'DELETE /bookmarks/5', [401, 'auth.required']),
      problem(BEN, 'GET /shopping-carts/6?customerId=1', [403, 'ownership.denied']),
      problem(BEN, 'GET /customers/1', [403, 'ownership.denied']),
      problem(BEN, 'GET /suppliers', [403, 'capability.denied']),
      problem(CLERK, 'GET /orders', [403, 'ownership.denied']),
      shown(CLERK, [], 'GET /suppliers'),
      shown(undefined, [], 'GET /venues'),
      shown(BEN, [], 'GET /orders?customerId=1'),
      shown(ADA, [7], 'GET /bookmarks/session-ids?userId=1'),
      paged(ADA, 9, 12),
      paged(ADA, 10, 100),
      { ...create, call: 'POST /orders', answer: {}, got: { location: 'http://gateway/orders/50' } },
      paged(ADA, 10, 101)
    ]
    expect(await violationsOf(new OwnRowsOnly(), [create, ...good])).to.deep.equal([])
  })

  const bad: readonly (readonly [string, Written, RegExp])[] = [
    ['a tag in a list', shown(BEN, [{ note: 'of-ada.x-1' }]), /is shown of-ada/],
    ['a tag for nobody known', shown(undefined, 'x of-ada.x-1'), /unknown caller is shown/],
    ['a tag in a header', { ...shown(BEN, []), got: { link: '</x?of-ada.x-1>' } }, /is shown of-ada/],
    ['a tag in a problem document', { ...shown(BEN, 'of-ada.x-1'), status: 422 }, /is shown of-ada/],
    ['a row without a tag', shown(BEN, [{ id: 9, customerId: 1 }]), /a row of customer 1/],
    ['a row of an export', shown(BEN, 'id,customerId\r\n9,1\r\n', 'GET /orders/export'), /a row of customer 1/],
    [
      'a row of a cut export',
      shown(BEN, 'id,customerId\r\n9,1\r\n# x,\r\n', 'GET /orders/export'),
      /a row of customer 1/
    ],
    [
      'a row of a lookup',
      shown(BEN, { items: [{ id: 5, name: 'EUR' }] }, 'GET /bookmarks/lookup'),
      /bookmarks\/5, which is/
    ],
    ['a customer', shown(BEN, { id: 1, name: 'Ada' }, 'GET /customers/1'), /a row of customer 1/],
    ['a foreign row that was found', shown(BEN, {}, 'GET /bookmarks/5'), /which is of ada/],
    ['a foreign row that was deleted', { account: BEN, call: 'DELETE /bookmarks/5', status: 204 }, /which is of ada/],
    ["the replay of another's create", { ...create, account: BEN, answer: {} }, /has been given/],
    [
      'an id without an owner in a list',
      shown(BEN, [{ id: 5 }], 'GET /bookmarks/paged?fields=id'),
      /given \/bookmarks\/5/
    ],
    ['an id of an export', shown(BEN, 'id\r\n5\r\n', 'GET /bookmarks/export?fields=id'), /given \/bookmarks\/5/],
    ['a session of a bookmark', shown(BEN, [7, 8], 'GET /bookmarks/session-ids?userId=2'), /session 7 of customer 1/],
    [
      'an included customer',
      shown(BEN, [{ id: 9, customer: { id: 1 } }], 'GET /returns?includeFKs=true'),
      /row of customer 1/
    ],
    [
      'an owner in a problem document',
      problem(BEN, 'PUT /bookmarks/5/annotate', [404, 'not-found'], { detail: 'x', userId: 1 }),
      /row of customer 1/
    ],
    [
      'a number in a problem document',
      problem(BEN, 'DELETE /bookmarks/5', [404, 'not-found'], { detail: 'It is of customer 1.' }),
      /is told 1/
    ],
    [
      'a version in a rejection',
      { ...problem(BEN, 'DELETE /bookmarks/5', [404, 'not-found']), got: { etag: 'W/"AA=="' } },
      /404 with W/
    ],
    [
      'a conflict that tells of a foreign row',
      problem(BEN, 'PUT /bookmarks/5/annotate', [412, 'conflict']),
      /got 412 for .* and not 404 not-found/
    ],
    ['a state that tells of a foreign row', problem(BEN, 'DELETE /bookmarks/5', [422, 'state.invalid']), /got 422/],
    [
      'a foreign row that is forbidden, not hidden',
      problem(BEN, 'GET /bookmarks/5', [403, 'ownership.denied']),
      /got 403/
    ],
    ['an empty list for nobody known', shown(undefined, []), /got 200 for GET \/orders and not 401 auth.required/],
    ['an empty list for a caller without an owner', shown('nobody@example.com', []), /not 403 ownership.denied/],
    [
      'a 401 without a challenge',
      { ...problem(undefined, 'GET /orders', [401, 'auth.required']), got: {} },
      /without WWW-Authenticate/
    ],
    ['an empty list of another owner', shown(BEN, [], 'GET /bookmarks?userId=1'), /not 403 ownership.denied/],
    ['bookmarks without an owner', shown(BEN, [], 'GET /bookmarks'), /not 403 ownership.denied/],
    ['carts of another owner', shown(BEN, [], 'GET /shopping-carts/export?customerId=1'), /not 403 ownership.denied/],
    [
      'a create for another owner',
      { ...create, account: BEN, body: { userId: 1 }, answer: {}, got: {} },
      /not 403 ownership.denied/
    ],
    ['the audit trail', shown(ADA, [], 'GET /audit-entries/paged'), /not 403 capability.denied/],
    ['suppliers', shown(ADA, [], 'GET /suppliers'), /not 403 capability.denied/],
    ['a list of customers', shown(ADA, [], 'GET /customers/paged'), /not 403 capability.denied/],
    [
      'an action of the staff',
      { account: ADA, call: 'PUT /orders/4/ship', status: 200, answer: {} },
      /not 403 capability.denied/
    ],
    ['the customer of another', shown(ADA, {}, 'GET /customers/2'), /not 403 ownership.denied/],
    [
      'another code',
      problem('nobody@example.com', 'GET /orders', [403, 'capability.denied']),
      /not 403 ownership.denied/
    ],
    ['an owner who is denied', problem(ADA, 'GET /orders', [403, 'ownership.denied']), /is denied GET \/orders/],
    ['a count of all', paged(ADA, 1, 12), /told of 12 orders .* shown 1/],
    ['a count of more than there can be', paged(ADA, 10, 101), /and has 100 at most/]
  ]
  for (const [what, written, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new OwnRowsOnly(), [create, written])).join('\n')).to.match(expected)
    })
  }

  it('finds a number that two owners are shown', async () => {
    const order = (account: string): Written => shown(account, [{ number: 'O-C4J86GE1V9E7' }])
    expect(await violationsOf(new OwnRowsOnly(), [create, order(ADA), order(ADA)])).to.deep.equal([])
    const known = [create, order(ADA)]
    const told = { ...problem(BEN, 'DELETE /orders/4', [422, 'state.invalid']), got: { link: '<O-C4J86GE1V9E7>' } }
    expect((await violationsOf(new OwnRowsOnly(), [...known, order(BEN)])).join()).to.match(/O-C4J86GE1V9E7/)
    expect((await violationsOf(new OwnRowsOnly(), [...known, told])).join()).to.match(/O-C4J86GE1V9E7/)
  })

  it('finds rows of two lists that are the same', async () => {
    const lists = [ADA, BEN].map((account) => shown(account, { items: [{ id: 9 }] }, 'GET /invoices/lookup'))
    expect((await violationsOf(new OwnRowsOnly(), [create, ...lists])).join()).to.match(/invoices\/9, which is of ada/)
    // Those of a cart are no carts.
    const carts = [ADA, BEN].map((account, n) =>
      shown(account, { id: n, items: [{ id: 9 }] }, `GET /shopping-carts/${n}`)
    )
    expect(await violationsOf(new OwnRowsOnly(), [create, ...carts])).to.deep.equal([])
  })

  it('compares what is said of a foreign row with what is said of none', async () => {
    const absent = problem(BEN, 'DELETE /bookmarks/2147483000', [404, 'not-found'], { detail: 'There is none.' })
    const foreign = problem(BEN, 'DELETE /bookmarks/5', [404, 'not-found'], { detail: 'There is none.' })
    expect(await violationsOf(new OwnRowsOnly(), [create, foreign, absent])).to.deep.equal([])
    const another = problem(BEN, 'DELETE /bookmarks/5', [404, 'not-found'], { detail: 'You cannot have it.' })
    expect((await violationsOf(new OwnRowsOnly(), [create, another, absent])).join()).to.match(/says .*cannot have it/)
    const marked = { ...foreign, got: { 'x-row': 'hidden' } }
    expect((await violationsOf(new OwnRowsOnly(), [create, absent, marked])).join()).to.match(/with .*x-row/)
  })
})
