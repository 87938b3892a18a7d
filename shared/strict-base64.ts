/**
 * Padded standard base64 (RFC 4648 section 4) and nothing else; undefined for anything that is not exactly how its bytes
 * are written. `Buffer.from` alone takes nearly anything.
 */
export function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}
