/** Letters and digits that are not taken for one another (Crockford's base32). */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 12

/** 60 random bits to be read out. */
export function newCode(randomBytes: (size: number) => Buffer): string {
  return Array.from(randomBytes(LENGTH), (byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('')
}
