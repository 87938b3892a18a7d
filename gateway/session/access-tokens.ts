import {
  type Claims,
  type Issuer,
  parseKeySet,
  TokenRejected,
  type VerificationKey,
  verifyToken
} from '../../shared/access-token.js'
import { DomainError } from '../../shared/errors.js'
import type { AuthCall, AuthClient, IssuerKeys } from '../data/auth-client.js'

/** Milliseconds. A withdrawn key is forgotten after FRESH; while the data service is away its keys serve until STALE. */
const FRESH = 60_000
const STALE = 24 * 60 * 60_000
/** Tokens with made-up key ids must not become calls of the data service. */
const COOL_DOWN = 5000

interface Published {
  readonly fetchedAt: number
  readonly issuers: readonly (Omit<Issuer, 'key'> & { readonly keys: ReadonlyMap<string, VerificationKey> })[]
  /** The key set of the service's own issuer, as it came. */
  readonly own: Buffer
}

/** The keys that the data service publishes: cached, and fetched again, not too often, for an unknown key id. */
export class PublishedKeys {
  readonly #auth: AuthClient
  readonly #now: () => Date
  #current: Published | undefined
  #triedAt = -Infinity
  #failure: Error | undefined
  #fetching: Promise<void> | undefined

  constructor(auth: AuthClient, now: () => Date) {
    this.#auth = auth
    this.#now = now
  }

  /** A JSON Web Key Set of the service's own issuer. Throws where there never was one to be had. */
  async ownKeySet(call: AuthCall): Promise<Buffer> {
    return (await this.#load(call)).own
  }

  /** Everybody whose access tokens are accepted. Throws where they cannot be had. */
  async issuers(call: AuthCall): Promise<Issuer[]> {
    const { issuers } = await this.#load(call)
    return issuers.map(({ issuer, audience, tokenType }) => ({
      issuer,
      audience,
      tokenType,
      key: (kid) => this.#key(call, issuer, kid)
    }))
  }

  async #key(call: AuthCall, issuer: string, kid: string): Promise<VerificationKey | undefined> {
    const known = this.#keysOf(issuer)?.get(kid)
    if (known !== undefined) return known
    if (this.#mayTry()) await this.#fetch(call)
    const keys = this.#keysOf(issuer)
    const found = keys?.get(kid)
    if (found !== undefined) return found
    if (this.#failure !== undefined) throw this.#failure
    // An issuer is published without keys while nobody can fetch them.
    if (keys?.size === 0) throw unavailable()
    return undefined
  }

  #keysOf(issuer: string): ReadonlyMap<string, VerificationKey> | undefined {
    return this.#current?.issuers.find((one) => one.issuer === issuer)?.keys
  }

  async #load(call: AuthCall): Promise<Published> {
    const age = this.#now().getTime() - (this.#current?.fetchedAt ?? -Infinity)
    if (age > FRESH && (this.#current === undefined || this.#mayTry())) await this.#fetch(call)
    if (this.#current !== undefined) return this.#current
    throw this.#failure ?? unavailable()
  }

  #mayTry(): boolean {
    return this.#fetching !== undefined || this.#now().getTime() - this.#triedAt >= COOL_DOWN
  }

  /** Never rejects: what failed is kept. */
  #fetch(call: AuthCall): Promise<void> {
    this.#fetching ??= this.#refresh(call).finally(() => (this.#fetching = undefined))
    return this.#fetching
  }

  async #refresh(call: AuthCall): Promise<void> {
    this.#triedAt = this.#now().getTime()
    try {
      this.#current = published(await this.#auth.keys(call), this.#now().getTime())
      this.#failure = undefined
    } catch (error) {
      this.#failure = error instanceof Error ? error : new TypeError('No Error was thrown', { cause: error })
      if (this.#now().getTime() - (this.#current?.fetchedAt ?? 0) > STALE) this.#current = undefined
    }
  }
}

function published(answer: readonly IssuerKeys[], fetchedAt: number): Published {
  const [own] = answer
  if (own === undefined) throw new DomainError('upstream.bad-gateway', 'The data service published no keys.')
  const issuers = answer.map(({ issuer, audience, jwks, tokenType }) => ({
    issuer,
    audience,
    // A data service of an earlier version says none.
    tokenType: tokenType === '' ? undefined : tokenType,
    keys: parseKeySet(jwks.toString('utf8'))
  }))
  return { fetchedAt, issuers, own: own.jwks }
}

function unavailable(): DomainError {
  return new DomainError('upstream.unavailable', 'The keys that verify this token cannot be fetched at the moment.', {
    retryAfter: COOL_DOWN / 1000
  })
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
