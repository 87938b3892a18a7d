import { fastifyCookie } from '@fastify/cookie'

/** `cookie-octet` of RFC 6265 section 4.1.1: what a cookie's value may hold without quotes. */
const COOKIE_OCTETS = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/

/** Bytes of name and value together. Browsers drop a larger cookie (RFC 6265bis section 5.6). */
const MAX_COOKIE_BYTES = 4096

/** Why a cookie cannot hold the value, to complete the sentence "… cannot be a cookie: ". undefined if it can. */
export function cookieViolation(name: string, value: string): string | undefined {
  if (!COOKIE_OCTETS.test(value)) return 'it may hold visible ASCII characters but no quotes, commas, semicolons or \\'
  const bytes = name.length + value.length
  return bytes > MAX_COOKIE_BYTES ? `with its name it has ${bytes} bytes, and browsers take 4096` : undefined
}

interface CookieAttributes {
  /** Seconds. Without it the cookie ends with the browser's session. */
  readonly maxAge?: number
  readonly secure: boolean
  /** `/` if it is left out. */
  readonly path?: string
}

/**
 * The value of `Set-Cookie` (RFC 6265 section 4.1) for a cookie that scripts cannot read. An empty
 * `value` with `maxAge` 0 deletes the cookie.
 */
export function setCookie(name: string, value: string, { maxAge, secure, path = '/' }: CookieAttributes): string {
  return fastifyCookie.serialize(name, value, {
    path,
    httpOnly: true,
    sameSite: 'lax',
    secure,
    ...(maxAge === undefined ? {} : { maxAge }),
    // The library would percent-encode the value. cookieViolation has checked that this is not necessary.
    encode: (text) => text
  })
}
