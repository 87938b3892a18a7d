import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import type { ErrorCode } from '../../shared/errors.js'

/** Who is concerned, where it is known. */
export interface TrailSubject {
  readonly issuer: string
  readonly subject: string
}

/** What happened to a session, or was refused to a caller: one log line each (docs/trail.md). */
export interface TrailEntry {
  readonly event: 'login' | 'logout' | 'refresh' | 'ownership'
  /** `success`, or how it was refused. */
  readonly outcome: 'success' | 'failure' | 'abandoned' | 'throttled' | 'reuse' | 'replaced' | 'unknown' | 'refused'
  readonly account: TrailSubject | undefined
  /** Address of the client, as far as it can be believed. */
  readonly clientAddress: string | undefined
  /** The claim `sid` of the session's access tokens. */
  readonly session?: string
  /** Of the error that the caller gets. */
  readonly code?: ErrorCode
  /** Of a write that was refused. */
  readonly resource?: string
  readonly id?: string
  /** For the operator alone. */
  readonly reason?: string
}

interface OfIssuers {
  /** The service's own first. */
  readonly issuers: readonly { readonly issuer: string }[]
}

const MESSAGES: Readonly<Record<TrailEntry['event'], string>> = {
  login: 'log-in',
  logout: 'log-out',
  refresh: 'refresh',
  ownership: 'ownership refused'
}

const HASH_DIGITS = 16

/** `log` is the call's, with its request id. What was refused or failed is a warning, so that LOG_LEVEL=warn keeps it. */
export function trail(log: Logger, { account, ...entry }: TrailEntry): void {
  const line = { ...entry, ...(account === undefined ? {} : { account: accountHash(account) }) }
  const message = entry.outcome === 'reuse' ? 'refresh family revoked' : MESSAGES[entry.event]
  if (entry.outcome === 'success' || entry.outcome === 'replaced') log.info(line, message)
  else log.warn(line, message)
}

/**
 * Who, as log lines have it: the first 64 bits of the SHA-256 of issuer and subject, with a line feed between. It is not
 * keyed: replicas and restarts agree on it without another secret, and an operator can find the lines of a known account.
 * Whoever has the logs and guesses an address can check the guess.
 */
export function accountHash({ issuer, subject }: TrailSubject): string {
  const folded = subject.normalize('NFC').toLowerCase().normalize('NFC')
  return createHash('sha256').update(`${issuer}\n${folded}`).digest('hex').slice(0, HASH_DIGITS)
}

/**
 * The account that somebody tried to log in to. A text without `@` is no e-mail address, and may be a password that was
 * typed into the wrong field: of that there is no trace.
 */
export function triedAccount(by: OfIssuers, email: string): TrailSubject | undefined {
  return email.includes('@') ? ownSubject(by, { email }) : undefined
}

/** An account of the service's own, as its access tokens name it. */
export function ownSubject({ issuers: [own] }: OfIssuers, { email }: { readonly email: string }): TrailSubject {
  return { issuer: own?.issuer ?? '', subject: email }
}
