import type { Exchange } from '../../history.js'
import {
  ACCESS_COOKIE,
  claimsOf,
  cookieOf,
  isForeign,
  isLogOut,
  REFRESH_COOKIE,
  type SetCookie,
  setCookiesOf
} from './cookies.js'
import { FAILURES } from '../answers/allowed.js'
import { objectOf } from '../json.js'
import type { Checker, Verdict, Violation } from '../checker.js'

/** `ACCESS_TOKEN_TTL` and `REFRESH_TOKEN_TTL`, in seconds. */
const ACCESS_TTL_S = 900
const REFRESH_TTL_S = 604_800
/** Seconds for which an answer may be under way while the session that it tells of grows older. */
const UNDER_WAY_S = 120
/** Failed log-ins of an account from one address within 15 minutes, after which there are no more. */
const MOST_FAILURES = 10
/** Less than the 15 minutes, since an attempt counts from before its answer. */
const WINDOW_MS = 840_000

/** Of every sample account, by domain.md. */
const PASSWORD = 'demo-password'
/** The owner claims and roles of the sample accounts of domain.md. */
const ACCOUNTS: Readonly<Record<string, { readonly role: string; readonly owner?: number }>> = {
  'admin@example.com': { role: 'Admin' },
  'clerk@example.com': { role: 'Clerk' },
  'keeper@example.com': { role: 'Storekeeper' },
  'ada@example.com': { role: 'Customer', owner: 1 },
  'ben@example.com': { role: 'Customer', owner: 2 },
  'nobody@example.com': { role: 'Customer' }
}

/** The answers of each endpoint, and their codes; `''` for one that has no problem document. */
const ANSWERS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  'POST /auth/login': { 200: '', 401: 'auth.invalid-credentials', 429: 'quota-exceeded' },
  'POST /auth/session/token': { 200: '', 401: '', 429: 'quota-exceeded' },
  'POST /auth/session-cookie': { 204: '', 400: 'body.invalid' },
  'DELETE /auth/session-cookie': { 204: '' },
  'GET /auth/session-cookie': { 405: 'method.not-allowed' },
  'POST /auth/logout': { 204: '' }
}
const CROSS_SITE: Readonly<Record<number, string>> = { 403: 'request.cross-site' }

/** A log-in whose password was looked at after as many failures as there may be, unless a success had cleared them. */
interface Excess extends Violation {
  readonly account: string
  readonly endedAt: number
}

/** The answers of `/auth`, each by itself. Whether a session goes on is judged by `SessionsEndOnce`. */
export class AuthAnswers implements Checker {
  readonly title = 'Answers about sessions'
  readonly contract = '8. Sessions'
  readonly how =
    '`sessions` logs in, with wrong passwords too, refreshes, mirrors its tokens into cookies, asks as another site would, and logs out.'
  readonly promise =
    'The right password of an account logs in, and no other does. Every answer about a session has the status, code, body, cookies and headers of the contract and the token of the account that asked, can be stored by nobody, and tells nobody which accounts there are.'
  readonly #violations: Violation[] = []
  /** Of each account whose log-ins failed: when, since its last success. */
  readonly #failures = new Map<string, number[]>()
  #excesses: Excess[] = []
  /** What a failed log-in was told first. */
  #rejection: { readonly text: string; readonly id: string } | undefined
  #answers = 0

  see(exchange: Exchange): void {
    const { id, request, answer } = exchange
    // `MachinesEndAtOnce` judges the tokens of machines.
    if (!request.target.startsWith('/auth/') || request.target === '/auth/token') return
    if (request.target === '/auth/login') this.#logIn(exchange)
    if (answer === undefined) return
    this.#answers++
    for (const fault of faultsOf(exchange)) this.#violate(`The answer to ${id} ${fault}.`, id)
  }

  judge(): Promise<Verdict> {
    const violations = [...this.#violations, ...this.#excesses]
    return Promise.resolve({ tried: this.#answers, of: 'answers of /auth', violations })
  }

  #logIn(exchange: Exchange): void {
    const { id, answer, sentAt, endedAt } = exchange
    // Another site is rejected before its password is looked at.
    if (isForeign(exchange)) return
    const { email, password } = requested(exchange)
    const account = String(email)
    const isRight = ACCOUNTS[account] !== undefined && password === PASSWORD
    const { status = 0 } = answer ?? {}
    if (status === 200 && !isRight) this.#violate(`${id} has logged in ${account} with a wrong password.`, id)
    if (status === 401 && isRight) this.#violate(`${id} has the right password of ${account} and is rejected.`, id)
    // A success clears the failures before its answer, which nobody may get.
    if (isRight && (status === 200 || status === 0 || status >= 500)) {
      this.#failures.delete(account)
      this.#excesses = this.#excesses.filter((one) => one.account !== account || one.endedAt < sentAt)
    }
    if (status !== 401) return
    const known = this.#failures.get(account) ?? []
    // What was under way at the same time may have been looked at later.
    const before = known.filter((at) => at + WINDOW_MS > sentAt && at < sentAt)
    this.#failures.set(account, [...known.filter((at) => at + WINDOW_MS > sentAt), endedAt])
    if (before.length >= MOST_FAILURES) {
      const what = `The password of ${account} was looked at after ${before.length} failures, by ${id}.`
      this.#excesses.push({ what, exchanges: [id], account, endedAt })
    }
    const { title, detail } = objectOf(exchange)
    const text = JSON.stringify({ title, detail })
    this.#rejection ??= { text, id }
    if (this.#rejection.text !== text)
      this.#violate(`${id} says ${text}, and ${this.#rejection.id} ${this.#rejection.text}.`, this.#rejection.id, id)
  }

  #violate(what: string, ...exchanges: readonly string[]): void {
    this.#violations.push({ what, exchanges })
  }
}

/** What is wrong with an answer; each completes `The answer to r-1 …`. */
function* faultsOf(exchange: Exchange): Generator<string> {
  const { request, answer } = exchange
  if (answer === undefined) return
  const { status, headers, body } = answer
  const foreign = isForeign(exchange)
  const endpoint = `${request.method} ${request.target}`
  const expected: Readonly<Record<number, string>> | undefined = foreign ? CROSS_SITE : ANSWERS[endpoint]
  const code = expected?.[status] ?? FAILURES[status]
  if (code === undefined) yield `to ${endpoint} is ${status}, which nothing about the request explains: ${body}`
  if (code !== undefined && code !== '' && objectOf(exchange)['code'] !== code)
    yield `is ${status} and has the code ${String(objectOf(exchange)['code'])}, not ${code}`
  if (status === 204 && body !== '') yield `is 204 and has a body: ${body}`
  if (status === 405 && headers['allow'] === undefined) yield 'is 405 without Allow'
  if ((status === 429 || status === 503) && !/^[1-9]\d*$/.test(headers['retry-after'] ?? ''))
    yield `is ${status} with the Retry-After ${headers['retry-after']}`
  yield* faultsOfHeaders(exchange)
  yield* faultsOfCookies(exchange, foreign)
  if (status === 200) yield* faultsOfToken(exchange)
  if (request.target !== '/auth/session/token' || status !== 401) return
  if (body !== '{"error":"no_session"}' || !isJson(headers['content-type']))
    yield `is a 401 of the type ${headers['content-type']} with the body ${body}`
}

function* faultsOfHeaders({ answer }: Exchange): Generator<string> {
  const { 'cache-control': cache = '', vary = '', 'set-cookie': set } = answer?.headers ?? {}
  const directives = cache.split(/,\s*/).toSorted()
  const wanted = set === undefined ? ['no-store'] : ['no-store', 'private']
  if (!wanted.every((one) => directives.includes(one)) || directives.some((one) => /^(?:public|s-maxage)/.test(one)))
    yield `has the Cache-Control ${cache}`
  if (set !== undefined && !vary.split(/,\s*/).some((name) => name.toLowerCase() === 'cookie'))
    yield `sets cookies with the Vary ${vary}`
}

/** Which cookies there are, and what they say besides. */
function* faultsOfCookies(exchange: Exchange, foreign: boolean): Generator<string> {
  const { request, answer } = exchange
  const cookies = setCookiesOf(answer)
  const expected = foreign ? [] : expectedCookies(exchange)
  const names = [...cookies.keys()].toSorted()
  if (expected !== undefined && names.join() !== expected.join())
    yield `sets ${names.join() || 'no cookie'}, not ${expected.join() || 'none'}`
  const isCleared = isLogOut(exchange) || answer?.status === 401
  for (const [name, cookie] of cookies) yield* faultsOfCookie(name, cookie, isCleared)
  if (request.target !== '/auth/session-cookie' || answer?.status !== 204 || isCleared) return
  const { accessToken, refreshToken } = requested(exchange)
  const [access, refresh] = [cookies.get(ACCESS_COOKIE)?.value, cookies.get(REFRESH_COOKIE)?.value]
  if (access !== accessToken || refresh !== refreshToken) yield 'sets cookies of other tokens than it was sent'
}

/** The names of the cookies that an answer must set or clear; undefined where the age of the access token decides. */
function expectedCookies(exchange: Exchange): readonly string[] | undefined {
  const { request, answer } = exchange
  const { status = 0, headers = {} } = answer ?? {}
  const both = [ACCESS_COOKIE, REFRESH_COOKIE]
  // Also with the data service away.
  if (isLogOut(exchange)) return both
  if (request.target === '/auth/login') return status === 200 ? both : []
  if (request.target === '/auth/session/token') {
    if (status === 401) return request.headers['cookie'] === undefined ? [] : both
    if (status !== 200) return []
    const access = cookieOf(request.headers['cookie'], ACCESS_COOKIE)
    if (access === undefined) return both
    return isGoodAt(access, headers['date']) ? [] : undefined
  }
  if (request.target !== '/auth/session-cookie' || status !== 204) return []
  return requested(exchange)['refreshToken'] === undefined ? [ACCESS_COOKIE] : both
}

function* faultsOfCookie(name: string, { value, attributes }: SetCookie, isCleared: boolean): Generator<string> {
  const rest = attributes.filter((one) => !one.startsWith('Max-Age='))
  // The campaign talks to its gateways without TLS, and sets COOKIE_SECURE to false.
  if (rest.toSorted().join('; ') !== 'HttpOnly; Path=/; SameSite=Lax')
    yield `sets ${name} with ${attributes.join('; ')}`
  const maxAges = attributes.filter((one) => one.startsWith('Max-Age=')).map((one) => Number(one.slice(8)))
  const [maxAge = NaN] = maxAges
  const isRight = isCleared
    ? maxAge === 0 && value === ''
    : maxAge <= REFRESH_TTL_S && maxAge > REFRESH_TTL_S - UNDER_WAY_S && value !== ''
  if (!isRight || maxAges.length !== 1)
    yield `sets ${name} with ${value === '' ? 'no value and ' : ''}${attributes.join('; ')}`
}

/** Of the session in a body, and of its access cookie. */
function* faultsOfToken(exchange: Exchange): Generator<string> {
  const { request, answer } = exchange
  const { accessToken, accessTokenExpiry, ...more } = objectOf(exchange)
  if (!isJson(answer?.headers['content-type'])) yield `is of the type ${answer?.headers['content-type']}`
  if (Object.keys(more).length > 0) yield `has a body with ${Object.keys(more).join()}`
  const claims = claimsOf(accessToken)
  if (claims === undefined) {
    yield 'holds no access token'
    return
  }
  const { sub, role, customer_id: owner, sid, iat, exp } = claims
  const known = ACCOUNTS[String(sub)]
  if (known === undefined || known.role !== role || known.owner !== owner)
    yield `holds a token of ${String(sub)} with the role ${String(role)} and the owner ${String(owner)}`
  if (typeof sid !== 'string' || sid === '') yield 'holds a token of no session'
  if (Number(exp) - Number(iat) !== ACCESS_TTL_S) yield `holds a token from ${String(iat)} to ${String(exp)}`
  // A token without a time, or with one that no date has, ends at no time.
  const end = new Date(Number(exp) * 1000)
  if (Number.isNaN(end.getTime()) || accessTokenExpiry !== end.toISOString())
    yield `says ${String(accessTokenExpiry)} of a token until ${String(exp)}`
  const { email } = requested(exchange)
  if (request.target === '/auth/login' && sub !== email)
    yield `holds a token of ${String(sub)}, not of ${String(email)}`
  const set = setCookiesOf(answer).get(ACCESS_COOKIE)?.value
  const sent = cookieOf(request.headers['cookie'], ACCESS_COOKIE)
  if ((set ?? sent) !== accessToken) yield 'holds another token than its cookie'
}

/** Whether an access token has some time left at the date of an answer: near its end it may be refreshed. */
function isGoodAt(token: string | undefined, date: string | undefined): boolean {
  const exp = Number(claimsOf(token)?.['exp'])
  return exp * 1000 > Date.parse(date ?? '') + 1000 * UNDER_WAY_S
}

function isJson(type: string | undefined): boolean {
  return /^application\/json(?:;|$)/.test(type ?? '')
}

/** The members of the body that was sent. */
function requested({ request }: Exchange): Readonly<Record<string, unknown>> {
  return JSON.parse(request.body ?? '{}') as Readonly<Record<string, unknown>>
}
