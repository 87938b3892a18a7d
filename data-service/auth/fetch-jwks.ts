import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { algorithmOf, type VerificationKey } from './verification-key.js'

const TIME_OUT = 5000
const MAX_BYTES = 256 * 1024
const MAX_KEYS = 100

/** A JSON Web Key Set (RFC 7517) by key id. Keys for anything but ES256 and RS256 signatures are left out. */
export async function fetchJwks(uri: string): Promise<ReadonlyMap<string, VerificationKey>> {
  const response = await fetch(uri, {
    headers: { accept: 'application/jwk-set+json, application/json' },
    redirect: 'error',
    signal: AbortSignal.timeout(TIME_OUT)
  })
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`the key set answered ${response.status}`)
  }
  const set: unknown = JSON.parse(await boundedText(response))
  if (!isRecord(set) || !Array.isArray(set['keys'])) throw new Error('the key set has no keys')
  const members: readonly unknown[] = set['keys']
  return new Map(
    members.slice(0, MAX_KEYS).flatMap((member) => {
      const key = parseKey(member)
      return key === undefined ? [] : [[key.kid, key]]
    })
  )
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  const body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = response.body ?? []
  for await (const chunk of body) {
    size += chunk.length
    if (size > MAX_BYTES) throw new Error(`the key set is larger than ${MAX_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parseKey(member: unknown): VerificationKey | undefined {
  if (!isRecord(member)) return undefined
  const { kid, use, alg } = member
  if (typeof kid !== 'string' || kid === '' || (use !== undefined && use !== 'sig')) return undefined
  const key = importKey(member)
  const algorithm = key && algorithmOf(key)
  if (key === undefined || algorithm === undefined || (alg !== undefined && alg !== algorithm)) return undefined
  return { kid, algorithm, key }
}

function importKey(jwk: JsonWebKey): KeyObject | undefined {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' })
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
