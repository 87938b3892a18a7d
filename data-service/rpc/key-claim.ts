import { createHash } from 'node:crypto'
import type { ParsedWrite } from '../plan/parse-write.js'
import type { KeyClaim } from '../plan/write-store.js'
import type { Writing } from './writing.js'

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
