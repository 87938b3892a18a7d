import { readFile } from 'node:fs/promises'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { JSX } from 'preact'
import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { Logger } from '../../../shared/logger.js'
import { ProductArt } from './html/product-art.js'
import { localPath } from './local-path.js'
import type { PageContext } from './page-context.js'
import { MessagePage } from './pages/message-page.js'
import { PrivatePage } from './pages/private-page.js'
import { ProductList } from './pages/product-list.js'
import { ProductPage } from './pages/product.js'
import { SignIn } from './pages/sign-in.js'
import { productQuery } from './product-query.js'
import { SECURITY_HEADERS } from './security-headers.js'
import { shopAsset } from './shop-asset.js'
import { StoreUnavailable, type StoreApi } from './store-api.js'
import { visitorOf } from './visitor.js'

/** The gateway passes on heads of up to 64 KiB, and adds headers of its own and new session cookies to them. */
const MAX_HEAD_BYTES = 80 * 1024

export interface StorefrontParts {
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
  '/account': { title: 'Your account', script: 'account' }
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
  app.get<{ Params: { '*': string } }>('/shop-assets/*', (request, reply) => sendAsset(reply, request.params['*']))
  app.get<{ Params: { id: string }; Querystring: Query }>('/shop-art/:id', (request, reply) => {
    const { name } = request.query
    const art = h(ProductArt, { id: Number(request.params.id) || 0, name: typeof name === 'string' ? name : '' })
    return reply
      .headers({ 'content-type': 'image/svg+xml', 'cache-control': 'public, max-age=86400' })
      .send(renderToString(art))
  })
}

async function sendAsset(reply: FastifyReply, path: string): Promise<FastifyReply> {
  const asset = shopAsset(path)
  const content = asset === undefined ? undefined : await readFile(asset.file).catch(unlessMissing)
  if (asset === undefined || content === undefined) {
    reply.callNotFound()
    return reply
  }
  return reply.headers({ 'content-type': asset.type, 'cache-control': 'public, max-age=300' }).send(content)
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
