import { headerRefs, type HeaderName } from './headers.js'

const PROBLEM = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } as const

const FURTHER = {
  404: problem('There is no such row, or the caller may not see it.'),
  409: problem('A unique value is taken, the row is referenced, or the key is in use.', 'Retry-After'),
  412: problem('The row was changed since it was read, or the write collides with another one.'),
  413: problem('The body is over 1 MiB.'),
  415: problem('The body is not application/json.'),
  422: problem("The row's state does not allow it, or the key was used for another request."),
  428: problem('If-Match is missing.')
} as const

/** What every operation may answer besides its success, and what only some may. */
export function problemResponses(further: readonly (keyof typeof FURTHER)[]): Readonly<Record<string, object>> {
  return {
    400: problem('The request is malformed or something in it is invalid; every fault is named.'),
    401: problem('The access token is missing or invalid.', 'WWW-Authenticate'),
    403: problem('The caller may not do this.'),
    ...Object.fromEntries(further.map((status) => [status, FURTHER[status]])),
    503: problem('The data service or a database behind it cannot be reached.', 'Retry-After'),
    default: problem('Any other failure.')
  }
}

/** A success with its headers. */
export function success(answer: {
  readonly status: 200 | 201 | 204
  readonly description: string
  readonly content?: object
  readonly headers: readonly HeaderName[]
}): Readonly<Record<string, object>> {
  const { status, description, content, headers } = answer
  return {
    [status]: {
      description,
      headers: headerRefs('X-Ignored-Parameters', ...headers),
      ...(content === undefined ? {} : { content })
    }
  }
}

export function jsonContent(schema: object): object {
  return { 'application/json': { schema } }
}

function problem(description: string, ...headers: readonly HeaderName[]): object {
  return { description, headers: headerRefs(...headers), content: PROBLEM }
}
