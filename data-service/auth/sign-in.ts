import { createHash } from 'node:crypto'
import { TokenRejected } from '../../shared/access-token.js'
import { DomainError } from '../../shared/errors.js'
import type { SignInRequest__Output } from '../../shared/gen/auth/v1/SignInRequest.js'
import type { SignInResponse } from '../../shared/gen/auth/v1/SignInResponse.js'
import type { UnaryHandler } from '../entity/caller.js'
import { Violations } from '../plan/parsing/violations.js'
import { identityKey, lockIdentity } from './accounts/account-links.js'
import { accountKey, type AuthUnit, isEmail, MAX_NAME, type StoredAccount } from './accounts/accounts.js'
import type { AuthDeps } from './authentication.js'
import { addressOfAttempt, checkClientAddress, type CountedAttempts, Rejected } from './counted-attempts.js'
import { type VerifiedIdentity, verifyIdToken } from './tokens/id-tokens.js'
import { endReplaced, logReplaced } from './login.js'
import { openFamily, sessionId, sessionOf, whyUnusable } from './sessions.js'
import { ownSubject, trail } from './trail.js'

/** Characters. ID tokens have about a thousand; those with pictures and groups have several thousand. */
const MAX_ID_TOKEN = 65_536
const MAX_NONCE = 255

/**
 * Opens a session for the account that is linked to an identity of the OpenID provider. The ID token is verified here,
 * whoever sends it. Failures are counted as those of logins are, under the identity and the address; ID tokens that are not
 * valid are counted under the address.
 */
export function signIn(deps: AuthDeps, attempts: CountedAttempts): UnaryHandler<SignInRequest__Output, SignInResponse> {
  const { outsideSignIn, now } = deps
  return async (context, request) => {
    if (outsideSignIn === undefined) {
      throw new DomainError('configuration', 'OIDC_ISSUER and OIDC_CLIENT_ID are not set for the data service.')
    }
    checkSignIn(request)
    const clientAddress = addressOfAttempt(request.clientAddress, context)
    const identity = await identityOf(request, deps, outsideSignIn)
    const isValid = !(identity instanceof TokenRejected)
    const attempt = {
      event: 'sign-in',
      key: isValid ? identityKey(identity) : INVALID_TOKENS,
      account: isValid ? identity : undefined,
      clientAddress
    } as const
    const { account, isNew, live, ended } = await attempts.run(attempt, context, async (succeed) => {
      if (!isValid) throw new Rejected(NOT_VALID, identity.message)
      return await succeed(async (unit) => {
        await lockIdentity(unit, identityKey(identity))
        await useOnce(unit, { identity, nonce: request.nonce }, now())
        const found = await linkedAccount(unit, identity, deps)
        const ended = await endReplaced(unit, request.replacedRefreshTokens, now())
        return { ...found, ended, live: await openFamily(unit, found.account, deps) }
      })
    })
    const known = {
      event: 'sign-in',
      account: ownSubject(deps, account),
      clientAddress,
      session: sessionId(live.familyId)
    } as const
    if (isNew) trail(context.log, { ...known, outcome: 'created' })
    trail(context.log, { ...known, outcome: 'success' })
    logReplaced(context.log, ended, { deps, clientAddress })
    return { session: sessionOf(account, live, deps) }
  }
}

/** Throws `body.invalid` with a violation for each invalid member. */
function checkSignIn({ idToken, nonce, clientAddress }: SignInRequest__Output): void {
  const violations = new Violations()
  for (const [pointer, text, max] of [
    ['/idToken', idToken, MAX_ID_TOKEN],
    ['/nonce', nonce, MAX_NONCE]
  ] as const) {
    if (text === '') violations.addAt(pointer, `${pointer} must be there.`)
    else if (text.length > max) violations.addAt(pointer, `${pointer} must be at most ${max} characters long.`)
  }
  checkClientAddress(clientAddress, violations)
  violations.finish()
}

/** In place of an identity: all ID tokens of one address that are not valid are counted together. */
const INVALID_TOKENS = createHash('sha256').update('ID tokens that are not valid').digest()

/** The identity of a valid ID token, or why the token is not valid. */
async function identityOf(
  { idToken, nonce }: SignInRequest__Output,
  { now }: AuthDeps,
  { provider }: NonNullable<AuthDeps['outsideSignIn']>
): Promise<VerifiedIdentity | TokenRejected> {
  try {
    return await verifyIdToken(idToken, nonce, { provider, now })
  } catch (error) {
    if (error instanceof TokenRejected) return error
    throw error
  }
}

/**
 * Rejects an ID token that has opened a session before. Its nonce is remembered for as long as the token would be accepted,
 * as an attempt of its own: the token itself could be changed, since an ECDSA signature has a second valid form.
 */
async function useOnce(
  unit: AuthUnit,
  { identity, nonce }: { readonly identity: VerifiedIdentity; readonly nonce: string },
  at: number
): Promise<void> {
  const key = createHash('sha256').update(`nonce\0${identity.issuer}\0${nonce}`).digest()
  const { failed } = await unit.lockAttempts(key)
  if (failed.length > 0) throw new Rejected(NOT_VALID, 'the ID token was used already')
  await unit.keepAttempts(key, { failed: [at], pending: [] }, identity.staleAt)
}

async function linkedAccount(
  unit: AuthUnit,
  identity: VerifiedIdentity,
  deps: AuthDeps
): Promise<{ readonly account: StoredAccount; readonly isNew: boolean }> {
  const linked = await unit.findLink(identityKey(identity))
  if (linked === undefined) return { account: await createAccount(unit, identity, deps), isNew: true }
  const account = await unit.getAccount(linked)
  if (account === undefined) throw new Rejected(NO_ACCOUNT, 'no such account')
  const unusable = whyUnusable(account, deps)
  if (unusable !== undefined) throw new Rejected(NO_ACCOUNT, unusable)
  return { account, isNew: false }
}

/**
 * A new account for an identity that is linked to none, if OIDC_NEW_ACCOUNT_ROLE says so. It is never joined to an account
 * that has the e-mail address already: the provider's word is no proof that the address is the person's own.
 */
async function createAccount(unit: AuthUnit, identity: VerifiedIdentity, deps: AuthDeps): Promise<StoredAccount> {
  const role = deps.outsideSignIn?.newAccountRole
  if (role === undefined) throw new Rejected(NO_ACCOUNT, 'no account is linked')
  const { issuer, subject, email, name } = identity
  if (email === undefined || !isEmail(email)) {
    throw new Rejected('The provider names no e-mail address for the new account.', 'no e-mail address in the ID token')
  }
  if (identity.isEmailUnverified) {
    throw new Rejected('The provider has not verified your e-mail address yet.', 'an unverified e-mail address')
  }
  const emailKey = accountKey(email)
  if ((await unit.findAccount(emailKey)) !== undefined) throw new Rejected(ADDRESS_TAKEN, 'the e-mail address is taken')
  // If another transaction takes the address now, this fails, and the person finds the address taken at the next try.
  await unit.insertAccount({
    email,
    emailKey,
    name: storableName(name ?? '') || storableName(email),
    roles: [role],
    owner: null,
    claims: {},
    passwordHash: null,
    isSample: false,
    createdAt: deps.now()
  })
  const account = await unit.findAccount(emailKey)
  if (account === undefined) throw new TypeError('The account that was just added is there')
  await unit.addLink({ issuer, subject, key: identityKey(identity), accountId: account.id, createdAt: deps.now() })
  return account
}

/** Control and format characters, separators of lines, and half surrogate pairs. */
const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu

/** The name as an account stores it; empty if nothing of it can be seen. A pair that is cut through is left out. */
export function storableName(name: string): string {
  return name.slice(0, MAX_NAME).replace(INVISIBLE_CHARACTERS, ' ').trim()
}

const NOT_VALID = 'The sign-in is not valid, or not any more. Begin again.'
const NO_ACCOUNT = 'No account is linked to this sign-in. Ask an administrator to link one.'
const ADDRESS_TAKEN =
  'There is an account with your e-mail address already. Log in to it, or ask an administrator to link it to this sign-in.'
