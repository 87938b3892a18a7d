import { createHash } from 'node:crypto'
import { DomainError } from '../../../shared/errors.js'
import type { ImportRequest__Output } from '../../../shared/gen/entity/v1/ImportRequest.js'
import { jsonArray } from '../../../shared/transport/wire.js'
import { NONCE_BYTES, seal, unseal } from '../../auth/tokens/sealed-bytes.js'
import type { CallContext } from '../../entity/caller.js'
import { storedJson } from '../../entity/fields/json-parser.js'
import { isArray, type JsonValue } from '../../entity/fields/json-values.js'
import type { ParsedImport } from '../../plan/import-requests.js'
import type { KeyClaim, UnitOfWork } from '../../plan/model/stores.js'
import { keyClaim } from './stored-answers.js'
import type { WriteDeps } from './write-steps.js'

// The rows of an import with `stop` that came before its last part. They are kept under keys of their own until then, and
// encrypted with what only the caller holds: no other stored answer has the values of write-only columns.

export interface ImportCall {
  readonly deps: WriteDeps
  readonly context: CallContext
  readonly parsed: ParsedImport
}

/** Milliseconds for which the parts of a file are kept whose last part has not come: as long as a slow upload takes. */
const KEPT = 6 * 60 * 60_000

/** Parts of one DELETE at most. A cluster takes no transaction of any size. */
const PARTS_PER_DELETE = 16

/** Names the parts of one file: those of an upload that was broken off are of no use to the next one. */
export interface Upload {
  /** Random. The database has only hashes of it. */
  readonly secret: string
  /** Of the rows before. */
  readonly digest: string
  readonly parts: number
  /** Rows before, with their children. */
  readonly written: number
}

export function readUpload({ continuation, firstRow }: ImportRequest__Output, { newGuid }: WriteDeps): Upload {
  if (continuation.length === 0 && firstRow === 0) return { secret: newGuid(), digest: '', parts: 0, written: 0 }
  const [secret, next, digest, parts, written] = readValues(continuation.toString('utf8'))
  const isRead = typeof secret === 'string' && typeof digest === 'string' && next === firstRow
  // Each part has a row.
  if (isRead && isCount(parts) && parts <= firstRow && isCount(written)) return { secret, digest, parts, written }
  throw wrongContinuation()
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

export function wrongContinuation(): DomainError {
  return new DomainError('request.malformed', 'continuation must be what the call before has answered.')
}

function readValues(json: string): readonly unknown[] {
  try {
    const read: unknown = JSON.parse(json)
    return Array.isArray(read) ? read : []
  } catch {
    return []
  }
}

/** Identifies the rows of a file up to the last one of this part. */
export function canonicalRows({ canonicalBody }: ParsedImport, { digest }: Upload): string {
  return JSON.stringify([digest, canonicalBody])
}

/** Keeps the rows of a part, which are counted in `written`. Returns the continuation for the next one. */
export async function keepPart(call: ImportCall, upload: Upload, rows: readonly Uint8Array[]): Promise<Buffer> {
  const { deps, context, parsed } = call
  const { secret, parts, written } = upload
  const claim = claimOfPart(call, upload, parts)
  await deps.shares.transaction(context, 1, async (unit) => {
    const kept = await unit.claimKey(claim)
    if (kept === undefined) {
      const json = jsonArray(rows.map((row) => (Buffer.isBuffer(row) ? row : Buffer.from(row))))
      unit.storeResponse(claim, seal(json, sealingOf(upload), deps.randomBytes(NONCE_BYTES)))
    } else if (!kept.fingerprint.equals(claim.fingerprint)) {
      throw new DomainError('request.malformed', 'Other rows were sent with this continuation before.')
    }
  })
  const digest = createHash('sha256').update(canonicalRows(parsed, upload)).digest('base64')
  return Buffer.from(JSON.stringify([secret, parsed.firstRow + rows.length, digest, parts + 1, written]))
}

/** The rows of all parts that are kept. One part of them is in memory at a time. */
export async function* keptRows(call: ImportCall, upload: Upload, unit: UnitOfWork): AsyncGenerator<JsonValue> {
  let rows = 0
  for (let part = 0; part < upload.parts; part++) {
    const kept = await unit.findResponse(claimOfPart(call, upload, part))
    const found = kept && storedJson(unseal(kept.answer, sealingOf(upload)).toString('utf8'))
    if (found === undefined || !isArray(found)) {
      const detail = `The rows from row ${rows + 1} on are not kept any more. Send the file again.`
      throw new DomainError('request.malformed', detail)
    }
    yield* found
    rows += found.length
  }
}

/** Deletes the parts that are of no use any more. What it does not come to goes when it expires. */
export async function forgetParts(call: ImportCall, upload: Upload): Promise<void> {
  const { deps, context } = call
  // How many there are is the word of the caller, who would have thousands looked for.
  const last = claimOfPart(call, upload, upload.parts - 1)
  const isKept = await deps.shares.transaction(context, 1, (unit) => unit.findResponse(last))
  if (isKept === undefined) return
  for (let part = 0; part < upload.parts; part += PARTS_PER_DELETE) {
    const length = Math.min(PARTS_PER_DELETE, upload.parts - part)
    const claims = Array.from({ length }, (_, index) => claimOfPart(call, upload, part + index))
    await deps.shares.transaction(context, 1, (unit) => unit.forgetResponses(claims))
  }
}

function sealingOf({ secret }: Upload): Parameters<typeof unseal>[1] {
  return { secret: Buffer.from(secret), purpose: 'imported rows' }
}

/** The claim under which the rows of a part are kept. */
function claimOfPart({ deps, context, parsed }: ImportCall, { secret }: Upload, part: number): KeyClaim {
  const claim = keyClaim(parsed, { method: 'POST', path: `${pathOfImport(parsed)}/${part}/${secret}` }, deps)
  if (claim === undefined) throw new TypeError('an import has a key')
  const { caller } = context
  // A gateway sends all parts with one token, and can end nothing with one that has expired.
  const token = context.peerIsGateway && caller.kind === 'authenticated' ? caller.expiresAt : undefined
  return { ...claim, expiresAt: Math.min(claim.now + KEPT, token ?? Infinity) }
}

export function pathOfImport({ resource: { entity } }: ParsedImport): string {
  return `/${entity.name}/import`
}
