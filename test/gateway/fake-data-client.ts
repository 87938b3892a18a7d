import type { HttpContext } from '../../gateway/data/calls.js'
import type {
  ActResponse,
  Action,
  ActRequest,
  DescribeResponse,
  CreateResponse,
  CallRequest,
  CallResponse,
  CreateBatchRequest,
  CreateBatchResponse,
  CreateRequest,
  CustomRead,
  DataClient,
  DeleteBatchRequest,
  DeleteBatchResponse,
  DeleteRequest,
  DeleteResponse,
  EntityRecord,
  ExportRequest,
  ExportPart,
  GetResponse,
  ImportRequest,
  ImportResponse,
  GetByRequest,
  GetRequest,
  ListResponse,
  Operation,
  ListRequest,
  LookupResponse,
  LookupRequest,
  PageResponse,
  PageRequest,
  Property,
  ReadResponse,
  TotalsRequest,
  TotalsResponse,
  ReadRequest,
  Resource,
  UpdateBatchRequest,
  UpdateBatchResponse,
  UpdateResponse,
  UpdateRequest
} from '../../gateway/data/data-client.js'

/** No array: a data service of an earlier version answers records alone. */
const NONE = Buffer.alloc(0)

/** An answer of a read. A collection that is cut is named where a test says so. */
type Answer<Response extends { readonly truncatedIncludes: string[]; readonly unshownValues: string[] }> = Omit<
  Response,
  'truncatedIncludes' | 'unshownValues'
> &
  Partial<Pick<Response, 'truncatedIncludes' | 'unshownValues'>>

/** A call as the gateway made it. */
interface SeenCall {
  readonly rpc: string
  readonly call: HttpContext
  readonly request: unknown
}

/**
 * A data service in memory: answers what it is told to and keeps every call. It is for faults that a real data service
 * cannot be made to show, and for resources that the store does not have. What a real one shows belongs into test/api.
 */
export class FakeDataClient implements DataClient {
  readonly calls: SeenCall[] = []
  reachable = true
  catalogue: DescribeResponse = described([products()])
  answerDescribeTo: (call: HttpContext) => Promise<DescribeResponse> | DescribeResponse = () => this.catalogue
  answerList: () => Promise<Answer<ListResponse>> | Answer<ListResponse> = () => ({
    records: [record('{"id":1}'), record('{"id":2}')],
    rowLimit: 1000,
    truncated: false,
    continuationPageSize: 500,
    json: NONE
  })
  answerGet: () => Promise<Answer<GetResponse>> | Answer<GetResponse> = () => ({
    record: record('{"id":1}', 'AQIDBAUGBwg=')
  })
  answerExport: (call: HttpContext) => AsyncIterable<ExportPart> = () =>
    parts(exportHeader(), { end: { count: 0, truncated: false, unshownValues: [] } })
  answerCreate: (request: CreateRequest) => Promise<CreateResponse> | CreateResponse = ({ linkBase }) =>
    created({ location: `${linkBase}/products/7` })

  answerCall: () => CallResponse = () => ({
    json: Buffer.from('{"n":1}'),
    status: 200,
    ignoredMembers: [],
    replayed: false,
    rolledBack: false,
    rowVersion: Buffer.alloc(0)
  })

  readonly #listeners: (() => void)[] = []

  async describe(): Promise<DescribeResponse> {
    if (!this.reachable) throw new Error('not there')
    return this.catalogue
  }

  isolated(): Promise<ReadonlyMap<string, string>> {
    return Promise.resolve(new Map())
  }

  /** What each `Authorization` may see; the whole catalogue unless a test says otherwise. */
  async describeTo(call: HttpContext): Promise<DescribeResponse> {
    if (!this.reachable) throw new Error('not there')
    if (call.authorization !== undefined) this.calls.push({ rpc: 'describe', call, request: {} })
    return this.answerDescribeTo(call)
  }

  async list(call: HttpContext, request: ListRequest): Promise<ListResponse> {
    this.calls.push({ rpc: 'list', call, request })
    return { truncatedIncludes: [], unshownValues: [], ...(await this.answerList()) }
  }

  async page(call: HttpContext, request: PageRequest): Promise<PageResponse> {
    this.calls.push({ rpc: 'page', call, request })
    return {
      records: [record('{"id":11}')],
      pageSize: 10,
      currentPage: '2',
      totalCount: '25',
      hasNext: true,
      hasPrevious: true,
      json: NONE,
      truncatedIncludes: [],
      unshownValues: [],
      totalIsLowerBound: false
    }
  }

  async totals(call: HttpContext, request: TotalsRequest): Promise<TotalsResponse> {
    this.calls.push({ rpc: 'totals', call, request })
    return { json: Buffer.from('[{"count":2}]'), csv: NONE, rowLimit: 1000, truncated: false, unshownValues: [] }
  }

  async lookup(call: HttpContext, request: LookupRequest): Promise<LookupResponse> {
    this.calls.push({ rpc: 'lookup', call, request })
    return { json: Buffer.from('{"items":[]}'), truncated: false, unshownValues: [] }
  }

  async callOperation(call: HttpContext, kind: 'read' | 'write', request: CallRequest): Promise<CallResponse> {
    this.calls.push({ rpc: `${kind} call`, call, request })
    return this.answerCall()
  }

  async get(call: HttpContext, request: GetRequest): Promise<GetResponse> {
    this.calls.push({ rpc: 'get', call, request })
    return { truncatedIncludes: [], unshownValues: [], ...(await this.answerGet()) }
  }

  async getBy(call: HttpContext, request: GetByRequest): Promise<GetResponse> {
    this.calls.push({ rpc: 'getBy', call, request })
    return { truncatedIncludes: [], unshownValues: [], ...(await this.answerGet()) }
  }

  history(): Promise<never> {
    return Promise.reject(new Error('No resource has a history'))
  }

  async read(call: HttpContext, request: ReadRequest): Promise<ReadResponse> {
    this.calls.push({ rpc: 'read', call, request })
    return { json: Buffer.from('[3,17]'), rowLimit: 1000, truncated: false }
  }

  export(call: HttpContext, request: ExportRequest): AsyncIterable<ExportPart> {
    this.calls.push({ rpc: 'export', call, request })
    return this.answerExport(call)
  }

  async create(call: HttpContext, request: CreateRequest): Promise<CreateResponse> {
    this.calls.push({ rpc: 'create', call, request })
    return this.answerCreate(request)
  }

  /** The continuation of a part; it may throw. */
  answerImport: (request: ImportRequest) => Buffer = () => NONE

  async import(call: HttpContext, request: ImportRequest): Promise<ImportResponse> {
    this.calls.push({ rpc: 'import', call, request })
    const nothing = { created: 0, createdBefore: 0, existing: 0, failed: 0, errors: [], ignoredMembers: [] }
    return { ...nothing, continuation: this.answerImport(request), replayed: false }
  }

  async createBatch(call: HttpContext, request: CreateBatchRequest): Promise<CreateBatchResponse> {
    this.calls.push({ rpc: 'createBatch', call, request })
    return { json: Buffer.from('[{"id":7}]'), ids: ['7'], ignoredMembers: [], replayed: false, rolledBack: false }
  }

  async update(call: HttpContext, request: UpdateRequest): Promise<UpdateResponse> {
    this.calls.push({ rpc: 'update', call, request })
    return written()
  }

  async updateBatch(call: HttpContext, request: UpdateBatchRequest): Promise<UpdateBatchResponse> {
    this.calls.push({ rpc: 'updateBatch', call, request })
    return { json: Buffer.from('[{"id":7}]'), ignoredMembers: [], replayed: false, rolledBack: false }
  }

  async deleteBatch(call: HttpContext, request: DeleteBatchRequest): Promise<DeleteBatchResponse> {
    this.calls.push({ rpc: 'deleteBatch', call, request })
    return { ignoredMembers: [], replayed: false, rolledBack: false }
  }

  async delete(call: HttpContext, request: DeleteRequest): Promise<DeleteResponse> {
    this.calls.push({ rpc: 'delete', call, request })
    return { rolledBack: false }
  }

  async act(call: HttpContext, request: ActRequest): Promise<ActResponse> {
    this.calls.push({ rpc: 'act', call, request })
    return written()
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

/** A catalogue of these resources. */
export function described(resources: Resource[], more: Partial<DescribeResponse> = {}): DescribeResponse {
  return {
    digest: '1',
    resources,
    operations: [],
    allowed: resources.map(({ name, operations }) => ({ resource: name, names: operations })),
    owner: '',
    everyOwner: false,
    roles: [],
    allowedOperations: (more.operations ?? []).map(({ name }) => name),
    keyRequired: false,
    isolated: [],
    ...more
  }
}

/** An operation of the application that takes nothing. */
export function operation(name: string, method: string, path: string, more: Partial<Operation> = {}): Operation {
  return {
    name,
    method,
    path,
    description: `${name}.`,
    access: 'everyone',
    permission: '',
    pathParameters: [],
    queryParameters: [],
    body: null,
    answer: null,
    status: 200,
    versioned: false,
    ...more
  }
}

export function record(json: string, rowVersion = ''): EntityRecord {
  return { json: Buffer.from(json), rowVersion: Buffer.from(rowVersion, 'base64') }
}

/** What a write answers. */
function written(): UpdateResponse {
  return { record: record('{"id":7}', 'AQIDBAUGBwg='), ignoredMembers: [], replayed: false, rolledBack: false }
}

/** What a create answers. */
export function created(more: Partial<CreateResponse> = {}): CreateResponse {
  return { ...written(), id: '7', location: 'http://first.example/products/7', ...more }
}

export function property(name: string, type: string, more: Partial<Property> = {}): Property {
  return {
    name,
    type,
    nullable: false,
    filterable: true,
    sortable: true,
    searchable: false,
    selectable: true,
    operators: ['equals'],
    minLength: 0,
    maxLength: 0,
    minimum: '',
    maximum: '',
    precision: 0,
    scale: 0,
    setOnCreate: false,
    setOnUpdate: false,
    requiredOnCreate: false,
    optionalOnUpdate: false,
    description: '',
    defaultValue: '',
    ownType: '',
    schema: '',
    words: [],
    fractionDigits: 0,
    example: '',
    operatorAliases: ['eq'],
    readableBy: [],
    writeOnly: false,
    preset: false,
    writableBy: '',
    unique: false,
    ...more
  }
}

const SET = { setOnCreate: true, setOnUpdate: true }
const VARIANT = [property('id', 'int'), property('stock', 'int', SET)]

const NO_CHILDREN = { references: [], properties: [], navigations: [], via: [], writeOnly: [] }

export function action(name: string, more: Partial<Action> = {}): Action {
  return {
    name,
    description: 'Does it.',
    input: [],
    childPrecondition: '',
    handsOver: false,
    permission: '',
    states: [],
    becomes: [],
    child: '',
    childId: '',
    ...more
  }
}

export function customRead(name: string, more: Partial<CustomRead> = {}): CustomRead {
  return {
    name,
    description: 'Ids of sessions.',
    parameters: [],
    ownerFiltered: false,
    items: [property('sessionId', 'int')],
    bareItems: true,
    ...more
  }
}

export function products(more: Partial<Resource> = {}): Resource {
  return {
    name: 'products',
    key: ['id'],
    description: 'What the store sells.',
    publicReads: true,
    operations: ['list', 'paged', 'export', 'lookup', 'get', 'create', 'update', 'delete'],
    label: 'name',
    fullText: false,
    title: '',
    group: '',
    icon: '',
    totals: null,
    properties: [
      property('id', 'int'),
      property('name', 'string', { maxLength: 200, requiredOnCreate: true, ...SET }),
      property('price', 'decimal', { precision: 10, scale: 2, ...SET }),
      property('barcode', 'long', { nullable: true, ...SET }),
      property('releasedAt', 'dateTime', { nullable: true }),
      property('externalId', 'guid', { nullable: true }),
      property('isActive', 'bool'),
      property('rowVersion', 'bytes', { filterable: false, sortable: false, operators: [] })
    ],
    navigations: [
      {
        name: 'category',
        kind: 'NAVIGATION_KIND_REFERENCE',
        resource: 'products',
        ...NO_CHILDREN,
        via: ['categoryId']
      },
      { name: 'variants', kind: 'NAVIGATION_KIND_CHILDREN', resource: '', ...NO_CHILDREN, properties: VARIANT }
    ],
    actions: [action('publish'), action('rename', { input: [property('name', 'string')] })],
    createdChildren: [],
    writeOnly: [],
    ownerParameter: '',
    ownerFiltered: [],
    ownerProperty: '',
    deleteCondition: '',
    deleteStates: [],
    readAccess: [],
    writeAccess: null,
    writeAccesses: [],
    writesUnseen: false,
    updatesByProperty: false,
    reads: [],
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
  return { rows: { json: Buffer.from(JSON.stringify(rows)), csv: NO_BYTES, count: rows.length } }
}

export function exportCsv(csv: string, count: number): ExportPart {
  return { rows: { json: NO_BYTES, csv: Buffer.from(csv), count } }
}

const NO_BYTES = Buffer.alloc(0)

export async function* parts(...all: readonly (ExportPart | Error)[]): AsyncGenerator<ExportPart, void, void> {
  for (const part of all) {
    if (part instanceof Error) throw part
    yield part
  }
}
