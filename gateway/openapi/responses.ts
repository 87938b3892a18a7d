import { headerRefs, type HeaderName } from './headers.js'

const PROBLEM = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } as const

/** What every operation may answer besides its success. */
export function problemResponses(...further: readonly (400 | 404)[]): Readonly<Record<string, object>> {
  return {
    400: problem('The request is malformed or a parameter is invalid; every fault is named.'),
    401: problem('The access token is missing or invalid.', 'WWW-Authenticate'),
    403: problem('The caller may not see this.'),
    ...(further.includes(404) ? { 404: problem('There is no such row, or the caller may not see it.') } : {}),
    503: problem('The data service or a database behind it cannot be reached.', 'Retry-After'),
    default: problem('Any other failure.')
  }
}

/** A success with its headers. */
export function success(
  description: string,
  content: object,
  headers: readonly HeaderName[]
): Readonly<Record<string, object>> {
  return { 200: { description, headers: headerRefs('X-Ignored-Parameters', ...headers), content } }
}

export function jsonContent(schema: object): object {
  return { 'application/json': { schema } }
}

function problem(description: string, ...headers: readonly HeaderName[]): object {
  return { description, headers: headerRefs(...headers), content: PROBLEM }
}
