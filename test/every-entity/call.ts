/** One request, whatever transport carries it. */
export interface Call {
  readonly resource: string
  readonly operation: Operation
  /** Of an action or a custom read. */
  readonly name?: string
  readonly id?: string
  /** The owner parameter in the query; several where it comes more than once. */
  readonly owner?: { readonly parameter: string; readonly values: readonly string[] }
  readonly filters?: readonly { readonly property: string; readonly operator: string; readonly value: string }[]
  readonly sortColumn?: string
  readonly sortDirection?: string
  readonly fields?: string
  readonly includeFKs?: string
  readonly includeChildren?: string
  readonly pageSize?: string
  readonly search?: string
  /** Cursors of an earlier answer. */
  readonly after?: string
  readonly before?: string
  readonly body?: object
  /** Whether the body of an update is a merge patch. */
  readonly patch?: boolean
  readonly ifMatch?: IfMatch
}

export const READS = ['list', 'paged', 'export', 'lookup', 'get'] as const
type Operation = (typeof READS)[number] | 'read' | 'create' | 'update' | 'delete' | 'act'

/** A version in base64, or what stands in its place. */
export type IfMatch = { readonly version: string } | 'absent' | 'blank' | 'star' | 'malformed'

/** What came of it. */
export interface Outcome {
  /** `ok` or the code of the rejection. */
  readonly code: string
  /** Of HTTP or of gRPC. */
  readonly status: number
  /** Words of a rejection. */
  readonly detail: string
  /** Rows of a collection, or the one row of an answer. */
  readonly rows: readonly Row[]
  /** Number of rows on all pages; undefined where the answer has none. */
  readonly total: string | undefined
  /** Cursors of a page; undefined where the answer has none. */
  readonly cursors?: { readonly next: string | undefined; readonly previous: string | undefined }
  /** All that was sent. */
  readonly text: string
}

export type Row = Readonly<Record<string, unknown>>

/** Something that calls are sent by. */
export interface Transport {
  readonly name: 'HTTP' | 'gRPC'
  send(call: Call, token: string | undefined): Promise<Outcome>
}

/** `PUT orders/7/pay`, for messages. */
export function describeCall(call: Call): string {
  const { resource, name, id, owner, body } = call
  const operation = call.patch === true ? 'patch' : call.operation
  const path = [resource, id, name].filter((one) => one !== undefined).join('/')
  const query = owner === undefined ? '' : `?${owner.values.map((one) => `${owner.parameter}=${one}`).join('&')}`
  return `${operation} ${path}${query}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`
}
