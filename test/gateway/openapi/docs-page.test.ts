import { expect } from 'chai'
import type { Resource } from '../../../gateway/data/data-client.js'
import { ERROR_CODES } from '../../../shared/errors.js'
import { action, customRead, products, property } from '../fake-data-client.js'
import { startGateway } from '../gateway-fixture.js'

const BASE = 'https://shop.example/api'

async function page(path: string, ...resources: Resource[]): Promise<string> {
  return pageWith({}, path, ...resources)
}

async function pageWith(
  settings: Readonly<Record<string, string>>,
  path: string,
  ...resources: Resource[]
): Promise<string> {
  const gateway = await startGateway({ PUBLIC_BASE_URL: BASE, ...settings }, resources)
  try {
    const answer = await gateway.app.inject(`/api${path}`)
    expect(answer.statusCode).to.equal(200)
    expect(answer.headers['content-type']).to.equal('text/html; charset=utf-8')
    // Nothing is to run in these pages.
    expect(answer.body).to.not.match(/<script|<[^>]+\son\w+=|href="javascript:/i)
    return answer.body
  } finally {
    await gateway.close()
  }
}

describe('GET /docs', () => {
  it('leads to the pages of each resource, the problems and the document for programs', async () => {
    const html = await page('/docs', products(), products({ name: 'stock-items' }))
    for (const path of ['/products/paged', '/stock-items/paged', '/products/export', '/problems', '/openapi.json']) {
      expect(html, path).to.contain(`href="${BASE}${path}"`)
    }
    expect(html).to.contain('href="#stock-items"').and.contain('id="stock-items"')
    expect(html).to.contain(`<h2><a href="${BASE}/products/paged">products</a></h2>`)
  })

  it('shows the list and leads nobody to it: a renderer may answer there', async () => {
    const html = await page('/docs', products(), products({ name: 'stock-items', operations: ['list', 'get'] }))
    expect(html).to.contain('<td><code>GET /products</code></td>').and.contain('<h2>stock-items</h2>')
    expect(html).to.not.contain(`href="${BASE}/products"`).and.not.contain(`href="${BASE}/stock-items"`)
  })

  it('says who else answers lists and rows, once and only where there is a renderer', async () => {
    const rendered = await pageWith(
      { RENDERER_URL: 'http://127.0.0.1:9' },
      '/docs',
      products(),
      products({ name: 'b' })
    )
    expect(rendered.match(/answer programs in JSON and browsers with a page/g)).to.have.length(1)
    expect(await page('/docs', products())).to.not.contain('browsers')
  })

  it('says which fields are searched, and how pages lead on', async () => {
    const searched = property('name', 'string', { searchable: true, filterable: true, sortable: false })
    const html = await page(
      '/docs',
      products({ properties: [property('id', 'int'), searched, property('other', 'string')] })
    )
    expect(html.match(/filter, search/g)).to.have.length(1)
    expect(html).to.contain('X-Next-Cursor').and.contain('after=')
  })

  it('shows the routes that are served and no others', async () => {
    const html = await page('/docs', products({ operations: ['list', 'get'] }))
    expect(html).to.contain('GET /products/{id}').and.not.contain('POST /products').and.not.contain('/paged?')
  })

  it('shows fields with their types, operators with their short names, navigations and actions', async () => {
    const sell = action('sell', { description: 'Sells it.', input: [property('amount', 'int')] })
    const more = { operators: ['is after'], operatorAliases: ['gt'] }
    const at = property('soldAt', 'dateTime', { nullable: true, ...more })
    const html = await page('/docs', products({ actions: [sell], properties: [...products().properties, at] }))
    expect(html).to.contain('decimal(10,2)').and.contain('dateTime or null').and.contain('create (required)')
    expect(html).to.match(/dateTime<\/code><\/td><td>[^<]*is after<\/td><td>.*<code>gt<\/code>/)
    expect(html).to.contain('includeFKs=true').and.contain('includeChildren=true')
    expect(html).to.contain('Sells it.').and.contain('<code>amount</code> int')
  })

  it('says which permissions a field takes', async () => {
    const margin = property('margin', 'decimal', { readableBy: ['products:manage', 'prices:manage'] })
    const html = await page('/docs', products({ properties: [...products().properties, margin] }))
    expect(html).to.contain(', for callers with <code>products:manage</code> and <code>prices:manage</code>')
    expect(html.match(/for callers with/g)).to.have.length(1)
  })

  it('shows the bounds of fields and of what actions take', async () => {
    const fields = [
      property('quantity', 'int', { minimum: '1', maximum: '1000' }),
      property('onHand', 'int', { minimum: '0', nullable: true }),
      property('most', 'long', { maximum: '-1' }),
      property('cost', 'decimal', { precision: 12, scale: 2, minimum: '0' }),
      property('code', 'string', { minLength: 1, maxLength: 64 }),
      property('note', 'string', { maxLength: 2000 }),
      property('plain', 'int')
    ]
    const move = action('move', { input: [property('delta', 'int', { minimum: '-5', maximum: '5' })] })
    const html = await page('/docs', products({ properties: fields, actions: [move] }))
    for (const [name, type] of [
      ['quantity', 'int from 1 to 1000'],
      ['onHand', 'int at least 0 or null'],
      ['most', 'long at most -1'],
      ['cost', 'decimal(12,2) at least 0'],
      ['code', 'string of 1 to 64'],
      ['note', 'string up to 2000'],
      ['plain', 'int']
    ]) {
      expect(html, `${name}, ${type}`).to.contain(`<td><code>${name}</code></td><td>${type}</td>`)
    }
    expect(html).to.contain('<code>delta</code> int from -5 to 5')
  })

  it('shows a call for each, with a token where reads need one', async () => {
    expect(await page('/docs', products())).to.match(/curl -gi &#39;https:\/\/shop.example\/api\/products\/paged\?/)
    expect(await page('/docs', products())).to.not.contain('$TOKEN')
    expect(await page('/docs', products({ publicReads: false }))).to.contain('$TOKEN')
  })

  it('shows reads of a resource’s own and where an owner is to be named', async () => {
    const reads = [customRead('session-ids', { ownerFiltered: true })]
    const html = await page('/docs', products({ ownerParameter: 'userId', ownerFiltered: ['paged', 'act'], reads }))
    expect(html).to.contain(`href="${BASE}/products/session-ids"`).and.contain('Ids of sessions.')
    expect(html).to.match(
      /<code>\?userId=…<\/code> names .* on <code>paged<\/code>, every action, <code>session-ids<\/code>\./
    )
    expect(html).to.match(/\/products\/paged\?[^']*userId=1&amp;/)
    expect(await page('/docs', products())).to.not.contain('userId')
  })

  it('takes texts of the catalogue for texts', async () => {
    const html = await page('/docs', products({ description: '<b onclick=x></td>' }))
    expect(html).to.contain('&lt;b').and.not.contain('<b onclick')
  })
})

describe('GET /problems', () => {
  it('leads to every code', async () => {
    const html = await page('/problems')
    for (const code of ERROR_CODES) expect(html, code).to.contain(`href="${BASE}/problems/${code}"`)
  })

  it('is linked from the page of a code', async () => {
    expect(await page('/problems/conflict')).to.contain(`href="${BASE}/problems"`)
  })

  it('and the docs are named where nothing is', async () => {
    const gateway = await startGateway()
    const { detail } = (await gateway.app.inject('/')).json<{ detail: string }>()
    expect(detail).to.contain('/docs')
    await gateway.close()
  })
})
