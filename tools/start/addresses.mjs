import { Failure } from '../failure.mjs'
import { freePort } from './ports.mjs'

/**
 * Where the two processes of the service are going to listen, by the settings of contract.md section 1.
 *
 * @param {NodeJS.ProcessEnv} env
 */
export async function addresses(env) {
  const host = withoutBrackets(env['GATEWAY_HOST'] || '127.0.0.1')
  const port = portOf(env['GATEWAY_PORT'] || '3000', 'GATEWAY_PORT')
  return {
    // Whoever waits for the gateway, or tells its address, has to know the port beforehand.
    gateway: { host, port: port === 0 ? await freePort(host) : port, setting: 'GATEWAY_PORT' },
    dataService: dataServiceAddress(env['DATA_SERVICE_ADDRESS'] || '127.0.0.1:50051'),
    admin: env['ADMIN_PORT']
      ? {
          host: withoutBrackets(env['ADMIN_HOST'] || '127.0.0.1'),
          port: portOf(env['ADMIN_PORT'], 'ADMIN_PORT'),
          setting: 'ADMIN_PORT'
        }
      : undefined
  }
}

/**
 * Where the shop is going to listen, behind the gateway; undefined for one who has another renderer.
 *
 * @param {NodeJS.ProcessEnv} env
 */
export async function shopAddress(env) {
  if (env['RENDERER_URL']) return undefined
  const setting = 'STOREFRONT_PORT'
  const host = '127.0.0.1'
  const port = portOf(env[setting] || '0', setting)
  // The gateway has to know it beforehand.
  return { host, port: port === 0 ? await freePort(host) : port, setting }
}

/** @param {string} address */
function dataServiceAddress(address) {
  const at = address.lastIndexOf(':')
  const setting = 'DATA_SERVICE_ADDRESS'
  const port = portOf(address.slice(at + 1), setting)
  if (port === 0) throw new Failure(`${setting} needs a port here: the gateway has to know it beforehand.`)
  return { host: withoutBrackets(address.slice(0, at)), port, setting }
}

/** @param {string} host */
function withoutBrackets(host) {
  return host.replace(/^\[(.*)\]$/, '$1')
}

/**
 * @param {string} text
 * @param {string} setting
 */
function portOf(text, setting) {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new Failure(`${setting} holds no port from 0 to 65535: ${text}.`)
}

/**
 * The gateway's base for a curl on this machine.
 *
 * @param {{ host: string, port: number }} address
 * @param {NodeJS.ProcessEnv} env the path of its PUBLIC_BASE_URL prefixes every route
 */
export function localBase({ host, port }, env) {
  const publicBase = env['PUBLIC_BASE_URL']
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  const path = publicBase !== undefined && URL.canParse(publicBase) ? new URL(publicBase).pathname : ''
  const scheme = env['HTTP_TLS_CERT_FILE'] ? 'https' : 'http'
  return `${scheme}://${name}:${port}${path.replace(/(?<!\/)\/+$/, '')}`
}
