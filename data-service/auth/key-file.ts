import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { access, link, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../shared/make-folder.js'
import { type KeySet, parseKeyFile } from './key-set.js'

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
