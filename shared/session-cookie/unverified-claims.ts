const BASE64URL = /^[A-Za-z0-9_-]+$/

/**
 * What a JWT in compact form says of itself; undefined where it is none. NOTHING here is verified: anybody can write
 * such a text. The signature may be anything, and absent.
 */
export function unverifiedClaims(token: string): Readonly<Record<string, unknown>> | undefined {
  const [header, payload, signature, ...more] = token.split('.')
  if (header === undefined || payload === undefined || signature === undefined || more.length > 0) return undefined
  if (signature !== '' && !BASE64URL.test(signature)) return undefined
  return jsonObject(header) === undefined ? undefined : jsonObject(payload)
}

function jsonObject(part: string): Readonly<Record<string, unknown>> | undefined {
  if (!BASE64URL.test(part)) return undefined
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(part, 'base64url'))
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** Seconds since 1970 under a claim; undefined unless it is a number. */
export function timeClaim(claims: Readonly<Record<string, unknown>>, name: 'exp' | 'iat'): number | undefined {
  const value = claims[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
