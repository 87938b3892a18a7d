import { randomBytes } from 'node:crypto'

/** Half random and half a count, as the data service makes them. */
export function firstVersion(): Buffer {
  return Buffer.concat([randomBytes(4), Buffer.alloc(4)])
}

export function nextVersion(current: Buffer): Buffer {
  const next = Buffer.alloc(8)
  next.writeBigUInt64BE(BigInt.asUintN(64, current.readBigUInt64BE() + 1n))
  return next
}
