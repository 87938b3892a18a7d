import { createHash } from 'node:crypto'
import { MAX_ISSUER_LENGTH } from '../../../shared/openid-settings.js'
import { accountKey, type AuthStore, type AuthUnit, type OutsideIdentity } from './accounts.js'

/** Characters (OpenID Connect Core section 2). */
export const MAX_SUBJECT_LENGTH = 255

/**
 * The key that finds the account of an identity. It is the same on every database, while collations would equate subjects
 * that differ in case. JSON keeps the two texts apart.
 */
export function identityKey({ issuer, subject }: OutsideIdentity): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([issuer, subject]))
    .digest()
}

/**
 * Two sign-ins of one identity, or a sign-in and a command, wait for each other here, so that the second one finds what the
 * first one stored: every statement sees what was committed before it. The lock is a row of login attempts without attempts.
 */
export async function lockIdentity(unit: AuthUnit, key: Buffer): Promise<void> {
  await unit.lockAttempts(createHash('sha256').update('identity\0').update(key).digest())
}

interface LinkRequest {
  /** Of the account, in any letter case. */
  readonly email: string
  readonly identity: OutsideIdentity
  readonly signal: AbortSignal
}

/** What came of linking: `taken` if the identity is linked to another account, which keeps it. */
type LinkOutcome = 'linked' | 'linked already' | 'taken' | 'no account'

/** Lets an identity of an OpenID provider sign in to an account. An account may have several identities. */
export async function linkAccount(
  store: AuthStore,
  { email, identity, signal }: LinkRequest,
  now: () => number
): Promise<LinkOutcome> {
  const key = identityKey(identity)
  return await store.transaction(signal, async (unit) => {
    await lockIdentity(unit, key)
    const account = await unit.findAccount(accountKey(email))
    if (account === undefined) return 'no account'
    const linked = await unit.findLink(key)
    if (linked !== undefined) return linked === account.id ? 'linked already' : 'taken'
    await unit.addLink({ ...identity, key, accountId: account.id, createdAt: now() })
    return 'linked'
  })
}

/** Ends the sign-in of an identity to an account. Sessions that it has opened go on until they are ended themselves. */
export async function unlinkAccount(
  store: AuthStore,
  { email, identity, signal }: LinkRequest
): Promise<'unlinked' | 'not linked' | 'no account'> {
  const key = identityKey(identity)
  return await store.transaction(signal, async (unit) => {
    await lockIdentity(unit, key)
    const account = await unit.findAccount(accountKey(email))
    if (account === undefined) return 'no account'
    if ((await unit.findLink(key)) !== account.id) return 'not linked'
    await unit.removeLink(key)
    return 'unlinked'
  })
}

/** What is wrong with an identity that a person has typed, as a sentence; undefined if nothing is. */
export function identityProblem({ issuer, subject }: OutsideIdentity): string | undefined {
  if (!URL.canParse(issuer) || issuer.length > MAX_ISSUER_LENGTH) {
    return `The issuer must be a URL of at most ${MAX_ISSUER_LENGTH} characters, as the provider's ID tokens have it in iss.`
  }
  const isStorable = subject !== '' && subject.length <= MAX_SUBJECT_LENGTH && !/[\0\p{Surrogate}]/u.test(subject)
  return isStorable ? undefined : `The subject must be a text of 1 to ${MAX_SUBJECT_LENGTH} characters.`
}
