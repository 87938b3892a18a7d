import { isLoopbackAddress } from '../shared/grpc-security.js'
import { parseDatabaseUrl } from './sql/database-url.js'

const LOG_LEVELS: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** `127.0.0.1:50051`, `[::1]:0`, `localhost:50051`. */
export function parseAddress(text: string): string | Error {
  const [, port = ''] = /^(?:\[[0-9a-fA-F:.]+\]|[^\s:/[\]]+):(\d{1,5})$/.exec(text) ?? []
  return port !== '' && Number(port) <= 65_535 ? text : new Error('must be host:port such as 127.0.0.1:50051')
}

/** The URL as it is, for what opens the database to parse again. */
export function checkDatabaseUrl(text: string): string | Error {
  try {
    parseDatabaseUrl(text)
    return text
  } catch (error) {
    return error instanceof Error ? error : new Error('cannot be understood')
  }
}

/** Keys fetched in the clear could be anybody's, so plain http reaches no further than this machine. */
export function parseJwksUri(text: string): string | Error {
  if (text === '') return text
  const url = URL.canParse(text) ? new URL(text) : undefined
  const acceptable = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackAddress(url.hostname))
  return acceptable ? text : new Error('must be an https: URL (http: for this machine alone)')
}

export function parseLogLevel(text: string): string | Error {
  return LOG_LEVELS.includes(text) ? text : new Error(`must be one of ${LOG_LEVELS.join(', ')}`)
}
