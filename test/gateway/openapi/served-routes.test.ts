import { expect } from 'chai'
import type { Operation } from '../../../gateway/data/data-client.js'
import { inside, type Json } from '../../harness/openapi-document.js'
import { action, customRead, described, products } from '../fake-data-client.js'
import { type GatewayFixture, startGateway } from '../gateway-fixture.js'

const OPERATION: Operation = {
  name: 'stock report',
  method: 'GET',
  path: '/reports/{day}',
  description: 'What is in stock.',
  access: 'everyone',
  permission: '',
  pathParameters: [],
  queryParameters: [],
  body: null,
  answer: null,
  status: 204,
  versioned: false
}

/** What the parameters of paths are here. */
const VALUES: Readonly<Record<string, string>> = {
  id: '1',
  code: 'conflict',
  day: 'today',
  resource: 'products',
  hash: '0',
  file: 'try-out.js'
}

describe('the routes that the gateway serves', () => {
  let gateway: GatewayFixture
  let document: unknown
  before(async () => {
    gateway = await startGateway({
      OIDC_ISSUER: 'https://login.example',
      OIDC_CLIENT_ID: 'shop',
      OIDC_CLIENT_SECRET: 'x'.repeat(32),
      ADMIN_UI: 'true'
    })
    gateway.data.catalogue = described(
      [
        products({
          operations: [...products().operations, 'batch', 'import', 'updateBatch', 'deleteBatch'],
          reads: [customRead('session-ids')]
        }),
        products({ name: 'readings', operations: ['list', 'get'], actions: [] }),
        products({ name: 'inbox', operations: ['create', 'delete'], actions: [action('open')] })
      ],
      { digest: '2', operations: [OPERATION] }
    )
    gateway.data.connect()
    while (gateway.catalogue.current.digest !== '2') await new Promise(setImmediate)
    document = (await gateway.app.inject({ url: '/openapi.json' })).json()
  })
  after(() => gateway.close())

  /** `Allow` of the path, without the methods that every path has; undefined where there is nothing. */
  const methodsAt = async (url: string): Promise<string | undefined> => {
    const { statusCode, headers } = await gateway.app.inject({ method: 'OPTIONS', url })
    if (statusCode === 404) return undefined
    expect(statusCode, url).to.equal(204)
    // To every other method `batch` and `import` are ids.
    const others = /\/(?:batch|import)$/.test(url)
      ? ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', ...(url.endsWith('import') ? ['PATCH'] : [])]
      : ['HEAD', 'OPTIONS']
    const methods = String(headers.allow).split(', ')
    return methods.filter((method) => !others.includes(method)).join() || undefined
  }

  it('are those of the OpenAPI document, each with its methods', async () => {
    const documented = documentedPaths(document)
    const routed = new Set(routesOf(gateway.app.printRoutes({ commonPrefix: false })).flatMap(pathsOf))
    const served = new Map<string, string>()
    for (const path of new Set([...documented.keys(), ...routed])) {
      const methods = await methodsAt(path)
      if (methods !== undefined) served.set(path, methods)
    }
    expect(Object.fromEntries(served)).to.deep.equal(Object.fromEntries(documented))
    // None is there only because the document has it.
    expect([...routed]).to.include.members([...served.keys()])
  })

  /** The paths that a route has for this catalogue. */
  function pathsOf(route: string): string[] {
    const { resources } = gateway.data.catalogue
    switch (route) {
      // OPTIONS of anything, and the operations of the application.
      case '*':
      case '/*':
        return ['/reports/today']
      case '/:resource':
        return resources.map(({ name }) => `/${name}`)
      case '/:resource/:id':
        return resources.flatMap(({ name, reads }) =>
          ['1', 'batch', 'import', ...reads.map((read) => read.name)].map((id) => `/${name}/${id}`)
        )
      case '/:resource/:id(^import$)':
        return resources.map(({ name }) => `/${name}/import`)
      case '/:resource/:id/:action':
        return resources.flatMap(({ name, actions }) => [
          ...actions.map((one) => `/${name}/1/${one.name}`),
          `/${name}/batch/delete`
        ])
      default:
        return route.startsWith('/:resource/')
          ? resources.map(({ name }) => route.replace(':resource', name))
          : [route.replace(/:(\w+)/g, (_, name: string) => VALUES[name] ?? name)]
    }
  }
})

/** The methods of each path of the document, in the order of `Allow`. */
function documentedPaths(document: unknown): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(inside(document, 'paths') as Readonly<Record<string, Json>>).map(([path, item]) => [
      path.replace(/\{(\w+)\}/g, (_, name: string) => VALUES[name] ?? name),
      ['get', 'post', 'put', 'patch', 'delete']
        .filter((method) => item[method] !== undefined)
        .map((method) => method.toUpperCase())
        .join()
    ])
  )
}

/** The paths in a tree of routes as Fastify prints it, four characters for each level. */
function routesOf(tree: string): string[] {
  const above: string[] = []
  return tree.split('\n').flatMap((line) => {
    const [, indent, label, methods] = /^([│ ]*)[├└]── (.*?)( \(.*)?$/.exec(line) ?? []
    if (indent === undefined || label === undefined) return []
    const level = indent.length / 4
    const path = `${level === 0 ? '' : above[level - 1]}${label}`
    above[level] = path
    return methods === undefined ? [] : [path]
  })
}
