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

/** Milliseconds. A withdrawn key is forgotten after FRESH; while the data service is away its keys are used until STALE. */
const FRESH = 60_000
const STALE = 24 * 60 * 60_000
/** Milliseconds between two fetches: tokens with made-up key ids must not become calls of the data service. */
const COOL_DOWN = 5000

/** Whose key, and which. */
interface KeyName {
  readonly issuer: string
  readonly kid: string
}

interface KeysCall {
  readonly call: AuthCall
  /** The unknown key of an outside issuer that the data service is to look for. */
  readonly missing?: KeyName
}

/** One answer of the rpc Keys. The ids of its keys are cacheIds. */
interface Published extends FetchedKeys {
  /** The service's own first. */
  readonly issuers: readonly Omit<Issuer, 'key'>[]
  /** The key set of the service's own issuer, as it came. */
  readonly ownKeySet: Buffer
}

/** The public keys of every issuer whose access tokens are accepted, as the data service publishes them, cached. */
export class PublishedKeys {
  readonly #cache: KeyCache<Published, KeysCall>

  constructor(auth: AuthClient, now: () => Date) {
    this.#cache = new KeyCache<Published, KeysCall>({
      fetch: async ({ call, missing }) => published(await auth.keys(call, missing?.kid), missing),
      now: () => now().getTime(),
      fresh: FRESH,
      stale: STALE,
      coolDown: COOL_DOWN
    })
  }

  /** A JSON Web Key Set of the service's own issuer. Throws if the keys cannot be had. */
  async ownKeySet(call: AuthCall): Promise<Buffer> {
    return (await this.#load(call)).ownKeySet
  }

  /** Every issuer whose access tokens are accepted. Throws if the keys cannot be had. */
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
    throw cache.failure ?? keysUnavailable(COOL_DOWN)
  }

  /** The data service always has its own keys, so a key that it does not publish does not exist. */
  async #ownKey(call: AuthCall, name: KeyName): Promise<VerificationKey | undefined> {
    const id = cacheId(name)
    if (this.#cache.known(id) === undefined) await this.#cache.refresh({ call })
    const found = this.#cache.known(id)
    if (found === undefined && this.#cache.failure !== undefined) throw this.#cache.failure
    return found
  }

  /** The data service may know of a newer key, or may be unable to find out whether there is one. */
  async #outsideKey(call: AuthCall, name: KeyName): Promise<VerificationKey | undefined> {
    const id = cacheId(name)
    await this.#cache.lookFor(id, { call, missing: name })
    if (this.#cache.isInDoubt(id)) throw this.#cache.failure ?? keysUnavailable(COOL_DOWN)
    return this.#cache.known(id)
  }
}

function published(answer: readonly IssuerKeys[], missing: KeyName | undefined): Published {
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

/** Two issuers may have keys of one id. */
function cacheId({ issuer, kid }: KeyName): string {
  return JSON.stringify([issuer, kid])
}

/**
 * Checks an access token in full, signature included, and answers when it ends; undefined for one that is not valid.
 * Throws where the keys cannot be had.
 */
export async function checkAccessToken(
  token: string,
  call: AuthCall,
  by: { readonly keys: PublishedKeys; readonly now: () => Date }
): Promise<Date | undefined> {
  const claims = await verified(token, call, { ...by, acceptExpired: false })
  return claims && new Date(claims.exp * 1000)
}

/**
 * Whether an accepted issuer has signed an access token, which may have expired since. Throws where the keys cannot be had.
 */
export async function isGenuine(
  token: string,
  call: AuthCall,
  by: { readonly keys: PublishedKeys; readonly now: () => Date }
): Promise<boolean> {
  return (await verified(token, call, { ...by, acceptExpired: true })) !== undefined
}

async function verified(
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
