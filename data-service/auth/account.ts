import { createHash } from 'node:crypto'

/** Who logs in, as access tokens tell of them. */
export interface Account {
  /** The subject of its tokens. */
  readonly email: string
  readonly name: string
  readonly role: string
  /** The owner claim, 64 bits signed; null for none. */
  readonly owner: bigint | null
}

export interface StoredAccount extends Account {
  readonly id: string
  /** Argon2id in PHC form. */
  readonly passwordHash: string
  /** Of no use while SAMPLE_DATA is off. */
  readonly isSample: boolean
}

/**
 * What an account is found by: the hash of its e-mail address with letter case folded. It folds alike on every
 * database, where collations also equate what must not log in to one account, full-width letters say.
 */
export function accountKey(email: string): Buffer {
  return createHash('sha256').update(email.normalize('NFC').toLowerCase().normalize('NFC')).digest()
}
