import { parseServiceUrl } from '../settings/service-url.js'

/** A key of a vault. */
export interface VaultKey {
  /** `https://ring.vault.azure.net` */
  readonly vault: string
  readonly name: string
  /** undefined: whichever is the newest when something is wrapped. */
  readonly version: string | undefined
}

const PATH = /^\/keys\/([0-9A-Za-z-]{1,127})(?:\/([0-9A-Za-z]{1,64}))?\/?$/

/**
 * `https://<vault>/keys/<name>`, with `/<version>` after it or not. The Error's message completes the sentence
 * "DATA_PROTECTION_KEY_VAULT_KEY_URI …".
 */
export function parseVaultKey(text: string): VaultKey | Error {
  const accepted = parseServiceUrl(text, ['https:'])
  if (accepted instanceof Error) return accepted
  const { origin, pathname, search, hash, username, password } = new URL(text)
  const [, name, version] = PATH.exec(pathname) ?? []
  if (name === undefined || `${search}${hash}${username}${password}` !== '')
    return new Error('must be the identifier of a key, such as https://<vault>.vault.azure.net/keys/<name>')
  return { vault: origin, name, version }
}
