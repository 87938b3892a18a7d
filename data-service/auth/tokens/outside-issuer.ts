import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { parseKeySet, type VerificationKey } from '../../../shared/access-token.js'
import { boundedText } from '../../../shared/bounded-text.js'
import { KeyCache, keysUnavailable } from '../../../shared/key-cache.js'
import type { OutsideClaims } from './claims.js'
import type { PublishedIssuer } from './signing-keys.js'

/** An issuer whose tokens are accepted besides those of the service itself (settings JWT_JWKS_…). */
export interface OutsideIssuerConfig {
  readonly jwksUri: string
  readonly issuer: string
  readonly audience: string
  /** The `typ` that its tokens must have; undefined for any. */
  readonly tokenType: string | undefined
  readonly claims: OutsideClaims
}

/** Milliseconds. A withdrawn key is forgotten after FRESH. If the issuer cannot be reached, its keys are used until STALE. */
const FRESH = 10 * 60_000
const STALE = 24 * 60 * 60_000
/** Milliseconds between two fetches. Tokens with made-up key ids must not cause a request to the issuer each. */
const COOL_DOWN = 30_000
/** Milliseconds between two fetches in the background. They keep known keys fresh, so that no request waits for one. */
const BACKGROUND_INTERVAL = FRESH / 2
/** Milliseconds that a list of keys waits for a fetch. It also holds our own keys, which a slow issuer must not delay. */
const LIST_TIMEOUT = 1000

/**
 * An issuer whose keys are published at a URL. The keys are cached and fetched again in the background until `stopping`.
 * An unknown key id causes a further fetch, at most one every 30 seconds. A known key is returned at once, even while a
 * fetch is under way.
 */
export function outsideIssuer(
  config: Pick<OutsideIssuerConfig, 'jwksUri' | 'issuer' | 'audience'> & { readonly tokenType?: string | undefined },
  deps: {
    readonly now: () => number
    /** If it is left out, nothing is fetched in the background. */
    readonly stopping?: AbortSignal
    readonly fetchKeys?: (uri: string) => Promise<ReadonlyMap<string, VerificationKey>>
    /** Receives one line when fetches begin to fail, and one when they work again. */
    readonly log?: Pick<Logger, 'info' | 'warn'>
  }
): PublishedIssuer {
  const { now, stopping, fetchKeys = fetchJwks, log } = deps
  const { jwksUri, issuer, audience, tokenType } = config
  const cache = new KeyCache({
    fetch: async () => ({ keys: await fetchKeys(jwksUri) }),
    now,
    fresh: FRESH,
    stale: STALE,
    coolDown: COOL_DOWN,
    onChange: (failure) => {
      if (failure === undefined) log?.info({ issuer }, 'keys of the outside issuer are fetched again')
      else log?.warn({ issuer, reason: failure.message }, 'keys of the outside issuer cannot be fetched')
    }
  })
  const fetchInBackground = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await cache.refresh()
      const pause = cache.failure === undefined ? BACKGROUND_INTERVAL : COOL_DOWN
      await delay(pause, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  if (stopping !== undefined) void fetchInBackground(stopping)

  return {
    issuer,
    audience,
    tokenType,
    async key(kid) {
      const known = cache.known(kid)
      if (known !== undefined && !cache.isFresh) void cache.refresh()
      if (known !== undefined) return known
      await cache.lookFor(kid)
      if (cache.isInDoubt(kid)) throw keysUnavailable(COOL_DOWN)
      return cache.known(kid)
    },
    async keys(missingKeyId) {
      const fetched = missingKeyId === undefined ? cache.refresh() : cache.lookFor(missingKeyId)
      // While the last fetch failed, known keys are listed without waiting for the next one.
      if (cache.current === undefined || cache.failure === undefined) await settledWithin(LIST_TIMEOUT, fetched)
      return {
        keys: [...(cache.current?.keys.values() ?? [])],
        inDoubt: missingKeyId !== undefined && cache.isInDoubt(missingKeyId)
      }
    }
  }
}

/** Waits until the promise has resolved, but no longer than the given time. */
async function settledWithin(milliseconds: number, promise: Promise<void>): Promise<void> {
  const settled = new AbortController()
  await Promise.race([promise, delay(milliseconds, undefined, { signal: settled.signal }).catch(() => undefined)])
  settled.abort()
}

/** Milliseconds in which the whole key set must arrive. */
const FETCH_TIMEOUT = 5000

/**
 * Fetches a JSON Web Key Set (RFC 7517) and returns its keys by key id (see parseKeySet). Rejects for a redirect, for a
 * status other than 2xx, and for a body that is too large or is not a key set.
 */
export async function fetchJwks(uri: string): Promise<ReadonlyMap<string, VerificationKey>> {
  return parseKeySet(await fetchText(uri, 'application/jwk-set+json, application/json'))
}

/** Fetches a small document of an issuer. `accept` is the value of the request header. Rejects as fetchJwks does. */
export async function fetchText(uri: string, accept: string): Promise<string> {
  const response = await fetch(uri, {
    headers: { accept },
    redirect: 'error',
    signal: AbortSignal.timeout(FETCH_TIMEOUT)
  })
  if (!response.ok) {
    await response.body?.cancel()
    throw new Error(`the issuer answered ${response.status}`)
  }
  return await boundedText(response)
}
