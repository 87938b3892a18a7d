import type { ProblemError } from '@uniform-rest/client'
import type { Identifier, RaRecord } from 'ra-core'
import { ConflictError, isProblemError, UniformRestError } from './errors.js'
import { changesOf, membersOf } from './merge-patch.js'
import type { Rows } from './reads.js'

/** `meta` of writes. */
export interface WriteMeta {
  /** Of create and act: chosen by the caller, so that everything that is sent with it is done once. */
  readonly idempotencyKey?: string
  /** Of update: the whole row is sent (PUT), in which an optional member that is left out becomes null. */
  readonly replace?: boolean
  /** Of updateMany and deleteMany: the rows as the user saw them, whose versions are sent. */
  readonly seen?: readonly RaRecord[]
  /** Of all but act: the service answers what the write would, and undoes it (`Prefer: tx=rollback`). */
  readonly dryRun?: boolean
  /** Of act: whether `current` of a ConflictError is read with its children. */
  readonly includeChildren?: boolean
}

/** A row by its id, and as the user saw it: without the latter its version is the one that this client read last. */
export interface SeenRow {
  readonly id: Identifier
  readonly previousData?: RaRecord | undefined
}

/** An edited row. The version of `data`, which forms keep with the values that they began with, comes first. */
export interface Update extends SeenRow {
  readonly data: object
  readonly meta?: WriteMeta | undefined
}

export interface Action extends SeenRow {
  readonly action: string
  readonly data?: object | undefined
  readonly meta?: WriteMeta | undefined
  readonly signal?: AbortSignal | undefined
}

/** Creates a row, once for each submit. */
export async function createRow(
  rows: Rows,
  { data, meta = {} }: { readonly data: object; readonly meta?: WriteMeta | undefined },
  { pending, resource }: { readonly pending: PendingWrites; readonly resource: string }
): Promise<RaRecord> {
  const { idempotencyKey, dryRun = false } = meta
  if (idempotencyKey !== undefined) return await rows.create(data, { idempotencyKey, dryRun })
  if (dryRun) return await rows.create(data, { dryRun })
  return await pending.once(`${resource} ${JSON.stringify(data)}`, (key) => rows.create(data, { idempotencyKey: key }))
}

/**
 * Sends what the user changed. Without any version in `data` and `previousData` none is sent, which the service rejects:
 * one that was read since would make an older form look fresh.
 */
export async function updateRow(rows: Rows, { id, data, previousData, meta = {} }: Update): Promise<RaRecord> {
  const tag = tagOf(data) ?? tagOf(previousData)
  const sent = meta.replace === true ? membersOf(data) : changesOf(data, previousData)
  const options = { ifMatch: tag ?? (false as const), dryRun: meta.dryRun === true }
  return await guarded(rows, { id, tag, sent, previousData }, () =>
    meta.replace === true ? rows.replace(id, sent, options) : rows.patch(id, sent, options)
  )
}

/** Changes a row of a list. */
export async function updateListed(rows: Rows, { id, previousData }: SeenRow, sent: Sent): Promise<void> {
  const tag = tagOf(previousData) ?? rows.versionOf(id)
  await guarded(rows, { id, tag, sent, previousData }, () => rows.patch(id, sent, { ifMatch: tag ?? false }))
}

export async function deleteRow(
  rows: Rows,
  { id, previousData, meta = {} }: SeenRow & { readonly meta?: WriteMeta | undefined }
): Promise<void> {
  const tag = tagOf(previousData) ?? rows.versionOf(id)
  const options = { ifMatch: tag ?? (false as const), dryRun: meta.dryRun === true }
  await guarded(rows, { id, tag, sent: undefined, previousData }, () => rows.delete(id, options))
}

export async function act(
  rows: Rows,
  { id, previousData, action, data, meta = {}, signal }: Action
): Promise<RaRecord> {
  const tag = tagOf(previousData) ?? rows.versionOf(id)
  const { idempotencyKey, includeChildren = false } = meta
  const sent = data as Sent
  return await guarded(rows, { id, tag, sent, previousData, includeChildren }, () =>
    rows.act(id, action, {
      ifMatch: tag ?? false,
      ...(data === undefined ? {} : { body: data }),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      ...(signal === undefined ? {} : { signal })
    })
  )
}

/** Answers an error of react-admin for each problem of the service. Other errors stay what they are. */
export async function reported<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    throw isProblemError(error) ? new UniformRestError(error) : error
  }
}

type Sent = Readonly<Record<string, unknown>>

/** A write of a row by a version. */
interface Guarded extends SeenRow {
  /** The entity tag that is sent. */
  readonly tag: string | undefined
  readonly sent: ConflictError['sent']
  readonly includeChildren?: boolean
}

/** Makes a ConflictError, with what the row is now, of a precondition that failed. */
async function guarded<Result>(rows: Rows, row: Guarded, write: () => Promise<Result>): Promise<Result> {
  try {
    return await write()
  } catch (error) {
    if (!isProblemError(error) || error.problem.status !== 412) throw error
    const current = await currentRow(rows, row.id, row.includeChildren === true)
    throw conflictOf(error, { ...row, current })
  }
}

export function conflictOf(
  error: Pick<ProblemError, 'problem' | 'retryAfter'>,
  { tag, sent, previousData, current }: Omit<Guarded, 'id'> & Pick<ConflictError, 'current'>
): ConflictError {
  const base = tagOf(previousData) === tag ? previousData : undefined
  const { kind = 'unspecified' } = error.problem.conflict ?? {}
  const isChanged = current === undefined ? undefined : current === null || tagOf(current) !== tag
  const isStale = kind === 'unspecified' ? isChanged : kind === 'stale'
  return new ConflictError(error, { sent, base, current, isStale })
}

async function currentRow(rows: Rows, id: Identifier, includeChildren: boolean): Promise<RaRecord | null | undefined> {
  try {
    return await rows.get(id, includeChildren ? { includeChildren } : {})
  } catch (error) {
    // The conflict is what the caller must hear of, also where the row cannot be read just now.
    return isProblemError(error) && error.problem.status === 404 ? null : undefined
  }
}

/** The entity tag of a row; undefined for one without a version. */
export function tagOf(row: object | undefined): string | undefined {
  if (row === undefined || !('rowVersion' in row)) return undefined
  return typeof row.rowVersion === 'string' && row.rowVersion !== '' ? `W/"${row.rowVersion}"` : undefined
}

/** Submits whose outcome is not known; the oldest is forgotten first. */
const MOST_PENDING = 100

/**
 * The idempotency keys of writes whose outcome is not known. What is submitted again after a lost answer, or twice at once,
 * has the key of the first time, so that it is done once.
 */
export class PendingWrites {
  readonly #keys = new Map<string, string>()

  async once<Result>(submit: string, send: (idempotencyKey: string) => Promise<Result>): Promise<Result> {
    const key = this.#keys.get(submit) ?? randomKey()
    this.#remember(submit, key)
    try {
      const result = await send(key)
      this.#forget(submit, key)
      return result
    } catch (error) {
      // The service keeps no answer of a request that it rejected: the next one is another.
      if (isProblemError(error) && isRejection(error)) this.#forget(submit, key)
      throw error
    }
  }

  #remember(submit: string, key: string): void {
    this.#keys.set(submit, key)
    const [oldest] = this.#keys.keys()
    if (this.#keys.size > MOST_PENDING && oldest !== undefined) this.#keys.delete(oldest)
  }

  #forget(submit: string, key: string): void {
    if (this.#keys.get(submit) === key) this.#keys.delete(submit)
  }
}

function isRejection({ problem: { code, status } }: ProblemError): boolean {
  return status < 500 && code !== 'idempotency.in-flight'
}

/** 128 random bits. `crypto.randomUUID` is only there on pages with TLS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16).padStart(8, '0')).join('')
}
