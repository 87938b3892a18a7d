import type {
  CatalogueAnswer,
  DataCall,
  DataClient,
  EntityRecord,
  ExportMessage,
  ExportPart,
  GetAnswer,
  GetMessage,
  ListAnswer,
  ListMessage,
  LookupAnswer,
  LookupMessage,
  PageAnswer,
  PageMessage,
  Property,
  Resource
} from '../../gateway/data-calls.js'

/** A call as the gateway made it. */
export interface SeenCall {
  readonly rpc: string
  readonly call: DataCall
  readonly request: unknown
}

/** A data service in memory: answers what it is told to and keeps every call. */
export class FakeDataClient implements DataClient {
  readonly calls: SeenCall[] = []
  reachable = true
  catalogue: CatalogueAnswer = { digest: '1', resources: [products()] }
  answerList: () => Promise<ListAnswer> | ListAnswer = () => ({
    records: [record('{"id":1}'), record('{"id":2}')],
    rowLimit: 1000,
    truncated: false,
    continuationPageSize: 500
  })
  answerPage: () => PageAnswer = () => ({
    records: [record('{"id":11}')],
    pageSize: 10,
    currentPage: '2',
    totalCount: '25',
    hasNext: true
  })
  answerLookup: () => LookupAnswer = () => ({ json: Buffer.from('{"items":[]}'), truncated: false })
  answerGet: () => Promise<GetAnswer> | GetAnswer = () => ({ record: record('{"id":1}', 'AQIDBAUGBwg=') })
  answerExport: (call: DataCall) => AsyncIterable<ExportPart> = () =>
    parts(exportHeader(), { end: { count: 0, truncated: false } })

  readonly #listeners: (() => void)[] = []

  async describe(): Promise<CatalogueAnswer> {
    if (!this.reachable) throw new Error('not there')
    return this.catalogue
  }

  async list(call: DataCall, request: ListMessage): Promise<ListAnswer> {
    this.calls.push({ rpc: 'list', call, request })
    return this.answerList()
  }

  async page(call: DataCall, request: PageMessage): Promise<PageAnswer> {
    this.calls.push({ rpc: 'page', call, request })
    return this.answerPage()
  }

  async lookup(call: DataCall, request: LookupMessage): Promise<LookupAnswer> {
    this.calls.push({ rpc: 'lookup', call, request })
    return this.answerLookup()
  }

  async get(call: DataCall, request: GetMessage): Promise<GetAnswer> {
    this.calls.push({ rpc: 'get', call, request })
    return this.answerGet()
  }

  export(call: DataCall, request: ExportMessage): AsyncIterable<ExportPart> {
    this.calls.push({ rpc: 'export', call, request })
    return this.answerExport(call)
  }

  isReachable(): boolean {
    return this.reachable
  }

  onConnected(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** As if a connection came into being. */
  connect(): void {
    for (const listener of this.#listeners) listener()
  }

  close(): void {}
}

export function record(json: string, rowVersion = ''): EntityRecord {
  return { json: Buffer.from(json), rowVersion: Buffer.from(rowVersion, 'base64') }
}

export function property(name: string, type: string, more: Partial<Property> = {}): Property {
  return {
    name,
    type,
    nullable: false,
    filterable: true,
    sortable: true,
    selectable: true,
    operators: ['equals'],
    maxLength: 0,
    precision: 0,
    scale: 0,
    setOnCreate: false,
    setOnUpdate: false,
    ...more
  }
}

export function products(more: Partial<Resource> = {}): Resource {
  return {
    name: 'products',
    description: 'What the store sells.',
    publicReads: true,
    operations: ['list', 'paged', 'export', 'lookup', 'get'],
    label: 'name',
    properties: [
      property('id', 'int'),
      property('name', 'string', { maxLength: 200 }),
      property('price', 'decimal', { precision: 10, scale: 2 }),
      property('barcode', 'long', { nullable: true }),
      property('releasedAt', 'dateTime', { nullable: true }),
      property('externalId', 'guid', { nullable: true }),
      property('isActive', 'bool'),
      property('rowVersion', 'bytes', { filterable: false, sortable: false, operators: [] })
    ],
    navigations: [
      { name: 'category', kind: 'NAVIGATION_KIND_REFERENCE', resource: 'products', properties: [] },
      { name: 'variants', kind: 'NAVIGATION_KIND_CHILDREN', resource: '', properties: [property('id', 'int')] }
    ],
    actions: [],
    createdChildren: [],
    ...more
  }
}

export function exportHeader(...columns: readonly Property[]): ExportPart {
  return {
    header: {
      columns: columns.length === 0 ? [property('id', 'int'), property('name', 'string')] : [...columns],
      rowLimit: 100
    }
  }
}

export function exportRows(rows: readonly (readonly unknown[])[]): ExportPart {
  return { rows: { json: Buffer.from(JSON.stringify(rows)), count: rows.length } }
}

export async function* parts(...all: readonly (ExportPart | Error)[]): AsyncGenerator<ExportPart, void, void> {
  for (const part of all) {
    if (part instanceof Error) throw part
    yield part
  }
}
