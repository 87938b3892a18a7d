/** Where a database is: what `connect` opens. */
export type DatabaseSettings = SqliteSettings | MysqlSettings

export interface SqliteSettings {
  readonly kind: 'sqlite'
  readonly file: string
}

/** MySQL or MariaDB: which of the two is asked of the server. */
export interface MysqlSettings {
  readonly kind: 'mysql'
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** TLS with the server's certificate verified. */
  readonly ssl?: boolean
}

const FORMS = 'sqlite:<file>, mysql://<user>:<password>@<host>:<port>/<database> or mariadb:// with the same parts'

/**
 * Parses `sqlite:<file>`, `mysql://…` and `mariadb://…`, the latter two with an optional `?ssl=true`. Throws an Error
 * whose message says what would be right and repeats no part of the URL, which may hold a password.
 */
export function parseDatabaseUrl(url: string): DatabaseSettings {
  if (url.startsWith('sqlite:')) return sqliteSettings(url.slice('sqlite:'.length))
  if (/^(mysql|mariadb):\/\//.test(url)) return mysqlSettings(url)
  throw new Error(`must be ${FORMS}`)
}

function sqliteSettings(file: string): SqliteSettings {
  if (file === '') throw new Error('names no file: sqlite:<file>')
  if (file === ':memory:') throw new Error('must name a file, since an in-memory database is private to one connection')
  return { kind: 'sqlite', file }
}

function mysqlSettings(url: string): MysqlSettings {
  const { hostname, port, username, password, pathname, searchParams } = parts(url)
  const database = decoded(pathname.replace(/^\//, ''))
  if (hostname === '') throw new Error(`names no host: ${FORMS}`)
  if (database === '' || database.includes('/')) throw new Error(`must name one database after the host: ${FORMS}`)
  return {
    kind: 'mysql',
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 3306 : Number(port),
    user: decoded(username),
    password: decoded(password),
    database,
    ...ssl(searchParams)
  }
}

function parts(url: string): URL {
  try {
    return new URL(url)
  } catch {
    throw new Error(`is no valid URL: ${FORMS}; percent-encode special characters of the password`)
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Error('has a % that begins no percent-encoded character; write it as %25')
  }
}

function ssl(parameters: URLSearchParams): { readonly ssl?: boolean } {
  for (const name of parameters.keys()) {
    if (name !== 'ssl') throw new Error(`has the unknown parameter ${name}; ssl=true or ssl=false is the only one`)
  }
  const value = parameters.get('ssl')
  if (value === null) return {}
  if (value !== 'true' && value !== 'false') throw new Error('has an ssl that is neither true nor false')
  return { ssl: value === 'true' }
}
