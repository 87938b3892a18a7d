import { createHash } from 'node:crypto'
import { expect } from 'chai'
import type { Access, Property, Resource } from '../../../gateway/data/data-client.js'
import { ERROR_CODES } from '../../../shared/errors.js'
import { action, customRead, described, products, property } from '../fake-data-client.js'
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

/** The text of escaped HTML. */
function plain(html: string): string {
  return html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}

describe('GET /docs', () => {
  it('leads to the page of each resource, the problems, the document for programs and the page to try it out', async () => {
    const html = await page('/docs', products(), products({ name: 'stock-items' }))
    for (const path of [
      '/docs/resources/products',
      '/docs/resources/stock-items',
      '/docs/search',
      '/docs/try',
      '/problems',
      '/openapi.json'
    ]) {
      expect(html, path).to.contain(`href="${BASE}${path}"`)
    }
    // Links to sections of the page that once held everything still find their resource.
    expect(html).to.contain('id="stock-items"').and.contain('id="filters"').and.contain('id="pages"')
  })

  it('says who else answers lists and rows, once and only where there is a renderer', async () => {
    const rendered = await pageWith(
      { RENDERER_URL: 'http://127.0.0.1:9' },
      '/docs',
      products(),
      products({ name: 'b' })
    )
    expect(rendered.match(/answer programs in JSON and browsers with a page/g)).to.have.length(1)
    expect(await page('/docs', products())).to.not.contain('browsers with a page')
  })

  it('says how pages lead on, and which operators a type has', async () => {
    const more = { operators: ['is after'], operatorAliases: ['gt'] }
    const html = await page('/docs', products({ properties: [property('soldAt', 'dateTime', more)] }))
    expect(html).to.contain('X-Next-Cursor').and.contain('after=')
    expect(html).to.contain('<td><code>dateTime</code></td><td>is after</td><td><code>gt</code></td>')
  })

  it('takes texts of the catalogue for texts', async () => {
    const html = await page('/docs', products({ description: '<b onclick=x></td>' }))
    expect(html).to.contain('&lt;b').and.not.contain('<b onclick')
  })

  it('allows nothing but its own styles to be used', async () => {
    const gateway = await startGateway({}, [products()])
    for (const path of ['/docs', '/docs/resources/products', '/problems']) {
      const { headers, body } = await gateway.app.inject(path)
      const style = /<style>([^<]*)<\/style>/.exec(body)?.[1] ?? ''
      const hash = createHash('sha256').update(style).digest('base64')
      expect(headers['content-security-policy'], path).to.equal(
        `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
      )
      expect(body, path).to.not.match(/ style=/)
    }
    await gateway.close()
  })
})

describe('GET /docs/resources/{resource}', () => {
  const PATH = '/docs/resources/products'

  it('leads to the reads that need nothing more in their path', async () => {
    const html = await page(PATH, products())
    for (const path of ['/products/paged', '/products/export', '/docs', '/docs/search', '/docs/try', '/problems']) {
      expect(html, path).to.contain(`href="${BASE}${path}"`)
    }
    expect(html).to.contain(`<h1><a href="${BASE}/products/paged">products</a></h1>`)
  })

  it('leads to all resources, and marks the one that it is about', async () => {
    const html = await page(PATH, products(), products({ name: 'stock-items' }))
    const [navigation = ''] = /<nav id="all"[\s\S]*<\/nav>/.exec(html) ?? []
    expect(navigation).to.contain(`<a href="${BASE}/docs/resources/products" aria-current="page">products</a>`)
    expect(navigation).to.contain(`<a href="${BASE}/docs/resources/stock-items">stock-items</a>`)
    expect(html.match(/aria-current=/g)).to.have.length(1)
  })

  it('is where a path without the segment in between leads, for what can be a name', async () => {
    const gateway = await startGateway({ PUBLIC_BASE_URL: BASE }, [products()])
    for (const [name, to] of [
      ['products', 'products'],
      ['nope', 'nope']
    ]) {
      const { statusCode, headers } = await gateway.app.inject(`/api/docs/${name}`)
      expect([statusCode, headers.location, headers['cache-control']], name).to.deep.equal([
        308,
        `${BASE}/docs/resources/${to}`,
        'no-store'
      ])
    }
    for (const name of ['a%2Fb%0d%0aX-Y:%20z', 'a'.repeat(101)]) {
      expect((await gateway.app.inject(`/api/docs/${name}`)).statusCode, name).to.equal(404)
    }
    // What is left of the address of a page leads to all pages.
    for (const path of ['/docs/', '/docs/resources']) {
      const { statusCode, headers } = await gateway.app.inject(`/api${path}`)
      expect([statusCode, headers.location], path).to.deep.equal([308, `${BASE}/docs`])
    }
    await gateway.close()
  })

  it('is 404 for a resource that the caller does not know', async () => {
    const gateway = await startGateway({}, [products()])
    for (const name of ['nope', 'Products', '__proto__']) {
      const answer = await gateway.app.inject(`/docs/resources/${name}`)
      expect(answer.json(), name).to.include({ status: 404, code: 'route.not-found' })
    }
    await gateway.close()
  })

  it('shows the list and leads nobody to it: a renderer may answer there', async () => {
    const html = await page(PATH, products({ operations: ['list', 'get'] }))
    expect(html).to.contain('<td><code>GET /products</code></td>').and.contain('<h1>products</h1>')
    expect(html).to.not.contain(`href="${BASE}/products"`)
  })

  it('shows the routes that are served and no others', async () => {
    const html = await page(PATH, products({ operations: ['list', 'get'] }))
    expect(html).to.contain('GET /products/{id}').and.not.contain('POST /products').and.not.contain('/paged?')
  })

  it('shows fields with their types and operators, navigations and actions', async () => {
    const sell = action('sell', { description: 'Sells it.', input: [property('amount', 'int')] })
    const more = { operators: ['is after', 'is empty'], operatorAliases: ['gt'] }
    const at = property('soldAt', 'dateTime', { nullable: true, ...more })
    const html = await page(PATH, products({ actions: [sell], properties: [...products().properties, at] }))
    expect(html).to.contain('decimal(10,2)').and.contain('dateTime or null').and.contain('create (required)')
    expect(html).to.contain('<td><code>soldAt</code></td><td>is after, is empty</td><td><code>gt</code></td>')
    expect(html).to.contain('includeFKs=true').and.contain('includeChildren=true')
    expect(html).to.contain(`one of <a href="${BASE}/docs/resources/products">products</a>`)
    expect(html).to.contain('Sells it.').and.contain('<code>amount</code> int')
  })

  it('names dimensions and measures of totals, nested includes, and dry runs', async () => {
    const totals = {
      dimensions: [property('isActive', 'bool'), property('releasedAt.month', 'string', { nullable: true })],
      measures: [
        property('count', 'int'),
        property('sum.price', 'decimal', { precision: 20, scale: 2, nullable: true })
      ]
    }
    const [category] = products().navigations
    if (category === undefined) throw new TypeError('There is no navigation')
    const categories = products({
      name: 'categories',
      navigations: [{ ...category, name: 'parent', resource: 'categories' }]
    })
    const operations = [...products().operations, 'totals']
    const navigations = [{ ...category, resource: 'categories' }, ...products().navigations.slice(1)]
    const html = await page(PATH, products({ operations, totals, navigations }), categories)
    expect(html).to.contain('<td><code>by</code></td><td><code>releasedAt.month</code></td><td>string or null</td>')
    expect(html).to.contain(
      '<td><code>measures</code></td><td><code>sum.price</code></td><td>decimal(20,2) or null</td>'
    )
    expect(html).to.contain(
      '<code>includeFKs=true</code><br><code>include=category</code><br><code>include=category.parent</code>'
    )
    expect(html).to.contain('<code>include=variants</code>').and.contain('<code>Prefer: tx=rollback</code>')
    const read = await page(PATH, products({ operations: ['list', 'get'], actions: [], navigations }))
    expect(read).to.not.contain('tx=rollback').and.not.contain('<h2>Totals</h2>')
    // A resource that the caller does not see has no names here.
    expect(read).to.contain('include=category').and.not.contain('include=category.parent')
  })

  it('says which fields are searched', async () => {
    const searched = property('name', 'string', { searchable: true, filterable: true, sortable: false })
    const properties = [property('id', 'int'), searched, property('other', 'string')]
    expect((await page(PATH, products({ properties }))).match(/filter, search/g)).to.have.length(1)
  })

  it('says who may read, write and act', async () => {
    const own = { kind: 'ACCESS_KIND_OWN_ROWS', permission: '', property: 'customerId', parts: [] } satisfies Access
    const managed = {
      kind: 'ACCESS_KIND_PERMISSION',
      permission: 'products:manage',
      property: '',
      parts: []
    } satisfies Access
    const html = await page(
      PATH,
      products({
        readAccess: [
          {
            operations: ['list', 'get'],
            access: { kind: 'ACCESS_KIND_ANY_OF', permission: '', property: '', parts: [own, managed] }
          },
          { operations: ['lookup'], access: { kind: 'ACCESS_KIND_EVERYONE', permission: '', property: '', parts: [] } }
        ],
        writeAccess: managed,
        actions: [action('sell', { permission: 'products:sell' }), action('keep')]
      })
    )
    expect(html).to.contain(
      '<td><code>list</code>, <code>get</code></td><td>owners: the rows whose <code>customerId</code> is their own; ' +
        'all rows with the role that the service names for it, <em>or</em> callers with <code>products:manage</code></td>'
    )
    expect(html).to.contain('<td><code>lookup</code></td><td>everyone, without a token too</td>')
    expect(html).to.contain(
      '<td><code>create</code>, <code>update</code>, <code>delete</code>, <code>actions</code></td><td>callers with <code>products:manage</code></td>'
    )
    expect(html).to.contain('<td>writers with <code>products:sell</code></td>').and.contain('<td>writers</td>')
  })

  it('says no rule where a data service of an earlier version tells none', async () => {
    expect(await page(PATH, products())).to.not.contain('Who may what')
  })

  it('shows the states that actions lead between, as a picture and in words', async () => {
    const state = (...values: string[]) => [{ property: 'status', values: values.map((one) => JSON.stringify(one)) }]
    const actions = [
      action('pay', { states: state('placed'), becomes: state('paid') }),
      action('cancel', { states: state('placed', 'paid'), becomes: state('<cancelled>') }),
      action('revive', { states: state('<cancelled>'), becomes: state('placed') }),
      action('receive', { states: state('paid'), becomes: state('paid', 'received') }),
      action('rename')
    ]
    const html = await page(PATH, products({ actions }))
    const [svg = ''] = /<svg[\s\S]*<\/svg>/.exec(html) ?? []
    expect(html.match(/<svg/g)).to.have.length(1)
    expect(svg).to.contain(
      '<desc id="states-products-status-text">pay leads from placed to paid. cancel leads from placed to &lt;cancelled&gt;. ' +
        'cancel leads from paid to &lt;cancelled&gt;. revive leads from &lt;cancelled&gt; to placed. ' +
        'receive leads from paid to paid. receive leads from paid to received.</desc>'
    )
    for (const word of ['placed', 'paid', '&lt;cancelled&gt;', 'received']) {
      expect(svg.split(`>${word}</text>`), word).to.have.length(2)
    }
    expect(svg.match(/marker-end/g)).to.have.length(6)
    expect(svg).to.not.match(/NaN|Infinity|undefined/)
    expect(html).to.contain('<td>status placed or paid</td><td>status &lt;cancelled&gt;</td>')
    expect(html).to.contain('<td>any state</td><td>not said</td>')
  })

  it('shows no picture where no action leads to another state', async () => {
    expect(await page(PATH, products())).to.not.contain('<svg')
  })

  it('says which permissions a field takes', async () => {
    const margin = property('margin', 'decimal', { readableBy: ['products:manage', 'prices:manage'] })
    const html = await page(PATH, products({ properties: [...products().properties, margin] }))
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
    const html = await page(PATH, products({ properties: fields, actions: [move] }))
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

  it('shows a read, a create and a change by curl, fetch and the typed client, with the own token where one is needed', async () => {
    const example = (name: string, value: unknown, more: Partial<Property> = {}) =>
      property(name, 'string', { example: JSON.stringify(value), ...more })
    const set = { setOnCreate: true, setOnUpdate: true, operators: ['contains'], sortable: true }
    const properties = [
      property('id', 'int', { example: '7' }),
      example('name', `it's <b>`, set),
      example('seal', 'x', { setOnCreate: true, preset: true })
    ]
    const examplesOf = async (changed: Partial<Resource>): Promise<string[]> => {
      const html = await page(PATH, products({ properties, navigations: [], label: 'name', ...changed }))
      return Array.from(html.matchAll(/<pre tabindex="0"><code>([^<]*)<\/code>/g), ([, text = '']) => plain(text))
    }
    const open = await examplesOf({})
    expect(open).to.have.length(9)
    const query =
      'filters[name].operator=contains&filters[name].value=a&sortColumn=name&sortDirection=desc&pageSize=5&fields=id,name'
    expect(open[0]).to.equal(`curl -gi '${BASE}/products/paged?${query}'`)
    expect(open[1]).to.contain(`await fetch('${BASE}/products/paged?${query}')`)
    expect(open[2])
      .to.contain(`createClient<Application>({ baseUrl: '${BASE}' })`)
      .and.contain("resource('products').page({")
    expect(open[3]).to.contain(`-H "Authorization: Bearer $TOKEN"`).and.contain(`-d '{"name":"it'\\''s <b>"}'`)
    expect(open[4]).to.contain('authorization: `Bearer ${process.env.TOKEN}`').and.contain(`{ name: "it's <b>" }`)
    expect(open[5]).to.contain('token: () => process.env.TOKEN').and.contain(`create({ name: "it's <b>" })`)
    expect(open[6]).to.contain(`-X PATCH '${BASE}/products/7'`).and.contain('If-Match: $ETAG')
    expect(open[8]).to.contain('rows.get(7)').and.contain(`rows.patch(row, { name: "it's <b>" })`)

    const [read = '', readByFetch, readByClient] = await examplesOf({ publicReads: false, operations: ['list'] })
    expect(read).to.equal(`curl -gi '${BASE}/products' -H "Authorization: Bearer $TOKEN"`)
    expect(readByFetch).to.contain('process.env.TOKEN')
    expect(readByClient).to.contain("resource('products').list()").and.contain('process.env.TOKEN')
    expect(await examplesOf({ operations: ['get', 'delete'] })).to.deep.equal([])
  })

  it('shows reads of a resource’s own and where an owner is to be named', async () => {
    const reads = [customRead('session-ids', { ownerFiltered: true })]
    const html = await page(PATH, products({ ownerParameter: 'userId', ownerFiltered: ['paged', 'act'], reads }))
    expect(html).to.contain(`href="${BASE}/products/session-ids"`).and.contain('Ids of sessions.')
    expect(html).to.match(
      /<code>\?userId=…<\/code> names .* on <code>paged<\/code>, every action, <code>session-ids<\/code>\./
    )
    expect(html).to.match(/\/products\/paged\?[^']*userId=1&amp;/)
    expect(await page(PATH, products())).to.not.contain('userId')
  })
})

describe('GET /docs/search', () => {
  it('holds its script itself, and allows nothing but that and the styles', async () => {
    const gateway = await startGateway({}, [products()])
    const { statusCode, headers, body } = await gateway.app.inject('/docs/search')
    await gateway.close()
    const hash = (text = ''): string => createHash('sha256').update(text).digest('base64')
    const [, script] = /<script type="module">([^]*?)<\/script>/.exec(body) ?? []
    const [, style] = /<style>([^<]*)<\/style>/.exec(body) ?? []
    expect(statusCode).to.equal(200)
    expect(script).to.contain('addEventListener').and.not.contain('sourceMappingURL')
    expect(headers['content-security-policy']).to.equal(
      `default-src 'none'; script-src 'sha256-${hash(script)}'; style-src 'sha256-${hash(style)}'; ` +
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    expect(body.match(/<script/g)).to.have.length(1)
    expect(body).to.not.match(/ style=|\son\w+=|\ssrc=/)
  })

  it('lists resources with the names of all that they have, without a script too', async () => {
    const gateway = await startGateway({ PUBLIC_BASE_URL: BASE }, [
      products({ description: '<i>', writeOnly: [property('seal', 'string', { writeOnly: true })] }),
      products({ name: 'stock-items' })
    ])
    const { body } = await gateway.app.inject('/api/docs/search')
    await gateway.close()
    const [entry = ''] = /<li><a href="[^"]*\/docs\/resources\/products">[^]*?<\/li>/.exec(body) ?? []
    expect(entry).to.contain('&lt;i&gt;')
    for (const name of ['price', 'seal', 'variants', 'publish']) expect(entry).to.contain(`<code>${name}</code>`)
    expect(body).to.contain(`href="${BASE}/docs/resources/stock-items"`)
  })
})

describe('the documents of a resource with write-only columns', () => {
  const PAGE = '/docs/resources/products'

  it('name these for callers who may send a body, whoever asked before, and for everybody with DOCS_PUBLIC', async () => {
    const secret = (name: string) => property(name, 'string', { writeOnly: true, setOnCreate: true })
    const navigations = products().navigations.map((one) => ({ ...one, writeOnly: [secret('chip')] }))
    const resource = products({ writeOnly: [secret('seal')], navigations, createdChildren: ['variants'] })
    for (const isPublic of [false, true]) {
      const gateway = await startGateway({ ADMIN_UI: 'true', DOCS_PUBLIC: String(isPublic) })
      try {
        for (const names of [['list', 'delete', 'publish'], ['list', 'create'], ['list', 'update'], ['list']]) {
          const isShown = isPublic || names.includes('create') || names.includes('update')
          gateway.data.answerDescribeTo = () => described([resource], { allowed: [{ resource: 'products', names }] })
          for (const url of ['/openapi.json', PAGE, '/admin/catalogue.json']) {
            const { body } = await gateway.app.inject({ url, headers: { authorization: 'Bearer x' } })
            expect(body.includes('seal'), `${url} with ${names.join()}`).to.equal(isShown)
            if (url !== PAGE) expect(body.includes('chip'), `${url} with ${names.join()}`).to.equal(isShown)
          }
        }
      } finally {
        await gateway.close()
      }
    }
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
