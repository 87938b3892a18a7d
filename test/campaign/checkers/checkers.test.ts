import { expect } from 'chai'
import { OneChain } from '../../../campaign/checkers/writes/versions.js'
import { born, gone, lostUpdate, read, tag, update, venue, version } from './counted-venue.js'
import { entry, violationsOf, type Written } from './written-history.js'

describe('checker of versions', () => {
  const bookmark = read(0, { id: 'b-1', call: 'GET /bookmarks/5', answer: { id: 5, rowVersion: version(0) } })
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

  it('accepts that a database has forgotten what it had shown', async () => {
    const history = [...story, read(2), { fault: 'database killed', from: 46, until: 60 }]
    const rows = { ur_audit_entries: [created, updated], venues: left(1) }
    expect(await violationsOf(new OneChain(), history, rows)).to.deep.equal([])
  })

  const annotate = (more: Partial<Written> = {}): Written => ({
    workload: 'owners',
    call: 'PUT /bookmarks/5/annotate',
    headers: { 'if-match': tag(0) },
    body: { note: 'x' },
    status: 200,
    answer: { id: 5, note: 'x' },
    ...more
  })
  const noted = entry('bookmarks/5', 'annotate', 'r-6')

  it('accepts actions of other resources, each with its entry', async () => {
    const rows = { ur_audit_entries: [created, updated, entry('bookmarks/5', 'create', 'x'), noted], venues: left(1) }
    expect(await violationsOf(new OneChain(), [...story, bookmark, annotate()], rows)).to.deep.equal([])
    const none = { ...rows, ur_audit_entries: [created, updated] }
    expect(await violationsOf(new OneChain(), [...story, bookmark, annotate({ status: 404 })], none)).to.deep.equal([])
  })

  /** Writes of the bookmark on its first version, each with its audit entry or none. */
  const again = (more: Partial<Written>): Written => annotate({ id: 'w-2', ...more })
  const rests: readonly (readonly [string, readonly Written[], readonly string[], RegExp])[] = [
    ['two acknowledged actions on one version', [annotate(), again({})], ['r-6', 'w-2'], /r-6 and w-2 were both done/],
    [
      'an action on a version that one without an answer has left',
      [annotate({ status: 503 }), again({})],
      ['r-6', 'w-2'],
      /r-6 and w-2 were both done/
    ],
    [
      'a delete of a version that an action has left',
      [annotate(), again({ call: 'DELETE /bookmarks/5', status: 204, answer: '' })],
      ['r-6', 'w-2'],
      /r-6 and w-2 were both done/
    ],
    [
      'a delete of a version that the row never had',
      [annotate(), again({ call: 'DELETE /bookmarks/5', headers: { 'if-match': tag(9) }, status: 204, answer: '' })],
      ['r-6', 'w-2'],
      /w-2 was done on the version .* which it never had/
    ],
    [
      'an action after the delete',
      [annotate({ call: 'DELETE /bookmarks/5', headers: {}, status: 204, answer: '' }), again({})],
      ['r-6', 'w-2'],
      /w-2 has written bookmarks\/5, which r-6 had deleted/
    ],
    [
      'another note than was sent',
      [annotate({ answer: { id: 5, note: 'y' } })],
      ['r-6'],
      /has sent note "x" and is shown "y"/
    ],
    ['another row than was written', [annotate({ answer: { id: 6, note: 'x' } })], ['r-6'], /is shown 6/]
  ]
  for (const [what, writes, ids, expected] of rests) {
    it(`finds ${what}`, async () => {
      const entries = ids.map((id) => entry('bookmarks/5', 'written', id))
      const rows = { ur_audit_entries: [created, updated, ...entries], venues: left(1) }
      expect((await violationsOf(new OneChain(), [...story, bookmark, ...writes], rows)).join('\n')).to.match(expected)
    })
  }

  it('accepts one action on each version, the other rejected, and a replay', async () => {
    const rows = { ur_audit_entries: [created, updated, noted], venues: left(1) }
    const key = { headers: { 'if-match': tag(0), 'idempotency-key': 'k-2' } }
    const replay = again({ ...key, got: { 'idempotent-replayed': 'true' } })
    for (const other of [again({ status: 412, answer: {} }), again({ status: 503 })])
      expect(await violationsOf(new OneChain(), [...story, bookmark, annotate(), other], rows)).to.deep.equal([])
    expect(await violationsOf(new OneChain(), [...story, bookmark, annotate(key), replay], rows)).to.deep.equal([])
  })

  it('finds an action that the audit trail has and the row has not', async () => {
    const rows = { ur_audit_entries: [created, updated, noted], venues: left(1) }
    const ended = (n: number) => ({ ...rows, bookmarks: left(n).map((row) => ({ ...row, id: 5 })) })
    const history = [...story, bookmark, annotate()]
    expect(await violationsOf(new OneChain(), history, ended(1))).to.deep.equal([])
    expect(await violationsOf(new OneChain(), history, ended(0))).to.deep.equal([
      'bookmarks/5 ends with the version that r-6 has left.'
    ])
  })

  it('finds an answer to a PUT with another city than was sent, and a paid order that is placed', async () => {
    const rows = { ur_audit_entries: [created, updated], venues: left(1) }
    const moved = update(0, { body: { city: 'Aarhus' }, answer: { ...venue(1), city: 'Oslo' } })
    expect((await violationsOf(new OneChain(), [born, read(0), moved], rows)).join()).to.match(/has sent city "Aarhus"/)
    const paid = { call: 'PUT /orders/3/pay', body: {}, status: 200, answer: { id: 3, status: 'placed' } }
    expect((await violationsOf(new OneChain(), [...story, paid], rows)).join()).to.match(/has sent status "paid"/)
  })

  it('finds a variant that was acknowledged and has no audit entry', async () => {
    const rows = { ur_audit_entries: [created, updated], venues: left(1) }
    const added = {
      call: 'PUT /products/3/add-variant',
      body: { name: 'x' },
      status: 200,
      answer: { id: 3, name: 'y' }
    }
    expect(await violationsOf(new OneChain(), [...story, added], rows)).to.deep.equal([
      'r-5 was acknowledged and has no audit entry.'
    ])
  })

  const rejected = { status: 412, answer: {} }
  const bad: readonly (readonly [string, readonly Written[], readonly object[], readonly object[], RegExp])[] = [
    [
      'an action without an entry',
      [...story, bookmark, annotate()],
      [created, updated],
      left(1),
      /r-6 was acknowledged and has no/
    ],
    [
      'an action with two',
      [...story, bookmark, annotate()],
      [created, updated, noted, noted],
      left(1),
      /happened 2 times/
    ],
    [
      'a denied action',
      [...story, bookmark, annotate({ status: 404 })],
      [created, updated, noted],
      left(1),
      /r-6 was rejected/
    ],
    [
      'an update that a read has shown and that is lost',
      [...story, read(2), read(2)],
      [created, updated],
      left(1),
      /ends with the count 1; r-6 had shown 2/
    ],
    [
      'what was rejected and is shown',
      [born, read(0), update(0), update(1, rejected), read(2)],
      [created, updated],
      left(1),
      /r-5 shows venues\/7 with the count 2, which no request had asked for/
    ],
    ['a version before it was asked for', [born, read(0), read(1), update(0)], [], left(1), /r-3 shows venues\/7 with/],
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
      'an update of a version that never was',
      [...story, update(8, { answer: venue(2), got: { etag: tag(2) } })],
      [created, updated, entry('venues/7', 'update', 'r-5')],
      left(2),
      /on a version that it never had/
    ],
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
