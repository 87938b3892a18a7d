import type { Pool, PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2/promise'
import { type Caller, RejectedRequest } from '../app.js'
import { firstVersion, nextVersion, type ProductInput } from '../products.js'
import type { Claim, Guarded, ProductWrites, WrittenProduct } from '../writes.js'
import { findProduct, PRODUCT_COLUMNS, storedInstant } from './reads.js'

const COLUMNS = PRODUCT_COLUMNS.split(', ').slice(1)
const INSERT = `INSERT INTO products (${COLUMNS.join(', ')}, row_version) VALUES (${COLUMNS.map(() => '?').join(', ')}, ?)`
const EXISTS = 'SELECT id FROM products WHERE id = ?'
const GUARD = 'row_version = ? WHERE id = ? AND row_version = ?'
const UPDATE = `UPDATE products SET ${COLUMNS.map((one) => `${one} = ?`).join(', ')}, ${GUARD}`
const CHANGE_CATEGORY = `UPDATE products SET category_id = ?, ${GUARD}`
const AUDIT =
  'INSERT INTO ur_audit_entries (at, subject, resource, row_id, action, row_version) VALUES (?, ?, ?, ?, ?, ?)'
const TAKE =
  'INSERT INTO ur_idempotency_keys (key_hash, fingerprint, created_at, expires_at) VALUES (?, ?, ?, ?) ' +
  'ON DUPLICATE KEY UPDATE key_hash = key_hash'
const FIND = 'SELECT fingerprint, answer FROM ur_idempotency_keys WHERE key_hash = ?'
const KEEP = 'UPDATE ur_idempotency_keys SET answer = ? WHERE key_hash = ?'

/** The writes with as few statements as they take: an update says itself whether the row has the expected version. */
export function handwrittenWrites(pool: Pool): ProductWrites {
  return {
    create: (input, claim, writer) => inTransaction(pool, (connection) => create(connection, { input, claim, writer })),
    update: (id, { input, ...guarded }) =>
      inTransaction(pool, (connection) =>
        change(connection, { id, action: 'update', statement: UPDATE, set: values(input), ...guarded })
      ),
    changeCategory: (id, { categoryId, ...guarded }) =>
      inTransaction(pool, (connection) =>
        change(connection, { id, action: 'change-category', statement: CHANGE_CATEGORY, set: [categoryId], ...guarded })
      )
  }
}

async function create(
  connection: PoolConnection,
  { input, claim, writer }: { input: ProductInput; claim: Claim; writer: Caller }
): Promise<WrittenProduct & { replayed: boolean }> {
  const kept = await claimKey(connection, claim)
  if (kept !== undefined) return { ...kept, replayed: true }
  const [{ insertId }] = await connection.execute<ResultSetHeader>(INSERT, [...values(input), firstVersion()])
  await audit(connection, { id: insertId, action: 'create', writer })
  const written = await readBack(connection, insertId)
  await keepAnswer(connection, claim, written)
  return { ...written, replayed: false }
}

async function change(
  connection: PoolConnection,
  of: Guarded & { id: number; action: string; statement: string; set: readonly (string | number | null)[] }
): Promise<WrittenProduct> {
  const { id, action, statement, set, expected, writer } = of
  const [{ affectedRows }] = await connection.execute<ResultSetHeader>(statement, [
    ...set,
    nextVersion(expected),
    id,
    expected
  ])
  if (affectedRows !== 1) {
    const [[found]] = await connection.execute<RowDataPacket[]>(EXISTS, [id])
    throw found === undefined
      ? new RejectedRequest(404, 'No such product.')
      : new RejectedRequest(412, 'The product has changed.')
  }
  await audit(connection, { id, action, writer })
  return readBack(connection, id)
}

async function audit(connection: PoolConnection, of: { id: number; action: string; writer: Caller }): Promise<void> {
  const { id, action, writer } = of
  const at = storedInstant(new Date().toISOString())
  const subject = `${writer.issuer} ${writer.subject}`
  await connection.execute(AUDIT, [at, subject, 'products', String(id), action, firstVersion()])
}

async function readBack(connection: PoolConnection, id: number): Promise<WrittenProduct> {
  const product = await findProduct(connection, id)
  if (product === undefined) throw new Error('A product that was just written is gone.')
  return { json: JSON.stringify(product), rowVersion: product.rowVersion, id: String(id) }
}

/** In the order of the columns. */
function values(input: ProductInput) {
  return [
    input.name,
    input.sku,
    input.categoryId,
    input.price,
    input.weightGrams,
    input.barcode,
    input.isActive ? 1 : 0,
    storedInstant(input.releasedAt),
    input.externalId,
    input.description
  ]
}

interface KeyRow extends RowDataPacket {
  readonly fingerprint: Buffer
  readonly answer: Buffer
}

/** Takes the key, or finds the answer kept under it. */
async function claimKey(connection: PoolConnection, claim: Claim): Promise<WrittenProduct | undefined> {
  const { keyHash, fingerprint, now, expiresAt } = claim
  const [{ affectedRows }] = await connection.execute<ResultSetHeader>(TAKE, [keyHash, fingerprint, now, expiresAt])
  if (affectedRows === 1) return undefined
  const [[kept]] = await connection.execute<KeyRow[]>(FIND, [keyHash])
  if (kept === undefined) throw new Error('A key that was just locked is gone.')
  if (!kept.fingerprint.equals(fingerprint)) throw new RejectedRequest(422, 'The key was used for another request.')
  return parseAnswer(kept.answer.toString('utf8'))
}

async function keepAnswer(connection: PoolConnection, { keyHash }: Claim, written: WrittenProduct): Promise<void> {
  const { json, rowVersion, id } = written
  await connection.execute(KEEP, [Buffer.from(JSON.stringify([json, rowVersion, id, []])), keyHash])
}

function parseAnswer(text: string): WrittenProduct {
  const [json, rowVersion, id] = JSON.parse(text) as [string, string, string] // as keepAnswer writes them
  return { json, rowVersion, id }
}

const TRIES = 5

/** The errors after which a transaction may be tried again: deadlock and lock time-out. */
const REPEATABLE: readonly unknown[] = [1213, 1205]

/** Runs work in one transaction, again where it lost a race. */
async function inTransaction<Result>(
  pool: Pool,
  work: (connection: PoolConnection) => Promise<Result>
): Promise<Result> {
  for (let tries = 1; ; tries++) {
    const connection = await pool.getConnection()
    try {
      await connection.beginTransaction()
      const result = await work(connection)
      await connection.commit()
      return result
    } catch (error) {
      await connection.rollback()
      const repeatable = error instanceof Error && 'errno' in error && REPEATABLE.includes(error.errno)
      if (!repeatable || tries === TRIES) throw error
    } finally {
      connection.release()
    }
  }
}
