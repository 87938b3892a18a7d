import type { LoginAttempts } from '../../auth/auth-store.js'
import type { ReadSession } from '../reader.js'
import { statementText } from '../statement.js'
import type { WriteSession } from '../write/transactions.js'
import { binary, rowsOf, select, text } from './select.js'

const INSERT = "INTO login_attempts (key_hash, attempts, expires_at) VALUES ($key, '[[],[]]', 0)"

/** Makes the row or, where it is there, changes nothing and locks it. */
const TAKE = {
  mysql: statementText(`INSERT ${INSERT} ON DUPLICATE KEY UPDATE key_hash = key_hash`),
  sqlite: statementText(`INSERT OR IGNORE ${INSERT}`)
}

const FIND = select({ attempts: text }, 'FROM login_attempts WHERE key_hash = $key')

/** Of both keys of a log-in at once: what most attempts of a flood cost, and all that they do. */
const FIND_BOTH = select(
  { key_hash: binary, attempts: text },
  'FROM login_attempts WHERE key_hash IN ($first, $second)'
)

const KEEP = statementText('UPDATE login_attempts SET attempts = $attempts, expires_at = $until WHERE key_hash = $key')

/** As AuthUnit. Both lists are one short text, since they are only ever read and written together, under lock. */
export async function lockAttempts(
  session: WriteSession,
  kind: keyof typeof TAKE,
  keyHash: Buffer
): Promise<LoginAttempts> {
  await session.change(TAKE[kind], { key: keyHash })
  const [row] = await rowsOf(session, FIND, { key: keyHash })
  return attemptsOf(row?.attempts ?? '')
}

/** As AuthStore. */
export async function findAttempts(
  session: ReadSession,
  keys: readonly [first: Buffer, second: Buffer]
): Promise<[LoginAttempts, LoginAttempts]> {
  const rows = await rowsOf(session, FIND_BOTH, { first: keys[0], second: keys[1] })
  const of = (key: Buffer): LoginAttempts => {
    const row = rows.find(({ key_hash: hash }) => hash.equals(key))
    return row === undefined ? { failed: [], pending: [] } : attemptsOf(row.attempts)
  }
  return [of(keys[0]), of(keys[1])]
}

export async function keepAttempts(
  session: WriteSession,
  keyHash: Buffer,
  { attempts: { failed, pending }, expiresAt }: { readonly attempts: LoginAttempts; readonly expiresAt: number }
): Promise<void> {
  const attempts = JSON.stringify([failed, pending])
  await session.change(KEEP, { key: keyHash, attempts, until: BigInt(expiresAt) })
}

function attemptsOf(stored: string): LoginAttempts {
  const [failed, pending] = membersOf(JSON.parse(stored))
  return { failed: timesOf(failed), pending: timesOf(pending) }
}

function timesOf(list: unknown): number[] {
  return membersOf(list).filter((at) => typeof at === 'number')
}

function membersOf(list: unknown): readonly unknown[] {
  if (!Array.isArray(list)) throw new TypeError('login_attempts holds no list')
  return list
}
