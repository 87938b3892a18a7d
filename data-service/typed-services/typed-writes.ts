import { DomainError } from '../../shared/errors.js'
import type { Action } from '../../shared/gen/entity/v1/Action.js'
import type { Precondition__Output } from '../../shared/gen/entity/v1/Precondition.js'
import { batchBody, fieldsBeside, RowCount, unknownPaths, writeBody, type WrittenBody } from './bodies.js'
import type { TypedRpc } from './generic.js'
import {
  makeRow,
  ownerFields,
  ownerOf,
  pathId,
  pathText,
  readRow,
  type KeyedTypes,
  type UniqueField,
  uniqueFields
} from './rows.js'
import { type FieldSpec, makeMessage, pascalCase, protoFieldName } from './schema.js'
import { byName, parsed, rowField } from './typed-reads.js'
import { elementsOf, type Message, scalarText, UNKNOWN_FIELDS } from './values.js'

// The writes of a typed service: messages, and what each is in the generic service. A body is the JSON of the fields that
// are present; what may be in it is judged by the parser of bodies, as for every other caller.

export const KEY: FieldSpec = {
  key: 'idempotency_key',
  type: 'string',
  comment:
    '1 to 255 visible ASCII characters. A retry with the same key and request answers what the first call answered.'
}
export const STRICT: FieldSpec = {
  key: 'strict',
  type: 'bool',
  label: 'plain',
  comment: 'Whether fields that the request does not take are rejected, and not ignored.'
}
export const DRY_RUN: FieldSpec = {
  key: 'dry_run',
  type: 'bool',
  label: 'plain',
  comment: 'Whether the write is only tried: its transaction is rolled back, and the response is that of the write.'
}
export const ROLLED_BACK: FieldSpec = {
  key: 'rolled_back',
  type: 'bool',
  label: 'plain',
  comment: 'Whether nothing was committed, since the request asked for a dry run.'
}
export const NULLS: FieldSpec = {
  key: 'null_mask',
  type: 'google.protobuf.FieldMask',
  label: 'plain',
  comment: 'Fields that are null. One that is absent and not named here is left out, and takes its default.'
}
export const VERSION: FieldSpec = {
  key: 'row_version',
  type: 'bytes',
  label: 'plain',
  comment:
    'Required: the version that the row was last read with, in the place of the header If-Match of HTTP. ' +
    'FAILED_PRECONDITION `conflict` where the row has another.'
}
export const REPLAYED: FieldSpec = {
  key: 'replayed',
  type: 'bool',
  label: 'plain',
  comment: 'Whether an earlier call with the same key got this answer.'
}
export const IGNORED: FieldSpec = {
  key: 'ignored_members',
  type: 'string',
  label: 'repeated',
  comment:
    'What was sent and not used: members of the body by their names in JSON, and unknown fields by number, `product.1023`.'
}

/** An answer of the generic service to a write of one row. */
interface WriteAnswer {
  readonly record?: { readonly json?: Buffer | Uint8Array | string } | null
  readonly ignoredMembers?: readonly string[]
  readonly replayed?: boolean
  readonly rolledBack?: boolean
}

function rowResponse({ numbers, row }: KeyedTypes, name: string): Pick<TypedRpc, 'response'> {
  const declared = { name: `${name}Response`, comment: `Response of ${name}.` }
  return { response: makeMessage(numbers, declared, [rowField(row), REPLAYED, IGNORED, ROLLED_BACK]) }
}

function rowAnswer({ row }: KeyedTypes, { record, ...answer }: WriteAnswer, unused: readonly string[]): Message {
  return { [protoFieldName(row.message.name)]: readRow(row, parsed(record?.json)), ...outcomeOf(answer, unused) }
}

/** What the answers of all writes but a delete have besides rows. */
export function outcomeOf(
  { ignoredMembers = [], replayed, rolledBack }: Omit<WriteAnswer, 'record'>,
  unused: readonly string[]
): Message {
  return { ignored_members: [...ignoredMembers, ...unused], replayed, rolled_back: rolledBack }
}

export function createRpc(types: KeyedTypes): TypedRpc {
  const { numbers, resource, row } = types
  const name = `Create${row.message.name}`
  return {
    name,
    comment: 'A new row, with its children.',
    resource: types.name,
    generic: 'Create',
    request: makeMessage(numbers, { name: `${name}Request`, comment: `Request of ${name}.` }, [
      rowField(row),
      KEY,
      STRICT,
      NULLS,
      DRY_RUN,
      ...ownerFields(resource)
    ]),
    ...rowResponse(types, name),
    streams: false,
    async handle(generic, context, request) {
      const body = writeBody(row, rowIn(types, request), { nulls: maskPaths(request, 'null_mask') })
      const { unused, ...sent } = commonOf(request)
      const common = { resource: types.name, linkBase: '', ...sent }
      const answer = await withBody(body, (bytes) => generic.Create(context, { ...common, body: bytes }))
      return rowAnswer(types, answer, unused)
    }
  }
}

export function batchCreateRpc(types: KeyedTypes): TypedRpc {
  const { numbers, resource, row, plural } = types
  const name = `BatchCreate${plural}`
  const rows = protoFieldName(plural)
  return {
    name,
    comment: '1 to 500 new rows, all or none.',
    resource: types.name,
    generic: 'CreateBatch',
    request: makeMessage(numbers, { name: `${name}Request`, comment: `Request of ${name}.` }, [
      { key: rows, type: row.message.name, label: 'repeated', comment: 'The rows.' },
      KEY,
      STRICT,
      DRY_RUN,
      ...ownerFields(resource)
    ]),
    response: makeMessage(numbers, { name: `${name}Response`, comment: `Response of ${name}.` }, [
      { key: rows, type: row.message.name, label: 'repeated', comment: 'In the order of the request.' },
      REPLAYED,
      IGNORED,
      ROLLED_BACK
    ]),
    streams: false,
    async handle(generic, context, request) {
      const messages = (request[rows] ?? []) as readonly Message[] // Of our own codec.
      const count = new RowCount()
      count.add(messages.length)
      const body = batchBody(messages.map((one) => writeBody(row, one, { rows: count })))
      const { unused, ...sent } = commonOf(request)
      const common = { resource: types.name, ...sent }
      const answer = await withBody(body, (bytes) => generic.CreateBatch(context, { ...common, body: bytes }))
      const found = parsed(answer.json)
      return {
        [rows]: elementsOf(found).map((one) => readRow(row, one)),
        ...outcomeOf(answer, unused)
      }
    }
  }
}

/** `Replace…`, which sets every field, and `Update…`, which sets those of its mask. `isOwn` as in `makeTypedPackage`. */
export function updateRpcs(types: KeyedTypes, isOwn: (name: string) => boolean): TypedRpc[] {
  const { resource, row } = types
  const all = resource.updatesByProperty === true ? uniqueFields(types) : []
  const byProperty = all.filter((by) => !isOwn(`Replace${row.message.name}${byName(by)}`))
  return [
    changeRpc(types, 'Replace'),
    changeRpc(types, 'Update'),
    ...byProperty.map((by) => changeRpc(types, 'Replace', by))
  ]
}

function changeRpc(types: KeyedTypes, verb: 'Replace' | 'Update', by?: UniqueField): TypedRpc {
  const { numbers, resource, row, idType } = types
  const named = by ?? { key: 'id', type: idType }
  const name = `${verb}${row.message.name}${by === undefined ? '' : byName(by)}`
  const mask: FieldSpec = {
    key: 'update_mask',
    type: 'google.protobuf.FieldMask',
    label: 'plain',
    comment:
      'Fields that are set; one that is absent in the row becomes null. Without it, those that are present; `*` is all.'
  }
  const isPatch = verb === 'Update'
  const requestType = makeMessage(numbers, { name: `${name}Request`, comment: `Request of ${name}.` }, [
    { key: named.key, type: named.type.proto, label: 'plain', comment: 'Which row.' },
    rowField(row),
    VERSION,
    ...(isPatch ? [mask] : [NULLS]),
    KEY,
    STRICT,
    DRY_RUN,
    ...ownerFields(resource)
  ])
  return {
    name,
    comment: isPatch
      ? 'Sets some fields of a row, a merge patch (RFC 7396). Guarded.'
      : 'Sets every field of a row that a client may set: absent ones become null. Guarded.',
    resource: types.name,
    generic: 'Update',
    request: requestType,
    ...rowResponse(types, name),
    streams: false,
    async handle(generic, context, request) {
      const message = rowIn(types, request)
      const paths = isPatch ? maskPaths(request, 'update_mask') : []
      const isWhole = paths.length === 1 && paths[0] === EVERY_FIELD
      const only = paths.length === 0 || isWhole ? undefined : paths
      const body = writeBody(row, message, { only, nulls: maskPaths(request, 'null_mask') })
      const rowName = protoFieldName(row.message.name)
      const { unused, ...sent } = commonOf(request, {
        beside: only === undefined ? [] : fieldsBeside(row, message, only).map((field) => `${rowName}.${field}`),
        wrong: only === undefined ? [] : unknownPaths(row, only).map((path) => `update_mask.${path}`)
      })
      const common = {
        resource: types.name,
        id: pathText(named, requestType, request),
        ...(by === undefined ? {} : { property: by.key }),
        precondition: precondition(request),
        mergePatch: isPatch && !isWhole,
        ...sent
      }
      const answer = await withBody(body, (bytes) => generic.Update(context, { ...common, body: bytes }))
      return rowAnswer(types, answer, unused)
    }
  }
}

export function deleteRpc(types: KeyedTypes): TypedRpc {
  const { numbers, resource, row, idType } = types
  const name = `Delete${row.message.name}`
  const comment =
    'The version that the row was last read with, in the place of the header If-Match of HTTP. Without it the row is deleted ' +
    'whatever its version is.'
  const requestType = makeMessage(numbers, { name: `${name}Request`, comment: `Request of ${name}.` }, [
    { key: 'id', type: idType.proto, label: 'plain', comment: 'Which row.' },
    { key: 'row_version', type: 'bytes', comment },
    DRY_RUN,
    ...ownerFields(resource)
  ])
  return {
    name,
    comment: 'Removes a row with its children.',
    resource: types.name,
    generic: 'Delete',
    request: requestType,
    response: makeMessage(numbers, { name: `${name}Response`, comment: `Response of ${name}.` }, [ROLLED_BACK]),
    streams: false,
    async handle(generic, context, request) {
      const { rolledBack } = await generic.Delete(context, {
        resource: types.name,
        id: pathId(types, requestType, request),
        precondition: precondition(request),
        unplaced: null,
        dryRun: request['dry_run'] === true,
        ...ownerOf(request)
      })
      return { rolled_back: rolledBack }
    }
  }
}

export function actionRpcName(action: string, row: string): string {
  // An action may be called as one of the rpcs that every resource has.
  const verb = pascalCase(action)
  return `${['Get', 'Create', 'Replace', 'Update', 'Delete'].includes(verb) ? 'Run' : ''}${verb}${row}`
}

export function actionRpc(types: KeyedTypes, action: Action): TypedRpc {
  const { numbers, resource, row, idType } = types
  const { name: actionName = '', description = '', input = [], childPrecondition = '' } = action
  const name = actionRpcName(actionName, row.message.name)
  const version = { name: childPrecondition, type: 'bytes', description: 'The version of the child that is acted on.' }
  const properties = childPrecondition === '' ? input : [...input, version]
  const body = makeRow(numbers, { name: `${name}Request.Input`, comment: `The input of ${name}.`, properties })
  const inputField: FieldSpec = { key: 'input', type: body.message.name, label: 'plain', comment: 'The input.' }
  const requestType = makeMessage(
    numbers,
    {
      name: `${name}Request`,
      comment: `Request of ${name}.`,
      nested: properties.length === 0 ? [] : [body.message]
    },
    [
      { key: 'id', type: idType.proto, label: 'plain', comment: 'Which row.' },
      VERSION,
      ...(properties.length === 0 ? [] : [inputField, NULLS]),
      KEY,
      STRICT,
      DRY_RUN,
      ...ownerFields(resource)
    ]
  )
  return {
    name,
    comment: `${description} Guarded.`,
    resource: types.name,
    generic: 'Act',
    request: requestType,
    ...rowResponse(types, name),
    streams: false,
    async handle(generic, context, request) {
      const input = (request['input'] ?? {}) as Message // Of our own codec.
      const written = writeBody(body, input, { nulls: maskPaths(request, 'null_mask') })
      const { unused, ...sent } = commonOf(request)
      const common = {
        resource: types.name,
        id: pathId(types, requestType, request),
        action: actionName,
        precondition: precondition(request),
        ...sent
      }
      const answer = await withBody(written, (bytes) => generic.Act(context, { ...common, body: bytes }))
      return rowAnswer(types, answer, unused)
    }
  }
}

function rowIn({ row }: KeyedTypes, request: Message): Message {
  return (request[protoFieldName(row.message.name)] ?? {}) as Message // Of our own codec.
}

export function maskPaths(request: Message, mask: string): readonly string[] {
  const { paths = [] } = (request[mask] ?? {}) as { readonly paths?: readonly string[] } // Of our own codec.
  return paths
}

/** An absent version is no precondition. One of no bytes is a version that no row has, and not the same as none. */
function precondition(request: Message): Precondition__Output {
  const version = request['row_version']
  if (!Buffer.isBuffer(version)) return { kind: 'PRECONDITION_KIND_UNSPECIFIED', versions: [] }
  return { kind: 'PRECONDITION_KIND_TAGS', versions: [version] }
}

/** A mask of this path alone stands for all fields (https://google.aip.dev/134). */
export const EVERY_FIELD = '*'

/** Names of what a request has and does not take, besides its unknown fields. */
interface Untaken {
  /** Fields of the row that its mask leaves out. */
  readonly beside?: readonly string[]
  /** What is rejected without strictness too. */
  readonly wrong?: readonly string[]
}

/** What all writes take. `unused` are the fields that are neither taken nor rejected. */
export function commonOf(
  request: Message,
  { beside = [], wrong = [] }: Untaken = {}
): {
  readonly strict: boolean
  readonly dryRun: boolean
  readonly unplaced: { readonly parameters: string[] } | null
  readonly idempotencyKey?: string
  readonly ownerParameter?: string
  readonly unused: readonly string[]
} {
  const key = request['idempotency_key']
  const strict = request['strict'] === true
  const unused = [...(request[UNKNOWN_FIELDS] ?? []), ...beside]
  const rejected = strict ? [...wrong, ...unused] : wrong
  return {
    strict,
    dryRun: request['dry_run'] === true,
    unused,
    unplaced: rejected.length === 0 ? null : { parameters: [...rejected] },
    ...(key === undefined ? {} : { idempotencyKey: scalarText(key) }),
    ...ownerOf(request)
  }
}

/** No JSON, so that the generic service first says who may write at all. */
export const NO_JSON = Buffer.from('{')

/** Calls with the body. Throws `body.invalid` for members whose text is no JSON. */
export async function withBody<Answer>(
  { text, malformed }: WrittenBody,
  call: (body: Buffer) => Promise<Answer>
): Promise<Answer> {
  if (malformed.length === 0) return await call(Buffer.from(text))
  try {
    return await call(NO_JSON)
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'body.malformed') throw error
    const violations = malformed.map((pointer) => ({
      code: 'body.invalid' as const,
      detail: `${pointer.slice(1)} must be the text of a JSON value (RFC 8259).`,
      place: { in: 'pointer' as const, name: pointer }
    }))
    throw new DomainError('body.invalid', violations[0]?.detail ?? '', { violations })
  }
}
