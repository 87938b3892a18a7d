import { readFile } from 'node:fs/promises'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import type { JSX } from 'preact'
import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { localPath } from './local-path.js'
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

export interface StorefrontParts {
  readonly api: StoreApi
  /** Milliseconds since 1970. */
  readonly clock: () => number
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
export function buildStorefront({ api, clock }: StorefrontParts): FastifyInstance {
  const app = Fastify({ logger: false })
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(SECURITY_HEADERS)
    done()
  })

  for (const path of ['/', '/products']) {
    app.get<{ Querystring: Query }>(path, async (request, reply) => {
      const query = productQuery(request.query)
      const [page, categories] = await Promise.all([api.products(query), api.categories()])
      const visitor = visitorOf(request.headers.cookie, clock)
      return sendPage(reply, h(ProductList, { visitor, path: request.url, query, page, categories }))
    })
  }
  app.get<{ Params: { id: string } }>('/products/:id', async (request, reply) => {
    const product = await api.product(request.params.id)
    const about = { visitor: visitorOf(request.headers.cookie, clock), path: request.url }
    if (product !== undefined) return sendPage(reply, h(ProductPage, { ...about, product }))
    return sendPage(
      reply.code(404),
      h(MessagePage, { ...about, title: 'Not found', text: 'There is no such product.' })
    )
  })
  for (const [path, { title, script }] of Object.entries(PRIVATE_PAGES)) {
    app.get(path, (request, reply) => {
      const visitor = visitorOf(request.headers.cookie, clock)
      return sendPage(reply, h(PrivatePage, { visitor, path: request.url, title, script }))
    })
  }
  app.get<{ Querystring: Query }>('/sign-in', (request, reply) => {
    const visitor = visitorOf(request.headers.cookie, clock)
    return sendPage(reply, h(SignIn, { visitor, next: localPath(request.query['next']) }))
  })
  app.get<{ Params: { '*': string } }>('/shop-assets/*', async (request, reply) => {
    const asset = shopAsset(request.params['*'])
    if (asset === undefined) return reply.callNotFound()
    return reply
      .headers({ 'content-type': asset.type, 'cache-control': 'public, max-age=300' })
      .send(await readFile(asset.file))
  })
  app.setNotFoundHandler((request, reply) => {
    const visitor = visitorOf(request.headers.cookie, clock)
    const props = { visitor, path: '/', title: 'Not found', text: 'There is no such page.' }
    return sendPage(reply.code(404), h(MessagePage, props))
  })
  app.setErrorHandler((error, request, reply) => {
    const visitor = visitorOf(request.headers.cookie, clock)
    const down = error instanceof StoreUnavailable
    if (!down) process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
    const text = down ? 'The store cannot be reached at the moment. Try again soon.' : 'Something went wrong here.'
    return sendPage(reply, h(MessagePage, { visitor, path: '/', title: 'One moment, please', text }))
  })
  return app
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
