import type { Exchange } from '../../history.js'
import type { Checker, Verdict, Violation } from '../checker.js'
import { ACCESS_COOKIE, claimsOf, cookieOf, isForeign, isLogOut, REFRESH_COOKIE, setCookiesOf } from './cookies.js'
import { objectOf } from '../json.js'

/** How long a used token is honoured once more (`REFRESH_GRACE`), and what the clocks of processes may differ by. */
const GRACE_MS = 10_000
const CLOCKS_MS = 1000
/** For how long a request may still arrive whose answer did not: by then every client has given up, and every fault is mended. */
const UNDER_WAY_MS = 60_000

/** A session, which one client holds. */
interface Family {
  /** Whose it is, and the id that its access tokens name; neither changes. */
  readonly of: string
  readonly tokens: Map<string, Use>
  /** The token that its client was given last; undefined while an answer that may have held another was lost. */
  newest: string | undefined
  /** Until when a refresh without an answer may make a token that nobody is told of. */
  unknownUntil: number
  /** From when on it may be over for a reason: a log-out was sent, or a used token came after its grace. */
  mayBeOverFrom: number
  /** The first answer by which its client knew that it is over: a log-out, or a token that was rejected. */
  over?: { readonly id: string; readonly endedAt: number }
}

interface Use {
  /** When the first request with it was sent. */
  sentAt?: number
  /** When the first answer that honoured it had arrived. */
  honouredAt?: number
}

/** Browsers, each of which asks one thing at a time, and those who find a token that a browser has used. */
export class SessionsEndOnce implements Checker {
  readonly title = 'Sessions end when they should'
  readonly contract = '8. Sessions'
  readonly how =
    '`sessions` logs in, refreshes, tries used tokens again, some of them long after their grace window, and logs out.'
  readonly promise =
    'A session that is over stays so, no refresh token is honoured past its grace window, one that comes back later ends its session, and no session is lost without a reason or becomes one of somebody else.'
  /** By each token of theirs. */
  readonly #families = new Map<string, Family>()
  readonly #sessions = new Set<string>()
  readonly #violations: Violation[] = []
  #tried = 0

  see(exchange: Exchange): void {
    const { id, request, answer, endedAt, sentAt } = exchange
    // What comes from another site is rejected before anything else, and must do nothing.
    if (!request.target.startsWith('/auth/') || isForeign(exchange)) return
    const next = refreshTokenOf(exchange)
    const token = cookieOf(request.headers['cookie'], REFRESH_COOKIE)
    if ([next, token].some((one) => one !== undefined && answer?.body.includes(one) === true))
      this.#violate(`${id} holds a refresh token in its body.`, id)
    if (request.target === '/auth/login') {
      if (answer?.status !== 200) return
      const of = sessionOf(exchange)
      if (next === undefined || this.#families.has(next) || this.#sessions.has(of))
        this.#violate(`The log-in ${id} has no session of its own.`, id)
      else {
        const family = { of, tokens: new Map([[next, {}]]), newest: next, unknownUntil: 0, mayBeOverFrom: Infinity }
        this.#families.set(next, family)
      }
      this.#sessions.add(of)
      return
    }
    const family = token === undefined ? undefined : this.#families.get(token)
    if (token === undefined || family === undefined) return
    if (isLogOut(exchange)) {
      family.mayBeOverFrom = Math.min(family.mayBeOverFrom, sentAt)
      if (answer?.status === 204) family.over ??= { id, endedAt }
    } else if (request.target === '/auth/session/token') {
      // Beside an access token that is good no refresh token is used.
      const isAsked = cookieOf(request.headers['cookie'], ACCESS_COOKIE) === undefined || next !== undefined
      if (isAsked) this.#refresh(exchange, family, token)
    }
  }

  judge(): Promise<Verdict> {
    return Promise.resolve({ tried: this.#tried, of: 'refreshes', violations: this.#violations })
  }

  #refresh(exchange: Exchange, family: Family, token: string): void {
    const { id, answer, sentAt, endedAt } = exchange
    const use = family.tokens.get(token) ?? {}
    family.tokens.set(token, use)
    // A token that was used so long ago ends its session.
    if (use.sentAt !== undefined && use.sentAt + GRACE_MS - CLOCKS_MS <= endedAt) {
      family.mayBeOverFrom = Math.min(family.mayBeOverFrom, sentAt)
    }
    use.sentAt ??= sentAt
    const status = answer?.status
    if (status === 200) this.#honour(exchange, family, token)
    else if (status === 401) {
      this.#tried++
      if (family.mayBeOverFrom > endedAt)
        this.#violate(`The refresh ${id} finds no session, and nothing had ended it.`, id)
      family.over ??= { id, endedAt }
    } else if (status === undefined || status >= 500) {
      family.newest = undefined
      family.unknownUntil = Math.max(family.unknownUntil, endedAt + UNDER_WAY_MS)
      // It may arrive when its token, which was sent again meanwhile, is past its grace.
      family.mayBeOverFrom = Math.min(family.mayBeOverFrom, Math.max(sentAt, use.sentAt + GRACE_MS - CLOCKS_MS))
    }
  }

  #honour(exchange: Exchange, family: Family, token: string): void {
    const { id, sentAt, endedAt } = exchange
    const use = family.tokens.get(token) ?? {}
    this.#tried++
    const { over } = family
    if (over !== undefined && over.endedAt < sentAt)
      this.#violate(`The refresh ${id} was honoured after ${over.id} had ended its session.`, over.id, id)
    if (sessionOf(exchange) !== family.of)
      this.#violate(`The refresh ${id} is of ${family.of} and was answered with a token of ${sessionOf(exchange)}.`, id)
    if (use.honouredAt !== undefined && use.honouredAt + GRACE_MS + CLOCKS_MS < sentAt) {
      this.#violate(`The refresh ${id} was honoured with a token that was used long before.`, id)
    }
    const isFirst = use.honouredAt === undefined
    use.honouredAt ??= endedAt
    const next = refreshTokenOf(exchange)
    if (next === undefined || next === token) {
      this.#violate(`The refresh ${id} was answered without a new token.`, id)
      return
    }
    const other = this.#families.get(next)
    if (other !== undefined && other !== family)
      this.#violate(`The refresh ${id} was answered with a token of another session.`, id)
    if (!isFirst && family.newest !== undefined && family.newest !== next) {
      this.#violate(`The refresh ${id} with a used token was not answered with the newest one.`, id)
    }
    this.#families.set(next, family)
    if (!family.tokens.has(next)) family.tokens.set(next, {})
    family.newest = sentAt < family.unknownUntil ? undefined : next
  }

  #violate(what: string, ...exchanges: readonly string[]): void {
    this.#violations.push({ what, exchanges })
  }
}

/** The refresh token that an answer sets; undefined where there is none, or a cookie that takes it away. */
function refreshTokenOf({ answer }: Exchange): string | undefined {
  const value = setCookiesOf(answer).get(REFRESH_COOKIE)?.value
  return value === '' ? undefined : value
}

/** Subject and session of the access token in a body. */
function sessionOf(exchange: Exchange): string {
  const { sub, sid } = claimsOf(objectOf(exchange)['accessToken']) ?? {}
  return `${String(sub)} in ${String(sid)}`
}
