import { type GrpcCaller, isFailure, type Method } from '../stack/grpc-caller.js'
import { asRows } from './http-transport.js'
import type { Call, IfMatch, Outcome, Row, Transport } from './call.js'

/** Sends calls to a data service as an internal service would. */
export function grpcTransport(rpc: GrpcCaller): Transport {
  return {
    name: 'gRPC',
    async send(call, token) {
      const options = token === undefined ? {} : { token }
      const answer =
        call.operation === 'export'
          ? await rpc.export(requestOf(call), options)
          : await rpc.unary(METHODS[call.operation], requestOf(call), options)
      if (!isFailure(answer)) return outcomeOf(call, answer)
      const { details, status, message } = answer
      // The message is cut where one fault has many words.
      const [first] = details.violations
      const detail = message.endsWith('…') && first !== undefined ? first.description : message
      return { code: details.reason, status, detail, rows: [], total: undefined, text: message }
    }
  }
}

const METHODS: Readonly<Record<Exclude<Call['operation'], 'export'>, Method>> = {
  list: 'List',
  paged: 'Page',
  lookup: 'Lookup',
  get: 'Get',
  read: 'Read',
  create: 'Create',
  update: 'Update',
  delete: 'Delete',
  act: 'Act'
}

function requestOf(call: Call): object {
  const { resource, operation, id, name, owner, body, patch, ifMatch } = call
  const {
    filters = [],
    sortColumn,
    sortDirection,
    fields,
    includeFKs,
    includeChildren,
    pageSize,
    search,
    after,
    before
  } = call
  return defined({
    resource,
    id,
    ...(operation === 'act' ? { action: name } : { name }),
    // Several values of a parameter are joined by commas (entity_service.proto).
    ownerParameter: owner?.values.join(','),
    selection: defined({ filters, sortColumn, sortDirection, search }),
    ...(operation === 'list' ? { search } : {}),
    after,
    before,
    ...(operation === 'export' ? { fields, idleTimeoutMs: 10_000 } : {}),
    shape: defined({ fields, includeFks: includeFKs, includeChildren }),
    pageSize,
    body: body && Buffer.from(JSON.stringify(body)),
    ...(operation === 'update' ? { mergePatch: patch === true } : {}),
    precondition: ifMatch && preconditionOf(ifMatch)
  })
}

function defined(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

function preconditionOf(ifMatch: IfMatch): object | undefined {
  if (typeof ifMatch === 'object') {
    return { kind: 'PRECONDITION_KIND_TAGS', versions: [Buffer.from(ifMatch.version, 'base64')] }
  }
  if (ifMatch === 'star') return { kind: 'PRECONDITION_KIND_ANY' }
  return ifMatch === 'malformed' ? { kind: 'PRECONDITION_KIND_MALFORMED' } : undefined
}

interface Part {
  readonly header?: { readonly columns: readonly { readonly name: string }[] } | null
  readonly rows?: { readonly json: Buffer } | null
}

function outcomeOf({ operation }: Call, answer: object): Outcome {
  // Each is the message of the proto that the method answers.
  const message = answer as {
    readonly record?: { readonly json: Buffer }
    readonly records?: readonly { readonly json: Buffer }[]
    readonly json?: Buffer
    readonly totalCount?: string
    readonly nextCursor?: string
    readonly previousCursor?: string
  }
  const texts = Array.isArray(answer)
    ? exportTexts(answer as readonly Part[])
    : [...(message.records ?? []), ...(message.record ? [message.record] : [])].map(({ json }) => json.toString())
  const whole = message.json?.toString()
  const body: unknown = whole === undefined ? undefined : JSON.parse(whole)
  const rows: readonly Row[] =
    body === undefined
      ? texts.flatMap((one) => asRows(JSON.parse(one)))
      : asRows(operation === 'lookup' ? (body as { items: unknown }).items : body)
  const cursors = { next: message.nextCursor, previous: message.previousCursor }
  return {
    code: 'ok',
    status: 0,
    detail: '',
    rows,
    total: message.totalCount,
    cursors,
    text: whole ?? texts.join('\n')
  }
}

/** Each row of an export as a JSON object. */
function exportTexts(parts: readonly Part[]): string[] {
  const names = parts.flatMap(({ header }) => header?.columns ?? []).map(({ name }) => name)
  return parts.flatMap(({ rows }) => {
    if (!rows) return []
    const lines = JSON.parse(rows.json.toString()) as readonly (readonly unknown[])[]
    return lines.map((line) => JSON.stringify(Object.fromEntries(line.map((value, at) => [names[at] ?? '', value]))))
  })
}
