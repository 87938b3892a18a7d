import { expect } from 'chai'
import { AllowedAnswers } from '../../campaign/checkers/answers.js'
import { OneMoment } from '../../campaign/checkers/exports.js'
import { OwnRowsOnly } from '../../campaign/checkers/owners.js'
import { FreshReads } from '../../campaign/checkers/reads.js'
import { OneChain } from '../../campaign/checkers/versions.js'
import { entry, violationsOf, type Written } from './written-history.js'

const CLERK = 'clerk@example.com'
const ADA = 'ada@example.com'
const BEN = 'ben@example.com'
const keyed = { 'idempotency-key': 'k-1' }
const replayed = { 'idempotent-replayed': 'true' }

/** Version n of a row, and its tag. */
const version = (n: number): string => Buffer.from([0, 0, 0, 0, 0, 0, 0, n]).toString('base64')
const tag = (n: number): string => `W/"${version(n)}"`

/** A venue that was created and updated once, by `r-3`. */
const venue = (n: number) => ({ id: 7, name: `counters-0.1 #${n}`, capacity: n, rowVersion: version(n) })
const born: Written = { call: 'POST /venues', headers: keyed, body: {}, status: 201, answer: venue(0) }
const read = (n: number, more: Partial<Written> = {}): Written => ({
  call: 'GET /venues/7',
  status: 200,
  answer: venue(n),
  ...more
})
const update = (from: number, more: Partial<Written> = {}): Written => ({
  call: 'PUT /venues/7',
  headers: { 'if-match': tag(from) },
  body: {},
  status: 200,
  answer: venue(from + 1),
  got: { etag: tag(from + 1) },
  ...more
})
const { status: _status, ...lostUpdate } = update(1)
const gone: Written = { call: 'DELETE /venues/7', status: 204 }

describe('checker of versions', () => {
  const story = [born, read(0), update(0), lostUpdate]
  const created = entry('venues/7', 'create', 'r-1')
  const updated = entry('venues/7', 'update', 'r-3')
  const left = (n: number) => [{ id: 7, value: n, version: Buffer.from(version(n), 'base64').toString('hex') }]

  it('accepts a chain, with an update of unknown outcome or without, and a delete', async () => {
    const short = { ur_audit_entries: [created, updated], venues: left(1) }
    expect(await violationsOf(new OneChain(), story, short)).to.deep.equal([])
    const long = { ur_audit_entries: [created, updated, entry('venues/7', 'update', 'r-4')], venues: left(2) }
    expect(await violationsOf(new OneChain(), story, long)).to.deep.equal([])
    const over = { ur_audit_entries: [created, updated, entry('venues/7', 'delete', 'r-4')], venues: [] }
    expect(await violationsOf(new OneChain(), [born, read(0), update(0), gone], over)).to.deep.equal([])
  })

  const rejected = { status: 412, answer: {} }
  const bad: readonly (readonly [string, readonly Written[], readonly object[], readonly object[], RegExp])[] = [
    ['a lost update', story, [created, updated], left(0), /ends with the count 0/],
    ['an update without an audit entry', story, [created], left(1), /has no audit entry/],
    ['an update that happened twice', story, [created, updated, updated], left(2), /happened 2 times/],
    ['a stray audit entry', story, [created, updated, entry('venues/7', 'update', 'x')], left(2), /never sent/],
    [
      'a rejection that happened',
      [born, read(0), update(0), update(1, rejected)],
      [updated, entry('venues/7', 'update', 'r-4')],
      left(2),
      /was rejected/
    ],
    ['two updates of one version', [...story, update(0)], [created, updated], left(1), /Two updates left/],
    [
      'an answer that skips a version',
      [born, read(0), update(0, { answer: venue(2) })],
      [updated],
      left(1),
      /led from/
    ],
    [
      'a version with two texts',
      [...story, read(1, { answer: { ...venue(1), city: 'X' } })],
      [updated],
      left(1),
      /is shown as/
    ],
    [
      'a version with two counts',
      [...story, read(1, { answer: { ...venue(1), capacity: 5 } })],
      [updated],
      left(1),
      /go together/
    ],
    [
      'another version in the end',
      story,
      [created, updated],
      [{ id: 7, value: 1, version: 'FF' }],
      /ends with the version/
    ],
    ['a row that vanished', story, [created, updated], [], /is gone/],
    [
      'a deleted row that is there',
      [...story, gone],
      [updated, entry('venues/7', 'delete', 'r-5')],
      left(1),
      /still there/
    ]
  ]
  for (const [what, history, ur_audit_entries, venues, expected] of bad) {
    it(`finds ${what}`, async () => {
      const rows = { ur_audit_entries, venues } as Parameters<typeof violationsOf>[2]
      expect((await violationsOf(new OneChain(), history, rows)).join('\n')).to.match(expected)
    })
  }
})

describe('checker of reads', () => {
  const list = (items: readonly unknown[]): Written => ({ call: 'GET /venues', status: 200, answer: items })
  const lookup = (n: number): Written => ({
    call: 'GET /venues/lookup',
    status: 200,
    answer: { items: [{ id: 7, name: venue(n).name }] }
  })
  const missing: Written = { call: 'GET /venues/7', status: 404, answer: {} }

  it('accepts what was acknowledged, what is newer, and what was under way', async () => {
    const story = [born, read(0), list([venue(0)]), update(0), read(1), list([venue(1)]), lookup(1), read(2)]
    expect(await violationsOf(new FreshReads(), story)).to.deep.equal([])
    const early = read(0, { at: [30, 99] })
    expect(await violationsOf(new FreshReads(), [born, read(0), list([venue(0)]), update(0), early])).to.deep.equal([])
    expect(await violationsOf(new FreshReads(), [born, read(0), gone, missing, list([])])).to.deep.equal([])
    const replay: Written = { ...update(0), got: { etag: tag(1), ...replayed } }
    expect(await violationsOf(new FreshReads(), [born, read(0), update(0), update(1), replay, read(2)])).to.deep.equal(
      []
    )
  })

  const bad: readonly (readonly [string, readonly Written[], RegExp])[] = [
    ['a stale row', [born, read(0), update(0), read(0)], /count 0; 1 had been/],
    ['a stale row of a list', [born, read(0), update(0), list([venue(0)])], /count 0; 1 had been/],
    ['a stale row of a lookup', [born, read(0), update(0), lookup(0)], /count 0; 1 had been/],
    ['a row that a list leaves out', [born, read(0), list([])], /does not show venues\/7/],
    ['a row that is not found', [born, read(0), missing], /does not show venues\/7/],
    ['a deleted row', [born, read(0), gone, read(0)], /had been deleted/]
  ]
  for (const [what, history, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new FreshReads(), history)).join('\n')).to.match(expected)
    })
  }
})

describe('checker of exports', () => {
  const csv = (...lines: readonly string[]): string => lines.map((line) => `${line}\r\n`).join('')
  const other = { id: 8, name: 'counters-0.2 #0', capacity: 0, rowVersion: version(100) }
  const bornToo: Written = { ...born, headers: { 'idempotency-key': 'k-2' }, answer: other }
  const updateToo: Written = {
    ...update(0),
    call: 'PUT /venues/8',
    headers: { 'if-match': tag(100) },
    answer: { ...other, capacity: 1, rowVersion: version(101) },
    got: { etag: tag(101) }
  }
  const exported = (at: readonly [number, number], ...rows: readonly string[]): Written => ({
    call: 'GET /venues/export',
    status: 200,
    answer: csv('id,name,capacity', ...rows),
    got: { 'x-export-row-limit': '4' },
    at
  })
  // 7 has been written from 20 to 25, and after that 8 from 30 to 35.
  const story = [born, bornToo, update(0), updateToo]

  it('accepts each moment, and rows that came while it ran', async () => {
    for (const rows of [
      ['7,x,0', '8,x,0'],
      ['7,x,1', '8,x,0'],
      ['7,x,1', '8,x,1']
    ]) {
      expect(await violationsOf(new OneMoment(), [...story, exported([16, 50], ...rows)])).to.deep.equal([])
    }
    expect(await violationsOf(new OneMoment(), [...story, exported([1, 50], '7,x,0')])).to.deep.equal([])
  })

  const bad: readonly (readonly [string, Written, RegExp])[] = [
    ['rows of two moments', exported([16, 50], '7,x,0', '8,x,1'), /no single moment/],
    ['a stale export', exported([40, 50], '7,x,0', '8,x,0'), /no single moment/],
    ['a row that is left out', exported([16, 50], '7,x,0'), /leaves out/],
    ['a row that is there twice', exported([16, 50], '7,x,0', '7,x,0', '8,x,0'), /a row twice/],
    ['an end that is none', exported([16, 50], '7,x,0', '# export incomplete after 1 rows,,'), /incomplete/],
    ['a row that was left out long before others came', exported([200_000, 200_010], '7,x,1'), /leaves out/]
  ]
  for (const [what, written, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new OneMoment(), [...story, written])).join('\n')).to.match(expected)
    })
  }

  it('judges an export when nobody can still be told of a write before its end', async () => {
    const checker = new OneMoment()
    const late = { ...exported([200_000, 200_010], '7,x,2', '8,x,1') }
    // The answer to the update that it shows comes a moment after it, and other requests long after.
    const updated: Written = { ...update(1), at: [199_990, 200_020] }
    const reads = [260_000, 300_000].map((time): Written => ({ ...read(1), at: [time, time + 5] }))
    expect(await violationsOf(checker, [...story, late, updated, ...reads])).to.deep.equal([])
    const stale = exported([400_000, 400_010], '7,x,1', '8,x,1')
    expect((await violationsOf(checker, [stale, ...reads])).join()).to.match(/no single moment/)
  })

  // Rows 1 and 2 came from 0 to 5, rows 3 and 4 from 10 to 15, row 5 from 20 to 25.
  const speakers = (...ids: readonly number[]): Written => ({
    account: CLERK,
    call: ids.length > 1 ? 'POST /speakers/batch' : 'POST /speakers',
    headers: { 'idempotency-key': `k-${ids.join()}` },
    status: 201,
    answer: ids.map((id) => ({ id, name: `exports-s0.x ${id}` }))
  })
  const came = [speakers(1, 2), speakers(3, 4), speakers(5)]
  const MARKER = '# export truncated at 3 rows,'
  const cut = (query: string, at: readonly [number, number], ...rows: readonly (number | string)[]): Written => ({
    call: `GET /speakers/export?${query}`,
    status: 200,
    answer: csv('id,name', ...rows.map((row) => (typeof row === 'number' ? `${row},n` : row))),
    got: { 'x-export-row-limit': '3' },
    at
  })
  const newest = 'sortColumn=id&sortDirection=desc'

  it('accepts exports that are cut, with a batch that the cut has torn', async () => {
    for (const one of [
      cut('', [16, 50], 1, 2, 3, MARKER),
      cut(newest, [30, 50], 5, 4, 3, MARKER),
      cut(newest, [16, 50], 5, 4, 3, MARKER),
      // Row 5 was not there yet, and row 1 is beyond the cut.
      cut(newest, [16, 50], 4, 3, 2, MARKER),
      cut('sortColumn=name', [30, 50], 5, 1, 3, MARKER),
      cut('', [6, 9], 1, 2),
      cut('', [16, 50], '1,"a line,\r\nand ""another"""', '2,""', 3, MARKER),
      // Nobody was told of the rows 8 and 9.
      cut(newest, [30, 50], 9, 8, 5, MARKER)
    ]) {
      expect(await violationsOf(new OneMoment(), [...came, one])).to.deep.equal([])
    }
    const { status: _, answer: __, ...lost } = speakers(6)
    const replay: Written = { ...speakers(6), at: [90, 95] }
    const shown = cut(newest, [50, 60], 6, 5, 4, MARKER)
    expect(await violationsOf(new OneMoment(), [...came, { ...lost, at: [40, 45] }, shown, replay])).to.deep.equal([])
  })

  const wrong: readonly (readonly [string, Written, RegExp])[] = [
    ['a cut that it does not tell', cut('', [30, 50], 1, 2, 3), /shows the row 3 and not 4/],
    ['a cut at other rows than it says', cut('', [30, 50], 1, 2, MARKER), /2 rows where 3 are the most/],
    ['more rows than the most', cut('', [30, 50], 1, 2, 3, 4, 5), /5 rows where 3 are the most/],
    ['another marker', cut('', [30, 50], 1, 2, 3, '# export truncated at 4 rows,'), /does not end with/],
    ['a marker that is not padded', cut('', [30, 50], 1, 2, 3, '# export truncated at 3 rows'), /does not end with/],
    ['no limit', { ...cut('', [30, 50], 1, 2, 3, MARKER), got: {} }, /has no X-Export-Row-Limit/],
    ['a row before the cut that is left out', cut('', [30, 50], 1, 2, 5, MARKER), /leaves out the row 3/],
    [
      'the oldest rows in place of the newest',
      cut(newest, [30, 50], 3, 2, 1, MARKER),
      /3 and not 4, which came together/
    ],
    ['a stale cut', cut(newest, [30, 50], 4, 3, 2, MARKER), /leaves out the row 5, which was there before/],
    ['rows of two moments before the cut', cut(newest, [6, 50], 5, 2, 1, MARKER), /leaves out the row 3.* before 5/],
    ['a batch that is torn before the cut', cut('', [6, 50], 1, 2, 4, MARKER), /shows the row 4 and not 3/],
    ['another order', cut('', [30, 50], 1, 3, 2, MARKER), /shows 2 after 3, which is not its order/],
    ['a row that is there twice', cut('', [30, 50], 1, 1, 2, MARKER), /shows 1 after 1/]
  ]
  for (const [what, written, expected] of wrong) {
    it(`finds ${what} in an export with a limit`, async () => {
      expect((await violationsOf(new OneMoment(), [...came, written])).join('\n')).to.match(expected)
    })
  }

  it('finds half a batch', async () => {
    const shown = (...rows: readonly string[]): Written => cut('', [0, 50], ...rows)
    expect(await violationsOf(new OneMoment(), [shown('1,b 1 of 2', '2,b 2 of 2')])).to.deep.equal([])
    expect((await violationsOf(new OneMoment(), [shown('1,b 1 of 2')])).join()).to.match(/1 of the 2 rows of b/)
    expect((await violationsOf(new OneMoment(), [speakers(1, 2), shown('1,n')])).join()).to.match(/1 and not 2/)
  })
})

describe('checker of owners', () => {
  const create: Written = {
    account: ADA,
    call: 'POST /bookmarks',
    body: {},
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

  it('accepts own rows, those that the administrator sees, and what the caller has written itself', async () => {
    const own = shown(ADA, [{ id: 5, customerId: 1, note: 'of-ada.x-1' }])
    const all = shown('admin@example.com', [{ customerId: 2, note: 'of-ben.x-1' }])
    const echo: Written = { account: BEN, call: 'GET /orders?search=of-ada.x-1', status: 200, answer: 'of-ada.x-1' }
    const cut = shown(ADA, 'id,customerId\r\n9,1\r\n# export truncated at 1 rows,\r\n', 'GET /orders/export')
    expect(await violationsOf(new OwnRowsOnly(), [create, own, all, echo, cut])).to.deep.equal([])
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
    ["the replay of another's create", { ...create, account: BEN, answer: {} }, /has been given/]
  ]
  for (const [what, written, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new OwnRowsOnly(), [create, written])).join('\n')).to.match(expected)
    })
  }
})

describe('checker of answers', () => {
  const fine: Written = { account: CLERK, call: 'GET /venues/7', status: 200, answer: { id: 7 } }
  const problem = (status: number, code: string, more: Partial<Written> = {}): Written => ({
    id: 'p-1',
    account: CLERK,
    call: 'GET /venues/7',
    status,
    answer: {
      type: `http://gateway/problems/${code}`,
      title: 'A title',
      status,
      detail: 'A detail.',
      code,
      instance: '/venues/7',
      requestId: 'p-1',
      ...(more.body as object)
    },
    ...more,
    got: { 'content-type': 'application/problem+json', 'retry-after': '1', ...more.got }
  })
  const injury = { fault: 'SIGKILL of gateway-0', from: 0, until: 3 }
  const { status: _answered, ...lost } = fine

  it('accepts rejections that the contract knows, and failures while something is broken', async () => {
    const rejected = problem(404, 'not-found')
    expect(await violationsOf(new AllowedAnswers(), [fine, rejected])).to.deep.equal([])
    const failing = [fine, problem(503, 'upstream.unavailable', { at: [9000, 9005] }), lost, injury]
    expect(await violationsOf(new AllowedAnswers(), failing)).to.deep.equal([])
    // The injury that began last is not the one that lasted longest.
    const injuries = [
      [5000, 6000],
      [0, 25_000],
      [60_000, 60_001]
    ].map(([from = 0, until = 0]) => ({ ...injury, from, until }))
    const during = (at: number): Written => problem(503, 'upstream.unavailable', { at: [at, at + 5] })
    expect(await violationsOf(new AllowedAnswers(), [fine, during(60_002), during(34_000), ...injuries])).to.be.empty
    expect(
      await violationsOf(new AllowedAnswers(), [fine, during(60_002), during(36_000), ...injuries])
    ).to.have.length(1)
  })

  const bad: readonly (readonly [string, Written, RegExp])[] = [
    ['a failure in peace', problem(503, 'upstream.unavailable', { at: [20_000, 20_005] }), /nothing was broken/],
    ['a lost answer in peace', { ...lost, at: [20_000, 20_005] }, /nothing was broken/]
  ]
  for (const [what, written, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new AllowedAnswers(), [fine, written, injury])).join('\n')).to.match(expected)
    })
  }
})
