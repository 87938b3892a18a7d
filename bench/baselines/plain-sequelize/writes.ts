import { type Attributes, Transaction, UniqueConstraintError, type Sequelize } from 'sequelize'
import { type Caller, RejectedRequest } from '../app.js'
import { firstVersion, nextVersion, type ProductInput } from '../products.js'
import type { Claim, Guarded, ProductWrites, WrittenProduct } from '../writes.js'
import { AuditEntry, IdempotencyKey, Product } from './models.js'

const READ_COMMITTED = { isolationLevel: Transaction.ISOLATION_LEVELS.READ_COMMITTED }

/** Managed transactions, as the guide shows them. */
export function sequelizeWrites(sequelize: Sequelize): ProductWrites {
  return {
    create: (input, claim, writer) =>
      sequelize.transaction(READ_COMMITTED, async (transaction) => {
        const key = await take(claim, transaction)
        if (!(key instanceof IdempotencyKey)) return { ...key, replayed: true }
        const { id } = await Product.create(valuesOf(input, firstVersion()), { transaction })
        await audit({ id, action: 'create', writer }, transaction)
        const written = await readBack(id, transaction)
        const { json, rowVersion } = written
        await key.update({ answer: Buffer.from(JSON.stringify([json, rowVersion, written.id, []])) }, { transaction })
        return { ...written, replayed: false }
      }),
    update: (id, { input, ...guarded }) =>
      change(sequelize, {
        id,
        action: 'update',
        set: (rowVersion) => valuesOf(input, rowVersion),
        ...guarded
      }),
    changeCategory: (id, { categoryId, ...guarded }) =>
      change(sequelize, {
        id,
        action: 'change-category',
        set: (rowVersion) => ({ categoryId, rowVersion: storedVersion(rowVersion) }),
        ...guarded
      })
  }
}

function change(
  sequelize: Sequelize,
  of: Guarded & { id: number; action: string; set: (rowVersion: Buffer) => Partial<Attributes<Product>> }
): Promise<WrittenProduct> {
  const { id, action, set, expected, writer } = of
  return sequelize.transaction(READ_COMMITTED, async (transaction) => {
    const locked = await Product.findByPk(id, { transaction, lock: transaction.LOCK.UPDATE })
    if (locked === null) throw new RejectedRequest(404, 'No such product.')
    const rowVersion = expected.toString('base64')
    if (locked.rowVersion !== rowVersion) throw new RejectedRequest(412, 'The product has changed.')
    const [updated] = await Product.update(set(nextVersion(expected)), {
      where: { id, rowVersion: expected },
      // Or it would store what the getters make of the values.
      sideEffects: false,
      transaction
    })
    if (updated !== 1) throw new RejectedRequest(412, 'The product has changed.')
    await audit({ id, action, writer }, transaction)
    return readBack(id, transaction)
  })
}

/** The key, now taken, or the answer kept under it. */
async function take(claim: Claim, transaction: Transaction): Promise<IdempotencyKey | WrittenProduct> {
  const { keyHash, fingerprint, now: createdAt, expiresAt } = claim
  try {
    return await IdempotencyKey.create({ keyHash, fingerprint, createdAt, expiresAt, answer: null }, { transaction })
  } catch (error) {
    if (!(error instanceof UniqueConstraintError)) throw error
  }
  const kept = await IdempotencyKey.findByPk(keyHash, { transaction })
  if (kept === null || kept.answer === null) throw new Error('A key is there without an answer.')
  if (!kept.fingerprint.equals(fingerprint)) throw new RejectedRequest(422, 'The key was used for another request.')
  const [json, rowVersion, id] = JSON.parse(kept.answer.toString('utf8')) as [string, string, string] // written above
  return { json, rowVersion, id }
}

async function audit(of: { id: number; action: string; writer: Caller }, transaction: Transaction): Promise<void> {
  const { id, action, writer } = of
  const entry = { at: new Date(), subject: `${writer.issuer} ${writer.subject}`, resource: 'products', action }
  await AuditEntry.create({ ...entry, rowId: String(id), rowVersion: firstVersion() }, { transaction })
}

async function readBack(id: number, transaction: Transaction): Promise<WrittenProduct> {
  const product = await Product.findByPk(id, { transaction, rejectOnEmpty: true })
  const all = product.toJSON()
  // A model's toJSON has an order of its own.
  const json = JSON.stringify(
    Object.fromEntries(Object.keys(Product.getAttributes()).map((name) => [name, Reflect.get(all, name)]))
  )
  return { json, rowVersion: product.rowVersion, id: String(id) }
}

function valuesOf(input: ProductInput, version: Buffer) {
  const { releasedAt } = input
  return {
    ...input,
    releasedAt: releasedAt === null ? null : new Date(releasedAt),
    rowVersion: storedVersion(version)
  }
}

/** The attribute has its getter's type; what is stored are bytes. */
function storedVersion(version: Buffer): string {
  return version as unknown as string
}
