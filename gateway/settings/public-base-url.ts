/** The public base URL in its two parts. */
export interface PublicBaseUrl {
  /** `https://shop.example` */
  readonly origin: string
  /** `/api`, or empty: the prefix of every route. */
  readonly path: string
}

/** Path segments are limited to characters that mean nothing to a router and need no escaping in a link. */
const PLAIN_PATH = /^(?:\/[A-Za-z0-9._~-]+)*\/?$/

/** What the data service keeps of a link (entity_service.proto, CreateRequest). */
const LONGEST = 2048

/** The Error's message completes the sentence "PUBLIC_BASE_URL …". */
export function parsePublicBaseUrl(text: string): PublicBaseUrl | Error {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return new Error('must be an absolute http or https URL')
  }
  if (text.length > LONGEST) return new Error(`must have at most ${LONGEST} characters`)
  if (text.includes('?') || text.includes('#')) return new Error('must have neither query nor fragment')
  if (url.username !== '' || url.password !== '') return new Error('must have no user name or password')
  if (!PLAIN_PATH.test(url.pathname)) {
    return new Error('must have a path of letters, digits and . _ ~ - in plain segments')
  }
  return { origin: url.origin, path: url.pathname.replace(/\/$/, '') }
}
