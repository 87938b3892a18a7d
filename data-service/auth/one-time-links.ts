import { createHash } from 'node:crypto'
import { accountHash } from '../../shared/access-token.js'
import { DomainError, rejection } from '../../shared/errors.js'
import type { RequestOneTimeLinkRequest__Output } from '../../shared/gen/auth/v1/RequestOneTimeLinkRequest.js'
import type { RequestOneTimeLinkResponse } from '../../shared/gen/auth/v1/RequestOneTimeLinkResponse.js'
import type { UseOneTimeLinkRequest__Output } from '../../shared/gen/auth/v1/UseOneTimeLinkRequest.js'
import type { UseOneTimeLinkResponse } from '../../shared/gen/auth/v1/UseOneTimeLinkResponse.js'
import type { UnaryHandler } from '../entity/caller.js'
import {
  type EmittedEvent,
  isWebhook,
  type LinkPurpose,
  oneTimeLink,
  type OutboxEvent,
  type OutboxTarget
} from '../entity/event.js'
import { Violations } from '../plan/parsing/violations.js'
import {
  accountKey,
  type AuthUnit,
  type DescribedAccount,
  isEmail,
  MAX_EMAIL,
  MAX_NAME,
  type OneTimeLink,
  type StoredAccount
} from './accounts/accounts.js'
import { hashOfSecret } from './accounts/machines.js'
import { passwordMistake } from './accounts/passwords.js'
import { defaultName } from './administration.js'
import type { AuthDeps, OneTimeLinkSettings } from './authentication.js'
import { addressOfAttempt, checkClientAddress, checkText, type CountedAttempts, Rejected } from './counted-attempts.js'
import { whyUnusable } from './sessions.js'
import { storableName } from './sign-in.js'
import { ownSubject, trail, type TrailSubject } from './trail.js'

// Links by which people choose passwords (docs/decisions/093-one-time-links.md). Whoever asks for one puts an event into the
// outbox, whether or not there is an account. Its delivery looks for the account and makes the secret, which goes to the
// handler and is stored nowhere.

/** Milliseconds from the request. */
export const LINK_LIFETIME = 60 * 60_000

/**
 * Events of an address whose links can be used at the same time: more get none, whoever asks from wherever. An event keeps its
 * place however often it is delivered, so that an outage of the mail server uses up no other.
 */
const MOST_LIVE = 5

const SECRET_BYTES = 32

/** The resource of events and audit entries of accounts. No entity has a name like this. */
export const ACCOUNTS_RESOURCE = 'service.accounts'

/** What the event carries in the outbox. */
type AskedFor = Readonly<{ purpose: Exclude<LinkPurpose, 'account-exists'>; email: string }>

type LinkDeps = Pick<AuthDeps, 'issuers' | 'newId' | 'now'>

/** The event that asks for a link. A caller emits it in the transaction of what it does besides. */
export function linkEvent(
  asked: AskedFor,
  requestId: string,
  deps: LinkDeps
): { readonly event: EmittedEvent; readonly expiresAt: number } {
  const at = deps.now()
  const event = {
    id: deps.newId(),
    type: oneTimeLink.name,
    resource: ACCOUNTS_RESOURCE,
    // As log lines name the account, in which it appears.
    rowId: accountHash(ownSubject(deps, asked)),
    payload: JSON.stringify(asked),
    occurredAt: new Date(at).toISOString(),
    requestId
  }
  return { event, expiresAt: at + LINK_LIFETIME }
}

/** Why no invitation is sent to an account, as a sentence; undefined if one is. */
export async function whyNotInvited(
  unit: AuthUnit,
  account: StoredAccount,
  deps: AuthDeps
): Promise<string | undefined> {
  if (deps.oneTimeLinks === undefined) return 'No links are sent: ONE_TIME_LINK_URL is not set.'
  const unusable = whyUnusable(account, deps)
  if (unusable !== undefined) return `Nobody can log in to the account: it is ${unusable}.`
  const live = await unit.countOneTimeLinks(accountKey(account.email), {
    state: stateOf(account),
    event: '',
    now: deps.now()
  })
  return live < MOST_LIVE ? undefined : 'The account has links enough: they can be used until they expire.'
}

/** The rpc RequestOneTimeLink. It does the same for every address, so that neither its answer nor its time tells accounts. */
export function requestOneTimeLink(
  deps: AuthDeps,
  attempts: CountedAttempts
): UnaryHandler<RequestOneTimeLinkRequest__Output, RequestOneTimeLinkResponse> {
  return async (context, { reason, email, clientAddress: given }) => {
    const purpose = reason === 'LINK_REASON_SIGN_UP' ? 'sign-up' : 'forgotten-password'
    const { signUpRoles } = settingsOf(deps)
    if (purpose === 'sign-up' && signUpRoles.length === 0) throw notThere()
    const violations = new Violations()
    if (reason === 'LINK_REASON_UNSPECIFIED') violations.addAt('/reason', '/reason must be there.')
    if (!isEmail(email)) {
      violations.addAt('/email', `/email must be an e-mail address of at most ${MAX_EMAIL} characters.`)
    }
    checkClientAddress(given, violations)
    violations.finish()
    const clientAddress = addressOfAttempt(given, context)
    const entry = { event: 'link-request', account: ownSubject(deps, { email }), clientAddress } as const
    await attempts.run({ ...entry, key: accountKey(email), countsAlways: true }, context, (succeed) =>
      succeed((unit) => unit.emit(linkEvent({ purpose, email }, context.requestId, deps).event))
    )
    trail(context.log, { ...entry, outcome: 'success' })
    return {}
  }
}

/** The rpc UseOneTimeLink. */
export function useOneTimeLink(
  deps: AuthDeps,
  attempts: CountedAttempts
): UnaryHandler<UseOneTimeLinkRequest__Output, UseOneTimeLinkResponse> {
  return async (context, request) => {
    settingsOf(deps)
    checkUse(request)
    const { signal, log } = context
    const hash = hashOfSecret(request.token)
    const clientAddress = addressOfAttempt(request.clientAddress, context)
    const tried = { event: 'link' as const, key: hash, account: undefined as TrailSubject | undefined, clientAddress }
    const used = await attempts.run(tried, context, async (succeed) => {
      const link = await deps.store.findOneTimeLink(signal, hash, deps.now())
      if (link === undefined) throw over('no link, or an expired one')
      tried.account = ownSubject(deps, link)
      // Whoever has the link may try again.
      const mistake = passwordMistake(request.newPassword, link.email)
      if (mistake !== undefined) return await succeed(() => Promise.resolve({ mistake }))
      // Hashing is slow on purpose, so no transaction is open meanwhile.
      const passwordHash = await deps.passwords.hash(request.newPassword)
      signal.throwIfAborted()
      return await succeed((unit) => choosePassword(unit, { link, passwordHash, name: request.name }, deps))
    })
    if ('mistake' in used) {
      const place = { in: 'pointer', name: '/newPassword' } as const
      throw rejection([{ code: 'body.invalid', detail: `/newPassword ${used.mistake}.`, place }])
    }
    const { isNew, sessions } = used
    const { event, account } = tried
    trail(log, { event, account, clientAddress, outcome: isNew ? 'created' : 'success', sessions })
    return {}
  }
}

/** Throws `body.invalid` with a violation for each member that no link can be used with. */
function checkUse({ token, newPassword, name, clientAddress }: UseOneTimeLinkRequest__Output): void {
  const violations = new Violations()
  checkText(token, { pointer: '/token', max: 100 }, violations)
  // What else it must not be depends on the account.
  const mistake = passwordMistake(newPassword, '')
  if (mistake !== undefined) violations.addAt('/newPassword', `/newPassword ${mistake}.`)
  if (name !== '') checkText(name, { pointer: '/name', max: MAX_NAME }, violations)
  checkClientAddress(clientAddress, violations)
  violations.finish()
}

interface Chosen {
  readonly link: OneTimeLink
  readonly passwordHash: string
  readonly name: string
}

/** Uses the link up, together with all others of the address. */
async function choosePassword(
  unit: AuthUnit,
  { link, passwordHash, name }: Chosen,
  deps: AuthDeps
): Promise<{ readonly isNew: boolean; readonly sessions: number }> {
  const { email, hash, accountState } = link
  const emailKey = accountKey(email)
  const account = await lockedAccount(unit, emailKey)
  const isNew = account === undefined
  // A transaction whose COMMIT had no answer is repeated, and may have been done.
  if (account?.passwordHash === passwordHash) return { isNew: false, sessions: 0 }
  if (!(await unit.takeOneTimeLink(hash, deps.now()))) throw over('the link was used meanwhile')
  if (!stateOf(account).equals(accountState)) throw over('the account has changed since')
  await unit.dropOneTimeLinks(emailKey)
  if (isNew) {
    const { signUpRoles: roles } = settingsOf(deps)
    if (roles.length === 0) throw over('SIGN_UP_ROLES is not set any more')
    await unit.insertAccount({
      email,
      emailKey,
      name: storableName(name) || storableName(defaultName(email)),
      roles,
      owner: null,
      claims: {},
      passwordHash,
      isSample: false,
      createdAt: deps.now()
    })
    return { isNew, sessions: 0 }
  }
  const unusable = whyUnusable(account, deps)
  if (unusable !== undefined) throw over(unusable)
  await unit.setPassword(account.id, passwordHash)
  return { isNew, sessions: await unit.endSessions(account.id, deps.now()) }
}

/** The targets of the outbox, of which the handler of one-time links gets each with its secret. */
export function withLinkSecrets(targets: readonly OutboxTarget[], deps: AuthDeps): readonly OutboxTarget[] {
  return targets.map((target) => {
    if (isWebhook(target) || target.event.name !== oneTimeLink.name) return target
    return {
      ...target,
      async handle(event, context) {
        const made = await makeLink(event, context.signal, deps)
        if (typeof made === 'object') return target.handle({ ...event, payload: made }, context)
        context.log.info({ reason: made }, 'no one-time link is sent')
      }
    }
  })
}

/**
 * Makes a link for an event, and another one if the event is delivered again: a mail that was sent and not noted has one that
 * works too. Answers why if there is none.
 */
async function makeLink(event: OutboxEvent, signal: AbortSignal, deps: AuthDeps): Promise<LinkPayload | string> {
  const { oneTimeLinks: settings, store, now, randomBytes } = deps
  // linkEvent has made it.
  const { purpose, email } = event.payload as AskedFor
  const expiresAt = Date.parse(event.occurredAt) + LINK_LIFETIME
  if (settings === undefined) return 'ONE_TIME_LINK_URL is not set any more'
  if (expiresAt <= now()) return 'it was asked for an hour ago'
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  const emailKey = accountKey(email)
  return await store.transaction(signal, async (unit) => {
    const account = await lockedAccount(unit, emailKey)
    const why = whyNone(purpose, account, deps)
    if (why !== undefined) return why
    const state = stateOf(account)
    const others = await unit.countOneTimeLinks(emailKey, { state, event: event.id, now: now() })
    if (others >= MOST_LIVE) return 'the address has links enough'
    const link = { email: account?.email ?? email, expiresAt }
    await unit.addOneTimeLink({ ...link, hash: hashOfSecret(secret), accountState: state }, event.id)
    return {
      purpose: purpose === 'sign-up' && account !== undefined ? 'account-exists' : purpose,
      email: link.email,
      url: `${settings.url}#token=${secret}`,
      expiresAt: new Date(expiresAt).toISOString()
    }
  })
}

type LinkPayload = Readonly<{ purpose: LinkPurpose; email: string; url: string; expiresAt: string }>

function whyNone(
  purpose: AskedFor['purpose'],
  account: DescribedAccount | undefined,
  deps: AuthDeps
): string | undefined {
  if (account === undefined) {
    const mayBeMade = purpose === 'sign-up' && deps.oneTimeLinks?.signUpRoles.length !== 0
    return mayBeMade ? undefined : 'no such account'
  }
  // The address of such an account is a provider's word, and whoever reads its mail may be somebody else.
  const isOfProvider = account.passwordHash === null && account.identities.length > 0
  if (isOfProvider && purpose !== 'invitation') return 'an account that signs in with a provider alone'
  return whyUnusable(account, deps)
}

async function lockedAccount(unit: AuthUnit, emailKey: Buffer): Promise<DescribedAccount | undefined> {
  const found = await unit.findAccount(emailKey)
  return found && (await unit.lockAccount(found.id))
}

/** Another password, also one that a service of an earlier version has set, and the end of all sessions make links void. */
function stateOf(account: StoredAccount | undefined): Buffer {
  const state = account && [account.id, account.passwordHash, account.sessionGeneration]
  return createHash('sha256')
    .update(JSON.stringify(state ?? null))
    .digest()
}

function settingsOf({ oneTimeLinks }: AuthDeps): OneTimeLinkSettings {
  if (oneTimeLinks === undefined) throw notThere()
  return oneTimeLinks
}

function notThere(): DomainError {
  return new DomainError('route.not-found', 'The service does not offer this.')
}

function over(why: string): Rejected {
  return new Rejected('The link is not valid, or not any more. Ask for another one.', why)
}
