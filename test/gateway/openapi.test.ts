import { Validator } from '@seriousme/openapi-schema-validator'
import { expect } from 'chai'
import { openApiDocument } from '../../gateway/openapi/document.js'
import { products, property } from './fake-data-client.js'

/** The document as JSON brings it over, and a look at what is in it. */
function documentOf(...resources: Parameters<typeof openApiDocument>[0]): Record<string, unknown> {
  return JSON.parse(JSON.stringify(openApiDocument(resources, 'https://x.example/api'))) as Record<string, unknown>
}

function inside(document: unknown, ...steps: readonly string[]): unknown {
  return steps.reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], document)
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator()
    const { valid, errors } = await validator.validate(documentOf(products(), products({ name: 'stock-items' })))
    expect(valid, JSON.stringify(errors)).to.equal(true)
    expect(validator.version).to.equal('3.1')
  })

  it('is found wrong when it is', async () => {
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
    expect(documentOf(products())['paths']).to.have.all.keys(
      '/products',
      '/products/paged',
      '/products/export',
      '/products/lookup',
      '/products/{id}'
    )
    expect(documentOf(products({ operations: ['lookup'] }))['paths']).to.have.all.keys('/products/lookup')
  })

  it('tells each type as it is on the wire', () => {
    const properties = inside(documentOf(products()), 'components', 'schemas', 'products', 'properties')
    expect(properties).to.deep.include({
      name: { type: 'string', maxLength: 200 },
      price: { type: 'string', pattern: '^-?[0-9]{1,8}\\.[0-9]{2}$', description: 'Exact digits, scale kept.' },
      barcode: {
        type: ['string', 'null'],
        pattern: '^-?[0-9]{1,19}$',
        description: 'A 64-bit integer in exact digits.'
      },
      isActive: { type: 'boolean' }
    })
    expect(inside(properties, 'variants', 'items')).to.deep.equal({
      $ref: '#/components/schemas/products.variants'
    })
  })

  it('documents filters of filterable properties alone', () => {
    const hidden = products({ properties: [property('id', 'int'), property('note', 'string', { filterable: false })] })
    const parameters = inside(documentOf(hidden), 'paths', '/products/paged', 'get', 'parameters') as { name: string }[]
    const filters = parameters.map(({ name }) => name).filter((name) => name.startsWith('filters'))
    expect(filters).to.deep.equal(['filters[id].operator', 'filters[id].value'])
  })

  it('asks for a token unless reads are public', () => {
    const security = (publicReads: boolean): unknown =>
      inside(documentOf(products({ publicReads })), 'paths', '/products', 'get', 'security')
    expect(security(true)).to.deep.equal([{}, { bearer: [] }])
    expect(security(false)).to.deep.equal([{ bearer: [] }])
  })
})
