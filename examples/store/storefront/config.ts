import { type Environment, SettingsReader } from '../../../shared/settings.js'

/** Settings of the shop. */
export interface StorefrontConfig {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  /** The gateway, for what the server itself reads: public rows alone. Without a slash at its end. */
  readonly apiUrl: string
  readonly logLevel: string
}

/** Throws one SettingsError with every problem. */
export function readStorefrontConfig(environment: Environment): StorefrontConfig {
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
