import { hasTooManyValues, MAX_BODY_VALUES } from '../../shared/transport/json-bounds.js'
import { DomainError, rejectionAt } from '../../shared/errors.js'
import { MAX_BATCH } from '../../shared/request-limits.js'
import { decodeBase64 } from '../../shared/transport/wire.js'
import type { Action, GuardedChild, NamedValues } from '../entity/action.js'
import type { Children, Column } from '../entity/entity.js'
import { idText, isComposite, type RowKey, unreachableIds } from '../entity/key.js'
import { asRowVersion, ROW_VERSION_BYTES, type RowVersion } from '../entity/fields/row-version.js'
import type { Field, Operand, Value } from '../entity/fields/field.js'
import type { WriteOperation } from '../entity/operations.js'
import {
  authorizeWrite,
  type ClaimedColumn,
  claimedColumn,
  foreignRow,
  type OwnerParams,
  requireBatch,
  requireOperation,
  type Writer
} from './authorize.js'
import { isMerged, NO_PATH, readChildren, readMembers, withheldValues } from './parsing/body.js'
import { type Catalogue, creatableChildren, type KeyedResource, uniqueColumn } from './model/catalogue.js'
import { NO_KEY, parseId, parseUnique } from './parsing/keys.js'
import { type PlanningContext, rejectUnknownParameters, type UnknownParameters } from './planning.js'
import type { ExpectedVersions } from './model/plans.js'
import { BodyFindings, Violations } from './parsing/violations.js'
import { canonicalJson, isArray, isObject, mergePatch, type JsonValue } from '../entity/fields/json-values.js'
import { storedJson } from '../entity/fields/json-parser.js'
import { Unmet } from '../entity/types/type-rules.js'
import { parseMember } from '../entity/types/types.js'
import { parseJson } from './parsing/json-body.js'

// Create, update, act and delete are parsed alike: who may write at all, then If-Match, then the body's JSON, each of
// which ends the parsing with an error of its own; then all violations of the request together. Whether the rows allow
// the write is decided in its transaction. The members of a request are named as in proto/, so that a gRPC message is one.

/** What every write request says. */
interface WriteParams extends OwnerParams {
  readonly resource: string
  /** Whether all of it is rolled back in the end. */
  readonly dryRun: boolean
  /** Parameters that the transport does not know: violations. */
  readonly unplaced: UnknownParameters | null
}

/** What a write request with a body says. */
export interface BodyParams extends WriteParams {
  readonly body: Uint8Array
  readonly idempotencyKey?: string
  /** Whether members of the body that the request does not take are violations. */
  readonly strict: boolean
}

export interface ParsedWrite {
  readonly resource: KeyedResource
  readonly writer: Writer
  readonly values: ReadonlyMap<Column, Value>
  readonly key: string | undefined
  /** The body by value: the same text for the same request. Empty without a key, which alone needs it. */
  readonly canonicalBody: string
  /** Members of the body that the request does not take, as `lines/0/unitPrice`. */
  readonly ignored: readonly string[]
  readonly dryRun: boolean
}

interface CreateParams extends BodyParams {
  /** The begin of the URL of the new row, or empty. */
  readonly linkBase: string
}

/** The rows of one collection that a create request brings along. */
interface ParsedChildren {
  readonly children: Children
  readonly rows: readonly ReadonlyMap<Column, Value>[]
}

/** A row that a create request asks for. */
export interface ParsedRow {
  readonly values: ReadonlyMap<Column, Value>
  readonly children: readonly ParsedChildren[]
  /** The column that the caller's owner claim fills. */
  readonly claimed: ClaimedColumn | undefined
}

export type ParsedCreate = ParsedWrite & ParsedRow

export function parseCreate(params: CreateParams, context: PlanningContext, keyRequired: boolean): ParsedCreate {
  const { resource, writer } = authorizeOperation('create', params, context)
  const body = parseJson(params.body)
  const readRow = rowReader(resource, writer, context.planning.catalogue)
  return parseBody(params, { resource, writer, body, keyRequired }, (findings) => {
    checkLinkBase(params.linkBase, findings.violations)
    return readRow(body, '', findings)
  })
}

/** Makes the reader of the rows of create requests. `at` is the JSON pointer of the row in the body. */
export function rowReader(
  resource: KeyedResource,
  writer: Writer,
  catalogue: Catalogue
): (json: JsonValue, at: string, findings: BodyFindings) => ParsedRow {
  const claimed = claimedColumn(resource, writer)
  const { columns } = resource.entity
  const settable = resource.settable.create
  const withheld = columns.filter((column) => !settable.includes(column))
  const collections = creatableChildren(resource).map((one) => {
    const { children } = one
    const entity = children.resource === undefined ? undefined : catalogue.keyedEntity(children.resource)
    const unreachable = entity === undefined ? [] : unreachableIds(entity)
    const claimed = (): Column | undefined => entity && claimedColumn({ entity }, writer)?.column
    return { ...one, shown: shownColumns(resource, children), maySet: resource.maySet, claimed, unreachable }
  })
  const others = collections.map(({ children }) => children.name)
  const [id] = resource.entity.key
  const unreachable = new Set<Value | undefined>(unreachableIds(resource.entity))
  return (json, at, findings) => {
    const members = readMembers(
      json,
      { columns: settable, at, absent: 'default', others, optional: claimed?.column },
      findings
    )
    if (unreachable.has(members.get(id))) findings.violations.addAt(`${at}/${id.name}`, NO_PATH)
    return {
      claimed,
      values: new Map([...withheldValues(withheld), ...members]),
      children: collections.map((one) => ({
        children: one.children,
        rows: readChildren(json, one, { root: at, findings })
      }))
    }
  }
}

/** The most rows of a batch with their children, and of a part of an import. More would hold the event loop, and the locks of the transaction, for long. */
export const MAX_BATCH_ROWS = 2000

type ParsedBatch = Omit<ParsedWrite, 'values'> & { readonly rows: readonly ParsedRow[] }

/**
 * A batch create. Every rule of `create` holds for it: the operation, the permission and the owner filter. `checkSize` is
 * called with the number of its rows, children included, before they are read, and may throw.
 */
export function parseBatch(
  params: BodyParams,
  context: PlanningContext,
  { keyRequired, checkSize }: { readonly keyRequired: boolean; readonly checkSize: (rows: number) => void }
): ParsedBatch {
  const { resource, writer } = authorizeOperation('create', params, context)
  requireBatch(resource, 'batch')
  const body = parseJson(params.body)
  const readRow = rowReader(resource, writer, context.planning.catalogue)
  return parseBody(params, { resource, writer, body, keyRequired }, (findings) => {
    if (!isArray(body) || body.length < 1 || body.length > MAX_BATCH) {
      findings.violations.addAt('', `The body must be a JSON array of 1 to ${MAX_BATCH} rows.`)
      return { rows: [] }
    }
    const rows = rowsWithChildren(body, resource)
    if (rows > MAX_BATCH_ROWS) {
      findings.violations.addAt(
        '',
        `The rows of a batch and their children must be at most ${MAX_BATCH_ROWS} together.`
      )
      return { rows: [] }
    }
    checkSize(rows)
    return { rows: body.map((row, index) => readRow(row, `/${index}`, findings)) }
  })
}

/** Counted before a row is read, so that a refusal costs little. */
function rowsWithChildren(rows: readonly JsonValue[], resource: KeyedResource): number {
  const names = creatableChildren(resource).map(({ children }) => children.name)
  const childrenOf = (row: JsonValue, name: string): number => {
    const children = isObject(row) && Object.hasOwn(row, name) ? row[name] : undefined
    return children !== undefined && isArray(children) ? children.length : 0
  }
  return rows.reduce((sum, row) => names.reduce((all, name) => all + childrenOf(row, name), sum + 1), 0)
}

/** The columns of a child that the caller may see. */
function shownColumns({ properties }: Pick<KeyedResource, 'properties'>, children: Children): readonly Column[] {
  const property = properties.get(children.name.toLowerCase())
  return property?.kind === 'children' ? property.shown : []
}

const LONGEST_LINK_BASE = 2048
/** Visible ASCII, since all of it goes into a header. */
const LINK_BASE = /^https?:\/\/[\x21-\x7e]+$/

function checkLinkBase(linkBase: string, violations: Violations): void {
  if (linkBase === '') return
  if (linkBase.length > LONGEST_LINK_BASE) {
    violations.add('request.malformed', 'linkBase', `linkBase has at most ${LONGEST_LINK_BASE} characters.`)
  } else if (!LINK_BASE.test(linkBase)) {
    violations.add('request.malformed', 'linkBase', 'linkBase must be an http or https URL in ASCII.')
  }
}

interface GuardedParams extends BodyParams {
  readonly id: string
  readonly precondition: PreconditionFound
}

interface UpdateParams extends GuardedParams {
  /** Whether the body is a merge patch (RFC 7396). */
  readonly mergePatch: boolean
  /** The unique property that `id` is a value of, if it is not the id of the row. */
  readonly property?: string
}

/** The row that a unique property names: its key is known in the transaction. */
interface NamedRow {
  readonly column: Column
  readonly value: Operand
  /** Throws `id.mismatch` where the body names the key of another row, or neither the value nor that of the row. */
  readonly checkBody: (key: RowKey, stored: Value | undefined) => void
  /** Why there is no such row, if not because there is none. */
  readonly absent: DomainError | undefined
}

export interface ParsedUpdate extends ParsedWrite {
  /** NO_KEY where `by` names the row. */
  readonly rowKey: RowKey
  readonly by?: NamedRow
  /** Columns that take the default of the database. */
  readonly defaulted: readonly Column[]
  readonly expected: ExpectedVersions
  /** What a merge patch has for columns of JSON: objects, which are merged into the stored values. */
  readonly merged: ReadonlyMap<Column, JsonValue>
}

/**
 * A PUT gives every column that the caller may set a value: null where the body leaves the member out, or the default of a
 * column that may not be null. A PATCH gives one to those that the body names, but for objects that are merged into columns
 * of JSON (RFC 7396). A column that the caller may not read, and a write-only one that the body leaves out, get no value and
 * so keep their own.
 */
export function parseUpdate(params: UpdateParams, context: PlanningContext): ParsedUpdate {
  const { property, ...ofId } = params
  const by = property === undefined ? undefined : columnNamed(property, params, context)
  const { resource, writer } = authorizeOperation('update', by === undefined ? ofId : withoutId(params, by), context)
  const expected = requiredVersions(params.precondition)
  const body = parseJson(params.body)
  const absent = params.mergePatch ? 'kept' : 'null'
  return parseBody(params, { resource, writer, body, keyRequired: false }, (findings) => {
    const named = by && readNamedRow(params.id, { resource, by, body, context }, findings)
    const rowKey = by === undefined ? parseId(params.id, resource.entity, findings.violations) : NO_KEY
    checkBodyKey(body, { resource, rowKey }, findings)
    const settable = resource.settable.update
    // The row keeps its value, in its own spelling.
    const columns = named?.isRespelled === false ? settable.filter((one) => one !== by) : settable
    const others = ['id', ...resource.entity.key.map(({ name }) => name), ...(by === undefined ? [] : [by.name])]
    const values = readMembers(body, { columns, at: '', absent, others }, findings)
    const defaulted = params.mergePatch ? [] : columns.filter((column) => takesDatabaseDefault(column, body))
    const merged = params.mergePatch && isObject(body) ? columns.filter((column) => isMerged(body, column)) : []
    const patches = new Map(merged.map((column) => [column, patchOf(body, column)]))
    const row = named === undefined ? {} : { by: named.row }
    return { expected, rowKey, ...row, values, defaulted, merged: patches }
  })
}

/** The unique property that an update names its row by. Throws `route.not-found`. */
function columnNamed(property: string, { resource }: WriteParams, { planning, caller }: PlanningContext): Column {
  return uniqueColumn(planning.catalogue.keyedResource(resource, caller), property)
}

/** `id` holds a value of the column. */
function withoutId({ id: _, ...others }: UpdateParams, by: Column): WriteParams {
  return { ...others, by }
}

/** The row that a value names. The body may repeat the value, as the path has it or as the row does. */
function readNamedRow(
  text: string,
  of: {
    readonly resource: KeyedResource
    readonly by: Column
    readonly body: JsonValue
    readonly context: PlanningContext
  },
  { violations }: BodyFindings
): { readonly row: NamedRow; readonly isRespelled: boolean } {
  const { resource, by, body, context } = of
  const value = parseUnique(text, by, violations)
  const said = isObject(body) && Object.hasOwn(body, by.name) ? parseMember(body[by.name] ?? null, by.field) : undefined
  const checkBody = (rowKey: RowKey, stored: Value | undefined): void => {
    const findings = new BodyFindings(false)
    checkBodyKey(body, { resource, rowKey }, findings)
    if (said !== undefined && said !== value && said !== stored) {
      const detail = `${by.name} differs from the value of the path.`
      findings.violations.addAt(`/${by.name}`, detail, { code: 'id.mismatch' })
    }
    findings.violations.finish()
  }
  const row = { column: by, value, checkBody, absent: foreignRow({ resource, route: 'update', by }, context) }
  return { row, isRespelled: said === value }
}

export function patchOf(body: JsonValue, { name }: Column): JsonValue {
  return isObject(body) ? (body[name] ?? null) : null
}

/** Characters that a body has at most (contract.md section 2). To parse a value takes many times its size. */
const MAX_MERGED = 1_048_576

/** Characters of a stored value, beyond which to parse, to merge and to write it are turns of their own. */
const LARGE_MERGED = 65_536

/** How a stored value is patched. */
interface Merging {
  readonly patch: JsonValue
  readonly field: Field
  /** Resolves in a turn of the event loop that the caller has for this alone. */
  readonly turn: () => Promise<void>
}

/** Many patches could make more of a value than any body holds, and other writers may have stored more. */
async function mergedValue(stored: string, { patch, field, turn }: Merging): Promise<Value | Unmet> {
  const isTooMuch = (text: string): boolean => text.length > MAX_MERGED || hasTooManyValues(text)
  const tooMuch = new Unmet(
    `have at most ${MAX_MERGED} characters and ${MAX_BODY_VALUES} values after the patch; a PUT replaces it`
  )
  const isLarge = stored.length > LARGE_MERGED
  if (isLarge) await turn()
  if (isTooMuch(stored)) return tooMuch
  const parsed = storedJson(stored)
  if (isLarge) await turn()
  const value = parseMember(mergePatch(parsed, patch), field)
  if (isLarge) await turn()
  return typeof value === 'string' && isTooMuch(value) ? tooMuch : value
}

/**
 * The values of columns of JSON that a merge patch changes, with the stored row at hand. Throws `body.invalid` for one that
 * does not meet its schema. `turn`: see `Merging`.
 */
export async function mergedValues(
  merged: ParsedUpdate['merged'],
  stored: NamedValues,
  turn: Merging['turn']
): Promise<ReadonlyMap<Column, Value>> {
  const violations = new Violations()
  const values = new Map<Column, Value>()
  for (const [column, patch] of merged) {
    const { name, field } = column
    const text = stored[name]
    const value = await mergedValue(typeof text === 'string' ? text : 'null', { patch, field, turn })
    if (value instanceof Unmet) violations.addAt(`/${name}`, `${name} must ${value.message}.`, value)
    else values.set(column, value)
  }
  violations.finish()
  return values
}

/** Whether a PUT leaves the member out, the column may not be null, and the database has its default. */
function takesDatabaseDefault({ name, field }: Column, body: JsonValue): boolean {
  const { filledByDatabase, nullable, defaultTo } = field
  if (field.hidden || nullable || defaultTo !== undefined) return false
  return filledByDatabase && isObject(body) && !Object.hasOwn(body, name)
}

/** A body may name the id of the path, and the columns of its key, with no other values. */
function checkBodyKey(
  body: JsonValue,
  { resource: { entity }, rowKey }: { readonly resource: KeyedResource; readonly rowKey: RowKey },
  findings: BodyFindings
): void {
  // An id of the path that does not parse is a violation already.
  if (rowKey === NO_KEY || !isObject(body)) return
  const check = (name: string, isSame: (member: JsonValue) => boolean): void => {
    if (!Object.hasOwn(body, name) || isSame(body[name] ?? null)) return
    findings.violations.addAt(`/${name}`, `${name} differs from the id of the path.`, { code: 'id.mismatch' })
  }
  for (const [index, { name, field }] of entity.key.entries()) {
    // The row may have a value that no request may write, in the form in which answers show it.
    check(name, (member) => member === rowKey[index] || parseMember(member, field) === rowKey[index])
  }
  if (isComposite(entity)) check('id', (member) => member === idText(rowKey))
}

interface ActParams extends GuardedParams {
  readonly action: string
}

/** A call of an action. Its `values` are the input of the action. */
export interface ParsedAct extends Omit<ParsedUpdate, 'defaulted'> {
  readonly action: Action
  readonly childVersion: RowVersion | undefined
}

export function parseAct(params: ActParams, context: PlanningContext): ParsedAct {
  const resource = context.planning.catalogue.keyedResource(params.resource, context.caller)
  const action = resource.entity.actions.get(params.action)
  if (action === undefined) throw new DomainError('route.not-found', 'There is no such action.')
  const { permission, input, guardedChild } = action
  const writer = authorizeWrite({ resource, route: action.name, params, permission }, context)
  const expected = requiredVersions(params.precondition)
  const body = params.body.length === 0 ? {} : parseJson(params.body)
  const others = guardedChild === undefined ? [] : [guardedChild.versionMember]
  return parseBody(params, { resource, writer, body, keyRequired: false }, (findings) => {
    const rowKey = parseId(params.id, resource.entity, findings.violations)
    const values = readMembers(body, { columns: input, at: '', absent: 'default', others }, findings)
    const childVersion = guardedChild && readChildVersion(body, guardedChild, findings)
    return { action, expected, rowKey, values, merged: new Map(), childVersion }
  })
}

/** The version of the child that the action depends on, in base64 as reads show it (contract.md section 5). */
function readChildVersion(
  body: JsonValue,
  { versionMember }: GuardedChild,
  findings: BodyFindings
): RowVersion | undefined {
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

interface DeleteParams extends WriteParams {
  readonly id: string
  readonly precondition: PreconditionFound
}

export interface ParsedDelete extends Pick<ParsedUpdate, 'resource' | 'writer' | 'rowKey' | 'dryRun'> {
  readonly expected: ExpectedVersions | 'unconditional'
}

export function parseDelete(params: DeleteParams, context: PlanningContext): ParsedDelete {
  const { resource, writer } = authorizeOperation('delete', params, context)
  const expected = optionalVersions(params.precondition)
  const violations = new Violations()
  const rowKey = parseId(params.id, resource.entity, violations)
  rejectUnknownParameters(params.unplaced, violations)
  violations.finish()
  return { resource, writer, rowKey, expected, dryRun: params.dryRun }
}

/** Throws `route.not-found`, `method.not-allowed`, and what authorizeWrite throws. */
export function authorizeOperation(
  operation: WriteOperation,
  params: WriteParams & { readonly isBatch?: boolean },
  context: PlanningContext
): { readonly resource: KeyedResource; readonly writer: Writer } {
  const resource = context.planning.catalogue.keyedResource(params.resource, context.caller)
  requireOperation(resource, operation)
  const { isBatch = false } = params
  return { resource, writer: authorizeWrite({ resource, route: operation, params, isBatch }, context) }
}

/** Gathers the violations of a request with a body: those that `read` finds, its key, and unknown parameters. */
export function parseBody<Read>(
  params: BodyParams,
  of: {
    readonly resource: KeyedResource
    readonly writer: Writer
    readonly body: JsonValue
    readonly keyRequired: boolean
  },
  read: (findings: BodyFindings) => Read
): Read & Omit<ParsedWrite, 'values'> {
  const { resource, writer, body, keyRequired } = of
  const findings = new BodyFindings(params.strict)
  const parts = read(findings)
  const key = parseIdempotencyKey(params.idempotencyKey, keyRequired, findings.violations)
  rejectUnknownParameters(params.unplaced, findings.violations)
  findings.violations.finish()
  const canonicalBody = key === undefined ? '' : canonicalJson(body)
  return { ...parts, resource, writer, key, canonicalBody, ignored: findings.ignored, dryRun: params.dryRun }
}

/** If-Match as the transport decoded it. The kinds are those of proto/. */
type PreconditionFound = { readonly kind: string; readonly versions: readonly Uint8Array[] } | null

/** The versions that a guarded write expects. Throws `precondition.required` or `precondition.malformed`. */
export function requiredVersions(found: PreconditionFound): ExpectedVersions {
  const versions = optionalVersions(found)
  if (versions !== 'unconditional') return versions
  const detail = 'This needs If-Match with the ETag that the row was last read with; `*` is not enough.'
  throw rejectionAt('precondition.required', detail, { place: IF_MATCH_HEADER })
}

/** The same for a write that needs no If-Match. `*` asks for no more than that the row exists (RFC 9110 section 13.1.1). */
export function optionalVersions(found: PreconditionFound): ExpectedVersions | 'unconditional' {
  const { kind, versions } = found ?? { kind: 'PRECONDITION_KIND_UNSPECIFIED', versions: [] }
  if (kind === 'PRECONDITION_KIND_ANY') return 'unconditional'
  // Versions without a kind are a guard whose kind the caller forgot, and no request without a guard.
  if (kind === 'PRECONDITION_KIND_UNSPECIFIED' && versions.length === 0) return 'unconditional'
  const [first, ...others] = kind === 'PRECONDITION_KIND_TAGS' ? versions.map(asRowVersion) : []
  if (first === undefined || !others.every((version): version is RowVersion => version !== undefined)) {
    throw malformedPrecondition(
      'If-Match must be entity tags as in ETag: W/"<base64>", in double quotes, with commas between them.'
    )
  }
  const [one = first, ...more] = possibleVersions([first, ...others])
  if (more.length >= MAX_VERSIONS)
    throw malformedPrecondition(`If-Match must be at most ${MAX_VERSIONS} different entity tags.`)
  return [one, ...more]
}

/** Each is bound to the statement, and no database binds any number of values. The head of an HTTP request holds fewer. */
const MAX_VERSIONS = 8192

/** The versions that a row can have, each once. The others, of another length, match no row. */
function possibleVersions(versions: readonly RowVersion[]): Iterable<RowVersion> {
  const possible = versions.filter((version) => version.length === ROW_VERSION_BYTES)
  return new Map(possible.map((version) => [version.toString('latin1'), version])).values()
}

function malformedPrecondition(detail: string): DomainError {
  return new DomainError('precondition.malformed', detail, {
    violations: [{ code: 'precondition.malformed', detail, place: IF_MATCH_HEADER }]
  })
}

const IF_MATCH_HEADER = { in: 'header', name: 'If-Match' } as const

const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key'

/** The idempotency key of a write; undefined for none. A blank key is none. */
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
