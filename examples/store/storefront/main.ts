import { pino } from 'pino'
import { buildStorefront } from './app.js'
import { StoreApi } from './store-api.js'

/** Milliseconds that requests under way get when the process is asked to end. */
const CLOSING_TIME = 2000

try {
  const { host, port, apiUrl, logLevel } = readStorefrontConfig(process.env)
  const log = pino({ name: 'storefront', level: logLevel, formatters: { level: (label) => ({ level: label }) } })
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
  process.stderr.write(`Cannot start: ${error instanceof Error ? error.message : String(error)}\n`)
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

/** Throws an Error that lists every problem. A blank setting counts as unset. */
function readStorefrontConfig(environment: NodeJS.ProcessEnv): StorefrontConfig {
  const problems: string[] = []
  const read = <T>(name: string, fallback: string, parse: (text: string) => T | Error): T => {
    const text = environment[name]?.trim() ? environment[name] : fallback
    const value = parse(text)
    if (!(value instanceof Error)) return value
    problems.push(`${name} ${value.message}, not ${JSON.stringify(text)}.`)
    const known = parse(fallback)
    if (known instanceof Error) throw known
    return known
  }
  const config = {
    host: read('STOREFRONT_HOST', '127.0.0.1', (text) => text),
    port: read('STOREFRONT_PORT', '4000', parsePort),
    apiUrl: read('STORE_API_URL', 'http://127.0.0.1:3000', parseApiUrl),
    logLevel: read('LOG_LEVEL', 'info', (text) => text)
  }
  if (problems.length > 0) throw new Error(`settings are wrong.\n- ${problems.join('\n- ')}`)
  return config
}

function parsePort(text: string): number | Error {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
    ? Number(text)
    : new Error('must be a whole number from 0 to 65535')
}

function parseApiUrl(text: string): string | Error {
  const fits = URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)
  return fits ? text.replace(/(?<!\/)\/+$/, '') : new Error('must be an http or https URL')
}
