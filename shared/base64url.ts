/**
 * Decodes base64url without padding (RFC 4648 section 5). undefined for a text that is not exactly the encoding of its bytes:
 * `Buffer.from` alone takes nearly anything, and bits of the last character that are in no byte would give bytes several texts.
 */
export function decodeBase64url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.toString('base64url') === text ? bytes : undefined
}
