import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, type KeyObject } from 'node:crypto'
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { algorithmOf, thumbprint, type VerificationKey } from '../../shared/access-token/verification-key.js'

/** The key that signs this service's own tokens, with its public half. */
export interface SigningKey extends VerificationKey {
  readonly privateKey: KeyObject
}

const FILE_NAME = 'signing-key.pem'

/**
 * The key of `file`, or the service's own under `dataDir`, made on first start. Throws with a sentence for people where
 * the file is missing or holds no EC P-256 or RSA key of 2048 bits or more.
 */
export async function loadSigningKey(from: { file: string | undefined; dataDir: string }): Promise<SigningKey> {
  if (from.file !== undefined) return parseSigningKey(await readKeyFile(from.file), `JWT_PRIVATE_KEY_FILE ${from.file}`)
  const path = join(from.dataDir, FILE_NAME)
  const existing = await readFile(path, 'utf8').catch(ifMissing)
  return parseSigningKey(existing ?? (await makeKeyFile(from.dataDir, path)), path)
}

/** Whoever links first wins, and all read what stands there: processes that start at once end with one key. */
async function makeKeyFile(dataDir: string, path: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const draft = join(dataDir, `.${FILE_NAME}.${randomBytes(8).toString('hex')}`)
  await mkdir(dataDir, { recursive: true })
  await writeFile(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx', flush: true })
  try {
    await link(draft, path).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error
    })
  } finally {
    await unlink(draft)
  }
  return await readFile(path, 'utf8')
}

async function readKeyFile(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: unknown) => {
    throw new Error(`JWT_PRIVATE_KEY_FILE ${path} cannot be read (${codeOf(error) ?? 'unknown'}).`, { cause: error })
  })
}

function parseSigningKey(pem: string, from: string): SigningKey {
  const privateKey = parsePrivateKey(pem, from)
  const key = createPublicKey(privateKey)
  const algorithm = algorithmOf(key)
  if (algorithm === undefined) throw new Error(`${from} must hold an EC P-256 key or an RSA key of at least 2048 bits.`)
  return { kid: thumbprint(key), algorithm, key, privateKey }
}

function parsePrivateKey(pem: string, from: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (error) {
    throw new Error(`${from} holds no private key in PEM form.`, { cause: error })
  }
}

function ifMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
