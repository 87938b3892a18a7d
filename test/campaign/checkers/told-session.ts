import type { Written } from './written-history.js'

const ADA = 'ada@example.com'
export const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Lax'
/** Seconds since 1970, when every token of these histories was made. */
export const MADE = Date.parse('2030-01-01T00:00:00Z') / 1000

/** An access token of Ada, or of somebody else; its signature is nobody's. */
export function accessToken(claims: object = {}): string {
  const all = { sub: ADA, role: 'Customer', customer_id: 1, sid: 's-1', iat: MADE, exp: MADE + 900, ...claims }
  return `h.${Buffer.from(JSON.stringify(all)).toString('base64url')}.s`
}

export const cookies = (access: string, refresh: string, attributes = `Max-Age=604800; ${ATTRIBUTES}`) =>
  `app_auth_access=${access}; ${attributes},app_auth_refresh=${refresh}; ${attributes}`
export const CLEARED = cookies('', '', `Max-Age=0; ${ATTRIBUTES}`)
export const plain = { 'cache-control': 'no-store', date: 'Tue, 01 Jan 2030 00:00:01 GMT' }
export const set = (line: string) => ({
  'cache-control': 'private, no-store',
  vary: 'Cookie',
  date: plain.date,
  'set-cookie': line
})
export const given = (token: string, claims: object = {}): Pick<Written, 'answer' | 'got'> => ({
  answer: { accessToken: accessToken(claims), accessTokenExpiry: '2030-01-01T00:15:00.000Z' },
  got: set(cookies(accessToken(claims), token))
})

export const login = { email: ADA, password: 'demo-password' }
export const logIn: Written = { call: 'POST /auth/login', body: login, status: 200, ...given('t-0') }
export const refresh = (token: string, next: string | undefined, sentAt: number, claims: object = {}): Written => ({
  call: 'POST /auth/session/token',
  headers: { cookie: `app_auth_refresh=${token}` },
  at: [sentAt, sentAt + 5],
  ...(next === undefined
    ? { status: 401, answer: { error: 'no_session' }, got: set(CLEARED) }
    : { status: 200, ...given(next, claims) })
})
export const logOut = (target = 'POST /auth/logout'): Written => ({
  call: target,
  headers: { cookie: 'app_auth_refresh=t-1' },
  status: 204,
  at: [300, 305],
  got: set(CLEARED)
})
export const first = refresh('t-0', 't-1', 200)
export const lost = ({ status: _, answer: __, got: ___, ...written }: Written): Written => written
export const foreign = (written: Written): Written => ({
  ...written,
  headers: { ...written.headers, 'sec-fetch-site': 'cross-site' },
  status: 403,
  answer: { code: 'request.cross-site' },
  got: plain
})
