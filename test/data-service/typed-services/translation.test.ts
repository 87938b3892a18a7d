import { expect } from 'chai'
import protobuf from 'protobufjs'
import type { CallContext } from '../../../data-service/entity/caller.js'
import type { GenericHandlers } from '../../../data-service/typed-services/generic.js'
import { EMPTY_LOCK, type ProtoLock } from '../../../data-service/typed-services/numbers.js'
import { rowName } from '../../../data-service/typed-services/schema.js'
import { makeTypedPackage, type TypedPackage } from '../../../data-service/typed-services/typed-package.js'
import type { Message } from '../../../data-service/typed-services/values.js'
import { DomainError } from '../../../shared/errors.js'
import type { JsonShape } from '../../../shared/gen/entity/v1/JsonShape.js'
import type { Operation } from '../../../shared/gen/entity/v1/Operation.js'
import type { Property } from '../../../shared/gen/entity/v1/Property.js'
import type { Resource } from '../../../shared/gen/entity/v1/Resource.js'

const NUMBER: Property = { name: 'item', type: 'int' }
const TEXT: Property = { name: 'item', type: 'string', nullable: true }

function made(
  { resources = [], operations = [] }: { readonly resources?: readonly Resource[]; readonly operations?: Operation[] },
  lock: ProtoLock = EMPTY_LOCK
): TypedPackage {
  return makeTypedPackage({ resources, operations }, { package: 'depot.v1', lock })
}

/** What the generic rpc gets for a message, and what becomes of its answer. */
async function translated(
  typed: TypedPackage,
  name: string,
  { message, answer }: { readonly message: Message; readonly answer: object }
): Promise<{ readonly request: Message; readonly response: unknown }> {
  const rpc = typed.services.flatMap(({ rpcs }) => rpcs).find((one) => one.name === name)
  if (rpc === undefined || rpc.streams) throw new TypeError(`There is no unary rpc ${name}`)
  let request: Message = {}
  const generic = {
    [rpc.generic]: (_: CallContext, sent: Message) => {
      request = sent
      return Promise.resolve(answer)
    }
  } as unknown as GenericHandlers // The rpc calls this one alone.
  const response = await rpc.handle(generic, {} as CallContext, message)
  return { request, response }
}

/** The names of the fields of a message, as a compiler of the proto finds them. */
function fieldsOf(typed: TypedPackage, message: string): string[] {
  const { root } = protobuf.parse(typed.text().replace(/^import .*$/gm, ''), { keepCase: true })
  return Object.keys(root.lookupType(`depot.v1.${message}`).fields)
}

describe('the translation of typed calls', () => {
  const list = (of: JsonShape): JsonShape => ({ kind: 'SHAPE_KIND_LIST', minItems: 0, maxItems: 9, ...of })
  const shape: JsonShape = {
    kind: 'SHAPE_KIND_OBJECT',
    members: [
      { name: 'counts', shape: list({ item: NUMBER }) },
      { name: 'names', shape: list({ item: TEXT }) },
      { name: 'grid', shape: list({ nested: list({ item: NUMBER }) }) },
      { property: { name: 'note', type: 'string', nullable: true, requiredOnCreate: true } },
      { property: { name: 'size', type: 'int', nullable: true, defaultValue: '2' } }
    ]
  }
  const sort: Operation = {
    name: 'sort-all',
    description: 'Sorts.',
    method: 'POST',
    pathParameters: [
      { name: 'body', type: 'int' },
      { name: 'id', type: 'long' }
    ],
    queryParameters: [
      { name: 'strict', type: 'string' },
      { name: 'id', type: 'string' }
    ],
    body: shape,
    answer: shape
  }

  it('keeps lists of lists, of null and of values, and parameters that are called as other fields', async () => {
    const typed = made({ operations: [sort] })
    expect(fieldsOf(typed, 'SortAllRequest')).to.deep.equal([
      'path_body',
      'id',
      'query_strict',
      'query_id',
      'body',
      'strict',
      'null_mask',
      'idempotency_key',
      'dry_run'
    ])
    const body = { counts: [1, 2], names: [{ value: 'a' }, {}], grid: [{ items: [3] }, {}] }
    const json = '{"counts":[1,2],"names":["a",null],"grid":[[3],[]],"note":null}'
    const message = { path_body: 7, id: '8', query_strict: 'x', query_id: 'y', strict: true, dry_run: true, body }
    const { request, response } = await translated(typed, 'SortAll', {
      message,
      answer: { json: Buffer.from(json), replayed: true, rolledBack: true, ignoredMembers: [] }
    })
    expect({ ...request, body: String(request['body']) }).to.deep.equal({
      operation: 'sort-all',
      path: { body: '7', id: '8' },
      query: { strict: 'x', id: 'y' },
      strict: true,
      dryRun: true,
      precondition: null,
      unplaced: null,
      body: json
    })
    expect(response).to.deep.equal({
      answer: { ...body, grid: [{ items: [3] }, { items: [] }] },
      replayed: true,
      rolled_back: true,
      ignored_members: []
    })
  })

  it('sends null for what a mask names, also where there is a value', async () => {
    const { request } = await translated(made({ operations: [sort] }), 'SortAll', {
      message: { body: { note: 'n', size: 3 }, null_mask: { paths: ['size'] }, idempotency_key: 'k' },
      answer: {}
    })
    expect([String(request['body']), request['idempotencyKey']]).to.deep.equal(['{"note":"n","size":null}', 'k'])
  })

  it('finds a key whose type has changed in its new field', async () => {
    const boxes = (type: string): Resource => ({
      name: 'boxes',
      description: 'Boxes.',
      label: 'name',
      properties: [
        { name: 'id', type },
        { name: 'name', type: 'string' }
      ]
    })
    const typed = made({ resources: [boxes('long')] }, made({ resources: [boxes('int')] }).lock())
    const [id = ''] = fieldsOf(typed, 'GetBoxRequest')
    expect(id).to.match(/^id_\d$/)
    const row = { json: Buffer.from('{"id":"9007199254740993","name":"b"}') }
    const found = await translated(typed, 'GetBox', { message: { [id]: '9007199254740993' }, answer: { record: row } })
    expect(found.request).to.include({ id: '9007199254740993' })
    const [ofRow = ''] = fieldsOf(typed, 'Box')
    expect(found.response).to.deep.equal({ box: { [ofRow]: '9007199254740993', name: 'b' } })
    const items = { json: Buffer.from('{"items":[{"id":"5","name":"b"}]}'), truncated: false }
    const [ofItem = ''] = fieldsOf(typed, 'LookupBoxesResponse.Item')
    const { response } = await translated(typed, 'LookupBoxes', { message: {}, answer: items })
    expect(response).to.deep.equal({ items: [{ [ofItem]: '5', name: 'b' }], truncated: false })
  })

  it('says which values are not shown in every read that answers rows or totals', async () => {
    const id: Property = { name: 'id', type: 'int' }
    const code: Property = { name: 'code', type: 'string', unique: true }
    const totals = { dimensions: [], measures: [{ name: 'count', type: 'int' }] }
    const boxes: Resource = { name: 'boxes', description: 'Boxes.', label: 'code', properties: [id, code] }
    const typed = made({ resources: [{ ...boxes, operations: ['totals'], totals }] })
    expect(typed.lock().types).to.not.have.property('TotalBoxesRequest.Dimension')
    const unshownValues = ['7; property=code', 'more=5']
    const reads = ['GetBox', 'GetBoxByCode', 'ListBoxes', 'TotalBoxes']
    for (const message of [...reads.map((name) => `${name}Response`), 'ExportBoxesResponse.End']) {
      expect(fieldsOf(typed, message), message).to.include('unshown_values')
    }
    for (const name of reads) {
      const message = name === 'GetBox' ? { id: 7 } : { code: 'a' }
      const { response } = await translated(typed, name, { message, answer: { unshownValues } })
      expect(response, name).to.include({ unshown_values: unshownValues })
    }
    const exporting = typed.services.flatMap(({ rpcs }) => rpcs).find(({ name }) => name === 'ExportBoxes')
    if (exporting?.streams !== true) throw new TypeError('There is no such stream')
    const end = { count: 1, truncated: false }
    const generic = { Export: () => [{ end: { ...end, unshownValues } }] } as unknown as GenericHandlers // It reads this one alone.
    const sent: Message[] = []
    for await (const part of exporting.handle(generic, {} as CallContext, {})) sent.push(part)
    expect(sent).to.deep.equal([{ end: { ...end, unshown_values: unshownValues } }])
  })

  it('asks for totals by the names of an enum, and answers counts and sums of any size', async () => {
    const placed: Property = { name: 'placedAt.month', type: 'string', nullable: true }
    const status: Property = { name: 'status', type: 'enum', words: ['new', 'sent'] }
    const typed = made({
      resources: [
        {
          name: 'boxes',
          description: 'Boxes.',
          label: 'status',
          operations: ['totals'],
          properties: [
            { name: 'id', type: 'int', filterable: true, operators: ['equals'] },
            { ...status, sortable: true }
          ],
          ownerProperty: 'ownerId',
          totals: {
            dimensions: [status, placed],
            measures: [
              { name: 'count', type: 'int' },
              { name: 'sum.size', type: 'int', nullable: true },
              { name: 'average.weight', type: 'decimal', nullable: true }
            ]
          }
        }
      ]
    })
    expect(fieldsOf(typed, 'TotalBoxesRequest')).to.deep.equal(['filter', 'any_of', 'by', 'measures', 'sort', 'owner'])
    const sum = '9007199254740993'
    const { request, response } = await translated(typed, 'TotalBoxes', {
      message: {
        filter: { id: [{ operator: 'equals', equals: 7 }] },
        by: ['DIMENSION_PLACED_AT_MONTH', 'DIMENSION_STATUS'],
        measures: ['MEASURE_SUM_SIZE', 'MEASURE_COUNT'],
        sort: [{ measure: 'MEASURE_COUNT', descending: true }, { dimension: 'DIMENSION_STATUS' }],
        owner: '3'
      },
      answer: {
        json: Buffer.from(
          `[{"placedAt.month":"2026-01","status":"sent","sum.size":${sum},"count":2},{"placedAt.month":null}]`
        ),
        rowLimit: 1000,
        truncated: true
      }
    })
    expect(request).to.deep.equal({
      resource: 'boxes',
      selection: {
        filters: [{ property: 'id', operator: 'equals', value: '7' }],
        anyOf: [],
        sortColumn: 'count,status',
        sortDirection: 'desc,asc'
      },
      by: 'placedAt.month,status',
      measures: 'sum.size,count',
      unplaced: null,
      asCsv: false,
      ownerParameter: '3'
    })
    expect(response).to.deep.equal({
      groups: [{ placed_at_month: '2026-01', status: 'STATUS_SENT', sum_size: sum, count: '2' }, {}],
      row_limit: 1000,
      truncated: true
    })
    // Without fields there is one group of all measures, and a number that no enum has is passed on to be rejected.
    const message = { measures: [77] }
    expect((await translated(typed, 'TotalBoxes', { message: {}, answer: {} })).request).to.not.have.any.keys(
      'by',
      'measures'
    )
    expect((await translated(typed, 'TotalBoxes', { message, answer: {} })).request).to.include({ measures: '77' })
  })

  it('sends the parts of an import, and answers what became of their rows', async () => {
    const resource: Resource = {
      name: 'boxes',
      description: 'Boxes.',
      label: 'code',
      operations: ['import'],
      properties: [
        { name: 'id', type: 'int', unique: true },
        { name: 'code', type: 'string', unique: true, setOnCreate: true },
        { name: 'notes', type: 'json', nullable: true, setOnCreate: true }
      ]
    }
    const typed = made({ resources: [resource] })
    const message = {
      boxes: [{ code: 'a' }, { code: 'b', notes: '[1' }],
      first_row: 500,
      on_error: 'ON_ERROR_SKIP',
      by: 'BY_CODE',
      idempotency_key: 'k',
      strict: true,
      more: true,
      continuation: Buffer.from('c'),
      max_errors: 5
    }
    const error = { row: 502, code: 'body.invalid', detail: 'No.', pointer: '/notes' }
    const counts = { created: 1, existing: 2, failed: 3, errors: [error], replayed: true }
    const { request, response } = await translated(typed, 'ImportBoxes', {
      message,
      answer: { ...counts, createdBefore: 4, ignoredMembers: ['x'], continuation: Buffer.from('d') }
    })
    expect({ ...request, rows: (request['rows'] as readonly Buffer[]).map(String) }).to.deep.equal({
      resource: 'boxes',
      // What is no JSON is sent as what is none.
      rows: ['{"code":"a"}', '{'],
      firstRow: 500,
      onError: 'skip',
      by: 'code',
      idempotencyKey: 'k',
      strict: true,
      more: true,
      forget: false,
      continuation: Buffer.from('c'),
      maxErrors: 5,
      unplaced: null
    })
    expect(response).to.deep.equal({
      ...counts,
      created_before: 4,
      ignored_members: ['x'],
      continuation: Buffer.from('d')
    })
    const broken = new DomainError('body.malformed', 'Row 502 is not JSON (RFC 8259) in UTF-8.')
    const refused: unknown = await translated(typed, 'ImportBoxes', { message, answer: Promise.reject(broken) }).catch(
      (error: unknown) => error
    )
    expect(refused).to.deep.include({ code: 'body.invalid' })
    // By its place in the file, as every other row that is none.
    expect(refused)
      .to.have.nested.property('violations[0]')
      .that.deep.includes({ code: 'body.invalid', place: { in: 'pointer', name: '/501/notes' } })
    const least = await translated(typed, 'ImportBoxes', {
      message: { on_error: 'ON_ERROR_UNSPECIFIED', by: 'BY_UNSPECIFIED', forget: true },
      answer: {}
    })
    expect(least.request)
      .to.include({ forget: true, firstRow: 0 })
      .and.to.not.have.any.keys('onError', 'by', 'maxErrors')
    // Only a property that a create sets tells rows apart.
    const { setOnCreate: _, ...code } = resource.properties?.[1] ?? {}
    const without = made({
      resources: [{ ...resource, properties: [{ name: 'id', type: 'int', unique: true }, code] }]
    })
    expect(fieldsOf(without, 'ImportBoxesRequest')).to.not.include('by')
    expect(without.lock().types).to.not.have.property('ImportBoxesRequest.By')
  })

  it('leaves out a later rpc whose name an operation or an action of the application has', () => {
    const staff: Resource = {
      name: 'staff',
      description: 'Staff.',
      label: 'code',
      operations: ['import', 'totals', 'update', 'updateBatch', 'deleteBatch'],
      updatesByProperty: true,
      totals: { dimensions: [], measures: [{ name: 'count', type: 'int' }] },
      properties: [
        { name: 'id', type: 'int' },
        { name: 'code', type: 'string', unique: true, setOnCreate: true }
      ]
    }
    const later = [
      'ImportStaff',
      'TotalStaff',
      'BatchUpdateStaff',
      'BatchDeleteStaff',
      'GetStaffByCode',
      'ReplaceStaffByCode'
    ]
    const namesOf = (typed: TypedPackage): string[][] => typed.services.map(({ rpcs }) => rpcs.map(({ name }) => name))
    expect(namesOf(made({ resources: [staff] }))[0]).to.include.members(later)
    const names = ['import', 'total', 'batch-update', 'batch-delete'].map((verb) => `${verb}-staff`)
    const operations = [...names, 'get-staff-by-code', 'replace-staff-by-code'].map((name) => ({ ...sort, name }))
    const typed = made({ resources: [staff], operations })
    const [ofStaff, ofOperations] = namesOf(typed)
    expect(ofStaff).to.include('UpdateStaff').and.to.not.include.any.members(later)
    expect(ofOperations).to.deep.equal(later)
    expect(fieldsOf(typed, 'ImportStaffRequest')).to.include('path_body')
    // Its numbers are those of the operation alone.
    expect(typed.lock().types).to.not.have.property('ImportStaffRequest.OnError')
    expect(made({ resources: [staff], operations }, typed.lock()).isLocked).to.equal(true)
    const acting = made({ resources: [{ ...staff, actions: [{ name: 'import' }, { name: 'total' }] }] })
    expect(namesOf(acting)[0]?.filter((name) => later.slice(0, 2).includes(name))).to.deep.equal(later.slice(0, 2))
    expect(fieldsOf(acting, 'ImportStaffRequest')).to.include('row_version')
  })

  it('calls rows by the singular of their resource', () => {
    const plurals = 'products categories boxes branches addresses statuses warehouses courses clauses sizes stock-items'
    const names = 'Product Category Box Branch Address Status Warehouse Course Clause Size StockItem'
    expect(plurals.split(' ').map(rowName)).to.deep.equal(names.split(' '))
  })

  it('has no two types of one name', () => {
    const twice = {
      ...sort,
      body: {
        ...shape,
        members: [
          { name: 'a', shape },
          { name: 'A', shape }
        ]
      }
    }
    expect(() => made({ operations: [twice] })).to.throw('two types called SortAllRequest.Body.A')
  })
})
