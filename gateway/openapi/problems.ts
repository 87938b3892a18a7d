import { ERROR_CODES, type ErrorCode, errorKind } from '../../shared/errors.js'
import type { Components, ComponentRef } from './components.js'
import { problemExamples } from './problem-examples.js'
import { ENTITY_HEADERS, type HeaderName, headerRefs } from './responses.js'

// Problem documents as responses, by status and code.

/** Codes that any operation may be answered with. They share the response `default`. */
const ANYWHERE: readonly ErrorCode[] = [
  'uri.too-long',
  'headers.too-large',
  'method.not-allowed',
  'quota-exceeded',
  'internal',
  'configuration',
  'upstream.bad-gateway',
  'upstream.timeout'
]

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'The request is malformed or something in it is invalid. Every violation is named.',
  401: 'The credentials are missing or not valid.',
  403: 'The caller may not do this.',
  404: 'There is no such row, or the caller may not see it.',
  409: 'The write collides with what is stored, or with a request that is still running.',
  412: 'The row was changed since it was read, or the write collides with what is stored.',
  413: 'The body is over 1 MiB, or holds more than 50,000 values.',
  415: 'The body is not of the media type that is taken.',
  422: 'The state of the row does not allow it, or the key was used for another request.',
  428: 'If-Match is missing.',
  429: 'Too many attempts, or too many requests of one address.',
  503: 'The data service or a database behind it cannot be reached.'
}

const FURTHER_HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  409: ['Retry-After', 'Conflict-Reason'],
  412: ['Conflict-Reason'],
  415: ['Accept-Patch'],
  429: ['Retry-After'],
  503: ['Retry-After']
}

/** How operations of one kind may fail. */
export interface ProblemsOf {
  /** The kind, `paged` for one. All operations of a kind share their responses. */
  readonly name: string
  /** Beside those that any operation may be answered with. */
  readonly codes: readonly ErrorCode[]
  /** Whether the operations take `If-Match`, so that a conflict is 412. */
  readonly guarded?: boolean
  /** Whether they may expire or renew the cookies of a session. */
  readonly setsCookies?: boolean
}

/** The error responses of an operation by status, each with the codes that it may have. */
export function problemResponses(
  components: Components,
  { name, codes, guarded = false, setsCookies = false }: ProblemsOf
): Readonly<Record<string, object>> {
  const statusOf = (code: ErrorCode): number => {
    const kind = errorKind(code)
    return (guarded ? kind.guarded?.http : undefined) ?? kind.http
  }
  const possible = new Set<ErrorCode>([...codes, 'upstream.unavailable'])
  const listed = ERROR_CODES.filter(
    (code) => possible.has(code) && (components.exact || !IN_DEFAULT.includes(statusOf(code)))
  )
  const statuses = [...new Set(listed.map(statusOf))].toSorted((one, other) => one - other)
  const byStatus = statuses.map((status) => {
    const here = listed.filter((code) => statusOf(code) === status)
    return [status, problemResponse(components, { name, status, codes: here, guarded, setsCookies })] as const
  })
  return {
    ...Object.fromEntries(byStatus),
    default: components.refer('responses', `Problem${setsCookies ? COOKIES : ''}`, () => ({
      description: components.exact ? `Any other failure: ${inWords(ANYWHERE)}.` : 'Any other failure.',
      headers: headerRefs(components, [
        ...headersOfProblems(setsCookies),
        'Allow',
        'Retry-After',
        ...(components.exact || setsCookies ? [] : (['Conflict-Reason'] as const))
      ]),
      content: {
        'application/problem+json': {
          schema: problemSchema(components),
          ...examplesOf(components, ANYWHERE, false)
        }
      }
    }))
  }
}

/** Statuses that mean the same for every operation. Outside of the exact document `default` stands for them. */
const IN_DEFAULT: readonly number[] = [401, 403, 409, 413, 415, 422, 428, 429, 503]

/** The examples of these problems, in the exact document. */
function examplesOf(components: Components, codes: readonly ErrorCode[], guarded: boolean): object {
  return components.exact ? { examples: problemExamples(components, codes, guarded) } : {}
}

/** The end of the names of responses that may set cookies. */
const COOKIES = '.with-cookies'

/** Those of entities and operations have theirs in problems, too; responses are shared, so the others name them as well. */
function headersOfProblems(setsCookies: boolean): readonly HeaderName[] {
  return setsCookies ? ['Set-Cookie'] : ENTITY_HEADERS
}

interface ProblemsOfStatus {
  readonly name: string
  readonly status: number
  readonly codes: readonly ErrorCode[]
  readonly guarded: boolean
  readonly setsCookies: boolean
}

function problemResponse(components: Components, problems: ProblemsOfStatus): ComponentRef {
  const { name, status, codes, guarded, setsCookies } = problems
  // Two codes are name enough, and other kinds of operations have the same two.
  const suffix = isStandard(codes, status) ? '' : `.${codes.length <= 2 ? codes.join('.') : name}`
  return components.refer('responses', `Problem${status}${suffix}${setsCookies ? COOKIES : ''}`, () => ({
    description: `${DESCRIPTIONS[status] ?? 'The request failed.'} Codes: ${inWords(codes)}.`,
    headers: headerRefs(components, [...headersOfProblems(setsCookies), ...(FURTHER_HEADERS[status] ?? [])]),
    content: {
      'application/problem+json': {
        schema: {
          allOf: [
            problemSchema(components),
            {
              type: 'object',
              required: ['code', 'status'],
              properties: { code: { type: 'string', enum: codes }, status: { type: 'integer', const: status } }
            }
          ]
        },
        ...examplesOf(components, codes, guarded)
      }
    }
  }))
}

/** The codes of a status that most operations have. Responses with them have short names. */
const STANDARD: readonly string[] = [
  ['auth.required', 'auth.invalid-token'],
  ['ownership.denied', 'capability.denied'],
  ['not-found'],
  ['idempotency.in-flight'],
  ['body.too-large'],
  ['media-type.unsupported'],
  ['idempotency.key.reused', 'state.invalid'],
  ['precondition.required'],
  ['quota-exceeded'],
  ['upstream.unavailable']
].map(String)

/** No two of the standard lists have the same status, and a conflict is the whole list of 412 alone. */
function isStandard(codes: readonly ErrorCode[], status: number): boolean {
  return STANDARD.includes(String(codes)) || (status === 412 && String(codes) === 'conflict')
}

function inWords(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `\`${code}\``).join(', ')
}

/** RFC 9457 with the members of contract.md section 7. */
export function problemSchema(components: Components): ComponentRef {
  const code = components.refer('schemas', 'ProblemCode', () => ({ type: 'string', enum: ERROR_CODES }))
  const violation = components.refer('schemas', 'Violation', () => ({
    type: 'object',
    description:
      'One thing that is wrong with a request, and its place: a parameter, a member of the body, or a header.',
    required: ['code', 'detail'],
    properties: {
      code,
      detail: { type: 'string' },
      parameter: { type: 'string' },
      pointer: { type: 'string', description: 'A JSON pointer into the body (RFC 6901).' },
      header: { type: 'string' },
      rule: {
        type: 'string',
        description:
          'The rule that the value does not follow, for messages in other languages: `required`, `notNull`, `length`, `bytes`, `items`, `range`, `digits`, `oneOf`, `type`. Its numbers stand beside it. Absent where none of these says it.'
      },
      minimum: { type: ['number', 'string'], description: 'Of `length`, `bytes`, `items` and `range`.' },
      maximum: { type: ['number', 'string'], description: 'Of `length`, `bytes`, `items` and `range`.' },
      whole: { type: 'integer', description: 'Of `digits`: the most before the point.' },
      fraction: { type: 'integer', description: 'Of `digits`: the most after the point.' },
      words: { type: 'array', description: 'Of `oneOf`.', items: { type: 'string' } },
      type: { type: 'string', description: 'Of `type`: a type of the contract, `int` for example.' }
    }
  }))
  return components.refer('schemas', 'Problem', () => ({
    type: 'object',
    description: 'A problem document (RFC 9457). A conflict that an action reports may have further members.',
    required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'requestId'],
    properties: {
      type: { type: 'string', format: 'uri', description: 'Leads to a page that explains the code.' },
      title: { type: 'string' },
      status: { type: 'integer', minimum: 400, maximum: 599 },
      detail: { type: 'string' },
      instance: { type: 'string', description: 'The path of the request.' },
      code,
      requestId: { type: 'string' },
      errors: {
        type: 'array',
        description: 'Every violation, wherever a parameter, a header or a place in the body is wrong.',
        items: violation
      }
    }
  }))
}
