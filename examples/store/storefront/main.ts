import { createLogger } from '../../../shared/logger.js'
import { type Environment, SettingsError, SettingsReader } from '../../../shared/settings.js'
import { buildStorefront } from './app.js'
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

/** The settings of the shop. */
interface StorefrontConfig {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  /** The gateway, for what the server itself reads: public rows alone. Without a slash at its end. */
  readonly apiUrl: string
  readonly logLevel: string
}

/** Throws one SettingsError with every problem. */
function readStorefrontConfig(environment: Environment): StorefrontConfig {
  const settings = new SettingsReader(environment)
  const config = {
    host: settings.text('STOREFRONT_HOST', '127.0.0.1'),
    port: settings.integer('STOREFRONT_PORT', { fallback: 4000, min: 0, max: 65_535 }),
    apiUrl: settings.parsed('STORE_API_URL', { fallback: 'http://127.0.0.1:3000', parse: parseApiUrl }),
    logLevel: settings.text('LOG_LEVEL', 'info')
  }
  settings.finish()
  return config
}

function parseApiUrl(text: string): string | Error {
  const fits = URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
  return fits ? text.replace(/(?<!\/)\/+$/, '') : new Error('must be an http or https URL')
}
