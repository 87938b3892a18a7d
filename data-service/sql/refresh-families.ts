import type { Family, KeptToken, NewToken, Rotation, TokenKeys } from '../auth/accounts.js'
import { binary, digits, millis, orNull, rowsOf, type Select, select } from './account-rows.js'
import type { SqlDialect, WriteSession } from './engines/engine.js'
import { statementText } from './engines/statement.js'

const ADD_FAMILY = statementText(
  'INSERT INTO refresh_families (id, account_id, created_at, ends_at, expires_at, ref_hash, session_generation) ' +
    'VALUES ($id, $account, $created, $ends, $until, $ref, $generation)'
)

const ADD_TOKEN = statementText(
  'INSERT INTO refresh_tokens (token_hash, family_id, issued_at, expires_at) VALUES ($hash, $family, $issued, $until)'
)

const FAMILY = {
  id: binary,
  account_id: digits,
  created_at: millis,
  ends_at: millis,
  revoked_at: orNull(millis),
  session_generation: orNull(millis)
}

const FAMILY_ID = select({ family_id: binary }, 'FROM refresh_tokens WHERE token_hash = $hash')

const NAMED_FAMILY = select({ id: binary }, 'FROM refresh_families WHERE ref_hash = $ref')

/** Every change of a family or its tokens first locks the family's row, so that changes of one family run in sequence. */
export function lockFamilySelect({ forUpdate }: SqlDialect): Select<typeof FAMILY> {
  return select(FAMILY, `FROM refresh_families WHERE id = $id${forUpdate}`)
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

const ISSUED = select(
  { issued_at: millis },
  'FROM refresh_tokens WHERE family_id = $id AND issued_at > $since ORDER BY issued_at'
)

const USE = statementText(
  'UPDATE refresh_tokens SET used_at = $at, successor = $sealed, purge_at = $purge WHERE token_hash = $hash'
)

/** Concurrent refreshes on two nodes of a cluster collide on this write. A row lock holds on one node only. */
const EXTEND = statementText('UPDATE refresh_families SET expires_at = $until, ref_hash = $ref WHERE id = $id')

const REVOKE = statementText('UPDATE refresh_families SET revoked_at = $at, expires_at = $at WHERE id = $id')

/** It comes before REVOKE_ALL: a family that is inserted later waits for this row, and has the number from before. */
const NEXT_GENERATION = statementText(
  'UPDATE accounts SET session_generation = COALESCE(session_generation, 0) + 1 WHERE id = $account'
)

const REVOKE_ALL = statementText(
  'UPDATE refresh_families SET revoked_at = $at, expires_at = $at WHERE account_id = $account AND revoked_at IS NULL'
)

const REVOKE_OTHERS = statementText(
  'UPDATE refresh_families SET revoked_at = $at, expires_at = $at ' +
    'WHERE account_id = $account AND revoked_at IS NULL AND id <> $kept'
)

const KEEP = statementText(
  'UPDATE refresh_families SET session_generation = (SELECT session_generation FROM accounts WHERE id = $account) ' +
    'WHERE id = $kept'
)

export async function addFamily(session: WriteSession, family: Family, token: NewToken): Promise<void> {
  await session.change(ADD_FAMILY, {
    id: family.id,
    account: BigInt(family.accountId),
    created: BigInt(family.createdAt),
    ends: BigInt(family.endsAt),
    until: BigInt(token.expiresAt),
    ref: token.refHash,
    generation: BigInt(family.sessionGeneration)
  })
  await addToken(session, token)
}

export async function lockFamilyOf(
  session: WriteSession,
  lock: Select<typeof FAMILY>,
  token: TokenKeys
): Promise<Family | undefined> {
  const id = await familyIdOf(session, token)
  if (id === undefined) return undefined
  const [row] = await rowsOf(session, lock, { id })
  if (row === undefined) return undefined
  return {
    id: row.id,
    accountId: row.account_id,
    createdAt: row.created_at,
    endsAt: row.ends_at,
    revokedAt: row.revoked_at,
    sessionGeneration: row.session_generation ?? 0
  }
}

async function familyIdOf(session: WriteSession, { hash, refHash }: TokenKeys): Promise<Buffer | undefined> {
  const [found] = await rowsOf(session, FAMILY_ID, { hash })
  if (found !== undefined || refHash === null) return found?.family_id
  const [named] = await rowsOf(session, NAMED_FAMILY, { ref: refHash })
  return named?.id
}

export async function issuedSince(session: WriteSession, id: Buffer, since: number): Promise<number[]> {
  return (await rowsOf(session, ISSUED, { id, since: BigInt(since) })).map((row) => row.issued_at)
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
  { usedAt, purgeAt, sealed, successor }: Rotation
): Promise<void> {
  await session.change(USE, {
    hash,
    at: BigInt(usedAt),
    sealed,
    purge: purgeAt === null ? null : BigInt(purgeAt)
  })
  await addToken(session, successor)
  await session.change(EXTEND, { id: successor.familyId, until: BigInt(successor.expiresAt), ref: successor.refHash })
}

export async function revokeFamily(session: WriteSession, id: Buffer, at: number): Promise<void> {
  await session.change(REVOKE, { id, at: BigInt(at) })
}

/** As AuthUnit says. */
export async function endSessions(
  session: WriteSession,
  accountId: string,
  { at, kept }: { readonly at: number; readonly kept: Buffer | undefined }
): Promise<number> {
  const account = BigInt(accountId)
  await session.change(NEXT_GENERATION, { account })
  if (kept === undefined) return (await session.change(REVOKE_ALL, { account, at: BigInt(at) })).rows
  const { rows } = await session.change(REVOKE_OTHERS, { account, at: BigInt(at), kept })
  await session.change(KEEP, { account, kept })
  return rows
}

async function addToken(session: WriteSession, { hash, familyId, issuedAt, expiresAt }: NewToken): Promise<void> {
  await session.change(ADD_TOKEN, {
    hash,
    family: familyId,
    issued: BigInt(issuedAt),
    until: BigInt(expiresAt)
  })
}
