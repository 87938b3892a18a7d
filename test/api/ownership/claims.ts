import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

type Claims = Readonly<Record<string, unknown>>

/** A key that the service is given, to mint tokens with whatever claims a test wants. */
interface OddTokens {
  /** For JWT_PRIVATE_KEY_FILE. */
  readonly keyFile: string
  /** `good`, signed anew with these claims in place of its own; undefined leaves one out. */
  change(good: string, claims: Claims): string
  dispose(): Promise<void>
}

export async function oddTokens(): Promise<OddTokens> {
  const folder = await mkdtemp(join(tmpdir(), 'key-'))
  const keyFile = join(folder, 'key.pem')
  const pem = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  await writeFile(keyFile, pem, { mode: 0o600 })
  const key = createPrivateKey(pem)
  return {
    keyFile,
    change(good, changed) {
      const [header = '', payload = ''] = good.split('.')
      // What the service itself has minted.
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as Claims
      const body = Buffer.from(JSON.stringify({ ...claims, ...changed })).toString('base64url')
      const input = `${header}.${body}`
      return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
    },
    dispose: () => rm(folder, { recursive: true, force: true })
  }
}
