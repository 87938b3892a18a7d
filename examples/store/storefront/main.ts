import { createLogger } from '../../../shared/logger.js'
import { SettingsError } from '../../../shared/settings.js'
import { buildStorefront } from './app.js'
import { readStorefrontConfig } from './config.js'
import { StoreApi } from './store-api.js'

/** Milliseconds that requests under way get when the process is asked to end. */
const CLOSING_TIME = 2000

try {
  const { host, port, apiUrl, logLevel } = readStorefrontConfig(process.env)
  const log = createLogger({ name: 'storefront', level: logLevel })
  const apiPath = new URL(apiUrl).pathname.replace(/(?<!\/)\/+$/, '')
  const app = buildStorefront({ api: new StoreApi(apiUrl), apiPath, clock: Date.now, log })
  const url = await app.listen({ host, port })
  log.info({ url }, 'listening')
  const stop = (): void => {
    // A connection that was opened and never used counts as busy: it would be waited for without end.
    setTimeout(() => app.server.closeAllConnections(), CLOSING_TIME).unref()
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
