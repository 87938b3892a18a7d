import type { ParsedWrite } from '../plan/parse-write.js'
import type { UnitOfWork } from '../plan/write-store.js'
import { DomainError } from '../../shared/domain-error.js'
import type { CallContext } from './call-context.js'
import { guardConflicts } from './conflict.js'
import { decodeAnswer, encodeAnswer, type WriteAnswer } from './kept-answer.js'
import { keyClaim } from './key-claim.js'
import { WriteSteps } from './write-steps.js'
import type { Writing } from './writing.js'

export interface KeyedAnswer extends WriteAnswer {
  readonly replayed: boolean
}

/**
 * One write in one transaction: its key, its rows, its audit entries and the answer kept under the key commit together
 * or not at all. The work may run several times, each time from the start.
 */
export async function keyedWrite(
  { writing, context }: { readonly writing: Writing; readonly context: CallContext },
  parsed: ParsedWrite,
  write: {
    readonly method: 'POST' | 'PUT'
    readonly path: string
    readonly work: (steps: WriteSteps) => Promise<WriteAnswer>
  }
): Promise<KeyedAnswer> {
  const claim = keyClaim(parsed, write, writing)
  const inTransaction = async (unit: UnitOfWork): Promise<KeyedAnswer> => {
    const kept = claim && (await unit.claimKey(claim))
    const { owner } = parsed.writer.caller
    if (claim !== undefined && kept !== undefined) {
      const { answer, isFor } = decodeAnswer(kept.answer)
      if (!isFor(owner)) throw keptForAnother()
      if (!kept.fingerprint.equals(claim.fingerprint)) throw reused()
      return { ...answer, replayed: true }
    }
    const answer = await write.work(
      new WriteSteps(unit, writing, { writer: parsed.writer, requestId: context.requestId })
    )
    if (claim !== undefined) await unit.keepAnswer(claim, encodeAnswer(answer, owner))
    return { ...answer, replayed: false }
  }
  return guardConflicts(write.method === 'PUT', writing.store.transaction(context.signal, inTransaction))
}

/** Whoever is somebody else's owner by now must not see what was theirs then (contract.md section 5). */
function keptForAnother(): DomainError {
  return new DomainError(
    'ownership.denied',
    'This Idempotency-Key was used under another owner claim; its answer is not for this one.'
  )
}

function reused(): DomainError {
  return new DomainError('idempotency.key.reused', 'This Idempotency-Key was used for another request; take a new one.')
}
