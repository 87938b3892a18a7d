import { itemsOfArray } from '../operations/json.js'
import { batchBody, fieldsBeside, RowCount, unknownPaths, writeBody, type WrittenBody } from './bodies.js'
import type { TypedRpc } from './generic.js'
import { type KeyedTypes, ownerFields, pathId } from './rows.js'
import { type FieldSpec, makeMessage, type MessageType, protoFieldName } from './schema.js'
import { readRows, rowField } from './typed-reads.js'
import {
  commonOf,
  DRY_RUN,
  IGNORED,
  KEY,
  maskPaths,
  outcomeOf,
  REPLAYED,
  ROLLED_BACK,
  STRICT,
  VERSION,
  withBody
} from './typed-writes.js'
import type { Message } from './values.js'

// Batches of changes and of deletes in typed messages: each item has the id and the version of its row.

const MASK: FieldSpec = {
  key: 'update_mask',
  type: 'google.protobuf.FieldMask',
  label: 'plain',
  comment:
    'Fields that are set; one that is absent in the row becomes null. Without it, those that are present. `*` is not taken: a batch replaces no row.'
}

/** The item of a batch, within the request. */
function itemType({ numbers, idType }: KeyedTypes, name: string, more: readonly FieldSpec[]): MessageType {
  return makeMessage(numbers, { name: `${name}Request.Item`, comment: `A row of ${name}.` }, [
    { key: 'id', type: idType.proto, label: 'plain', comment: 'Which row.' },
    VERSION,
    ...more
  ])
}

function batchRequest(
  { numbers, resource }: KeyedTypes,
  { name, item }: { readonly name: string; readonly item: MessageType }
): MessageType {
  return makeMessage(numbers, { name: `${name}Request`, comment: `Request of ${name}.`, nested: [item] }, [
    { key: 'items', type: item.name, label: 'repeated', comment: 'The rows, each once.' },
    KEY,
    STRICT,
    DRY_RUN,
    ...ownerFields(resource)
  ])
}

export function batchUpdateRpc(types: KeyedTypes): TypedRpc {
  const { numbers, row, plural } = types
  const name = `BatchUpdate${plural}`
  const rows = protoFieldName(plural)
  const rowName = protoFieldName(row.message.name)
  const item = itemType(types, name, [rowField(row), MASK])
  return {
    name,
    comment: 'Sets some fields of 1 to 500 rows, all or none. Guarded.',
    resource: types.name,
    generic: 'UpdateBatch',
    request: batchRequest(types, { name, item }),
    response: makeMessage(numbers, { name: `${name}Response`, comment: `Response of ${name}.` }, [
      { key: rows, type: row.message.name, label: 'repeated', comment: 'In the order of the request.' },
      REPLAYED,
      IGNORED,
      ROLLED_BACK
    ]),
    streams: false,
    async handle(generic, context, request) {
      const items = itemsOf(request)
      const read = items.map((one, index) => {
        const message = (one[rowName] ?? {}) as Message // Of our own codec.
        const paths = maskPaths(one, 'update_mask')
        const only = paths.length === 0 ? undefined : paths
        const at = `items[${index}]`
        const beside = only === undefined ? [] : fieldsBeside(row, message, only)
        return {
          message,
          only,
          beside: beside.map((field) => `${at}.${rowName}.${field}`),
          wrong: only === undefined ? [] : unknownPaths(row, only).map((path) => `${at}.update_mask.${path}`)
        }
      })
      const count = new RowCount()
      count.add(items.length)
      const body = batchBody(
        items.map((one, index) => {
          const { message = {}, only } = read[index] ?? {}
          const written = writeBody(row, message, { only, without: ['id', 'rowVersion'], rows: count })
          return guardedBody(written, { types, item, message: one })
        })
      )
      const untaken = { beside: read.flatMap(({ beside }) => beside), wrong: read.flatMap(({ wrong }) => wrong) }
      const { unused, ...sent } = commonOf(request, untaken)
      const common = { resource: types.name, ...sent }
      const answer = await withBody(body, (bytes) => generic.UpdateBatch(context, { ...common, body: bytes }))
      return {
        [rows]: await readRows(row, itemsOfArray(Buffer.from(answer.json ?? '[]'))),
        ...outcomeOf(answer, unused)
      }
    }
  }
}

export function batchDeleteRpc(types: KeyedTypes): TypedRpc {
  const { numbers, plural } = types
  const name = `BatchDelete${plural}`
  const item = itemType(types, name, [])
  return {
    name,
    comment: 'Removes 1 to 500 rows with their children, all or none. Guarded.',
    resource: types.name,
    generic: 'DeleteBatch',
    request: batchRequest(types, { name, item }),
    response: makeMessage(numbers, { name: `${name}Response`, comment: `Response of ${name}.` }, [
      REPLAYED,
      IGNORED,
      ROLLED_BACK
    ]),
    streams: false,
    async handle(generic, context, request) {
      const items = itemsOf(request)
      new RowCount().add(items.length)
      const body = batchBody(items.map((message) => guardedBody(NO_MEMBERS, { types, item, message })))
      const { unused, ...sent } = commonOf(request)
      const common = { resource: types.name, ...sent }
      const answer = await withBody(body, (bytes) => generic.DeleteBatch(context, { ...common, body: bytes }))
      return {
        ...outcomeOf(answer, unused)
      }
    }
  }
}

const NO_MEMBERS: WrittenBody = { text: '{}', malformed: [] }

function itemsOf(request: Message): readonly Message[] {
  return (request['items'] ?? []) as readonly Message[] // Of our own codec.
}

/** The body of an item, with its id and its version. */
function guardedBody(
  { text, malformed }: WrittenBody,
  of: { readonly types: KeyedTypes; readonly item: MessageType; readonly message: Message }
): WrittenBody {
  const { types, item, message } = of
  const version = message['row_version']
  const guard = {
    id: pathId(types, item, message),
    ...(Buffer.isBuffer(version) && version.length > 0 ? { rowVersion: version.toString('base64') } : {})
  }
  const members = text.slice(1, -1)
  return { text: `${JSON.stringify(guard).slice(0, -1)}${members === '' ? '' : `,${members}`}}`, malformed }
}
