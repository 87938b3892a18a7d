import { createLogger } from '../../shared/logger.js'
import { SettingsError } from '../../shared/settings-reader.js'
import { buildStorefront } from './app.js'
import { readStorefrontConfig } from './config.js'
import { StoreApi } from './store-api.js'

try {
  const config = readStorefrontConfig(process.env)
  const log = createLogger({ name: 'storefront', level: process.env['LOG_LEVEL'] ?? 'info' })
  const app = buildStorefront({ api: new StoreApi(config.apiUrl), clock: Date.now })
  const url = await app.listen({ host: config.host, port: config.port })
  log.info({ url }, 'listening')
  const stop = (): void => {
    app.close().then(
      () => log.info('closed'),
      (error: unknown) => log.error({ err: error }, 'not closed')
    )
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
} catch (error) {
  process.stderr.write(`${error instanceof SettingsError ? error.message : `Cannot start: ${String(error)}`}\n`)
  process.exitCode = 1
}
