import type { Fault, Problem, ProblemError } from '@uniform-rest/client'
import type { Identifier, RaRecord } from 'ra-core'
import { type FailedRow, isProblemError, ManyError, statusOf, UniformRestError } from './errors.js'
import { membersOf } from './merge-patch.js'
import { readByIds, type Rows } from './reads.js'
import { conflictOf, deleteRow, type PendingWrites, reported, tagOf, updateListed, type WriteMeta } from './writes.js'

// Many rows at once: batches of the service, each of which is written as a whole or not at all.

export interface Many {
  readonly ids: readonly Identifier[]
  /** The members that each row gets; undefined deletes the rows. */
  readonly data?: object
  readonly meta?: WriteMeta | undefined
}

interface ManyOf {
  readonly rows: Rows
  readonly resource: string
  /** The properties of a composite key. */
  readonly key: readonly string[] | undefined
  readonly pending: PendingWrites
}

/** The rows of a batch (contract.md section 5). */
const MOST_ROWS = 500

/** Resolves with all ids. Throws a ManyError that tells the rows that were written from those that were not. */
export async function writeMany(of: ManyOf, { ids, data, meta = {} }: Many): Promise<Identifier[]> {
  const many: Prepared = {
    ...of,
    dryRun: meta.dryRun === true,
    seen: new Map((meta.seen ?? []).map((row) => [row.id, row])),
    ...(data === undefined ? {} : { changes: membersOf(data) })
  }
  const done: Identifier[] = []
  let size = MOST_ROWS
  for (let rest = ids; rest.length > 0; rest = ids.slice(done.length)) {
    const some = rest.slice(0, size)
    const tags = new Map(some.map((id) => [id, tagOf(many.seen.get(id)) ?? of.rows.versionOf(id)]))
    try {
      await writeBatch(many, tags)
      done.push(...some)
    } catch (error) {
      if (statusIn(error) === 413 && some.length > 1) {
        size = Math.ceil(some.length / 2)
        continue
      }
      if (done.length === 0 && !many.dryRun && takesNoBatches(error)) {
        return await writeEach(ids, (id) => writeOne(many, id))
      }
      const failed = await failedRows(many, tags, error)
      const untried = rest.filter((id) => failed.every((row) => row.id !== id))
      throw new ManyError({ done, failed, untried })
    }
  }
  return done
}

interface Prepared extends ManyOf {
  readonly dryRun: boolean
  /** The rows as the user saw them. */
  readonly seen: ReadonlyMap<Identifier, RaRecord>
  readonly changes?: Readonly<Record<string, unknown>>
}

/** The entity tag that is sent of each row. */
type Tags = ReadonlyMap<Identifier, string | undefined>

async function writeBatch({ rows, resource, pending, dryRun, seen, changes }: Prepared, tags: Tags): Promise<void> {
  const items = Array.from(tags.keys(), (id) => ({ ...changes, id, ...versionOf(seen.get(id)) }))
  const send = (options: { readonly idempotencyKey?: string; readonly dryRun?: boolean }): Promise<unknown> =>
    changes === undefined ? rows.deleteMany(items, options) : rows.updateMany(items, options)
  if (dryRun) await send({ dryRun })
  else
    await pending.once(`${resource} ${JSON.stringify([...tags, changes])}`, (idempotencyKey) =>
      send({ idempotencyKey })
    )
}

function versionOf(row: RaRecord | undefined): object {
  return tagOf(row) === undefined ? {} : { rowVersion: row?.['rowVersion'] as unknown }
}

async function writeOne({ rows, seen, changes }: Prepared, id: Identifier): Promise<void> {
  const row = { id, previousData: seen.get(id) }
  await (changes === undefined ? deleteRow(rows, row) : updateListed(rows, row, changes))
}

function statusIn(error: unknown): number {
  return isProblemError(error) ? error.problem.status : 0
}

/** Whether the service, of before batches or for this resource, has taken the path for another one than that of a batch. */
function takesNoBatches(error: unknown): boolean {
  if (!isProblemError(error)) return false
  const { code, status, errors } = error.problem
  const isOfRow = code === 'precondition.required' && errors.every(({ pointer }) => pointer === undefined)
  return isOfRow || code === 'route.not-found' || status === 405
}

/** The rows that the service names, with those that others have changed; all of them for an error that is about no row. */
async function failedRows(many: Prepared, tags: Tags, error: unknown): Promise<FailedRow[]> {
  const ids = [...tags.keys()]
  if (!isProblemError(error)) return ids.map((id) => ({ id, error }))
  const named = faultsByRow(error.problem, ids)
  if (named.size === 0) return ids.map((id) => ({ id, error: new UniformRestError(error) }))
  const isOfRow = [404, 412].includes(error.problem.status)
  const current = isOfRow ? await currentRows(many, ids) : undefined
  return ids.flatMap((id) => {
    const faults = named.get(id)
    const tag = tags.get(id)
    const found = current === undefined ? undefined : (current.get(id) ?? null)
    const isChanged = current !== undefined && tag !== undefined && tagOf(found ?? undefined) !== tag
    if (faults === undefined && !isChanged) return []
    const row = faults === undefined ? staleRow(error) : withFaults(error, faults)
    if (row.problem.status !== 412) return [{ id, error: new UniformRestError(row) }]
    const sides = { tag, sent: many.changes, previousData: many.seen.get(id), current: found }
    return [{ id, error: conflictOf(row, sides) }]
  })
}

/** Of each row that pointers name, `/3/price`, what is wrong with it, with the pointers of its single write. */
function faultsByRow({ errors }: Problem, ids: readonly Identifier[]): ReadonlyMap<Identifier, readonly Fault[]> {
  const found = new Map<Identifier, Fault[]>()
  for (const fault of errors) {
    const [, index, place = ''] = /^\/(\d+)(.*)$/s.exec(fault.pointer ?? '') ?? []
    const id = ids[Number(index)]
    if (index === undefined || id === undefined) continue
    found.set(id, [...(found.get(id) ?? []), { ...fault, pointer: place }])
  }
  return found
}

type OfProblem = Pick<ProblemError, 'problem' | 'retryAfter'>

function withFaults({ problem, retryAfter }: ProblemError, errors: readonly Fault[]): OfProblem {
  return { problem: { ...problem, detail: errors.map(({ detail }) => detail).join(' '), errors }, retryAfter }
}

/** The service names the first row that cannot be written. This is what it would say of another one. */
function staleRow({ problem, retryAfter }: ProblemError): OfProblem {
  const conflict = { kind: 'stale', detail: 'Somebody else has changed it meanwhile.' } as const
  const code = { code: 'conflict', givenCode: 'conflict', status: 412 } as const
  return { problem: { ...problem, ...code, detail: conflict.detail, errors: [], conflict }, retryAfter }
}

/** undefined where they cannot be read just now. */
async function currentRows(
  { rows, key }: ManyOf,
  ids: readonly Identifier[]
): Promise<ReadonlyMap<Identifier, RaRecord> | undefined> {
  try {
    const found = new Map((await readByIds(rows, { ids }, key)).map((row) => [String(row.id), row]))
    return new Map(ids.flatMap((id) => (found.has(String(id)) ? [[id, found.get(String(id)) as RaRecord]] : [])))
  } catch {
    return undefined
  }
}

/** Writes one row after the other, and stops where no other could be written either. */
async function writeEach(ids: readonly Identifier[], write: (id: Identifier) => Promise<void>): Promise<Identifier[]> {
  const done: Identifier[] = []
  const failed: FailedRow[] = []
  const untried: Identifier[] = []
  for (const id of ids) {
    if (failed.some(({ error }) => concernsAll(error))) {
      untried.push(id)
      continue
    }
    try {
      await reported(() => write(id))
      done.push(id)
    } catch (error) {
      failed.push({ id, error })
    }
  }
  if (failed.length > 0) throw new ManyError({ done, failed, untried })
  return done
}

/** The caller is not logged in, or no answer has come. */
function concernsAll(error: unknown): boolean {
  return [0, 401, 503].includes(statusOf(error))
}
