import { Readable } from 'node:stream'
import { Op, Sequelize, type WhereOptions } from 'sequelize'
import { baselineSettings, callers, createApp, ownerOf, RejectedRequest, serve } from './app.js'
import { setExportHeaders } from './csv.js'
import { type FilterOperator, type PageRequest, readPageRequest, setPagingHeaders } from './pages.js'
import { exportProducts } from './plain-sequelize/export.js'
import { Category, defineModels, Order, OrderLine, Product } from './plain-sequelize/models.js'
import { sequelizeWrites } from './plain-sequelize/writes.js'
import { lookupSchema, orderSchema, productSchema } from './products.js'
import { registerWrites } from './writes.js'

// What somebody who follows Sequelize's guide would write: model instances, findByPk, findAndCountAll.
const settings = baselineSettings()
const sequelize = new Sequelize(settings.databaseUrl.replace(/^mariadb:/, 'mysql:'), {
  dialect: 'mysql',
  logging: false,
  // Its default gives a request up that waits a minute for a connection, as it may on a busy machine.
  pool: { max: settings.databaseConnections, acquire: 10 * 60 * 1000 },
  dialectOptions: { supportBigNumbers: true, bigNumberStrings: true },
  timezone: '+00:00'
})
defineModels(sequelize)
const app = createApp()
const verified = callers(settings)

// The schemas fix the order of the members; a model's toJSON has its own.
const ONE_PRODUCT = { schema: { response: { 200: productSchema } } }
const PRODUCTS = { schema: { response: { 200: { type: 'array', items: productSchema } } } }
const ONE_ORDER = { schema: { response: { 200: orderSchema } } }
const ORDERS = { schema: { response: { 200: { type: 'array', items: orderSchema } } } }
const LOOKUP = { schema: { response: { 200: lookupSchema } } }

const PROPERTIES: ReadonlySet<string> = new Set(
  Object.keys(Product.getAttributes()).filter((name) => !['displayName', 'rowVersion'].includes(name))
)
const ORDER_PROPERTIES: ReadonlySet<string> = new Set(['id', 'placedAt', 'total'])
const COMPARISONS = {
  equals: Op.eq,
  'not equals': Op.ne,
  'greater than': Op.gt,
  'less than': Op.lt
} as const satisfies Record<FilterOperator, symbol>

type ById = { Params: { id: string }; Querystring: { fields?: string } }
type Paged = { Querystring: Record<string, unknown> }

app.get<ById>('/products/:id', ONE_PRODUCT, async (request, reply) => {
  verified.of(request.headers.authorization)
  const id = Number(request.params.id)
  const names = request.query.fields?.split(',')
  if (names !== undefined) {
    if (!names.every((name) => PROPERTIES.has(name))) throw new RejectedRequest(400, 'Unknown property.')
    const chosen = await Product.findByPk(id, { attributes: names })
    if (chosen === null) return reply.code(404).send({ status: 404 })
    const all = chosen.toJSON()
    const json = JSON.stringify(Object.fromEntries(names.map((name) => [name, Reflect.get(all, name)])))
    return reply.type('application/json; charset=utf-8').send(json)
  }
  const found = await Product.findByPk(id)
  if (found === null) return reply.code(404).send({ status: 404 })
  return reply.header('etag', `W/"${found.rowVersion}"`).send(found.toJSON())
})

app.get<Paged>('/products/paged', PRODUCTS, async (request, reply) => {
  verified.of(request.headers.authorization)
  const page = readPageRequest(request.query, PROPERTIES)
  const filters = page.filters.map(({ property, operator, value }) => ({
    [property]: { [COMPARISONS[operator]]: value }
  }))
  const order = orderOf(page)
  if (page.after === undefined) {
    const { rows, count } = await Product.findAndCountAll({ where: { [Op.and]: filters }, order, ...windowOf(page) })
    setPagingHeaders(request, reply, { ...page, total: count, more: false, ...placesOf(rows, page) })
    return reply.send(rows.map((row) => row.toJSON()))
  }
  const { value, id } = page.after
  const beyond = page.descending ? Op.lt : Op.gt
  const behind: WhereOptions = {
    [Op.or]: [{ [page.sortColumn]: { [beyond]: value } }, { [page.sortColumn]: value, id: { [Op.gt]: id } }]
  }
  const [found, total] = await Promise.all([
    Product.findAll({ where: { [Op.and]: [...filters, behind] }, order, limit: page.pageSize + 1 }),
    Product.count({ where: { [Op.and]: filters } })
  ])
  const rows = found.slice(0, page.pageSize)
  setPagingHeaders(request, reply, { ...page, total, more: found.length > rows.length, ...placesOf(rows, page) })
  return reply.send(rows.map((row) => row.toJSON()))
})

app.get('/products/export', (request, reply) => {
  verified.of(request.headers.authorization)
  setExportHeaders(reply, settings.maxExportRows)
  return reply.send(Readable.from(exportProducts(sequelize, settings.maxExportRows), { objectMode: false }))
})

const LOOKUP_LIMIT = 1000

app.get('/categories/lookup', LOOKUP, async (request, reply) => {
  verified.of(request.headers.authorization)
  const rows = await Category.findAll({ order: ['name', 'id'], limit: LOOKUP_LIMIT })
  return reply.send({ items: rows.map((row) => row.toJSON()) })
})

app.get<ById>('/orders/:id', ONE_ORDER, async (request, reply) => {
  const customerId = ownerOf(verified.required(request.headers.authorization))
  const found = await Order.findOne({ where: { id: Number(request.params.id), customerId } })
  if (found === null) return reply.code(404).send({ status: 404 })
  return reply.header('etag', `W/"${found.rowVersion}"`).send(found.toJSON())
})

app.get<Paged>('/orders/paged', ORDERS, async (request, reply) => {
  const customerId = ownerOf(verified.required(request.headers.authorization))
  const page = readPageRequest(request.query, ORDER_PROPERTIES)
  const { rows, count } = await Order.findAndCountAll({
    where: { customerId },
    order: orderOf(page),
    ...windowOf(page),
    // A statement of its own for the lines of all orders: in a join the limit would count lines.
    ...(request.query['includeChildren'] === 'true'
      ? { include: [{ model: OrderLine, as: 'lines', separate: true, order: ['id'] }] }
      : {})
  })
  setPagingHeaders(request, reply, { ...page, total: count, more: false, ...placesOf(rows, page) })
  return reply.send(rows.map((row) => row.toJSON()))
})

function orderOf({ sortColumn, descending }: PageRequest): [string, string][] {
  const direction = descending ? 'DESC' : 'ASC'
  return [
    [sortColumn, direction],
    ['id', direction]
  ]
}

function windowOf({ pageSize, pageNumber }: PageRequest) {
  return { limit: pageSize, offset: (pageNumber - 1) * pageSize }
}

function placesOf(rows: readonly (Product | Order)[], { sortColumn }: PageRequest) {
  const place = (row: Product | Order | undefined) =>
    row === undefined ? undefined : { value: row.get(sortColumn) as string | number | null, id: row.id }
  return { first: place(rows.at(0)), last: place(rows.at(-1)) }
}

registerWrites(app, verified, sequelizeWrites(sequelize))

app.addHook('onClose', () => sequelize.close())
await serve(app, settings.port)
