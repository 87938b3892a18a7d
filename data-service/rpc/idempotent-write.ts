import { createHash } from 'node:crypto'
import { DomainError } from '../../shared/errors.js'
import type { CallContext } from '../entity/caller.js'
import type { KeyClaim, UnitOfWork } from '../plan/stores.js'
import type { ParsedWrite } from '../plan/write-requests.js'
import {
  decodeAnswer,
  encodeAnswer,
  guardConflicts,
  type WriteAnswer,
  WriteSteps,
  type Writing
} from './write-steps.js'

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

/** What the key of a write stands for: caller, method, concrete path and key; undefined where the write has none. */
export function keyClaim(
  { writer: { caller }, key, canonicalBody }: ParsedWrite,
  at: { readonly method: 'POST' | 'PUT'; readonly path: string },
  { now, idempotency }: Writing
): KeyClaim | undefined {
  if (key === undefined) return undefined
  const time = now()
  return {
    keyHash: sha256(JSON.stringify([caller.issuer, caller.subject, at.method, at.path, key])),
    fingerprint: sha256(canonicalBody),
    now: time,
    expiresAt: time + idempotency.retention
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
