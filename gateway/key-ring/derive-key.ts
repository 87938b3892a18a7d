import { hkdfSync } from 'node:crypto'

/** A key for one purpose of one application (RFC 5869): what one of them signs is nothing to the others. */
export function deriveKey(secret: Buffer, application: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, application, purpose, 32))
}
