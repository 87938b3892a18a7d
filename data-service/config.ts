import { join } from 'node:path'
import { type AdminAddress, readDataAdminAddress } from '../shared/observe/admin-server.js'
import { parseLogLevel } from '../shared/logger.js'
import { readTraceSettings, type TraceSettings } from '../shared/observe/tracing.js'
import { isSecureUrl, readOpenIdClient } from '../shared/openid-settings.js'
import { parseRateLimit, type RateLimit } from '../shared/rate-limit.js'
import { type Environment, SettingsReader } from '../shared/settings.js'
import { type GrpcSecurity, readGrpcSecurity } from '../shared/tls.js'
import type { ServedApplication } from './application.js'
import type { SchemaMismatch } from './schema-at-start.js'
import type { OneTimeLinkSettings, TokenConfig } from './auth/authentication.js'
import { isReservedClaim, type OwnerClaims, permissionsIn } from './auth/tokens/claims.js'
import type { OutsideIssuerConfig } from './auth/tokens/outside-issuer.js'
import { MANAGE_ACCOUNTS } from './auth/powers.js'
import { isWebhook, oneTimeLink } from './entity/event.js'
import type { OutboxSettings } from './outbox/dispatcher.js'
import { type MailSettings, readMail } from './outbox/mail-delivery.js'
import { readWebhooks, type WebhookTarget } from './outbox/webhook-settings.js'
import type { OwnershipPolicy } from './plan/planning.js'
import { type ConfiguredDatabase, sameUrl } from './sql/connect.js'
import { embeddedDatabaseUrl, engineOf, locateDatabase } from './sql/engines.js'
import { DEFAULT_PREFIX, type OwnNames, parseOwnNames } from './sql/engines/own-tables.js'

/** The settings of the data service (contract.md section 1). Durations in milliseconds. */
export interface DataServiceConfig {
  /** host:port; port 0 picks a free one. */
  readonly address: string
  readonly grpc: GrpcSecurity & { readonly gatewayName: string }
  /** undefined: health is served over gRPC only. */
  readonly admin: AdminAddress | undefined
  readonly dataDir: string
  readonly logLevel: string
  /** Whether each SQL statement is a line of the log. */
  readonly logSql: boolean
  /** undefined: no traces are exported. */
  readonly traces: TraceSettings | undefined
  /** URLs are `sqlite:<file>`, `mysql://…` or `mariadb://…`. */
  readonly databases: { readonly primary: ConfiguredDatabase; readonly second: ConfiguredDatabase | undefined }
  /** Upper limit of each database's connection pool; the embedded database has none. A migration uses two connections. */
  readonly databasePoolSize: number
  /** How the engine's own tables are named in a database that no earlier version made. */
  readonly ownNames: OwnNames
  /** What versions that are made of the content of rows are keyed with. undefined where no entity has such. */
  readonly rowVersionSecret: string | undefined
  /** Whether a start runs the migrations that have not run. Without it, it does not start while there are any. */
  readonly migrateAtStart: boolean
  /** What becomes of resources whose tables do not fit: an end of the start, or 503. undefined: 503 for tables of others. */
  readonly schemaMismatch: SchemaMismatch
  readonly sampleData: boolean
  readonly maxPageSize: number
  readonly maxExportRows: number
  readonly accountLimit: RateLimit | undefined
  readonly ownership: OwnershipPolicy & { readonly claimType: string; readonly owners: OwnerClaims }
  readonly tokens: TokenConfig
  /** undefined where one-time links are off. */
  readonly oneTimeLinks: OneTimeLinkSettings | undefined
  readonly mail: MailSettings | undefined
  readonly idempotency: { readonly retention: number; readonly required: boolean }
  readonly outbox: OutboxSettings & {
    readonly retention: number
    readonly privateNetworks: boolean
    readonly webhooks: readonly WebhookTarget[]
  }
  readonly reflection: boolean
}

const INT32_MAX = 2 ** 31 - 1
/** Upper limit of `max_connections` on MySQL and MariaDB. */
const MAX_CONNECTIONS = 100_000

/** Reads all settings; throws one SettingsError that lists every problem. `effective` is what `--print-config` prints. */
export function readConfig(
  environment: Environment,
  application: ServedApplication
): { config: DataServiceConfig; effective: string } {
  const reader = new SettingsReader(environment)
  const address = reader.parsed('DATA_SERVICE_ADDRESS', { fallback: '127.0.0.1:50051', parse: parseAddress })
  const dataDir = reader.text('DATA_DIR', '.data')
  // An application names the setting of its second store.
  const ofApplication: SettingsReader<string> = reader
  const database = (setting: string, name: string): ConfiguredDatabase => ({
    setting,
    url: ofApplication.parsed(setting, { fallback: embeddedDatabaseUrl(join(dataDir, name)), parse: checkDatabaseUrl })
  })
  const { secondStore, outbox = [] } = application
  const privateNetworks = reader.flag('WEBHOOK_PRIVATE_NETWORKS', false)
  const config: DataServiceConfig = {
    address,
    grpc: {
      ...readGrpcSecurity(reader, { addresses: [address], side: 'server' }),
      gatewayName: reader.text('GRPC_TLS_GATEWAY_NAME', 'gateway')
    },
    admin: readDataAdminAddress(reader),
    dataDir,
    logLevel: reader.parsed('LOG_LEVEL', { fallback: 'info', parse: parseLogLevel }),
    logSql: reader.flag('LOG_SQL', false),
    traces: readTraceSettings(reader),
    databases: {
      primary: database('DATABASE_URL', 'store'),
      second: secondStore && database(secondStore.setting, secondStore.name)
    },
    databasePoolSize: reader.integer('DATABASE_POOL_SIZE', { fallback: 10, min: 2, max: MAX_CONNECTIONS }),
    ownNames: reader.parsed('ENGINE_TABLE_PREFIX', { fallback: DEFAULT_PREFIX, parse: parseOwnNames }),
    rowVersionSecret: reader.secret('ROW_VERSION_SECRET'),
    migrateAtStart: reader.flag('MIGRATE_AT_START', false),
    schemaMismatch: reader.parsed('SCHEMA_MISMATCH', { fallback: '', parse: parseSchemaMismatch }),
    sampleData: reader.flag('SAMPLE_DATA', false),
    maxPageSize: reader.integer('MAX_PAGE_SIZE', { fallback: 500, min: 1, max: INT32_MAX }),
    maxExportRows: reader.integer('MAX_EXPORT_ROWS', { fallback: 100_000, min: 1, max: INT32_MAX }),
    accountLimit: reader.parsed('RATE_LIMIT_ACCOUNT', { fallback: '', parse: parseRateLimit }),
    ownership: {
      claimType: reader.text('OWNER_CLAIM_TYPE', application.ownerClaimType),
      owners: application.owners ?? {},
      parameterName: reader.text('OWNER_PARAMETER_NAME', 'id'),
      bypassRole: reader.optionalText('OWNER_BYPASS_ROLE')
    },
    tokens: readTokenConfig(reader, application),
    ...readOneTimeLinks(reader, application),
    idempotency: {
      retention: reader.duration('IDEMPOTENCY_RETENTION', '24h'),
      required: reader.flag('IDEMPOTENCY_REQUIRED', false)
    },
    outbox: {
      pollInterval: reader.duration('OUTBOX_POLL_INTERVAL', '1s'),
      handlerTimeout: reader.duration('OUTBOX_HANDLER_TIMEOUT', '30s'),
      maxAttempts: reader.integer('OUTBOX_MAX_ATTEMPTS', { fallback: 15, min: 1, max: 1000 }),
      retention: reader.duration('OUTBOX_RETENTION', '7d'),
      privateNetworks,
      webhooks: readWebhooks(ofApplication, { outbox, privateNetworks })
    },
    reflection: reader.flag('GRPC_REFLECTION', false)
  }
  // An invalid URL is already reported, and the default is used in its place.
  const { primary, second } = config.databases
  if (second !== undefined && sameUrl(primary.url, second.url)) {
    reader.addProblem(`${second.setting} must be another database than DATABASE_URL.`)
  }
  for (const [kind, claim] of Object.entries(config.ownership.owners)) {
    if (isReservedClaim(claim, config.ownership.claimType)) {
      reader.addProblem(
        `The claim ${claim} has another meaning, so it cannot name the owner \`${kind}\` of the config.`
      )
    }
  }
  const { bypassRole } = config.ownership
  if (config.oneTimeLinks?.signUpRoles.some((role) => role.toLowerCase() === bypassRole?.toLowerCase())) {
    reader.addProblem('SIGN_UP_ROLES must not name OWNER_BYPASS_ROLE, which sees the rows of everybody.')
  }
  if (config.ownNames.schema !== undefined && !engineOf(primary.url).hasSchemas) {
    reader.addProblem(
      'ENGINE_TABLE_PREFIX names another database for the tables of the engine, and DATABASE_URL a file, which holds one: ' +
        `leave \`${config.ownNames.schema}.\` out.`
    )
  }
  reader.finish()
  return { config, effective: reader.effective() }
}

function parseSchemaMismatch(text: string): SchemaMismatch | Error {
  return text === ''
    ? undefined
    : text === 'isolate' || text === 'stop'
      ? text
      : new Error('must be isolate or stop, or unset')
}

function readTokenConfig(
  reader: SettingsReader,
  { roles, owners = {} }: Pick<ServedApplication, 'roles' | 'owners'>
): TokenConfig {
  const issuer = reader.text('JWT_ISSUER', 'uniform-rest')
  const audience = reader.text('JWT_AUDIENCE', 'uniform-rest')
  const privateKeyFile = reader.optionalText('JWT_PRIVATE_KEY_FILE')
  const outside = readOutsideIssuer(reader, {
    ownIssuer: issuer,
    permissions: permissionsIn(roles),
    owners: Object.keys(owners)
  })
  const openId = readOpenId(reader, { ownIssuer: issuer, roles: Object.keys(roles) })
  if (outside !== undefined && outside.tokenType === undefined && givesIdTokens(openId, outside)) {
    reader.addProblem(
      'JWT_JWKS_TOKEN_TYPE must say which tokens give access, at+jwt for instance: JWT_JWKS_ISSUER and JWT_JWKS_AUDIENCE are ' +
        'OIDC_ISSUER and OIDC_CLIENT_ID, and ID tokens would be access tokens. Or have the issuer make tokens for another audience.'
    )
  }
  return {
    issuer,
    audience,
    privateKeyFile,
    outside,
    openId,
    accessTtl: reader.duration('ACCESS_TOKEN_TTL', '15m'),
    refreshTtl: reader.duration('REFRESH_TOKEN_TTL', '7d'),
    refreshGrace: reader.duration('REFRESH_GRACE', '10s')
  }
}

/** Whether the provider that people sign in with makes ID tokens of the outside issuer for its audience. */
function givesIdTokens(openId: TokenConfig['openId'], { issuer, audience }: OutsideIssuerConfig): boolean {
  const bare = (url: string): string => url.replace(/\/$/, '')
  return openId !== undefined && bare(openId.issuer) === bare(issuer) && openId.clientId === audience
}

/** Either all three settings are set or none: a key may verify only its own issuer's tokens, so the issuer must be known. */
function readOutsideIssuer(
  reader: SettingsReader,
  ours: { readonly ownIssuer: string; readonly permissions: readonly string[]; readonly owners: readonly string[] }
): OutsideIssuerConfig | undefined {
  const jwksUri = reader.parsed('JWT_JWKS_URI', { fallback: '', parse: parseJwksUri })
  const issuer = reader.optionalText('JWT_JWKS_ISSUER')
  const audience = reader.optionalText('JWT_JWKS_AUDIENCE')
  const roles = reader.parsed('JWT_JWKS_ROLES', { fallback: '', parse: parseMapping })
  const permissions = reader.parsed('JWT_JWKS_PERMISSIONS', {
    fallback: '',
    parse: permissionMappingParser(ours.permissions)
  })
  const owners = reader.parsed('JWT_JWKS_OWNERS', { fallback: '', parse: ownerMappingParser(ours.owners) })
  const inRules = reader.parsed('JWT_JWKS_CLAIMS', { fallback: '', parse: parseClaimNames })
  const optional = {
    JWT_JWKS_ROLE_CLAIM: reader.optionalText('JWT_JWKS_ROLE_CLAIM'),
    JWT_JWKS_PERMISSION_CLAIM: reader.optionalText('JWT_JWKS_PERMISSION_CLAIM'),
    JWT_JWKS_OWNER_CLAIM: reader.optionalText('JWT_JWKS_OWNER_CLAIM'),
    JWT_JWKS_TOKEN_TYPE: reader.optionalText('JWT_JWKS_TOKEN_TYPE')
  }
  if (jwksUri === '' && issuer === undefined && audience === undefined) {
    const given = Object.entries(optional).flatMap(([name, text]) => (text === undefined ? [] : [name]))
    if (roles.size > 0) given.push('JWT_JWKS_ROLES')
    if (permissions.size > 0) given.push('JWT_JWKS_PERMISSIONS')
    if (owners.size > 0) given.push('JWT_JWKS_OWNERS')
    if (inRules.length > 0) given.push('JWT_JWKS_CLAIMS')
    for (const name of given)
      reader.addProblem(`${name} is of use only with JWT_JWKS_URI, which names the outside issuer's keys.`)
    return undefined
  }
  if (jwksUri === '' || issuer === undefined || audience === undefined) {
    reader.addProblem('JWT_JWKS_URI, JWT_JWKS_ISSUER and JWT_JWKS_AUDIENCE must be set together, or none of them.')
    return undefined
  }
  if (issuer === ours.ownIssuer)
    reader.addProblem('JWT_JWKS_ISSUER must differ from JWT_ISSUER, whose tokens another key signs.')
  return {
    jwksUri,
    issuer,
    audience,
    tokenType: optional.JWT_JWKS_TOKEN_TYPE,
    claims: {
      roleClaim: optional.JWT_JWKS_ROLE_CLAIM ?? 'role',
      roles,
      permissionClaim: optional.JWT_JWKS_PERMISSION_CLAIM ?? 'permissions',
      permissions,
      ownerClaim: optional.JWT_JWKS_OWNER_CLAIM,
      owners,
      inRules
    }
  }
}

/** The OpenID provider that people sign in with. A new account needs a role of the application. */
function readOpenId(
  reader: SettingsReader,
  ours: { readonly ownIssuer: string; readonly roles: readonly string[] }
): TokenConfig['openId'] {
  const parse = (text: string): string | undefined | Error => {
    const role = ours.roles.find((name) => name.toLowerCase() === text.toLowerCase())
    if (text === '' || role !== undefined) return role
    return new Error(`must be a role of the application (${ours.roles.join(', ')})`)
  }
  const newAccountRole = reader.parsed('OIDC_NEW_ACCOUNT_ROLE', { fallback: '', parse })
  const client = readOpenIdClient(reader, [['OIDC_NEW_ACCOUNT_ROLE', newAccountRole !== undefined]])
  if (client === undefined) return undefined
  if (client.issuer === ours.ownIssuer) {
    reader.addProblem('OIDC_ISSUER must differ from JWT_ISSUER, whose tokens another key signs.')
  }
  return { ...client, newAccountRole }
}

/** Links need somebody who sends them: the handler of the application, or the settings of mail. */
function readOneTimeLinks(
  reader: SettingsReader,
  { roles, outbox = [] }: Pick<ServedApplication, 'roles' | 'outbox'>
): Pick<DataServiceConfig, 'oneTimeLinks' | 'mail'> {
  const url = reader.parsed('ONE_TIME_LINK_URL', { fallback: '', parse: parseLinkUrl })
  const signUpRoles = reader.parsed('SIGN_UP_ROLES', { fallback: '', parse: (text) => parseSignUpRoles(text, roles) })
  const mail = readMail(reader)
  const isHandled = outbox.some((one) => !isWebhook(one) && one.event.name === oneTimeLink.name)
  if (url === '') {
    const given = { SIGN_UP_ROLES: signUpRoles.length > 0, SMTP_URL: mail !== undefined }
    for (const [name, isGiven] of Object.entries(given)) {
      if (isGiven) reader.addProblem(`${name} is of use only with ONE_TIME_LINK_URL, the page that links lead to.`)
    }
    return { oneTimeLinks: undefined, mail: undefined }
  }
  if (mail === undefined && !isHandled) {
    reader.addProblem('ONE_TIME_LINK_URL needs SMTP_URL, or a handler of `oneTimeLink` in `outbox` of the application.')
  }
  if (mail !== undefined && isHandled) {
    reader.addProblem('SMTP_URL and a handler of `oneTimeLink` in `outbox` of the application would both send links.')
  }
  return { oneTimeLinks: { url, signUpRoles }, mail }
}

/** Whoever reads a link on its way can use it. The secret is its fragment. */
function parseLinkUrl(text: string): string | Error {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPage = url !== undefined && isSecureUrl(url) && url.username === '' && !text.includes('#')
  return text === '' || isPage
    ? text
    : new Error('must be an https: URL (http: only for this machine) without user name and fragment')
}

/** Anybody signs up, so the roles must not be those of somebody who gives roles. */
function parseSignUpRoles(text: string, roles: ServedApplication['roles']): readonly string[] | Error {
  const names = text.trim() === '' ? [] : text.split(',').map((name) => name.trim().toLowerCase())
  const found = Object.keys(roles).filter((role) => names.includes(role.toLowerCase()))
  if (found.length < new Set(names).size) {
    return new Error(`must be roles of the application (${Object.keys(roles).join(', ')}), with commas between`)
  }
  const manager = found.find((role) => roles[role]?.includes(MANAGE_ACCOUNTS))
  return manager === undefined ? found : new Error(`must not name ${manager}, whose holders manage accounts`)
}

/** `127.0.0.1:50051`, `[::1]:0`, `localhost:50051`. */
function parseAddress(text: string): string | Error {
  const [, port = ''] = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:/[\]]+):(\d{1,5})$/.exec(text) ?? []
  return port !== '' && Number(port) <= 65_535 ? text : new Error('must be host:port such as 127.0.0.1:50051')
}

/** Checks a URL and returns it unchanged. It is parsed again when the database is opened. */
function checkDatabaseUrl(text: string): string | Error {
  try {
    locateDatabase(text)
    return text
  } catch (error) {
    return error instanceof Error ? error : new Error('cannot be understood')
  }
}

/** Keys that are fetched without TLS can be replaced on the way, so http is accepted for this machine only. */
function parseJwksUri(text: string): string | Error {
  if (text === '') return text
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url !== undefined && isSecureUrl(url) ? text : new Error('must be an https: URL (http: only for this machine)')
}

/** Parses `theirs=Ours,other=Clerk`. Only the first name of a pair may contain `=`. Spaces around names are ignored. */
function parseMapping(text: string): ReadonlyMap<string, string> | Error {
  const entries: (readonly [string, string])[] = []
  for (const pair of text.trim() === '' ? [] : text.split(',')) {
    const at = pair.lastIndexOf('=')
    const [theirs, ours] = [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()]
    if (theirs === '' || ours === '') return new Error('must be pairs such as theirs=Ours,other=Clerk')
    if (entries.some(([known]) => known === theirs)) return new Error(`must name ${theirs} once`)
    entries.push([theirs, ours])
  }
  return new Map(entries)
}

/** As parseMapping, but a permission that no role has is an error: nobody would notice it otherwise. */
function permissionMappingParser(known: readonly string[]): (text: string) => ReadonlyMap<string, string> | Error {
  return (text) => {
    const mapping = parseMapping(text)
    if (mapping instanceof Error) return new Error(`must be pairs such as theirs=${known[0] ?? 'ours'}`)
    const unknown = [...mapping.values()].find((ours) => !known.includes(ours))
    return unknown === undefined ? mapping : new Error(`must lead to permissions of ours (${known.join(', ')})`)
  }
}

/** As parseMapping, to the kinds of owners of the application, each named once. */
function ownerMappingParser(known: readonly string[]): (text: string) => ReadonlyMap<string, string> | Error {
  return (text) => {
    const mapping = parseMapping(text)
    if (mapping instanceof Error) return new Error(`must be pairs such as their_claim=${known[0] ?? 'ours'}`)
    const kinds = [...mapping.values()]
    const isSound = kinds.every((one) => known.includes(one)) && new Set(kinds).size === kinds.length
    return isSound
      ? mapping
      : new Error(`must lead to owners of ours, each once (${known.join(', ') || 'there are none'})`)
  }
}

/** Rules read `caller.subject`, `caller.roles` and `caller.permissions`, which settings decide about. */
const NO_CLAIMS_IN_RULES = ['iss', 'sub', 'role', 'roles', 'permissions']

function parseClaimNames(text: string): readonly string[] | Error {
  const names = text.trim() === '' ? [] : text.split(',').map((name) => name.trim())
  if (names.includes('')) return new Error('must be names of claims such as team,level')
  const reserved = names.find((name) => NO_CLAIMS_IN_RULES.includes(name))
  return reserved === undefined
    ? names
    : new Error(`must not name ${reserved}, for which rules have a word of their own`)
}

/** What to say where an entity has versions of its content, and the settings have no secret for them. */
export function missingVersionSecret(
  { rowVersionSecret }: Pick<DataServiceConfig, 'rowVersionSecret'>,
  { entities }: Pick<ServedApplication, 'entities'>
): string | undefined {
  const names = entities.filter((one) => one.contentVersion).map(({ name }) => name)
  if (names.length === 0 || rowVersionSecret !== undefined) return undefined
  return (
    `${names.join(', ')}: rowVersion: 'content' takes ROW_VERSION_SECRET, the same for every data service and after each ` +
    'start. `openssl rand -hex 32` makes one.'
  )
}
