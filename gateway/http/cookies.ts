import { fastifyCookie } from '@fastify/cookie'

/** RFC 6265 section 4.1.1: what a cookie may hold unquoted. */
const COOKIE_OCTETS = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/

/** Bytes of name and value together, beyond which browsers drop a cookie (RFC 6265bis section 5.6). */
const MAX_COOKIE_BYTES = 4096

export interface CookieAttributes {
  /** Seconds; without it the cookie ends with the browser's session. */
  readonly maxAge?: number
  readonly secure: boolean
}

/** Why a cookie cannot hold the value, to complete the sentence "… cannot be a cookie: ". */
export function cookieFault(name: string, value: string): string | undefined {
  if (!COOKIE_OCTETS.test(value)) return 'it may hold visible ASCII characters but no quotes, commas, semicolons or \\'
  const bytes = name.length + value.length
  return bytes > MAX_COOKIE_BYTES ? `with its name it has ${bytes} bytes, and browsers take 4096` : undefined
}

/** A `Set-Cookie` value of the whole host, out of reach of scripts. Empty `value` and `maxAge` 0 expire the cookie. */
export function setCookie(name: string, value: string, { maxAge, secure }: CookieAttributes): string {
  return fastifyCookie.serialize(name, value, {
    path: '/',
    httpOnly: true,
    sameSite: 'lax',
    secure,
    ...(maxAge === undefined ? {} : { maxAge }),
    // The token itself, and nothing that had to be decoded: cookieFault has seen to what it holds.
    encode: (text) => text
  })
}
