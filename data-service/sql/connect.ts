import { BaseError, ConnectionError } from 'sequelize'
import { redactUrl } from '../../shared/settings.js'
import { messageOf, StartError } from '../../shared/start-error.js'
import type { Database } from './engines/engine.js'
import { engineOf, locateDatabase } from './engines/engines.js'

/** A database as the settings name it. */
export interface ConfiguredDatabase {
  /** The name of the setting that holds the URL. */
  readonly setting: string
  readonly url: string
}

/** Makes what the database needs before it can be opened, such as the folder of its file, and opens it as `connect` does. */
export async function openDatabase(url: string, poolSize?: number): Promise<Database> {
  const location = locateDatabase(url)
  await location.prepare()
  return location.open(poolSize)
}

/** Opens the database of a URL as `DatabaseLocation.open` says. */
export function connect(url: string, poolSize?: number): Database {
  return locateDatabase(url).open(poolSize)
}

/**
 * A StartError for a database that could not be opened: it names the setting, the reason and the remedy. Any other error
 * is returned unchanged.
 */
export function openFailure(error: unknown, { setting, url }: ConfiguredDatabase): unknown {
  if (error instanceof StartError) {
    return new StartError(`${setting}, ${redactUrl(url)}: ${error.message}`, { cause: error })
  }
  const code = codeOf(error)
  const advice = code === undefined ? undefined : engineOf(url).openingAdvice[code]
  if (advice === undefined && !(error instanceof ConnectionError)) return error
  const { wrong, remedy } = advice ?? { wrong: messageOf(error), remedy: 'Correct that, or name another database.' }
  const codeNote = code === undefined ? '' : ` (${code})`
  return new StartError(`${setting}, ${redactUrl(url)}, cannot be opened: ${wrong}${codeNote}. ${remedy}`, {
    cause: error
  })
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof BaseError && 'parent' in error) return codeOf(error.parent)
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

/** Whether two URLs name the same database, as far as their texts show. */
export function sameUrl(one: string, other: string): boolean {
  return locateDatabase(one).spelling === locateDatabase(other).spelling
}

/**
 * Whether two databases are the same one under different names: two links to one file, two names of one server, or two
 * nodes of one cluster. Both have to be reachable.
 */
export async function sameDatabase(one: Database, other: Database): Promise<boolean> {
  const [first, second] = [await one.identity(), await other.identity()]
  return first.some((name) => second.includes(name))
}
