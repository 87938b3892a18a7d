import type { Family, KeptToken, NewToken, Rotation } from '../../auth/auth-store.js'
import { statementText } from '../statement.js'
import type { WriteSession } from '../write/transactions.js'
import { binary, digits, millis, orNull, rowsOf, select } from './select.js'

const ADD_FAMILY = statementText(
  'INSERT INTO refresh_families (id, account_id, created_at, ends_at, expires_at) ' +
    'VALUES ($id, $account, $created, $ends, $until)'
)

const ADD_TOKEN = statementText(
  'INSERT INTO refresh_tokens (token_hash, family_id, issued_at, expires_at) VALUES ($hash, $family, $issued, $until)'
)

const FAMILY = { id: binary, account_id: digits, created_at: millis, ends_at: millis, revoked_at: orNull(millis) }

const FAMILY_ID = select({ family_id: binary }, 'FROM refresh_tokens WHERE token_hash = $hash')

/** One row for all that befalls a family: whoever holds it is alone with its tokens. */
const LOCK = {
  mysql: select(FAMILY, 'FROM refresh_families WHERE id = $id FOR UPDATE'),
  sqlite: select(FAMILY, 'FROM refresh_families WHERE id = $id')
}

const TOKEN = select(
  {
    family_id: binary,
    issued_at: millis,
    expires_at: millis,
    used_at: orNull(millis),
    successor: orNull(binary)
  },
  'FROM refresh_tokens WHERE token_hash = $hash'
)

const USE = statementText('UPDATE refresh_tokens SET used_at = $at, successor = $sealed WHERE token_hash = $hash')

/** Also what two nodes of a Galera cluster collide on, where FOR UPDATE holds for one node alone. */
const EXTEND = statementText('UPDATE refresh_families SET expires_at = $until WHERE id = $id')

const REVOKE = statementText('UPDATE refresh_families SET revoked_at = $at, expires_at = $at WHERE id = $id')

export async function addFamily(session: WriteSession, family: Family, token: NewToken): Promise<void> {
  await session.change(ADD_FAMILY, {
    id: family.id,
    account: BigInt(family.accountId),
    created: BigInt(family.createdAt),
    ends: BigInt(family.endsAt),
    until: BigInt(token.expiresAt)
  })
  await addToken(session, token)
}

export async function lockFamilyOf(
  session: WriteSession,
  kind: keyof typeof LOCK,
  hash: Buffer
): Promise<Family | undefined> {
  const [found] = await rowsOf(session, FAMILY_ID, { hash })
  if (found === undefined) return undefined
  const [row] = await rowsOf(session, LOCK[kind], { id: found.family_id })
  if (row === undefined) return undefined
  return {
    id: row.id,
    accountId: row.account_id,
    createdAt: row.created_at,
    endsAt: row.ends_at,
    revokedAt: row.revoked_at
  }
}

export async function findToken(session: WriteSession, hash: Buffer): Promise<KeptToken | undefined> {
  const [row] = await rowsOf(session, TOKEN, { hash })
  if (row === undefined) return undefined
  const { family_id: familyId, issued_at: issuedAt, expires_at: expiresAt, used_at: usedAt, successor } = row
  return { hash, familyId, issuedAt, expiresAt, usedAt, successor }
}

export async function rotate(
  session: WriteSession,
  hash: Buffer,
  { usedAt, sealed, successor }: Rotation
): Promise<void> {
  await session.change(USE, { hash, at: BigInt(usedAt), sealed })
  await addToken(session, successor)
  await session.change(EXTEND, { id: successor.familyId, until: BigInt(successor.expiresAt) })
}

export async function revokeFamily(session: WriteSession, id: Buffer, at: number): Promise<void> {
  await session.change(REVOKE, { id, at: BigInt(at) })
}

async function addToken(session: WriteSession, { hash, familyId, issuedAt, expiresAt }: NewToken): Promise<void> {
  await session.change(ADD_TOKEN, {
    hash,
    family: familyId,
    issued: BigInt(issuedAt),
    until: BigInt(expiresAt)
  })
}
