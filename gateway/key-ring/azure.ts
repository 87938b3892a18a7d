import type { AccessToken, GetTokenOptions, TokenCredential } from '@azure/identity'
import { createDefaultHttpClient, type HttpClient } from '@azure/core-rest-pipeline'
import { CryptographyClient, type CryptographyClientOptions, KeyClient, type KeyVaultKey } from '@azure/keyvault-keys'
import { BlockBlobClient, RestError, type StoragePipelineOptions } from '@azure/storage-blob'
import { boundedText } from '../../shared/bounded-text.js'
import type { KeyEncryption, WrappedSecret } from './ring-document.js'
import { parseVaultKey, type VaultKey } from './ring-settings.js'
import type { RingStore, StoredRing } from './ring-stores.js'

/** Milliseconds that a call of the blob store or the vault may take. */
const CALL_TIMEOUT = 4000

/** The clients do not retry, because RingUpkeep does. The process signs with other keys in the meantime. */
const BLOB_PIPELINE: StoragePipelineOptions = { retryOptions: { maxTries: 1 } }

/**
 * The identity of this process in Azure: a managed or workload identity, or the environment variables of Azure's tools.
 * The library is loaded only if it is used, because loading it takes some 0.3 seconds.
 */
async function azureCredential(): Promise<TokenCredential> {
  const { DefaultAzureCredential } = await import('@azure/identity')
  const options = { retryOptions: { maxRetries: 0 }, httpClient: limitedHttpClient() }
  return new AbortableCredential(new DefaultAzureCredential(options))
}

/**
 * Requests for tokens end after CALL_TIMEOUT, bodies of answers included. The library lets those to the endpoint of a managed identity wait for as long as
 * the connection stands, and a process that was told to end would wait with them.
 */
function limitedHttpClient(): HttpClient {
  const client = createDefaultHttpClient()
  return {
    sendRequest: (request) =>
      client.sendRequest(Object.assign(request, { abortSignal: AbortSignal.timeout(CALL_TIMEOUT) }))
  }
}

/**
 * A credential that gives up with the call that needs the token. The library tries one source of tokens after another and
 * does not heed the call's signal everywhere, and RingUpkeep, which has one look at a time, does not look again before it ends.
 */
class AbortableCredential implements TokenCredential {
  readonly #credential: TokenCredential

  constructor(credential: TokenCredential) {
    this.#credential = credential
  }

  getToken(scopes: string | string[], options?: GetTokenOptions): Promise<AccessToken | null> {
    const signal = options?.abortSignal
    const token = this.#credential.getToken(scopes, options)
    if (signal === undefined) return token
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(new Error('The identity of this process got no token in time.'))
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort)
      token.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
    })
  }
}

/** The ring as one blob. The version is its entity tag. */
export class BlobStore implements RingStore {
  readonly place: string
  readonly #blob: BlockBlobClient
  /** When the shared access signature ends; undefined without one, or for one whose end is in a stored access policy. */
  readonly #signedUntil: Date | undefined

  constructor(blob: BlockBlobClient) {
    const { origin, pathname, searchParams } = new URL(blob.url)
    this.place = origin + pathname
    this.#blob = blob
    const end = new Date(searchParams.get('se') ?? Number.NaN)
    this.#signedUntil = Number.isNaN(end.getTime()) ? undefined : end
  }

  /** A URL with a shared access signature needs no other credential. */
  static async at(url: URL): Promise<BlobStore> {
    if (url.searchParams.has('sig')) return new BlobStore(new BlockBlobClient(url.href, undefined, BLOB_PIPELINE))
    return new BlobStore(new BlockBlobClient(url.href, await azureCredential(), BLOB_PIPELINE))
  }

  async read(): Promise<StoredRing | undefined> {
    try {
      const abortSignal = AbortSignal.timeout(CALL_TIMEOUT)
      const { etag, readableStreamBody } = await this.#blob.download(undefined, undefined, { abortSignal })
      if (etag === undefined || readableStreamBody === undefined) throw new Error('The answer has no entity tag.')
      return { text: await boundedText({ body: readableStreamBody }), version: etag }
    } catch (error) {
      if (hasCode(error, 'BlobNotFound')) return undefined
      throw this.#explained(error)
    }
  }

  async write(text: string, expectedVersion: string | undefined): Promise<boolean> {
    const body = Buffer.from(text)
    try {
      await this.#blob.upload(body, body.length, {
        abortSignal: AbortSignal.timeout(CALL_TIMEOUT),
        conditions: expectedVersion === undefined ? { ifNoneMatch: '*' } : { ifMatch: expectedVersion },
        blobHTTPHeaders: { blobContentType: 'application/json' }
      })
      return true
    } catch (error) {
      if (hasCode(error, 'ConditionNotMet', 'BlobAlreadyExists')) return false
      throw this.#explained(error)
    }
  }

  /** The message of a server that rejects a signature does not say that it has ended. */
  #explained(error: unknown): unknown {
    if (!(error instanceof RestError) || error.statusCode !== 403) return error
    if (this.#signedUntil === undefined || this.#signedUntil > new Date()) return error
    const ended = `The signature in DATA_PROTECTION_BLOB_STORAGE_URI ended at ${this.#signedUntil.toISOString()}.`
    error.message = `${ended} ${error.message}`
    return error
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof RestError && codes.includes(error.code ?? '')
}

const WRAP_ALGORITHM = 'RSA-OAEP-256'
const SIGN_ALGORITHM = 'PS256'

/**
 * Options for `http:` URLs, which are accepted only for a vault on this machine (parseServiceUrl). The host of such a vault
 * is not a domain of Azure, which challenge resource verification would require.
 */
const EMULATOR_OPTIONS: CryptographyClientOptions = {
  disableChallengeResourceVerification: true,
  additionalPolicies: [
    {
      position: 'perCall',
      policy: {
        name: 'without-tls',
        sendRequest: (request, next) => next(Object.assign(request, { allowInsecureConnection: true }))
      }
    }
  ]
}

interface VaultEncryptionParts {
  readonly key: VaultKey
  readonly credential: TokenCredential
}

/**
 * A key of Azure Key Vault, which wraps, unwraps, signs and verifies in the vault. It needs the grants get, wrapKey, unwrapKey,
 * sign and verify.
 */
export class VaultEncryption implements KeyEncryption {
  readonly place: string
  readonly #key: VaultKey
  readonly #credential: TokenCredential
  readonly #options: CryptographyClientOptions

  constructor({ key, credential }: VaultEncryptionParts) {
    this.place = `${key.vault}/keys/${key.name}`
    this.#key = key
    this.#credential = credential
    this.#options = { retryOptions: { maxRetries: 0 }, ...(key.vault.startsWith('http:') ? EMULATOR_OPTIONS : {}) }
  }

  static async by(key: VaultKey): Promise<VaultEncryption> {
    return new VaultEncryption({ key, credential: await azureCredential() })
  }

  async wrap(secret: Buffer): Promise<WrappedSecret> {
    const version = this.#key.version ?? (await this.#newestVersion())
    const { result } = await this.#client(version).wrapKey(WRAP_ALGORITHM, secret, this.#timeLimit())
    return { by: `${this.place}/${version}`, bytes: Buffer.from(result) }
  }

  async unwrap({ by, bytes }: WrappedSecret): Promise<Buffer> {
    const { result } = await this.#clientOf(by).unwrapKey(WRAP_ALGORITHM, bytes, this.#timeLimit())
    return Buffer.from(result)
  }

  async sign(by: string, digest: Buffer): Promise<Buffer> {
    const { result } = await this.#clientOf(by).sign(SIGN_ALGORITHM, digest, this.#timeLimit())
    return Buffer.from(result)
  }

  async hasSigned(by: string, digest: Buffer, signature: Buffer): Promise<boolean> {
    const { result } = await this.#clientOf(by).verify(SIGN_ALGORITHM, digest, signature, this.#timeLimit())
    return result
  }

  /** Only the configured vault may be called, never one that the store names, because a call sends our access token. */
  hasWrapped({ by }: WrappedSecret): boolean {
    return vaultKeyVersion(by) !== undefined && by.startsWith(`${this.place}/`)
  }

  /** wrapKey is called with an explicit version, because a call without one does not tell which version it used. */
  async #newestVersion(): Promise<string> {
    const client = new KeyClient(this.#key.vault, this.#credential, this.#options)
    const { properties } = await client.getKey(this.#key.name, this.#timeLimit())
    if (properties.version === undefined) throw new Error('The vault does not say the version of the key.')
    return properties.version
  }

  #clientOf(by: string): CryptographyClient {
    const version = vaultKeyVersion(by)
    if (version === undefined) throw new Error('The version of the wrapping key is not known.')
    return this.#client(version)
  }

  /**
   * A client that has the key already and only calls the operation. A client that fetches the key itself refuses to unwrap
   * with an expired version, although the vault allows that.
   */
  #client(version: string): CryptographyClient {
    const { vault, name } = this.#key
    const id = `${this.place}/${version}`
    const key: KeyVaultKey = { id, name, properties: { id, name, version, vaultUrl: vault } }
    return new CryptographyClient(key, this.#credential, this.#options)
  }

  #timeLimit(): { abortSignal: AbortSignal } {
    return { abortSignal: AbortSignal.timeout(CALL_TIMEOUT) }
  }
}

function vaultKeyVersion(by: string): string | undefined {
  const key = parseVaultKey(by)
  return key instanceof Error ? undefined : key.version
}
