import type { Logger } from 'pino'
import { accountHash } from '../../shared/access-token.js'
import type { ErrorCode } from '../../shared/errors.js'
import { isMachine, MACHINE_NAME } from './accounts/machines.js'

/** The account that an event is about. */
export interface TrailSubject {
  readonly issuer: string
  readonly subject: string
  /** The name of a machine account. It is no person, so that nothing hides it. */
  readonly machine?: string
}

/** A security event of a session, or a rejected write. Each becomes one log line (docs/trail.md). */
interface TrailEntry {
  readonly event:
    | 'login'
    | 'logout'
    | 'logout-everywhere'
    | 'password'
    | 'link-request'
    | 'link'
    | 'refresh'
    | 'sign-in'
    | 'token'
    | 'ownership'
  /** `success`, `replaced` by a new login, an account `created`, or why it failed. */
  readonly outcome:
    | 'success'
    | 'failure'
    | 'abandoned'
    | 'throttled'
    | 'reuse'
    | 'replaced'
    | 'created'
    | 'unknown'
    | 'refused'
  /** undefined: not known. */
  readonly account: TrailSubject | undefined
  /** The address of the client; a gateway may name it, any other caller has the address of its connection. */
  readonly clientAddress: string | undefined
  /** The claim `sid` of the session's access tokens. */
  readonly session?: string
  /** How many sessions ended. */
  readonly sessions?: number
  /** The code of the error that the caller gets. */
  readonly code?: ErrorCode
  /** The resource and id of a rejected write. */
  readonly resource?: string
  readonly id?: string
  /** The unique property that named the row, in place of its id. */
  readonly property?: string
  /** For the operator; the caller does not get it. */
  readonly reason?: string
}

interface WithIssuers {
  /** The service's own first. */
  readonly issuers: readonly { readonly issuer: string }[]
}

const MESSAGES: Readonly<Record<TrailEntry['event'], string>> = {
  login: 'log-in',
  logout: 'log-out',
  'logout-everywhere': 'log-out everywhere',
  password: 'password change',
  'link-request': 'request for a one-time link',
  link: 'one-time link',
  refresh: 'refresh',
  'sign-in': 'outside sign-in',
  token: 'machine token',
  ownership: 'ownership refused'
}

/** Outcomes of what was done as it was asked for. */
const INFORMING: readonly TrailEntry['outcome'][] = ['success', 'replaced', 'created']

/** `log` is the logger of the call, with its request id. Failures are warnings, so that LOG_LEVEL=warn keeps them. */
export function trail(log: Logger, { account, ...entry }: TrailEntry): void {
  const { machine } = account ?? {}
  const who =
    account === undefined ? {} : { account: accountHash(account), ...(machine === undefined ? {} : { machine }) }
  const line = { ...entry, ...who }
  const message = entry.outcome === 'reuse' ? 'refresh family revoked' : MESSAGES[entry.event]
  if (INFORMING.includes(entry.outcome)) log.info(line, message)
  else log.warn(line, message)
}

/**
 * The account that a login was tried for. A text without `@` is no e-mail address and may be a password that was typed into
 * the wrong field, so nothing is logged of it, not even its hash.
 */
export function triedAccount(by: WithIssuers, email: string): TrailSubject | undefined {
  return email.includes('@') ? ownSubject(by, { email }) : undefined
}

/** The machine account that a token was asked for. Of a text that cannot be the name of one, nothing is logged either. */
export function triedMachine(by: WithIssuers, clientId: string): TrailSubject | undefined {
  // Letter case of an account's name counts nowhere.
  const email = clientId.toLowerCase()
  return MACHINE_NAME.test(email) ? ownSubject(by, { email }) : undefined
}

/** An account of the service itself, named as in its access tokens. */
export function ownSubject({ issuers: [own] }: WithIssuers, { email }: { readonly email: string }): TrailSubject {
  return { issuer: own?.issuer ?? '', subject: email, ...(isMachine({ email }) ? { machine: email } : {}) }
}
