import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { parseKeySet, type VerificationKey } from '../../shared/access-token.js'
import { DomainError } from '../../shared/errors.js'
import type { OutsideClaims } from './claims.js'
import type { PublishedIssuer } from './signing-keys.js'

/** An issuer of tokens that are taken beside the service's own (settings JWT_JWKS_…). */
export interface OutsideIssuerConfig {
  readonly jwksUri: string
  readonly issuer: string
  readonly audience: string
  /** The `typ` that its tokens must have; undefined for any. */
  readonly tokenType: string | undefined
  readonly claims: OutsideClaims
}

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

/** Milliseconds. A withdrawn key is forgotten within FRESH; with the issuer down its keys serve on until STALE. */
const FRESH = 10 * 60_000
const STALE = 24 * 60 * 60_000
/** Tokens with made-up key ids must not become requests to the issuer. */
const COOL_DOWN = 30_000
/** How long a list of the keys waits for newer ones; an issuer that is slow must not make slow what our own keys are for. */
const PATIENCE = 1000

/** How often keys are fetched anew without being asked for, so that known ones are never waited for. */
const EVERY = FRESH / 2

type Keys = ReadonlyMap<string, VerificationKey>

/**
 * An issuer whose keys are published at a URL: cached, fetched again in the background until `stopping`, and, not too
 * often, for an unknown key id. A known key verifies at once, whatever becomes of a fetch that is under way.
 */
export function outsideIssuer(
  config: Pick<OutsideIssuerConfig, 'jwksUri' | 'issuer' | 'audience'> & { readonly tokenType?: string | undefined },
  how: {
    readonly now: () => number
    /** Without it nothing is fetched unless somebody asks for a key. */
    readonly stopping?: AbortSignal
    readonly fetchKeys?: (uri: string) => Promise<Keys>
    /** Told when fetches begin to fail, and when they work again. */
    readonly log?: Pick<Logger, 'info' | 'warn'>
  }
): PublishedIssuer {
  const { now, stopping, fetchKeys = fetchJwks, log } = how
  let keys: Keys | undefined
  let fetchedAt = -Infinity
  let triedAt = -Infinity
  let failure: unknown
  let fetching: Promise<void> | undefined

  const refresh = async (): Promise<void> => {
    triedAt = now()
    try {
      keys = await fetchKeys(config.jwksUri)
      fetchedAt = now()
      if (failure !== undefined) log?.info({ issuer: config.issuer }, 'keys of the outside issuer are fetched again')
      failure = undefined
    } catch (error) {
      if (failure === undefined) {
        const reason = error instanceof Error ? error.message : String(error)
        log?.warn({ issuer: config.issuer, reason }, 'keys of the outside issuer cannot be fetched')
      }
      failure = error
    } finally {
      fetching = undefined
    }
  }
  /** Never rejects: what failed is kept. */
  const refreshed = async (): Promise<void> => {
    if (fetching !== undefined || now() - triedAt >= COOL_DOWN) await (fetching ??= refresh())
  }
  const usable = (): Keys | undefined => (now() - fetchedAt > STALE ? undefined : keys)
  const follow = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await refreshed()
      const pause = failure === undefined ? EVERY : COOL_DOWN
      await delay(pause, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  if (stopping !== undefined) void follow(stopping)

  return {
    issuer: config.issuer,
    audience: config.audience,
    tokenType: config.tokenType,
    async keys() {
      // Whoever lists them keeps the list and asks again for a key that it lacks.
      const asked = refreshed()
      // An issuer known to be down is not waited for, however often one asks.
      if (usable() === undefined || failure === undefined) {
        const patience = new AbortController()
        await Promise.race([asked, delay(PATIENCE, undefined, { signal: patience.signal }).catch(() => undefined)])
        patience.abort()
      }
      const known = usable()
      return known === undefined ? undefined : [...known.values()]
    },
    async key(kid) {
      const known = usable()?.get(kid)
      if (known === undefined) await refreshed()
      else if (now() - fetchedAt > FRESH) void refreshed()
      const found = known ?? usable()?.get(kid)
      if (found !== undefined) return found
      // While fetches fail nobody knows whether the issuer has such a key by now.
      if (failure === undefined && usable() !== undefined) return undefined
      // Without a cause: why fetches fail was logged once, and every token may name any issuer.
      throw new DomainError(
        'upstream.unavailable',
        'The keys that verify this token cannot be fetched at the moment.',
        {
          retryAfter: COOL_DOWN / 1000
        }
      )
    }
  }
}
