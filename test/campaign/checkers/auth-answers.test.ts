import { expect } from 'chai'
import { AuthAnswers } from '../../../campaign/checkers/callers/auth-answers.js'
import {
  accessToken,
  ATTRIBUTES,
  CLEARED,
  cookies,
  first,
  foreign,
  given,
  login,
  logIn,
  logOut,
  lost,
  MADE,
  plain,
  refresh,
  set
} from './told-session.js'
import { violationsOf, type Written } from './written-history.js'

describe('checker of answers about sessions', () => {
  const problem = (status: number, code: string, more: Partial<Written> = {}): Written => ({
    ...lost(logIn),
    status,
    answer: { code, title: 'No', detail: 'No.' },
    got: { ...plain, ...(status === 503 || status === 429 ? { 'retry-after': '1' } : {}) },
    ...more
  })
  const failed = problem(401, 'auth.invalid-credentials', { body: { ...login, password: 'wrong' } })
  const tooMany = problem(429, 'quota-exceeded')
  const away = (written: Written): Written => problem(503, 'upstream.unavailable', lost(written))
  const mirrored: Written = {
    call: 'POST /auth/session-cookie',
    body: { accessToken: 'a', refreshToken: 'r' },
    status: 204,
    got: set(cookies('a', 'r'))
  }
  const alone: Written = {
    ...mirrored,
    body: { accessToken: 'a' },
    got: set(`app_auth_access=a; Max-Age=604800; ${ATTRIBUTES}`)
  }
  const asItIs: Written = {
    ...first,
    headers: { cookie: `app_auth_access=${accessToken()}; app_auth_refresh=t-0` },
    got: plain
  }
  const withGot = (written: Written, got: Readonly<Record<string, string>>): Written => ({
    ...written,
    got: { ...written.got, ...got }
  })

  it('accepts what the contract has', async () => {
    const good: readonly Written[] = [
      logIn,
      first,
      refresh('t-1', undefined, 400),
      { ...refresh('', undefined, 400), headers: {}, got: plain },
      logOut(),
      logOut('DELETE /auth/session-cookie'),
      withGot(away(logOut()), set(CLEARED)),
      away(first),
      problem(504, 'upstream.timeout'),
      foreign(first),
      foreign(logOut()),
      asItIs,
      mirrored,
      alone,
      problem(405, 'method.not-allowed', { call: 'GET /auth/session-cookie', got: { ...plain, allow: 'POST' } }),
      {
        ...logIn,
        ...given('t-9', { sub: 'nobody@example.com', customer_id: undefined }),
        body: { ...login, email: 'nobody@example.com' }
      }
    ]
    expect(await violationsOf(new AuthAnswers(), good)).to.deep.equal([])
  })

  it('accepts failures that a success has cleared, and those of long ago', async () => {
    const ten = Array.from({ length: 10 }, () => failed)
    const late = { ...failed, at: [900_000, 900_005] as const }
    expect(await violationsOf(new AuthAnswers(), [...ten, logIn, ...ten, tooMany, late])).to.deep.equal([])
    expect((await violationsOf(new AuthAnswers(), [...ten, failed])).join()).to.match(/looked at after 10 failures/)
  })

  it('accepts a failure that was under way with the tenth, or with a success that nobody was told of', async () => {
    const nine = Array.from({ length: 9 }, (_, n) => ({ ...failed, at: [n, n + 1] as const }))
    const [tenth, eleventh] = [
      { ...failed, at: [100, 200] as const },
      { ...failed, at: [150, 250] as const }
    ]
    expect(await violationsOf(new AuthAnswers(), [...nine, tenth, eleventh])).to.deep.equal([])
    const late = { ...failed, at: [201, 250] as const }
    for (const success of [logIn, lost(logIn), problem(504, 'upstream.timeout')]) {
      const under = { ...success, at: [210, 300] as const }
      expect(await violationsOf(new AuthAnswers(), [...nine, tenth, late, under])).to.deep.equal([])
      const after = { ...success, at: [251, 300] as const }
      expect(await violationsOf(new AuthAnswers(), [...nine, tenth, late, after])).to.have.length(1)
    }
    // A wrong password clears nothing.
    const wrong = { ...lost(failed), at: [210, 300] as const }
    expect(await violationsOf(new AuthAnswers(), [...nine, tenth, late, wrong])).to.have.length(1)
  })

  const bad: readonly (readonly [string, readonly Written[], RegExp])[] = [
    ['a 500', [problem(500, 'internal')], /is 500, which nothing/],
    ['a wrong password that logs in', [{ ...logIn, body: failed.body }], /logged in ada@example.com with a wrong/],
    [
      'a stranger who logs in',
      [{ ...logIn, body: { ...login, email: 'stranger@example.com' } }],
      /logged in stranger@example.com with a wrong/
    ],
    ['a right password that is rejected', [{ ...failed, body: login }], /the right password of ada@/],
    ['a token that has no end', [{ ...first, ...given('t-1', { exp: undefined }) }], /of a token until undefined/],
    ['a 401 with another code', [problem(401, 'auth.required')], /has the code auth.required/],
    ['another site that is let in', [{ ...foreign(first), status: 200, ...given('t-1') }], /is 200, which nothing/],
    ['a 403 for nothing', [problem(403, 'request.cross-site')], /is 403, which nothing/],
    ['a 429 without advice', [{ ...tooMany, got: plain }], /with the Retry-After undefined/],
    ['a 503 with no advice', [withGot(away(first), { 'retry-after': 'soon' })], /with the Retry-After soon/],
    [
      'an answer that may be stored',
      [withGot(away(first), { 'cache-control': 'private' })],
      /the Cache-Control private/
    ],
    ['cookies that may be stored', [withGot(first, { 'cache-control': 'no-store' })], /the Cache-Control no-store/],
    ['cookies for everybody', [withGot(first, { vary: 'Accept' })], /with the Vary Accept/],
    [
      'a cookie that scripts can read',
      [withGot(first, { 'set-cookie': cookies('a', 'b', 'Max-Age=604800; Path=/; SameSite=Lax') })],
      /sets app_auth_access with Max-Age/
    ],
    [
      'a cookie for other sites',
      [withGot(first, { 'set-cookie': cookies('a', 'b', 'Max-Age=604800; Path=/; HttpOnly; SameSite=None') })],
      /SameSite=None/
    ],
    [
      'a cookie of a part',
      [withGot(first, { 'set-cookie': cookies('a', 'b', 'Max-Age=604800; Path=/auth; HttpOnly; SameSite=Lax') })],
      /Path=\/auth/
    ],
    [
      'a cookie of another life',
      [withGot(first, { 'set-cookie': cookies('a', 'b', `Max-Age=900; ${ATTRIBUTES}`) })],
      /Max-Age=900/
    ],
    [
      'a cookie that ends with the browser',
      [withGot(first, { 'set-cookie': cookies('a', 'b', ATTRIBUTES) })],
      /sets app_auth_refresh with/
    ],
    [
      'one cookie of two',
      [withGot(logIn, { 'set-cookie': `app_auth_access=a; Max-Age=604800; ${ATTRIBUTES}` })],
      /sets app_auth_access, not/
    ],
    ['a log-out that leaves the cookies', [{ ...logOut(), got: plain }], /sets no cookie, not/],
    [
      'a log-out that leaves a value',
      [withGot(logOut(), { 'set-cookie': cookies('a', '', `Max-Age=0; ${ATTRIBUTES}`) })],
      /sets app_auth_access with Max-Age=0/
    ],
    ['a failure that takes the cookies', [withGot(away(first), set(CLEARED))], /not none/],
    ['a dead session that keeps its cookies', [{ ...refresh('t-1', undefined, 400), got: plain }], /sets no cookie/],
    [
      'another body of no session',
      [{ ...refresh('t-1', undefined, 400), answer: { error: 'none' } }],
      /a 401 of the type/
    ],
    ['a good token that is exchanged', [withGot(asItIs, first.got ?? {})], /not none/],
    ['a body without a token', [{ ...first, answer: {} }], /holds no access token/],
    ['a body with more', [{ ...first, answer: { ...(first.answer as object), refresh: 'x' } }], /a body with refresh/],
    [
      'another expiry',
      [{ ...first, answer: { ...(first.answer as object), accessTokenExpiry: '2030-01-01T00:20:00.000Z' } }],
      /says 2030/
    ],
    ['a token for longer', [{ ...first, ...given('t-1', { exp: MADE + 9000 }) }], /holds a token from/],
    ['a token of another owner', [{ ...first, ...given('t-1', { customer_id: 2 }) }], /the owner 2/],
    ['a token of another role', [{ ...first, ...given('t-1', { role: 'Admin' }) }], /the role Admin/],
    ['a token of no session', [{ ...first, ...given('t-1', { sid: undefined }) }], /of no session/],
    [
      'a token of somebody else',
      [{ ...logIn, body: { ...login, email: 'ben@example.com' } }],
      /token of ada@example.com, not of ben/
    ],
    [
      'a cookie of another token',
      [withGot(first, { 'set-cookie': cookies('a.b.c', 't-1') })],
      /another token than its cookie/
    ],
    ['mirrored cookies of others', [{ ...mirrored, got: set(cookies('a', 'x')) }], /of other tokens than it was sent/],
    ['a 204 with a body', [{ ...logOut(), answer: 'x' }], /204 and has a body/],
    [
      'a failure that tells more of some',
      [
        failed,
        {
          ...failed,
          body: { email: 'x' },
          answer: { code: 'auth.invalid-credentials', title: 'No', detail: 'No such account.' }
        }
      ],
      /r-2 says .*No such account/
    ]
  ]
  for (const [what, history, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new AuthAnswers(), history)).join('\n')).to.match(expected)
    })
  }
})
