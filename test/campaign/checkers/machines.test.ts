import { expect } from 'chai'
import { MachinesEndAtOnce } from '../../../campaign/checkers/callers/machines.js'
import { exchangeOf, violationsOf, type Written } from './written-history.js'

const FIRST = 'ur_machine_first'
const SECOND = 'ur_machine_second'

const admin = (call: string, status: number | undefined, answer: object, more: Partial<Written> = {}): Written => ({
  call,
  account: 'admin@example.com',
  body: {},
  ...(status === undefined ? {} : { status }),
  answer,
  ...more
})
const add = (email: string, id: number, secret: string | null): Written =>
  admin('POST /accounts', 201, { id, email, secret })
const added = add('nightly', 7, FIRST)
const addSecret = admin('POST /accounts/7/secrets', 201, { number: 2, secret: SECOND })
const remove = (status?: number): Written => admin('DELETE /accounts/7/secrets/1', status, {})
const disable = (status?: number): Written => admin('PUT /accounts/7/disable', status, {})

function tokenOf(claims: object): string {
  const told = { sub: 'nightly', client_id: 'nightly', role: 'Clerk', iat: 1000, exp: 1900, ...claims }
  return `h.${Buffer.from(JSON.stringify(told)).toString('base64url')}.s`
}
/** A token request by HTTP Basic. */
function ask(secret: string, more: Partial<Written> = {}, claims: object = {}): Written {
  const basic = Buffer.from(`nightly:${secret}`).toString('base64')
  const token = { access_token: tokenOf(claims), token_type: 'Bearer', expires_in: 900 }
  return { call: 'POST /auth/token', headers: { authorization: `Basic ${basic}` }, status: 200, answer: token, ...more }
}
const refusal: Partial<Written> = {
  status: 401,
  answer: { error: 'invalid_client', error_description: 'The client id or the secret is wrong.' },
  got: { 'www-authenticate': 'Basic realm="machine accounts"' }
}
const refused = (secret: string, more: Partial<Written> = {}): Written => ask(secret, { ...refusal, ...more })

const judged = async (...history: readonly Written[]): Promise<string> =>
  (await violationsOf(new MachinesEndAtOnce(), history)).join('\n')

describe('checker of machines', () => {
  it('finds nothing where secrets are rotated, one is removed and the account is disabled', async () => {
    const rotated = [added, ask(FIRST), addSecret, ask(FIRST), ask(SECOND), remove(200), refused(FIRST), ask(SECOND)]
    expect(await judged(...rotated, disable(200), refused(SECOND), refused(`${FIRST}x`))).to.equal('')
  })

  it('finds nothing where nobody was told whether a secret was removed or an account disabled', async () => {
    expect(await judged(added, remove(), ask(FIRST), refused(FIRST))).to.equal('')
    expect(await judged(added, disable(503), ask(FIRST), refused(FIRST))).to.equal('')
    // It was sent before the answer to the disabling had come.
    expect(await judged(added, disable(200), ask(FIRST, { at: [12, 30] }))).to.equal('')
  })

  it('reads client id and secret in a body too', async () => {
    const checker = new MachinesEndAtOnce()
    const { request, ...exchange } = exchangeOf({ ...ask(`${FIRST}x`), headers: {} }, 1)
    checker.see(exchangeOf(added, 0))
    const body = `grant_type=client_credentials&client_id=nightly&client_secret=${FIRST}`
    checker.see({ ...exchange, request: { ...request, body } })
    expect((await checker.judge()).violations).to.deep.equal([])
    checker.see({ ...exchange, request: { ...request, body: `${body}x` } })
    expect((await checker.judge()).violations).to.have.length(1)
  })

  const bad: readonly (readonly [what: string, history: readonly Written[], says: RegExp])[] = [
    [
      'a token after the account was disabled',
      [added, disable(200), ask(FIRST)],
      /r-3 has got a token of nightly after the account was disabled by r-2/
    ],
    [
      'it also where the disabling was sent twice, and was answered at last',
      [added, disable(), disable(200), ask(FIRST)],
      /after the account was disabled by r-3/
    ],
    [
      'a token with a secret that was removed',
      [added, addSecret, remove(200), ask(FIRST)],
      /r-4 has got a token of nightly after the secret was removed by r-3/
    ],
    ['a token with a wrong secret', [added, ask(`${FIRST}x`)], /with a wrong secret/],
    ['a token with the secret of another', [added, add('other', 8, SECOND), ask(SECOND)], /with a wrong secret/],
    ['a right secret that is refused', [added, refused(FIRST)], /is refused, and nothing had ended it/],
    [
      'it also where another secret was removed, or another account disabled',
      [added, addSecret, remove(200), refused(SECOND)],
      /r-4 has a secret of nightly and is refused/
    ],
    [
      'it also where a rejected disabling came before',
      [added, disable(412), refused(FIRST)],
      /is refused, and nothing had ended it/
    ],
    [
      'refusals that differ',
      [
        added,
        disable(200),
        refused(FIRST),
        refused(`${FIRST}x`, { answer: { error: 'invalid_client', x: 'disabled' } })
      ],
      /r-4 is told .*disabled.*, and r-3/
    ],
    ['a refusal without a challenge', [added, refused(`${FIRST}x`, { got: {} })], /r-2 is refused with/],
    ['another status', [added, ask(FIRST, { status: 400 })], /r-2 is told 400/],
    ['a token of another account', [added, ask(FIRST, {}, { sub: 'other' })], /holds a token of other/],
    ['a token with more rights', [added, ask(FIRST, {}, { role: 'Admin' })], /with the role Admin/],
    ['a token that lives longer', [added, ask(FIRST, {}, { exp: 9999 })], /holds a token from 1000 to 9999/],
    ['what is no token', [added, ask(FIRST, { answer: { token_type: 'Bearer', expires_in: 900 } })], /no access token/]
  ]
  for (const [what, history, says] of bad) {
    it(`finds ${what}`, async () => {
      expect(await judged(...history)).to.match(says)
    })
  }
})
