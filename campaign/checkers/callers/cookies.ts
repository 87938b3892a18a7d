import type { Answer, Exchange } from '../../history.js'

export const ACCESS_COOKIE = 'app_auth_access'
export const REFRESH_COOKIE = 'app_auth_refresh'

/** A cookie that an answer sets. */
export interface SetCookie {
  readonly value: string
  /** As they were sent, in order: `Max-Age=604800`, `HttpOnly`. */
  readonly attributes: readonly string[]
}

/** The cookies of an answer by name. Neither values nor attributes of those of sessions have a comma. */
export function setCookiesOf(answer: Answer | undefined): ReadonlyMap<string, SetCookie> {
  const lines = (answer?.headers['set-cookie'] ?? '').split(/,\s*(?=[\w-]+=)/)
  return new Map(
    lines
      .filter((line) => line !== '')
      .map((line) => {
        const [pair = '', ...attributes] = line.split(/;\s*/)
        const at = pair.indexOf('=')
        return [pair.slice(0, at), { value: pair.slice(at + 1), attributes }]
      })
  )
}

/** The value of a cookie of a request; undefined where it has none of that name. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  const pairs = (header ?? '').split(/;\s*/).map((pair) => pair.split('=', 2))
  return pairs.find(([found]) => found === name)?.[1]
}

/** The claims of an access token (RFC 7519 section 3); undefined for what is none. Its signature is not looked at. */
export function claimsOf(token: unknown): Readonly<Record<string, unknown>> | undefined {
  const [, payload, ...rest] = typeof token === 'string' ? token.split('.') : []
  if (payload === undefined || rest.length !== 1) return undefined
  try {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as unknown
    return typeof claims === 'object' && claims !== null ? { ...claims } : undefined
  } catch {
    return undefined
  }
}

/** Whether a request ends the session of its cookies. */
export function isLogOut({ request }: Exchange): boolean {
  return request.target === '/auth/logout' || (request.target === '/auth/session-cookie' && request.method === 'DELETE')
}

/** Whether a request says that another site has made it, which is rejected before anything else. */
export function isForeign({ request }: Exchange): boolean {
  return /\bcross-site\b/i.test(request.headers['sec-fetch-site'] ?? '')
}
