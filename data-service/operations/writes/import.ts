import { DomainError, rejectionAt } from '../../../shared/errors.js'
import type { ImportError } from '../../../shared/gen/entity/v1/ImportError.js'
import type { ImportRequest__Output } from '../../../shared/gen/entity/v1/ImportRequest.js'
import type { ImportResponse } from '../../../shared/gen/entity/v1/ImportResponse.js'
import type { UnaryHandler } from '../../entity/caller.js'
import { writeScope } from '../../plan/authorize.js'
import { type ImportedRow, type ParsedImport, parseImport } from '../../plan/import-requests.js'
import { KeyConflict } from '../../plan/model/key-conflict.js'
import { allRows, valueIs } from '../../plan/model/plans.js'
import { planLookBy } from '../../plan/plan-writes.js'
import { placeInScope } from '../../plan/scope-of-values.js'
import { MAX_BATCH_ROWS, type ParsedRow } from '../../plan/write-requests.js'
import { givenValues, guesserOf, insert, planTogether } from './create.js'
import type { Guess } from './guess-counts.js'
import {
  canonicalRows,
  forgetParts,
  type ImportCall,
  keepPart,
  keptRows,
  pathOfImport,
  readUpload,
  type Upload,
  wrongContinuation
} from './kept-parts.js'
import { errorOfItem, isOfRow } from './rejections.js'
import { hiddenNow } from './stored-answers.js'
import { idempotentWrite } from './write.js'
import { rowsOf } from './write-shares.js'
import type { WriteDeps, WriteResponse, WriteSteps } from './write-steps.js'

// An import creates the rows of a file, each as a create of its own would. With `skip`, parts of the file are transactions with
// keys of their own, named by their first rows. With `stop`, the parts are kept under such keys until the last one has come,
// and one transaction creates all of their rows.

/** The most errors that an answer tells. */
const MAX_ERRORS = 1000

/** Rows with their children that one transaction writes at most. It has a minute. */
const MAX_WRITTEN = 50_000

/** How often a whole file is tried anew, since another import has created rows of it meanwhile. */
const MAX_TRIES = 20

/** What was decided about rows. */
interface Outcome {
  readonly created: number
  readonly existing: number
  readonly failed: number
  readonly errors: readonly ImportError[]
}

export function importHandler(deps: WriteDeps): UnaryHandler<ImportRequest__Output, ImportResponse> {
  return (context, request) => {
    const length = request.rows.reduce((sum, row) => sum + row.length, 0)
    return deps.shares.inTurn(context, { length }, async () => {
      const parsed = parseImport(request, { planning: deps.planning, caller: context.caller })
      // A caller who may write no row is not told so for each of them.
      writeScope(parsed.writer)
      const call = { deps, context, parsed }
      const answer = parsed.onError === 'skip' ? await importParts(call, request) : await importWhole(call, request)
      return { ...answer, ignoredMembers: [...parsed.ignored] }
    })
  }
}

async function importParts(call: ImportCall, { maxErrors }: ImportRequest__Output): Promise<ImportResponse> {
  const { rows } = call.parsed
  let [created, createdBefore, existing, failed] = [0, 0, 0, 0]
  const errors: ImportError[] = []
  const wanted = Math.max(0, Math.min(MAX_ERRORS, maxErrors ?? MAX_ERRORS))
  let replayed = rows.length > 0
  for (let start = 0; start < rows.length;) {
    const part = await importPart(call, { start, wanted: wanted - errors.length })
    if (part.isReplayed) createdBefore += part.created
    else created += part.created
    replayed &&= part.isReplayed
    existing += part.existing
    failed += part.failed
    errors.push(...part.errors.slice(0, wanted - errors.length))
    start = part.next
  }
  return { created, createdBefore, existing, failed, errors, replayed }
}

/** `next`: the first row that it has not decided. */
interface PartOutcome extends Outcome {
  readonly next: number
}

/**
 * One transaction, with the rows from `start` on. A row that cannot be created ends it: then the rows before that one are a
 * part by themselves, and so no row is tried more than three times. A row that fails before any other was created is left out.
 * `wanted`: errors that the answer has room for, and no more are stored with it.
 */
async function importPart(
  { deps, context, parsed }: ImportCall,
  { start, wanted }: { readonly start: number; readonly wanted: number }
): Promise<PartOutcome & { readonly isReplayed: boolean }> {
  const { rows, firstRow } = parsed
  const known = new Map<number, DomainError | 'existing'>()
  const tries = new Tries()
  for (const [index, row] of rows.entries()) if (row instanceof DomainError) known.set(index, row)
  let end = endOfPart(rows, start)
  for (;;) {
    const next = end
    const work = async (guess: Guess, steps: WriteSteps): Promise<WriteResponse> => {
      tries.failing = undefined
      let existing = 0
      const errors: ImportError[] = []
      let failed = 0
      const unknown: PlacedRow[] = []
      for (const [at, row] of rows.slice(start, next).entries()) {
        const index = start + at
        const found = known.get(index)
        if (found instanceof DomainError) {
          failed += 1
          errors.push(...errorsOf(firstRow + index, found).slice(0, wanted - errors.length))
        } else if (found === 'existing' || row instanceof DomainError) existing += 1
        else unknown.push({ index, row })
      }
      const created = await importRows(unknown, { parsed, guess, tries }, steps)
      existing += unknown.length - created
      return answerOf({ created, existing, failed, errors, next: next - start })
    }
    try {
      const written = await deps.guesses.count(guesserOf(parsed), (guess) =>
        idempotentWrite({ deps, context }, parsed, {
          method: 'POST',
          path: `${pathOfImport(parsed)}/${firstRow + start}`,
          via: 'batch',
          size: rowsWithChildren(rows.slice(start, next)),
          work: (steps) => work(guess, steps)
        })
      )
      const outcome = JSON.parse(written.outcome ?? '') as PartOutcome
      const { replayed: isReplayed } = written
      const hidden = hiddenNow(parsed.resource)
      const errors = isReplayed ? outcome.errors.filter((one) => isToldNow(one, parsed, hidden)) : outcome.errors
      return { ...outcome, errors, next: start + outcome.next, isReplayed }
    } catch (error) {
      const failure = tries.failureOf(error, parsed)
      if (failure === undefined) continue
      const { index, reason = 'existing' } = failure
      known.set(index, reason)
      const writes = rows.slice(start, index).some((_, at) => !known.has(start + at))
      if (writes) end = index + 1
    }
  }
}

/**
 * Whether a replay tells an error: the caller may not see the property any more. The same error in the row as it is read now
 * is told, and any other one, such as a conflict, where its property is not hidden.
 */
function isToldNow(
  { row = 0, pointer = '' }: ImportError,
  { rows, firstRow }: ParsedImport,
  hidden: ReadonlySet<string>
): boolean {
  const now = rows[row - 1 - firstRow]
  if (
    now instanceof DomainError &&
    now.violations.some(({ place }) => place.in === 'pointer' && place.name === pointer)
  ) {
    return true
  }
  const [, name = '', ...deeper] = pointer.split('/')
  return deeper.length === 0 && !hidden.has(name)
}

/** What ended a transaction: one row, or some that were created together. */
interface Failing {
  readonly rows: readonly PlacedRow[]
  readonly error: unknown
}

/** What the transactions that were tried for some rows have told. */
class Tries {
  readonly #apart = new Set<number>()
  readonly #again = new Set<number>()
  #isEachApart = false
  failing: Failing | undefined

  setEachApart(): void {
    this.#isEachApart = true
  }

  /** Whether one statement may insert the rows. */
  isTogether(rows: readonly PlacedRow[], { by }: ParsedImport): boolean {
    if (this.#isEachApart || rows.some(({ index }) => this.#apart.has(index))) return false
    if (rows.reduce((sum, { row }) => sum + lengthOf(row), 0) > MAX_TOGETHER) return false
    // The look for `by` finds a row before it in the file once that is inserted.
    const named = rows.flatMap(({ row }) => (by === undefined ? [] : [row.values.get(by) ?? []])).flat()
    return new Set(named.map((one) => String(one).toLowerCase())).size === named.length
  }

  /**
   * The row that has ended a transaction, and what its create is answered with. `reason`: undefined for a row whose value of
   * `by` another row has: that one came after the look for it. undefined where the transaction is to be tried once more as it
   * is. Throws an error that is about no row, such as a lost race.
   */
  failureOf(
    error: unknown,
    { by }: ParsedImport
  ): { readonly index: number; readonly reason: DomainError | undefined } | undefined {
    const { rows: [first, ...others] = [], error: cause } = this.failing ?? {}
    if (first === undefined || !isOfRow(cause) || !isOfRow(error)) throw error
    if (others.length > 0) {
      // One by one they tell which of them it was.
      for (const { index } of [first, ...others]) this.#apart.add(index)
      // Else rows of one file that the database finds equal would each cost a transaction.
      if (by !== undefined) this.setEachApart()
      return undefined
    }
    const { index } = first
    const isUnique = by !== undefined && cause instanceof KeyConflict && cause.kind === 'unique'
    // The database names the first unique index that it meets, which may be another one than that of `by`.
    if (isUnique && !this.#again.has(index)) {
      this.#again.add(index)
      return undefined
    }
    return { index, reason: isUnique && cause.at?.column === by ? undefined : error }
  }
}

interface Importing {
  readonly parsed: ParsedImport
  readonly guess: Guess
  readonly tries: Tries
}

/** The rows behind `start` that one transaction takes, with their children. */
function endOfPart(rows: readonly ImportedRow[], start: number): number {
  let left = MAX_BATCH_ROWS
  const end = rows.findIndex((row, index) => {
    if (index < start) return false
    left -= rowsWithChildren([row])
    return left < 0 && index > start
  })
  return end === -1 ? rows.length : end
}

function rowsWithChildren(rows: readonly ImportedRow[]): number {
  return rows.reduce((sum, row) => sum + (row instanceof DomainError ? 1 : rowsOf([row])), 0)
}

/** Keeps the rows of a part, creates those of all parts, or forgets them. */
async function importWhole(call: ImportCall, request: ImportRequest__Output): Promise<ImportResponse> {
  const { rows, firstRow } = call.parsed
  const upload = readUpload(request, call.deps)
  if (request.forget) {
    await forgetParts(call, upload)
    return {}
  }
  rejectRows(rows.flatMap((row, index) => (row instanceof DomainError ? [errorOfRow(firstRow + index, row)] : [])))
  const written = upload.written + rowsWithChildren(rows)
  if (written > MAX_WRITTEN) {
    const detail = `The rows of a file have more than ${MAX_WRITTEN} rows of children with them. Send several files.`
    throw errorOfRow(firstRow, rejectionAt('body.invalid', detail, { place: { in: 'pointer', name: '' } }))
  }
  if (request.more) return { continuation: await keepPart(call, { ...upload, written }, request.rows) }
  const parsed = { ...call.parsed, canonicalBody: canonicalRows(call.parsed, upload) }
  return createAll({ ...call, parsed }, upload, written)
}

/** `size`: rows of the whole file, with their children. */
async function createAll(call: ImportCall, upload: Upload, size: number): Promise<ImportResponse> {
  // Whatever `onError` says, a file has one key: its first part, or the whole file, is stored in one place.
  const { deps, context, parsed } = call
  const known = new Set<number>()
  const tries = new Tries()
  for (let tried = 1; ; tried++) {
    const work = async (guess: Guess, steps: WriteSteps): Promise<WriteResponse> => {
      tries.failing = undefined
      let [created, index] = [0, 0]
      let some: PlacedRow[] = []
      for await (const row of rowsOfFile(call, upload, steps)) {
        if (!known.has(index)) some.push({ index, row })
        index += 1
        if (some.length < TOGETHER) continue
        created += await importRows(some, { parsed, guess, tries }, steps)
        some = []
      }
      created += await importRows(some, { parsed, guess, tries }, steps)
      return answerOf({ created, existing: index - created, failed: 0, errors: [] })
    }
    try {
      const written = await deps.guesses.count(guesserOf(parsed), (guess) =>
        idempotentWrite({ deps, context }, parsed, {
          method: 'POST',
          path: `${pathOfImport(parsed)}/0`,
          via: 'batch',
          size: Math.max(1, size),
          work: (steps) => work(guess, steps)
        })
      )
      const { created, existing } = JSON.parse(written.outcome ?? '') as Outcome
      const { replayed } = written
      return replayed ? { createdBefore: created, existing, replayed } : { created, existing }
    } catch (error) {
      const failure = tries.failureOf(error, parsed)
      if (failure === undefined && tried < MAX_TRIES) continue
      const { index = tries.failing?.rows[0]?.index ?? 0, reason = error } = failure ?? {}
      if (reason !== undefined || tried >= MAX_TRIES) throw errorOfRow(index, error)
      known.add(index)
    }
  }
}

async function* rowsOfFile(call: ImportCall, upload: Upload, { unit }: WriteSteps): AsyncGenerator<ParsedRow> {
  const { rows, readRow, firstRow } = call.parsed
  // What the continuation says is the word of the caller.
  let [read, written] = [0, 0]
  for await (const json of keptRows(call, upload, unit)) {
    const row = readRow(json)
    read += 1
    written += rowsOf([row])
    if (read > firstRow || written > upload.written) throw wrongContinuation()
    yield row
  }
  if (read !== firstRow) throw wrongContinuation()
  for (const row of rows) if (!(row instanceof DomainError)) yield row
}

/** A row of a file, and its place there. */
interface PlacedRow {
  readonly index: number
  readonly row: ParsedRow
}

/** Rows that one statement inserts, unless something has to come between them. */
const TOGETHER = 32

/** Characters and bytes of rows that one statement inserts: a long one would need much memory, here and in the database. */
const MAX_TOGETHER = 512 * 1024

function lengthOf({ values }: ParsedRow): number {
  let length = 0
  for (const value of values.values()) length += typeof value === 'string' || value instanceof Buffer ? value.length : 0
  return length
}

/** Creates rows of a file. Returns how many are new: `by` may say that some are there already. */
async function importRows(rows: readonly PlacedRow[], how: Importing, steps: WriteSteps): Promise<number> {
  let created = 0
  for (let start = 0; start < rows.length; start += TOGETHER) {
    const some = rows.slice(start, start + TOGETHER)
    const isTogether = how.tries.isTogether(some, how.parsed)
    created += (isTogether ? await importTogether(some, how, steps) : undefined) ?? (await importEach(some, how, steps))
  }
  return created
}

/** undefined, with nothing written, where rows have to be created one by one. */
async function importTogether(
  rows: readonly PlacedRow[],
  { parsed, guess, tries }: Importing,
  steps: WriteSteps
): Promise<number | undefined> {
  const { resource, writer } = parsed
  const { unit } = steps
  try {
    const planned = rows.map(({ row }) => ({ ...row, resource, writer, guess }))
    const plans = planTogether(planned, steps)
    if (plans === undefined) return undefined
    const looks = unit.together(() => rows.map(({ row }) => isThere(row, parsed, steps)))
    const found = (await Promise.allSettled(looks)).map(fulfilled)
    const wanted = plans.filter((_, at) => found[at] === false)
    const keys = await steps.insertTogether(resource.entity, wanted)
    if (keys === undefined) {
      tries.setEachApart()
      return undefined
    }
    const scope = writeScope(writer)
    if (scope.after.kind !== 'all-rows') {
      const answers = unit.together(() => keys.map((key) => steps.answer(resource, key, { scope, ignored: [] })))
      for (const one of await Promise.allSettled(answers)) fulfilled(one)
    }
    return wanted.length
  } catch (error) {
    tries.failing = { rows, error }
    throw error
  }
}

function fulfilled<Result>(settled: PromiseSettledResult<Result>): Result {
  if (settled.status === 'rejected') throw settled.reason
  return settled.value
}

async function importEach(rows: readonly PlacedRow[], how: Importing, steps: WriteSteps): Promise<number> {
  let created = 0
  for (const one of rows) {
    try {
      if (await importRow(one.row, how, steps)) created += 1
    } catch (error) {
      how.tries.failing = { rows: [one], error }
      throw error
    }
  }
  return created
}

/** Creates a row. Returns whether it is new. */
async function importRow(row: ParsedRow, { parsed, guess }: Importing, steps: WriteSteps): Promise<boolean> {
  const { resource, writer } = parsed
  const scope = writeScope(writer)
  if (await isThere(row, parsed, steps)) return false
  const key = await insert({ ...row, resource, writer, guess }, steps)
  // The answer is where a create checks that the row is within the scope.
  if (scope.after.kind !== 'all-rows') await steps.answer(resource, key, { scope, ignored: [] })
  return true
}

/** Whether a row has the value of `by`. It tells no more than the conflict of a create does, which a row outside of the scope has none of. */
async function isThere(row: ParsedRow, { resource, writer, by }: ParsedImport, { unit }: WriteSteps): Promise<boolean> {
  if (by === undefined) return false
  const { entity } = resource
  const values = givenValues({ ...row, resource, writer })
  const value = values.get(by)
  if (value === undefined || value === null || typeof value === 'object') return false
  if (placeInScope(writeScope(writer).after, (column) => values.get(column)) === 'outside') return false
  return (await unit.look(planLookBy({ entity, where: valueIs(by, value), scope: allRows }))) !== undefined
}

/** The answer shows no row, so every caller who owns the key may have it. */
function answerOf(outcome: Outcome & Partial<PartOutcome>): WriteResponse {
  const nothing = { json: Buffer.from('[]'), rowVersion: Buffer.alloc(0), id: '[]', ignored: [], location: '' }
  return { ...nothing, outcome: JSON.stringify(outcome) }
}

function errorsOf(index: number, { code, message, violations, conflict }: DomainError): ImportError[] {
  const row = index + 1
  if (violations.length === 0) {
    return [{ row, code, detail: message, pointer: conflict?.property === undefined ? '' : `/${conflict.property}` }]
  }
  return violations.map((one) => {
    const pointer = one.place.in === 'pointer' ? one.place.name : ''
    return { row, code: one.code, detail: one.detail, pointer }
  })
}

function errorOfRow<Thrown>(index: number, error: Thrown): Thrown | DomainError {
  return errorOfItem(index, error, `Row ${index + 1}: `)
}

/** Throws what is wrong with rows, all of it at once. */
function rejectRows(errors: readonly DomainError[]): void {
  const [first] = errors
  if (first === undefined) return
  throw new DomainError(first.code, first.message, { violations: errors.flatMap(({ violations }) => violations) })
}
