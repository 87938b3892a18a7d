import { PERMISSIONS } from './auth/roles.js'
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

/** `theirs=Ours,other=Clerk`. Theirs may hold `=`, as ours does not; blanks around each are ignored. */
export function parseMapping(text: string): ReadonlyMap<string, string> | Error {
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

/** The same with permissions of ours: one that no entity knows would be a slip that nobody notices. */
export function parsePermissionMapping(text: string): ReadonlyMap<string, string> | Error {
  const mapping = parseMapping(text)
  if (mapping instanceof Error) return new Error('must be pairs such as theirs=products:manage')
  const known: readonly string[] = PERMISSIONS
  const unknown = [...mapping.values()].find((ours) => !known.includes(ours))
  return unknown === undefined ? mapping : new Error(`must lead to permissions of ours (${known.join(', ')})`)
}
