import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { DomainError, rejectionAt, type ViolationPlace } from '../../../shared/errors.js'
import { unreservedClaims } from '../../auth/tokens/claims.js'
import type { Authenticated } from '../../entity/caller.js'
import type { RowVersion } from '../../entity/fields/row-version.js'
import type { KeyedEntity } from '../../entity/entity.js'
import type { Field, Value } from '../../entity/fields/field.js'
import type { RowScope } from '../../plan/model/plans.js'
import type { KeyClaim, StoredResponse, StoredRow, UnitOfWork } from '../../plan/model/stores.js'
import { parseId } from '../../plan/parsing/keys.js'
import { Violations } from '../../plan/parsing/violations.js'
import { isWritten, TYPES, valueEncoder } from '../../entity/types/types.js'
import { placeInScope } from '../../plan/scope-of-values.js'
import { planLook } from '../../plan/plan-writes.js'
import { scopeText } from '../../plan/row-scopes.js'
import type { ParsedWrite } from '../../plan/write-requests.js'
import { withoutMembers } from '../json.js'
import type { WriteDeps, WriteResponse } from './write-steps.js'
import { storedJson } from '../../entity/fields/json-parser.js'
import { canonicalJson } from '../../entity/fields/json-values.js'

/** What of a parsed request the key and its stored response need. */
export type KeyedWrite = Pick<ParsedWrite, 'key' | 'canonicalBody' | 'ignored' | 'dryRun'> & (KeyedRows | KeyedCall)

interface KeyedRows {
  readonly writer: Pick<ParsedWrite['writer'], 'caller' | 'decided'>
  readonly resource: Pick<ParsedWrite['resource'], 'withheld' | 'entity' | 'properties'>
}

/** An operation of the application. */
interface KeyedCall {
  readonly writer: Pick<ParsedWrite['writer'], 'caller'>
  readonly resource: undefined
}

/** The claim on the key of a write: caller, method, concrete path and key. undefined for a write without a key. */
export function keyClaim(
  { writer: { caller }, key, canonicalBody }: Pick<KeyedWrite, 'writer' | 'key' | 'canonicalBody'>,
  at: { readonly method: string; readonly path: string },
  { now, idempotency }: WriteDeps
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

/** The answer under a key that was used before. Rejects where it is not for this caller now, or is of another request. */
export async function storedAnswer(
  stored: StoredResponse,
  { claim, unit }: { readonly claim: KeyClaim; readonly unit: Pick<UnitOfWork, 'look'> },
  parsed: KeyedWrite
): Promise<WriteResponse> {
  const { caller } = parsed.writer
  const { answer, isFor, isWithinRightsOf, isWithinViewOf, isOfSameClaims } = decodeAnswer(stored.answer)
  if (!isFor(caller)) throw storedForAnotherOwner()
  if (!stored.fingerprint.equals(claim.fingerprint)) throw keyReused()
  if (!isWithinRightsOf(caller)) throw storedForMoreRights()
  if (!isWithinViewOf(parsed)) {
    if (parsed.resource === undefined) throw storedForMoreRights()
    const asked = { isSame: isOfSameClaims(caller), unit }
    if (!(await showsRows(answer, parsed, asked))) throw storedForOtherRows()
  }
  return withoutWithheld(answer, parsed)
}

/**
 * The stored response without the properties that its caller may not see now: the permission may have been lost, or the
 * entity may have got it, since the first request. All other bytes stay as they are. Members of the body that such a
 * caller cannot name are ignored ones, as the parsing of this request says.
 */
function withoutWithheld(response: WriteResponse, { resource, ignored }: KeyedWrite): WriteResponse {
  if (resource === undefined) return response
  const hidden = hiddenNow(resource)
  if (hidden.size === 0) return response
  const json = withoutMembers(response.json, hidden)
  return { ...response, json, ignored: resource.withheld.size === 0 ? response.ignored : ignored }
}

/** The properties that a caller may not see now. A column may have become a secret since an answer was stored. */
export function hiddenNow({ withheld, entity }: KeyedRows['resource']): ReadonlySet<string> {
  const secrets = entity.columns.filter(({ field }) => field.hidden).map(({ name }) => name)
  return new Set([...withheld, ...secrets])
}

/**
 * Whether the caller's scope of now shows the rows of an answer. The scope of a caller whose rights are the same differs too
 * where it looks at the clock.
 */
async function showsRows(
  { json, id }: WriteResponse,
  { writer: { decided }, resource: { entity } }: KeyedRows,
  asked: Asked
): Promise<boolean> {
  if (decided instanceof DomainError) return false
  // The id of a batch is a JSON array, as its body is.
  const isBatch = json[0] === ARRAY
  const ids = isBatch ? (JSON.parse(id) as readonly string[]) : [id]
  // Only records of the entity are stored under its keys.
  const records = [JSON.parse(json.toString('utf8'))].flat() as readonly Told[]
  for (const [index, one] of ids.entries()) {
    if (!(await showsRow({ told: records[index] ?? {}, id: one }, { entity, scope: decided.shown }, asked)))
      return false
  }
  return true
}

type Told = Readonly<Record<string, unknown>>

interface Asked {
  /** Whether the caller has the claims and rights of the first one, so that the scope is another one by the time alone. */
  readonly isSame: boolean
  readonly unit: Pick<UnitOfWork, 'look'>
}

/**
 * The values that the answer told of a row decide, also once the row is gone. Where they cannot, as for a hidden column, a
 * caller with the same claims gets the answer again. For any other caller the row must be in the scope in the version that
 * was told, because it may have come into the scope since.
 */
async function showsRow(
  { told, id }: { readonly told: Told; readonly id: string },
  { entity, scope }: { readonly entity: KeyedEntity; readonly scope: RowScope },
  { isSame, unit }: Asked
): Promise<boolean> {
  const keys = new Set(['id', ...entity.key.map(({ name }) => name)])
  if (Object.keys(told).every((name) => keys.has(name))) return true
  const place = placeInScope(scope, ({ name, field }) => toldValue(told[name], field))
  if (place !== 'unknown') return place === 'inside'
  if (isSame) return true
  const row = await unit.look(planLook({ entity, key: parseId(id, entity, new Violations()), scope }))
  if (row === undefined) return false
  return hasVersion(row.version, told['rowVersion']) || isAsTold(row, told, entity)
}

/** undefined where the answer did not tell the value, or not in the form in which conditions compare it. */
function toldValue(value: unknown, field: Field): Value | undefined {
  if (value === null) return null
  if (field.type === 'set' && Array.isArray(value) && TYPES.set.holds(value, field)) return value as readonly string[]
  const isPlain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return isPlain && isWritten(value, field) ? value : undefined
}

function hasVersion(version: RowVersion | undefined, told: unknown): boolean {
  return version !== undefined && version.toString('base64') === told
}

/** Whether a row without a version is as the answer told it, which then tells nothing else, whichever row it is. */
function isAsTold({ values, version }: StoredRow, told: Told, { columns, children }: KeyedEntity): boolean {
  if (version !== undefined || children.some(({ name }) => Object.hasOwn(told, name))) return false
  return columns.every(({ name, field }) => {
    if (!Object.hasOwn(told, name)) return true
    return isDeepStrictEqual(told[name], JSON.parse(valueEncoder(field.type)(values.get(name) ?? null)))
  })
}

const ARRAY = '['.charCodeAt(0)
const KEY: ViolationPlace = { in: 'header', name: 'Idempotency-Key' }

/** A caller whose owner claim has changed since must not see the rows of the earlier owner (contract.md section 5). */
function storedForAnotherOwner(): DomainError {
  return rejectionAt(
    'ownership.denied',
    'This Idempotency-Key was used under another owner claim; its answer is not for this one.',
    { place: KEY }
  )
}

/** Only the operation itself could tell which members of its answer a caller with fewer rights would have got. */
function storedForMoreRights(): DomainError {
  return rejectionAt(
    'capability.denied',
    'The request was carried out when you had roles, permissions or claims that you do not have now; its answer is no longer for you.',
    { place: KEY }
  )
}

/** The row may be one that the caller could not read now (contract.md section 6, write scope). */
function storedForOtherRows(): DomainError {
  return rejectionAt(
    'ownership.denied',
    'This Idempotency-Key was used when you could read other rows; its answer is no longer for you.',
    { place: KEY }
  )
}

function keyReused(): DomainError {
  const detail = 'This Idempotency-Key was used for another request; take a new one.'
  return rejectionAt('idempotency.key.reused', detail, { place: KEY })
}

/**
 * A response as it is stored under its key, with the owner claims of the caller, with what the caller could see, and with
 * the caller's rights where nothing else tells what of it may be shown later: for operations of the application. Decoding
 * gives back the same bytes.
 */
export function encodeAnswer(response: WriteResponse, parsed: KeyedWrite): Buffer {
  const {
    writer: { caller },
    resource
  } = parsed
  const { json, rowVersion, id, ignored, location, outcome } = response
  const owners = [claimText(caller.owner), ownersText(caller)]
  const rights = resource === undefined ? [...rightsOf(caller)].toSorted() : []
  const seen = [rights, viewOf(parsed), claimsHash(caller)]
  const parts = [json.toString('utf8'), rowVersion.toString('base64'), id, ignored, location, ...owners, ...seen]
  return Buffer.from(JSON.stringify(outcome === undefined ? parts : [...parts, outcome]))
}

type Owners = Pick<Authenticated, 'owner' | 'owners'>
type Rights = Pick<Authenticated, 'roles' | 'permissions'>

interface DecodedAnswer {
  readonly answer: WriteResponse
  /** Whether a caller with these owner claims may get the response: they must be those of the first caller. */
  isFor(caller: Owners): boolean
  /** Whether a caller with these rights may get the response: none of the first caller's may be missing. */
  isWithinRightsOf(caller: Rights): boolean
  /** Whether the caller sees the rows, or has the claims, that the first caller had. */
  isWithinViewOf(parsed: KeyedWrite): boolean
  /** Whether the caller has just the claims, roles and permissions of the first one. */
  isOfSameClaims(caller: Authenticated): boolean
}

function decodeAnswer(stored: Buffer): DecodedAnswer {
  // Only encodeAnswer writes these. Earlier versions stored no owner claims, or one of them, no rights and no view; what
  // is not there counts as that of every caller.
  type Owned = [(string | null)?, string?, string[]?, string?, string?, string?]
  type Parts = [string, string, string, string[], string, ...Owned]
  const [json, rowVersion, id, ignored, location, first, others, rights = [], view, claims, outcome] = JSON.parse(
    stored.toString('utf8')
  ) as Parts
  const told = outcome === undefined ? {} : { outcome }
  const version = Buffer.from(rowVersion, 'base64')
  return {
    answer: { json: Buffer.from(json, 'utf8'), rowVersion: version, id, ignored, location, ...told },
    isFor: (caller) =>
      (first === undefined || first === claimText(caller.owner)) &&
      (others === undefined || others === ownersText(caller)),
    isWithinRightsOf: (caller) => {
      const held = rightsOf(caller)
      return rights.every((right) => held.has(right))
    },
    isWithinViewOf: (parsed) => view === undefined || [view, EVERY_ROW].includes(viewOf(parsed)),
    isOfSameClaims: (caller) => claims === claimsHash(caller)
  }
}

const EVERY_ROW = 'all'

/**
 * What of the caller decides which rows an answer shows: the rows that a write may show, or the claims that a handler of an
 * application sees. Those that differ from token to token of one session are left out.
 */
function viewOf({ writer, resource }: KeyedWrite): string {
  if (resource === undefined) return sha256(furtherClaims(writer.caller)).toString('base64')
  const { decided } = writer
  if (decided instanceof DomainError) return decided.code
  return decided.shown.kind === 'all-rows' ? EVERY_ROW : sha256(scopeText(decided.shown)).toString('base64')
}

function furtherClaims({ claims }: Authenticated): string {
  return canonicalJson(storedJson(JSON.stringify(unreservedClaims(claims, ''))))
}

function claimsHash(caller: Authenticated): string {
  return sha256([furtherClaims(caller), ...[...rightsOf(caller)].toSorted()].join('\n')).toString('base64')
}

/** Handlers see both, and roles that grant no permission may decide what a handler answers. */
function rightsOf({ roles, permissions }: Rights): ReadonlySet<string> {
  return new Set([...roles.map((role) => `role ${role}`), ...[...permissions].map((name) => `permission ${name}`)])
}

/** As text, because the claim has 64 bits and a JSON number cannot hold them. */
function claimText(owner: bigint | null): string | null {
  return owner === null ? null : String(owner)
}

/** The owners of the kinds of the application, those that the token names. */
function ownersText({ owners = {} }: Owners): string {
  const named = Object.entries(owners).flatMap(([kind, owner]) => (owner === null ? [] : [`${kind}=${owner}`]))
  return named.toSorted().join()
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
