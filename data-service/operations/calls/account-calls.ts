import { DomainError } from '../../../shared/errors.js'
import { type Account, accountKey, type AuthUnit, type DescribedAccount } from '../../auth/accounts/accounts.js'
import { isMachine, type MachineSecret } from '../../auth/accounts/machines.js'
import { AccountAdministration, AccountMistake, defaultName, LONGEST_LIFETIME } from '../../auth/administration.js'
import type { AuthDeps } from '../../auth/authentication.js'
import { ACCOUNTS_RESOURCE, linkEvent, whyNotInvited } from '../../auth/one-time-links.js'
import { MANAGE_ACCOUNTS, type Powers, powersOf, whyBeyond } from '../../auth/powers.js'
import { sessionId } from '../../auth/sessions.js'
import type { OwnerClaims, PermissionsOf } from '../../auth/tokens/claims.js'
import { type NamedValues, reject } from '../../entity/action.js'
import type { Authenticated, CallContext } from '../../entity/caller.js'
import type { RowVersion } from '../../entity/fields/row-version.js'
import type { ExpectedVersions } from '../../plan/model/plans.js'
import { callerWithToken } from '../../plan/call-requests.js'
import { rejectionError, stale } from '../writes/rejections.js'
import type { WriteSteps } from '../writes/write-steps.js'
import { type AccountOperation, moment, ownerText, toldAccount, versionOf, wholeAccount } from './account-operations.js'

/** What the accounts of an application need besides the request. */
export interface AccountDeps {
  readonly authDeps: AuthDeps
  readonly permissionsOf: PermissionsOf
  /** The roles that an account can have. */
  readonly roles: readonly string[]
  readonly bypassRole: string | undefined
  readonly ownerClaimType: string
  readonly owners: OwnerClaims
}

/** A call of an operation of the service itself. */
interface OwnCall {
  readonly context: CallContext
  readonly path: NamedValues
  readonly query: NamedValues
  readonly body: NamedValues
}

/** One that writes: all of it is in the transaction of `steps`. */
interface OwnWrite extends OwnCall {
  readonly steps: WriteSteps
  readonly expected: ExpectedVersions | undefined
}

export interface OwnAnswer {
  readonly answer?: object
  readonly version?: RowVersion
  /** What a retry with the same key is answered, without the secret. */
  readonly kept?: object
}

/** The reads and writes of ACCOUNT_OPERATIONS by their names. */
export interface AccountCalls {
  readonly reads: ReadonlyMap<string, (call: OwnCall) => Promise<OwnAnswer>>
  readonly writes: ReadonlyMap<string, (call: OwnWrite) => Promise<OwnAnswer>>
}

/** A write of one account, which is under lock and within what the caller holds. */
interface Change extends OwnWrite {
  readonly unit: AuthUnit
  readonly accounts: AccountAdministration
  /** What the caller held before the change: its own account may be the one that is changed. */
  readonly powers: Powers
  readonly account: DescribedAccount
}

/** What a write has done, for the audit entry: the values before and after, without secrets. */
type Done = Readonly<Record<string, readonly [before: unknown, after: unknown]>>

type Write = (change: Change) => Promise<Done>

const CHANGES: Readonly<Partial<Record<AccountOperation, Write>>> = {
  async 'set-account-roles'({ accounts, account, body }) {
    const { before, after } = await asked(
      '/roles',
      accounts.setRoles(account.email, textsIn(JSON.parse(String(body['roles']))))
    )
    return { roles: [before, after] }
  },
  async 'set-account-claims'({ accounts, account, body }) {
    const { before, after } = await asked('/claims', accounts.setClaims(account.email, claimsIn(body['claims'])))
    return { claims: [before, after] }
  },
  async 'set-account-owner'({ accounts, account, body }) {
    const { before, after } = await accounts.setOwner(account.email, ownerIn(body['owner']))
    return { owner: [ownerText(before), ownerText(after)] }
  },
  async 'disable-account'({ accounts, account, steps }) {
    await accounts.disable(account.email)
    return { disabledAt: [moment(account.disabledAt), moment(account.disabledAt) ?? steps.now] }
  },
  async 'enable-account'({ accounts, account }) {
    await accounts.enable(account.email)
    return { disabledAt: [moment(account.disabledAt), null] }
  },
  async 'remove-account-secret'({ unit, account, path }) {
    const number = Number(path['number'])
    if (!(await unit.removeSecret(account.id, number))) throw noSuch('secret')
    return { secrets: [number, null] }
  }
}

/** The handlers of the operations. */
export function accountCalls(deps: AccountDeps): AccountCalls {
  const { store, now } = deps.authDeps
  const isManager = async ({ signal, caller }: CallContext): Promise<void> => {
    const unit = { findAccount: (key: Buffer) => store.findAccount(signal, key) }
    await heldBy(callerWithToken(caller), unit, deps)
  }
  const known = async ({ context: { signal }, path }: OwnCall): Promise<DescribedAccount> => {
    const account = await store.describeAccount(signal, String(path['id']))
    if (account === undefined) throw noSuch('account')
    return account
  }
  const reads = {
    'list-accounts': async ({ context: { signal }, query: { email, after, limit } }) => {
      if (typeof email === 'string') {
        const found = await store.findAccount(signal, accountKey(email))
        return { answer: { accounts: found === undefined ? [] : [toldAccount(found)], next: null } }
      }
      const wanted = Number(limit)
      const page = { after: BigInt(String(after ?? 0)), limit: wanted + 1 }
      const found = await store.accountsAfter(signal, page)
      const shown = found.slice(0, wanted)
      const next = found.length > wanted ? shown.at(-1)?.id : null
      return { answer: { accounts: shown.map(toldAccount), next } }
    },
    'get-account': async (call) => told(await known(call)),
    'list-account-sessions': async (call) => {
      const sessions = await store.sessionsOf(call.context.signal, await known(call), now())
      return {
        answer: {
          sessions: sessions.map(({ id, createdAt, expiresAt }) => ({
            id: sessionId(id),
            createdAt: moment(createdAt),
            expiresAt: moment(expiresAt)
          }))
        }
      }
    }
  } satisfies Partial<Record<AccountOperation, (call: OwnCall) => Promise<OwnAnswer>>>

  const changes = Object.entries(CHANGES).map(([name, change]): [string, (call: OwnWrite) => Promise<OwnAnswer>] => [
    name,
    async (call) => {
      const begun = await begin(call, deps)
      const changed = await change(begun)
      const account = await lockedAccount(begun)
      checkLeft(account, begun, deps)
      await audit(call, account.id, { action: name, done: changed })
      return told(account)
    }
  ])
  const writes = {
    'add-account': async (call) => {
      const { steps, body } = call
      const { unit, powers } = await managing(call, deps)
      const accounts = administration(call, deps)
      const email = String(body['email'])
      const wanted: Account = {
        email,
        name: typeof body['name'] === 'string' ? body['name'] : defaultName(email),
        roles: textsIn(body['roles']),
        owner: ownerIn(body['owner']),
        claims: claimsIn(body['claims'] ?? '{}')
      }
      const lifetime = lifetimeIn(body, steps)
      if (lifetime !== undefined && body['isMachine'] !== true) {
        throw rejectionError(reject.input('/expiresAt', 'Only the secret of a machine account expires.'))
      }
      if ((await unit.findAccount(accountKey(email))) !== undefined) {
        throw rejectionError(reject.state('There is an account of this name already.'))
      }
      const issued = body['isMachine'] === true ? await asked('', accounts.addMachine(wanted, lifetime)) : undefined
      if (issued === undefined) await asked('', accounts.add(wanted, undefined))
      const made = await unit.findAccount(accountKey(email))
      const account = await lockedAccount({ unit, path: { id: made?.id ?? '' } })
      checkWithin(account, powers, deps)
      const { name, roles, owner, claims } = account
      const after = { email, name, roles, owner: ownerText(owner), claims }
      await audit(call, account.id, {
        action: 'add-account',
        done: Object.fromEntries(Object.entries(after).map(([member, value]) => [member, [undefined, value]]))
      })
      const kept = wholeAccount(account)
      return { answer: { ...kept, secret: issued?.secret }, kept }
    },
    'invite-account': async (call) => {
      const { unit, account, steps } = await begin(call, deps)
      const why = await whyNotInvited(unit, account, deps.authDeps)
      if (why !== undefined) throw rejectionError(reject.state(why))
      const asked = { purpose: 'invitation', email: account.email } as const
      const { event, expiresAt } = linkEvent(asked, steps.requestId, deps.authDeps)
      await unit.emit(event)
      await audit(call, account.id, { action: 'invite-account', done: { invitation: [null, moment(expiresAt)] } })
      return { answer: { expiresAt: moment(expiresAt) } }
    },
    'end-account-sessions': async (call) => {
      const { unit, account, steps } = await begin(call, deps)
      const sessions = await unit.endSessions(account.id, Date.parse(steps.now))
      await audit(call, account.id, { action: 'end-account-sessions', done: { sessions: [sessions, 0] } })
      return { answer: { sessions } }
    },
    'end-account-session': async (call) => {
      const { unit, account, steps, path } = await begin(call, deps)
      const session = String(path['session'])
      const family = Buffer.from(session, 'hex')
      const ended = sessionId(family) === session && (await unit.endSession(account.id, family, Date.parse(steps.now)))
      if (!ended) throw noSuch('session')
      await audit(call, account.id, { action: 'end-account-session', done: { sessions: [session, null] } })
      return {}
    },
    'add-account-secret': async (call) => {
      const { accounts, account, body, steps } = await begin(call, deps)
      const { slot, secret, expiresAt } = await accounts
        .addSecret(account.email, lifetimeIn(body, steps))
        .catch((error: unknown) => {
          throw error instanceof AccountMistake ? rejectionError(reject.state(error.message)) : error
        })
      await audit(call, account.id, { action: 'add-account-secret', done: { secrets: [null, slot] } })
      const kept = { number: slot, expiresAt: moment(expiresAt) }
      return { answer: { ...kept, secret }, kept }
    },
    ...Object.fromEntries(changes)
  } satisfies Readonly<Record<string, (call: OwnWrite) => Promise<OwnAnswer>>>
  const checked = Object.entries(reads).map(([name, read]): [string, (call: OwnCall) => Promise<OwnAnswer>] => [
    name,
    async (call) => {
      await isManager(call.context)
      return await read(call)
    }
  ])
  return { reads: new Map(checked), writes: new Map(Object.entries(writes)) }
}

/** What commands do, within the transaction of a request. */
function administration({ context: { signal }, steps }: OwnWrite, deps: AccountDeps): AccountAdministration {
  const { store, passwords, randomBytes } = deps.authDeps
  const { accounts } = steps.unit
  return new AccountAdministration({
    ...deps,
    store: { ...store, transaction: (_signal, work) => work(accounts) },
    passwords,
    now: () => Date.parse(steps.now),
    randomBytes,
    signal
  })
}

/**
 * Changes of accounts wait for each other, on all replicas: what a manager holds, and whether it still is one, is read behind
 * the one before. The lock is a row of login attempts without attempts, which the nodes of a cluster collide on too.
 */
async function managing({ steps }: OwnWrite, deps: AccountDeps): Promise<Pick<Change, 'unit' | 'powers'>> {
  const { accounts: unit } = steps.unit
  await unit.lockAttempts(MANAGING)
  await unit.keepAttempts(MANAGING, { failed: [], pending: [] }, Date.parse(steps.now) + 60_000)
  return { unit, powers: await heldBy(steps.caller, unit, deps) }
}

function heldBy(caller: Authenticated, unit: Pick<AuthUnit, 'findAccount'>, deps: AccountDeps): Promise<Powers> {
  return powersOf(caller, unit, { ...deps, ...deps.authDeps })
}

const MANAGING = accountKey('the management of accounts')

async function begin(call: OwnWrite, deps: AccountDeps): Promise<Change> {
  const { unit, powers } = await managing(call, deps)
  const account = await lockedAccount({ unit, path: call.path })
  checkWithin(account, powers, deps)
  const { expected } = call
  if (expected !== undefined && !expected.some((one) => one.equals(versionOf(account)))) {
    throw stale('stale: the account has another version')
  }
  return { ...call, unit, powers, account, accounts: administration(call, deps) }
}

async function lockedAccount({ unit, path }: Pick<Change, 'unit' | 'path'>): Promise<DescribedAccount> {
  const account = await unit.lockAccount(String(path['id']))
  if (account === undefined) throw noSuch('account')
  return account
}

/**
 * Throws `capability.denied` for an account that holds more than the manager. It is called before a change and after it:
 * a manager neither changes such an account nor makes one.
 */
function checkWithin(account: DescribedAccount, powers: Powers, deps: AccountDeps): void {
  const beyond = whyBeyond(account, powers, deps)
  if (beyond === undefined) return
  throw new DomainError('capability.denied', `This takes what your own account does not hold: ${beyond}.`)
}

/**
 * Behind a change the caller still manages accounts: whoever makes a change is left to make the next, so that the last one
 * cannot lock everybody out.
 */
function checkLeft(account: DescribedAccount, { powers }: Change, deps: AccountDeps): void {
  const { now } = deps.authDeps
  const isLive = ({ expiresAt }: MachineSecret): boolean => expiresAt === null || expiresAt > now()
  const isLocked =
    account.disabledAt !== null ||
    !deps.permissionsOf(account.roles).has(MANAGE_ACCOUNTS) ||
    (isMachine(account) && !account.secrets.some(isLive))
  if (account.id === powers.account?.id && isLocked) {
    throw rejectionError(
      reject.state('An account cannot take the management of accounts from itself: another account has to do it.')
    )
  }
  checkWithin(account, powers, deps)
}

async function audit(
  { steps }: OwnWrite,
  id: string,
  { action, done }: { readonly action: string; readonly done: Done }
): Promise<void> {
  // As changesOf writes them: the JSON of both values, as texts.
  const changes = Object.entries(done).map(([name, values]) => [
    name,
    values.map((value) => (value === undefined ? null : JSON.stringify(value)))
  ])
  await steps.auditNamed({ name: ACCOUNTS_RESOURCE }, id, {
    action,
    changes: JSON.stringify(Object.fromEntries(changes))
  })
}

function told(account: DescribedAccount): OwnAnswer {
  return { answer: wholeAccount(account), version: versionOf(account) }
}

/** What the body asks for and cannot have. */
async function asked<Result>(pointer: string, doing: Promise<Result>): Promise<Result> {
  try {
    return await doing
  } catch (error) {
    throw error instanceof AccountMistake ? rejectionError(reject.input(pointer, error.message)) : error
  }
}

function noSuch(what: string): DomainError {
  return new DomainError('not-found', `There is no such ${what}.`)
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** The field takes objects alone. */
function claimsIn(value: unknown): Account['claims'] {
  return JSON.parse(String(value)) as Account['claims']
}

function ownerIn(value: unknown): bigint | null {
  return typeof value === 'string' ? BigInt(value) : null
}

function lifetimeIn({ expiresAt }: NamedValues, { now }: WriteSteps): number | undefined {
  if (typeof expiresAt !== 'string') return undefined
  const lifetime = Date.parse(expiresAt) - Date.parse(now)
  if (lifetime > 0 && lifetime <= LONGEST_LIFETIME) return lifetime
  throw rejectionError(reject.input('/expiresAt', 'expiresAt must be in the future, and within ten years.'))
}
