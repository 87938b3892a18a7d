import { createHmac, hkdfSync } from 'node:crypto'

declare const rowVersionBrand: unique symbol

/**
 * The version of a row, 8 bytes. Every write gives the row a version that it never had before. A client may send a token
 * of any length; one that is not 8 bytes long matches no row.
 */
export type RowVersion = Buffer & { readonly [rowVersionBrand]: true }

export const ROW_VERSION_BYTES = 8

/** The column of the row version unless the entity file names another. */
export const ROW_VERSION_COLUMN = 'row_version'

/** What a table says of the versions of its rows. */
export interface VersionedTable {
  /** The column of the row version. undefined for rows without one, or with a version made of their content. */
  readonly versionColumn: string | undefined
  /** Whether the version of a row is made of its columns (docs/decisions/094-versions-by-content.md). */
  readonly contentVersion: boolean
}

export function hasRowVersion({ versionColumn, contentVersion }: VersionedTable): boolean {
  return contentVersion || versionColumn !== undefined
}

/** A version that a client sent or that a row has; undefined for no bytes, which means no version. */
export function asRowVersion(bytes: Uint8Array): RowVersion | undefined {
  return bytes.length === 0 ? undefined : brand(Buffer.from(bytes))
}

/** Bytes of one call of the source of randomness, which is a system call. */
const POOL_BYTES = 4096

/** The same source for few bytes at a time, which it takes from a supply. No byte is given out twice. */
export function pooledBytes(randomBytes: (size: number) => Buffer): (size: number) => Buffer {
  let pool: Buffer = Buffer.alloc(0)
  return (size) => {
    if (size > POOL_BYTES) return randomBytes(size)
    if (pool.length < size) pool = randomBytes(POOL_BYTES)
    const taken = Buffer.from(pool.subarray(0, size))
    pool = pool.subarray(size)
    return taken
  }
}

/** The version of a new row. Its first half is random, so that two rows are unlikely to share a version. */
export function firstRowVersion(randomBytes: (size: number) => Buffer): RowVersion {
  return brand(Buffer.concat([randomBytes(ROW_VERSION_BYTES / 2), Buffer.alloc(ROW_VERSION_BYTES / 2)]))
}

/**
 * The version after the stored one: it counts up, so that no version of a row repeats within 2^64 writes. A database that
 * has no expression for it calls this within its UPDATE.
 */
export function nextRowVersion(stored: Buffer): RowVersion {
  const next = Buffer.alloc(ROW_VERSION_BYTES)
  const current = Buffer.concat([next, stored]).subarray(-ROW_VERSION_BYTES)
  next.writeBigUInt64BE(BigInt.asUintN(64, current.readBigUInt64BE() + 1n))
  return brand(next)
}

/** The version of a row with this content, of which nobody without the key learns anything. */
export function contentVersion(key: Buffer, content: string): RowVersion {
  return brand(createHmac('sha256', key).update(content).digest().subarray(0, ROW_VERSION_BYTES))
}

/** The key of the versions of contents, as digits in base 16. A secret that others know too gives a key of its own. */
export function contentKey(secret: string): string {
  return Buffer.from(hkdfSync('sha256', secret, Buffer.alloc(0), 'row versions of contents', 32)).toString('hex')
}

function brand(bytes: Buffer): RowVersion {
  // The brand exists only in the types, and only this function gives it.
  return bytes as RowVersion
}
