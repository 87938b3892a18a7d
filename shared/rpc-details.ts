import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import protobuf from 'protobufjs'
import { shortened } from './shortened.js'

/** What google.rpc details say of an error (https://google.aip.dev/193). */
export interface RpcDetails {
  readonly reason: string
  readonly violations: readonly Violation[]
  /** Seconds. */
  readonly retryAfter: number | undefined
  /** Metadata of ErrorInfo: texts by name. */
  readonly metadata: Readonly<Record<string, string>>
}

export interface Violation {
  readonly field: string
  readonly description: string
  readonly reason: string
}

/** Clients built on C-core lose the whole status when details pass 8 KiB of metadata (contract.md section 7). */
const MAX_DETAILS_BYTES = 5 * 1024
/** Characters; four bytes each at most. */
const MAX_MESSAGE = 1000
/** More never fit: a limit on the work, not on the bytes. */
const MOST_VIOLATIONS = 256
const DOMAIN = 'uniform-rest'
const PREFIX = 'type.googleapis.com/google.rpc.'

const directory = fileURLToPath(new URL('../../proto', import.meta.url))
const root = new protobuf.Root()
root.resolvePath = (_origin, target) => (target.startsWith('google/protobuf/') ? target : join(directory, target))
root.loadSync(['google/rpc/status.proto', 'google/rpc/error_details.proto'])
const Status = root.lookupType('google.rpc.Status')
const ErrorInfo = root.lookupType('google.rpc.ErrorInfo')
const BadRequest = root.lookupType('google.rpc.BadRequest')
const RetryInfo = root.lookupType('google.rpc.RetryInfo')

/** Serializes at most 5 KiB: faults that do not fit are counted in ErrorInfo metadata `moreFaults`. */
export function encodeDetails(code: number, message: string, details: RpcDetails): Buffer {
  for (let kept = Math.min(details.violations.length, MOST_VIOLATIONS); ; kept = Math.floor(kept / 2)) {
    const encoded = encode(code, shortened(message, MAX_MESSAGE), { details, kept })
    if (encoded.length <= MAX_DETAILS_BYTES || kept === 0) return encoded
  }
}

function encode(code: number, message: string, what: { details: RpcDetails; kept: number }): Buffer {
  const { details, kept } = what
  const more = details.violations.length - kept
  const parts = [
    pack('ErrorInfo', ErrorInfo, {
      reason: details.reason,
      domain: DOMAIN,
      metadata: more > 0 ? { ...details.metadata, moreFaults: String(more) } : details.metadata
    })
  ]
  if (kept > 0) parts.push(pack('BadRequest', BadRequest, { fieldViolations: details.violations.slice(0, kept) }))
  if (details.retryAfter !== undefined) {
    parts.push(pack('RetryInfo', RetryInfo, { retryDelay: { seconds: details.retryAfter } }))
  }
  return Buffer.from(Status.encode(Status.fromObject({ code, message, details: parts })).finish())
}

function pack(name: string, type: protobuf.Type, value: object): object {
  return { type_url: PREFIX + name, value: type.encode(type.fromObject(value)).finish() }
}

/** undefined where the bytes are no google.rpc.Status with an ErrorInfo. */
export function decodeDetails(bytes: Buffer): { message: string; info: RpcDetails } | undefined {
  try {
    const parsed = Status.toObject(Status.decode(bytes), { defaults: true }) as StatusObject
    const find = <T>(name: string, type: protobuf.Type): T | undefined => {
      const any = parsed.details.find((one) => one.type_url === PREFIX + name)
      // The descriptor loaded beside this module gives the shape.
      return any && (type.toObject(type.decode(any.value), { defaults: true, longs: Number }) as T)
    }
    const info = find<{ reason: string; metadata: Readonly<Record<string, string>> }>('ErrorInfo', ErrorInfo)
    if (info === undefined) return undefined
    return {
      message: parsed.message,
      info: {
        reason: info.reason,
        metadata: info.metadata,
        violations: find<{ fieldViolations: Violation[] }>('BadRequest', BadRequest)?.fieldViolations ?? [],
        retryAfter: find<{ retryDelay: { seconds: number } }>('RetryInfo', RetryInfo)?.retryDelay.seconds
      }
    }
  } catch {
    return undefined
  }
}

/** google.rpc.Status as protobufjs hands it out; Any keeps its proto names. */
interface StatusObject {
  readonly message: string
  readonly details: readonly { readonly type_url: string; readonly value: Uint8Array }[]
}
