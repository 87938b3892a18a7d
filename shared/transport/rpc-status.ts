import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Metadata, type ServiceError, status, type StatusObject } from '@grpc/grpc-js'
import protobuf from 'protobufjs'
import {
  conflictText,
  DomainError,
  type DomainErrorOptions,
  type ErrorCode,
  grpcStatusOf,
  isErrorCode,
  parseConflict,
  type ProblemMembers,
  shortened,
  type Violation,
  type ViolationRule
} from '../errors.js'

/** The google.rpc details of an error (https://google.aip.dev/193). */
export interface RpcDetails {
  readonly reason: string
  readonly violations: readonly FieldViolation[]
  /** Seconds. */
  readonly retryAfter: number | undefined
  /** Metadata of ErrorInfo. */
  readonly metadata: Readonly<Record<string, string>>
}

interface FieldViolation {
  readonly field: string
  readonly description: string
  readonly reason: string
}

/** A field violation has no room for its rule: the metadata `rules` has a JSON array of them, with null for none. */
interface SentDetails extends RpcDetails {
  readonly rules: readonly (ViolationRule | null)[]
}

/** Clients built on C-core lose the whole status if the metadata is larger than 8 KiB (contract.md section 7). */
const MAX_DETAILS_BYTES = 5 * 1024
/** Characters of at most four bytes each. */
const MAX_MESSAGE = 1000
/** More violations never fit into MAX_DETAILS_BYTES. This limits the work of trying. */
const MAX_VIOLATIONS = 256
const DOMAIN = 'uniform-rest'
const PREFIX = 'type.googleapis.com/google.rpc.'

const directory = fileURLToPath(new URL('../../../proto', import.meta.url))
const root = new protobuf.Root()
root.resolvePath = (_origin, target) => (target.startsWith('google/protobuf/') ? target : join(directory, target))
root.loadSync(['google/rpc/status.proto', 'google/rpc/error_details.proto'])
const Status = root.lookupType('google.rpc.Status')
const ErrorInfo = root.lookupType('google.rpc.ErrorInfo')
const BadRequest = root.lookupType('google.rpc.BadRequest')
const RetryInfo = root.lookupType('google.rpc.RetryInfo')

/** Serializes to at most 5 KiB. The number of violations that do not fit is in the ErrorInfo metadata `moreFaults`. */
function encodeDetails(code: number, message: string, details: SentDetails): Buffer {
  for (let kept = Math.min(details.violations.length, MAX_VIOLATIONS); ; kept = Math.floor(kept / 2)) {
    const encoded = encode(code, shortened(message, MAX_MESSAGE), { details, kept })
    if (encoded.length <= MAX_DETAILS_BYTES || kept === 0) return encoded
  }
}

function encode(code: number, message: string, what: { details: SentDetails; kept: number }): Buffer {
  const { details, kept } = what
  const more = details.violations.length - kept
  const rules = details.rules.slice(0, kept)
  const metadata = {
    ...details.metadata,
    ...(more > 0 ? { moreFaults: String(more) } : {}),
    ...(rules.some((one) => one !== null) ? { rules: JSON.stringify(rules) } : {})
  }
  const parts = [
    pack('ErrorInfo', ErrorInfo, {
      reason: details.reason,
      domain: DOMAIN,
      metadata
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

/** undefined if the bytes are not a google.rpc.Status with an ErrorInfo. */
export function decodeDetails(bytes: Buffer): { message: string; info: RpcDetails } | undefined {
  try {
    const parsed = Status.toObject(Status.decode(bytes), { defaults: true }) as EncodedStatus
    const find = <T>(name: string, type: protobuf.Type): T | undefined => {
      const any = parsed.details.find((one) => one.type_url === PREFIX + name)
      // The loaded descriptor gives the shape.
      return any && (type.toObject(type.decode(any.value), { defaults: true, longs: Number }) as T)
    }
    const info = find<{ reason: string; metadata: Readonly<Record<string, string>> }>('ErrorInfo', ErrorInfo)
    if (info === undefined) return undefined
    return {
      message: parsed.message,
      info: {
        reason: info.reason,
        metadata: info.metadata,
        violations: find<{ fieldViolations: FieldViolation[] }>('BadRequest', BadRequest)?.fieldViolations ?? [],
        retryAfter: find<{ retryDelay: { seconds: number } }>('RetryInfo', RetryInfo)?.retryDelay.seconds
      }
    }
  } catch {
    return undefined
  }
}

/** google.rpc.Status as protobufjs decodes it. Any keeps its proto names. */
interface EncodedStatus {
  readonly message: string
  readonly details: readonly { readonly type_url: string; readonly value: Uint8Array }[]
}

/** Limits of a conflict's metadata, in characters and in bytes of JSON: the other details need the rest of the room. */
const MAX_TITLE = 100
export const MAX_MEMBERS_BYTES = 512

type Conflict = Pick<DomainErrorOptions, 'guarded' | 'title' | 'members' | 'conflict'>

/** The further properties of a conflict as ErrorInfo metadata: `conflict`, `guarded`, `title`, and `members` as JSON. */
function conflictMetadata({ conflict, guarded, title, members }: DomainError): Readonly<Record<string, string>> {
  const json = JSON.stringify(members)
  const fits = json !== '{}' && Buffer.byteLength(json) <= MAX_MEMBERS_BYTES
  return {
    ...(conflict === undefined ? {} : { conflict: conflictText(conflict) }),
    ...(guarded ? { guarded: 'true' } : {}),
    ...(title === undefined ? {} : { title: shortened(title, MAX_TITLE) }),
    ...(fits ? { members: json } : {})
  }
}

function conflictOf(metadata: Readonly<Record<string, string>>): Conflict {
  const { conflict, guarded, title, members } = metadata
  return {
    ...(conflict === undefined ? {} : { conflict: parseConflict(conflict) }),
    ...(guarded === 'true' ? { guarded: true } : {}),
    ...(title === undefined ? {} : { title }),
    ...(members === undefined ? {} : { members: parseMembers(members) })
  }
}

function parseMembers(json: string): ProblemMembers {
  try {
    const parsed: unknown = JSON.parse(json)
    if (typeof parsed !== 'object' || parsed === null) return {}
    return Object.fromEntries(Object.entries(parsed).filter((entry): entry is [string, string] => isScalar(entry[1])))
  } catch {
    return {}
  }
}

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

const DETAILS_KEY = 'grpc-status-details-bin'
const PLACE_WORDS: Readonly<Record<Violation['place']['in'], string>> = {
  parameter: 'query',
  pointer: 'body',
  header: 'header'
}

/** A DomainError as a gRPC status with google.rpc details (AIP-193). */
export function toRpcStatus(error: DomainError): StatusObject {
  const metadata = new Metadata()
  metadata.set(DETAILS_KEY, toStatusBytes(error))
  // grpc-message is percent-encoded, so it gets a short text for people. The whole text is in the details.
  return { code: grpcStatusOf(error), details: shortened(error.message, 100), metadata }
}

/** A DomainError as an encoded google.rpc.Status with its details. */
export function toStatusBytes(error: DomainError): Buffer {
  return encodeDetails(grpcStatusOf(error), error.message, {
    reason: error.code,
    violations: error.violations.map(({ code: reason, detail, place }) => ({
      field: `${PLACE_WORDS[place.in]}:${place.name}`,
      description: detail,
      reason
    })),
    rules: error.violations.map(({ rule }) => rule ?? null),
    retryAfter: error.retryAfter,
    metadata: conflictMetadata(error)
  })
}

/** An encoded google.rpc.Status without details, for what goes wrong before a call reaches its handler. */
export function transportStatusBytes(code: status, message: string): Buffer {
  return Buffer.from(Status.encode({ code, message }).finish())
}

/** The DomainError of a gRPC status. A status of the transport itself has no details and becomes the nearest code. */
export function fromRpcStatus(error: ServiceError): DomainError {
  const [encoded] = error.metadata.get(DETAILS_KEY)
  return (Buffer.isBuffer(encoded) ? fromStatusBytes(encoded) : undefined) ?? transportError(error.code, error)
}

/** The DomainError of an encoded google.rpc.Status. undefined if the bytes are none, or hold none of our errors. */
export function fromStatusBytes(bytes: Buffer): DomainError | undefined {
  const details = decodeDetails(bytes)
  if (details === undefined || !isErrorCode(details.info.reason)) return undefined
  const { message, info } = details
  return new DomainError(details.info.reason, message, {
    violations: violationsOf(info),
    ...conflictOf(info.metadata),
    ...(info.retryAfter === undefined ? {} : { retryAfter: info.retryAfter })
  })
}

/** The DomainError of a failure of the transport itself, which has no details: the code that is nearest to the status. */
export function transportError(code: status, cause?: unknown): DomainError {
  return new DomainError(transportCode(code), transportDetail(code), {
    ...(cause === undefined ? {} : { cause }),
    ...(transportCode(code) === 'upstream.unavailable' ? { retryAfter: 1 } : {})
  })
}

function violationsOf(info: RpcDetails): Violation[] {
  const rules = parseRules(info.metadata['rules'])
  return info.violations.flatMap(({ field, description, reason }, at) => {
    const rule = rules[at] ?? undefined
    const [prefix, name] = splitOnce(field)
    const place = (['parameter', 'pointer', 'header'] as const).find((one) => PLACE_WORDS[one] === prefix)
    return place !== undefined && isErrorCode(reason)
      ? [{ code: reason, detail: description, place: { in: place, name }, ...(rule === undefined ? {} : { rule }) }]
      : []
  })
}

/** Empty for what is no list of rules. */
function parseRules(json: string | undefined): readonly (ViolationRule | null)[] {
  if (json === undefined) return []
  try {
    const parsed: unknown = JSON.parse(json)
    // The data service writes them; a newer one may have rules that this version does not know, which are passed on.
    return Array.isArray(parsed) ? (parsed as (ViolationRule | null)[]) : []
  } catch {
    return []
  }
}

function splitOnce(field: string): [string, string] {
  const at = field.indexOf(':')
  return [field.slice(0, at), field.slice(at + 1)]
}

function transportCode(code: status): ErrorCode {
  // A data service resets calls beyond what it holds for an address, and for all.
  if (code === status.UNAVAILABLE || code === status.RESOURCE_EXHAUSTED) return 'upstream.unavailable'
  if (code === status.DEADLINE_EXCEEDED) return 'upstream.timeout'
  return 'upstream.bad-gateway'
}

function transportDetail(code: status): string {
  if (code === status.UNAVAILABLE) return 'The data service cannot be reached at the moment.'
  if (code === status.RESOURCE_EXHAUSTED) return 'The data service holds too many requests at the moment.'
  if (code === status.DEADLINE_EXCEEDED) return 'The data service did not answer in time.'
  return 'The data service gave an answer that could not be understood.'
}
