import type { Exchange } from '../../history.js'
import type { Checker, Verdict, Violation } from '../checker.js'
import { pathOf } from '../chains.js'
import { isObject, objectOf } from '../json.js'
import { claimsOf } from './cookies.js'

/** `ACCESS_TOKEN_TTL`, in seconds. */
const ACCESS_TTL_S = 900
/** Of every machine of the campaign. */
const ROLE = 'Clerk'

/** From when something may have ended, and when it was acknowledged that it has. */
interface End {
  sentAt?: number
  done?: { readonly id: string; readonly endedAt: number }
}

interface Secret extends End {
  readonly account: Account
}

interface Account extends End {
  readonly clientId: string
  /** By number, the one that was shown last. */
  readonly secrets: Map<number, Secret>
}

/** Machine accounts: which token requests succeed, and what they and the others are told. */
export class MachinesEndAtOnce implements Checker {
  readonly title = 'Machines end at once'
  readonly contract = '6. Ownership and permissions'
  readonly how =
    '`machines` makes machine accounts, gets tokens with their secrets, creates and exports with these, gives an account a second secret and removes the first, and disables it. It asks for tokens with removed secrets, wrong ones and those of disabled accounts too. Counted are answers to requests for a token.'
  readonly promise =
    'A machine gets tokens with each of its secrets, of its own account and role, until the secret is removed or the account disabled, and none that is asked for after that was acknowledged, of whichever data service; all that are refused are told the same.'
  readonly #accounts = new Map<string, Account>()
  readonly #secrets = new Map<string, Secret>()
  /** What a request that was refused was told first. */
  #rejection: { readonly text: string; readonly id: string } | undefined
  readonly #violations: Violation[] = []
  #tried = 0

  see(exchange: Exchange): void {
    const [first, second] = pathOf(exchange)
    if (first === 'accounts') this.#manage(exchange)
    else if (first === 'auth' && second === 'token') this.#ask(exchange)
  }

  judge(): Promise<Verdict> {
    return Promise.resolve({ tried: this.#tried, of: 'answers to requests for a token', violations: this.#violations })
  }

  #manage(exchange: Exchange): void {
    const { id, request, answer, sentAt, endedAt } = exchange
    const [, accountId = '', what, number] = pathOf(exchange)
    const told = objectOf(exchange)
    const isDone = answer !== undefined && answer.status < 300
    if (accountId === '' && isDone) {
      const name = String(told['id'])
      const account = this.#accounts.get(name) ?? { clientId: String(told['email']), secrets: new Map() }
      this.#accounts.set(name, account)
      this.#add(account, 1, told['secret'])
      return
    }
    const account = this.#accounts.get(accountId)
    if (account === undefined) return
    if (request.method === 'POST' && what === 'secrets' && isDone)
      this.#add(account, Number(told['number']), told['secret'])
    const ended =
      request.method === 'DELETE' ? account.secrets.get(Number(number)) : what === 'disable' ? account : undefined
    // A rejection has ended nothing, and a write that is sent again may have done so the first time.
    const isRejected = answer !== undefined && answer.status >= 400 && answer.status < 500 && answer.status !== 409
    if (ended === undefined || isRejected) return
    ended.sentAt = Math.min(ended.sentAt ?? Infinity, sentAt)
    if (isDone) ended.done ??= { id, endedAt }
  }

  #add(account: Account, number: number, text: unknown): void {
    if (typeof text !== 'string' || this.#secrets.has(text)) return
    const secret = { account }
    this.#secrets.set(text, secret)
    account.secrets.set(number, secret)
  }

  #ask(exchange: Exchange): void {
    const { id, answer, sentAt, endedAt } = exchange
    if (answer === undefined) return
    this.#tried++
    const [clientId, text] = credentialsOf(exchange)
    const found = this.#secrets.get(text)
    const secret = found?.account.clientId === clientId ? found : undefined
    if (answer.status === 200) {
      for (const fault of faultsOfToken(exchange, clientId)) this.#violate(`${id} ${fault}.`, id)
      if (secret === undefined) this.#violate(`${id} has got a token of ${clientId} with a wrong secret.`, id)
      for (const [what, end] of [
        ['the secret was removed', secret],
        ['the account was disabled', secret?.account]
      ] as const) {
        const done = end?.done
        if (done !== undefined && done.endedAt < sentAt)
          this.#violate(`${id} has got a token of ${clientId} after ${what} by ${done.id}.`, done.id, id)
      }
    } else if (answer.status === 401) {
      const mayBeOver = [secret, secret?.account].some((end) => (end?.sentAt ?? Infinity) <= endedAt)
      if (secret !== undefined && !mayBeOver)
        this.#violate(`${id} has a secret of ${clientId} and is refused, and nothing had ended it.`, id)
      this.#refused(exchange)
    } else if (answer.status < 500 && answer.status !== 429) {
      this.#violate(`${id} is told ${answer.status}: ${answer.body.slice(0, 200)}.`, id)
    }
  }

  /** Whoever is refused learns nothing of the reason. */
  #refused({ id, answer }: Exchange): void {
    const { headers = {}, body = '' } = answer ?? {}
    const names = ['content-type', 'cache-control', 'www-authenticate', 'set-cookie']
    const text = JSON.stringify([body, ...names.map((name) => headers[name])])
    this.#rejection ??= { text, id }
    if (this.#rejection.text !== text)
      this.#violate(`${id} is told ${text}, and ${this.#rejection.id} ${this.#rejection.text}.`, this.#rejection.id, id)
    if (!body.startsWith('{"error":"invalid_client"') || headers['www-authenticate']?.startsWith('Basic ') !== true)
      this.#violate(`${id} is refused with ${text}.`, id)
  }

  #violate(what: string, ...exchanges: readonly string[]): void {
    this.#violations.push({ what, exchanges })
  }
}

/** Client id and secret of a token request, by HTTP Basic or in the body. */
function credentialsOf({ request }: Exchange): readonly [clientId: string, secret: string] {
  const basic = /^Basic (.+)$/.exec(request.headers['authorization'] ?? '')?.[1]
  if (basic !== undefined) {
    const [clientId = '', secret = ''] = Buffer.from(basic, 'base64')
      .toString('utf8')
      .split(':')
      .map(decodeURIComponent)
    return [clientId, secret]
  }
  const body = new URLSearchParams(request.body ?? '')
  return [body.get('client_id') ?? '', body.get('client_secret') ?? '']
}

/** What is wrong with the answer that has a token; each completes `r-1 …`. */
function* faultsOfToken(exchange: Exchange, clientId: string): Generator<string> {
  const { headers = {} } = exchange.answer ?? {}
  const { access_token: token, token_type: type, expires_in: seconds, ...more } = objectOf(exchange)
  if (Object.keys(more).length > 0) yield `is told ${Object.keys(more).join()} beside its token`
  if (headers['set-cookie'] !== undefined) yield 'is told a cookie beside its token'
  if (headers['cache-control'] !== 'no-store') yield `has the Cache-Control ${headers['cache-control']}`
  if (type !== 'Bearer' || typeof seconds !== 'number' || seconds <= 0 || seconds > ACCESS_TTL_S)
    yield `is told a ${String(type)} token for ${String(seconds)} seconds`
  const claims = claimsOf(token)
  if (!isObject(claims)) {
    yield 'holds no access token'
    return
  }
  const { sub, client_id: client, role, sid, iat, exp } = claims
  if (sub !== clientId || client !== clientId || role !== ROLE || sid !== undefined)
    yield `asked as ${clientId} and holds a token of ${String(sub)}, ${String(client)}, with the role ${String(role)} and the session ${String(sid)}`
  if (Number(exp) - Number(iat) !== ACCESS_TTL_S) yield `holds a token from ${String(iat)} to ${String(exp)}`
}
