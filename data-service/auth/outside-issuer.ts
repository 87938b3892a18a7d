import { setTimeout as delay } from 'node:timers/promises'
import type { VerificationKey } from '../../shared/access-token/verification-key.js'
import { DomainError } from '../../shared/domain-error.js'
import type { OutsideIssuerConfig } from '../config.js'
import { fetchJwks } from './fetch-jwks.js'
import type { PublishedIssuer } from './own-issuer.js'

/** Milliseconds. A withdrawn key is forgotten after FRESH; with the issuer down its keys serve on until STALE. */
const FRESH = 10 * 60_000
const STALE = 24 * 60 * 60_000
/** Tokens with made-up key ids must not become requests to the issuer. */
const COOL_DOWN = 30_000
/** How long a list of the keys waits for newer ones; an issuer that is slow must not make slow what our own keys are for. */
const PATIENCE = 1000

/** An issuer whose keys are published at a URL: cached, and fetched again, not too often, for an unknown key id. */
export function outsideIssuer(
  config: OutsideIssuerConfig,
  how: {
    readonly now: () => number
    readonly fetchKeys?: (uri: string) => Promise<ReadonlyMap<string, VerificationKey>>
  }
): PublishedIssuer {
  const { now, fetchKeys = fetchJwks } = how
  let keys: ReadonlyMap<string, VerificationKey> | undefined
  let fetchedAt = -Infinity
  let triedAt = -Infinity
  let failure: unknown
  let fetching: Promise<void> | undefined

  const refresh = async (): Promise<void> => {
    triedAt = now()
    try {
      keys = await fetchKeys(config.jwksUri)
      fetchedAt = now()
      failure = undefined
    } catch (error) {
      failure = error
      if (now() - fetchedAt > STALE) keys = undefined
    } finally {
      fetching = undefined
    }
  }
  const refreshed = async (): Promise<void> => {
    if (fetching !== undefined || now() - triedAt >= COOL_DOWN) await (fetching ??= refresh())
  }
  return {
    issuer: config.issuer,
    audience: config.audience,
    async keys() {
      // Whoever lists them keeps the list and asks again for a key that it lacks.
      const patience = new AbortController()
      await Promise.race([refreshed(), delay(PATIENCE, undefined, { signal: patience.signal }).catch(() => undefined)])
      patience.abort()
      return keys === undefined ? undefined : [...keys.values()]
    },
    async key(kid) {
      if (keys?.has(kid) !== true || now() - fetchedAt > FRESH) await refreshed()
      if (keys !== undefined) return keys.get(kid)
      throw new DomainError(
        'upstream.unavailable',
        'The keys that verify this token cannot be fetched at the moment.',
        {
          retryAfter: COOL_DOWN / 1000,
          cause: failure
        }
      )
    }
  }
}
