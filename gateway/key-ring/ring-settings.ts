import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseServiceUrl } from '../http/public-address.js'

/** Where the ring is stored: in a file, or in a blob. The URL of a blob may have a shared access signature. */
export type RingLocation = { readonly file: string } | { readonly blob: URL }

/**
 * `file:///path`, `file:path` relative to the working directory, or the `https:` URL of a blob. The Error's message
 * completes the sentence "DATA_PROTECTION_BLOB_STORAGE_URI …".
 */
export function parseRingLocation(text: string): RingLocation | Error {
  const accepted = parseServiceUrl(text, ['file:', 'https:'])
  if (accepted instanceof Error) return accepted
  const url = new URL(text)
  if (url.protocol !== 'file:') return namesBlob(url) ? { blob: url } : new Error('must name a container and a blob')
  if (url.pathname.endsWith('/')) return new Error('must name a file')
  try {
    const [, relative] = /^file:([^/].*)$/i.exec(text) ?? []
    return { file: relative === undefined ? fileURLToPath(url) : resolve(decodeURIComponent(relative)) }
  } catch {
    return new Error('must name a file of this machine, percent-encoded')
  }
}

/**
 * Whether a URL names a container and a blob. If the host is an IP address or `localhost`, as that of an emulator, the path
 * begins with the account.
 */
function namesBlob({ hostname, pathname }: URL): boolean {
  const isAddress = hostname === 'localhost' || isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0
  const needed = isAddress ? 3 : 2
  const segments = pathname.split('/').slice(1, needed + 1)
  return segments.length === needed && segments.every((segment) => segment !== '')
}

/** A key of a vault. */
export interface VaultKey {
  /** `https://ring.vault.azure.net` */
  readonly vault: string
  readonly name: string
  /** undefined: the newest version at the time of wrapping. */
  readonly version: string | undefined
}

const VAULT_KEY_PATH = /^\/keys\/([0-9A-Za-z-]{1,127})(?:\/([0-9A-Za-z]{1,64}))?\/?$/

/**
 * `https://<vault>/keys/<name>`, optionally with `/<version>` after it. The Error's message completes the sentence
 * "DATA_PROTECTION_KEY_VAULT_KEY_URI …".
 */
export function parseVaultKey(text: string): VaultKey | Error {
  const accepted = parseServiceUrl(text, ['https:'])
  if (accepted instanceof Error) return accepted
  const { origin, pathname, search, hash, username, password } = new URL(text)
  const [, name, version] = VAULT_KEY_PATH.exec(pathname) ?? []
  if (name === undefined || `${search}${hash}${username}${password}` !== '')
    return new Error('must be the identifier of a key, such as https://<vault>.vault.azure.net/keys/<name>')
  return { vault: origin, name, version }
}

/** The settings of the key ring. Each of them may be set without the others. */
export interface KeyRingSettings {
  /** undefined: a ring of this process alone. */
  readonly location: RingLocation | undefined
  /** undefined: keys are stored in plain form. */
  readonly vaultKey: VaultKey | undefined
  /** What separates this application from others that share the stored ring. */
  readonly application: string
}

/** The Error's message completes the sentence "DATA_PROTECTION_APPLICATION_NAME …". */
export function parseApplicationName(text: string): string | Error {
  return /^[\x21-\x7e]{1,100}$/.test(text)
    ? text
    : new Error('must be 1 to 100 visible ASCII characters without blanks')
}
