import type { Exchange } from '../history.js'
import type { Checker, Verdict, Violation } from './checker.js'

/** How long a used token is honoured once more (`REFRESH_GRACE`), and what the clocks of processes may differ by. */
const GRACE_MS = 10_000
const CLOCKS_MS = 1000

/** A session, which one client holds. */
interface Family {
  readonly tokens: Map<string, Use>
  /** The token that its client was given last; undefined while an answer that may have held another was lost. */
  newest: string | undefined
  /** From when on it may be over for a reason: a log-out was sent, or a used token came after its grace. */
  mayBeOverFrom: number
  loggedOut?: { readonly id: string; readonly endedAt: number }
}

interface Use {
  /** When the first request with it was sent. */
  sentAt?: number
  /** When the first answer that honoured it had arrived. */
  honouredAt?: number
}

/** Browsers, each of which asks one thing at a time. */
export class SessionsEndOnce implements Checker {
  readonly title = 'Sessions end when they should'
  readonly contract = '8. Sessions'
  readonly how = '`sessions` logs in, refreshes, tries used tokens again and logs out.'
  readonly promise =
    'A session that was logged out stays so, no refresh token is honoured past its grace window, and no session is lost without a reason.'
  readonly #families = new Map<string, Family>()
  readonly #violations: Violation[] = []
  #tried = 0

  see(exchange: Exchange): void {
    const { id, request, answer, endedAt, sentAt } = exchange
    if (!request.target.startsWith('/auth/')) return
    const next = cookieOf(answer?.headers['set-cookie'])
    if (next !== undefined && answer?.body.includes(next) === true)
      this.#violate(`${id} holds a refresh token in its body.`, id)
    if (request.target === '/auth/login') {
      if (answer?.status !== 200) return
      if (next === undefined || this.#families.has(next))
        this.#violate(`The log-in ${id} has no refresh token of its own.`, id)
      else this.#families.set(next, { tokens: new Map([[next, {}]]), newest: next, mayBeOverFrom: Infinity })
      return
    }
    const token = cookieOf(request.headers['cookie'])
    const family = token === undefined ? undefined : this.#families.get(token)
    if (token === undefined || family === undefined) return
    if (request.target === '/auth/logout') {
      family.mayBeOverFrom = Math.min(family.mayBeOverFrom, sentAt)
      if (answer?.status === 204) family.loggedOut ??= { id, endedAt }
    } else if (request.target === '/auth/session/token') {
      this.#refresh(exchange, family, token)
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
    } else if (status === undefined || status >= 500) {
      family.newest = undefined
    }
  }

  #honour({ id, answer, sentAt, endedAt }: Exchange, family: Family, token: string): void {
    const use = family.tokens.get(token) ?? {}
    this.#tried++
    const { loggedOut } = family
    if (loggedOut !== undefined && loggedOut.endedAt < sentAt) {
      this.#violate(`The refresh ${id} was honoured after the log-out ${loggedOut.id}.`, loggedOut.id, id)
    }
    if (use.honouredAt !== undefined && use.honouredAt + GRACE_MS + CLOCKS_MS < sentAt) {
      this.#violate(`The refresh ${id} was honoured with a token that was used long before.`, id)
    }
    const isFirst = use.honouredAt === undefined
    use.honouredAt ??= endedAt
    const next = cookieOf(answer?.headers['set-cookie'])
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
    family.newest = next
  }

  #violate(what: string, ...exchanges: readonly string[]): void {
    this.#violations.push({ what, exchanges })
  }
}

/** The refresh token in `Cookie` or `Set-Cookie`; undefined where there is none, or one that takes it away. */
function cookieOf(header: string | undefined): string | undefined {
  const value = /\bapp_auth_refresh=([^;,]*)/.exec(header ?? '')?.[1]
  return value === '' ? undefined : value
}
