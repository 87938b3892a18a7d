import { createHash } from 'node:crypto'
import { permission } from '../../entity/access.js'
import { defineOperation, type Operation } from '../../entity/define-operation.js'
import { asRowVersion, ROW_VERSION_BYTES, type RowVersion } from '../../entity/fields/row-version.js'
import { type AnswerShape, list, type Shape } from '../../entity/fields/shape.js'
import type { ParamFields } from '../../entity/custom-read.js'
import {
  bool,
  dateTime,
  defaultTo,
  described,
  example,
  freeText,
  int,
  json,
  long,
  optional,
  requiredNullable,
  text
} from '../../entity/fields/words.js'
import type { DescribedAccount, StoredAccount } from '../../auth/accounts/accounts.js'
import { isMachine, type MachineSecret } from '../../auth/accounts/machines.js'
import { MANAGE_ACCOUNTS } from '../../auth/powers.js'
import { permissionsIn, type Roles } from '../../auth/tokens/claims.js'
import type { Entity } from '../../entity/entity.js'

// The operations by which callers with the permission `accounts:manage` manage accounts: what each takes and answers. What
// it does is in account-calls.ts.

const ACCESS = permission(MANAGE_ACCOUNTS)
const ID = { id: example(long(), '7') }
const ROLES = { roles: list(example(text(64), 'Clerk')) }
const OWNER = { owner: described('Whose rows it owns.', optional(long())) }
const CLAIMS = described('Further claims of its tokens.', example(json({ type: 'object' }), '{"department":"north"}'))
const EXPIRES = { expiresAt: described('Without it the secret does not expire.', optional(dateTime())) }

const ACCOUNT = {
  ...ID,
  email: described('The name of a machine account.', example(text(254), 'ada@example.com')),
  name: example(freeText(200), 'Ada'),
  ...ROLES,
  ...OWNER,
  claims: CLAIMS,
  isMachine: bool(),
  isSample: bool(),
  hasPassword: bool(),
  createdAt: dateTime(),
  disabledAt: optional(dateTime())
}
const WHOLE = {
  ...ACCOUNT,
  identities: list({ issuer: text(512), subject: text(255) }),
  secrets: list({ number: int(), createdAt: dateTime(), ...EXPIRES, lastUsedAt: optional(dateTime()) }),
  rowVersion: text(12)
}
const SECRET = {
  secret: described('Shown this once: null in the answer to a retry.', optional(text(100)))
}

/** `versioned`: the answer is the account with its version, and a write needs that version. */
const DEFINITIONS: Readonly<Record<AccountOperation, Definition>> = {
  'list-accounts': {
    route: 'GET /accounts',
    description: 'Accounts of people and machines, in the order of their ids.',
    query: {
      after: described('Those behind this id: `next` of the answer before.', optional(long())),
      limit: defaultTo(int({ min: 1, max: 100 }), 50),
      email: described('The one with this address alone, in any letter case.', optional(text(254)))
    },
    answer: { accounts: list(ACCOUNT), next: optional(long()) }
  },
  'get-account': {
    route: 'GET /accounts/{id}',
    description: 'An account, with the identities that sign in to it and the secrets of a machine, never a hash.',
    versioned: true
  },
  'add-account': {
    route: 'POST /accounts',
    description: 'Makes an account without a password, or a machine account with its first secret.',
    body: {
      email: described('The name of a machine account.', example(text(254), 'ada@example.com')),
      name: described('Without it what is before the `@`.', optional(text(200))),
      ...ROLES,
      ...OWNER,
      claims: optional(CLAIMS),
      isMachine: defaultTo(bool(), false),
      ...EXPIRES
    },
    answer: { ...WHOLE, ...SECRET },
    status: 201
  },
  'set-account-roles': {
    route: 'PUT /accounts/{id}/roles',
    description: 'Gives an account exactly these roles.',
    // A list may be left out, and then the account would lose them all.
    body: {
      roles: example(json({ type: 'array', items: { type: 'string', maxLength: 64 }, maxItems: 100 }), '["Clerk"]')
    },
    versioned: true
  },
  'set-account-claims': {
    route: 'PUT /accounts/{id}/claims',
    description: 'Gives the tokens of an account exactly these further claims.',
    body: { claims: CLAIMS },
    versioned: true
  },
  'set-account-owner': {
    route: 'PUT /accounts/{id}/owner',
    description: 'Says whose rows an account owns.',
    body: { owner: requiredNullable(long()) },
    versioned: true
  },
  'disable-account': {
    route: 'PUT /accounts/{id}/disable',
    description: 'Ends the sessions of an account: it gets no tokens any more.',
    versioned: true
  },
  'enable-account': {
    route: 'PUT /accounts/{id}/enable',
    description: 'Lets an account log in again.',
    versioned: true
  },
  'invite-account': {
    route: 'POST /accounts/{id}/invitation',
    description: 'Sends a link by which its owner chooses a password, once and within an hour.',
    answer: { expiresAt: dateTime() }
  },
  'list-account-sessions': {
    route: 'GET /accounts/{id}/sessions',
    description: 'The newest sessions of an account that are not over, 100 at most.',
    answer: { sessions: list({ id: text(32), createdAt: dateTime(), expiresAt: dateTime() }) }
  },
  'end-account-sessions': {
    route: 'DELETE /accounts/{id}/sessions',
    description: 'Ends all sessions of an account.',
    answer: { sessions: described('How many.', int()) }
  },
  'end-account-session': {
    route: 'DELETE /accounts/{id}/sessions/{session}',
    description: 'Ends one session of an account.',
    path: { session: example(text(32), '0123456789abcdef0123456789abcdef') }
  },
  'add-account-secret': {
    route: 'POST /accounts/{id}/secrets',
    description: 'Gives a machine account a second secret, or one in the place of an expired one.',
    body: EXPIRES,
    answer: { number: int(), ...EXPIRES, ...SECRET },
    status: 201
  },
  'remove-account-secret': {
    route: 'DELETE /accounts/{id}/secrets/{number}',
    description: 'Removes a secret of a machine account: no token is issued for it any more.',
    path: { number: int({ min: 1, max: 2 }) },
    versioned: true
  }
}

interface Definition {
  readonly route: `${'GET' | 'POST' | 'PUT' | 'DELETE'} /${string}`
  readonly description: string
  /** Beside the id that a route names. */
  readonly path?: ParamFields
  readonly query?: ParamFields
  readonly body?: Shape
  readonly answer?: AnswerShape
  readonly status?: 201
  readonly versioned?: true
}

export type AccountOperation =
  | 'list-accounts'
  | 'get-account'
  | 'add-account'
  | 'set-account-roles'
  | 'set-account-claims'
  | 'set-account-owner'
  | 'disable-account'
  | 'enable-account'
  | 'invite-account'
  | 'list-account-sessions'
  | 'end-account-sessions'
  | 'end-account-session'
  | 'add-account-secret'
  | 'remove-account-secret'

/** The beginning of their paths. */
export const ACCOUNTS_SEGMENT = 'accounts'

export const ACCOUNT_OPERATIONS: readonly Operation[] = Object.entries<Definition>(DEFINITIONS).map(
  ([name, { versioned, ...definition }]) => ({
    // The table says what the types of an application's operation take from its route.
    ...defineOperation({
      name,
      ...definition,
      ...(versioned ? { answer: WHOLE } : {}),
      path: { ...(definition.route.includes('{id}') ? ID : {}), ...definition.path },
      access: ACCESS,
      handle: () => {
        throw new TypeError('account-calls.ts answers it')
      }
    } as never),
    ...(versioned ? { versioned } : {})
  })
)

/**
 * The operations of an application, and those that manage accounts if a role has the permission for them. If the application
 * uses their path or one of their names itself, they are left out, and `onTaken` is called.
 */
export function operationsOf(
  application: {
    readonly entities: readonly Entity[]
    readonly operations?: readonly Operation[]
    readonly roles: Roles
  },
  onTaken: () => void = () => undefined
): readonly Operation[] {
  const { entities, operations = [], roles } = application
  if (!permissionsIn(roles).includes(MANAGE_ACCOUNTS)) return operations
  const first = [...entities.map(({ name }) => name), ...operations.map(({ segments }) => segments[0])]
  const isNamed = operations.some(({ name }) => Object.hasOwn(DEFINITIONS, name))
  if (!isNamed && !first.includes(ACCOUNTS_SEGMENT)) return [...operations, ...ACCOUNT_OPERATIONS]
  onTaken()
  return operations
}

/** An account as lists tell it. No hash is part of it. */
export function toldAccount({ id, email, name, roles, owner, claims, ...one }: StoredAccount): object {
  return {
    id,
    email,
    name,
    roles,
    owner: ownerText(owner),
    claims: JSON.stringify(claims),
    isMachine: isMachine({ email }),
    isSample: one.isSample,
    hasPassword: one.passwordHash !== null,
    createdAt: moment(one.createdAt),
    disabledAt: moment(one.disabledAt)
  }
}

export function wholeAccount(account: DescribedAccount): object {
  const { identities, secrets } = account
  return {
    ...toldAccount(account),
    identities,
    secrets: secrets.map(toldSecret),
    rowVersion: versionOf(account).toString('base64')
  }
}

function toldSecret({ slot, createdAt, expiresAt, lastUsedAt }: MachineSecret): object {
  const [created, expires, used] = [createdAt, expiresAt, lastUsedAt].map(moment)
  return { number: slot, createdAt: created, expiresAt: expires, lastUsedAt: used }
}

export function ownerText(owner: bigint | null): string | null {
  return owner === null ? null : String(owner)
}

export function moment(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

/**
 * The version of an account is made of what it says, since its table has none: whoever changed it, by a command, a request or
 * a service of an earlier version, it is another one. An account that is again as it was has the version from then, which
 * loses no change.
 */
export function versionOf({ email, name, roles, owner, claims, disabledAt, secrets }: DescribedAccount): RowVersion {
  const kept = secrets
    .toSorted((a, b) => a.slot - b.slot)
    .map(({ slot, createdAt, expiresAt }) => [slot, createdAt, expiresAt])
  const text = JSON.stringify([email, name, roles, ownerText(owner), claims, disabledAt, kept])
  const version = asRowVersion(createHash('sha256').update(text).digest().subarray(0, ROW_VERSION_BYTES))
  if (version === undefined) throw new TypeError('a hash without bytes')
  return version
}
