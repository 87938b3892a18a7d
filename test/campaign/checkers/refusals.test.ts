import { expect } from 'chai'
import { RefusalsHaveReasons } from '../../../campaign/checkers/writes/refusals.js'
import type { Injury } from '../../../campaign/history.js'
import { born, gone, read, tag, update } from './counted-venue.js'
import { entry, violationsOf, type Written } from './written-history.js'

const CLERK = 'clerk@example.com'
const ADA = 'ada@example.com'
const BEN = 'ben@example.com'
const by = (account: string, written: Written): Written => ({ ...written, account })
const conflict = { status: 412, answer: { code: 'conflict' }, got: {} }
const absent = { status: 404, answer: { code: 'not-found' }, got: {} }
const stateless = { status: 422, answer: { code: 'state.invalid' } }

const made = by(CLERK, born)
const seen = read(0)
const first = by(CLERK, update(0, { id: 'u-1', headers: { 'if-match': tag(0) } }))
const { status: _status, ...lost } = first
const left = (...entries: readonly (readonly [action: string, id: string])[]) => ({
  ur_audit_entries: entries.map(([action, id]) => entry('venues/7', action, id))
})
const stale = by(CLERK, update(0, { id: 'u-2', ...conflict }))
const ordered: Written = {
  account: ADA,
  call: 'POST /orders',
  headers: { 'idempotency-key': 'o-1' },
  body: { lines: [] },
  status: 201,
  answer: { id: 5 },
  got: { location: 'http://gateway/orders/5', etag: tag(0) }
}
const act = (account: string, action: string, more: Partial<Written>): Written => ({
  account,
  call: `PUT /orders/5/${action}`,
  headers: { 'if-match': tag(0) },
  body: {},
  ...more
})
const speaker: Written = {
  account: CLERK,
  call: 'POST /speakers',
  body: { name: 'creates-0.1' },
  status: 409,
  answer: { code: 'conflict' },
  at: [20_000, 20_100]
}
const injury: Injury = { fault: 'SIGKILL of data-service-0', from: 15_000, until: 16_000 }

describe('checker of refusals', () => {
  const good: readonly (readonly [string, readonly (Written | Injury)[], Parameters<typeof violationsOf>[2]])[] = [
    ['a version that another update has left', [made, seen, first, stale], left(['update', 'u-1'])],
    [
      'a version that an update without an answer has left',
      [made, seen, by(CLERK, lost), stale],
      left(['update', 'u-1'])
    ],
    ['a version that the row never had', [made, seen, { ...stale, headers: { 'if-match': tag(9) } }], left()],
    ['a conflict while something is broken', [{ ...injury, from: 0 }, made, seen, stale], left()],
    ['a row that was deleted', [made, by(CLERK, gone), { ...stale, ...absent }], left(['delete', 'r-2'])],
    [
      'a row that a delete without an answer has taken',
      [made, { ...by(CLERK, gone), status: 503 }, { ...stale, ...absent }],
      left(['delete', 'r-2'])
    ],
    ['the row of another', [ordered, act(BEN, 'pay', absent)], left()],
    ['a caller without the permission', [made, { ...by(ADA, first), status: 403 }], left()],
    [
      'an order that was cancelled before',
      [ordered, act(ADA, 'cancel', { status: 200, answer: {} }), act(ADA, 'pay', stateless)],
      { ur_audit_entries: [entry('orders/5', 'cancel', 'r-2')] }
    ],
    ['a create that collides while something is broken', [injury, made, speaker], left()],
    [
      'a cart that a cluster could not certify',
      [made, { ...speaker, account: ADA, call: 'POST /shopping-carts' }],
      left()
    ],
    ['a bookmark that there is', [made, { ...speaker, account: ADA, call: 'POST /bookmarks' }], left()]
  ]
  for (const [what, history, rows] of good) {
    it(`accepts ${what}`, async () => {
      expect(await violationsOf(new RefusalsHaveReasons(), history, rows)).to.deep.equal([])
    })
  }

  const bad: readonly (readonly [string, readonly (Written | Injury)[], Parameters<typeof violationsOf>[2], RegExp])[] =
    [
      ['412 to the only writer', [made, seen, stale], left(), /u-2 is told 412 conflict of venues\/7/],
      [
        '412 after an update that was never done',
        [made, seen, by(CLERK, lost), stale],
        left(),
        /u-2 is told 412 conflict of venues\/7/
      ],
      [
        '412 though the version was shown after the other update',
        [made, seen, first, read(1), by(CLERK, update(1, { id: 'u-2', ...conflict }))],
        left(['update', 'u-1']),
        /u-2 is told 412/
      ],
      ['404 to a PUT of a row that is there', [made, { ...stale, ...absent }], left(), /u-2 is told 404 not-found/],
      [
        '404 to a DELETE of a row that is there, after a rejected one',
        [made, { ...by(CLERK, gone), status: 412 }, { ...by(CLERK, gone), ...absent }],
        left(),
        /r-3 is told 404/
      ],
      [
        '404 before the delete was sent',
        [made, { ...stale, ...absent }, by(CLERK, gone)],
        left(['delete', 'r-3']),
        /u-2 is told 404/
      ],
      ['404 to the owner', [ordered, act(ADA, 'pay', absent)], left(), /r-2 is told 404 not-found of orders\/5/],
      ['a state of a venue', [made, { ...stale, ...stateless }], left(), /u-2 is told 422 .* such a row has no state/],
      ['a state of a speaker', [{ ...speaker, ...stateless }], left(), /r-1 is told 422 .* such a row has no state/],
      ['a state of an order that was only placed', [ordered, act(ADA, 'pay', stateless)], left(), /r-2 is told 422/],
      [
        'a conflict of a speaker while something else is broken',
        [{ ...injury, touches: [] }, speaker],
        left(),
        /r-2 is told 409 conflict/
      ],
      ['a conflict of a speaker', [injury, { ...speaker, at: [26_001, 26_002] }], left(), /r-2 is told 409 conflict/]
    ]
  for (const [what, history, rows, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new RefusalsHaveReasons(), history, rows)).join('\n')).to.match(expected)
    })
  }
})
