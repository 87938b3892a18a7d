import type { CallContext } from '../../entity/caller.js'
import type { Column } from '../../entity/entity.js'
import type { Operand } from '../../entity/fields/field.js'
import { idText, type RowKey } from '../../entity/key.js'
import type { Resource } from '../../plan/model/catalogue.js'
import type { KeyClaim, UnitOfWork } from '../../plan/model/stores.js'
import { guardConflicts } from './rejections.js'
import { encodeAnswer, keyClaim, type KeyedWrite, storedAnswer } from './stored-answers.js'
import type { WriteSize } from './write-shares.js'
import { type WriteDeps, type WriteResponse, WriteSteps } from './write-steps.js'

// Every write goes this way. Its request is parsed, and its caller authorized (plan/write-requests.ts). Then one transaction
// claims the key, loads the row if a rule looks at it, changes it, audits the change, and reads the answer.

/** Of the request that has the idempotency key. */
type WriteMethod = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

interface IdempotentResponse extends WriteResponse {
  readonly replayed: boolean
  /** Whether nothing of it was committed, since the request asked for a dry run. */
  readonly rolledBack: boolean
}

/**
 * One write in one transaction: its key, its rows, its audit entries and the response stored under the key commit together
 * or not at all. The work may run several times, each time from the start. A dry run is the same without the COMMIT: it
 * answers what the write would have answered, and so the stored response of a key that was used.
 */
export async function idempotentWrite(
  { deps, context }: { readonly deps: WriteDeps; readonly context: CallContext },
  parsed: KeyedWrite,
  write: {
    readonly method: WriteMethod
    readonly path: string
    /** Whether the request has a precondition. All of its conflicts are 412 then. Default: true, but false for POST. */
    readonly guarded?: boolean
    /** Default: `request`. */
    readonly via?: 'request' | 'batch'
    /** Default: 1. */
    readonly size?: WriteSize
    readonly work: (steps: WriteSteps) => Promise<WriteResponse>
    /**
     * The claim of the key and the work in one round trip. undefined if the key is not new, or if the work has more steps:
     * then nothing was done.
     */
    readonly atOnce?: (steps: WriteSteps, claim: KeyClaim | undefined) => Promise<WriteResponse | undefined>
  }
): Promise<IdempotentResponse> {
  const claim = keyClaim(parsed, write, deps)
  // What this request was to store when its last transaction ended, perhaps with an answer that was lost.
  let ownResponse: Buffer | undefined
  const inTransaction = async (unit: UnitOfWork): Promise<IdempotentResponse> => {
    const store = (answer: WriteResponse): IdempotentResponse => {
      const { kept, json } = answer
      if (claim !== undefined) {
        const stored = encodeAnswer({ ...answer, json: kept ?? json }, parsed)
        unit.storeResponse(claim, stored)
        // A stored answer without the secret is always marked as a replay, so that its reader knows why the secret is missing.
        ownResponse = kept === undefined ? stored : undefined
      }
      return { ...answer, replayed: false, rolledBack: false }
    }
    const { caller } = parsed.writer
    const { via = 'request' } = write
    const { requestId } = context
    const { dryRun } = parsed
    const steps = new WriteSteps(unit, deps, { caller, requestId, via, hasKey: claim !== undefined, dryRun })
    if (dryRun) {
      unit.rollBackAtEnd()
      const stored = claim && (await unit.findResponse(claim))
      const answer =
        claim !== undefined && stored !== undefined
          ? await storedAnswer(stored, { claim, unit }, parsed)
          : ((await write.atOnce?.(steps, undefined)) ?? (await write.work(steps)))
      // There will be no row at the place of a new one.
      return { ...answer, location: '', replayed: stored !== undefined, rolledBack: true }
    }
    const atOnce = await write.atOnce?.(steps, claim)
    if (atOnce !== undefined) return store(atOnce)
    const stored = claim && (await unit.claimKey(claim))
    if (claim !== undefined && stored !== undefined) {
      const answer = await storedAnswer(stored, { claim, unit }, parsed)
      return { ...answer, replayed: ownResponse?.equals(stored.answer) !== true, rolledBack: false }
    }
    return store(await write.work(steps))
  }
  const { guarded = write.method !== 'POST', size = 1 } = write
  const { resource } = parsed
  return guardConflicts({ guarded, resource }, deps.shares.transaction(context, size, inTransaction))
}

/**
 * The path of a row, with its id percent-encoded as `Location` and the keys of requests need it: the id `1/pay` is not the
 * action `pay` of the row `1`. A comma is no delimiter of a path segment.
 */
export function pathOf({ entity: { name } }: Resource, key: RowKey): string {
  return `/${name}/${encodeURIComponent(idText(key)).replaceAll('%2C', ',')}`
}

/** The path of a row that a unique property names. */
export function pathBy(
  { entity: { name } }: Resource,
  { column, value }: { readonly column: Column; readonly value: Operand }
): string {
  return `/${name}/by/${column.name}/${encodeURIComponent(String(value))}`
}
