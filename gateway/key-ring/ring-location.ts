import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseServiceUrl } from '../settings/service-url.js'

/** Where the ring is kept: a file, or a blob by its URL, shared access signature included. */
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

/** Where the host is an address of its own, as that of an emulator, the account comes first in the path. */
function namesBlob({ hostname, pathname }: URL): boolean {
  const isAddress = hostname === 'localhost' || isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0
  const needed = isAddress ? 3 : 2
  const segments = pathname.split('/').slice(1, needed + 1)
  return segments.length === needed && segments.every((segment) => segment !== '')
}
