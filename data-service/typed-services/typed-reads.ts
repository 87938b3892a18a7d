import { setImmediate as turn } from 'node:timers/promises'
import type { CustomRead } from '../../shared/gen/entity/v1/CustomRead.js'
import type { ExportResponse } from '../../shared/gen/entity/v1/ExportResponse.js'
import type { TypedRpc } from './generic.js'
import {
  fieldsOf,
  lackFields,
  lacksOf,
  makeParameters,
  type QueryType,
  shapeFields,
  requestedShape,
  UNSHOWN_VALUES
} from './queries.js'
import {
  makeRow,
  ownerFields,
  ownerOf,
  pathText,
  readRow,
  hasIds,
  type KeyedTypes,
  type ResourceTypes,
  type RowType,
  type UniqueField
} from './rows.js'
import {
  type EnumType,
  fieldOf,
  type FieldSpec,
  makeMessage,
  type MessageType,
  pascalCase,
  protoFieldName
} from './schema.js'
import { type JsonMember, type Message, scalarText } from './values.js'
import { itemsOfArray } from '../operations/json.js'
import { storedJson } from '../entity/fields/json-parser.js'

// The reads of a typed service: messages, and what each is in the generic service.

const flagField = (key: string, comment: string): FieldSpec => ({ key, type: 'bool', label: 'plain', comment })

/** A row by its id, or by a unique property. */
export function getRpc(types: KeyedTypes, by?: UniqueField): TypedRpc {
  const { numbers, resource, row, idType } = types
  const named = by ?? { key: 'id', type: idType }
  const name = `Get${row.message.name}${by === undefined ? '' : byName(by)}`
  const requestType = makeMessage(numbers, { name: `${name}Request`, comment: `Request of ${name}.` }, [
    { key: named.key, type: named.type.proto, label: 'plain', comment: 'Which row.' },
    ...shapeFields(resource),
    ...ownerFields(resource)
  ])
  return {
    name,
    comment: 'One row. NOT_FOUND alike for an absent row and for one outside of the scope of the caller.',
    resource: types.name,
    generic: by === undefined ? 'Get' : 'GetBy',
    request: requestType,
    response: makeMessage(numbers, { name: `${name}Response`, comment: `Response of ${name}.` }, [
      rowField(row),
      ...lackFields(resource)
    ]),
    streams: false,
    async handle(generic, context, request) {
      const value = pathText(named, requestType, request)
      const shape = requestedShape(row, request)
      const asked = { resource: types.name, shape, unplaced: null, ...ownerOf(request) }
      const answer =
        by === undefined
          ? await generic.Get(context, { ...asked, id: value })
          : await generic.GetBy(context, { ...asked, property: by.key, value })
      return {
        [protoFieldName(row.message.name)]: readRow(row, parsed(answer.record?.json)),
        ...lacksOf(answer)
      }
    }
  }
}

/** What ends the name of an rpc that names a row by a unique property. */
export function byName({ key }: UniqueField): string {
  return `By${pascalCase(key)}`
}

export function rowField({ message: { name } }: RowType): FieldSpec {
  return { key: protoFieldName(name), type: name, label: 'plain', comment: 'The row.' }
}

/** JSON of an answer of the generic service, with all digits of its numbers. */
export function parsed(json: Buffer | Uint8Array | string | undefined): JsonMember {
  return storedJson(Buffer.from(json ?? 'null').toString())
}

/** Milliseconds after which the event loop has a turn while rows are read. */
const READING = 10

/**
 * One after another, so that what is parsed of a row goes before the next one is. What others ask for comes between the rows of
 * a large answer.
 */
export async function readRows(
  row: RowType,
  records: readonly (Buffer | Uint8Array | string)[],
  memberOf = (value: JsonMember): JsonMember => value
): Promise<readonly Message[]> {
  const rows: Message[] = []
  let until = performance.now() + READING
  for (const json of records) {
    if (performance.now() >= until) {
      await turn()
      until = performance.now() + READING
    }
    rows.push(readRow(row, memberOf(parsed(json))))
  }
  return rows
}

export function listRpc(types: ResourceTypes, query: QueryType): TypedRpc {
  const { numbers, resource, row } = types
  const name = `List${types.plural}`
  const rows = protoFieldName(types.plural)
  const isKeyed = hasIds(resource)
  const ofCursors = (fields: readonly FieldSpec[]): readonly FieldSpec[] => (isKeyed ? fields : [])
  return {
    name,
    comment: `A page of rows, by its number${isKeyed ? ' or by a cursor' : ''}.`,
    resource: types.name,
    generic: 'Page',
    request: makeMessage(numbers, { name: `${name}Request`, comment: `Request of ${name}.` }, [
      ...query.fields,
      {
        key: 'page_size',
        type: 'int32',
        comment: 'From 1; 10 where absent. A greater one than the maximum becomes it.'
      },
      { key: 'page_number', type: 'int64', comment: 'From 1; 1 where absent. Not together with a cursor.' },
      ...ofCursors([
        { key: 'after', type: 'string', comment: 'A cursor of an answer to the same query: what follows its row.' },
        { key: 'before', type: 'string', comment: 'A cursor as after: what precedes its row.' }
      ]),
      flagField('skip_total', 'Whether rows are not counted, which takes time in large tables.'),
      ...shapeFields(resource),
      ...ownerFields(resource),
      { key: 'total_limit', type: 'int32', comment: 'Rows at which the count stops, from 1 to 1000000.' }
    ]),
    response: makeMessage(numbers, { name: `${name}Response`, comment: `Response of ${name}.` }, [
      { key: rows, type: row.message.name, label: 'repeated', comment: 'In the order asked for.' },
      { key: 'page_size', type: 'int32', label: 'plain', comment: 'At most the maximum of the service.' },
      { key: 'page_number', type: 'int64', comment: 'Absent in an answer to a cursor.' },
      { key: 'total_count', type: 'int64', comment: 'Rows that match in all. Absent where the request skips it.' },
      flagField('has_next', 'Whether rows follow this page.'),
      flagField('has_previous', 'Whether rows precede this page.'),
      ...ofCursors([
        { key: 'next_cursor', type: 'string', comment: 'What after takes for the rows that follow.' },
        { key: 'previous_cursor', type: 'string', comment: 'What before takes for the rows that precede.' }
      ]),
      ...lackFields(resource),
      flagField('total_is_lower_bound', 'Whether more rows match than total_count says.')
    ]),
    streams: false,
    async handle(generic, context, request) {
      const page = await generic.Page(context, {
        resource: types.name,
        selection: query.selection(request),
        shape: requestedShape(row, request),
        unplaced: null,
        asArray: false,
        ...presentTexts(request, {
          page_size: 'pageSize',
          page_number: 'pageNumber',
          total_limit: 'totalLimit',
          after: 'after',
          before: 'before'
        }),
        ...(request['skip_total'] === true ? { includeTotal: 'false' } : {}),
        ...ownerOf(request)
      })
      const { currentPage = '', totalCount, nextCursor, previousCursor } = page
      return {
        [rows]: await readRows(
          row,
          (page.records ?? []).map(({ json }) => json ?? 'null')
        ),
        page_size: page.pageSize,
        has_next: page.hasNext,
        has_previous: page.hasPrevious,
        total_is_lower_bound: page.totalIsLowerBound ?? false,
        ...lacksOf(page),
        ...(currentPage === '' ? {} : { page_number: currentPage }),
        ...(totalCount === undefined ? {} : { total_count: totalCount }),
        ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }),
        ...(previousCursor === undefined ? {} : { previous_cursor: previousCursor })
      }
    }
  }
}

/** The fields that are present, as texts under the names of the generic request. */
function presentTexts<Name extends string>(
  request: Message,
  names: Readonly<Record<string, Name>>
): Partial<Record<Name, string>> {
  const present = Object.entries(names).filter(([field]) => request[field] !== undefined)
  return Object.fromEntries(present.map(([field, name]) => [name, scalarText(request[field])])) as Partial<
    Record<Name, string>
  > // Object.fromEntries does not keep names.
}

export function lookupRpc(types: KeyedTypes): TypedRpc {
  const { numbers, resource, row, idType } = types
  const name = `Lookup${types.plural}`
  const item = makeMessage(numbers, { name: `${name}Response.Item`, comment: 'A row by its name.' }, [
    { key: 'id', type: idType.proto, label: 'plain', comment: 'Its id.' },
    { key: 'name', type: 'string', label: 'plain', comment: `Its ${resource.label}.` }
  ])
  const idField = fieldOf(item, 'id')
  return {
    name,
    comment: 'Ids and names, ordered by name and then id, at most 1000.',
    resource: types.name,
    generic: 'Lookup',
    request: makeMessage(numbers, { name: `${name}Request`, comment: `Request of ${name}.` }, [
      { key: 'search', type: 'string', comment: 'Keeps names that contain it.' },
      ...ownerFields(resource)
    ]),
    response: makeMessage(
      numbers,
      { name: `${name}Response`, comment: `Response of ${name} for ${row.message.name}.`, nested: [item] },
      [
        { key: 'items', type: item.name, label: 'repeated', comment: 'In order of their names.' },
        flagField('truncated', 'Whether names were left out.'),
        UNSHOWN_VALUES
      ]
    ),
    streams: false,
    async handle(generic, context, request) {
      const {
        json,
        truncated,
        unshownValues = []
      } = await generic.Lookup(context, {
        resource: types.name,
        unplaced: null,
        ...presentTexts(request, { search: 'search' }),
        ...ownerOf(request)
      })
      const { items } = parsed(json) as unknown as {
        readonly items: readonly { id: JsonMember; name: string | null }[]
      } // Of operations/reads.ts.
      return {
        items: items.map(({ id, name: text }) => ({ [idField]: idType.fromJson(id), name: text ?? '' })),
        truncated,
        ...lacksOf({ unshownValues })
      }
    }
  }
}

/** A read of the resource's own. */
export function customReadRpc(types: ResourceTypes, read: CustomRead): TypedRpc {
  const { numbers, resource } = types
  const { name: readName = '', description = '', parameters = [], items = [], bareItems = false } = read
  const name = `Read${types.plural}${pascalCase(readName)}`
  const nested: (MessageType | EnumType)[] = []
  const taken = makeParameters(parameters, { message: `${name}Request`, numbers, nested })
  const request = makeMessage(numbers, { name: `${name}Request`, comment: `Request of ${name}.`, nested }, [
    ...taken.fields,
    ...ownerFields(resource)
  ])
  const item = makeRow(numbers, { name: `${name}Response.Item`, comment: 'An item of the read.', properties: items })
  const [only] = items
  return {
    name,
    comment: description,
    resource: types.name,
    generic: 'Read',
    request,
    response: makeMessage(
      numbers,
      { name: `${name}Response`, comment: `Response of ${name}.`, nested: [item.message] },
      [
        { key: 'items', type: item.message.name, label: 'repeated', comment: 'In the order of the read.' },
        { key: 'row_limit', type: 'int32', label: 'plain', comment: 'The most items that are answered.' },
        flagField('truncated', 'Whether items were left out.')
      ]
    ),
    streams: false,
    async handle(generic, context, message) {
      const { json, rowLimit, truncated } = await generic.Read(context, {
        resource: types.name,
        name: readName,
        parameters: taken.texts(request, message),
        unplaced: null,
        ...ownerOf(message)
      })
      const memberOf = bareItems ? (value: JsonMember): JsonMember => ({ [only?.name ?? '']: value }) : undefined
      const items = await readRows(item, itemsOfArray(Buffer.from(json ?? '[]')), memberOf)
      return { items, row_limit: rowLimit, truncated }
    }
  }
}

export function exportRpc(types: ResourceTypes, query: QueryType): TypedRpc {
  const { numbers, resource, row } = types
  const name = `Export${types.plural}`
  const part = (key: string, specs: readonly FieldSpec[]): MessageType =>
    makeMessage(numbers, { name: `${name}Response.${pascalCase(key)}`, comment: `The ${key} of an export.` }, specs)
  const header = part('header', [
    { key: 'row_limit', type: 'int32', label: 'plain', comment: 'The most rows that come.' }
  ])
  const rows = part('rows', [
    {
      key: protoFieldName(types.plural),
      type: row.message.name,
      label: 'repeated',
      comment: 'The next rows, in the order asked for.'
    }
  ])
  const end = part('end', [
    { key: 'count', type: 'int32', label: 'plain', comment: 'How many rows came in all.' },
    flagField('truncated', 'Whether the limit left rows out.'),
    UNSHOWN_VALUES
  ])
  const oneof = (key: string, { name: type }: MessageType, comment: string): FieldSpec => ({
    key,
    type,
    label: 'oneof',
    comment
  })
  return {
    name,
    comment: 'Every row that matches, up to the ceiling, out of one snapshot: a header, any number of rows, an end.',
    resource: types.name,
    generic: 'Export',
    request: makeMessage(numbers, { name: `${name}Request`, comment: `Request of ${name}.` }, [
      ...query.fields,
      {
        key: 'read_mask',
        type: 'google.protobuf.FieldMask',
        label: 'plain',
        comment: 'Which fields; all without it, but for bytes.'
      },
      {
        key: 'idle_timeout_ms',
        type: 'int32',
        label: 'plain',
        comment:
          'Milliseconds without progress on either side after which the export is given up. Required where the call has no deadline.'
      },
      ...ownerFields(resource)
    ]),
    response: makeMessage(
      numbers,
      {
        name: `${name}Response`,
        comment: `Part of the answer to ${name}.`,
        oneof: 'part',
        nested: [header, rows, end]
      },
      [
        oneof('header', header, 'Sent first, once.'),
        oneof('rows', rows, 'Sent any number of times.'),
        oneof('end', end, 'Sent last, once.')
      ]
    ),
    streams: true,
    handle(generic, context, request) {
      // It throws for a bad request, before anything is read.
      const messages = generic.Export(context, {
        resource: types.name,
        selection: query.selection(request),
        ...fieldsOf(row, request),
        idleTimeoutMs: Number(request['idle_timeout_ms'] ?? 0),
        unplaced: null,
        readerTimeoutMs: 0,
        clientAddress: '',
        asCsv: null,
        ...ownerOf(request)
      })
      return exported(messages, { row, rows: protoFieldName(types.plural) })
    }
  }
}

async function* exported(
  messages: AsyncIterable<ExportResponse>,
  { row, rows }: { readonly row: RowType; readonly rows: string }
): AsyncGenerator<Message> {
  let cells: readonly ((value: JsonMember) => readonly [field: string, value: unknown])[] = []
  for await (const { header, rows: batch, end } of messages) {
    if (header) {
      cells = (header.columns ?? []).map(({ name = '' }) => cellOf(row, name))
      yield { header: { row_limit: header.rowLimit } }
    }
    if (batch) {
      // Values of json and double are texts in it, so that JSON.parse loses no digit.
      const found = JSON.parse(Buffer.from(batch.json ?? '[]').toString()) as (JsonMember | null)[][] // Of operations/export.ts.
      const messagesOf = found.map((values) =>
        Object.fromEntries(
          values.flatMap((value, index) => (value === null ? [] : [cells[index]?.(value) ?? ['', value]]))
        )
      )
      yield { rows: { [rows]: messagesOf } }
    }
    if (end) yield { end: { count: end.count, truncated: end.truncated, ...lacksOf(end) } }
  }
}

function cellOf({ members }: RowType, column: string): (value: JsonMember) => readonly [string, unknown] {
  const member = members.find(({ key }) => key === column)
  if (member?.kind !== 'value') throw new TypeError(`no column of an export is called ${column}`)
  return (value) => [member.field, member.type.fromCell(value)]
}
