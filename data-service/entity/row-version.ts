declare const rowVersion: unique symbol

/**
 * The version of a row, 8 bytes: another one after every write, and never one it had before. A token that a client
 * sent may be of any length; one of another length matches no row.
 */
export type RowVersion = Buffer & { readonly [rowVersion]: true }

const BYTES = 8

/** What a client sent as a version. Empty means no token, and is none. */
export function asRowVersion(bytes: Uint8Array): RowVersion | undefined {
  return bytes.length === 0 ? undefined : brand(Buffer.from(bytes))
}

/** Starts at a random place, so that the tag of one row is no likely tag of another. */
export function firstRowVersion(randomBytes: (size: number) => Buffer): RowVersion {
  return brand(Buffer.concat([randomBytes(BYTES / 2), Buffer.alloc(BYTES / 2)]))
}

/** Counts up, so that no version comes twice for a row in 2^64 writes. */
export function nextRowVersion(current: Buffer): RowVersion {
  const next = Buffer.alloc(BYTES)
  next.writeBigUInt64BE(BigInt.asUintN(64, current.readBigUInt64BE() + 1n))
  return brand(next)
}

function brand(bytes: Buffer): RowVersion {
  // The only maker of the brand, which exists in the types alone.
  return bytes as RowVersion
}
