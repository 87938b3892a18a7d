import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { default as addFormats } from 'ajv-formats'
import { expect } from 'chai'
import type { Resource } from '../../../gateway/data/data-client.js'
import { Components } from '../../../gateway/openapi/components.js'
import { DomainError } from '../../../shared/errors.js'
import { followed, inside, type Json, parametersOf } from '../../harness/openapi-document.js'
import { action, customRead, described, products, property } from '../fake-data-client.js'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'
import { openApiDocument } from './parsed-document.js'

function documentOf(...resources: Resource[]): Json {
  return openApiDocument({ resources, exact: true }, 'https://x.example/api')
}

/** The paths of resources, without those of the gateway itself. */
function resourcePaths(document: Json): Readonly<Record<string, Readonly<Record<string, Json>>>> {
  const all = document['paths'] as Record<string, Record<string, Json>>
  return Object.fromEntries(
    Object.entries(all).filter(([path]) => !/^\/(?:auth|health|problems|docs|openapi|\.)/.test(path))
  )
}

/** Whether the schema takes the value, which is a text for a parameter. */
function takes(document: unknown, schema: unknown, value: unknown): boolean {
  const ajv = new Ajv2020({ strict: false, allowUnionTypes: true })
  addFormats.default(ajv)
  const components = (document as Json)['components']
  return ajv.compile({ ...(schema as object), components })(value)
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(documentOf(products(), products({ name: 'stock-items' })))
    expect(valid, JSON.stringify(errors)).to.equal(true)
    expect(validator.version).to.equal('3.1')
  })

  it('that is not valid is found by the validator of this test', async () => {
    const { valid } = await new Validator().validate({ ...documentOf(products()), paths: { x: 1 } })
    expect(valid).to.equal(false)
  })

  it('leads every reference somewhere', () => {
    const document = documentOf(products())
    const references = Array.from(JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g), ([, path = '']) => path)
    expect(references).to.not.be.empty
    for (const path of new Set(references)) {
      expect(inside(document, ...path.split('/')), path).to.be.an('object')
    }
  })

  it('has the paths that a resource serves and no others', () => {
    expect(resourcePaths(documentOf(products()))).to.have.all.keys(
      '/products',
      '/products/paged',
      '/products/export',
      '/products/lookup',
      '/products/{id}',
      '/products/{id}/publish',
      '/products/{id}/rename'
    )
    expect(resourcePaths(documentOf(products({ operations: ['lookup'], actions: [] })))).to.have.all.keys(
      '/products/lookup'
    )
  })

  it('tells each type as it is on the wire', () => {
    const document = documentOf(products())
    const schema = inside(document, 'components', 'schemas', 'products')
    expect(inside(document, 'components', 'schemas', 'products', 'properties')).to.deep.include({
      name: { type: 'string', maxLength: 200 },
      price: { type: 'string', pattern: '^-?[0-9]{1,8}\\.[0-9]{2}$', description: 'Exact digits, scale kept.' },
      barcode: {
        type: ['string', 'null'],
        pattern: '^-?[0-9]{1,19}$',
        description: 'A 64-bit integer in exact digits.'
      },
      isActive: { type: 'boolean' }
    })
    expect(inside(schema, 'properties', 'variants', 'items')).to.deep.equal({
      $ref: '#/components/schemas/products.variants'
    })
  })

  it('requires every member of a row that no include brings, and none of the fields that were asked for', () => {
    const document = documentOf(products())
    const schemas = inside(document, 'components', 'schemas') as Readonly<Record<string, Json>>
    expect(schemas['products']?.['required']).to.deep.equal([
      'id',
      'name',
      'price',
      'barcode',
      'releasedAt',
      'externalId',
      'isActive',
      'rowVersion'
    ])
    expect(schemas['products.selected-fields']).to.not.have.property('required')
    const shaped = [
      { $ref: '#/components/schemas/products' },
      { $ref: '#/components/schemas/products.selected-fields' }
    ]
    const answered = (path: string, method: string, status: string): unknown =>
      inside(document, 'paths', path, method, 'responses', status, 'content', 'application/json', 'schema')
    expect(answered('/products/{id}', 'get', '200')).to.deep.equal({ anyOf: shaped })
    expect(answered('/products/paged', 'get', '200')).to.deep.equal({ type: 'array', items: { anyOf: shaped } })
    for (const method of ['put', 'patch'])
      expect(answered('/products/{id}', method, '200'), method).to.deep.equal(shaped[0])
    expect(answered('/products', 'post', '201')).to.deep.equal(shaped[0])
  })

  it('takes page numbers and sizes from 1, and the alias of the page number', () => {
    const parameters = parametersOf(documentOf(products()), '/products/paged', 'get')
    expect(parameters.get('pageSize')?.schema).to.deep.equal({ type: 'integer', minimum: 1, default: 10 })
    for (const name of ['pageNumber', 'page']) {
      expect(parameters.get(name)?.schema, name).to.deep.equal({ type: 'integer', minimum: 1, default: 1 })
    }
  })

  it('enumerates the operators of a property with their short names, and takes every spelling of them', () => {
    const operators = ['starts with', 'is empty']
    const document = documentOf(
      products({ properties: [property('id', 'int', { operators, operatorAliases: ['eq'] })] })
    )
    const all = parametersOf(document, '/products/paged', 'get').get('filters[id].operator')?.schema
    expect(all).to.deep.equal({ $ref: '#/components/schemas/Operators.int' })
    const schema = inside(document, 'components', 'schemas', 'Operators.int', 'items')
    const [words] = inside(schema, 'anyOf') as Json[]
    expect(followed(document, words)).to.deep.equal({ type: 'string', enum: ['starts with', 'is empty', 'eq'] })
    for (const text of ['starts with', 'startsWith', 'STARTS_WITH', 'starts-with', ' Is  Empty', 'EQ', 'i-s_e mpty']) {
      expect(takes(document, schema, text), text).to.equal(true)
    }
    for (const text of ['', 'starts', 'equals', 'isempty!', 'eq.'])
      expect(takes(document, schema, text), text).to.equal(false)
  })

  it('takes sort columns, directions and fields in any letter case', () => {
    const document = documentOf(products())
    const parameters = parametersOf(document, '/products/paged', 'get')
    const accepts = (name: string, text: string): boolean =>
      takes(document, parameters.get(name)?.schema, text.split(','))
    for (const text of ['price', 'Price', 'PRICE,name', ' id , Name'])
      expect(accepts('sortColumn', text), text).to.equal(true)
    for (const text of ['prices', 'a,b,c,d,e', 'rowVersion', ''])
      expect(accepts('sortColumn', text), text).to.equal(false)
    for (const text of ['DESC', 'asc,Descending', ' desc']) expect(accepts('sortDirection', text), text).to.equal(true)
    expect(accepts('sortDirection', 'down')).to.equal(false)
    for (const text of ['', 'ID, name', 'variants', 'rowversion']) expect(accepts('fields', text), text).to.equal(true)
    expect(accepts('fields', 'costPrice')).to.equal(false)
  })

  it('takes any request id, and the entity tags and keys that the service reads', () => {
    const document = documentOf(products())
    const parameters = parametersOf(document, '/products/{id}', 'put')
    const accepts = (name: string, text: string): boolean => takes(document, parameters.get(name)?.schema, text)
    for (const text of ['', 'a b', 'ü', 'x'.repeat(300)]) expect(accepts('X-Request-Id', text), text).to.equal(true)
    for (const text of ['W/"AQIDBAUGBwg="', '"AQID"', 'W/"AQIDBAUGBwg=", "AQID"', ',"AQID",', ' "AQID" '])
      expect(accepts('If-Match', text), text).to.equal(true)
    for (const text of ['', '*', 'w/"AQID"', 'AQID', '"AQI"', '""', '"AQID","x"', '"AQID" "AQID"', '"AQID",*'])
      expect(accepts('If-Match', text), text).to.equal(false)
    for (const text of ['', 'a', '"a"', '"\\""', 'x'.repeat(255)])
      expect(accepts('Idempotency-Key', text), text).to.equal(true)
    for (const text of ['a b', 'ü', '"', '""', '"a', '"\\a"', 'x'.repeat(256)])
      expect(accepts('Idempotency-Key', text), text).to.equal(false)
  })

  it('takes dates and times with any offset and with none', () => {
    const set = { setOnCreate: true, setOnUpdate: true }
    const document = documentOf(products({ properties: [property('at', 'dateTime', { fractionDigits: 3, ...set })] }))
    const accepts = (at: unknown): boolean =>
      takes(document, inside(document, 'components', 'schemas', 'products.update'), { at })
    for (const at of [
      '2026-01-31T08:00:00',
      '2026-01-31T08:00:00Z',
      '2026-01-31t08:00:00.123000z',
      '2026-01-31T08:00:00.5+05:45'
    ]) {
      expect(accepts(at), at).to.equal(true)
    }
    for (const at of [
      '2026-01-31',
      '2026-01-31 08:00:00',
      '2026-01-31T24:00:00',
      '2026-01-31T08:00:00.1234',
      5,
      null
    ]) {
      expect(accepts(at), String(at)).to.equal(false)
    }
  })

  it('documents filters of filterable properties alone', () => {
    const hidden = products({ properties: [property('id', 'int'), property('note', 'string', { filterable: false })] })
    const names = [...parametersOf(documentOf(hidden), '/products/paged', 'get').keys()]
    const filters = names.filter((name) => name.startsWith('filters'))
    expect(filters).to.deep.equal(['filters[id].operator', 'filters[id].value'])
  })

  it('asks for a token unless reads are public', () => {
    const security = (publicReads: boolean): unknown =>
      inside(documentOf(products({ publicReads })), 'paths', '/products', 'get', 'security')
    expect(security(true)).to.deep.equal([{}, { bearer: [] }])
    expect(security(false)).to.deep.equal([{ bearer: [] }])
  })

  it('has the methods that a resource serves and no others', () => {
    const methods = (path: string, ...operations: string[]): string[] =>
      Object.keys(inside(documentOf(products({ operations, actions: [] })), 'paths', path) ?? {})
    expect(methods('/products', 'list', 'create')).to.deep.equal(['get', 'post'])
    expect(methods('/products', 'create')).to.deep.equal(['post'])
    expect(methods('/products/{id}', 'get', 'update', 'delete')).to.deep.equal(['get', 'put', 'patch', 'delete'])
    expect(methods('/products/{id}', 'delete')).to.deep.equal(['delete'])
  })

  it('requires If-Match of every PUT and PATCH, and a token of every write', () => {
    const document = documentOf(products())
    for (const [path, item] of Object.entries(resourcePaths(document))) {
      for (const [method, operation] of Object.entries(item)) {
        if (method === 'get') continue
        expect(operation['security'], path).to.deep.equal([{ bearer: [] }])
        const parameters = parametersOf(document, path, method)
        const guarded = ['put', 'patch'].includes(method)
        expect(parameters.get('If-Match')?.required, `${method} ${path}`).to.equal(
          method === 'post' ? undefined : guarded
        )
        expect(parameters.has('Idempotency-Key'), `${method} ${path}`).to.equal(method !== 'delete')
        const statuses = Object.keys(operation['responses'] as object)
        expect(statuses, path).to.include.members(['400', '401', '403', 'default'])
        if (guarded) {
          expect(statuses, path).to.include.members(['200', '404', '409', '412', '413', '415', '422', '428'])
        }
      }
    }
  })

  it('takes of a client what it may set, and no row version', () => {
    const resource = products({ createdChildren: ['variants'] })
    const schemas = inside(documentOf(resource), 'components', 'schemas')
    expect(inside(schemas, 'products.create', 'required')).to.deep.equal(['name'])
    expect(inside(schemas, 'products.create', 'properties')).to.have.all.keys('name', 'price', 'barcode', 'variants')
    expect(inside(schemas, 'products.create', 'properties', 'variants', 'items', 'properties')).to.have.all.keys(
      'stock'
    )
    const updated = inside(schemas, 'products.update')
    const { required: _required, ...patched } = updated as Json
    expect(inside(schemas, 'products.patch')).to.deep.equal(patched)
    expect(updated).to.deep.equal({
      type: 'object',
      required: ['name', 'price'],
      properties: {
        name: { type: 'string', maxLength: 200 },
        price: {
          type: ['string', 'number'],
          pattern: '^-?0*[0-9]{1,8}(?:\\.[0-9]{1,2})?$',
          exclusiveMinimum: -100_000_000,
          exclusiveMaximum: 100_000_000,
          description: 'At most 10 digits, 2 of them after the point. A number of up to 15 digits is taken too.'
        },
        barcode: {
          type: ['string', 'integer', 'null'],
          pattern: '^-?0*[0-9]{1,19}$',
          minimum: -9007199254740991,
          maximum: 9007199254740991,
          description: 'A string of digits; a number within ±(2^53−1) is taken too.'
        }
      }
    })
  })

  it('states the bounds of numbers and texts wherever they are written, and in words where they are read', () => {
    const bounded = [
      property('quantity', 'int', { minimum: '1', maximum: '1000', setOnCreate: true, setOnUpdate: true }),
      property('onHand', 'int', { minimum: '0', nullable: true, setOnCreate: true, setOnUpdate: true }),
      property('code', 'string', { minLength: 1, maxLength: 64, setOnCreate: true, setOnUpdate: true })
    ]
    const navigations = [
      {
        name: 'lines',
        kind: 'NAVIGATION_KIND_CHILDREN' as const,
        resource: '',
        properties: bounded,
        navigations: [],
        references: [],
        via: [],
        writeOnly: []
      }
    ]
    const actions = [action('move', { input: bounded })]
    const resource = products({ properties: bounded, navigations, actions, createdChildren: ['lines'] })
    const schemas = inside(documentOf(resource), 'components', 'schemas')
    for (const name of ['products', 'products.lines']) {
      expect(inside(schemas, name, 'properties'), name).to.deep.include({
        quantity: {
          type: 'integer',
          format: 'int32',
          minimum: -2_147_483_648,
          maximum: 2_147_483_647,
          description: 'Writes take from 1 to 1000.'
        },
        onHand: {
          type: ['integer', 'null'],
          format: 'int32',
          minimum: -2_147_483_648,
          maximum: 2_147_483_647,
          description: 'Writes take at least 0.'
        },
        code: { type: 'string', maxLength: 64, description: 'Writes take at least 1 character.' }
      })
    }
    for (const steps of [
      ['products.create'],
      ['products.create', 'properties', 'lines', 'items'],
      ['products.update'],
      ['products.move.input']
    ]) {
      expect(inside(schemas, ...steps, 'properties'), steps.join(' ')).to.deep.include({
        quantity: { type: 'integer', format: 'int32', minimum: 1, maximum: 1000 },
        onHand: { type: ['integer', 'null'], format: 'int32', minimum: 0, maximum: 2_147_483_647 },
        code: { type: 'string', minLength: 1, maxLength: 64 }
      })
    }
  })

  it('states the bounds of numbers that travel as texts in words, and for those sent as numbers', () => {
    const set = { setOnCreate: true, setOnUpdate: true }
    const price = property('price', 'decimal', { precision: 10, scale: 2, minimum: '0', ...set })
    const change = property('change', 'decimal', { precision: 4, scale: 1, minimum: '-9.5', maximum: '9.5', ...set })
    const serial = property('serial', 'long', { minimum: '1', ...set })
    const schemas = inside(documentOf(products({ properties: [price, change, serial] })), 'components', 'schemas')
    expect(inside(schemas, 'products.update', 'properties')).to.deep.equal({
      price: {
        type: ['string', 'number'],
        pattern: '^(?:-(?=[0.]+$))?0*[0-9]{1,8}(?:\\.[0-9]{1,2})?$',
        exclusiveMaximum: 100_000_000,
        minimum: 0,
        description:
          'At least 0. At most 10 digits, 2 of them after the point. A number of up to 15 digits is taken too.'
      },
      change: {
        type: ['string', 'number'],
        pattern: '^-?0*[0-9]{1,3}(?:\\.[0-9]{1,1})?$',
        minimum: -9.5,
        maximum: 9.5,
        description:
          'From -9.5 to 9.5. At most 4 digits, 1 of them after the point. A number of up to 15 digits is taken too.'
      },
      serial: {
        type: ['string', 'integer'],
        pattern: '^(?:-(?=[0.]+$))?0*[0-9]{1,19}$',
        minimum: 1,
        maximum: 9007199254740991,
        description: 'At least 1. A string of digits; a number within ±(2^53−1) is taken too.'
      }
    })
    expect(inside(schemas, 'products', 'properties')).to.deep.include({
      price: {
        type: 'string',
        pattern: '^-?[0-9]{1,8}\\.[0-9]{2}$',
        description: 'At least 0. Exact digits, scale kept.'
      },
      serial: {
        type: 'string',
        pattern: '^-?[0-9]{1,19}$',
        description: 'At least 1. A 64-bit integer in exact digits.'
      }
    })
  })

  it('takes any id of the type in a path: one out of bounds is only not found', () => {
    const id = property('id', 'int', { minimum: '1' })
    const found = parametersOf(documentOf(products({ properties: [id] })), '/products/{id}', 'get').get('id')
    expect(found?.schema).to.include({ minimum: -2_147_483_648, maximum: 2_147_483_647 })
  })

  it('takes the input of an action, the version of its child included', () => {
    const input = [property('variantId', 'int'), property('reason', 'string', { nullable: true })]
    const actions = [action('sell', { input, childPrecondition: 'variantRowVersion' }), action('stop')]
    const document = documentOf(products({ actions }))
    const schemas = inside(document, 'components', 'schemas')
    expect(inside(schemas, 'products.sell.input', 'required')).to.deep.equal(['variantId', 'variantRowVersion'])
    expect(inside(schemas, 'products.sell.input', 'properties')).to.have.all.keys(
      'variantId',
      'reason',
      'variantRowVersion'
    )
    expect(inside(document, 'paths', '/products/{id}/sell', 'put', 'requestBody', 'required')).to.equal(true)
    expect(inside(document, 'paths', '/products/{id}/stop', 'put', 'requestBody', 'required')).to.equal(false)
  })

  it('says when a row can be deleted, and that any delete may be 422', () => {
    const deleteCondition = 'A delete needs the product to be inactive.'
    const remove = (document: object) => inside(document, 'paths', '/products/{id}', 'delete')
    const some = remove(documentOf(products({ deleteCondition })))
    expect(some).to.have.property('description', deleteCondition)
    expect(some).to.have.nested.property('responses.422')
    // A history or a hook reads the row, and may find a stored value that cannot be read.
    const any = remove(documentOf(products()))
    expect(any)
      .to.have.nested.property('responses.422')
      .that.deep.equals(inside(some, 'responses', '422'))
  })

  it('names each operation differently', () => {
    const text = JSON.stringify(documentOf(products(), products({ name: 'stock-items' })))
    const ids = Array.from(text.matchAll(/"operationId":"([^"]+)"/g), ([, id]) => id)
    expect(new Set(ids).size).to.equal(ids.length)
    expect(ids).to.include.members(['createProducts', 'updateStockItems', 'renameProducts'])
  })

  it('shows the owner parameter where its filter stands, and nowhere else', () => {
    const reads = [customRead('session-ids', { ownerFiltered: true }), customRead('all')]
    const resource = products({ ownerParameter: 'userId', ownerFiltered: ['list', 'delete', 'act'], reads })
    const document = documentOf(resource)
    const filtered = Object.entries(resourcePaths(document)).flatMap(([path, item]) =>
      Object.keys(item).flatMap((method) =>
        parametersOf(document, path, method).has('userId') ? [`${method} ${path}`] : []
      )
    )
    expect(filtered).to.have.members([
      'get /products',
      'get /products/session-ids',
      'delete /products/{id}',
      'put /products/{id}/publish',
      'put /products/{id}/rename'
    ])
    const found = parametersOf(document, '/products', 'get').get('userId')
    expect(found).to.deep.include({ in: 'query', schema: { type: 'integer', format: 'int64' } })
  })

  it('shows the reads of a resource’s own with their items', async () => {
    const from = property('from', 'dateTime', { nullable: true })
    const items = [property('id', 'long'), property('note', 'string', { nullable: true })]
    const document = documentOf(
      products({
        reads: [customRead('session-ids'), customRead('notes', { bareItems: false, items, parameters: [from] })]
      })
    )
    expect((await new Validator().validate(document)).errors ?? []).to.be.empty
    const ids = inside(document, 'paths', '/products/session-ids', 'get')
    expect(ids).to.deep.include({ summary: 'Ids of sessions.', operationId: 'sessionIdsOfProducts' })
    const answer = inside(ids, 'responses', '200')
    expect(inside(answer, 'headers')).to.include.all.keys('X-Row-Limit', 'X-Truncated').and.not.have.any.keys('ETag')
    expect(inside(answer, 'content', 'application/json', 'schema')).to.deep.equal({
      type: 'array',
      items: { type: 'integer', format: 'int32', minimum: -2147483648, maximum: 2147483647 }
    })
    const notes = inside(document, 'paths', '/products/notes', 'get')
    expect(inside(notes, 'responses', '200', 'content', 'application/json', 'schema', 'items')).to.deep.equal({
      type: 'object',
      required: ['id', 'note'],
      properties: {
        id: { type: 'string', pattern: '^-?[0-9]{1,19}$', description: 'A 64-bit integer in exact digits.' },
        note: { type: ['string', 'null'] }
      }
    })
    const [parameter] = inside(notes, 'parameters') as object[]
    expect(parameter).to.deep.include({ name: 'from', in: 'query', required: false })
  })
})

describe('GET /openapi.json and the pages of /docs', () => {
  let gateway: GatewayFixture
  const SECRET = products({ properties: [property('id', 'int'), property('costPrice', 'decimal')] })
  beforeEach(async () => {
    gateway = await startGateway()
    gateway.data.answerDescribeTo = ({ authorization }) => {
      if (authorization === 'Bearer bad') throw new DomainError('auth.invalid-token', 'The access token is bad.')
      return authorization === 'Bearer clerk' ? described([SECRET], { digest: '2' }) : gateway.data.catalogue
    }
  })
  afterEach(() => gateway.close())

  for (const url of ['/openapi.json', '/docs/resources/products']) {
    const get = async (token?: string) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      return await gateway.app.inject({ url, headers })
    }

    it(`show at ${url} what the data service shows the caller's token, whoever asked before`, async () => {
      for (const round of [1, 2]) {
        for (const [token, shown] of [
          ['clerk', true],
          ['other', false],
          [undefined, false]
        ] as const) {
          const answer = await get(token)
          expect(answer.statusCode).to.equal(200)
          expect(answer.headers['vary']).to.equal(
            url === '/openapi.json' ? 'Authorization, Accept-Encoding' : 'Authorization'
          )
          expect(answer.body.includes('costPrice'), `${token ?? 'nobody'}, round ${round}`).to.equal(shown)
        }
      }
    })

    it(`are 401 at ${url} for a bad token, and need no data service without a token`, async () => {
      const refused = await get('bad')
      expect([refused.statusCode, refused.json<{ code: string }>().code]).to.deep.equal([401, 'auth.invalid-token'])
      expect(refused.headers['www-authenticate']).to.contain('error="invalid_token"')
      gateway.data.reachable = false
      expect((await get()).statusCode).to.equal(200)
    })
  }

  it('compress /openapi.json, and are not sent to who has them', async () => {
    const get = async (headers: Readonly<Record<string, string>> = {}) =>
      await gateway.app.inject({ url: '/openapi.json', headers })
    const plain = await get()
    expect(plain.headers).to.not.have.property('content-encoding')
    const etag = String(plain.headers.etag)
    expect(etag).to.match(/^W\/"[\w+/]+={0,2}"$/)
    for (const [accepted, coding, decoded] of [
      ['gzip, br', 'br', brotliDecompressSync],
      ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync]
    ] as const) {
      const answer = await get({ 'accept-encoding': accepted })
      expect(answer.headers).to.include({ 'content-encoding': coding, etag, vary: 'Authorization, Accept-Encoding' })
      expect(decoded(answer.rawPayload).toString('utf8'), accepted).to.equal(plain.body)
      expect(answer.rawPayload.length).to.be.lessThan(plain.rawPayload.length / 5)
    }
    for (const held of [etag, etag.slice(2), `"x", ${etag}`, '*']) {
      const unchanged = await get({ 'if-none-match': held })
      expect([unchanged.statusCode, unchanged.body, unchanged.headers.etag], held).to.deep.equal([304, '', etag])
    }
    expect((await get({ 'if-none-match': '"x"' })).statusCode).to.equal(200)
    // Another caller's document is another one.
    expect((await get({ 'if-none-match': etag, authorization: 'Bearer clerk' })).statusCode).to.equal(200)
  })

  it('say that creates need a key where they do', async () => {
    const required = async (): Promise<unknown> => {
      const document = (await gateway.app.inject({ url: '/openapi.json' })).json<Json>()
      return parametersOf(document, '/products', 'post').get('Idempotency-Key')?.['required'] ?? false
    }
    expect(await required()).to.equal(false)
    gateway.data.catalogue = described([products()], { digest: '3', keyRequired: true })
    gateway.data.connect()
    while (!gateway.catalogue.current.keyRequired) await new Promise(setImmediate)
    expect(await required()).to.equal(true)
  })

  it('name the API as the settings OPENAPI_* do', async () => {
    const named = await startGateway({
      OPENAPI_TITLE: 'The shop',
      OPENAPI_VERSION: '7.2',
      OPENAPI_LICENSE: 'Apache-2.0',
      OPENAPI_CONTACT: 'The API team <api@example.com>',
      OPENAPI_SERVERS: 'https://api.example.com/, https://eu.example.com/v1'
    })
    const document = (await named.app.inject({ url: '/openapi.json' })).json<Json>()
    await named.close()
    expect(document['info']).to.deep.include({
      title: 'The shop',
      version: '7.2',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      contact: { name: 'The API team', email: 'api@example.com' }
    })
    expect(document['servers']).to.deep.equal([
      { url: 'https://api.example.com' },
      { url: 'https://eu.example.com/v1' }
    ])
  })
})

describe('the query of GET /openapi.json', () => {
  let gateway: GatewayFixture
  beforeEach(async () => {
    gateway = await startGateway()
    gateway.data.catalogue = described([products(), products({ name: 'readings' })], { digest: '2' })
    gateway.data.connect()
    while (gateway.catalogue.current.digest !== '2') await new Promise(setImmediate)
  })
  afterEach(() => gateway.close())

  const get = async (query: string) => await gateway.app.inject({ url: `/openapi.json${query}` })

  it('names the resources whose operations are shown, and the operations of the gateway are left out then', async () => {
    expect(Object.keys((await get('')).json<Json>()['paths'] as Json)).to.include.members(['/auth/login', '/products'])
    const chosen = await get('?resources=readings')
    const document = chosen.json<Json>()
    const paths = Object.keys(document['paths'] as Json)
    expect(paths).to.include('/readings/{id}')
    expect(paths.filter((path) => !path.startsWith('/readings'))).to.deep.equal([])
    expect(document['tags']).to.have.lengthOf(1)
    const { valid, errors } = await new Validator().validate(document)
    expect(valid, JSON.stringify(errors)).to.equal(true)
    const both = await get('?resources=readings,%20products')
    expect(Object.keys(both.json<Json>()['paths'] as Json)).to.include.members(['/products', '/readings'])
    expect((await get('?resources=products&resources=readings')).body).to.equal(both.body)
  })

  it('is 400 for a resource that the caller does not see, and for another word than true and false', async () => {
    for (const [query, parameter] of [
      ['?resources=products,nothing', 'resources'],
      ['?resources=', 'resources'],
      ['?exact=yes', 'exact'],
      ['?exact=true&exact=true', 'exact']
    ] as const) {
      const { statusCode, body } = await get(query)
      const problem = JSON.parse(body) as Json
      expect(statusCode, query).to.equal(400)
      expect(problem).to.include({ code: 'request.malformed' })
      expect(problem['errors'], query).to.have.lengthOf(1).and.have.nested.property('[0].parameter', parameter)
    }
  })

  it('asks by exact for other spellings, rows cut by fields, and what every request and response may have', async () => {
    const at = (document: Json, ...path: string[]) => inside(document, 'paths', '/products', 'get', ...path)
    const row = ['responses', '200', 'content', 'application/json', 'schema', 'items'] as const
    const short = (await get('')).json<Json>()
    expect(at(short, ...row)).to.deep.equal({ $ref: '#/components/schemas/products' })
    expect(inside(short, 'components', 'schemas', 'products', 'required')).to.include('id')
    expect(Object.keys(at(short, 'responses', '200', 'headers') as Json)).to.deep.equal(['X-Row-Limit', 'X-Truncated'])
    expect(Object.keys(at(short, 'responses') as Json)).to.deep.equal(['200', '400', 'default'])
    const exact = (await get('?exact=true')).json<Json>()
    expect(at(exact, ...row))
      .to.have.property('anyOf')
      .with.lengthOf(2)
    expect(at(exact, 'responses', '200', 'headers')).to.include.keys('X-Request-Id', 'RateLimit', 'X-Truncated')
    expect(at(exact, 'responses')).to.include.keys('401', '403', '503')
  })

  it('without exact says once what is the same for all resources', async () => {
    const short = (await get('')).json<Json>()
    const said = String(inside(short, 'info', 'description'))
    const exact = (await get('?exact=true')).json<Json>()
    for (const [path, method] of [
      ['/products/paged', 'get'],
      ['/products/{id}', 'put']
    ] as const) {
      const whole = String(inside(exact, 'paths', path, method, 'description'))
      expect(said, path).to.include(whole)
      expect(whole.length).to.be.greaterThan(String(inside(short, 'paths', path, method, 'description')).length)
    }
    const described = parametersOf(exact, '/products/paged', 'get').get('sortColumn')?.description
    expect(said).to.include(described)
    // A parameter of one name and type is one of all resources, and one of all operations of a path stands beside them.
    const refs = inside(short, 'paths', '/products/paged', 'get', 'parameters')
    expect(refs).to.deep.include({ $ref: '#/components/parameters/name.string.operator' })
    expect(inside(short, 'paths', '/readings/paged', 'get', 'parameters')).to.deep.include.members([
      { $ref: '#/components/parameters/name.string.operator' }
    ])
    const ofRow = inside(short, 'paths', '/products/{id}', 'parameters')
    expect(ofRow).to.deep.equal([{ $ref: '#/components/parameters/id.int' }])
    // What is known of requests is the same in both.
    for (const [path, item] of Object.entries(resourcePaths(exact))) {
      for (const method of Object.keys(item)) {
        const names = (document: Json): string[] =>
          [...parametersOf(document, path, method).values()]
            .filter((one) => one.in !== 'header' && one.name !== 'page')
            .map((one) => `${one.in} ${one.name}`)
            .toSorted()
        expect(names(short), `${method} ${path}`).to.deep.equal(names(exact))
      }
    }
  })

  it('without exact names what it leaves out, and has the reason of a conflict where the conflict is', () => {
    const [exact, short] = [true, false].map((one) =>
      openApiDocument({ resources: [products(EVERY_OPERATION)], exact: one }, 'https://x.example')
    )
    const said = String(inside(short, 'info', 'description'))
    const namesIn = (document: unknown, kind: string): readonly string[] =>
      Object.values(inside(document, 'components', kind) as Json).map((one) => String((one as Json)['name']))
    const headersIn = (document: unknown): readonly string[] =>
      Object.keys(inside(document, 'components', 'headers') as Json)
    const left = [
      ...headersIn(exact).filter((name) => !headersIn(short).includes(name)),
      ...namesIn(exact, 'parameters').filter((name) => !namesIn(short, 'parameters').includes(name))
    ]
    expect(left).to.include.members(['api-version', 'traceparent', 'Preference-Applied', 'Accept-Patch', 'page'])
    // Those of limits, CORS and safety are said in words.
    const inGroups =
      /^(?:RateLimit|Access-Control|Timing-Allow|X-Content|Content-Security|Referrer|Cross-Origin|Strict)/
    for (const name of left.filter((one) => !inGroups.test(one))) expect(said).to.include(`\`${name}\``)
    expect(inside(short, 'components', 'responses', 'Problem', 'headers')).to.include.keys('Conflict-Reason')
    expect(inside(exact, 'components', 'responses', 'Problem', 'headers')).to.not.have.any.keys('Conflict-Reason')
  })

  it('without exact says no more for properties that name a row', () => {
    const [plain, unique] = [false, true].map((isUnique) => {
      const properties = ['id', 'sku', 'barcode'].map((name) => property(name, 'string', { unique: isUnique }))
      const resource = products({ properties, updatesByProperty: true })
      return openApiDocument({ resources: [resource] }, 'https://x.example')
    })
    expect(resourcePaths(unique as Json)).to.include.keys('/products/by/sku/{sku}', '/products/by/barcode/{barcode}')
    expect(inside(unique, 'info', 'description')).to.equal(inside(plain, 'info', 'description'))
    const { description } = inside(unique, 'paths', '/products/by/sku/{sku}', 'get') as Json
    expect(description).to.equal('The answer of the read by id. Text is compared as the unique index compares it.')
  })

  it('without exact is under 5.4 MB for 300 resources with every operation and two actions', () => {
    const resources = Array.from({ length: 300 }, (_, at) => products({ name: `things-${at}`, ...EVERY_OPERATION }))
    const document = openApiDocument({ resources }, 'https://x.example')
    const things = Object.keys(resourcePaths(document)).filter((path) => path.startsWith('/things-'))
    expect(things).to.have.lengthOf(300 * 11)
    expect(Buffer.byteLength(JSON.stringify(document))).to.be.lessThan(5_400_000)
  })
})

const EVERY_OPERATION: Pick<Resource, 'operations'> = {
  operations: 'list paged export lookup get history create batch import update updateBatch delete deleteBatch'.split(
    ' '
  )
}

describe('components that operations share', () => {
  it('have a name each, with a number where another one has it', () => {
    const components = new Components([])
    const nameOf = (name: string, type: string): string =>
      components.share('schemas', name, { type }).$ref.replace('#/components/schemas/', '')
    expect(['a', 'b', 'a', 'c', 'b'].map((type) => nameOf('Value', type))).to.deep.equal([
      'Value',
      'Value2',
      'Value',
      'Value3',
      'Value2'
    ])
    expect(nameOf('Value2', 'd')).to.equal('Value22')
    expect([...(components.made['schemas'] ?? [])]).to.deep.equal([
      ['Value', '{"type":"a"}'],
      ['Value2', '{"type":"b"}'],
      ['Value3', '{"type":"c"}'],
      ['Value22', '{"type":"d"}']
    ])
  })
})
