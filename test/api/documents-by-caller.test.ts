import { expect } from 'chai'
import { type ApiStore, describeApi } from './api-store.js'
import { type Answer, filter, json } from './http-call.js'

const RESOURCES = [
  'products',
  'categories',
  'customers',
  'orders',
  'shopping-carts',
  'coupons',
  'returns',
  'invoices',
  'suppliers',
  'purchase-orders',
  'warehouses',
  'stock-items',
  'events',
  'venues',
  'speakers',
  'tickets',
  'bookmarks',
  'subscriptions',
  'audit-entries'
] as const
const OPEN = ['products', 'categories', 'events', 'venues', 'speakers']
/** Properties that are words of problems and headers too. */
const WORDS = [
  'id',
  'name',
  'number',
  'status',
  'code',
  'total',
  'reason',
  'resource',
  'action',
  'subject',
  'at',
  'requestId'
]
/** undefined: without a token. */
const CALLERS = [undefined, 'nobody', 'ada', 'keeper', 'clerk', 'admin'] as const
type By = (typeof CALLERS)[number]

interface Document {
  readonly paths: Readonly<Record<string, unknown>>
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties?: object }>>
  }
}

/** Requests of which one is let through, whatever becomes of it, if the caller may read or write the resource somehow. */
const PROBES: readonly (readonly [method: string, path: string])[] = [
  ['GET', ''],
  ['GET', '/paged'],
  ['GET', '/lookup'],
  ['GET', '/export'],
  ['GET', '/1'],
  ['DELETE', '/1']
]

function ask(store: ApiStore, by: By, target: string, more: object = {}): Promise<Answer> {
  return by === undefined ? store.call(target, more) : store.as(by, target, more)
}

async function mayCall(store: ApiStore, by: By, resource: string): Promise<boolean> {
  for (const [method, path] of PROBES) {
    const more = method === 'GET' ? {} : { headers: { 'if-match': '"AAAAAAAAAAA="' } }
    const { status } = await ask(store, by, `/${resource}${path}`, { method, ...more })
    // 404: no row of the caller, who may be nobody's owner. 405: the resource has no such write.
    if (![401, 403, 404, 405].includes(status)) return true
  }
  return false
}

async function resourcesIn(store: ApiStore, by: By): Promise<readonly string[]> {
  const { paths } = json(await ask(store, by, '/openapi.json')) as Document
  return RESOURCES.filter((name) =>
    Object.keys(paths).some((path) => path === `/${name}` || path.startsWith(`/${name}/`))
  )
}

/** contract.md section 6. The store declares its rules by hand in domain.md. */
describeApi(
  'documents without DOCS_PUBLIC',
  (store) => {
    for (const by of CALLERS) {
      const who = by ?? 'a caller without a token'
      it(`show ${who} the resources that the caller may read or write, and no other`, async () => {
        const allowed = []
        for (const name of RESOURCES) if (await mayCall(store, by, name)) allowed.push(name)
        expect(await resourcesIn(store, by)).to.deep.equal(allowed)
        if (by === undefined) expect(allowed).to.have.members(OPEN)
        if (by === 'keeper') expect(allowed).to.have.members([...OPEN, 'stock-items'])
        if (by === 'admin') expect(allowed).to.deep.equal(RESOURCES)
        const pages = (await ask(store, by, '/docs')).text
        const catalogue = json(await ask(store, by, '/admin/catalogue.json')) as {
          readonly resources: readonly { readonly name: string }[]
        }
        expect(catalogue.resources.map(({ name }) => name)).to.have.members(allowed)
        for (const name of RESOURCES) {
          const isThere = allowed.includes(name)
          expect(pages.includes(`/docs/resources/${name}"`), name).to.equal(isThere)
          expect((await ask(store, by, `/docs/resources/${name}`)).status, name).to.equal(isThere ? 200 : 404)
        }
      })
    }

    it('name no other resource in what they say of one that the caller sees', async () => {
      const others = RESOURCES.filter((name) => !OPEN.includes(name))
      for (const path of [
        '/openapi.json',
        '/docs',
        '/admin/catalogue.json',
        ...OPEN.map((one) => `/docs/resources/${one}`)
      ]) {
        const { text } = await store.call(path)
        const named = others.filter((name) => text.includes(`"${name}`) || text.includes(`/${name}`))
        expect(named, path).to.deep.equal([])
        expect(text, path).to.not.match(/creditLimit|warehouseId|reorderLevel|riskNote/)
      }
    })

    it('do not change what the resource that nobody sees answers, as an unknown page does', async () => {
      const hidden = await store.call('/docs/resources/suppliers', { headers: { 'x-request-id': 'same' } })
      const unknown = await store.call('/docs/resources/suppliess', { headers: { 'x-request-id': 'same' } })
      expect(hidden.text.replaceAll('suppliers', '')).to.equal(unknown.text.replaceAll('suppliess', ''))
    })

    it('are not told by the texts of problems either', async () => {
      const { components } = json(await store.as('admin', '/openapi.json')) as Document
      const queries = [
        filter('nothing', 'equals', '1'),
        filter('id', 'resembles', '1'),
        'sortColumn=nothing',
        'fields=nothing',
        'include=nothing',
        'includeChildren=perhaps',
        'pageNumber=x'
      ]
      for (const name of RESOURCES.filter((one) => !OPEN.includes(one))) {
        const columns = Object.keys(components.schemas[name]?.properties ?? {}).filter((one) => !WORDS.includes(one))
        expect(columns.length, name).to.be.greaterThan(0)
        const asked = [
          ...queries.map((query) => [`/${name}/paged?${query}`, {}] as const),
          [`/${name}/nothing`, {}] as const,
          [
            `/${name}`,
            { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"nothing":1}' }
          ] as const,
          [
            `/${name}/1`,
            { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"nothing":1}' }
          ] as const
        ]
        for (const [target, more] of asked) {
          const { status, text, headers } = await store.call(target, {
            ...more,
            headers: { prefer: 'handling=strict', ...('headers' in more ? more.headers : {}) }
          })
          expect(status, target).to.be.oneOf([401, 404, 405])
          const told = columns.filter((one) => `${text} ${JSON.stringify(headers)}`.includes(one))
          expect(told, `${target}: ${text}`).to.deep.equal([])
        }
      }
    })

    it('tell Vary, so that no cache gives those of one caller to another', async () => {
      for (const path of ['/openapi.json', '/docs', '/admin/catalogue.json']) {
        expect((await store.call(path)).headers['vary'], path).to.match(/\bAuthorization\b/)
      }
      const tags = await Promise.all(CALLERS.map((by) => ask(store, by, '/openapi.json')))
      // What everybody sees is all that nobody sees.
      expect(new Set(tags.map(({ headers }) => headers['etag'])).size).to.equal(CALLERS.length - 1)
    })
  },
  { on: 'sqlite', env: () => ({ DOCS_PUBLIC: 'false', ADMIN_UI: 'true' }) }
)

describeApi(
  'documents with DOCS_PUBLIC',
  (store) => {
    it('show everybody every resource, with the columns that the caller may see', async () => {
      for (const by of CALLERS) expect(await resourcesIn(store, by), by).to.deep.equal(RESOURCES)
      const catalogue = json(await store.as('clerk', '/admin/catalogue.json')) as {
        readonly resources: readonly object[]
      }
      expect(catalogue.resources).to.have.length(RESOURCES.length)
      expect((await store.call('/openapi.json')).text).to.not.include('creditLimit')
    })

    it('leave the catalogue of the admin to the roles of ADMIN_UI_ROLES', async () => {
      const path = '/admin/catalogue.json'
      store.problem(await store.call(path), { status: 401, code: 'auth.required' })
      store.problem(await store.as('ada', path), { status: 403, code: 'capability.denied' })
      for (const by of ['clerk', 'admin']) expect((await store.as(by, path)).status, by).to.equal(200)
    })

    it('are served without pages for people where DOCS_UI is off', async () => {
      for (const path of ['/docs', '/docs/resources/products', '/docs/try']) {
        expect((await store.call(path)).status, path).to.equal(404)
      }
      const { paths } = json(await store.call('/openapi.json')) as Document
      expect(Object.keys(paths).filter((path) => path.startsWith('/docs'))).to.deep.equal([])
      expect((await store.call('/problems/not-found')).text).to.not.include('/docs')
    })
  },
  {
    on: 'sqlite',
    env: () => ({ DOCS_PUBLIC: 'true', ADMIN_UI: 'true', ADMIN_UI_ROLES: 'Admin, cLERK', DOCS_UI: 'false' })
  }
)
