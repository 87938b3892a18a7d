import { DomainError } from '../../shared/errors.js'
import type { NamedValues } from '../entity/action.js'
import type { Authenticated, Caller } from '../entity/caller.js'
import type { Field, Value } from '../entity/fields/field.js'
import type { Operation } from '../entity/define-operation.js'
import type { ResolvedMember, ResolvedShape } from '../entity/fields/shape.js'
import { namedValues, readMembers } from './parsing/body.js'
import { readParameters } from './parameters.js'
import { rejectUnknownParameters, type UnknownParameters } from './planning.js'
import { lacks, tokenRequired } from './row-scopes.js'
import { BodyFindings } from './parsing/violations.js'
import type { ExpectedVersions } from './model/plans.js'
import { parseIdempotencyKey, requiredVersions } from './write-requests.js'
import { canonicalJson, isArray, isObject, type JsonValue } from '../entity/fields/json-values.js'
import { Unmet } from '../entity/types/type-rules.js'
import { parseMember } from '../entity/types/types.js'
import { parseJson } from './parsing/json-body.js'

// A call of an operation of the application, parsed as a write is: who may call it, then the JSON of the body, each of
// which ends the parsing with an error of its own; then all violations of path, query, body and key together.

/** The members of a request are named as in proto/, so that a gRPC message is one. */
interface CallParams {
  readonly operation: string
  readonly path: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly idempotencyKey?: string
  readonly strict: boolean
  readonly dryRun: boolean
  readonly unplaced: UnknownParameters | null
  readonly precondition: Parameters<typeof requiredVersions>[0]
}

/** The value of a body: that of a member, an object or a list. */
type BodyValue = Value | readonly BodyValue[] | { readonly [member: string]: BodyValue }

interface ParsedCall {
  readonly operation: Operation
  readonly path: NamedValues
  readonly query: NamedValues
  readonly body: BodyValue
  readonly key: string | undefined
  /** Those that a versioned operation may find. undefined for any other. */
  readonly expected: ExpectedVersions | undefined
  readonly dryRun: boolean
  /** Query and body by value: the same text for the same request. */
  readonly canonicalBody: string
  /** Members of the body that the operation does not take. */
  readonly ignored: readonly string[]
  /** Of the call, with the values of its parameters: `/reports/stock/7`. */
  readonly concretePath: string
}

/** Throws `route.not-found`, `auth.required`, `capability.denied`, what requiredVersions throws, and one error with all violations. */
export function parseCall(
  params: CallParams,
  {
    operations,
    caller,
    keyRequired
  }: {
    readonly operations: ReadonlyMap<string, Operation>
    readonly caller: Caller
    /** Whether a POST needs an idempotency key. */
    readonly keyRequired: boolean
  }
): ParsedCall {
  const operation = operations.get(params.operation)
  if (operation === undefined) throw new DomainError('route.not-found', 'There is no such operation.')
  authorizeCall(operation, caller)
  const { method, versioned = false } = operation
  const expected = versioned && method !== 'GET' ? requiredVersions(params.precondition) : undefined
  const takesBody = method === 'POST' || method === 'PUT'
  const json = takesBody && params.body.length > 0 ? parseJson(params.body) : {}
  const findings = new BodyFindings(params.strict)
  const { violations } = findings
  const path = readParameters(params.path, operation.path, { violations, code: 'id.invalid' })
  const query = readParameters(params.query, operation.query, { violations })
  const body = readShape(json, operation.body ?? EMPTY, { at: '', findings })
  const sentKey = method === 'GET' ? undefined : params.idempotencyKey
  const key = parseIdempotencyKey(sentKey, keyRequired && method === 'POST', violations)
  rejectUnknownParameters(params.unplaced, violations)
  violations.finish()
  return {
    operation,
    path,
    query,
    body,
    key,
    expected,
    dryRun: params.dryRun,
    canonicalBody: JSON.stringify([query, canonicalJson(json)]),
    ignored: findings.ignored,
    concretePath: calledPath(operation, path)
  }
}

const EMPTY: ResolvedShape = { kind: 'object', members: [] }

/** Whether the caller has what the operation asks for. It is for display: each call is authorized when it is made. */
export function allowsCall(operation: Operation, caller: Caller): boolean {
  try {
    authorizeCall(operation, caller)
    return true
  } catch {
    return false
  }
}

function authorizeCall({ access }: Operation, caller: Caller): void {
  if (access.kind === 'everyone') return
  if (caller.kind === 'anonymous') throw tokenRequired()
  if (access.kind === 'permission' && !caller.permissions.has(access.permission)) throw lacks(access.permission)
}

/** Throws `auth.required`. An operation that writes is for callers with a token, which the check at start sees to. */
export function callerWithToken(caller: Caller): Authenticated {
  if (caller.kind === 'anonymous') throw tokenRequired()
  return caller
}

/** The name of a parameter stands for its value, in one form for each value. */
function calledPath({ segments, path }: Operation, values: NamedValues): string {
  const texts = new Map(path.map(({ name }) => [`{${name}}`, encodeURIComponent(String(values[name]))]))
  return `/${segments.map((segment) => texts.get(segment) ?? segment).join('/')}`
}

interface ShapeContext {
  /** JSON pointer of the value. */
  readonly at: string
  readonly findings: BodyFindings
}

/** The value of a body. Violations and unknown members go to the findings; what is violated has no value. */
function readShape(json: JsonValue | undefined, shape: ResolvedShape, context: ShapeContext): BodyValue {
  return shape.kind === 'list' ? readList(json, shape, context) : readObject(json ?? null, shape.members, context)
}

function readObject(json: JsonValue, members: readonly ResolvedMember[], { at, findings }: ShapeContext): BodyValue {
  const columns = members.flatMap((member) => (member.kind === 'value' ? [member.column] : []))
  const nested = members.flatMap((member) => (member.kind === 'nested' ? [member] : []))
  const others = nested.map(({ name }) => name)
  const values = namedValues(readMembers(json, { columns, at, absent: 'default', others }, findings))
  if (!isObject(json)) return values
  const inner = nested.map(({ name, shape }): [string, BodyValue] => [
    name,
    readShape(Object.hasOwn(json, name) ? json[name] : undefined, shape, { at: `${at}/${name}`, findings })
  ])
  return { ...values, ...Object.fromEntries(inner) }
}

function readList(
  json: JsonValue | undefined,
  { item, min, max }: Extract<ResolvedShape, { kind: 'list' }>,
  { at, findings }: ShapeContext
): BodyValue {
  const { violations } = findings
  if (json === undefined && min === 0) return []
  if (json === undefined || !isArray(json) || json.length < min || json.length > max) {
    violations.addAt(
      at,
      `${at.slice(1)} ${json === undefined ? 'is missing; it' : ''} must be an array of ${min} to ${max}.`.replace(
        '  ',
        ' '
      ),
      { rule: { rule: 'items', minimum: min, maximum: max } }
    )
    return []
  }
  return json.map((one, index) => {
    const place = { at: `${at}/${index}`, findings }
    return 'kind' in item ? readShape(one, item, place) : readItem(one, item, place)
  })
}

function readItem(json: JsonValue, field: Field, { at, findings }: ShapeContext): Value {
  const value = parseMember(json, field)
  if (!(value instanceof Unmet)) return value
  findings.violations.addAt(at, `${at.slice(1)} must ${value.message}.`, value)
  return null
}
