import {
  type Claims,
  type Issuer,
  parseKeySet,
  TokenRejected,
  type VerificationKey,
  verifyToken
} from '../../shared/access-token.js'
import { DomainError } from '../../shared/errors.js'
import { type FetchedKeys, KeyCache, keysUnavailable } from '../../shared/key-cache.js'
import type { AuthCall, AuthClient, IssuerKeys } from '../data/auth-client.js'

/**
 * Milliseconds. Keys are fetched again after FRESH_FOR, which drops a withdrawn key. While the data service is unreachable,
 * they are used until USABLE_FOR.
 */
const FRESH_FOR = 60_000
const USABLE_FOR = 24 * 60 * 60_000
/** Milliseconds between two fetches, so that tokens with invented key ids cannot cause a call of the data service each. */
const FETCH_INTERVAL = 5000

/** A key id is unique only together with its issuer. */
interface VerificationKeyName {
  readonly issuer: string
  readonly kid: string
}

interface KeysCall {
  readonly call: AuthCall
  /** The unknown key of an outside issuer that the data service is to look for. */
  readonly missing?: VerificationKeyName
}

/** One answer of the rpc Keys. The ids of its keys are cacheIds. */
interface Published extends FetchedKeys {
  /** The service's own first. */
  readonly issuers: readonly Omit<Issuer, 'key'>[]
  /** The key set of the service's own issuer, as the data service sent it. */
  readonly ownKeySet: Buffer
}

/** The public keys of every issuer whose access tokens are accepted, as the data service publishes them, cached. */
export class PublishedKeys {
  readonly #cache: KeyCache<Published, KeysCall>

  constructor(auth: AuthClient, now: () => Date) {
    this.#cache = new KeyCache<Published, KeysCall>({
      fetch: async ({ call, missing }) => parsePublished(await auth.keys(call, missing?.kid), missing),
      now: () => now().getTime(),
      fresh: FRESH_FOR,
      stale: USABLE_FOR,
      coolDown: FETCH_INTERVAL
    })
  }

  /** The JSON Web Key Set (RFC 7517) of the service's own issuer. Throws if the keys cannot be fetched. */
  async ownKeySet(call: AuthCall): Promise<Buffer> {
    return (await this.#load(call)).ownKeySet
  }

  /** Every issuer whose access tokens are accepted. Throws if the keys cannot be fetched. */
  async issuers(call: AuthCall): Promise<Issuer[]> {
    const { issuers } = await this.#load(call)
    return issuers.map((one, at) => ({
      ...one,
      key: (kid) => {
        const name = { issuer: one.issuer, kid }
        return at === 0 ? this.#ownKey(call, name) : this.#outsideKey(call, name)
      }
    }))
  }

  async #load(call: AuthCall): Promise<Published> {
    const cache = this.#cache
    if (cache.current === undefined) await cache.fetch({ call })
    else if (!cache.isFresh) await cache.refresh({ call })
    if (cache.current !== undefined) return cache.current
    throw cache.failure ?? keysUnavailable(FETCH_INTERVAL)
  }

  /** The data service always has its own keys, so a key that it does not publish does not exist. */
  async #ownKey(call: AuthCall, name: VerificationKeyName): Promise<VerificationKey | undefined> {
    const id = cacheId(name)
    if (this.#cache.known(id) === undefined) await this.#cache.refresh({ call })
    const found = this.#cache.known(id)
    if (found === undefined && this.#cache.failure !== undefined) throw this.#cache.failure
    return found
  }

  /** The data service may know of a newer key, or may be unable to find out whether there is one. */
  async #outsideKey(call: AuthCall, name: VerificationKeyName): Promise<VerificationKey | undefined> {
    const id = cacheId(name)
    await this.#cache.lookFor(id, { call, missing: name })
    if (this.#cache.isInDoubt(id)) throw this.#cache.failure ?? keysUnavailable(FETCH_INTERVAL)
    return this.#cache.known(id)
  }
}

function parsePublished(answer: readonly IssuerKeys[], missing: VerificationKeyName | undefined): Published {
  const [own] = answer
  if (own === undefined) throw new DomainError('upstream.bad-gateway', 'The data service published no keys.')
  const keys = new Map<string, VerificationKey>()
  /** The one id that this answer shows to be absent. */
  let absent: string | undefined
  for (const { issuer, jwks, inDoubt } of answer) {
    const keySet = parseKeySet(jwks.toString('utf8'))
    for (const [kid, key] of keySet) keys.set(cacheId({ issuer, kid }), key)
    // An issuer is published without keys while nobody can fetch them.
    if (issuer === missing?.issuer && !inDoubt && keySet.size > 0) absent = cacheId(missing)
  }
  const issuers = answer.map(({ issuer, audience, tokenType }) => ({
    issuer,
    audience,
    // A data service of an earlier version sends none.
    tokenType: tokenType === '' ? undefined : tokenType
  }))
  return { keys, showsAbsent: (id) => id === absent, issuers, ownKeySet: own.jwks }
}

/** Keys of two issuers may have the same id. */
function cacheId({ issuer, kid }: VerificationKeyName): string {
  return JSON.stringify([issuer, kid])
}

/**
 * Verifies an access token, with its signature, and answers when it expires; undefined if it is not valid. Throws if the
 * keys cannot be fetched.
 */
export async function checkAccessToken(
  token: string,
  call: AuthCall,
  by: { readonly keys: PublishedKeys; readonly now: () => Date }
): Promise<Date | undefined> {
  const claims = await verifyOrUndefined(token, call, { ...by, acceptExpired: false })
  return claims && new Date(claims.exp * 1000)
}

/**
 * Whether an accepted issuer has signed an access token, which may have expired. Throws if the keys cannot be fetched.
 */
export async function isGenuine(
  token: string,
  call: AuthCall,
  by: { readonly keys: PublishedKeys; readonly now: () => Date }
): Promise<boolean> {
  return (await verifyOrUndefined(token, call, { ...by, acceptExpired: true })) !== undefined
}

async function verifyOrUndefined(
  token: string,
  call: AuthCall,
  by: { readonly keys: PublishedKeys; readonly now: () => Date; readonly acceptExpired: boolean }
): Promise<Claims | undefined> {
  const issuers = await by.keys.issuers(call)
  try {
    return await verifyToken(token, issuers, { now: () => by.now().getTime(), acceptExpired: by.acceptExpired })
  } catch (error) {
    if (error instanceof TokenRejected) return undefined
    throw error
  }
}
