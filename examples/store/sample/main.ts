import { dirname } from 'node:path'
import type { Sequelize } from 'sequelize'
import { readConfig } from '../../../data-service/config.js'
import { connect } from '../../../data-service/sql/connect.js'
import { parseDatabaseUrl } from '../../../data-service/sql/engines/engine.js'
import { migrate } from '../../../data-service/sql/schema/migrate.js'
import { keepDataPrivate, makeFolder } from '../../../shared/files.js'
import { createLogger, type Logger } from '../../../shared/logger.js'
import { primaryMigrations } from '../schema/migrations.js'
import { secondMigrations } from '../schema/second-migrations.js'
import { loadMore, type LoadOrder, parseOrders } from './load-more.js'
import { loadSample } from './sample-store.js'

const PROGRESS_STEPS = 10

async function main(): Promise<void> {
  const orders = parseOrders(process.argv.slice(2))
  const { config } = readConfig(process.env)
  const log = createLogger({ name: 'sample', level: config.logLevel })
  await keepDataPrivate(config.dataDir, log)
  const primary = await opened(config.databaseUrl)
  const second = await opened(config.reviewsDatabaseUrl)
  try {
    await migrate(primary, primaryMigrations, log)
    await migrate(second, secondMigrations, log)
    if (await loadSample(primary, second)) log.info('Loaded the sample store')
    for (const order of orders) await loadWithProgress(primary, order, log)
  } finally {
    await Promise.all([primary.close(), second.close()])
  }
}

async function opened(url: string): Promise<Sequelize> {
  const settings = parseDatabaseUrl(url)
  if (settings.kind === 'sqlite') await makeFolder(dirname(settings.file))
  return connect(settings).sequelize
}

/** About ten lines, however many rows. */
async function loadWithProgress(primary: Sequelize, order: LoadOrder, log: Logger): Promise<void> {
  let told = 0
  await loadMore(primary, order, (loaded) => {
    if (loaded - told < order.count / PROGRESS_STEPS && loaded < order.count) return
    told = loaded
    log.info({ resource: order.resource, loaded, of: order.count }, 'Loading')
  })
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
