import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { algorithmOf, thumbprint, type VerificationKey } from '../../shared/access-token/verification-key.js'

/** A key that signs this service's own tokens, with its public half. */
export interface SigningKey extends VerificationKey {
  readonly privateKey: KeyObject
}

/** The service's own keys. */
export interface KeySet {
  readonly signing: SigningKey
  /** Those that verify, the signing one first. */
  readonly verifying: readonly VerificationKey[]
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g
const BEGINNING = /-----BEGIN /g
/** Curve parameters that OpenSSL writes before a key say nothing that the key does not. */
const NO_KEY = 'EC PARAMETERS'

/**
 * Reads PEM: the first block is the private key that signs; any others, private or public, only verify. Throws with a
 * sentence for people, `from` its subject.
 */
export function parseKeyFile(pem: string, from: string): KeySet {
  const blocks = [...pem.matchAll(BLOCK)]
  if (blocks.length === 0) throw new Error(`${from} holds no private key in PEM form.`)
  // A file that is being written, or cut short, must not pass for one with fewer keys.
  if (pem.match(BEGINNING)?.length !== blocks.length) throw new Error(`${from} holds an incomplete PEM block.`)
  const [first, ...others] = blocks.filter(([, label]) => label !== NO_KEY)
  if (first === undefined) throw new Error(`${from} holds no private key in PEM form.`)
  const privateKey = parse(() => createPrivateKey(first[0]), `${from} must begin with a private key in PEM form.`)
  const signing = { ...verificationKey(createPublicKey(privateKey), from), privateKey }
  const more = others.map(([block]) =>
    // Of a private key too: its public half is taken.
    verificationKey(
      parse(() => createPublicKey(block), `${from} must hold nothing but keys in PEM form.`),
      from
    )
  )
  const known = new Map([signing, ...more].map((key) => [key.kid, key]))
  const { kid, algorithm, key } = signing
  return { signing, verifying: [{ kid, algorithm, key }, ...[...known.values()].filter((one) => one.kid !== kid)] }
}

function verificationKey(key: KeyObject, from: string): VerificationKey {
  const algorithm = algorithmOf(key)
  if (algorithm === undefined) throw new Error(`${from} must hold an EC P-256 key or an RSA key of at least 2048 bits.`)
  return { kid: thumbprint(key), algorithm, key }
}

function parse(read: () => KeyObject, fault: string): KeyObject {
  try {
    return read()
  } catch (error) {
    throw new Error(fault, { cause: error })
  }
}
