import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { JSX } from 'preact'
import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { Logger } from 'pino'
import { LOOK } from 'uniform-rest/look'
import { localPath, type PageContext, visitorOf } from './page-context.js'
import { MessagePage, PrivatePage, SignIn } from './plain-pages.js'
import { ProductArt } from './product-art.js'
import { ProductList } from './product-list.js'
import { ProductPage } from './product-page.js'
import { productQuery, type StoreApi, StoreUnavailable } from './store-api.js'

/** The gateway passes on heads of up to 64 KiB, and adds headers of its own and new session cookies to them. */
const MAX_HEAD_BYTES = 80 * 1024

/** Nothing on a page comes from anywhere but this site, and no other site shows it in a frame. */
const SECURITY_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'"
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin'
} as const

interface StorefrontParts {
  readonly api: StoreApi
  /** What prefixes the API's paths for the browser: empty, or `/api`. */
  readonly apiPath: string
  /** Milliseconds since 1970. */
  readonly clock: () => number
  readonly log: Logger
}

/** Pages about their visitor, by path: what the browser fetches, and how the page is called. */
const PRIVATE_PAGES = {
  '/cart': { title: 'Your cart', script: 'cart' },
  '/orders': { title: 'Your orders', script: 'orders' },
  '/orders/:id': { title: 'Your order', script: 'order' },
  '/account': { title: 'Your account', script: 'account' },
  '/stock': { title: 'Stock list', script: 'stock' }
} as const

type Query = Readonly<Record<string, string | string[] | undefined>>

/** The shop, not yet listening. It decides nothing by who a visitor claims to be but whom it greets. */
export function buildStorefront({ api, apiPath, clock, log }: StorefrontParts): FastifyInstance {
  const app = Fastify({ logger: false, http: { maxHeaderSize: MAX_HEAD_BYTES } })
  const contextOf = (request: FastifyRequest): PageContext => ({
    visitor: visitorOf(request.headers.cookie, clock),
    path: localPath(request.url),
    apiPath
  })
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(SECURITY_HEADERS)
    done()
  })

  for (const path of ['/', '/products']) {
    app.get<{ Querystring: Query }>(path, async (request, reply) => {
      const query = productQuery(request.query)
      const [page, categories] = await Promise.all([api.products(query), api.categories()])
      return sendPage(reply, h(ProductList, { context: contextOf(request), query, page, categories }))
    })
  }
  app.get<{ Params: { id: string } }>('/products/:id', async (request, reply) => {
    const context = contextOf(request)
    const product = await api.product(request.params.id)
    if (product !== undefined) return sendPage(reply, h(ProductPage, { context, product }))
    return sendPage(reply.code(404), h(MessagePage, { context, title: 'Not found', text: 'There is no such product.' }))
  })
  for (const [path, { title, script }] of Object.entries(PRIVATE_PAGES)) {
    app.get(path, (request, reply) => sendPage(reply, h(PrivatePage, { context: contextOf(request), title, script })))
  }
  app.get<{ Querystring: Query }>('/sign-in', (request, reply) =>
    sendPage(reply, h(SignIn, { context: contextOf(request), next: localPath(request.query['next']) }))
  )
  serveFiles(app)
  app.setNotFoundHandler((request, reply) => {
    const context = contextOf(request)
    return sendPage(reply.code(404), h(MessagePage, { context, title: 'Not found', text: 'There is no such page.' }))
  })
  app.setErrorHandler((error, request, reply) => {
    const context = contextOf(request)
    const down = error instanceof StoreUnavailable
    log[down ? 'warn' : 'error']({ path: context.path, err: error }, 'a page could not be rendered')
    const text = down ? 'The store cannot be reached at the moment. Try again soon.' : 'Something went wrong here.'
    // Without its store the shop still answers: a page of this site, with whoever is signed in.
    return sendPage(reply.code(down ? 200 : 500), h(MessagePage, { context, title: 'One moment, please', text }))
  })
  return app
}

/** Style sheet, scripts and pictures: the same for everybody. */
function serveFiles(app: FastifyInstance): void {
  app.get('/favicon.ico', (_request, reply) => sendAsset(reply, 'mark.svg'))
  app.get('/shop-assets/look.css', (_request, reply) => sendFile(reply, 'text/css; charset=utf-8', LOOK))
  app.get<{ Params: { '*': string } }>('/shop-assets/*', (request, reply) => sendAsset(reply, request.params['*']))
  app.get<{ Params: { id: string }; Querystring: Query }>('/shop-art/:id', (request, reply) => {
    const { name } = request.query
    const art = h(ProductArt, { id: Number(request.params.id) || 0, name: typeof name === 'string' ? name : '' })
    return reply
      .headers({ 'content-type': 'image/svg+xml', 'cache-control': 'public, max-age=86400' })
      .send(renderToString(art))
  })
}

/** The style sheet and pictures lie beside the sources, scripts beside this module once compiled. */
const ASSETS = fileURLToPath(new URL('../../../../examples/store/storefront/assets/', import.meta.url))
const SCRIPTS = fileURLToPath(new URL('./client/', import.meta.url))

const NAME = /^(?<folder>client\/)?(?<name>[a-z0-9-]+)\.(?<kind>css|svg|js)$/
const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  js: 'text/javascript; charset=utf-8'
}

/** The file behind `/shop-assets/{path}`; undefined for a path that cannot be one. */
function shopAsset(path: string): { readonly file: string; readonly type: string } | undefined {
  const { folder, name, kind = '' } = NAME.exec(path)?.groups ?? {}
  const type = TYPES[kind]
  if (name === undefined || type === undefined || (kind === 'js') !== (folder !== undefined)) return undefined
  return { file: `${kind === 'js' ? SCRIPTS : ASSETS}${name}.${kind}`, type }
}

async function sendAsset(reply: FastifyReply, path: string): Promise<FastifyReply> {
  const asset = shopAsset(path)
  const content = asset === undefined ? undefined : await readFile(asset.file).catch(unlessMissing)
  if (asset === undefined || content === undefined) {
    reply.callNotFound()
    return reply
  }
  return sendFile(reply, asset.type, content)
}

function sendFile(reply: FastifyReply, type: string, content: Buffer | string): FastifyReply {
  return reply.headers({ 'content-type': type, 'cache-control': 'public, max-age=300' }).send(content)
}

function unlessMissing(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return
  throw error
}

/** Who is greeted differs by cookie, so no page is anybody else's. */
function sendPage(reply: FastifyReply, page: JSX.Element): FastifyReply {
  return reply
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'private, no-store',
      vary: 'Cookie'
    })
    .send(`<!doctype html>${renderToString(page)}`)
}
