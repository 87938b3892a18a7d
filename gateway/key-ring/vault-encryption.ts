import type { TokenCredential } from '@azure/identity'
import { CryptographyClient, KeyClient, type CryptographyClientOptions, type KeyVaultKey } from '@azure/keyvault-keys'
import type { KeyEncryption, WrappedSecret } from './key-encryption.js'
import { parseVaultKey, type VaultKey } from './vault-key.js'

const ALGORITHM = 'RSA-OAEP-256'

/** Milliseconds that a call may take. */
const TIME_OUT = 4000

/** Only a vault on this machine is ever addressed without TLS (settings/service-url.ts), and it is in no vault's domain. */
const EMULATED: CryptographyClientOptions = {
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

export interface VaultEncryptionParts {
  readonly key: VaultKey
  readonly credential: TokenCredential
}

/** A key of Azure Key Vault that wraps and unwraps there; it needs the grants get, wrapKey and unwrapKey. */
export class VaultEncryption implements KeyEncryption {
  readonly place: string
  readonly #key: VaultKey
  readonly #credential: TokenCredential
  readonly #options: CryptographyClientOptions

  constructor({ key, credential }: VaultEncryptionParts) {
    this.place = `${key.vault}/keys/${key.name}`
    this.#key = key
    this.#credential = credential
    // Trying again is up to whoever asks, who knows what to do meanwhile.
    this.#options = { retryOptions: { maxRetries: 0 }, ...(key.vault.startsWith('http:') ? EMULATED : {}) }
  }

  static async by(key: VaultKey): Promise<VaultEncryption> {
    const { azureCredential } = await import('./azure-credential.js')
    return new VaultEncryption({ key, credential: azureCredential() })
  }

  async wrap(secret: Buffer): Promise<WrappedSecret> {
    const version = this.#key.version ?? (await this.#newestVersion())
    const { result } = await this.#client(version).wrapKey(ALGORITHM, secret, this.#withinTime())
    return { by: `${this.place}/${version}`, bytes: Buffer.from(result) }
  }

  async unwrap({ by, bytes }: WrappedSecret): Promise<Buffer> {
    const version = versionIn(by)
    if (version === undefined) throw new Error('The version of the wrapping key is not known.')
    const { result } = await this.#client(version).unwrapKey(ALGORITHM, bytes, this.#withinTime())
    return Buffer.from(result)
  }

  /** The vault is the configured one, never whichever the store names: it is shown our token. */
  hasWrapped({ by }: WrappedSecret): boolean {
    return versionIn(by) !== undefined && by.startsWith(`${this.place}/`)
  }

  /** Wrapping with whichever version is the newest would not tell with which: after a rotation that is another one. */
  async #newestVersion(): Promise<string> {
    const client = new KeyClient(this.#key.vault, this.#credential, this.#options)
    const { properties } = await client.getKey(this.#key.name, this.#withinTime())
    if (properties.version === undefined) throw new Error('The vault does not say the version of the key.')
    return properties.version
  }

  /**
   * A client that knows the key already, and asks the vault for nothing but the operation: one that fetched the key
   * would refuse to unwrap with a version that has expired since, which the vault itself does not.
   */
  #client(version: string): CryptographyClient {
    const { vault, name } = this.#key
    const id = `${this.place}/${version}`
    const key: KeyVaultKey = { id, name, properties: { id, name, version, vaultUrl: vault } }
    return new CryptographyClient(key, this.#credential, this.#options)
  }

  #withinTime(): { abortSignal: AbortSignal } {
    return { abortSignal: AbortSignal.timeout(TIME_OUT) }
  }
}

function versionIn(by: string): string | undefined {
  const key = parseVaultKey(by)
  return key instanceof Error ? undefined : key.version
}
