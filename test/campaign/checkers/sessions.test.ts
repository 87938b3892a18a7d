import { expect } from 'chai'
import { SessionsEndOnce } from '../../../campaign/checkers/callers/sessions.js'
import { accessToken, first, foreign, given, logIn, logOut, lost, plain, refresh } from './told-session.js'
import { violationsOf, type Written } from './written-history.js'

describe('checker of sessions', () => {
  it('accepts rotation, the grace window, its end, a lost answer and a log-out', async () => {
    const good: readonly (readonly Written[])[] = [
      [logIn, first, refresh('t-0', 't-1', 900), refresh('t-1', 't-2', 950)],
      [logIn, first, refresh('t-0', undefined, 20_000), refresh('t-1', undefined, 20_100)],
      [logIn, first, lost(refresh('t-1', 't-2', 400)), refresh('t-1', 't-3', 500)],
      [logIn, first, lost(refresh('t-1', 't-2', 400)), refresh('t-1', undefined, 30_000)],
      [logIn, first, logOut(), refresh('t-1', undefined, 400), refresh('t-0', undefined, 500)],
      // It arrives after the used token has been sent again, within its grace or past it.
      [logIn, first, lost(refresh('t-1', 't-2', 400)), refresh('t-0', 't-1', 500), refresh('t-0', 't-2', 600)],
      [
        logIn,
        first,
        lost(refresh('t-1', 't-2', 400)),
        refresh('t-1', 't-2', 500),
        refresh('t-2', 't-3', 5000),
        refresh('t-3', undefined, 15_000)
      ],
      // Nobody knows whether the used token arrived.
      [logIn, first, lost(refresh('t-0', undefined, 20_000)), refresh('t-1', 't-2', 20_100)],
      [logIn, first, lost(refresh('t-0', undefined, 20_000)), refresh('t-1', undefined, 20_100)],
      // Both were under way at the same time.
      [logIn, first, refresh('t-0', undefined, 20_000), refresh('t-1', 't-2', 20_002)],
      [logIn, first, foreign(refresh('t-0', undefined, 20_000)), foreign(logOut()), refresh('t-1', 't-2', 20_100)]
    ]
    for (const story of good) expect(await violationsOf(new SessionsEndOnce(), story)).to.deep.equal([])
  })

  it('asks nothing of a session whose access token is good', async () => {
    const asked = refresh('t-1', 't-2', 400)
    const headers = { cookie: `app_auth_access=${accessToken()}; app_auth_refresh=t-1` }
    const asItIs: Written = { ...asked, headers, got: plain }
    expect(await violationsOf(new SessionsEndOnce(), [logIn, first, asItIs])).to.deep.equal([])
    const renewed = { ...asked, headers }
    expect(await violationsOf(new SessionsEndOnce(), [logIn, first, renewed, refresh('t-2', 't-3', 500)])).to.be.empty
  })

  const bad: readonly (readonly [string, readonly Written[], RegExp])[] = [
    ['a session that lives on', [logIn, first, logOut(), refresh('t-1', 't-2', 400)], /honoured after r-3 had ended/],
    [
      'a session that lives on after a DELETE',
      [logIn, first, logOut('DELETE /auth/session-cookie'), refresh('t-1', 't-2', 400)],
      /honoured after r-3 had ended/
    ],
    ['an old token that lives on', [logIn, first, logOut(), refresh('t-0', 't-2', 400)], /honoured after r-3/],
    ['a token past its grace', [logIn, first, refresh('t-0', 't-1', 20_000)], /used long before/],
    [
      'a used token that came late and ended nothing',
      [logIn, first, refresh('t-0', undefined, 20_000), refresh('t-1', 't-2', 20_100)],
      /honoured after r-3 had ended/
    ],
    ['a session that is lost', [logIn, first, refresh('t-1', undefined, 400)], /nothing had ended it/],
    [
      'a session that another site has ended',
      [logIn, first, foreign(logOut()), refresh('t-1', undefined, 400)],
      /nothing had ended it/
    ],
    ['a token that stays', [logIn, refresh('t-0', 't-0', 200)], /without a new token/],
    ['a reuse that branches', [logIn, first, refresh('t-0', 't-9', 400)], /not answered with the newest/],
    [
      'a session that is lost before a lost refresh can be a reuse',
      [logIn, first, lost(refresh('t-1', 't-2', 400)), refresh('t-1', 't-2', 500), refresh('t-2', undefined, 5000)],
      /nothing had ended it/
    ],
    [
      'a reuse that branches long after a lost refresh',
      [
        logIn,
        first,
        lost(refresh('t-1', 't-2', 400)),
        refresh('t-1', 't-2', 500),
        refresh('t-2', 't-3', 70_000),
        refresh('t-2', 't-9', 70_100)
      ],
      /not answered with the newest/
    ],
    ['a refresh token in a body', [{ ...logIn, answer: 't-0' }, first], /in its body/],
    [
      'the token of a request in a body',
      [logIn, first, { ...refresh('t-1', undefined, 400), answer: 't-1' }],
      /in its body/
    ],
    ['two sessions of one token', [logIn, logIn, first], /no session of its own/],
    ['two sessions of one id', [logIn, { ...logIn, ...given('t-5') }, first], /no session of its own/],
    ['a token of somebody else', [logIn, refresh('t-0', 't-1', 200, { sub: 'ben@example.com' })], /token of ben@/],
    ['a token of another session', [logIn, refresh('t-0', 't-1', 200, { sid: 's-2' })], /token of ada@\S+ in s-2/]
  ]
  for (const [what, history, expected] of bad) {
    it(`finds ${what}`, async () => {
      expect((await violationsOf(new SessionsEndOnce(), history)).join('\n')).to.match(expected)
    })
  }
})
