import { type KeyFile, loadKeys } from './key-file.js'
import type { SigningKey } from './key-set.js'

/** The key of the file that signs. Errors as loadKeys says. */
export async function loadSigningKey(from: KeyFile): Promise<SigningKey> {
  return (await loadKeys(from)).signing
}
