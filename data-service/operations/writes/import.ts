import { createHash } from 'node:crypto'
import { DomainError } from '../../../shared/errors.js'
import type { ImportError } from '../../../shared/gen/entity/v1/ImportError.js'
import type { ImportRequest__Output } from '../../../shared/gen/entity/v1/ImportRequest.js'
import type { ImportResponse } from '../../../shared/gen/entity/v1/ImportResponse.js'
import { jsonArray } from '../../../shared/transport/wire.js'
import type { CallContext, UnaryHandler } from '../../entity/caller.js'
import { storedJson } from '../../entity/fields/json-parser.js'
import { isArray } from '../../entity/fields/json-values.js'
import { writeScope } from '../../plan/authorize.js'
import { type ImportedRow, type ParsedImport, parseImport } from '../../plan/import-requests.js'
import { KeyConflict } from '../../plan/model/key-conflict.js'
import { allRows, valueIs } from '../../plan/model/plans.js'
import type { KeyClaim } from '../../plan/model/stores.js'
import { planLookBy } from '../../plan/plan-writes.js'
import { placeInScope } from '../../plan/scope-of-values.js'
import { MAX_BATCH_ROWS, type ParsedRow } from '../../plan/write-requests.js'
import { givenValues, guesserOf, insert } from './create.js'
import type { Guess } from './guess-counts.js'
import { errorOfItem, isOfRow } from './rejections.js'
import { keyClaim } from './stored-answers.js'
import { idempotentWrite } from './write.js'
import { rowsOf } from './write-shares.js'
import type { WriteDeps, WriteResponse, WriteSteps } from './write-steps.js'

// An import creates the rows of a file, each as a create of its own would. With `skip`, parts of the file are transactions with
// keys of their own, named by their first rows. With `stop`, the parts are kept under such keys until the last one has come,
// and one transaction creates all of their rows.

/** The most errors that an answer tells. */
const MAX_ERRORS = 1000

/** Milliseconds for which the parts of a file are kept whose last part has not come. */
const KEPT = 15 * 60_000

/** How often a whole file is tried anew, since another import has created rows of it meanwhile. */
const MAX_TRIES = 20

interface ImportCall {
  readonly deps: WriteDeps
  readonly context: CallContext
  readonly parsed: ParsedImport
}

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
      const answer = parsed.onError === 'skip' ? await importParts(call) : await importWhole(call, request)
      return { ...answer, ignoredMembers: [...parsed.ignored] }
    })
  }
}

async function importParts(call: ImportCall): Promise<ImportResponse> {
  const { rows } = call.parsed
  let [created, createdBefore, existing, failed] = [0, 0, 0, 0]
  const errors: ImportError[] = []
  let replayed = rows.length > 0
  for (let start = 0; start < rows.length;) {
    const part = await importPart(call, start)
    if (part.isReplayed) createdBefore += part.created
    else created += part.created
    replayed &&= part.isReplayed
    existing += part.existing
    failed += part.failed
    errors.push(...part.errors.slice(0, MAX_ERRORS - errors.length))
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
 * part by themselves, and so no row is tried more than twice. A row that fails before any other was created is left out.
 */
async function importPart(
  { deps, context, parsed }: ImportCall,
  start: number
): Promise<PartOutcome & { readonly isReplayed: boolean }> {
  const { rows, firstRow } = parsed
  const known = new Map<number, DomainError | 'existing'>()
  const again = new Set<number>()
  for (const [index, row] of rows.entries()) if (row instanceof DomainError) known.set(index, row)
  let end = endOfPart(rows, start)
  for (;;) {
    let failing: Failing | undefined
    const next = end
    const work = async (guess: Guess, steps: WriteSteps): Promise<WriteResponse> => {
      failing = undefined
      let [created, existing] = [0, 0]
      const errors: ImportError[] = []
      let failed = 0
      for (const [at, row] of rows.slice(start, next).entries()) {
        const index = start + at
        const found = known.get(index)
        if (found instanceof DomainError) {
          failed += 1
          errors.push(...errorsOf(firstRow + index, found).slice(0, MAX_ERRORS - errors.length))
        } else if (found === 'existing' || row instanceof DomainError) existing += 1
        else {
          const isNew = await importRow(row, { parsed, guess }, steps).catch((error: unknown) => {
            failing = { index, error }
            throw error
          })
          if (isNew) created += 1
          else existing += 1
        }
      }
      return answerOf({ created, existing, failed, errors, next: next - start })
    }
    try {
      const written = await deps.guesses.count(guesserOf(parsed), (guess) =>
        idempotentWrite({ deps, context }, parsed, {
          method: 'POST',
          path: pathOfPart(parsed, firstRow + start),
          via: 'batch',
          size: next - start,
          work: (steps) => work(guess, steps)
        })
      )
      const outcome = JSON.parse(written.outcome ?? '') as PartOutcome
      return { ...outcome, next: start + outcome.next, isReplayed: written.replayed }
    } catch (error) {
      const { index, reason = 'existing' } = failureOf(failing, error, parsed)
      if (mayBeThere(failing, again, parsed)) continue
      known.set(index, reason)
      const writes = rows.slice(start, index).some((_, at) => !known.has(start + at))
      if (writes) end = index + 1
    }
  }
}

interface Failing {
  readonly index: number
  readonly error: unknown
}

/**
 * The row that has ended a transaction, and what its create is answered with. undefined for a row whose value of `by` another
 * row has: that one came after the look for it. Throws an error that is about no row, such as a lost race.
 */
function failureOf(
  failing: Failing | undefined,
  error: unknown,
  { by }: ParsedImport
): { readonly index: number; readonly reason: DomainError | undefined } {
  if (failing === undefined || !isOfRow(failing.error) || !isOfRow(error)) throw error
  const { index, error: cause } = failing
  const isThere = cause instanceof KeyConflict && cause.kind === 'unique' && cause.at?.column === by
  return { index, reason: by !== undefined && isThere ? undefined : error }
}

/**
 * Whether a row is to be looked for once more: another import may have created it after the look, and the database names the
 * first unique index that it meets, which may be another one than that of `by`.
 */
function mayBeThere(failing: Failing | undefined, again: Set<number>, { by }: ParsedImport): boolean {
  if (by === undefined || !(failing?.error instanceof KeyConflict) || failing.error.kind !== 'unique') return false
  if (again.has(failing.index)) return false
  again.add(failing.index)
  return true
}

/** The rows behind `start` that one transaction takes, with their children. */
function endOfPart(rows: readonly ImportedRow[], start: number): number {
  let left = MAX_BATCH_ROWS
  const end = rows.findIndex((row, index) => {
    if (index < start) return false
    left -= row instanceof DomainError ? 1 : rowsOf([row])
    return left < 0 && index > start
  })
  return end === -1 ? rows.length : end
}

/** Keeps the rows of a part, or creates those of all parts. */
async function importWhole(call: ImportCall, request: ImportRequest__Output): Promise<ImportResponse> {
  const { deps, context, parsed } = call
  const { rows, firstRow } = parsed
  rejectRows(rows.flatMap((row, index) => (row instanceof DomainError ? [errorOfRow(firstRow + index, row)] : [])))
  const { upload, digest } = readContinuation(request, deps)
  const canonicalBody = JSON.stringify([digest, parsed.canonicalBody])
  if (!request.more) return await createAll({ ...call, parsed: { ...parsed, canonicalBody } }, upload)
  const claim = claimOfPart(call, upload, firstRow)
  await deps.shares.transaction(context, 1, async (unit) => {
    const kept = await unit.claimKey(claim)
    if (kept === undefined) unit.storeResponse(claim, jsonArray(request.rows.map(asBuffer)))
    else if (!kept.fingerprint.equals(claim.fingerprint)) throw otherRows()
  })
  const next = [upload, firstRow + rows.length, createHash('sha256').update(canonicalBody).digest('base64')]
  return { continuation: Buffer.from(JSON.stringify(next)) }
}

async function createAll(call: ImportCall, upload: string): Promise<ImportResponse> {
  const { deps, context, parsed } = call
  const { firstRow, rows } = parsed
  const known = new Set<number>()
  const again = new Set<number>()
  for (let tries = 1; ; tries++) {
    let failing: Failing | undefined
    const work = async (guess: Guess, steps: WriteSteps): Promise<WriteResponse> => {
      failing = undefined
      let [created, index] = [0, 0]
      for await (const row of rowsOfFile(call, upload, steps)) {
        const isNew =
          !known.has(index) &&
          (await importRow(row, { parsed, guess }, steps).catch((error: unknown) => {
            failing = { index, error }
            throw error
          }))
        if (isNew) created += 1
        index += 1
      }
      return answerOf({ created, existing: index - created, failed: 0, errors: [] })
    }
    try {
      const written = await deps.guesses.count(guesserOf(parsed), (guess) =>
        idempotentWrite({ deps, context }, parsed, {
          method: 'POST',
          path: pathOfPart(parsed, 0),
          via: 'batch',
          size: Math.max(1, firstRow + rows.length),
          work: (steps) => work(guess, steps)
        })
      )
      const { created, existing } = JSON.parse(written.outcome ?? '') as Outcome
      const { replayed } = written
      return replayed ? { createdBefore: created, existing, replayed } : { created, existing }
    } catch (error) {
      const { index, reason } = failureOf(failing, error, parsed)
      if (tries < MAX_TRIES && mayBeThere(failing, again, parsed)) continue
      if (reason !== undefined || tries >= MAX_TRIES) throw errorOfRow(index, error)
      known.add(index)
    }
  }
}

/** The rows of all parts. One part of them is in memory at a time. */
async function* rowsOfFile(call: ImportCall, upload: string, { unit }: WriteSteps): AsyncGenerator<ParsedRow> {
  const { firstRow, rows, readRow } = call.parsed
  for (let start = 0; start < firstRow;) {
    const part = await unit.findResponse(claimOfPart(call, upload, start))
    const found = part && storedJson(part.answer.toString('utf8'))
    if (found === undefined || !isArray(found) || found.length === 0) throw notKept(start)
    for (const json of found) yield readRow(json)
    start += found.length
  }
  for (const row of rows) if (!(row instanceof DomainError)) yield row
}

function otherRows(): DomainError {
  return new DomainError('request.malformed', 'Other rows were sent with this continuation before.')
}

function notKept(index: number): DomainError {
  const detail = `The rows from row ${index + 1} on are not kept any more. Send the file again.`
  return new DomainError('request.malformed', detail)
}

/** Creates a row. Returns whether it is new: `by` may say that it is there already. */
async function importRow(
  row: ParsedRow,
  { parsed, guess }: { readonly parsed: ParsedImport; readonly guess: Guess },
  steps: WriteSteps
): Promise<boolean> {
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

/** Whatever `onError` says, a file has one key: its first part, or the whole file, is stored in one place. */
function pathOfPart({ resource: { entity } }: ParsedImport, row: number): string {
  return `/${entity.name}/import/${row}`
}

/** The claim under which the rows of a part are kept. */
function claimOfPart({ deps, parsed }: ImportCall, upload: string, row: number): KeyClaim {
  const claim = keyClaim(parsed, { method: 'POST', path: `${pathOfPart(parsed, row)}/${upload}` }, deps)
  if (claim === undefined) throw new TypeError('an import has a key')
  return { ...claim, expiresAt: claim.now + KEPT }
}

/** Names the parts of one file: those of an upload that was broken off are of no use to the next one. */
interface Continuation {
  readonly upload: string
  /** Of the rows before. */
  readonly digest: string
}

function readContinuation({ continuation, firstRow }: ImportRequest__Output, { newGuid }: WriteDeps): Continuation {
  if (continuation.length === 0 && firstRow === 0) return { upload: newGuid(), digest: '' }
  const [upload, next, digest] = readTexts(continuation.toString('utf8'))
  if (typeof upload === 'string' && typeof digest === 'string' && next === firstRow) return { upload, digest }
  throw new DomainError('request.malformed', 'continuation must be what the call before has answered.')
}

function readTexts(json: string): readonly unknown[] {
  try {
    const read: unknown = JSON.parse(json)
    return Array.isArray(read) ? read : []
  } catch {
    return []
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes)
}
