import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto'
import { access, link, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import jwt from 'jsonwebtoken'
import type { Logger } from 'pino'
import { algorithmOf, type Issuer, thumbprint, type VerificationKey } from '../../../shared/access-token.js'
import { errorCode, followFiles, makeFolder, NO_FILE, stateOf } from '../../../shared/files.js'
import type { Account } from '../accounts/accounts.js'
import { isMachine } from '../accounts/machines.js'
import { unreservedClaims } from './claims.js'

/** Where the service's own keys are: in the given file, or in one that the first start makes in the data folder. */
interface KeyFile {
  readonly file: string | undefined
  readonly dataDir: string
}

const FILE_NAME = 'signing-key.pem'

function pathOfKeys({ file, dataDir }: KeyFile): string {
  return file ?? join(dataDir, FILE_NAME)
}

/**
 * The keys of the file. If no file is configured and none exists, it is generated. Throws an Error with a message for the
 * operator if the file cannot be read, if it does not begin with a private key, or if it holds anything but EC P-256 keys
 * and RSA keys of at least 2048 bits.
 */
async function loadKeys(from: KeyFile): Promise<KeySet> {
  if (from.file === undefined) await generateIfMissing(from.dataDir, pathOfKeys(from))
  return await readKeys(from)
}

/** Throws as loadKeys does for the file of JWT_PRIVATE_KEY_FILE, or for the one of DATA_DIR if it exists. Makes nothing. */
export async function checkKeys(from: KeyFile): Promise<void> {
  if (from.file === undefined && !(await exists(pathOfKeys(from)))) return
  await readKeys(from)
}

/** Like loadKeys, but never generates the file. */
async function readKeys(from: KeyFile): Promise<KeySet> {
  const path = pathOfKeys(from)
  const what = from.file === undefined ? path : `JWT_PRIVATE_KEY_FILE ${path}`
  const pem = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new Error(`${what} cannot be read (${errorCode(error) ?? 'unknown'}).`, { cause: error })
  })
  return parseKeyFile(pem, what)
}

/**
 * Processes that start at the same time get the same key: a link fails if the name is taken, so the first link wins, and
 * every process reads the linked file afterwards.
 */
async function generateIfMissing(dataDir: string, path: string): Promise<void> {
  // makeFolder comes first, because only it has a timeout for a file system that does not answer.
  await makeFolder(dataDir, 0o700)
  if (await exists(path)) return
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const draft = join(dataDir, `.${FILE_NAME}.${randomBytes(8).toString('hex')}`)
  await writeFile(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx', flush: true })
  try {
    await link(draft, path).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error
    })
  } finally {
    await unlink(draft)
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw error
  }
}

/** A key that signs this service's own tokens, with its public half. */
interface SigningKey extends VerificationKey {
  readonly privateKey: KeyObject
}

/** The service's own keys. */
export interface KeySet {
  readonly signing: SigningKey
  /** The keys that verify tokens, the signing key first. */
  readonly verifying: readonly VerificationKey[]
}

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g
const PEM_BEGIN = /-----BEGIN /g
/** `openssl ecparam -genkey` writes this block before the key. The key itself names its curve. */
const IGNORED_LABEL = 'EC PARAMETERS'

/**
 * Reads PEM. The first block is the private key that signs; the other keys, private or public, only verify. Throws an Error
 * with a message for the operator that begins with `from`.
 */
export function parseKeyFile(pem: string, from: string): KeySet {
  const blocks = [...pem.matchAll(PEM_BLOCK)]
  if (blocks.length === 0) throw new Error(`${from} holds no private key in PEM form.`)
  // A file that is still being written, or is truncated, must not be taken for one with fewer keys.
  if (pem.match(PEM_BEGIN)?.length !== blocks.length) throw new Error(`${from} holds an incomplete PEM block.`)
  const [first, ...others] = blocks.filter(([, label]) => label !== IGNORED_LABEL)
  if (first === undefined) throw new Error(`${from} holds no private key in PEM form.`)
  const privateKey = asKey(() => createPrivateKey(first[0]), `${from} must begin with a private key in PEM form.`)
  const signing = { ...verificationKey(createPublicKey(privateKey), from), privateKey }
  const more = others.map(([block]) =>
    // createPublicKey also accepts a private key and takes its public half.
    verificationKey(
      asKey(() => createPublicKey(block), `${from} must hold nothing but keys in PEM form.`),
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

function asKey(read: () => KeyObject, sentence: string): KeyObject {
  try {
    return read()
  } catch (error) {
    throw new Error(sentence, { cause: error })
  }
}

/** The signing key of the file. Throws as loadKeys does. */
export async function loadSigningKey(from: KeyFile): Promise<SigningKey> {
  return (await loadKeys(from)).signing
}

/**
 * The service's own keys. Their file is read again whenever it changes, until the process stops. If the changed file is
 * missing or invalid, that is logged once for each change and the previous keys stay. The first read throws as loadKeys
 * does.
 */
export async function watchKeys(
  from: KeyFile,
  how: { readonly log: Logger; readonly stopping: AbortSignal; readonly every?: number }
): Promise<() => KeySet> {
  const { log } = how
  const path = pathOfKeys(from)
  // The state is taken before the keys are read, so that a change in between is noticed later.
  let seen = await stateOf([path])
  let keys = await loadKeys(from)
  // loadKeys has just generated the file.
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
   * All keys of the issuer; none while they cannot be fetched. `missingKeyId` is a key id that the caller does not know and
   * wants looked up. `inDoubt`: that key is not among the keys, and it could not be decided whether it exists.
   */
  keys(missingKeyId?: string): Promise<{ readonly keys: readonly VerificationKey[]; readonly inDoubt: boolean }>
}

/** The service itself as an issuer. It always has its keys, so none is ever in doubt. */
export function ownIssuer(of: { issuer: string; audience: string }, keySet: () => KeySet): PublishedIssuer {
  return {
    issuer: of.issuer,
    audience: of.audience,
    key: (kid) => Promise.resolve(keySet().verifying.find((one) => one.kid === kid)),
    keys: () => Promise.resolve({ keys: keySet().verifying, inDoubt: false })
  }
}

/** How access tokens are signed, and the claims that are the same in all of them. */
interface AccessTokenOptions {
  readonly key: SigningKey
  readonly issuer: string
  readonly audience: string
  readonly ownerClaimType: string
  /** The lifetime of a token in milliseconds. */
  readonly ttl: number
  readonly now: () => number
  /** Makes the claim `jti`. */
  readonly newId: () => string
}

export interface AccessToken {
  /** A JWT (RFC 7519). */
  readonly token: string
  /** The claim `exp` in epoch milliseconds. */
  readonly expiresAt: number
}

/**
 * Signs an access token of an account. `sid` names its session (the claim is from OpenID Connect Front-Channel Logout 1.0
 * section 3); undefined for a token that belongs to no session.
 */
export function signAccessToken(account: Account, sid: string | undefined, options: AccessTokenOptions): AccessToken {
  const { key, issuer, audience, ownerClaimType, ttl, now, newId } = options
  const issuedAt = Math.floor(now() / 1000)
  const end = issuedAt + Math.max(1, Math.floor(ttl / 1000))
  const token = jwt.sign(
    {
      // Log lines know a machine by it (RFC 9068 section 2.2). A claim or an owner of the account may have the name.
      ...(isMachine(account) ? { client_id: account.email } : {}),
      // They come first: no stored claim stands in the place of one that the service makes.
      ...unreservedClaims(account.claims, ownerClaimType),
      iss: issuer,
      aud: audience,
      sub: account.email,
      jti: newId(),
      iat: issuedAt,
      nbf: issuedAt,
      exp: end,
      name: account.name,
      ...roleClaim(account.roles),
      ...(sid === undefined ? {} : { sid }),
      ...(account.owner === null ? {} : ownerClaim(ownerClaimType, account.owner))
    },
    key.privateKey,
    { algorithm: key.algorithm, keyid: key.kid }
  )
  return { token, expiresAt: end * 1000 }
}

/** One role is a string, as in tokens of earlier versions; several are an array (contract.md section 6). */
function roleClaim(roles: readonly string[]): { readonly role?: string | readonly string[] } {
  const [role] = roles
  return role === undefined ? {} : { role: roles.length === 1 ? role : roles }
}

/**
 * The owner claim is a JSON number. It is a string if it is too large for one, or if OWNER_CLAIM_TYPE is `sub`, which must
 * be a string (RFC 7519 section 4.1.2).
 */
function ownerClaim(type: string, owner: bigint): Record<string, number | string> {
  const exact = owner >= BigInt(Number.MIN_SAFE_INTEGER) && owner <= BigInt(Number.MAX_SAFE_INTEGER)
  return { [type]: type === 'sub' || !exact ? String(owner) : Number(owner) }
}
