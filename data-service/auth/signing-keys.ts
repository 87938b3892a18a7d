import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { access, link, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import jwt from 'jsonwebtoken'
import type { Logger } from 'pino'
import { algorithmOf, type Issuer, thumbprint, type VerificationKey } from '../../shared/access-token.js'
import { followFiles, makeFolder, NO_FILE, stateOf } from '../../shared/files.js'
import type { Account } from './accounts.js'

/** Where the service's own keys are: in a given file, or in one made under the data folder on first start. */
export interface KeyFile {
  readonly file: string | undefined
  readonly dataDir: string
}

const FILE_NAME = 'signing-key.pem'

export function pathOfKeys({ file, dataDir }: KeyFile): string {
  return file ?? join(dataDir, FILE_NAME)
}

/**
 * The keys of the file, made where none is given and none is there. Throws with a sentence for people where it is
 * missing, or holds anything but EC P-256 or RSA keys of 2048 bits or more, the first of them private.
 */
export async function loadKeys(from: KeyFile): Promise<KeySet> {
  if (from.file === undefined) await makeUnlessThere(from.dataDir, pathOfKeys(from))
  return await readKeys(from)
}

/** As loadKeys, but makes none. */
export async function readKeys(from: KeyFile): Promise<KeySet> {
  const path = pathOfKeys(from)
  const what = from.file === undefined ? path : `JWT_PRIVATE_KEY_FILE ${path}`
  const pem = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new Error(`${what} cannot be read (${codeOf(error) ?? 'unknown'}).`, { cause: error })
  })
  return parseKeyFile(pem, what)
}

/** Whoever links first wins, and all read what stands there: processes that start at once end with one key. */
async function makeUnlessThere(dataDir: string, path: string): Promise<void> {
  // First, since it alone gives up on a file system that gives no answer.
  await makeFolder(dataDir, 0o700)
  if (await isThere(path)) return
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const draft = join(dataDir, `.${FILE_NAME}.${randomBytes(8).toString('hex')}`)
  await writeFile(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx', flush: true })
  try {
    await link(draft, path).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
  } finally {
    await unlink(draft)
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

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

function parse(read: () => KeyObject, sentence: string): KeyObject {
  try {
    return read()
  } catch (error) {
    throw new Error(sentence, { cause: error })
  }
}

/** The key of the file that signs. Errors as loadKeys says. */
export async function loadSigningKey(from: KeyFile): Promise<SigningKey> {
  return (await loadKeys(from)).signing
}

/**
 * The service's own keys as their file has them, which is read again whenever it changes, until the process stops. A
 * file that is gone or broken is logged, once for each change, and the keys stay. Throws at first as loadKeys says.
 */
export async function watchKeys(
  from: KeyFile,
  how: { readonly log: Logger; readonly stopping: AbortSignal; readonly every?: number }
): Promise<() => KeySet> {
  const { log } = how
  const path = pathOfKeys(from)
  // The look comes before the reading: a change in between is seen by the next look.
  let seen = await stateOf([path])
  let keys = await loadKeys(from)
  // Made just now.
  if (seen === NO_FILE) [seen, keys] = [await stateOf([path]), await readKeys(from)]
  const changed = async (): Promise<void> => {
    try {
      keys = await readKeys(from)
      log.info({ signing: keys.signing.kid, keys: keys.verifying.map(({ kid }) => kid) }, 'signing keys read again')
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      log.error({ reason }, 'the changed file of the signing keys is of no use; the keys before it stay')
    }
  }
  void followFiles([path], { ...how, seen, changed })
  return () => keys
}

/** An issuer whose keys the rpc Keys publishes. */
export interface PublishedIssuer extends Issuer {
  /**
   * All its keys, none while they cannot be had. `missingKeyId` is a key id that the caller lacks and that is looked for;
   * `inDoubt` tells that it is not among the keys and nobody knows whether it exists.
   */
  keys(missingKeyId?: string): Promise<{ readonly keys: readonly VerificationKey[]; readonly inDoubt: boolean }>
}

/** The service itself. Its keys are always at hand, so none is ever in doubt. */
export function ownIssuer(of: { issuer: string; audience: string }, keySet: () => KeySet): PublishedIssuer {
  return {
    issuer: of.issuer,
    audience: of.audience,
    key: (kid) => Promise.resolve(keySet().verifying.find((one) => one.kid === kid)),
    keys: () => Promise.resolve({ keys: keySet().verifying, inDoubt: false })
  }
}

export interface Minting {
  readonly key: SigningKey
  readonly issuer: string
  readonly audience: string
  readonly ownerClaimType: string
  /** Milliseconds. */
  readonly ttl: number
  readonly now: () => number
  readonly newId: () => string
}

export interface AccessToken {
  /** JWT. */
  readonly token: string
  /** Epoch milliseconds of its `exp`. */
  readonly expiresAt: number
}

/**
 * An access token of an account, signed with the service's own key. `sid` names the session that it belongs to (OpenID
 * Connect Front-Channel Logout 1.0 section 3 has the claim); undefined for a token outside any session.
 */
export function mintToken(account: Account, sid: string | undefined, minting: Minting): AccessToken {
  const { key, issuer, audience, ownerClaimType, ttl, now, newId } = minting
  const issuedAt = Math.floor(now() / 1000)
  const end = issuedAt + Math.max(1, Math.floor(ttl / 1000))
  const token = jwt.sign(
    {
      iss: issuer,
      aud: audience,
      sub: account.email,
      jti: newId(),
      iat: issuedAt,
      nbf: issuedAt,
      exp: end,
      name: account.name,
      role: account.role,
      ...(sid === undefined ? {} : { sid }),
      ...(account.owner === null ? {} : ownerClaim(ownerClaimType, account.owner))
    },
    key.privateKey,
    { algorithm: key.algorithm, keyid: key.kid }
  )
  return { token, expiresAt: end * 1000 }
}

/** A host may make the subject its owner claim, and a subject is text; so is what a JSON number would not hold. */
function ownerClaim(type: string, owner: bigint): Record<string, number | string> {
  const exact = owner >= BigInt(Number.MIN_SAFE_INTEGER) && owner <= BigInt(Number.MAX_SAFE_INTEGER)
  return { [type]: type === 'sub' || !exact ? String(owner) : Number(owner) }
}
