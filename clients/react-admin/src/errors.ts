import type { Problem, ProblemError } from '@uniform-rest/client'
import { HttpError, type Identifier, type RaRecord } from 'ra-core'

/** Messages by field, nested as the form's values are: `{ lines: { 0: { quantity: '…' } } }`. */
export interface FieldErrors {
  readonly [field: string]: string | FieldErrors
}

/** `body` of the errors of this package: the problem document, with its faults where forms of react-admin look for them. */
export interface ErrorBody extends Omit<Problem, 'errors'> {
  /**
   * What is wrong with each field; a form shows it at the field's input. `root.serverError` is what belongs to no field.
   * Absent where no fault names a field.
   */
  readonly errors?: FieldErrors
  /** The faults as the service sent them. */
  readonly faults: Problem['errors']
}

/** A problem of the service as react-admin takes errors: `status`, `message` and `body.errors`. */
export class UniformRestError extends HttpError {
  declare readonly status: number
  declare readonly body: ErrorBody
  /** Milliseconds that the service asks to wait (`Retry-After`); undefined if it does not say. */
  readonly retryAfter: number | undefined

  constructor({ problem, retryAfter }: Pick<ProblemError, 'problem' | 'retryAfter'>) {
    const errors = fieldErrorsOf(problem)
    const { errors: faults, ...members } = problem
    const body: ErrorBody = { ...members, faults, ...(errors === undefined ? {} : { errors }) }
    super((problem.conflict?.detail ?? problem.detail) || problem.title, problem.status, body)
    // HttpError makes every error an instance of itself alone.
    Object.setPrototypeOf(this, new.target.prototype)
    this.name = 'UniformRestError'
    this.retryAfter = retryAfter
  }
}

/** The sides of a write that came too late. */
export interface Conflict {
  /** What was sent: the members that the user changed. undefined of a delete or an action without a body. */
  readonly sent: Readonly<Record<string, unknown>> | undefined
  /** The row as the user saw it, with the version that was sent; undefined where the caller did not give it. */
  readonly base: RaRecord | undefined
  /** The row as it is now. null where there is none any more, undefined where it could not be read. */
  readonly current: RaRecord | null | undefined
  /**
   * Whether somebody else has written the row since. If not, another row stands in the way: a value that must be unique is
   * taken, or a row that it refers to is gone, as `body.conflict` says. undefined where neither that nor `current` tells.
   */
  readonly isStale: boolean | undefined
}

/** Status 412: the row is not as it was when it was read, or the write conflicts with another row. */
export class ConflictError extends UniformRestError implements Conflict {
  readonly sent: Conflict['sent']
  readonly base: Conflict['base']
  readonly current: Conflict['current']
  readonly isStale: Conflict['isStale']

  constructor(error: Pick<ProblemError, 'problem' | 'retryAfter'>, { sent, base, current, isStale }: Conflict) {
    super(error)
    this.name = 'ConflictError'
    this.sent = sent
    this.base = base
    this.current = current
    this.isStale = isStale
  }
}

/** One row of several that was not written. */
export interface FailedRow {
  readonly id: Identifier
  /** A UniformRestError, or whatever else the call was rejected with. */
  readonly error: unknown
}

/** The ids, and the reasons, of a message. */
const MOST_NAMED = 10

function listed(ids: readonly Identifier[]): string {
  const more = ids.length > MOST_NAMED ? ` and ${ids.length - MOST_NAMED} more` : ''
  return `${ids.slice(0, MOST_NAMED).join(', ')}${more}`
}

/** Thrown where not every row of an updateMany or a deleteMany was written, as far as is known. */
export class ManyError extends HttpError {
  declare readonly status: number
  /** Rows that were written. */
  readonly done: readonly Identifier[]
  /** Rows that were rejected, and those whose outcome is not known: errors without a status, or with one of 500 and more. */
  readonly failed: readonly FailedRow[]
  /** Rows that were not written although nothing is known against them: those of a batch with a failed row, and what came later. */
  readonly untried: readonly Identifier[]

  constructor(rows: Pick<ManyError, 'done' | 'failed' | 'untried'>) {
    const { done, failed, untried } = rows
    const all = done.length + failed.length + untried.length
    const open = failed.filter(({ error }) => isOutcomeOpen(error)).length
    const lost = all - done.length - open
    const byReason = new Map<string, Identifier[]>()
    for (const { id, error } of failed) byReason.set(messageOf(error), [...(byReason.get(messageOf(error)) ?? []), id])
    const reasons = Array.from(byReason, ([reason, ids]) => `${listed(ids)}: ${reason}`).slice(0, MOST_NAMED)
    const rest = untried.length === 0 ? '' : ` Not written either: ${listed(untried)}.`
    const heads = [
      ...(lost > 0 ? [`${lost} of ${all} rows were not written.`] : []),
      ...(open > 0 ? [`The outcome of ${open} of ${all} rows is not known.`] : [])
    ]
    super(`${[...heads, ...reasons].join(' ')}${rest}`, statusOf(failed[0]?.error))
    Object.setPrototypeOf(this, new.target.prototype)
    this.name = 'ManyError'
    this.done = done
    this.failed = failed
    this.untried = untried
  }
}

/**
 * Whether the error is a problem of the service. It is told by its name and not by its class: a page may hold two copies of
 * the client.
 */
export function isProblemError(error: unknown): error is ProblemError {
  return error instanceof Error && error.name === 'ProblemError' && 'problem' in error
}

/** The status of an error of react-admin; 0 for an error without one, such as that of a lost connection. */
export function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null || !('status' in error)) return 0
  return typeof error.status === 'number' ? error.status : 0
}

/** Whether the service may have done what was asked: the connection was lost, or it failed. */
function isOutcomeOpen(error: unknown): boolean {
  const status = statusOf(error)
  return status === 0 || status >= 500
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** undefined where no fault names a field. */
function fieldErrorsOf(problem: Problem): FieldErrors | undefined {
  const tree = new Map<string, Branch>()
  const rest: string[] = []
  for (const { path, detail } of placesOf(problem)) {
    if (path.length === 0 || !plant(tree, path, detail)) rest.push(detail)
  }
  if (tree.size === 0) return undefined
  // A form that has no input for the one wrong member still shows its message.
  const shown = problem.errors.length <= 1 ? [problem.conflict?.detail ?? problem.detail] : rest
  return { ...objectOf(tree), ...(shown.length === 0 ? {} : { root: { serverError: shown.join(' ') } }) }
}

interface Place {
  /** Empty for what belongs to no field. */
  readonly path: readonly string[]
  readonly detail: string
}

function placesOf({ conflict, errors }: Problem): Place[] {
  if (conflict?.property !== undefined) {
    return [{ path: [conflict.property], detail: conflict.detail }]
  }
  return errors.map((fault) => ({
    path:
      fault.pointer === undefined
        ? fault.parameter === undefined
          ? []
          : [/^filters\[(.+)\]/.exec(fault.parameter)?.[1] ?? fault.parameter]
        : pathOf(fault.pointer),
    detail: fault.detail
  }))
}

/** The names in a JSON pointer (RFC 6901 section 4); none for the whole document. */
function pathOf(pointer: string): string[] {
  const [, ...names] = pointer.split('/')
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
}

type Branch = string | Map<string, Branch>

/** false where a message of a member stands where one of its parts would have to, or the other way round. */
function plant(tree: Map<string, Branch>, [name = '', ...others]: readonly string[], detail: string): boolean {
  const found = tree.get(name)
  if (others.length === 0) {
    if (found instanceof Map) return false
    tree.set(name, found === undefined ? detail : `${found} ${detail}`)
    return true
  }
  if (typeof found === 'string') return false
  const branch = found ?? new Map<string, Branch>()
  tree.set(name, branch)
  return plant(branch, others, detail)
}

function objectOf(tree: ReadonlyMap<string, Branch>): FieldErrors {
  return Object.fromEntries(
    Array.from(tree, ([name, branch]) => [name, branch instanceof Map ? objectOf(branch) : branch])
  )
}
