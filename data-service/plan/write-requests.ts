import { DomainError } from '../../shared/errors.js'
import { decodeBase64 } from '../../shared/wire.js'
import type { Action, GuardedChild } from '../entity/action.js'
import type { Authenticated } from '../entity/caller.js'
import type { Children, Column } from '../entity/entity.js'
import { asRowVersion, type Operand, type RowVersion, type Value } from '../entity/field.js'
import { admitWriter, claimedColumn, type OwnerTexts, requireOperation, type Writer } from './authorize.js'
import { parseMember, readChildren, readMembers } from './body.js'
import type { Resource } from './catalogue.js'
import { canonicalJson, isObject, type JsonValue, parseJson } from './json.js'
import { type Planning, type PlanningCall, refuseUnplaced, type Unplaced } from './planning.js'
import type { ExpectedVersions } from './plans.js'
import { parseId } from './read-parameters.js'
import { BodyFindings, Violations } from './violations.js'

/** What the texts of every keyed write have in common. */
export interface WriteTexts extends OwnerTexts {
  readonly resource: string
  readonly body: Uint8Array
  readonly idempotencyKey?: string
  readonly strict: boolean
  readonly unplaced: Unplaced | null
}

/** A write whose request is in order; whether the rows allow it is found out in its transaction. */
export interface ParsedWrite {
  readonly resource: Resource
  readonly writer: Writer
  readonly values: ReadonlyMap<Column, Value>
  readonly key: string | undefined
  /** The body by value: the same text for the same request. */
  readonly canonicalBody: string
  readonly ignored: readonly string[]
}

export interface ParsedCreate extends ParsedWrite {
  readonly children: readonly { readonly children: Children; readonly rows: readonly ReadonlyMap<Column, Value>[] }[]
  /** To be filled with the caller's owner claim. */
  readonly claimed: Column | undefined
}

export interface ParsedUpdate extends ParsedWrite {
  readonly id: Operand
  readonly expected: ExpectedVersions
}

export interface ParsedDelete {
  readonly resource: Resource
  readonly writer: Writer
  readonly id: Operand
  readonly expected: ExpectedVersions | 'unconditional'
}

/** What is judged alike in each write: parameters out of place, the key, and what the body's reader finds. */
export function readWrite<Read>(
  texts: WriteTexts,
  of: {
    readonly resource: Resource
    readonly caller: Authenticated
    readonly planning: Planning
    readonly body: JsonValue
    readonly keyRequired: boolean
  },
  read: (findings: BodyFindings) => Read & { readonly values: ReadonlyMap<Column, Value> }
): Read & ParsedWrite {
  const findings = new BodyFindings(texts.strict)
  const parts = read(findings)
  const key = parseIdempotencyKey(texts.idempotencyKey, of.keyRequired, findings.violations)
  refuseUnplaced(texts.unplaced, findings.violations)
  findings.violations.finish()
  return {
    ...parts,
    resource: of.resource,
    writer: { caller: of.caller, ownership: of.planning.ownership },
    key,
    canonicalBody: canonicalJson(of.body),
    ignored: findings.ignored
  }
}

export interface CreateTexts extends WriteTexts {
  /** What the location of the new row begins with. */
  readonly linkBase: string
}

const LONGEST_LINK_BASE = 2048
/** Visible ASCII, as all of it goes into a header. */
const LINK_BASE = /^https?:\/\/[\x21-\x7e]+$/

export function parseCreate(
  texts: CreateTexts,
  { planning, caller: anyone }: PlanningCall,
  keyRequired: boolean
): ParsedCreate {
  const resource = planning.catalogue.resource(texts.resource)
  requireOperation(resource, 'create')
  const caller = admitWriter({ resource, route: 'create', texts }, anyone, planning.ownership)
  const claimed = claimedColumn(resource, { caller, ownership: planning.ownership })
  const body = parseJson(texts.body)
  const { columns, creation } = resource.entity
  const settable = columns.filter((column) => column !== resource.id && column.field.writability !== 'never')
  return readWrite(texts, { resource, caller, planning, body, keyRequired }, (findings) => {
    checkLinkBase(texts.linkBase, findings.violations)
    return {
      claimed,
      values: readMembers(
        body,
        {
          columns: settable,
          at: '',
          defaults: true,
          others: creation.children.map(({ children }) => children.name),
          lenient: claimed
        },
        findings
      ),
      children: creation.children.map((one) => ({ children: one.children, rows: readChildren(body, one, findings) }))
    }
  })
}

function checkLinkBase(linkBase: string, violations: Violations): void {
  if (linkBase === '') return
  if (linkBase.length > LONGEST_LINK_BASE) {
    violations.add('request.malformed', 'linkBase', `linkBase has at most ${LONGEST_LINK_BASE} characters.`)
  } else if (!LINK_BASE.test(linkBase)) {
    violations.add('request.malformed', 'linkBase', 'linkBase must be an http or https URL in ASCII.')
  }
}

export interface UpdateTexts extends WriteTexts {
  readonly id: string
  readonly precondition: PreconditionFound
}

/** A PUT: every member that it may set gets a value, null where it is left out. */
export function parseUpdate(texts: UpdateTexts, { planning, caller: anyone }: PlanningCall): ParsedUpdate {
  const resource = planning.catalogue.resource(texts.resource)
  requireOperation(resource, 'update')
  const caller = admitWriter({ resource, route: 'update', texts }, anyone, planning.ownership)
  const expected = requiredVersions(texts.precondition)
  const body = parseJson(texts.body)
  const { entity } = resource
  const settable = entity.columns.filter((column) => column !== resource.id && column.field.writability === 'always')
  return readWrite(texts, { resource, caller, planning, body, keyRequired: false }, (findings) => {
    const id = parseId(texts.id, resource.id.field, findings.violations)
    checkId(body, { resource, id }, findings)
    const values = readMembers(body, { columns: settable, at: '', defaults: false, others: ['id'] }, findings)
    return { expected, id, values }
  })
}

/** An id in the body is allowed where it is the path's own. */
function checkId(
  body: JsonValue,
  of: { readonly resource: Resource; readonly id: Operand },
  findings: BodyFindings
): void {
  // A bad id of the path is a violation already.
  if (of.id === '' || !isObject(body) || !Object.hasOwn(body, 'id')) return
  const named = parseMember(body['id'] ?? null, of.resource.id.field)
  if (named !== of.id) findings.violations.addAt('/id', 'id differs from the id of the path.', 'id.mismatch')
}

export interface ActTexts extends UpdateTexts {
  readonly action: string
}

/** An action's call; `values` are its input. */
export interface ParsedAct extends ParsedUpdate {
  readonly action: Action
  readonly childVersion: RowVersion | undefined
}

export function parseAct(texts: ActTexts, { planning, caller: anyone }: PlanningCall): ParsedAct {
  const resource = planning.catalogue.resource(texts.resource)
  const action = resource.entity.actions.get(texts.action)
  if (action === undefined) throw new DomainError('route.not-found', 'There is no such action.')
  const { permission } = action
  const caller = admitWriter({ resource, route: action.name, texts, permission }, anyone, planning.ownership)
  const expected = requiredVersions(texts.precondition)
  const body = texts.body.length === 0 ? {} : parseJson(texts.body)
  const { input, guardedChild } = action
  return readWrite(texts, { resource, caller, planning, body, keyRequired: false }, (findings) => {
    const id = parseId(texts.id, resource.id.field, findings.violations)
    const others = guardedChild === undefined ? [] : [guardedChild.versionMember]
    const values = readMembers(body, { columns: input, at: '', defaults: true, others }, findings)
    const childVersion = guardedChild && readVersion(body, guardedChild, findings)
    return { action, expected, id, values, childVersion }
  })
}

/** The child's version, in the base64 that reads show it in (contract.md section 5, child precondition). */
function readVersion(body: JsonValue, { versionMember }: GuardedChild, findings: BodyFindings): RowVersion | undefined {
  if (!isObject(body)) return undefined
  const member = Object.hasOwn(body, versionMember) ? body[versionMember] : undefined
  const bytes = typeof member === 'string' ? decodeBase64(member) : undefined
  const version = bytes && asRowVersion(bytes)
  if (version === undefined) {
    const detail = `${versionMember} must be the rowVersion that the row was last read with, in base64.`
    findings.violations.addAt(`/${versionMember}`, detail)
  }
  return version
}

export function parseDelete(
  texts: Pick<UpdateTexts, 'resource' | 'id' | 'ownerParameter' | 'precondition' | 'unplaced'>,
  { planning, caller: anyone }: PlanningCall
): ParsedDelete {
  const resource = planning.catalogue.resource(texts.resource)
  requireOperation(resource, 'delete')
  const caller = admitWriter({ resource, route: 'delete', texts }, anyone, planning.ownership)
  const expected = optionalVersions(texts.precondition)
  const violations = new Violations()
  const id = parseId(texts.id, resource.id.field, violations)
  refuseUnplaced(texts.unplaced, violations)
  violations.finish()
  return { resource, writer: { caller, ownership: planning.ownership }, id, expected }
}

/** What the transport found of If-Match, decoded; the kinds are those of the proto. */
export type PreconditionFound = { readonly kind: string; readonly versions: readonly Uint8Array[] } | null

/** The versions a guarded write expects; throws `precondition.required` or `precondition.malformed`. */
export function requiredVersions(found: PreconditionFound): ExpectedVersions {
  const versions = optionalVersions(found)
  if (versions !== 'unconditional') return versions
  throw new DomainError(
    'precondition.required',
    'This needs If-Match with the ETag that the row was last read with; `*` is not enough.',
    { violations: [{ code: 'precondition.required', detail: 'If-Match is missing.', place: IF_MATCH_HEADER }] }
  )
}

/** As requiredVersions, for a write that may go without: `*` then asks no more than that the row exists. */
export function optionalVersions(found: PreconditionFound): ExpectedVersions | 'unconditional' {
  const { kind, versions } = found ?? { kind: 'PRECONDITION_KIND_UNSPECIFIED', versions: [] }
  if (kind === 'PRECONDITION_KIND_ANY') return 'unconditional'
  // Versions without their kind are a guard that its caller forgot to name, not one to do without.
  if (kind === 'PRECONDITION_KIND_UNSPECIFIED' && versions.length === 0) return 'unconditional'
  const [first, ...others] = kind === 'PRECONDITION_KIND_TAGS' ? versions.map(asRowVersion) : []
  if (first === undefined || !others.every((version): version is RowVersion => version !== undefined)) {
    const detail = 'If-Match must be entity tags as in ETag: W/"<base64>", in double quotes, with commas between them.'
    throw new DomainError('precondition.malformed', detail, {
      violations: [{ code: 'precondition.malformed', detail, place: IF_MATCH_HEADER }]
    })
  }
  return [first, ...others]
}

const IF_MATCH_HEADER = { in: 'header', name: 'If-Match' } as const

const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key'

/** The key of a write, undefined for none; blank is none. */
export function parseIdempotencyKey(
  key: string | undefined,
  required: boolean,
  violations: Violations
): string | undefined {
  if (key === undefined || key.trim() === '') {
    if (required)
      violations.addHeader(
        'idempotency.key.missing',
        IDEMPOTENCY_KEY_HEADER,
        `This needs an ${IDEMPOTENCY_KEY_HEADER}.`
      )
    return undefined
  }
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return key
  violations.addHeader(
    'idempotency.key.invalid',
    IDEMPOTENCY_KEY_HEADER,
    `${IDEMPOTENCY_KEY_HEADER} must be 1 to 255 visible ASCII characters.`
  )
  return undefined
}
