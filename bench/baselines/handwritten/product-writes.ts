import type { Pool, PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2/promise'
import type { Writer } from '../bearer.js'
import type { ProductInput } from '../product-input.js'
import { RejectedRequest } from '../rejected-request.js'
import { firstVersion, nextVersion } from '../row-version.js'
import type { Claim, ProductWrites, WrittenProduct } from '../writes.js'
import { claimKey, keepAnswer } from './kept-answers.js'
import { findProduct } from './product-queries.js'
import { PRODUCT_COLUMNS, storedInstant, type VersionedProductRow } from './product-row.js'
import { inTransaction } from './transaction.js'

const COLUMNS = PRODUCT_COLUMNS.split(', ').slice(1)
const INSERT = `INSERT INTO products (${COLUMNS.join(', ')}, row_version) VALUES (${COLUMNS.map(() => '?').join(', ')}, ?)`
const LOCK = `SELECT ${PRODUCT_COLUMNS}, row_version FROM products WHERE id = ? FOR UPDATE`
const UPDATE =
  `UPDATE products SET ${COLUMNS.map((one) => `${one} = ?`).join(', ')}, row_version = ? ` +
  'WHERE id = ? AND row_version = ?'
const AUDIT =
  'INSERT INTO ur_audit_entries (at, subject, resource, row_id, action, row_version) VALUES (?, ?, ?, ?, ?, ?)'

/** The statements of the data service, in its order. */
export function handwrittenWrites(pool: Pool): ProductWrites {
  return {
    create: (input, claim, writer) => inTransaction(pool, (connection) => create(connection, { input, claim, writer })),
    update: (id, change) => inTransaction(pool, (connection) => update(connection, { id, ...change }))
  }
}

async function create(
  connection: PoolConnection,
  { input, claim, writer }: { input: ProductInput; claim: Claim; writer: Writer }
): Promise<WrittenProduct & { replayed: boolean }> {
  const kept = await claimKey(connection, claim)
  if (kept !== undefined) return { ...kept, replayed: true }
  const [{ insertId }] = await connection.execute<ResultSetHeader>(INSERT, [...values(input), firstVersion()])
  await audit(connection, { id: insertId, action: 'create', writer })
  const written = await readBack(connection, insertId)
  await keepAnswer(connection, claim, written)
  return { ...written, replayed: false }
}

async function update(
  connection: PoolConnection,
  { id, input, expected, writer }: { id: number; input: ProductInput; expected: Buffer; writer: Writer }
): Promise<WrittenProduct> {
  const [[locked]] = await connection.execute<(VersionedProductRow & RowDataPacket)[]>(LOCK, [id])
  if (locked === undefined) throw new RejectedRequest(404, 'No such product.')
  if (!locked.row_version.equals(expected)) throw new RejectedRequest(412, 'The product has changed.')
  const set = [...values(input), nextVersion(expected)]
  const [{ affectedRows }] = await connection.execute<ResultSetHeader>(UPDATE, [...set, id, expected])
  if (affectedRows !== 1) throw new RejectedRequest(412, 'The product has changed.')
  await audit(connection, { id, action: 'update', writer })
  return readBack(connection, id)
}

async function audit(connection: PoolConnection, of: { id: number; action: string; writer: Writer }): Promise<void> {
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
