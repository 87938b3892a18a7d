import { Readable } from 'node:stream'
import { Op, Sequelize } from 'sequelize'
import { setExportHeaders } from './export-headers.js'
import { readPageRequest, type FilterOperator } from './page-request.js'
import { setPagingHeaders } from './paging-headers.js'
import { productSchema } from './product-schema.js'
import { exportProducts } from './plain-sequelize/export-products.js'
import { defineProduct, Product } from './plain-sequelize/product-model.js'
import { sequelizeWrites } from './plain-sequelize/product-writes.js'
import { defineWriteModels } from './plain-sequelize/write-models.js'
import { baselineSettings, createApp, serve } from './serve.js'
import { registerWrites } from './writes.js'

// What somebody who follows Sequelize's guide would write: model instances, findByPk, findAndCountAll.
const settings = baselineSettings()
const sequelize = new Sequelize(settings.databaseUrl.replace(/^mariadb:/, 'mysql:'), {
  dialect: 'mysql',
  logging: false,
  pool: { max: settings.databaseConnections },
  dialectOptions: { supportBigNumbers: true, bigNumberStrings: true },
  timezone: '+00:00'
})
defineProduct(sequelize)
defineWriteModels(sequelize)
const app = createApp()

// The schemas fix the order of the members; a model's toJSON has its own.
const ONE_PRODUCT = { schema: { response: { 200: productSchema } } }
const PRODUCTS = { schema: { response: { 200: { type: 'array', items: productSchema } } } }

const PROPERTIES: ReadonlySet<string> = new Set(
  Object.keys(Product.getAttributes()).filter((name) => !['displayName', 'rowVersion'].includes(name))
)
const COMPARISONS = {
  equals: Op.eq,
  'not equals': Op.ne,
  'greater than': Op.gt,
  'less than': Op.lt
} as const satisfies Record<FilterOperator, symbol>

app.get<{ Params: { id: string } }>('/products/:id', ONE_PRODUCT, async (request, reply) => {
  const found = await Product.findByPk(Number(request.params.id))
  if (found === null) return reply.code(404).send({ status: 404 })
  return reply.header('etag', `W/"${found.rowVersion}"`).send(found.toJSON())
})

app.get<{ Querystring: Record<string, unknown> }>('/products/paged', PRODUCTS, async (request, reply) => {
  const page = readPageRequest(request.query, PROPERTIES)
  const { rows, count } = await Product.findAndCountAll({
    where: {
      [Op.and]: page.filters.map(({ property, operator, value }) => ({
        [property]: { [COMPARISONS[operator]]: value }
      }))
    },
    order: [
      [page.sortColumn, page.descending ? 'DESC' : 'ASC'],
      ['id', 'ASC']
    ],
    limit: page.pageSize,
    offset: (page.pageNumber - 1) * page.pageSize
  })
  setPagingHeaders(request, reply, { ...page, total: count })
  return reply.send(rows.map((row) => row.toJSON()))
})

app.get('/products/export', (_request, reply) => {
  setExportHeaders(reply, settings.maxExportRows)
  return reply.send(Readable.from(exportProducts(sequelize, settings.maxExportRows), { objectMode: false }))
})

registerWrites(app, settings, sequelizeWrites(sequelize))

app.addHook('onClose', () => sequelize.close())
await serve(app, settings.port)
