/** The codes of the contract by their status (contract.md section 7). A code never changes its meaning. */
const CODES = {
  400: [
    'request.malformed',
    'body.malformed',
    'body.invalid',
    'id.invalid',
    'id.mismatch',
    'paging.invalid',
    'paging.cursor.invalid',
    'filter.property.unknown',
    'filter.operator.unsupported',
    'filter.value.invalid',
    'filter.too-many',
    'fields.invalid',
    'sort.property.unknown',
    'sort.direction.invalid',
    'include.invalid',
    'include.too-many',
    'totals.invalid',
    'parameter.unknown',
    'precondition.malformed',
    'idempotency.key.invalid',
    'idempotency.key.missing',
    'version.unsupported'
  ],
  401: ['auth.required', 'auth.invalid-token', 'auth.invalid-credentials'],
  403: ['ownership.denied', 'capability.denied', 'request.cross-site', 'antiforgery.invalid'],
  404: ['not-found', 'route.not-found'],
  405: ['method.not-allowed'],
  409: ['conflict', 'idempotency.in-flight'],
  // Where the write had a precondition.
  412: ['conflict'],
  413: ['body.too-large'],
  414: ['uri.too-long'],
  415: ['media-type.unsupported'],
  422: ['idempotency.key.reused', 'state.invalid'],
  428: ['precondition.required'],
  429: ['quota-exceeded'],
  431: ['headers.too-large'],
  500: ['internal', 'configuration'],
  502: ['upstream.bad-gateway'],
  503: ['upstream.unavailable'],
  504: ['upstream.timeout']
} as const

type Codes = typeof CODES

/** The codes that the contract has. */
export type ProblemCode = Codes[keyof Codes][number]

/** The statuses that a code comes with. */
type StatusOf<Code extends ProblemCode> = {
  [Status in keyof Codes]: Code extends Codes[Status][number] ? Status : never
}[keyof Codes]

/** What is wrong with one place of a request. */
export interface Fault {
  /** One of the contract, unless the service is newer than this client. */
  readonly code: string
  /** What is wrong, and what would be right. */
  readonly detail: string
  /** The query or path parameter that is wrong. */
  readonly parameter?: string
  /** A JSON pointer into the body (RFC 6901): `/price`. */
  readonly pointer?: string
  /** The header that is wrong. */
  readonly header?: string
  /**
   * The rule that the value does not follow, for messages in other languages: `required`, `notNull`, `length`, `bytes`,
   * `items`, `range`, `digits`, `oneOf` or `type`. Absent where none of these says it, and of an older service.
   */
  readonly rule?: string
  /** Of `length`, `bytes`, `items` and `range`. A text where a JSON number may not hold it. */
  readonly minimum?: number | string
  readonly maximum?: number | string
  /** Of `digits`: the most before and after the point. */
  readonly whole?: number
  readonly fraction?: number
  /** Of `oneOf`. */
  readonly words?: readonly string[]
  /** Of `type`: a type of the contract, `int` for example. */
  readonly type?: string
}

/** Why a write is a conflict. */
export interface ConflictReason {
  /**
   * `stale`: the row has another version. `unique`: another row has the value. `reference`: the row that the value names is
   * not there. `referenced`: other rows refer to the row. Trying again helps with `stale` and perhaps with `unspecified`.
   */
  readonly kind: (typeof CONFLICT_KINDS)[number]
  /** The property whose value is the reason; absent where it is not known, or the caller may not read it. */
  readonly property?: string
  /** A sentence for people. */
  readonly detail: string
}

const CONFLICT_KINDS = ['stale', 'unique', 'reference', 'referenced', 'unspecified'] as const

/** A problem document (RFC 9457) with one code. Members beyond those of the contract stand in `members`. */
export interface ProblemOf<Code, Status> {
  /** `unknown` for a code that this version of the client does not know, and for an answer that is no problem document. */
  readonly code: Code
  /** The code as it came; empty for an answer that is no problem document. */
  readonly givenCode: string
  readonly status: Status
  /** A link to a page about the code. */
  readonly type: string
  readonly title: string
  readonly detail: string
  /** The path of the request. */
  readonly instance: string
  /** By this the request is found in the log of the service. */
  readonly requestId: string
  /** Empty where no parameter, header or place in the body is wrong. */
  readonly errors: readonly Fault[]
  /** Of the code `conflict`: what the header `Conflict-Reason` says. */
  readonly conflict?: ConflictReason
  /** What an action adds to the document: `orderNumber` of a cart that is checked out already. */
  readonly members: Readonly<Record<string, unknown>>
}

/** Every problem of the service; `code` tells them apart, and narrows `status`. */
export type Problem =
  | { [Code in ProblemCode]: ProblemOf<Code, StatusOf<Code>> }[ProblemCode]
  | ProblemOf<'unknown', number>

/** Thrown for every answer that is no success. `problem` is the document that came. */
export class ProblemError<P extends Problem = Problem> extends Error {
  override readonly name = 'ProblemError'
  readonly problem: P
  /** Milliseconds that the service asks to wait (`Retry-After`); undefined if it does not say. */
  readonly retryAfter: number | undefined

  constructor(problem: P, retryAfter?: number) {
    super(`${problem.status} ${problem.givenCode}: ${problem.conflict?.detail ?? problem.detail}`)
    this.problem = problem
    this.retryAfter = retryAfter
  }
}

/** Thrown where no answer came, or a part of one: no connection, or one that broke. `cause` is the error of fetch. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'
}

/** Whether the error is a problem of the service; with a code, whether it is one with that code. */
export function isProblem(error: unknown): error is ProblemError
export function isProblem<Code extends ProblemCode>(
  error: unknown,
  code: Code
): error is ProblemError<ProblemOf<Code, StatusOf<Code>> & Problem>
export function isProblem(error: unknown, code?: ProblemCode): boolean {
  return error instanceof ProblemError && (code === undefined || (error as ProblemError).problem.code === code)
}

function conflictInWords(kind: ConflictReason['kind'], property: string | undefined): string | undefined {
  switch (kind) {
    case 'stale':
      return 'Somebody else has changed it meanwhile.'
    case 'unique':
      return property === undefined
        ? 'Another row has one of the values, which must be unique.'
        : `Another row has this ${property}, which must be unique.`
    case 'reference':
      return property === undefined
        ? 'A row that it refers to is not there.'
        : `The row that ${property} names is not there.`
    case 'referenced':
      return 'Other rows refer to it.'
    case 'unspecified':
      return undefined
  }
}

/** The reason in a header `Conflict-Reason`, an item of structured fields (RFC 9651): `unique; property="sku"`. */
function conflictOf(header: string, otherwise: string): ConflictReason | undefined {
  const [name = '', ...parameters] = header.split(';').map((one) => one.trim())
  const kind = CONFLICT_KINDS.find((one) => one === name)
  const [, property] = parameters.map((one) => /^property="([^"\\]*)"$/.exec(one)).find((one) => one !== null) ?? []
  if (kind === undefined) return undefined
  const detail = conflictInWords(kind, property) ?? otherwise
  return { kind, detail, ...(property === undefined ? {} : { property }) }
}

const STANDARD = ['code', 'status', 'type', 'title', 'detail', 'instance', 'requestId', 'errors']

/** The problem that an answer carries. An answer of something in between, which is no problem document, becomes one. */
export function problemOf(response: Response, text: string, path: string): Problem {
  const found = parsed(text)
  const of = (name: string, otherwise: string): string => {
    const value = found[name]
    return typeof value === 'string' ? value : otherwise
  }
  const { status, statusText } = response
  const members = Object.entries(found).filter(([name]) => !STANDARD.includes(name))
  const givenCode = of('code', '')
  // The errors of `/auth/token` are those of RFC 6749.
  const detail = of('detail', of('error_description', `The answer ${status} is no problem document.`))
  const conflict = conflictOf(response.headers.get('conflict-reason') ?? '', detail)
  const isKnown = Object.values<readonly string[]>(CODES).some((codes) => codes.includes(givenCode))
  return {
    // The service sends no other status with a code than those of the table.
    code: (isKnown ? givenCode : 'unknown') as 'unknown',
    givenCode,
    status,
    type: of('type', 'about:blank'),
    title: of('title', statusText),
    detail,
    instance: of('instance', path),
    requestId: of('requestId', response.headers.get('x-request-id') ?? ''),
    errors: Array.isArray(found['errors']) ? (found['errors'] as Fault[]) : [],
    ...(conflict === undefined ? {} : { conflict }),
    members: Object.fromEntries(members)
  }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && ('code' in value || 'error' in value) ? { ...value } : {}
  } catch {
    return {}
  }
}
