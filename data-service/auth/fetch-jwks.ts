import { parseKeySet } from '../../shared/access-token/parse-key-set.js'
import type { VerificationKey } from '../../shared/access-token/verification-key.js'

const TIME_OUT = 5000
const MAX_BYTES = 256 * 1024

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
  return parseKeySet(await boundedText(response))
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
