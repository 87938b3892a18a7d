import { BaseError, ConnectionError } from 'sequelize'
import { redactUrl } from '../../shared/settings-reader.js'
import { messageOf, StartError } from '../start-error.js'

/** A database as its operator knows it. */
export interface ConfiguredDatabase {
  /** The setting that names it. */
  readonly setting: string
  readonly url: string
}

interface Advice {
  readonly wrong: string
  readonly remedy: string
}

const REFUSED: Advice = {
  wrong: 'the server refuses this user or password',
  remedy: 'Correct them, or create the user and grant it the database; percent-encode special characters.'
}
const UNREACHED: Advice = {
  wrong: 'no server answers there',
  remedy: 'Start it, or correct host and port.'
}
const NO_FOLDER: Advice = {
  wrong: 'a part of the path is a file, not a directory',
  remedy: 'Name a file in a directory that exists or can be made.'
}
const FORBIDDEN: Advice = {
  wrong: 'this user may not read and write there',
  remedy: 'Grant that, or name another file.'
}

const ADVICE: Readonly<Record<string, Advice>> = {
  ER_ACCESS_DENIED_ERROR: REFUSED,
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: REFUSED,
  ER_DBACCESS_DENIED_ERROR: {
    wrong: 'this user may not use the database, or there is none of this name',
    remedy: 'Create it with CREATE DATABASE, and grant it to the user.'
  },
  ER_HOST_NOT_PRIVILEGED: { wrong: 'the server takes no connection from this host', remedy: 'Allow it on the server.' },
  ER_BAD_DB_ERROR: {
    wrong: 'the server has no database of this name',
    remedy: 'Create it with CREATE DATABASE: its tables are made at start, the database is not.'
  },
  ECONNREFUSED: UNREACHED,
  ETIMEDOUT: UNREACHED,
  EHOSTUNREACH: UNREACHED,
  ENETUNREACH: UNREACHED,
  ENOTFOUND: { wrong: 'there is no host of this name', remedy: 'Correct it.' },
  EAI_AGAIN: { wrong: 'the name of the host cannot be looked up just now', remedy: 'Try again, or correct it.' },
  HANDSHAKE_NO_SSL_SUPPORT: {
    wrong: 'the server has no TLS',
    remedy: 'Set it up there, or leave out ssl=true.'
  },
  SQLITE_CANTOPEN: {
    wrong: 'this is no file that can be opened for writing',
    remedy: 'Name a file in a directory that this user may write to, not a directory.'
  },
  SQLITE_NOTADB: { wrong: 'the file is no SQLite database', remedy: 'Name another, or one that is not there yet.' },
  SQLITE_READONLY: FORBIDDEN,
  ENOENT: { wrong: 'no directory can be made there', remedy: NO_FOLDER.remedy },
  NO_ANSWER: { wrong: 'the file system gives no answer', remedy: 'Mount it again, or name a file elsewhere.' },
  EEXIST: NO_FOLDER,
  ENOTDIR: NO_FOLDER,
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EROFS: { wrong: 'the file system is read-only', remedy: 'Name a file elsewhere.' }
}

/**
 * Why a database could not be opened, as a StartError that says which setting, what is wrong and what to do. What is no
 * such failure comes back as it is.
 */
export function openFailure(error: unknown, { setting, url }: ConfiguredDatabase): unknown {
  if (error instanceof StartError) {
    return new StartError(`${setting}, ${redactUrl(url)}: ${error.message}`, { cause: error })
  }
  const code = codeOf(error)
  const advice = code === undefined ? undefined : ADVICE[code]
  if (advice === undefined && !(error instanceof ConnectionError)) return error
  const { wrong, remedy } = advice ?? { wrong: messageOf(error), remedy: 'Correct that, or name another database.' }
  const also = code === undefined ? '' : ` (${code})`
  return new StartError(`${setting}, ${redactUrl(url)}, cannot be opened: ${wrong}${also}. ${remedy}`, {
    cause: error
  })
}

function codeOf(error: unknown): string | undefined {
  if (error instanceof BaseError && 'parent' in error) return codeOf(error.parent)
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
