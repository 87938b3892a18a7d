const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's request id where it is a fit one, else a new one. */
export function requestIdOf(header: string | string[] | undefined, newId: () => string): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : newId()
}
