import type { DatabaseLocation, Engine } from './engines/engine.js'
import { mysqlEngine } from './engines/mysql/mysql.js'
import { sqliteEngine } from './engines/sqlite/sqlite.js'

/** Every kind of database that the service runs on. */
const ENGINES: readonly Engine[] = [sqliteEngine, mysqlEngine]

const URL_FORMS = ENGINES.map(({ urlForm }) => urlForm).join(', ')

/** The engine whose scheme the URL begins with. Throws an Error that says how URLs are written. */
export function engineOf(url: string): Engine {
  const engine = ENGINES.find(({ schemes }) => schemes.some((scheme) => url.startsWith(scheme)))
  if (engine === undefined) throw new Error(`must be ${URL_FORMS}`)
  return engine
}

/** The place of a URL's database. Throws an Error as `Engine.locate` says. */
export function locateDatabase(url: string): DatabaseLocation {
  return engineOf(url).locate(url, URL_FORMS)
}

/** The URL of a database in a file, which needs no server. The service uses it if no URL is configured. `path` has no ending. */
export function embeddedDatabaseUrl(path: string): string {
  return `sqlite:${path}.sqlite`
}
