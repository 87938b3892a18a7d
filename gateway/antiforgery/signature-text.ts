const TEXT = /^([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{86})$/

/** A key's id and 64 bytes, as they stand in a cookie or a form. */
export function encodeSignature(keyId: string, bytes: Buffer): string {
  return `${keyId}.${bytes.toString('base64url')}`
}

/** undefined for what encodeSignature has not written. */
export function decodeSignature(text: string): { readonly keyId: string; readonly bytes: Buffer } | undefined {
  const [, keyId, encoded] = TEXT.exec(text) ?? []
  if (keyId === undefined || encoded === undefined) return undefined
  const bytes = Buffer.from(encoded, 'base64url')
  return bytes.toString('base64url') === encoded ? { keyId, bytes } : undefined
}
