import { expect } from 'chai'
import { OneChain } from '../../../campaign/checkers/writes/versions.js'
import { born, gone, lostUpdate, read, tag, update, venue, version } from './counted-venue.js'
import { entry, violationsOf, type Written } from './written-history.js'

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

  const annotate = (more: Partial<Written> = {}): Written => ({
    workload: 'owners',
    call: 'PUT /bookmarks/5/annotate',
    headers: { 'if-match': tag(0) },
    status: 200,
    answer: {},
    ...more
  })
  const noted = entry('bookmarks/5', 'annotate', 'r-5')

  it('accepts actions of other resources, each with its entry', async () => {
    const rows = { ur_audit_entries: [created, updated, entry('bookmarks/5', 'create', 'x'), noted], venues: left(1) }
    expect(await violationsOf(new OneChain(), [...story, annotate()], rows)).to.deep.equal([])
    const none = { ...rows, ur_audit_entries: [created, updated] }
    expect(await violationsOf(new OneChain(), [...story, annotate({ status: 404 })], none)).to.deep.equal([])
  })

  const rejected = { status: 412, answer: {} }
  const bad: readonly (readonly [string, readonly Written[], readonly object[], readonly object[], RegExp])[] = [
    [
      'an action without an entry',
      [...story, annotate()],
      [created, updated],
      left(1),
      /r-5 was acknowledged and has no/
    ],
    ['an action with two', [...story, annotate()], [created, updated, noted, noted], left(1), /happened 2 times/],
    ['a denied action', [...story, annotate({ status: 404 })], [created, updated, noted], left(1), /r-5 was rejected/],
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
