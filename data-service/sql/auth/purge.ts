import { deleteListed } from '../write/delete-listed.js'
import type { WriteSession } from '../write/transactions.js'
import { binary, rowsOf, select, type Select } from './select.js'

/** Most rows of one DELETE. */
const AT_ONCE = 1024

type Keys = Select<{ readonly key_bytes: typeof binary }>

const ATTEMPTS = expired('login_attempts', 'key_hash')
const FAMILIES = expired('refresh_families', 'id')
const TOKENS = select(
  { key_bytes: binary },
  'FROM (SELECT t.token_hash AS key_bytes FROM refresh_families f JOIN refresh_tokens t ON t.family_id = f.id ' +
    'WHERE f.expires_at <= $now LIMIT $most) AS dead'
)

const USED = select(
  { key_bytes: binary },
  'FROM (SELECT token_hash AS key_bytes FROM refresh_tokens WHERE purge_at <= $now ORDER BY purge_at LIMIT $most) AS used'
)

export function purgeAttempts(session: WriteSession, now: number, most: number): Promise<number> {
  // One that is counted again meanwhile has expired no more.
  const statement = 'DELETE FROM login_attempts WHERE expires_at <= $now AND key_hash IN'
  return purge(session, { find: ATTEMPTS, statement }, { now, most })
}

/** Tokens first: a family takes its own with it, and there may be thousands of them. */
export async function purgeSessions(session: WriteSession, now: number, most: number): Promise<number> {
  const statement = 'DELETE FROM refresh_tokens WHERE token_hash IN'
  const tokens = await purge(session, { find: TOKENS, statement }, { now, most })
  if (tokens > 0) return tokens
  const families = 'DELETE FROM refresh_families WHERE expires_at <= $now AND id IN'
  return await purge(session, { find: FAMILIES, statement: families }, { now, most })
}

/** Of living families too: a token that is presented once it is gone is known by the family that it names. */
export function purgeUsedTokens(session: WriteSession, now: number, most: number): Promise<number> {
  const statement = 'DELETE FROM refresh_tokens WHERE purge_at <= $now AND token_hash IN'
  return purge(session, { find: USED, statement }, { now, most })
}

function expired(table: string, key: string): Keys {
  const rows = `SELECT ${key} AS key_bytes FROM ${table} WHERE expires_at <= $now ORDER BY expires_at LIMIT $most`
  return select({ key_bytes: binary }, `FROM (${rows}) AS expired`)
}

async function purge(
  session: WriteSession,
  { find, statement }: { readonly find: Keys; readonly statement: string },
  { now, most }: { readonly now: number; readonly most: number }
): Promise<number> {
  const found = await rowsOf(session, find, { now: BigInt(now), most: BigInt(Math.min(most, AT_ONCE)) })
  return await deleteListed(session, statement, { keys: found.map((row) => row.key_bytes), now })
}
