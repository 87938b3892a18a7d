import { listed } from './start-error.js'

/** Every setting of either process, in the order of docs/settings.md. The readers take no other name. */
export const SETTING_NAMES = [
  'DATA_SERVICE_ADDRESS',
  'GRPC_TLS_CERT_FILE',
  'GRPC_TLS_KEY_FILE',
  'GRPC_TLS_CA_FILE',
  'GRPC_TLS_CLIENT_AUTH',
  'GRPC_INSECURE',
  'GATEWAY_SECRET',
  'DATA_DIR',
  'OIDC_ISSUER',
  'OIDC_CLIENT_ID',
  'REFRESH_TOKEN_TTL',
  'ADMIN_HOST',
  'ADMIN_PORT',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_SERVICE_NAME',
  'OTEL_TRACES_SAMPLER_ARG',
  'OTEL_BSP_SCHEDULE_DELAY',
  'LOG_LEVEL',
  'GATEWAY_HOST',
  'GATEWAY_PORT',
  'PUBLIC_BASE_URL',
  'DRAIN_TIME',
  'MAX_CONNECTIONS',
  'MAX_EVENT_LOOP_DELAY',
  'SERVER_TIMING',
  'RATE_LIMIT',
  'CORS_ORIGINS',
  'HTTP_TLS_CERT_FILE',
  'HTTP_TLS_KEY_FILE',
  'TRUSTED_PROXIES',
  'DATA_SERVICE_CALLS',
  'RENDERER_URL',
  'RENDERER_REFRESH_TOKEN',
  'ADMIN_UI',
  'ADMIN_UI_ROLES',
  'MCP',
  'DOCS_UI',
  'DOCS_PUBLIC',
  'OPENAPI_TITLE',
  'OPENAPI_VERSION',
  'OPENAPI_LICENSE',
  'OPENAPI_CONTACT',
  'OPENAPI_SERVERS',
  'STRICT_HANDLING',
  'COOKIE_SECURE',
  'OIDC_CLIENT_SECRET',
  'OIDC_CLIENT_AUTHENTICATION',
  'OIDC_SCOPE',
  'DATA_PROTECTION_BLOB_STORAGE_URI',
  'DATA_PROTECTION_KEY_VAULT_KEY_URI',
  'DATA_PROTECTION_APPLICATION_NAME',
  'DATABASE_URL',
  'REVIEWS_DATABASE_URL',
  'DATA_SERVICE_ADMIN_PORT',
  'GRPC_TLS_GATEWAY_NAME',
  'DATABASE_POOL_SIZE',
  'LOG_SQL',
  'ENGINE_TABLE_PREFIX',
  'ROW_VERSION_SECRET',
  'MIGRATE_AT_START',
  'SCHEMA_MISMATCH',
  'SAMPLE_DATA',
  'MAX_PAGE_SIZE',
  'MAX_EXPORT_ROWS',
  'RATE_LIMIT_ACCOUNT',
  'OWNER_CLAIM_TYPE',
  'OWNER_PARAMETER_NAME',
  'OWNER_BYPASS_ROLE',
  'JWT_ISSUER',
  'JWT_AUDIENCE',
  'JWT_PRIVATE_KEY_FILE',
  'JWT_JWKS_URI',
  'JWT_JWKS_ISSUER',
  'JWT_JWKS_AUDIENCE',
  'JWT_JWKS_ROLES',
  'JWT_JWKS_ROLE_CLAIM',
  'JWT_JWKS_PERMISSIONS',
  'JWT_JWKS_PERMISSION_CLAIM',
  'JWT_JWKS_OWNER_CLAIM',
  'JWT_JWKS_OWNERS',
  'JWT_JWKS_CLAIMS',
  'JWT_JWKS_TOKEN_TYPE',
  'OIDC_NEW_ACCOUNT_ROLE',
  'ONE_TIME_LINK_URL',
  'SIGN_UP_ROLES',
  'SMTP_URL',
  'SMTP_FROM',
  'ACCESS_TOKEN_TTL',
  'REFRESH_GRACE',
  'IDEMPOTENCY_RETENTION',
  'IDEMPOTENCY_REQUIRED',
  'OUTBOX_POLL_INTERVAL',
  'OUTBOX_HANDLER_TIMEOUT',
  'OUTBOX_MAX_ATTEMPTS',
  'OUTBOX_RETENTION',
  'WEBHOOK_PRIVATE_NETWORKS',
  'GRPC_REFLECTION'
] as const

export type SettingName = (typeof SETTING_NAMES)[number]

/** Settings by name. Only the entry point of a process passes `process.env` in. */
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads settings one by one and collects every problem, so that one failed start reports all mistakes. A blank setting
 * counts as unset.
 */
export class SettingsReader<Name extends string = SettingName> {
  readonly #environment: Environment
  readonly #problems: string[] = []
  readonly #effective = new Map<string, string>()

  constructor(environment: Environment) {
    this.#environment = environment
  }

  text(name: Name, fallback: string): string {
    return this.parsed(name, { fallback, parse: (text) => text })
  }

  optionalText(name: Name): string | undefined {
    const text = this.#raw(name)
    this.#effective.set(name, text ?? '')
    return text
  }

  /** A secret of at least 16 visible ASCII characters, or undefined if it is not set. It is never printed. */
  secret(name: Name): string | undefined {
    const text = this.#raw(name)
    this.#effective.set(name, text === undefined ? '' : '***')
    if (text === undefined || /^[\x21-\x7e]{16,}$/.test(text)) return text
    this.addProblem(`${name} must be at least 16 visible ASCII characters, such as \`openssl rand -hex 32\` prints.`)
    return undefined
  }

  /** A secret that somebody else issued, of visible ASCII characters and spaces; undefined if it is not set. Never printed. */
  issuedSecret(name: Name): string | undefined {
    const text = this.#raw(name)
    this.#effective.set(name, text === undefined ? '' : '***')
    if (text === undefined || /^[\x20-\x7e]+$/.test(text)) return text
    this.addProblem(`${name} must be ASCII characters on one line.`)
    return undefined
  }

  flag(name: Name, fallback: boolean): boolean {
    const parse = (text: string): boolean | Error =>
      text === 'true' ? true : text === 'false' ? false : new Error('must be true or false')
    return this.parsed(name, { fallback: String(fallback), parse })
  }

  /** A whole number of at least `min` and at most `max`. */
  integer(name: Name, range: { fallback: number; min: number; max?: number }): number {
    const { fallback, min, max = Number.MAX_SAFE_INTEGER } = range
    const parse = (text: string): number | Error => {
      const value = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
      return value >= min && value <= max ? value : new Error(`must be a whole number from ${min} to ${max}`)
    }
    return this.parsed(name, { fallback: String(fallback), parse })
  }

  /** A duration such as `500ms`, `10s`, `15m`, `24h` or `7d`, in milliseconds. */
  duration(name: Name, fallback: string): number {
    return this.parsed(name, { fallback, parse: parseDuration })
  }

  /** `parse` returns the value, or an Error whose message completes a sentence that begins with the name. */
  parsed<T>(name: Name, how: { fallback: string; parse: (text: string) => T | Error }): T {
    const text = this.#raw(name) ?? how.fallback
    this.#effective.set(name, text)
    const value = how.parse(text)
    if (!(value instanceof Error)) return value
    this.addProblem(`${name} ${value.message}, not ${JSON.stringify(redactUrl(text))}.`)
    const fallbackValue = how.parse(how.fallback)
    if (fallbackValue instanceof Error) throw fallbackValue
    return fallbackValue
  }

  addProblem(sentence: string): void {
    this.#problems.push(sentence)
  }

  /** Throws one SettingsError that lists every problem, if there is any. */
  finish(): void {
    if (this.#problems.length > 0) throw new SettingsError(this.#problems)
  }

  /** The settings in force, one NAME=value a line, without secrets. `--print-config` prints them. */
  effective(): string {
    return [...this.#effective]
      .map(([name, value]) => `${name}=${redactUrl(value).replaceAll('\n', String.raw`\n`)}`)
      .join('\n')
  }

  #raw(name: Name): string | undefined {
    const text = this.#environment[name]
    return text === undefined || text.trim() === '' ? undefined : text
  }
}

const DURATION_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Milliseconds. The message of the Error completes a sentence that begins with the name of what the text is of. */
export function parseDuration(text: string): number | Error {
  const [, digits = '', unit = ''] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) ?? []
  const factor = DURATION_UNITS[unit]
  return factor === undefined || Number(digits) === 0
    ? new Error('must be a duration such as 10s, 15m, 24h or 7d')
    : Number(digits) * factor
}

export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  /** A sentence each, which begins with the name of the setting. */
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(
      `Cannot start: ${problems.length} setting${problems.length === 1 ? ' is' : 's are'} wrong.${listed(problems)}`
    )
    this.problems = problems
  }
}

/**
 * A URL with `***` in place of its password and of every query value whose name says that it is a secret. The password
 * is taken to reach up to the last `@`, since people write passwords into URLs without escaping them.
 */
export function redactUrl(text: string): string {
  return text
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^:/?#@]*):.*@/is, '$1:***@')
    .replace(/([?&](?:password|sig|secret|token)=)[^&]*/gi, '$1***')
}

/** What the command line of a process asks for. */
type Task = 'serve' | 'print-config' | 'help'

const TASKS: ReadonlyMap<string, Task> = new Map([
  ['--print-config', 'print-config'],
  ['--help', 'help'],
  ['-h', 'help']
])

/** `args` are those after the module. Throws an ArgumentError that names the first unknown argument. */
export function readArguments(args: readonly string[]): Task {
  const tasks = args.map((arg) => {
    const task = TASKS.get(arg)
    if (task === undefined) throw new ArgumentError(arg)
    return task
  })
  return tasks.includes('help') ? 'help' : (tasks[0] ?? 'serve')
}

export class ArgumentError extends Error {
  override readonly name = 'ArgumentError'

  constructor(argument: string) {
    super(
      `Cannot start: there is no argument ${JSON.stringify(argument)}. ` +
        'It takes --print-config and --help; everything else is an environment variable of docs/settings.md.'
    )
  }
}

/** What `--help` of a process prints. */
export function help(process: 'gateway' | 'data-service'): string {
  return `Usage: uniform-rest start ${process} [--app <folder>] [--print-config | --help]

  --print-config  prints the settings that apply, secrets redacted, and ends
  --help          prints this

Settings are environment variables, lines of .env, or \`settings\` of uniform-rest.config.ts, in this order; docs/settings.md
explains each. \`uniform-rest dev\` runs both processes.
`
}
