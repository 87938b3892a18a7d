import { readSessionCookie } from '../../../shared/session-cookie/read-session-cookie.js'

/** Whom a page greets. Never more than a name on a page: the cookie's signature is not verified. */
export interface Visitor {
  readonly name: string
}

/** undefined for somebody who is not signed in. */
export function visitorOf(cookieHeader: string | undefined, clock: () => number): Visitor | undefined {
  const result = readSessionCookie(cookieHeader, clock)
  if (result.kind !== 'success') return undefined
  const name = result.principal.name ?? result.principal.nameIdentifier
  return name === undefined ? undefined : { name }
}
