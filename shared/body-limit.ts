import { DomainError } from './domain-error.js'

/** Bytes of a request body over either transport, contract.md section 2. */
export const MAX_BODY_BYTES = 1024 * 1024

export const BODY_TOO_LARGE = 'The body is larger than 1 MiB.'

/** Arrays and objects of a body that may be open at once. */
export const MAX_BODY_DEPTH = 100

export const BODY_TOO_DEEP = `The body is nested more than ${MAX_BODY_DEPTH} levels deep.`

/** Throws `body.too-large`. */
export function checkBodyLength(bytes: number): void {
  if (bytes > MAX_BODY_BYTES) throw new DomainError('body.too-large', BODY_TOO_LARGE)
}
