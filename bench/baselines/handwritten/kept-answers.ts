import type { PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2/promise'
import { RejectedRequest } from '../rejected-request.js'
import type { Claim, WrittenProduct } from '../writes.js'

const TAKE =
  'INSERT INTO ur_idempotency_keys (key_hash, fingerprint, created_at, expires_at) VALUES (?, ?, ?, ?) ' +
  'ON DUPLICATE KEY UPDATE key_hash = key_hash'
const FIND = 'SELECT fingerprint, answer FROM ur_idempotency_keys WHERE key_hash = ?'
const KEEP = 'UPDATE ur_idempotency_keys SET answer = ? WHERE key_hash = ?'

interface KeyRow extends RowDataPacket {
  readonly fingerprint: Buffer
  readonly answer: Buffer
}

/** Takes the key, or finds the answer kept under it. */
export async function claimKey(connection: PoolConnection, claim: Claim): Promise<WrittenProduct | undefined> {
  const { keyHash, fingerprint, now, expiresAt } = claim
  const [{ affectedRows }] = await connection.execute<ResultSetHeader>(TAKE, [keyHash, fingerprint, now, expiresAt])
  if (affectedRows === 1) return undefined
  const [[kept]] = await connection.execute<KeyRow[]>(FIND, [keyHash])
  if (kept === undefined) throw new Error('A key that was just locked is gone.')
  if (!kept.fingerprint.equals(fingerprint)) throw new RejectedRequest(422, 'The key was used for another request.')
  return parseAnswer(kept.answer.toString('utf8'))
}

export async function keepAnswer(connection: PoolConnection, { keyHash }: Claim, written: WrittenProduct) {
  const { json, rowVersion, id } = written
  await connection.execute(KEEP, [Buffer.from(JSON.stringify([json, rowVersion, id, []])), keyHash])
}

function parseAnswer(text: string): WrittenProduct {
  const [json, rowVersion, id] = JSON.parse(text) as [string, string, string] // as keepAnswer writes them
  return { json, rowVersion, id }
}
