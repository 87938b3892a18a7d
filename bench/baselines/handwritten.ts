import { Readable } from 'node:stream'
import { createPool } from 'mysql2'
import { exportProducts } from './handwritten/export-products.js'
import { handwrittenWrites } from './handwritten/product-writes.js'
import { findProduct, pageOfProducts, PROPERTIES } from './handwritten/product-queries.js'
import { setExportHeaders } from './export-headers.js'
import { readPageRequest } from './page-request.js'
import { setPagingHeaders } from './paging-headers.js'
import { productSchema } from './product-schema.js'
import { baselineSettings, createApp, serve } from './serve.js'
import { registerWrites } from './writes.js'

// What somebody who needs these five endpoints, and nothing else, would write to have them fast.
const settings = baselineSettings()
const connections = createPool({
  uri: settings.databaseUrl,
  connectionLimit: settings.databaseConnections,
  supportBigNumbers: true,
  bigNumberStrings: true,
  dateStrings: true,
  timezone: 'Z',
  // An INSERT that found its key taken says so by having changed nothing.
  flags: ['-FOUND_ROWS']
})
// What waits for a lock goes on with what the other one made of the row.
connections.on('connection', (connection) => {
  connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED')
  connection.query('SET SESSION innodb_lock_wait_timeout = 2')
})
const pool = connections.promise()
const app = createApp()

const ONE_PRODUCT = { schema: { response: { 200: productSchema } } }
const PRODUCTS = { schema: { response: { 200: { type: 'array', items: productSchema } } } }

app.get<{ Params: { id: string } }>('/products/:id', ONE_PRODUCT, async (request, reply) => {
  const found = await findProduct(pool, Number(request.params.id))
  if (found === undefined) return reply.code(404).send({ status: 404 })
  reply.header('etag', `W/"${found.rowVersion}"`)
  return found
})

app.get<{ Querystring: Record<string, unknown> }>('/products/paged', PRODUCTS, async (request, reply) => {
  const page = readPageRequest(request.query, PROPERTIES)
  const { items, total } = await pageOfProducts(pool, page)
  setPagingHeaders(request, reply, { ...page, total })
  return items
})

app.get('/products/export', (_request, reply) => {
  setExportHeaders(reply, settings.maxExportRows)
  return reply.send(Readable.from(exportProducts(pool, settings.maxExportRows), { objectMode: false }))
})

registerWrites(app, settings, handwrittenWrites(pool))

app.addHook('onClose', () => pool.end())
await serve(app, settings.port)
