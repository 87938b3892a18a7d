import { isIP, isIPv6 } from 'node:net'
import { type AdminAddress, readAdminAddress } from '../shared/observe/admin-server.js'
import { parseLogLevel } from '../shared/logger.js'
import { readTraceSettings, type TraceSettings } from '../shared/observe/tracing.js'
import { readOpenIdClient } from '../shared/openid-settings.js'
import { parseRateLimit, type RateLimit } from '../shared/rate-limit.js'
import { type Environment, SettingsReader } from '../shared/settings.js'
import { type GrpcSecurity, readGrpcSecurity, type TlsFiles } from '../shared/tls.js'
import { TrustedProxies } from './http/client-address.js'
import { parsePublicBaseUrl, parseServiceUrl, type PublicBaseUrl } from './http/public-address.js'
import { type ApiInfo, readApiInfo } from './openapi/api-info.js'
import { parseOrigins } from './server/cross-origin.js'
import { UNNAMED } from './key-ring/key-ring.js'
import {
  type KeyRingSettings,
  parseApplicationName,
  parseRingLocation,
  parseVaultKey
} from './key-ring/ring-settings.js'
import { CLIENT_AUTHENTICATIONS, type OpenIdSettings } from './session/openid-provider.js'

/** The settings of the gateway (contract.md section 1). */
export interface GatewayConfig {
  readonly host: string
  readonly port: number
  /** undefined: health is only on the public port. */
  readonly admin: AdminAddress | undefined
  /** undefined: derived from the listener, or from what a trusted proxy reports. */
  readonly publicBaseUrl: PublicBaseUrl | undefined
  /**
   * Milliseconds that the gateway goes on to accept connections after it was told to end, while `/health/ready` is 503: a
   * load balancer notices meanwhile.
   */
  readonly drainTime: number
  /** Concurrent connections of clients. Further ones are closed at once. */
  readonly maxConnections: number
  /** Origins whose scripts may call the API with a bearer token. */
  readonly corsOrigins: readonly string[]
  /** Whether responses have `Server-Timing`. */
  readonly serverTiming: boolean
  /** The requests of each address; undefined for no limit. */
  readonly rateLimit: RateLimit | undefined
  /** Milliseconds that the process may be late before it refuses requests; 0 for no limit. */
  readonly maxEventLoopDelay: number
  /** `host:port` of each data service. A host name may stand for several. */
  readonly dataServiceAddresses: readonly string[]
  /** How unary calls go to a data service. */
  readonly dataServiceCalls: (typeof DATA_SERVICE_CALLS)[number]
  readonly grpc: GrpcSecurity
  readonly dataDir: string
  readonly logLevel: string
  /** undefined: no traces are exported. */
  readonly traces: TraceSettings | undefined
  readonly keyRing: KeyRingSettings
  readonly rendererUrl: string | undefined
  /** Whether the renderer gets the refresh tokens of its visitors. */
  readonly rendererRefreshToken: boolean
  /** Whether `/admin` is served. */
  readonly adminUi: boolean
  /** Who gets the catalogue of the admin: callers with one of these roles. Empty for every caller. */
  readonly adminUiRoles: readonly string[]
  /** Whether agents are served at `/mcp`, and with which tools. */
  readonly mcp: (typeof MCP_MODES)[number]
  /** Whether `/docs` is served. */
  readonly docsUi: boolean
  /** Whether documents and the catalogue of the admin show every resource to everybody, and not what the caller may call. */
  readonly docsPublic: boolean
  readonly openApi: ApiInfo
  /** Whether requests that say nothing of it are handled as with `Prefer: handling=strict`. */
  readonly strictHandling: boolean
  readonly cookieSecure: boolean
  /** undefined: plain HTTP. */
  readonly httpTls: TlsFiles | undefined
  /** Whether responses have `Strict-Transport-Security`. */
  readonly strictTransport: boolean
  /** Milliseconds that a browser keeps a refresh token whose expiry the gateway does not know. */
  readonly refreshTokenTtl: number
  readonly trustedProxies: TrustedProxies
  /** The OpenID provider that people sign in with; undefined for none. */
  readonly openId: OpenIdSettings | undefined
}

/** Whether agents are served: not at all, with tools that read, or with all tools. */
const MCP_MODES = ['off', 'read', 'write'] as const

const DATA_SERVICE_CALLS = ['stream', 'unary'] as const

/** Throws one SettingsError that lists everything wrong. `effective` is the output of `--print-config`. */
export function readGatewayConfig(environment: Environment): { config: GatewayConfig; effective: string } {
  const settings = new SettingsReader(environment)
  const listener = {
    host: settings.parsed('GATEWAY_HOST', { fallback: '127.0.0.1', parse: parseHost }),
    port: settings.integer('GATEWAY_PORT', { fallback: 3000, min: 0, max: 65_535 }),
    admin: readAdminAddress(settings),
    drainTime: settings.parsed('DRAIN_TIME', { fallback: '0s', parse: parseDurationOrNone }),
    maxConnections: settings.integer('MAX_CONNECTIONS', { fallback: 10_000, min: 1, max: 1_000_000 }),
    corsOrigins: settings.parsed('CORS_ORIGINS', { fallback: '', parse: parseOrigins }),
    serverTiming: settings.flag('SERVER_TIMING', false),
    rateLimit: settings.parsed('RATE_LIMIT', { fallback: '', parse: parseRateLimit }),
    maxEventLoopDelay: settings.parsed('MAX_EVENT_LOOP_DELAY', { fallback: '2s', parse: parseDurationOrNone }),
    publicBaseUrl: settings.parsed('PUBLIC_BASE_URL', { fallback: '', parse: unlessBlank(parsePublicBaseUrl) })
  }
  const { admin } = listener
  if (admin !== undefined && admin.port !== 0 && admin.port === listener.port && overlap(listener.host, admin.host)) {
    settings.addProblem(
      `GATEWAY_PORT and ADMIN_PORT must be two ports, not ${admin.port} for both: GATEWAY_HOST ${listener.host} and ADMIN_HOST ` +
        `${admin.host} take it on one address.`
    )
  }
  const dataServiceAddresses = settings.parsed('DATA_SERVICE_ADDRESS', {
    fallback: '127.0.0.1:50051',
    parse: parseAddresses
  })
  const httpTls = readHttpTls(settings)
  const cookieSecure = settings.flag('COOKIE_SECURE', true)
  const config: GatewayConfig = {
    ...listener,
    dataServiceAddresses,
    dataServiceCalls: settings.parsed('DATA_SERVICE_CALLS', {
      fallback: DATA_SERVICE_CALLS[0],
      parse: (text) => DATA_SERVICE_CALLS.find((one) => one === text) ?? new Error('must be stream or unary')
    }),
    grpc: readGrpcSecurity(settings, { addresses: dataServiceAddresses, side: 'client' }),
    dataDir: settings.text('DATA_DIR', '.data'),
    logLevel: settings.parsed('LOG_LEVEL', { fallback: 'info', parse: parseLogLevel }),
    traces: readTraceSettings(settings),
    keyRing: {
      location: settings.parsed('DATA_PROTECTION_BLOB_STORAGE_URI', {
        fallback: '',
        parse: unlessBlank(parseRingLocation)
      }),
      vaultKey: settings.parsed('DATA_PROTECTION_KEY_VAULT_KEY_URI', {
        fallback: '',
        parse: unlessBlank(parseVaultKey)
      }),
      application: settings.parsed('DATA_PROTECTION_APPLICATION_NAME', {
        fallback: UNNAMED,
        parse: parseApplicationName
      })
    },
    rendererUrl: settings.parsed('RENDERER_URL', {
      fallback: '',
      parse: unlessBlank((text) => parseServiceUrl(text, ['http:', 'https:']))
    }),
    rendererRefreshToken: settings.flag('RENDERER_REFRESH_TOKEN', false),
    adminUi: settings.flag('ADMIN_UI', false),
    adminUiRoles: settings.parsed('ADMIN_UI_ROLES', { fallback: '', parse: parseRoles }),
    mcp: settings.parsed('MCP', {
      fallback: MCP_MODES[0],
      parse: (text) => MCP_MODES.find((one) => one === text) ?? new Error('must be off, read or write')
    }),
    docsUi: settings.flag('DOCS_UI', true),
    docsPublic: settings.flag('DOCS_PUBLIC', false),
    openApi: readApiInfo(settings),
    strictHandling: settings.flag('STRICT_HANDLING', false),
    cookieSecure,
    httpTls,
    strictTransport: httpTls !== undefined || cookieSecure,
    refreshTokenTtl: settings.duration('REFRESH_TOKEN_TTL', '7d'),
    trustedProxies: settings.parsed('TRUSTED_PROXIES', { fallback: '', parse: (text) => TrustedProxies.parse(text) }),
    openId: readSignInProvider(settings)
  }
  settings.finish()
  return { config, effective: settings.effective() }
}

/** A host name or an address to listen on. An IPv6 address may be in brackets, as in a URL. */
function parseHost(text: string): string | Error {
  const host = text.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) !== 0) return host
  const isName = host === text && /^[A-Za-z0-9._-]{1,253}$/.test(host)
  return isName ? host : new Error('must be an address or a host name without a port, such as 127.0.0.1, ::1 or [::1]')
}

/** Whether two hosts to listen on share an address, as far as their texts tell: what a host name leads to is not looked up. */
function overlap(one: string, other: string): boolean {
  // Node listens on `::` for IPv4 too.
  if (one === other || one === '::' || other === '::') return true
  return (one === '0.0.0.0' && !isIPv6(other)) || (other === '0.0.0.0' && !isIPv6(one))
}

/** Milliseconds. Unlike other durations it may be zero. */
function parseDurationOrNone(text: string): number | Error {
  const [, digits = '', unit = ''] = /^(\d{1,6})(ms|s)$/.exec(text) ?? []
  return digits === ''
    ? new Error('must be a duration such as 500ms, 2s or 0s')
    : Number(digits) * (unit === 's' ? 1000 : 1)
}

/** Both files must be set, or none. */
function readHttpTls(settings: SettingsReader): TlsFiles | undefined {
  const certFile = settings.optionalText('HTTP_TLS_CERT_FILE')
  const keyFile = settings.optionalText('HTTP_TLS_KEY_FILE')
  if (certFile === undefined && keyFile === undefined) return undefined
  if (certFile === undefined || keyFile === undefined) {
    settings.addProblem('HTTP_TLS_CERT_FILE and HTTP_TLS_KEY_FILE must be set together, or none of them.')
  }
  return { certFile, keyFile, caFile: undefined }
}

const DEFAULT_SCOPE = 'openid email profile'

function readSignInProvider(settings: SettingsReader): OpenIdSettings | undefined {
  const clientSecret = settings.issuedSecret('OIDC_CLIENT_SECRET')
  const clientAuthentication = settings.parsed('OIDC_CLIENT_AUTHENTICATION', {
    fallback: CLIENT_AUTHENTICATIONS[0],
    parse: (text) =>
      CLIENT_AUTHENTICATIONS.find((one) => one === text) ?? new Error(`must be ${CLIENT_AUTHENTICATIONS.join(' or ')}`)
  })
  const scope = settings.parsed('OIDC_SCOPE', { fallback: DEFAULT_SCOPE, parse: parseScope })
  const client = readOpenIdClient(settings, [
    ['OIDC_CLIENT_SECRET', clientSecret !== undefined],
    ['OIDC_CLIENT_AUTHENTICATION', clientAuthentication !== CLIENT_AUTHENTICATIONS[0]],
    ['OIDC_SCOPE', scope !== DEFAULT_SCOPE]
  ])
  return client && { ...client, clientSecret, clientAuthentication, scope }
}

/** Scope tokens of RFC 6749 section 3.3, with `openid` among them (OpenID Connect Core section 3.1.2.1). */
function parseScope(text: string): string | Error {
  const tokens = text.split(/\s+/).filter((token) => token !== '')
  const isScope = tokens.includes('openid') && tokens.every((token) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(token))
  return isScope ? tokens.join(' ') : new Error('must be scopes with spaces between, openid among them')
}

function unlessBlank<T>(parse: (text: string) => T | Error): (text: string) => T | Error | undefined {
  return (text) => (text === '' ? undefined : parse(text))
}

/** Names of roles with commas between. */
function parseRoles(text: string): readonly string[] | Error {
  if (text === '') return []
  const roles = text.split(',').map((one) => one.trim())
  return roles.includes('') ? new Error('must be names of roles with commas between, such as Admin,Clerk') : roles
}

function parseAddresses(text: string): readonly string[] | Error {
  const addresses = text.split(',').map((one) => one.trim())
  return addresses.every(isAddress)
    ? [...new Set(addresses)]
    : new Error('must be host:port, such as 127.0.0.1:50051 or [::1]:50051, or several with commas between')
}

function isAddress(text: string): boolean {
  const [, port = ''] = /^(?:\[[0-9a-f:.]+\]|[^\s:/[\]]+):(\d{1,5})$/i.exec(text) ?? []
  return port !== '' && Number(port) >= 1 && Number(port) <= 65_535
}
