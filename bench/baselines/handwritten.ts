import { Readable } from 'node:stream'
import { createPool } from 'mysql2'
import { baselineSettings, callers, createApp, ownerOf, serve } from './app.js'
import { setExportHeaders } from './csv.js'
import { exportProducts } from './handwritten/export.js'
import {
  findOrder,
  findProduct,
  findProductFields,
  lookupCategories,
  ORDER_PROPERTIES,
  pageOfOrders,
  pageOfProducts,
  PROPERTIES
} from './handwritten/reads.js'
import { handwrittenWrites } from './handwritten/writes.js'
import { readPageRequest, setPagingHeaders } from './pages.js'
import { lookupSchema, orderSchema, productSchema } from './products.js'
import { registerWrites } from './writes.js'

// What somebody who needs these endpoints, and nothing else, would write to have them fast.
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

const verified = callers(settings)

const ONE_PRODUCT = { schema: { response: { 200: productSchema } } }
const PRODUCTS = { schema: { response: { 200: { type: 'array', items: productSchema } } } }
const ONE_ORDER = { schema: { response: { 200: orderSchema } } }
const ORDERS = { schema: { response: { 200: { type: 'array', items: orderSchema } } } }
const LOOKUP = { schema: { response: { 200: lookupSchema } } }

type ById = { Params: { id: string }; Querystring: { fields?: string } }
type Paged = { Querystring: Record<string, unknown> }

app.get<ById>('/products/:id', ONE_PRODUCT, async (request, reply) => {
  verified.of(request.headers.authorization)
  const id = Number(request.params.id)
  const { fields } = request.query
  if (fields !== undefined) {
    const chosen = await findProductFields(pool, id, fields.split(','))
    if (chosen === undefined) return reply.code(404).send({ status: 404 })
    return reply.type('application/json; charset=utf-8').send(JSON.stringify(chosen))
  }
  const found = await findProduct(pool, id)
  if (found === undefined) return reply.code(404).send({ status: 404 })
  reply.header('etag', `W/"${found.rowVersion}"`)
  return found
})

app.get<Paged>('/products/paged', PRODUCTS, async (request, reply) => {
  verified.of(request.headers.authorization)
  const page = readPageRequest(request.query, PROPERTIES)
  const { items, ...found } = await pageOfProducts(pool, page)
  setPagingHeaders(request, reply, { ...page, ...found })
  return items
})

app.get('/products/export', (request, reply) => {
  verified.of(request.headers.authorization)
  setExportHeaders(reply, settings.maxExportRows)
  return reply.send(Readable.from(exportProducts(pool, settings.maxExportRows), { objectMode: false }))
})

app.get('/categories/lookup', LOOKUP, (request) => {
  verified.of(request.headers.authorization)
  return lookupCategories(pool)
})

app.get<ById>('/orders/:id', ONE_ORDER, async (request, reply) => {
  const customerId = ownerOf(verified.required(request.headers.authorization))
  const found = await findOrder(pool, Number(request.params.id), customerId)
  if (found === undefined) return reply.code(404).send({ status: 404 })
  reply.header('etag', `W/"${found.rowVersion}"`)
  return found
})

app.get<Paged>('/orders/paged', ORDERS, async (request, reply) => {
  const customerId = ownerOf(verified.required(request.headers.authorization))
  const page = readPageRequest(request.query, ORDER_PROPERTIES)
  const withLines = request.query['includeChildren'] === 'true'
  const { items, ...found } = await pageOfOrders(pool, { ...page, customerId, withLines })
  setPagingHeaders(request, reply, { ...page, ...found })
  return items
})

registerWrites(app, verified, handwrittenWrites(pool))

app.addHook('onClose', () => pool.end())
await serve(app, settings.port)
