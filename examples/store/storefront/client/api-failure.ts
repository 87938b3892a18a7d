/** The members of problem details (RFC 9457) that pages use. */
interface Problem {
  readonly code?: string
  readonly title?: string
  readonly detail?: string
  /** The order of a cart that has been checked out already. */
  readonly orderNumber?: string
}

/** A response of the API that is not a success. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  readonly status: number
  readonly problem: Problem
  /** Seconds; undefined if the response has no `Retry-After`. */
  readonly retryAfter: number | undefined

  private constructor(response: Response, problem: Problem) {
    super(problem.detail ?? `The store answered ${response.status}.`)
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
    this.status = response.status
    this.problem = problem
    this.retryAfter = Number.isFinite(retryAfter) ? retryAfter : undefined
  }

  static async of(response: Response): Promise<ApiFailure> {
    const body: unknown = await response.json().catch(() => ({}))
    return new ApiFailure(response, typeof body === 'object' && body !== null ? body : {})
  }
}

/** Nobody is signed in, or the session has ended. */
export class NotSignedIn extends Error {
  override readonly name = 'NotSignedIn'
}
